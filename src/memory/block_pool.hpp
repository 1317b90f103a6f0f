// Memory of one kind of a context: a cache of free blocks a stream, in front of where the memory comes from. A block that
// its stream's cache has costs one lock that only that stream's users take; everything else is the business of the supply.
// docs/adr/0010-a-cache-a-stream.md says why.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/block_supply.hpp"

namespace gpumem {

// What the pool holds, in sums over its streams.
struct PoolState {
  BlockCounts counts;
  int64_t peak_bytes = 0;      // high-water mark of counts.live_bytes
  int64_t reserved_bytes = 0;  // taken from the backend: live, cached and lost to rounding
  int64_t reserved_peak_bytes = 0;
};

class BlockPool {
 public:
  BlockPool(const PoolOwner& owner, std::unique_ptr<BlockSource> source, const PoolPolicy& policy);

  // A stream begins, or gets one name more; and ends. finished: its work was waited for. What a stream has that ends under
  // capture is not used again: nobody can know when its work is done.
  StreamCache& open(NativeStream stream);
  void close(StreamCache& cache, bool finished) noexcept;
  StreamCache& own() noexcept { return *own_; }
  // Of memory that every stream may use at once.
  StreamCache& ready() noexcept { return books_.ready; }

  // Whether a stream keeps what it frees; else all memory is of every stream.
  bool pooled() const noexcept { return books_.policy.pooled && !books_.policy.guarded; }

  void* allocate(StreamCache& cache, size_t bytes, size_t alignment);
  // Where it is pooled. Behind the work of the block's stream, of the streams declared, and of `on`. Throws CAPTURING, and the block is
  // then live.
  void free_in_order(const Claim& claim, const StreamCache& on);
  // Where nothing is pooled: for the work of the streams that were declared to use the block. Throws CAPTURING.
  void wait_for_uses(const Claim& claim);
  // Nothing uses the block any more.
  void free_now(const Claim& claim) noexcept;
  // Work on the stream uses the block that starts at p until it is freed.
  void use_on(uintptr_t p, NativeStream stream);

  // Throws CORRUPTED where the pool is guarded and a block that nothing uses any more was written past its ends.
  void require_intact(const Claim& claim);
  // Of all blocks, where the pool is guarded.
  void check(Damage& found);

  // Gives all but keep_bytes of the free memory back to the device, once the streams have passed its last use.
  void trim(int64_t keep_bytes);
  PoolState state() const;

 private:
  std::vector<NativeStream> streams_using(const Claim& claim, const StreamCache& on);
  bool in_use_on(NativeStream stream);
  void* find(StreamCache& cache, size_t bytes, size_t alignment);
  void tell_freed(const Claim& claim, NativeStream stream) noexcept;
  void* hand_out(StreamCache& cache, Supplied supplied, size_t bytes) noexcept;
  void count_free(StreamCache& cache, size_t bytes) noexcept;
  void tell_damage() noexcept;
  bool worth_waiting(size_t bytes);
  void shrink() noexcept;
  void wait_and_release(int64_t keep_bytes);

  PoolBooks books_;
  const std::unique_ptr<BlockSupply> supply_;
  const bool watched_;  // a tool is told of each block
  StreamCache* own_ = nullptr;
  std::atomic<bool> declared_{false};  // some block was said to be used on a stream that is not its own
};

}  // namespace gpumem
