// State shared by the parts of a pool: bounds, stream caches and totals.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/pool_owner.hpp"
#include "memory/spinning_lock.hpp"
#include "memory/stream_cache.hpp"

namespace gpumem {

struct PoolPolicy {
  gpumem_memory_kind kind;
  int32_t device;
  int64_t limit = 0;   // of reserved bytes; 0: none
  bool pooled = true;  // false: every block is taken from and returned to the source, for all streams
  bool guarded = false;
  bool follows_live = false;  // releases idle memory before the total exceeds the peak of live bytes by a fifth
  int64_t most_idle = INT64_MAX;
};

class Watermark {
 public:
  void add(int64_t by) noexcept {
    const int64_t now = now_.fetch_add(by, std::memory_order_relaxed) + by;
    int64_t seen = peak();
    while (seen < now && !peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
    }
  }
  int64_t now() const noexcept { return now_.load(std::memory_order_relaxed); }
  int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_{0};
  std::atomic<int64_t> peak_{0};
};

// The padding avoids false sharing.
struct PoolBooks {  // NOLINT(clang-analyzer-optin.performance.Padding)
  PoolBooks(const PoolOwner& owner_of_pool, const PoolPolicy& policy_of_pool)
      : owner(owner_of_pool),
        backend(owner.device),
        policy(policy_of_pool),
        fences(backend),
        ready(*caches.emplace_back(std::make_unique<StreamCache>())) {
    ready.users = 1;
    ready.passed = UINT64_MAX;
  }

  int64_t limit() const noexcept { return policy.limit > 0 ? policy.limit : INT64_MAX; }
  bool over_limit(int64_t bytes) const noexcept { return reserved.now() > limit() - bytes; }
  // Whether work can be enqueued behind the stream's work, or can wait for it.
  bool usable(const StreamCache& cache) const {
    return !cache.ended && !cache.for_graphs() && (cache.stream == nullptr || !backend.capturing(cache.stream));
  }

  const PoolOwner& owner;
  Backend& backend;
  const PoolPolicy policy;
  Fences fences;

  mutable SpinningLock growing;  // guards the list of caches and the source; locked before any cache's lock
  std::vector<std::unique_ptr<StreamCache>> caches;  // kept until the pool ends, because late frees may refer to one
  StreamCache& ready;                                // memory that every stream may use at once
  int64_t needed = 0;
  bool released_in_order = false;  // memory is being released behind work of streams
  Watermark reserved;
  // Upper bound of live bytes. A cache adds to it when its own live bytes exceed its share, and subtracts in steps.
  alignas(64) Watermark live;
};

}  // namespace gpumem
