#include "context/context.hpp"

#include "api/guard.hpp"
#include "context/streams.hpp"
#include "ops/create_context.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

constexpr int32_t kMostHostThreads = 1024;

void require_switch(const char* option, int32_t value) {
  if (value != 0 && value != 1) fail(GPUMEM_INVALID_ARGUMENT, "options->%s is %d; expected 0 or 1", option, value);
}

gpumem_ctx_options checked(const gpumem_ctx_options* given) {
  if (given == nullptr) return kDefaultContextOptions;
  const gpumem_ctx_options options = read_struct(given, kDefaultContextOptions, "options");
  if (options.host_threads < 0 || options.host_threads > kMostHostThreads) {
    fail(GPUMEM_INVALID_ARGUMENT, "options->host_threads is %d; expected 0 to %d", options.host_threads,
         kMostHostThreads);
  }
  require_switch("non_blocking_stream", options.non_blocking_stream);
  require_zero("reserved0", options.reserved0);
  require_switch("stream_host_data", options.stream_host_data);
  require_zero("reserved1", options.reserved1);
  require_switch("debug_memory", options.debug_memory);
  require_zero("reserved2", options.reserved2);
  require_switch("strict_host", options.strict_host);
  require_zero("reserved3", options.reserved3);
  if (options.device_memory_limit < 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "options->device_memory_limit is %lld; expected 0 (none) or bytes",
         ll(options.device_memory_limit));
  }
  if (options.pinned_memory_kept < -1) {
    fail(GPUMEM_INVALID_ARGUMENT, "options->pinned_memory_kept is %lld; expected -1 (by the host's memory) or bytes",
         ll(options.pinned_memory_kept));
  }
  return options;
}

}  // namespace

gpumem_status gpumem_ctx_options_init(gpumem_ctx_options* options, int64_t size) {
  return guard([&] { init_struct(options, size, kDefaultContextOptions, "options"); });
}

gpumem_status gpumem_ctx_create(const gpumem_ctx_options* options, gpumem_ctx** ctx) {
  return guard([&] {
    require(ctx, "ctx");
    *ctx = nullptr;
    *ctx = as_handle<gpumem_ctx>(create_context(checked(options)));
  });
}

gpumem_status gpumem_ctx_destroy(gpumem_ctx* ctx) {
  if (ctx == nullptr) return GPUMEM_OK;
  return guard([&] { destroy_context(as_number(ctx)); });
}

gpumem_status gpumem_ctx_device(gpumem_ctx* ctx, gpumem_device_info* info) {
  return guard([&] {
    Context& context = resolve(ctx);
    gpumem_device_info filled{};
    fill_device_info(context.device().props(), context.choice(), filled);
    write_struct(info, filled, "info");
  });
}

gpumem_status gpumem_ctx_status(gpumem_ctx* ctx) {
  return with_context(ctx, [](Context& context) { context.device().check_health(); });
}

gpumem_status gpumem_ctx_synchronize(gpumem_ctx* ctx) {
  return with_context(ctx, [](Context& context) { synchronize_all(context); });
}

gpumem_status gpumem_ctx_set_log(gpumem_ctx* ctx, gpumem_log_fn fn, void* user) {
  return guard([&] { resolve(ctx).log.set(fn, user); });
}

gpumem_status gpumem_ctx_warmup(gpumem_ctx* ctx) {
  return with_context(ctx, [](Context& context) {
    context.host().warmup();
    if (context.on_cuda()) context.device().warmup();
  });
}
