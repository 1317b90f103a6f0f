#include <bit>

#include "engine/checked.hpp"
#include "engine/operand.hpp"
#include "engine/operations.hpp"
#include "engine/pinned_rings.hpp"
#include "engine/process.hpp"
#include "engine/sentences.hpp"
#include "engine/streams.hpp"

namespace gpumem {
namespace {

// The pool that memory of a kind comes from; nullptr: the backend.
BlockPool* pool_of(Context& context, gpumem_memory_kind kind) noexcept {
  if (kind == GPUMEM_MEMORY_DEVICE) return &context.device_memory();
  return kind == GPUMEM_MEMORY_PINNED ? &context.pinned_memory() : nullptr;
}

// A block whose free has begun: it is released whatever waiting for its last use brings to light.
class Forgotten {
 public:
  Forgotten(Context& context, const Claim& claim) noexcept : context_(context), claim_(claim) {}
  ~Forgotten() {
    context_.labels.forget(claim_);
    if (BlockPool* pool = pool_of(context_, claim_.region->kind)) {
      pool->free_now(claim_);
    } else {
      context_.stats.freed(static_cast<int64_t>(claim_.bytes()));
      const auto region = process().registry.remove(*claim_.region);
      context_.device().release(region->kind, region->taken, region->taken_bytes);
    }
  }
  Forgotten(const Forgotten&) = delete;
  Forgotten& operator=(const Forgotten&) = delete;

 private:
  Context& context_;
  const Claim claim_;
};

}  // namespace

void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes) {
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", ll(bytes));
  if (bytes == 0) return nullptr;
  const auto size = static_cast<size_t>(bytes);
  if (BlockPool* pool = pool_of(context, kind)) return pool->allocate(pool->ready(), size, kBlockUnit);
  Backend& device = context.device();
  if (!device.props().managed_memory) {
    fail(GPUMEM_UNSUPPORTED, "the device %s has no managed memory", device.props().name);
  }
  void* p = device.allocate(kind, size);
  try {
    process().registry.add(
        {reinterpret_cast<uintptr_t>(p), size, kind, device.props().backend, device.props().ordinal, &context});
  } catch (...) {
    device.release(kind, p, size);
    throw;
  }
  context.stats.allocated(bytes);
  return p;
}

void free_memory(Context& context, void* p) {
  if (p == nullptr) return;
  const Forgotten forgotten(context, process().registry.claim(reinterpret_cast<uintptr_t>(p), &context));
  wait_for_streams(context);
}

void* allocate_async(Context& context, int64_t bytes, int64_t alignment, StreamCache& cache) {
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", ll(bytes));
  const auto largest = static_cast<int64_t>(kLargestAlignment);
  if (alignment < 1 || alignment > largest || !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    fail(GPUMEM_INVALID_ARGUMENT, "alignment is %lld; expected a power of two from 1 to %lld", ll(alignment),
         ll(largest));
  }
  require_not_capturing(context, cache.stream, "an allocation");
  if (bytes == 0) return nullptr;
  BlockPool& pool = context.device_memory();
  return pool.allocate(pool.pooled() ? cache : pool.ready(), static_cast<size_t>(bytes),
                       static_cast<size_t>(alignment));
}

void free_async(Context& context, void* p, const StreamCache& on) {
  require_not_capturing(context, on.stream, "freeing memory");
  if (p == nullptr) return;
  const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p), &context);
  try {
    if (claim.region->kind != GPUMEM_MEMORY_DEVICE) {
      fail(GPUMEM_INVALID_POINTER, "p (0x%llx) is %s memory; expected device memory (gpumem_free() takes any kind)",
           number(p), kind_name(claim.region->kind));
    }
    if (context.device_memory().pooled()) {
      context.device_memory().free_in_order(claim, on);
      return context.labels.forget(claim);
    }
    wait_for_streams(context);
  } catch (...) {
    Registry::unclaim(claim);
    throw;
  }
  const Forgotten forgotten(context, claim);
}

// The host's streams are all known.
void free_after_device(Context& context, void* p) {
  const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p), &context);
  try {
    if (context.on_cuda()) {
      require_none_capturing(context, "waiting for the device");
      context.device().synchronize_device();
    } else {
      wait_for_streams(context);
    }
  } catch (...) {
    Registry::unclaim(claim);
    throw;
  }
  const Forgotten forgotten(context, claim);
}

void use_on(Context& context, const void* p, NativeStream stream) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of an allocation");
  require_not_capturing(context, stream, "declaring the use of memory");
  context.device_memory().use_on(reinterpret_cast<uintptr_t>(p), stream);
}

void trim(Context& context, int64_t keep_bytes) {
  if (keep_bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "keep_bytes is %lld; expected 0 or more", ll(keep_bytes));
  context.device_memory().trim(keep_bytes);
  context.pinned_memory().trim(keep_bytes);
  if (context.on_cuda()) context.rings().trim();
}

void label(Context& context, const void* p, const char* text) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of an allocation");
  context.labels.set(process().registry, reinterpret_cast<uintptr_t>(p), &context, text == nullptr ? "" : text);
}

void read_stats(Context& context, gpumem_memory_stats_info& info) {
  context.stats.read(info);
  const PoolState device = context.device_memory().state();
  info.device_bytes = device.counts.live_bytes;
  info.device_blocks = device.counts.live_blocks;
  info.device_peak_bytes = device.peak_bytes;
  info.device_reserved_bytes = device.reserved_bytes;
  info.device_reserved_peak_bytes = device.reserved_peak_bytes;
  info.device_allocations = device.counts.allocations;
  info.device_hits = device.counts.hits;
  info.device_misses = device.counts.misses;
  const PoolState pinned = context.pinned_memory().state();
  info.pinned_bytes = pinned.counts.live_bytes;
  info.pinned_blocks = pinned.counts.live_blocks;
  info.pinned_peak_bytes = pinned.peak_bytes;
  info.pinned_reserved_bytes = pinned.reserved_bytes;
  info.pinned_reserved_peak_bytes = pinned.reserved_peak_bytes;
  info.pinned_allocations = pinned.counts.allocations;
  info.pinned_hits = pinned.counts.hits;
  info.pinned_misses = pinned.counts.misses;
  info.allocations = info.device_allocations + info.pinned_allocations + info.managed_allocations;
  info.frees = info.allocations - (info.device_blocks + info.pinned_blocks + info.managed_blocks);
}

}  // namespace gpumem
