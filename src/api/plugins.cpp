// Allocators with the signatures of other libraries, on the process's own contexts.
#include "api/guard.hpp"
#include "base/sentences.hpp"
#include "ops/memory/shared_contexts.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

// Runs f on the process's context of the device. A failure leaves only its message: the signatures have no status.
template <class F>
void on_device(int32_t device, const F& f) noexcept {
  static_cast<void>(guard([&] {
    SharedContext& shared = shared_contexts().of(device);
    in_context(shared.context, [&](Context&) { f(shared); });
  }));
}

// CuPy passes its stream as the parameter; without one, the memory is for every stream.
Stream* stream_of_param(SharedContext& shared, void* param) {
  return param == nullptr ? nullptr : shared.streams.of(param);
}

// PyTorch and CuPy do not check for NULL, and the graph's replay would fault. So the capture is invalidated at once.
void* allocate(SharedContext& shared, int64_t bytes, Stream* stream) {
  try {
    return shared.allocate(bytes, stream);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_CAPTURING || stream == nullptr) throw;
    shared.context.device().invalidate_capture(stream->native);
    const char* sentence =
        "memory was requested on a stream under graph capture, which gpumem's allocator does not support; the capture "
        "was invalidated, because its graph would run without memory; use another allocator during captures";
    shared.context.log.write(GPUMEM_LOG_ERROR, "%s", sentence);
    fail(GPUMEM_CAPTURING, "%s", sentence);
  }
}

SharedContext& owner_of(const void* p) {
  const auto allocation = process().registry.find(reinterpret_cast<uintptr_t>(p));
  SharedContext* const owner = allocation ? shared_contexts().owner(allocation->owner) : nullptr;
  if (owner == nullptr) {
    fail(GPUMEM_INVALID_POINTER,
         "p (0x%llx) is not memory of a context of this process; expected memory of a gpumem allocator", number(p));
  }
  return *owner;
}

}  // namespace

gpumem_status gpumem_shared_ctx(int32_t device, gpumem_ctx** ctx) {
  return guard([&] {
    require(ctx, "ctx");
    *ctx = nullptr;
    *ctx = as_handle<gpumem_ctx>(shared_contexts().of(device).handle);
  });
}

void* gpumem_torch_malloc(int64_t bytes, int32_t device, void* native_stream) {
  void* p = nullptr;
  if (bytes == 0) return p;
  on_device(device, [&](SharedContext& shared) { p = allocate(shared, bytes, shared.streams.of(native_stream)); });
  return p;
}

void gpumem_torch_free(void* p, int64_t, int32_t device, void* native_stream) {
  if (p == nullptr) return;
  on_device(device, [&](SharedContext& shared) { shared.free(p, shared.streams.of(native_stream)); });
}

void gpumem_torch_record_stream(void* p, void* native_stream) {
  if (p == nullptr) return;
  static_cast<void>(guard([&] {
    SharedContext& shared = owner_of(p);
    in_context(shared.context, [&](Context& context) {
      const Stream* const known = shared.streams.of(native_stream);
      use_on(context, p, known != nullptr ? known->native : context.device().wrap_stream(native_stream));
    });
  }));
}

void* gpumem_cupy_malloc(void* param, int64_t bytes, int32_t device) {
  void* p = nullptr;
  if (bytes == 0) return p;
  on_device(device, [&](SharedContext& shared) { p = allocate(shared, bytes, stream_of_param(shared, param)); });
  return p;
}

void gpumem_cupy_free(void* param, void* p, int32_t device) {
  if (p == nullptr) return;
  on_device(device, [&](SharedContext& shared) { shared.free(p, stream_of_param(shared, param)); });
}
