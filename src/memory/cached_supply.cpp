#include "memory/cached_supply.hpp"

#include <algorithm>

#include "base/scope_exit.hpp"

namespace gpumem {

// The memory is out of use, so it returns as memory of all streams.
CachedSupply::~CachedSupply() {
  for (const auto& cache : books_.caches) {
    for (Region* region : cache->regions) {
      const auto owned = books_.owner.registry.remove(*region);
      source_->give_back(nullptr, owned->taken, owned->taken_bytes);
    }
    cache->regions.clear();
  }
}

PoolRequest CachedSupply::request_for(size_t bytes, size_t alignment) const noexcept {
  const int size_class = alignment <= kBlockUnit ? size_class_of(bytes) : aligned_class_of(bytes, alignment);
  return {bytes, std::max(alignment, kBlockUnit), size_class, size_of_class(size_class)};
}

bool CachedSupply::put(StreamCache& cache, Block block) noexcept {
  cache.put(block);
  return true;
}

void CachedSupply::give_back(const Claim& claim) noexcept {
  StreamCache* home = nullptr;
  const auto lock = lock_home(*claim.region, home);
  books_.owner.labels.forget(claim);
  home->put({claim.region, claim.slot});
}

size_t CachedSupply::slots_for(const StreamCache& cache, const PoolRequest& request) noexcept {
  return slab_slots(request.size_class, cache.slots_of(request.size_class));
}

// Idle memory is released above 1.2 times the peak of live bytes, because the pool may cost a quarter at most. But the
// target covers the needs of each stream; otherwise streams would take memory from each other in turn.
int64_t CachedSupply::target(const PoolRequest& request) const noexcept {
  if (!books_.policy.follows_live) return INT64_MAX;
  const int64_t live =
      std::max({books_.live.peak(), held_peak_, books_.live.now() + static_cast<int64_t>(request.bytes)});
  return std::max({kFreely, live + live / 5, books_.needed + books_.needed / 16});
}

// Blocks still in use on other streams after their free count as live.
void CachedSupply::note_needed(const StreamCache& cache, const PoolRequest& request) {
  const auto asked = static_cast<int64_t>(request.block_bytes);
  int64_t held = asked;
  for (const auto& each : books_.caches) {
    const std::lock_guard<std::mutex> lock(each->mutex);
    int64_t needed = each->counts.live_bytes;
    for (const PendingBlock& pending : each->pending) needed += static_cast<int64_t>(pending.block.region->slot_bytes);
    held += needed;
    if (each.get() == &cache) needed += asked;
    books_.needed += std::max<int64_t>(needed - each->needed, 0);
    each->needed = std::max(each->needed, needed);
  }
  held_peak_ = std::max(held_peak_, held);
}

int64_t CachedSupply::missing_for(StreamCache&, const PoolRequest& request, size_t slots, bool) {
  const size_t bytes = slots * request.block_bytes;
  return static_cast<int64_t>(request.alignment > kBlockUnit ? bytes + request.alignment : bytes);
}

bool CachedSupply::scarce(int64_t bytes, const PoolRequest& request) const noexcept {
  return books_.reserved.now() > std::min(books_.limit(), target(request)) - bytes;
}

int64_t CachedSupply::idle_bytes() {
  int64_t bytes = 0;
  for (const auto& cache : books_.caches) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    bytes += cache->idle_bytes();
  }
  return bytes;
}

void CachedSupply::share_idle(StreamCache& cache) {
  int size_class = 0;
  const auto next = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.settle();
    return cache.detach_idle(size_class);
  };
  while (Region* region = next()) drop(*region, books_.ready);
  absorb(cache);
}

Supplied CachedSupply::grow(StreamCache& cache, const PoolRequest& request) {
  absorb_ended();
  const auto find = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    return cache.take(request.size_class, request.block_bytes, request.alignment);
  };
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    if (const auto block = take(cache, request)) return {*block, true};  // freed meanwhile
  }
  const auto expected = static_cast<int64_t>(slab_slots(request.size_class, 0) * request.block_bytes);
  const bool found = reuse(cache, request) || wait_pending(cache, request) || adopt(cache, books_.ready, request) ||
                     (scarce(expected, request) && adopt_from_others(cache, request));
  if (found || cache.stream == nullptr || cache.for_graphs()) {
    if (const auto block = find()) return {*block, true};
  }
  // Another thread of the stream may take any block found or added here.
  for (;;) {
    add_region(cache, request);
    if (const auto block = find()) return {*block, false};
  }
}

