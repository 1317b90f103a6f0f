// Memory of one kind of a context: one cache of free blocks per stream, in front of the supply. A cache hit takes one
// lock, shared only by users of that stream (docs/adr/0010-a-cache-a-stream.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/block_supply.hpp"

namespace gpumem {

struct PoolState {
  BlockCounts counts;
  int64_t peak_bytes = 0;
  int64_t reserved_bytes = 0;  // taken from the backend: live, cached and lost to rounding
  int64_t reserved_peak_bytes = 0;
};

class BlockPool {
 public:
  BlockPool(const PoolOwner& owner, std::unique_ptr<BlockSource> source, const PoolPolicy& policy);

  // A stream begins, or gets one more name, and ends. finished: its work was waited for. If a stream ends under
  // capture, its memory is never reused: nothing shows when its work is done.
  StreamCache& open(NativeStream stream);
  void close(StreamCache& cache, bool finished) noexcept;
  // Memory of graphs on one stream, and its end, when all their work is done. A live block follows once it is freed.
  StreamCache& open_for_graphs(NativeStream stream);
  void release_from_graphs(StreamCache& cache);
  void share_released();  // what was freed meanwhile, and is out of use
  // Whether graphs keep the live block that starts at p. Throws as Registry::claim().
  GraphHold hold_of(uintptr_t p) const;
  StreamCache& own() noexcept { return *own_; }
  StreamCache& ready() noexcept { return books_.ready; }

  // Whether a stream keeps the memory it frees; otherwise all streams share it.
  bool pooled() const noexcept { return books_.policy.pooled && !books_.policy.guarded; }

  void* allocate(StreamCache& cache, size_t bytes, size_t alignment);
  // Pooled memory: ordered behind the block's stream, declared streams, and `on`. On CAPTURING, the block stays live.
  void free_in_order(const Claim& claim, const StreamCache& on);
  // For unpooled memory: waits for the streams declared to use the block. Throws CAPTURING.
  void wait_for_uses(const Claim& claim);
  void free_now(const Claim& claim) noexcept;
  // Declares that work on the stream uses the block starting at p until it is freed.
  void use_on(uintptr_t p, NativeStream stream);

  // Throws CORRUPTED if the pool is guarded and the block, which is out of use, was written past its ends.
  void require_intact(const Claim& claim);
  void check(Damage& found);

  // Releases all free memory but keep_bytes, once the streams have passed its last use.
  void trim(int64_t keep_bytes);
  PoolState state() const;

 private:
  StreamCache& unused_cache(NativeStream stream);
  void share(StreamCache& cache);
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
  const bool watched_;
  StreamCache* own_ = nullptr;
  std::atomic<bool> declared_{false};  // some block was declared on a foreign stream
  std::atomic<bool> graphs_{false};    // some cache was for graphs
};

}  // namespace gpumem
