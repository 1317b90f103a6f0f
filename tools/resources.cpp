#include "resources.hpp"

#include "failure.hpp"

namespace tool {
namespace {

constexpr int64_t kElementBytes = sizeof(int32_t);

Memory own(gpumem_ctx* ctx, void* p) { return {static_cast<int32_t*>(p), FreeMemory{ctx}}; }

}  // namespace

Context create_context(int32_t device, int32_t host_threads) {
  gpumem_ctx_options options;
  check(gpumem_ctx_options_init(&options, sizeof options), "preparing the context's options");
  options.device = device;
  options.host_threads = host_threads;
  gpumem_ctx* ctx = nullptr;
  check(gpumem_ctx_create(&options, &ctx), "creating a context");
  return Context(ctx);
}

Event create_event(gpumem_ctx* ctx) {
  gpumem_event* event = nullptr;
  check(gpumem_event_create(ctx, &event), "creating an event");
  return Event(event);
}

Memory allocate_pinned(gpumem_ctx* ctx, int64_t elements) {
  void* p = nullptr;
  check(gpumem_alloc_pinned(ctx, elements * kElementBytes, &p), "allocating pinned memory");
  return own(ctx, p);
}

Memory allocate_device(gpumem_ctx* ctx, int64_t elements) {
  void* p = nullptr;
  check(gpumem_alloc_device(ctx, elements * kElementBytes, &p), "allocating device memory");
  return own(ctx, p);
}

}  // namespace tool
