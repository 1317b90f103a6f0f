// Blocks kept by their streams in size classes, one or several per region. The search order is: own blocks to wait for,
// memory of ended streams, plentiful memory of other streams, the source.
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
  void share_idle(StreamCache& cache) final;
  void release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) final;

 protected:
  // Up to this size, memory is taken without a look at idle memory.
  static constexpr int64_t kFreely = int64_t{32} << 20;

  // reuse() makes a region of the cache's free memory. adopt_free() takes another cache's, behind its stream's work.
  virtual bool reuse(StreamCache& /*cache*/, const PoolRequest& /*request*/) { return false; }
  virtual bool adopt_free(StreamCache& cache, StreamCache& from, const PoolRequest& request);
  // Whether memory that other streams have passed now serves a region of `slots`.
  virtual bool gather(StreamCache& /*cache*/, const PoolRequest& /*request*/, size_t /*slots*/) { return false; }
  // Upper bound of the new memory for a region of `slots`. scarce: memory that other streams have passed is used as well.
  virtual int64_t missing_for(StreamCache& cache, const PoolRequest& request, size_t slots, bool scarce);
  // Whether memory of other streams is preferable to `bytes` of new memory.
  virtual bool scarce(int64_t bytes, const PoolRequest& request) const noexcept;
  // Releases idle memory until at most `most` bytes are reserved. Returns the bytes released.
  virtual int64_t release_to(int64_t most, std::vector<FencePtr>* not_passed);

  static size_t slots_for(const StreamCache& cache, const PoolRequest& request) noexcept;
  int64_t target(const PoolRequest& request) const noexcept;
  void attach_region(StreamCache& cache, const PoolRequest& request, size_t slots);

 private:
  bool wait_pending(StreamCache& cache, const PoolRequest& request);
  bool adopt(StreamCache& cache, StreamCache& from, const PoolRequest& request);
  bool adopt_from_others(StreamCache& cache, const PoolRequest& request);
  void note_needed(const StreamCache& cache, const PoolRequest& request);
  int64_t make_room(StreamCache& cache, const PoolRequest& request, size_t slots);
  void add_region(StreamCache& cache, const PoolRequest& request);
  int64_t release_largest();  // bytes; 0: no idle region

  int64_t held_peak_ = 0;  // high-water mark, as sampled, of live bytes and pending frees
};

}  // namespace gpumem
