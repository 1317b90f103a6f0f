#include "resources.hpp"

#include "failure.hpp"

namespace tool {

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

}  // namespace tool
