// What the parts of a pool share: its bounds, the caches of its streams, and what it holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/pool_owner.hpp"
#include "memory/stream_cache.hpp"

namespace gpumem {

struct PoolPolicy {
  gpumem_memory_kind kind;
  int32_t device;             // where it lies
  int64_t limit = 0;          // of reserved bytes; 0: none
  bool pooled = true;         // false: every block comes from the source and goes back to it, for all streams
  bool guarded = false;       // writes past a block's ends and after its free are found
  bool follows_live = false;  // idle memory goes back before the total exceeds the peak of live bytes by a fifth
  int64_t most_idle = INT64_MAX;
};

// A sum that many threads add to, and the most that it was.
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

// The padding keeps what many threads write apart from the rest.
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
  // Whether work can be enqueued behind what the stream has been given, or waited for.
  bool usable(const StreamCache& cache) const {
    return !cache.ended && (cache.stream == nullptr || !backend.capturing(cache.stream));
  }

  const PoolOwner& owner;
  Backend& backend;
  const PoolPolicy policy;
  Fences fences;

  mutable std::mutex
      growing;  // of the list of caches, and of what is taken from the source; a cache's own lock comes after it
  std::vector<std::unique_ptr<StreamCache>> caches;  // kept until the pool ends: a free may still come for one
  StreamCache& ready;                                // memory that every stream may use at once
  int64_t needed = 0;                                // in sum over the streams
  bool released_in_order = false;                    // memory is on its way back behind streams' work
  Watermark reserved;
  // Live bytes, an upper bound of them. A cache adds to it when its own live bytes exceed its share of it, and takes away in steps.
  alignas(64) Watermark live;
};

}  // namespace gpumem
