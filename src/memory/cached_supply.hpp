// Blocks that their streams keep when they are freed, in size classes: several in a region, or one of a region's size. Where blocks come
// from, in this order: blocks of the stream that it has to wait for, memory of streams that are gone, memory of other streams when there is
// enough of it, and the source.
#pragma once

#include "memory/block_supply.hpp"

namespace gpumem {

class CachedSupply : public RegionSupply {
 public:
  CachedSupply(PoolBooks& books, std::unique_ptr<BlockSource> source) : RegionSupply(books, std::move(source)) {}
  ~CachedSupply() override;

  PoolRequest request_for(size_t bytes, size_t alignment) const noexcept override;
  std::optional<Block> take(StreamCache& cache, const PoolRequest& request) noexcept override {
    return cache.take(request.size_class, request.block_bytes, request.alignment);
  }
  bool put(StreamCache& cache, Block block) noexcept final;
  void give_back(const Claim& claim) noexcept final;
  Supplied grow(StreamCache& cache, const PoolRequest& request) final;
  int64_t idle_bytes() override;
  void release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) final;

 protected:
  // Up to here memory is taken without asking what lies idle.
  static constexpr int64_t kFreely = int64_t{32} << 20;

  // What is free of the cache in other sizes becomes a region of it; and memory of another cache, behind that stream's work.
  virtual bool reuse(StreamCache& /*cache*/, const PoolRequest& /*request*/) { return false; }
  virtual bool adopt_free(StreamCache& cache, StreamCache& from, const PoolRequest& request);
  // New memory that a region of so many slots takes, at most.
  virtual int64_t missing_for(const StreamCache& cache, const PoolRequest& request, size_t slots);
  // Whether other streams' memory is better than so much new memory.
  virtual bool scarce(int64_t bytes, const PoolRequest& request) const noexcept;
  // Gives idle memory back until at most so much is reserved, and returns how much.
  virtual int64_t release_to(int64_t most, std::vector<FencePtr>* not_passed);

  static size_t slots_for(const StreamCache& cache, const PoolRequest& request) noexcept;
  int64_t target(const PoolRequest& request) const noexcept;
  void attach_region(StreamCache& cache, const PoolRequest& request, size_t slots);

 private:
  bool wait_pending(StreamCache& cache, const PoolRequest& request);
  bool adopt(StreamCache& cache, StreamCache& from, const PoolRequest& request);
  bool adopt_from_others(StreamCache& cache, const PoolRequest& request);
  void note_needed(const StreamCache& cache, const PoolRequest& request);
  int64_t make_room(const StreamCache& cache, const PoolRequest& request, size_t slots);
  void add_region(StreamCache& cache, const PoolRequest& request);
  int64_t release_largest();  // its bytes; 0: nothing is idle

  int64_t held_peak_ = 0;  // as far as it was looked at: high-water mark of live bytes and those on their way back
};

}  // namespace gpumem
