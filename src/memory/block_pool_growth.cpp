// Where blocks come from when a stream's cache has none, in this order: what is free of the stream in other sizes, blocks of the
// stream that it has to wait for, memory of streams that are gone, memory of other streams when there is enough of it, and the
// backend.
#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"
#include "memory/block_pool.hpp"

namespace gpumem {
namespace {

// Up to here memory is taken without asking what lies idle.
constexpr int64_t kFreely = int64_t{32} << 20;

// The most that a source is asked for, for a block of `bytes`.
constexpr int64_t most_from_source(size_t bytes, size_t alignment) noexcept {
  return static_cast<int64_t>(alignment > kBlockUnit ? bytes + alignment : bytes);
}

}  // namespace

bool BlockPool::over_limit(int64_t bytes) const noexcept {
  return policy_.limit > 0 && reserved_.load(std::memory_order_relaxed) + bytes > policy_.limit;
}

// The peak of live bytes and a fifth: the pool may cost a quarter at most, so idle memory has to go first. But no less than what the
// streams needed each: without it they would take it from each other in turn.
int64_t BlockPool::target(const Request& request) const noexcept {
  if (!policy_.follows_live) return INT64_MAX;
  const int64_t live = std::max({live_peak_.load(std::memory_order_relaxed), held_peak_,
                                 live_.load(std::memory_order_relaxed) + static_cast<int64_t>(request.bytes)});
  return std::max({kFreely, live + live / 5, needed_ + needed_ / 16});
}

// Blocks that other streams may still use after their free are needed as live ones are.
void BlockPool::note_needed(const StreamCache& cache, const Request& request) {
  const auto asked = static_cast<int64_t>(request.block_bytes);
  int64_t held = asked;
  for (const auto& each : caches_) {
    const std::lock_guard<std::mutex> lock(each->mutex);
    int64_t needed = each->counts.live_bytes;
    for (const PendingBlock& pending : each->pending) needed += static_cast<int64_t>(pending.block.region->slot_bytes);
    held += needed;
    if (each.get() == &cache) needed += asked;
    needed_ += std::max<int64_t>(needed - each->needed, 0);
    each->needed = std::max(each->needed, needed);
  }
  held_peak_ = std::max(held_peak_, held);
}

bool BlockPool::over_target(int64_t bytes, const Request& request) const noexcept {
  return reserved_.load(std::memory_order_relaxed) > target(request) - bytes;
}

// The peak of live bytes and a tenth.
bool BlockPool::near_target(const Request& request) const noexcept {
  return reserved_.load(std::memory_order_relaxed) > target(request) / 12 * 11;
}

void BlockPool::fail_over_limit(const Request& request) const {
  fail(GPUMEM_OUT_OF_MEMORY,
       "%zu bytes of %s memory can't be had: the context's limit is %lld, and %lld are taken already", request.bytes,
       kind_name(policy_.kind), ll(policy_.limit), ll(reserved_.load(std::memory_order_relaxed)));
}

// Memory of a stream that can be asked to wait, or to be waited for.
bool BlockPool::usable(const StreamCache& cache) {
  return !cache.ended && (cache.stream == nullptr || !backend_.capturing(cache.stream));
}

// What the streams that are gone have left belongs to all once their ends are passed.
void BlockPool::absorb_ended() {
  for (const auto& cache : caches_) {
    if (!cache->ended || cache->retired || (cache->end != nullptr && !cache->end->passed())) continue;
    const std::scoped_lock lock(ready_->mutex, cache->mutex);
    ready_->absorb(*cache);
    if (arena_ != nullptr) arena_->absorb(*ready_, *cache);
    cache->end.reset();
    cache->ended = false;
  }
}

void BlockPool::settle() {
  absorb_ended();
  for (const auto& cache : caches_) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    cache->settle();
  }
}

// Whether waiting for the streams would make memory free.
bool BlockPool::worth_waiting(const Request& request) {
  const bool left_over = std::any_of(caches_.begin(), caches_.end(), [](const auto& cache) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    return !cache->pending.empty() || (cache->ended && !cache->retired);
  });
  return left_over || idle_bytes() > 0 || (released_in_order_ && !over_limit(static_cast<int64_t>(request.bytes)));
}

int64_t BlockPool::idle_bytes() {
  int64_t bytes = 0;
  for (const auto& cache : caches_) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    bytes += cache->idle_bytes();
  }
  if (guards_ != nullptr) bytes += static_cast<int64_t>(guards_->bytes_aside());
  if (arena_ != nullptr) bytes += arena_->free_bytes();
  return bytes;
}

// What is unmapped may be what the region would have been put behind: then more is missing.
void BlockPool::make_room(const StreamCache& cache, const Request& request, size_t slots) {
  const auto room = [&] {
    const int64_t most = policy_.limit > 0 ? std::min(target(request), policy_.limit) : target(request);
    return std::max<int64_t>(most - most_taken(cache, request, slots), 0);
  };
  if (reserved_.load(std::memory_order_relaxed) <= room()) return;
  settle();
  note_needed(cache, request);
  for (int64_t released = 1; released > 0 && reserved_.load(std::memory_order_relaxed) > room();) {
    released = arena_ == nullptr ? release_largest() : unmap_down_to(room(), nullptr);
  }
}