// Takes a block of this cache whose other uses are done, or are ordered before.
bool CachedSupply::wait_pending(StreamCache& cache, const PoolRequest& request) {
  std::optional<PendingBlock> pending;
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    if (cache.stream == nullptr || cache.for_graphs()) {
      cache.settle();
      return false;
    }
    pending = cache.take_pending(request.size_class, request.block_bytes, request.alignment);
  }
  if (!pending) return false;
  try {
    for (const FencePtr& fence : pending->fences) fence->hold(cache.stream);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.pending.push_back(std::move(*pending));
    throw;
  }
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.put(pending->block);
  return true;
}

// Takes an idle region, ordered behind that stream's work so far.
bool CachedSupply::adopt_free(StreamCache& cache, StreamCache& from, const PoolRequest& request) {
  Region* region = nullptr;
  {
    const std::scoped_lock lock(cache.mutex, from.mutex);
    region = from.idle_region(request.size_class);
    if (region == nullptr || (region->base + region->front) % request.alignment != 0) return false;
    cache.make_room(request.size_class, region->slots);
    from.detach(*region);
  }
  ScopeExit back([&] {
    const std::lock_guard<std::mutex> lock(from.mutex);
    from.attach(*region);
  });
  if (from.stream != nullptr) books_.fences.record(from.stream)->hold(cache.stream);
  back.release();
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.attach(*region);
  return true;
}

bool CachedSupply::adopt(StreamCache& cache, StreamCache& from, const PoolRequest& request) {
  return &cache != &from && books_.usable(from) && adopt_free(cache, from, request);
}

bool CachedSupply::adopt_from_others(StreamCache& cache, const PoolRequest& request) {
  if (cache.stream == nullptr || cache.for_graphs()) return false;  // the caller itself would have to wait
  return std::any_of(books_.caches.begin(), books_.caches.end(),
                     [&](const auto& from) { return from.get() != &books_.ready && adopt(cache, *from, request); });
}

// Makes room for the missing bytes of a region. Unmapping may remove its intended neighbour, which increases them.
int64_t CachedSupply::make_room(StreamCache& cache, const PoolRequest& request, size_t slots) {
  int64_t missing = missing_for(cache, request, slots, false);
  const auto room = [&] { return std::max<int64_t>(std::min(target(request), books_.limit()) - missing, 0); };
  if (books_.reserved.now() <= room()) return missing;
  settle();
  note_needed(cache, request);
  if (books_.reserved.now() <= room()) return missing;
  if (gather(cache, request, slots)) return 0;
  missing = missing_for(cache, request, slots, true);
  for (int64_t released = 1; released > 0 && books_.reserved.now() > room();) {
    released = release_to(room(), nullptr);
    missing = missing_for(cache, request, slots, true);
  }
  return missing;
}

void CachedSupply::add_region(StreamCache& cache, const PoolRequest& request) {
  size_t slots = slots_for(cache, request);
  int64_t missing = make_room(cache, request, slots);
  if (slots > 1 && books_.over_limit(missing)) {
    slots = 1;
    missing = missing_for(cache, request, slots, true);
  }
  if (books_.over_limit(missing)) fail_over_limit(request);
  attach_region(cache, request, slots);
}

void CachedSupply::attach_region(StreamCache& cache, const PoolRequest& request, size_t slots) {
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.make_room(request.size_class, slots);
  }
  Region& region = new_region(cache, request, slots);
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.attach(region);
}

int64_t CachedSupply::release_largest() {
  for (;;) {
    StreamCache* holder = nullptr;
    Region* largest = nullptr;
    for (const auto& cache : books_.caches) {
      if (!books_.usable(*cache)) continue;
      const std::lock_guard<std::mutex> lock(cache->mutex);
      Region* region = cache->largest_idle_region();
      if (region == nullptr || (largest != nullptr && region->taken_bytes <= largest->taken_bytes)) continue;
      holder = cache.get();
      largest = region;
    }
    if (largest == nullptr) return 0;
    {
      const std::lock_guard<std::mutex> lock(holder->mutex);
      if (largest->idle != largest->slots) continue;
      holder->detach(*largest);
    }
    const auto bytes = static_cast<int64_t>(largest->taken_bytes);
    drop(*largest, *holder);
    if (holder->stream != nullptr) books_.released_in_order = true;
    return bytes;
  }
}

int64_t CachedSupply::release_to(int64_t most, std::vector<FencePtr>*) {
  const int64_t before = books_.reserved.now();
  while (books_.reserved.now() > most && release_largest() > 0) {
  }
  return before - books_.reserved.now();
}

void CachedSupply::release_down_to(int64_t keep_bytes, std::vector<FencePtr>* not_passed) {
  settle();
  release_to(books_.reserved.now() - std::max<int64_t>(idle_bytes() - keep_bytes, 0), not_passed);
}

}  // namespace gpumem
