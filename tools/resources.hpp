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

// Memory of a context, which must outlive it.
struct FreeMemory {
  gpumem_ctx* ctx = nullptr;
  void operator()(int32_t* p) const noexcept { gpumem_free(ctx, p); }
};
using Memory = std::unique_ptr<int32_t, FreeMemory>;

// device: GPUMEM_DEVICE_* or an ordinal. host_threads: for the host's part of the work; 0: as many as there are.
Context create_context(int32_t device, int32_t host_threads = 0);
Event create_event(gpumem_ctx* ctx);
Memory allocate_pinned(gpumem_ctx* ctx, int64_t elements);
Memory allocate_device(gpumem_ctx* ctx, int64_t elements);

}  // namespace tool