size_t BlockPool::alone_bytes(size_t bytes) const noexcept {
  if (guards_ == nullptr) return bytes;
  return (BlockGuards::kBytes + bytes + BlockGuards::kBytes + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
}

Arena::Request BlockPool::in_arena(const Request& request, size_t slots) const noexcept {
  return {request.size_class > kLastInSlab ? Arena::Part::large : Arena::Part::slabs, slots * request.block_bytes,
          request.alignment};
}

int64_t BlockPool::most_taken(const StreamCache& cache, const Request& request, size_t slots) const {
  if (arena_ == nullptr) return most_from_source(slots * request.block_bytes, request.alignment);
  return static_cast<int64_t>(std::min<size_t>(arena_->missing(cache, in_arena(request, slots)), kLargestClass));
}

// The memory at the region's alignment: what the source gives is aligned as a rule, and taken larger where it is not.
void BlockPool::take_memory(StreamCache& cache, Region& region, const Request& request) {
  const size_t alignment = request.alignment;
  region.taken_bytes = region.bytes;
  if (arena_ != nullptr) {
    const Arena::Request wanted = in_arena(request, region.slots);
    if (!arena_->fits(cache, wanted)) arena_->grow(cache, wanted);
    region.taken = arena_->take(cache, wanted);
    region.base = reinterpret_cast<uintptr_t>(region.taken);
    return;
  }
  NativeStream stream = policy_.pooled ? cache.stream : nullptr;
  if (region.front % alignment != 0)
    region.taken_bytes += alignment;  // an aligned start would not align the first slot
  region.taken = source_->take(stream, region.taken_bytes);
  if (region.taken_bytes == region.bytes &&
      (reinterpret_cast<uintptr_t>(region.taken) + region.front) % alignment != 0) {
    source_->give_back(stream, region.taken, region.taken_bytes);
    region.taken_bytes = region.bytes + alignment;
    region.taken = source_->take(stream, region.taken_bytes);
  }
  const uintptr_t first = reinterpret_cast<uintptr_t>(region.taken) + region.front;
  region.base = (first + alignment - 1) / alignment * alignment - region.front;
}

// Entered into the registry, with nothing live in it.
Region& BlockPool::new_region(StreamCache& cache, const Request& request, size_t slot_bytes, size_t slots) {
  auto region = std::make_unique<Region>();
  region->slot_bytes = slot_bytes;
  region->slots = static_cast<uint32_t>(slots);
  region->front = guards_ == nullptr ? 0 : BlockGuards::kBytes;
  region->bytes = slots * slot_bytes;
  if (slots > 1) region->several = std::make_unique<std::atomic<uint64_t>[]>(slots);
  region->kind = policy_.kind;
  region->backend = backend_.props().backend;
  region->device = policy_.device;
  region->owner = owner_.id;
  if (policy_.pooled) {
    region->size_class = request.size_class;
    region->cache.store(&cache, std::memory_order_relaxed);
  }
  try {
    take_memory(cache, *region, request);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_OUT_OF_MEMORY) throw;
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of %s memory can't be had, %lld are taken already: %s", request.bytes,
         kind_name(policy_.kind), ll(reserved_.load(std::memory_order_relaxed)), error.what());
  }
  if (arena_ != nullptr) count_mapped();
  ScopeExit back([&, taken = region->taken, bytes = region->taken_bytes] {
    if (arena_ != nullptr) return arena_->give_back(cache, taken);
    source_->give_back(policy_.pooled ? cache.stream : nullptr, taken, bytes);
  });
  Region& added = owner_.registry.add(std::move(region));
  back.release();
  if (arena_ == nullptr) reserve(static_cast<int64_t>(added.taken_bytes));
  return added;
}

// Where nothing is pooled: the block is a region without a cache.
void* BlockPool::allocate_alone(const Request& request) {
  const size_t bytes = alone_bytes(request.bytes);
  if (over_limit(most_from_source(bytes, request.alignment))) fail_over_limit(request);
  Region& region = new_region(*ready_, request, bytes, 1);
  ScopeExit back([&] { give_back(region, *ready_); });
  if (guards_ != nullptr) guards_->surround(region, request.bytes);
  back.release();
  const std::lock_guard<std::mutex> lock(ready_->mutex);
  ++ready_->counts.misses;
  return hand_out(*ready_, {&region, 0}, request.bytes);
}

