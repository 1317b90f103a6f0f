#include "memory/block_supply.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"
#include "memory/block_guards.hpp"
#include "memory/mapped_supply.hpp"

namespace gpumem {

std::unique_ptr<BlockSupply> make_supply(PoolBooks& books, std::unique_ptr<BlockSource> source) {
  // A limit of a few pages is better spent on smaller pieces.
  constexpr int64_t kLeastForGranules = int64_t{32} << 20;
  std::unique_ptr<BlockSupply> supply;
  if (!books.policy.pooled) {
    supply = std::make_unique<DirectSupply>(books, std::move(source));
  } else if (books.policy.kind == GPUMEM_MEMORY_DEVICE && books.limit() >= kLeastForGranules) {
    if (auto arena = Arena::open(books.backend)) {
      supply = std::make_unique<MappedSupply>(books, std::move(source), std::move(arena));
    }
  }
  if (supply == nullptr) supply = std::make_unique<CachedSupply>(books, std::move(source));
  if (books.policy.guarded) supply = std::make_unique<BlockGuards>(books, std::move(supply));
  return supply;
}

void RegionSupply::release_all() {
  release_down_to(0, nullptr);
  trim(0);
}

void RegionSupply::absorb_ended() {
  StreamCache& ready = books_.ready;
  for (const auto& cache : books_.caches) {
    if (!cache->ended || cache->retired || (cache->end != nullptr && !cache->end->passed())) continue;
    const std::scoped_lock lock(ready.mutex, cache->mutex);
    ready.absorb(*cache);
    absorb(*cache);
    cache->end.reset();
    cache->ended = false;
  }
}

void RegionSupply::settle() {
  absorb_ended();
  for (const auto& cache : books_.caches) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    cache->settle();
  }
}

void RegionSupply::fail_over_limit(const PoolRequest& request) const {
  fail(GPUMEM_OUT_OF_MEMORY,
       "%zu bytes of %s memory are not available: the context's limit is %lld bytes, and %lld are allocated",
       request.bytes, kind_name(books_.policy.kind), ll(books_.policy.limit), ll(books_.reserved.now()));
}

// The source takes no stream under capture.
void* RegionSupply::take_memory(StreamCache& cache, const PoolRequest&, size_t bytes) {
  void* const p = source_->take(cache.for_graphs() ? nullptr : cache.stream, bytes);
  books_.reserved.add(static_cast<int64_t>(bytes));
  return p;
}

void RegionSupply::give_back_memory(const StreamCache& cache, void* p, size_t bytes) noexcept {
  source_->give_back(cache.for_graphs() ? nullptr : cache.stream, p, bytes);
  books_.reserved.add(-static_cast<int64_t>(bytes));
}

// Sources usually return aligned memory. Only if not, a larger region is taken and aligned within.
void RegionSupply::place(StreamCache& cache, Region& region, const PoolRequest& request) {
  const size_t alignment = request.alignment;
  const auto first = [&] { return reinterpret_cast<uintptr_t>(region.taken) + region.front; };
  region.taken_bytes = request.taken_bytes(region.slots);
  region.taken = take_memory(cache, request, region.taken_bytes);
  if (region.taken_bytes == region.bytes && first() % alignment != 0) {
    give_back_memory(cache, region.taken, region.taken_bytes);
    region.taken_bytes += alignment;
    region.taken = take_memory(cache, request, region.taken_bytes);
  }
  region.base = (first() + alignment - 1) / alignment * alignment - region.front;
}

Region& RegionSupply::new_region(StreamCache& cache, const PoolRequest& request, size_t slots) {
  auto region = std::make_unique<Region>();
  region->slot_bytes = request.block_bytes;
  region->slots = static_cast<uint32_t>(slots);
  region->front = request.front;
  region->bytes = slots * request.block_bytes;
  if (slots > 1) region->several = std::make_unique<std::atomic<uint64_t>[]>(slots);
  region->kind = books_.policy.kind;
  region->backend = books_.backend.props().backend;
  region->device = books_.policy.device;
  region->owner = books_.owner.id;
  region->size_class = request.size_class;
  region->cache.store(&cache, std::memory_order_relaxed);
  try {
    place(cache, *region, request);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_OUT_OF_MEMORY) throw;
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of %s memory are not available, and %lld are allocated: %s", request.bytes,
         kind_name(books_.policy.kind), ll(books_.reserved.now()), error.what());
  }
  ScopeExit back([&, p = region->taken, bytes = region->taken_bytes] { give_back_memory(cache, p, bytes); });
  Region& added = books_.owner.registry.add(std::move(region));
  back.release();
  return added;
}

void RegionSupply::drop(Region& region, const StreamCache& cache) noexcept {
  const auto owned = books_.owner.registry.remove(region);
  give_back_memory(cache, owned->taken, owned->taken_bytes);
}

DirectSupply::~DirectSupply() {
  while (const auto left = books_.owner.registry.remove_alone(books_.owner.id, books_.policy.kind)) {
    source_->give_back(nullptr, left->taken, left->taken_bytes);
  }
}

PoolRequest DirectSupply::request_for(size_t bytes, size_t alignment) const noexcept {
  return {bytes, std::max(alignment, kBlockUnit), kAlone, bytes};
}

Supplied DirectSupply::grow(StreamCache& cache, const PoolRequest& request) {
  const size_t most = request.block_bytes + (request.alignment > kBlockUnit ? request.alignment : 0);
  if (books_.over_limit(static_cast<int64_t>(most))) fail_over_limit(request);
  return {{&new_region(cache, request, 1), 0}, false};
}

void DirectSupply::give_back(const Claim& claim) noexcept {
  books_.owner.labels.forget(claim);
  drop(*claim.region, books_.ready);
}

}  // namespace gpumem
