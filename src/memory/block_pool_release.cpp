// How blocks that lie idle go back to the backend: down to a number of bytes, or all that a trim finds.
#include <algorithm>
#include <chrono>
#include <thread>

#include "memory/block_pool.hpp"

namespace gpumem {
namespace {

// An event behind work that is done passes some microseconds later, sooner than a chunk can be mapped.
constexpr std::chrono::microseconds kUntilEventsPass{50};

}  // namespace

int64_t BlockPool::release_largest() {
  for (;;) {
    StreamCache* holder = nullptr;
    Region* largest = nullptr;
    for (const auto& cache : caches_) {
      if (!usable(*cache)) continue;
      const std::lock_guard<std::mutex> lock(cache->mutex);
      Region* region = cache->largest_idle_region();
      if (region == nullptr || (largest != nullptr && region->taken_bytes <= largest->taken_bytes)) continue;
      holder = cache.get();
      largest = region;
    }
    if (largest == nullptr) return 0;
    {
      const std::lock_guard<std::mutex> lock(holder->mutex);
      if (largest->idle != largest->slots) continue;  // it was used meanwhile
      holder->detach(*largest);
    }
    const auto bytes = static_cast<int64_t>(largest->taken_bytes);
    give_back(*largest, *holder);
    if (holder->stream != nullptr) released_in_order_ = true;
    return bytes;
  }
}

// Memory that streams may still use stays mapped; the fences behind which it can go are left in not_passed.
int64_t BlockPool::unmap_down_to(int64_t most, std::vector<FencePtr>* not_passed) {
  for (const auto& cache : caches_) {
    if (usable(*cache)) merge_idle(*cache, 0);
  }
  const int64_t before = arena_->mapped_bytes();
  if (before <= most) return 0;
  for (const auto& cache : caches_) {
    if (usable(*cache)) note_passed(*cache);
  }
  const auto until = std::chrono::steady_clock::now() + kUntilEventsPass;
  while (!std::all_of(caches_.begin(), caches_.end(), [](const auto& cache) { return cache->passed_fence(); })) {
    if (std::chrono::steady_clock::now() > until) break;
    std::this_thread::yield();
  }
  arena_->unmap_down_to(most);
  count_mapped();
  if (not_passed != nullptr && arena_->mapped_bytes() > most) {
    for (const auto& cache : caches_) {
      if (cache->fence != nullptr) not_passed->push_back(cache->fence);
    }
  }
  return before - arena_->mapped_bytes();
}

int64_t BlockPool::release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) {
  settle();
  give_back_aside(static_cast<size_t>(keep_bytes));
  int64_t idle = idle_bytes();
  if (arena_ != nullptr) {
    unmap_down_to(arena_->mapped_bytes() - std::max<int64_t>(idle - keep_bytes, 0), not_passed);
    return idle_bytes();
  }
  while (idle > keep_bytes) {
    const int64_t released = release_largest();
    if (released == 0) break;
    idle -= released;
  }
  return idle;
}

void BlockPool::shrink_to(int64_t keep_bytes) noexcept {
  try {
    const std::lock_guard<std::mutex> growing(growing_);
    release_down_to(keep_bytes);
  } catch (const std::exception&) {
    // What can't be given back now is kept.
  }
}

// What is merged meanwhile with memory that a stream has used since has to be waited for once more.
void BlockPool::wait_and_release(int64_t keep_bytes) {
  owner_.wait_for_streams();
  for (int round = 0; round < 3; ++round) {
    std::vector<FencePtr> not_passed;
    {
      const std::lock_guard<std::mutex> growing(growing_);
      release_down_to(keep_bytes, &not_passed);
    }
    for (const FencePtr& fence : not_passed) fence->wait();
    if (not_passed.empty()) return;
  }
}

// What was released behind a stream's work is the driver's to give back once the stream has passed it: so they are waited for.
void BlockPool::trim(int64_t keep_bytes) {
  {
    const std::lock_guard<std::mutex> growing(growing_);
    release_down_to(keep_bytes);
  }
  wait_and_release(keep_bytes);
  {
    const std::lock_guard<std::mutex> growing(growing_);
    const int64_t idle = idle_bytes();
    const int64_t live = reserved_.load(std::memory_order_relaxed) - idle;
    source_->trim(static_cast<size_t>(live + std::min(keep_bytes, INT64_MAX - live)));
  }
  tell_damage();
}

}  // namespace gpumem
