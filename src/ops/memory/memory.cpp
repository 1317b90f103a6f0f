#include <bit>
#include <exception>

#include "base/caller_state.hpp"
#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"
#include "context/process.hpp"
#include "context/streams.hpp"
#include "memory/pinned_rings.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"

namespace gpumem {
namespace {

BlockPool& pool_of(Context& context, gpumem_memory_kind kind) noexcept {
  if (kind == GPUMEM_MEMORY_DEVICE) return context.device_memory();
  return kind == GPUMEM_MEMORY_PINNED ? context.pinned_memory() : context.managed_memory();
}

// Frees the block after `wait`, damaged or not. If the wait or the check fails, it stays live: work may still use it.
template <class Wait>
void free_after(Context& context, const Claim& claim, const Wait& wait) {
  BlockPool& pool = pool_of(context, claim.region->kind);
  std::exception_ptr damage;
  ScopeExit keep([&] { Registry::unclaim(claim); });
  wait();
  try {
    pool.require_intact(claim);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_CORRUPTED) throw;
    damage = std::current_exception();
  }
  keep.release();
  pool.free_now(claim);
  if (damage != nullptr) std::rethrow_exception(damage);
}

// A free puts such a block back where only its graphs take it, so it may be captured.
bool kept_by_graphs(Context& context, const void* p) {
  return context.device_memory().hold_of(reinterpret_cast<uintptr_t>(p)) == GraphHold::kept;
}

}  // namespace

void* allocate(Context& context, gpumem_memory_kind kind, int64_t bytes) {
  require_at_least("bytes", bytes, 0);
  if (bytes == 0) return nullptr;
  const DeviceProps& props = context.device().props();
  if (kind == GPUMEM_MEMORY_MANAGED && !props.managed_memory) {
    fail(GPUMEM_UNSUPPORTED, "the device %s has no managed memory", props.name);
  }
  BlockPool& pool = pool_of(context, kind);
  return pool.allocate(pool.ready(), static_cast<size_t>(bytes), kBlockUnit);
}

void free_memory(Context& context, void* p) {
  if (p == nullptr) return;
  const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p), &context);
  free_after(context, claim, [&] { wait_for_streams(context); });
}

void* allocate_async(Context& context, int64_t bytes, int64_t alignment, StreamCache& cache) {
  require_at_least("bytes", bytes, 0);
  const auto largest = static_cast<int64_t>(kLargestAlignment);
  if (alignment < 1 || alignment > largest || !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    fail(GPUMEM_INVALID_ARGUMENT, "alignment is %lld; expected a power of two from 1 to %lld", ll(alignment),
         ll(largest));
  }
  if (!cache.for_graphs()) require_not_capturing(context, cache.stream, "an allocation");
  if (bytes == 0) return nullptr;
  return context.device_memory().allocate(cache, static_cast<size_t>(bytes), static_cast<size_t>(alignment));
}

void free_async(Context& context, void* p, const StreamCache& on) {
  if (p == nullptr || !kept_by_graphs(context, p)) require_not_capturing(context, on.stream, "freeing memory");
  if (p == nullptr) return;
  const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p), &context);
  BlockPool& pool = context.device_memory();
  ScopeExit keep([&] { Registry::unclaim(claim); });
  if (claim.region->kind != GPUMEM_MEMORY_DEVICE) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) is %s memory; expected device memory (gpumem_free() takes any kind)",
         number(p), kind_name(claim.region->kind));
  }
  if (pool.pooled()) pool.free_in_order(claim, on);
  keep.release();
  if (pool.pooled()) return;
  const KeptThreadState kept;
  free_after(context, claim, [&] {
    pool.wait_for_uses(claim);
    wait_for_streams(context);
  });
}

// On the host, every stream is known.
void wait_for_device(Context& context) {
  if (!context.on_cuda()) return wait_for_streams(context);
  require_none_capturing(context, "waiting for the device");
  context.device().synchronize_device();
}

