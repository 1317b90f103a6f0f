// Supplies a pool with blocks that no cache has, and takes them back. DirectSupply uses the source directly,
// CachedSupply keeps size classes per stream, and MappedSupply maps pages on demand. BlockGuards wraps any of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/block_source.hpp"
#include "memory/pool_books.hpp"

namespace gpumem {

struct PoolRequest {
  size_t bytes;
  size_t alignment;
  int size_class;
  size_t block_bytes;  // of the blocks that may serve it
  size_t front = 0;    // of the block, before its address

  // Size of a region of `slots`. An aligned start does not align the first slot behind a front.
  size_t taken_bytes(size_t slots) const noexcept {
    return slots * block_bytes + (front % alignment != 0 ? alignment : 0);
  }
};

struct Supplied {
  Block block;
  bool cached;  // served without new memory
};

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

  // With the cache's lock: takes a free block, or accepts a freed one. false: use give_back().
  virtual std::optional<Block> take(StreamCache& cache, const PoolRequest& request) noexcept = 0;
  virtual bool put(StreamCache& cache, Block block) noexcept = 0;
  // Without the lock: accepts a block out of use.
  virtual void give_back(const Claim& claim) noexcept = 0;

  // With the lock for growing: an unshared block from any source.
  virtual Supplied grow(StreamCache& cache, const PoolRequest& request) = 0;
  virtual int64_t idle_bytes() = 0;
  // Releases idle memory. If streams must pass first, their fences are appended to not_passed.
  virtual void release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) = 0;
  virtual void release_all() = 0;
  virtual void trim(int64_t keep_bytes) noexcept = 0;
  // Makes idle memory of a cache, out of use, memory of all streams.
  virtual void share_idle(StreamCache& /*cache*/) {}
  // Whether the cache's memory is ordered only by its stream.
  virtual bool keeps(const StreamCache& /*cache*/) const noexcept { return false; }

  // Guards: checks a block out of use, or all live and recently freed blocks.
  virtual void check(const Claim& /*claim*/, Damage& /*found*/) {}
  virtual void check_all(Damage& /*found*/) {}
  virtual std::vector<std::string> take_sentences() noexcept {
    return {};
  }  // for the log, which is called without a lock
};

class RegionSupply : public BlockSupply {
 public:
  void release_all() override;
  void trim(int64_t keep_bytes) noexcept override { source_->trim(static_cast<size_t>(keep_bytes)); }

 protected:
  RegionSupply(PoolBooks& books, std::unique_ptr<BlockSource> source) : books_(books), source_(std::move(source)) {}

  Region& new_region(StreamCache& cache, const PoolRequest& request, size_t slots);
  void drop(Region& region, const StreamCache& cache) noexcept;
  [[noreturn]] void fail_over_limit(const PoolRequest& request) const;

  virtual void* take_memory(StreamCache& cache, const PoolRequest& request, size_t bytes);
  virtual void give_back_memory(const StreamCache& cache, void* p, size_t bytes) noexcept;

  // Memory of ended streams becomes shared once their ends are passed. Blocks whose uses have ended become free.
  void absorb_ended();
  void settle();
  virtual void absorb(StreamCache& /*from*/) noexcept {}

  PoolBooks& books_;
  const std::unique_ptr<BlockSource> source_;

 private:
  void place(StreamCache& cache, Region& region, const PoolRequest& request);
};

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

std::unique_ptr<BlockSupply> make_supply(PoolBooks& books, std::unique_ptr<BlockSource> source);

}  // namespace gpumem
