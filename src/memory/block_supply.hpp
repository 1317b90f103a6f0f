// Where a pool has its blocks from when no cache has them, and where they go. There are three: directly from the source and back to it
// (DirectSupply), kept by streams in size classes (CachedSupply), and in granules that are mapped as they are needed (MappedSupply).
// BlockGuards puts guards around the blocks of any of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/block_source.hpp"
#include "memory/pool_books.hpp"

namespace gpumem {

struct PoolRequest {
  size_t bytes;  // that were asked for
  size_t alignment;
  int size_class;
  size_t block_bytes;  // of the blocks that it may be given
  size_t front = 0;    // of the block, before its address

  // Of a region of so many: an aligned start does not align the first slot behind a front.
  size_t taken_bytes(size_t slots) const noexcept {
    return slots * block_bytes + (front % alignment != 0 ? alignment : 0);
  }
};

struct Supplied {
  Block block;
  bool cached;  // no new memory was taken for it
};

// What checks of guarded blocks have found: in how many places, and a sentence on the first.
struct Damage {
  int64_t places = 0;
  std::string first;

  void add(const std::string& sentence);
  void add(const Damage& other);
};

class BlockSupply {
 public:
  BlockSupply() = default;
  BlockSupply(const BlockSupply&) = delete;
  BlockSupply& operator=(const BlockSupply&) = delete;
  virtual ~BlockSupply() = default;

  virtual PoolRequest request_for(size_t bytes, size_t alignment) const noexcept = 0;

  // With the cache's lock: a block that is free there; and takes one that was freed. false: give_back() has to.
  virtual std::optional<Block> take(StreamCache& cache, const PoolRequest& request) noexcept = 0;
  virtual bool put(StreamCache& cache, Block block) noexcept = 0;
  // Without: a block that nothing uses any more.
  virtual void give_back(const Claim& claim) noexcept = 0;

  // With the lock for growing: a block that is nobody else's, from wherever it can be had.
  virtual Supplied grow(StreamCache& cache, const PoolRequest& request) = 0;
  virtual int64_t idle_bytes() = 0;
  // Gives idle memory back. Where streams have to pass something first, the fences behind which it can go are left in not_passed.
  virtual void release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) = 0;
  // All of it, memory that the source keeps included.
  virtual void release_all() = 0;
  // What the source keeps goes back to the system, all but keep_bytes of it.
  virtual void trim(int64_t keep_bytes) noexcept = 0;
  // Whether memory is free in the order of the stream alone.
  virtual bool keeps(const StreamCache& /*cache*/) const noexcept { return false; }

  // Guards: a block that nothing uses any more, and all that are live or were freed a short while ago.
  virtual void check(const Claim& /*claim*/, Damage& /*found*/) {}
  virtual void check_all(Damage& /*found*/) {}
  virtual std::vector<std::string> take_sentences() noexcept {
    return {};
  }  // for the log, which is called without a lock
};

// Blocks in regions that the registry knows, of memory from a source.
class RegionSupply : public BlockSupply {
 public:
  void release_all() override;
  void trim(int64_t keep_bytes) noexcept override { source_->trim(static_cast<size_t>(keep_bytes)); }

 protected:
  RegionSupply(PoolBooks& books, std::unique_ptr<BlockSource> source) : books_(books), source_(std::move(source)) {}

  // Nothing is live in it.
  Region& new_region(StreamCache& cache, const PoolRequest& request, size_t slots);
  void drop(Region& region, const StreamCache& cache) noexcept;
  [[noreturn]] void fail_over_limit(const PoolRequest& request) const;

  virtual void* take_memory(StreamCache& cache, const PoolRequest& request, size_t bytes);
  virtual void give_back_memory(const StreamCache& cache, void* p, size_t bytes) noexcept;

  // What streams that are gone have left belongs to all once their ends are passed; blocks that need no waiting any more are free.
  void absorb_ended();
  void settle();
  virtual void absorb(StreamCache& /*from*/) noexcept {}

  PoolBooks& books_;
  const std::unique_ptr<BlockSource> source_;

 private:
  void place(StreamCache& cache, Region& region, const PoolRequest& request);
};

// Each block is a region of its own.
class DirectSupply final : public RegionSupply {
 public:
  DirectSupply(PoolBooks& books, std::unique_ptr<BlockSource> source) : RegionSupply(books, std::move(source)) {}
  ~DirectSupply() override;

  PoolRequest request_for(size_t bytes, size_t alignment) const noexcept override;
  std::optional<Block> take(StreamCache&, const PoolRequest&) noexcept override { return std::nullopt; }
  bool put(StreamCache&, Block) noexcept override { return false; }
  void give_back(const Claim& claim) noexcept override;
  Supplied grow(StreamCache& cache, const PoolRequest& request) override;
  int64_t idle_bytes() override { return 0; }
  void release_down_to(int64_t, std::vector<FencePtr>*) override { settle(); }
};

// As the policy says.
std::unique_ptr<BlockSupply> make_supply(PoolBooks& books, std::unique_ptr<BlockSource> source);

}  // namespace gpumem
