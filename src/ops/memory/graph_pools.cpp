#include "ops/memory/graph_pools.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "ops/operations.hpp"

namespace gpumem {
namespace {

// A filter of the program that throws doesn't know the stream.
bool accepts(const GraphPools::Filter& filter, void* native) noexcept {
  try {
    return !filter || filter(native);
  } catch (...) {
    return false;
  }
}

}  // namespace

std::vector<GraphPools::Pool>::iterator GraphPools::find(const Name& name) noexcept {
  return std::find_if(pools_.begin(), pools_.end(), [&name](const Pool& pool) { return pool.name == name; });
}

bool GraphPools::is_open(const Name& name) const noexcept {
  return std::any_of(open_.begin(), open_.end(), [&name](const Open& open) { return open.name == name; });
}

void GraphPools::begin(const Name& name, Filter filter) {
  if (!context_.device_memory().pooled()) {
    fail(GPUMEM_UNSUPPORTED,
         "a context whose device memory has no pool can't keep memory for graphs; an allocation "
         "under graph capture invalidates the capture");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (find(name) == pools_.end()) pools_.push_back({name, 0, {}});
  open_.push_back({name, std::move(filter)});
  ++find(name)->users;
  some_open_.store(true, std::memory_order_release);
}

void GraphPools::end(const Name& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto last = std::find_if(open_.rbegin(), open_.rend(), [&name](const Open& open) { return open.name == name; });
  if (last == open_.rend()) {
    fail(GPUMEM_INVALID_ARGUMENT, "the pool of graphs (%lld, %lld) is not open; expected one that began", ll(name.high),
         ll(name.low));
  }
  open_.erase(std::next(last).base());
  some_open_.store(!open_.empty(), std::memory_order_release);
}

void GraphPools::release(const Name& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto pool = find(name);
  if (pool == pools_.end() || pool->users == 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "there is no pool of graphs (%lld, %lld); expected one that began", ll(name.high),
         ll(name.low));
  }
  if (--pool->users > 0) return;
  some_released_.store(true, std::memory_order_release);
  share_released();
}

// Replays of the graphs may still run.
void GraphPools::share_released() {
  wait_for_device(context_);
  for (Pool& pool : pools_) {
    while (pool.users == 0 && !is_open(pool.name) && !pool.caches.empty()) {
      StreamCache* const cache = pool.caches.back();
      pool.caches.pop_back();
      context_.device_memory().release_from_graphs(*cache);
    }
  }
  std::erase_if(pools_, [this](const Pool& pool) { return pool.users == 0 && !is_open(pool.name); });
  const bool some = std::any_of(pools_.begin(), pools_.end(), [](const Pool& pool) { return pool.users == 0; });
  some_released_.store(some, std::memory_order_release);
}

void GraphPools::settle() noexcept {
  if (!some_released_.load(std::memory_order_acquire)) return;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  try {
    share_released();
  } catch (const std::exception&) {
  }
}

StreamCache* GraphPools::cache_of(void* native) {
  if (!some_open_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto open =
      std::find_if(open_.rbegin(), open_.rend(), [native](const Open& pool) { return accepts(pool.filter, native); });
  if (open == open_.rend()) return nullptr;
  NativeStream stream = context_.device().wrap_stream(native);
  std::vector<StreamCache*>& caches = find(open->name)->caches;
  for (StreamCache* cache : caches) {
    if (cache->stream == stream) return cache;
  }
  caches.reserve(caches.size() + 1);
  return caches.emplace_back(&context_.device_memory().open_for_graphs(stream));
}

}  // namespace gpumem