// A block of the cache's own whose other users are done, or will be by the stream's order.
bool BlockPool::wait_pending(StreamCache& cache, const Request& request) {
  std::optional<PendingBlock> pending;
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    if (cache.stream == nullptr) {
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

// What is free of the cache in other sizes, joined and cut anew.
bool BlockPool::reuse(StreamCache& cache, const Request& request) {
  if (arena_ == nullptr) return false;
  const bool few_idle = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.settle();
    return cache.idle_bytes() <= kFreely && takes_whole(cache, request);
  }();
  const size_t slots = slab_slots(request.size_class, cache.slots_of(request.size_class));
  const Arena::Request wanted = in_arena(request, slots);
  // Blocks that stay whole are found at once by the next ones of their sizes, but what is cut around them fits ever less.
  const bool plenty = few_idle && arena_->free_bytes() >= arena_->mapped_bytes() / 2;
  if (!plenty || !arena_->fits(cache, wanted)) merge_idle(cache, kLastInSlab + 1);
  if (!arena_->fits(cache, wanted)) return false;
  attach_region(cache, request, slots);
  return true;
}

// Free memory of another stream's. Where that stream has not passed it, this one waits for it.
bool BlockPool::adopt_free(StreamCache& cache, StreamCache& from, const Request& request) {
  merge_idle(from, kLastInSlab + 1);
  const size_t slots = slab_slots(request.size_class, cache.slots_of(request.size_class));
  const Arena::Request wanted = in_arena(request, slots);
  if (!arena_->fits(from, wanted)) return false;
  static_cast<void>(from.passed_fence());
  void* const p = arena_->take(from, wanted);
  ScopeExit back([&] { arena_->give_back(from, p); });
  if (!arena_->passed(from, p)) fences_.record(from.stream)->hold(cache.stream);
  back.release();
  arena_->give_back(cache, p);
  return reuse(cache, request);
}

// Another stream's region, which waits for what that stream has been given so far.
bool BlockPool::adopt(StreamCache& cache, StreamCache& from, const Request& request) {
  if (&cache == &from || !usable(from)) return false;
  if (arena_ != nullptr && adopt_free(cache, from, request)) return true;
  Region* region = nullptr;
  {
    const std::scoped_lock lock(cache.mutex, from.mutex);
    region = from.idle_region(request.size_class);
    if (region == nullptr || region->base % request.alignment != 0) return false;
    cache.make_room(request.size_class, region->slots);
    from.detach(*region);
  }
  ScopeExit back([&] {
    const std::lock_guard<std::mutex> lock(from.mutex);
    from.attach(*region);  // the room that it had
  });
  if (from.stream != nullptr) fences_.record(from.stream)->hold(cache.stream);
  back.release();
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.attach(*region);
  return true;
}

bool BlockPool::adopt_from_others(StreamCache& cache, const Request& request) {
  if (cache.stream == nullptr) return false;  // the caller itself would have to wait
  return std::any_of(caches_.begin(), caches_.end(),
                     [&](const auto& from) { return from.get() != ready_ && adopt(cache, *from, request); });
}

void BlockPool::add_region(StreamCache& cache, const Request& request) {
  size_t slots = slab_slots(request.size_class, cache.slots_of(request.size_class));
  make_room(cache, request, slots);
  if (over_limit(most_taken(cache, request, slots))) slots = 1;
  if (over_limit(most_taken(cache, request, slots))) fail_over_limit(request);
  attach_region(cache, request, slots);
}

void BlockPool::attach_region(StreamCache& cache, const Request& request, size_t slots) {
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.make_room(request.size_class, slots);
  }
  Region& region = new_region(cache, request, request.block_bytes, slots);
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.attach(region);
}

void* BlockPool::grow(StreamCache& cache, const Request& request) {
  absorb_ended();
  const auto take = [&](int64_t BlockCounts::*kind, bool as_it_lies = false) -> void* {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    if (as_it_lies && !takes_whole(cache, request)) return nullptr;
    const auto block = cache.take(request.size_class, request.block_bytes, request.alignment);
    if (!block) return nullptr;
    ++(cache.counts.*kind);
    return hand_out(cache, *block, request.bytes);
  };
  if (void* p = take(&BlockCounts::hits, true)) return p;             // freed meanwhile
  if (arena_ != nullptr && near_target(request)) note_passed(cache);  // so that something can go when it is reached
  const auto expected = static_cast<int64_t>(slab_slots(request.size_class, 0) * request.block_bytes);
  const bool wanted_of_others = over_limit(expected) || (arena_ == nullptr && over_target(expected, request));
  const bool found = reuse(cache, request) || wait_pending(cache, request) || adopt(cache, *ready_, request) ||
                     (wanted_of_others && adopt_from_others(cache, request));
  if (found || cache.stream == nullptr) {
    if (void* p = take(&BlockCounts::hits)) return p;
  }
  // Another thread of the stream may take what was found; what is added, too.
  for (;;) {
    add_region(cache, request);
    if (void* p = take(&BlockCounts::misses)) return p;
  }
}

// Idle regions become free memory of the arena.
void BlockPool::merge_idle(StreamCache& cache, int first_class) {
  const auto next = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    return cache.detach_idle(first_class);
  };
  while (Region* region = next()) give_back(*region, cache);
}

// One fence at a time: what is freed behind it waits for the next.
void BlockPool::note_passed(StreamCache& cache) {
  if (!cache.passed_fence() || cache.stream == nullptr || !arena_->keeps(cache)) return;
  cache.fence = fences_.record(cache.stream);
  cache.fenced = arena_->mark();
}

}  // namespace gpumem
