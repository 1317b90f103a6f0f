// Entry points: allocation, pointers, statistics, managed memory.
#include "api/guard.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

gpumem_status allocate_into(gpumem_ctx* ctx, gpumem_memory_kind kind, int64_t bytes, void** p) noexcept {
  return make_in(ctx, p, "p", [&](Context& context) { return allocate(context, kind, bytes); });
}

}  // namespace

gpumem_status gpumem_alloc_device(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return allocate_into(ctx, GPUMEM_MEMORY_DEVICE, bytes, p);
}

gpumem_status gpumem_alloc_pinned(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return allocate_into(ctx, GPUMEM_MEMORY_PINNED, bytes, p);
}

gpumem_status gpumem_alloc_managed(gpumem_ctx* ctx, int64_t bytes, void** p) {
  return allocate_into(ctx, GPUMEM_MEMORY_MANAGED, bytes, p);
}

// The fast path touches no thread state except errno. The pool preserves the rest on its slow path.
gpumem_status gpumem_alloc_async(gpumem_ctx* ctx, int64_t bytes, int64_t alignment, gpumem_stream* stream, void** p) {
  return make_in<KeptErrno>(ctx, p, "p", [&](Context& context) {
    return allocate_async(context, bytes, alignment, cache_of(context, stream));
  });
}

gpumem_status gpumem_free_async(gpumem_ctx* ctx, void* p, gpumem_stream* stream) {
  return with_context<KeptErrno>(ctx, [&](Context& context) { free_async(context, p, cache_of(context, stream)); });
}

gpumem_status gpumem_memory_used_on(gpumem_ctx* ctx, const void* p, gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) { use_on(context, p, stream_of(context, stream)); });
}

gpumem_status gpumem_memory_trim(gpumem_ctx* ctx, int64_t keep_bytes) {
  return with_context(ctx, [&](Context& context) { trim(context, keep_bytes); });
}

gpumem_status gpumem_memory_check(gpumem_ctx* ctx) {
  return with_context(ctx, [](Context& context) { check_memory(context); });
}

gpumem_status gpumem_memory_trace(gpumem_ctx* ctx, const char* path) {
  return guard([&] {
    Context& context = resolve(ctx);
    if (path == nullptr) return context.trace.end();
    if (path[0] == '\0') fail(GPUMEM_INVALID_ARGUMENT, "path is ''; expected the name of a file, or NULL");
    context.trace.begin(path);
  });
}

gpumem_status gpumem_host_register(gpumem_ctx* ctx, void* p, int64_t bytes) {
  return with_context(ctx, [&](Context& context) { register_host(context, p, bytes); });
}

gpumem_status gpumem_host_unregister(gpumem_ctx* ctx, void* p) {
  return with_context(ctx, [&](Context& context) { unregister_host(context, p); });
}

gpumem_status gpumem_memory_label(gpumem_ctx* ctx, const void* p, const char* label_text) {
  return with_context(ctx, [&](Context& context) { label(context, p, label_text); });
}

gpumem_status gpumem_free(gpumem_ctx* ctx, void* p) {
  return with_context(ctx, [&](Context& context) { free_memory(context, p); });
}

gpumem_status gpumem_pointer_info_init(gpumem_pointer_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, {}, "info"); });
}

gpumem_status gpumem_pointer_query(gpumem_ctx* ctx, const void* p, gpumem_pointer_info* info) {
  return with_context(ctx, [&](Context& context) {
    static_cast<void>(struct_size_of(info, "info"));
    if (p == nullptr) fail(GPUMEM_INVALID_POINTER, "p is NULL; expected the address of memory");
    const Operand operand = look_up(context, p, "p");
    gpumem_pointer_info filled{};
    filled.kind = operand.kind;
    filled.device = operand.device;
    filled.ours = operand.ours ? 1 : 0;
    filled.size_bytes = operand.bytes;
    filled.base = reinterpret_cast<const void*>(operand.base);
    filled.offset_bytes = operand.base == 0 ? 0 : static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) - operand.base);
    write_struct(info, filled, "info");
  });
}

gpumem_status gpumem_memory_stats_init(gpumem_memory_stats_info* stats, int64_t size) {
  return guard([&] { init_struct(stats, size, {}, "stats"); });
}

gpumem_status gpumem_memory_stats(gpumem_ctx* ctx, gpumem_memory_stats_info* stats) {
  return guard([&] {
    Context& context = resolve(ctx);
    gpumem_memory_stats_info filled{};
    read_stats(context, filled);
    write_struct(stats, filled, "stats");
  });
}

gpumem_status gpumem_managed_prefetch(gpumem_ctx* ctx, const void* p, int64_t bytes, int32_t device) {
  return with_context(
      ctx, [&](Context& context) { prefetch(context, p, bytes, device, context.own_stream(), Completion::blocking); });
}

gpumem_status gpumem_managed_prefetch_async(gpumem_ctx* ctx, const void* p, int64_t bytes, int32_t device,
                                            gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) {
    prefetch(context, p, bytes, device, stream_of(context, stream), Completion::asynchronous);
  });
}

gpumem_status gpumem_managed_info_init(gpumem_managed_info* info, int64_t size) {
  gpumem_managed_info defaults{};
  defaults.last_prefetch = GPUMEM_DEVICE_NONE;
  defaults.preferred_location = GPUMEM_DEVICE_NONE;
  return guard([&] { init_struct(info, size, defaults, "info"); });
}

gpumem_status gpumem_managed_query(gpumem_ctx* ctx, const void* p, int64_t bytes, gpumem_managed_info* info) {
  return with_context(ctx, [&](Context& context) {
    static_cast<void>(struct_size_of(info, "info"));
    write_struct(info, query_managed(context, p, bytes), "info");
  });
}

gpumem_status gpumem_managed_advise(gpumem_ctx* ctx, const void* p, int64_t bytes, gpumem_advice advice,
                                    int32_t device) {
  return with_context(ctx, [&](Context& context) { advise(context, p, bytes, advice, device); });
}
