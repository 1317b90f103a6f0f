// Owners of the library's objects.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <memory>

namespace tool {

struct DestroyContext {
  void operator()(gpumem_ctx* ctx) const noexcept { gpumem_ctx_destroy(ctx); }
};
using Context = std::unique_ptr<gpumem_ctx, DestroyContext>;

struct DestroyEvent {
  void operator()(gpumem_event* event) const noexcept { gpumem_event_destroy(event); }
};
using Event = std::unique_ptr<gpumem_event, DestroyEvent>;

struct DestroyStream {
  void operator()(gpumem_stream* stream) const noexcept { gpumem_stream_destroy(stream); }
};
using Stream = std::unique_ptr<gpumem_stream, DestroyStream>;

// device: GPUMEM_DEVICE_* or an ordinal. host_threads: for the host's part of the work; 0: all.
Context create_context(int32_t device, int32_t host_threads = 0);
Event create_event(gpumem_ctx* ctx);

}  // namespace tool
