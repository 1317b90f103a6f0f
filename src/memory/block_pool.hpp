// Memory of one kind of a context: a cache of free blocks a stream, in front of where the memory comes from. A block that
// its stream's cache has costs one lock that only that stream's users take; everything else is the business of growing.
// docs/adr/0010-a-cache-a-stream.md says why.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/arena.hpp"
#include "memory/block_guards.hpp"
#include "memory/block_source.hpp"
#include "memory/pool_owner.hpp"
#include "memory/stream_cache.hpp"

namespace gpumem {

// What the pool holds, in sums over its streams.
struct PoolState {
  BlockCounts counts;
  int64_t peak_bytes = 0;      // high-water mark of counts.live_bytes
  int64_t reserved_bytes = 0;  // taken from the backend: live, cached and lost to rounding
  int64_t reserved_peak_bytes = 0;
};

struct PoolPolicy {
  gpumem_memory_kind kind;
  int32_t device;             // where it lies
  int64_t limit = 0;          // of reserved bytes; 0: none
  bool pooled = true;         // false: every block comes from the source and goes back to it, for all streams
  bool guarded = false;       // not where pooled: writes past a block's ends and after its free are found
  bool follows_live = false;  // idle memory goes back before the total exceeds the peak of live bytes by a fifth
  int64_t most_idle = INT64_MAX;
};

// The padding keeps what many threads write apart from the rest.
class BlockPool {  // NOLINT(clang-analyzer-optin.performance.Padding)
 public:
  BlockPool(const PoolOwner& owner, std::unique_ptr<BlockSource> source, const PoolPolicy& policy);
  ~BlockPool();

  // A stream begins, or gets one name more; and ends. finished: its work was waited for. What a stream has that ends under
  // capture is not used again: nobody can know when its work is done.
  StreamCache& open(NativeStream stream);
  void close(StreamCache& cache, bool finished) noexcept;
  StreamCache& own() noexcept { return *own_; }
  // Of memory that every stream may use at once.
  StreamCache& ready() noexcept { return *ready_; }

  bool pooled() const noexcept { return policy_.pooled; }

  void* allocate(StreamCache& cache, size_t bytes, size_t alignment);
  // Behind the work of the block's stream, of the streams declared, and of `on`. Throws CAPTURING, and the block is then live.
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
  struct Request {
    size_t bytes;
    size_t alignment;
    int size_class;
    size_t block_bytes;  // of the blocks that it may be given
  };
  Request request_for(size_t bytes, size_t alignment) const noexcept;

  // The cache that a region with a live or claimed block belongs to, locked.
  static std::unique_lock<std::mutex> lock_home(const Region& region, StreamCache*& home);
  bool takes_whole(const StreamCache& cache, const Request& request) const noexcept;  // with the cache's lock held
  std::vector<NativeStream> streams_using(const Claim& claim, const StreamCache& on);
  void* find(StreamCache& cache, size_t bytes, size_t alignment);
  void forget(const Claim& claim, NativeStream stream) noexcept;
  void tell_freed(const Claim& claim, NativeStream stream) noexcept;
  void* hand_out(StreamCache& cache, Block block, size_t bytes) noexcept;
  void count_free(StreamCache& cache, size_t bytes) noexcept;
  void free_alone(const Claim& claim) noexcept;
  void give_back(Region& region, const StreamCache& cache) noexcept;
  void reserve(int64_t bytes) noexcept;
  void give_back_aside(size_t keep_bytes) noexcept;
  void tell_damage() noexcept;

  void shrink_to(int64_t keep_bytes) noexcept;
  // What is idle goes back once its streams were waited for.
  void wait_and_release(int64_t keep_bytes);

  // Everything below: with growing_ held.
  void* grow(StreamCache& cache, const Request& request);
  void* allocate_alone(const Request& request);
  bool wait_pending(StreamCache& cache, const Request& request);
  bool reuse(StreamCache& cache, const Request& request);
  bool adopt(StreamCache& cache, StreamCache& from, const Request& request);
  bool adopt_free(StreamCache& cache, StreamCache& from, const Request& request);
  bool adopt_from_others(StreamCache& cache, const Request& request);
  void add_region(StreamCache& cache, const Request& request);
  void attach_region(StreamCache& cache, const Request& request, size_t slots);
  Region& new_region(StreamCache& cache, const Request& request, size_t slot_bytes, size_t slots);
  Arena::Request in_arena(const Request& request, size_t slots) const noexcept;
  // New memory that a region of so many slots takes, at most.
  int64_t most_taken(const StreamCache& cache, const Request& request, size_t slots) const;
  // What a block in a region of its own takes.
  size_t alone_bytes(size_t bytes) const noexcept;
  void take_memory(StreamCache& cache, Region& region, const Request& request);
  void make_room(const StreamCache& cache, const Request& request, size_t slots);
  int64_t target(const Request& request) const noexcept;
  void note_needed(const StreamCache& cache, const Request& request);
  bool over_target(int64_t bytes, const Request& request) const noexcept;
  bool near_target(const Request& request) const noexcept;
  bool over_limit(int64_t bytes) const noexcept;
  [[noreturn]] void fail_over_limit(const Request& request) const;
  int64_t release_largest();  // its bytes; 0: nothing is idle
  int64_t release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed = nullptr);  // gives what is still idle
  void merge_idle(StreamCache& cache, int first_class);
  void note_passed(StreamCache& cache);
  int64_t unmap_down_to(int64_t most, std::vector<FencePtr>* not_passed);
  void count_mapped() noexcept { reserve(arena_->mapped_bytes() - reserved_.load(std::memory_order_relaxed)); }
  void settle();
  void absorb_ended();
  bool usable(const StreamCache& cache);
  int64_t idle_bytes();
  bool worth_waiting(const Request& request);

  const PoolOwner& owner_;
  Backend& backend_;
  const std::unique_ptr<BlockSource> source_;
  const PoolPolicy policy_;
  const std::unique_ptr<BlockGuards> guards_;  // null where the pool is not guarded
  const bool watched_;                         // a tool is told of each block
  Fences fences_;
  const std::unique_ptr<Arena> arena_;  // where regions lie; null: the source gives each one
  mutable std::mutex growing_;
  std::vector<std::unique_ptr<StreamCache>> caches_;  // kept until the pool ends: a free may still come for one
  StreamCache* ready_;
  StreamCache* own_ = nullptr;
  std::atomic<bool> declared_{false};  // some block was said to be used on a stream that is not its own
  bool released_in_order_ = false;     // memory is on its way back behind streams' work
  int64_t needed_ = 0;                 // in sum over the streams
  int64_t held_peak_ = 0;  // as far as it was looked at: high-water mark of live bytes and those on their way back
  std::atomic<int64_t> reserved_{0};
  std::atomic<int64_t> reserved_peak_{0};
  // An upper bound of all live bytes. A cache adds to it when its own live bytes exceed its share of it, and takes away in steps of
  // kSlack.
  static constexpr int64_t kSlack = int64_t{1} << 20;
  alignas(64) std::atomic<int64_t> live_{0};
  std::atomic<int64_t> live_peak_{0};
};

}  // namespace gpumem
