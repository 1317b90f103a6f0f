// A context's device memory: a cache of free blocks a stream, in front of the backend's stream-ordered allocator. A block that
// its stream's cache has costs one lock that only that stream's users take; everything else is the business of growing.
// docs/adr/0009-a-cache-a-stream.md says why.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "engine/registry.hpp"
#include "engine/stream_cache.hpp"

namespace gpumem {

class Context;

// What the pool holds, in sums over its streams.
struct PoolState {
  BlockCounts counts;
  int64_t peak_bytes = 0;      // high-water mark of counts.live_bytes
  int64_t reserved_bytes = 0;  // taken from the backend: live, cached and lost to rounding
  int64_t reserved_peak_bytes = 0;
};

class BlockPool {
 public:
  // limit: of reserved bytes; 0: none.
  BlockPool(Context& context, int64_t limit);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A stream begins, or gets one name more; and ends. finished: its work is done; else `end` (may be null: it is under
  // capture, so nobody can know) is behind its work.
  StreamCache& open(NativeStream stream);
  void close(StreamCache& cache, bool finished) noexcept;
  StreamCache& own() noexcept { return *own_; }
  // Of memory that every stream may use at once.
  StreamCache& ready() noexcept { return *ready_; }

  // Whether the backend has memory in a stream's order. Without, every block comes from the backend and goes back to it.
  bool pooled() const noexcept { return pooled_; }

  void* allocate(StreamCache& cache, size_t bytes, size_t alignment);
  // Behind the work of the block's stream, of the streams declared, and of `on`. Throws CAPTURING, and the block is then live.
  void free_in_order(const Claim& claim, const StreamCache& on);
  // Nothing uses the block any more.
  void free_now(const Claim& claim) noexcept;
  // Work on the stream uses the block that starts at p until it is freed.
  void use_on(uintptr_t p, NativeStream stream);

  // Gives free memory but for so many bytes back to the device, once the streams have passed its last use.
  void trim(int64_t keep_bytes);
  PoolState state() const;

 private:
  struct Request {
    size_t bytes;
    size_t alignment;
    int size_class;
  };

  // The cache that a region with a live or claimed block belongs to, locked.
  static std::unique_lock<std::mutex> lock_home(const Region& region, StreamCache*& home);
  std::vector<NativeStream> streams_using(const Claim& claim, const StreamCache& on);
  void* hand_out(StreamCache& cache, Block block, size_t bytes) noexcept;
  void count_free(StreamCache& cache, size_t bytes) noexcept;

  // Everything below: with growing_ held.
  void* grow(StreamCache& cache, const Request& request);
  void* allocate_alone(const Request& request);
  bool wait_pending(StreamCache& cache, const Request& request);
  bool adopt(StreamCache& cache, StreamCache& from, const Request& request);
  bool adopt_from_others(StreamCache& cache, const Request& request);
  void add_region(StreamCache& cache, const Request& request);
  template <class Allocate, class Release>
  void take_memory(Region& region, size_t alignment, const Allocate& allocate, const Release& release);
  void make_room(int64_t bytes, const Request& request);
  bool over_target(int64_t bytes, const Request& request) const noexcept;
  bool over_limit(int64_t bytes) const noexcept;
  [[noreturn]] void fail_over_limit(const Request& request) const;
  int64_t release_largest();  // its bytes; 0: nothing is idle
  void release(StreamCache& cache, Region& region) noexcept;
  void release_all_idle();
  void reserve(int64_t bytes) noexcept;
  void settle();
  void absorb_ended();
  bool usable(const StreamCache& cache);
  int64_t idle_bytes();
  bool worth_waiting(const Request& request);

  Context& context_;
  Backend& backend_;
  const int64_t limit_;
  const bool pooled_;
  Fences fences_;
  mutable std::mutex growing_;
  std::vector<std::unique_ptr<StreamCache>> caches_;  // kept until the pool ends: a free may still come for one
  StreamCache* ready_;
  StreamCache* own_ = nullptr;
  bool released_in_order_ = false;  // memory is on its way back behind streams' work
  std::atomic<int64_t> reserved_{0};
  std::atomic<int64_t> reserved_peak_{0};
  // At least the sum of all live bytes, which each cache adds to when it has more than ever since it took away, which it does in
  // steps of kSlack.
  static constexpr int64_t kSlack = int64_t{1} << 20;
  alignas(64) std::atomic<int64_t> live_{0};
  std::atomic<int64_t> live_peak_{0};
};

}  // namespace gpumem