void free_after_device(Context& context, void* p) {
  const Claim claim = process().registry.claim(reinterpret_cast<uintptr_t>(p), &context);
  free_after(context, claim, [&] { wait_for_device(context); });
}

void use_on(Context& context, const void* p, NativeStream stream) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of an allocation");
  if (!kept_by_graphs(context, p)) require_not_capturing(context, stream, "declaring the use of memory");
  context.device_memory().use_on(reinterpret_cast<uintptr_t>(p), stream);
  context.trace.used(reinterpret_cast<uintptr_t>(p), stream);
}

void trim(Context& context, int64_t keep_bytes) {
  require_at_least("keep_bytes", keep_bytes, 0);
  context.trace.trimmed(keep_bytes);
  context.device_memory().trim(keep_bytes);
  context.pinned_memory().trim(keep_bytes);
  context.managed_memory().trim(keep_bytes);
  context.host().trim(static_cast<size_t>(keep_bytes));
  if (context.on_cuda()) context.rings().trim();
}

void check_memory(Context& context) {
  if (!context.debugs_memory()) {
    fail(GPUMEM_UNSUPPORTED,
         "ctx does not guard its memory; expected one that was made with options->debug_memory = 1 or GPUMEM_DEBUG=1");
  }
  wait_for_streams(context);
  Damage found;
  for (BlockPool* pool : context.pools()) pool->check(found);
  if (found.places > 0) fail(GPUMEM_CORRUPTED, "%s", found.first.c_str());
}

void label(Context& context, const void* p, const char* text) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of an allocation");
  context.labels.set(process().registry, reinterpret_cast<uintptr_t>(p), &context, text == nullptr ? "" : text);
}

void register_host(Context& context, void* p, int64_t bytes) {
  require_at_least("bytes", bytes, 1);
  const Operand operand = look_up_range(context, p, bytes, Access::write, "p");
  if (operand.ours || operand.mixed || operand.kind != GPUMEM_MEMORY_PAGEABLE) {
    fail(GPUMEM_INVALID_ARGUMENT, "p (0x%llx) is %s memory%s; expected ordinary host memory, none of it registered",
         number(p), kind_name(operand.kind), operand.mixed ? " that is registered in part" : "");
  }
  const auto size = static_cast<size_t>(bytes);
  if (context.on_cuda()) require_pages(p, size);
  context.device().register_host(p, size);
  ScopeExit unregister([&] { context.device().unregister_host(p); });
  const ExecutionSpace backend = context.device().props().backend;
  process().registry.add_registered(
      {reinterpret_cast<uintptr_t>(p), size, GPUMEM_MEMORY_PINNED, backend, GPUMEM_DEVICE_HOST, &context, true});
  unregister.release();
  context.registered_bytes += bytes;
  ++context.registered_ranges;
}

void unregister_host(Context& context, void* p) {
  if (p == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "p is NULL; expected the start of registered memory");
  const Claim claim = process().registry.claim_registered(reinterpret_cast<uintptr_t>(p), &context);
  ScopeExit keep([&] { Registry::unclaim(claim); });  // work may still use it
  wait_for_streams(context);
  keep.release();
  context.labels.forget(claim);
  context.device().unregister_host(p);
  context.registered_bytes -= static_cast<int64_t>(claim.bytes());
  --context.registered_ranges;
  process().registry.remove(*claim.region);
}

void read_stats(Context& context, gpumem_memory_stats_info& info) {
  info.registered_bytes = context.registered_bytes;
  info.registered_ranges = context.registered_ranges;
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
  const PoolState managed = context.managed_memory().state();
  info.managed_bytes = managed.counts.live_bytes;
  info.managed_blocks = managed.counts.live_blocks;
  info.managed_peak_bytes = managed.peak_bytes;
  info.managed_allocations = managed.counts.allocations;
  info.allocations = info.device_allocations + info.pinned_allocations + info.managed_allocations;
  info.frees = info.allocations - (info.device_blocks + info.pinned_blocks + info.managed_blocks);
}

}  // namespace gpumem
