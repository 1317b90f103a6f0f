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
void* allocate(SharedContext& shared, int64_t bytes, void* native, Stream* stream) {
  if (void* const p = shared.allocate_for_graphs(bytes, native)) return p;
  try {
    return shared.allocate(bytes, stream);
  } catch (const Error& error) {
    if (error.status() != GPUMEM_CAPTURING || stream == nullptr) throw;
    shared.context.device().invalidate_capture(stream->native);
    const char* sentence =
        "memory was requested on a stream under graph capture, and no pool of graphs gives it "
        "(gpumem_torch_begin_pool()); the capture was invalidated, because its graph would run without memory";
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
  on_device(device, [&](SharedContext& shared) {
    p = allocate(shared, bytes, native_stream, shared.streams.of(native_stream));
  });
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

// PyTorch passes its pair of numbers in two registers, as a C caller passes two arguments.
void gpumem_torch_begin_pool(int32_t device, int64_t pool_high, int64_t pool_low, const void* filter) {
  on_device(device, [&](SharedContext& shared) {
    const auto* const theirs = static_cast<const GraphPools::Filter*>(filter);
    shared.graphs.begin({pool_high, pool_low}, theirs == nullptr ? GraphPools::Filter() : *theirs);
  });
}

void gpumem_torch_end_pool(int32_t device, int64_t pool_high, int64_t pool_low) {
  on_device(device, [&](SharedContext& shared) { shared.graphs.end({pool_high, pool_low}); });
}

void gpumem_torch_release_pool(int32_t device, int64_t pool_high, int64_t pool_low) {
  on_device(device, [&](SharedContext& shared) { shared.graphs.release({pool_high, pool_low}); });
}

void gpumem_torch_empty_cache() {
  static_cast<void>(guard([] {
    shared_contexts().for_each(
        [](SharedContext& shared) { in_context(shared.context, [](Context& context) { trim(context, 0); }); });
  }));
}

void* gpumem_torch_segment_malloc(int64_t bytes, int32_t device, void*) {
  void* p = nullptr;
  if (bytes == 0) return p;
  on_device(device, [&](SharedContext& shared) { p = shared.allocate(bytes, nullptr); });
  return p;
}

void gpumem_torch_segment_free(void* p, int64_t, int32_t device, void*) {
  if (p == nullptr) return;
  on_device(device, [&](SharedContext& shared) { shared.free(p, nullptr); });
}

void* gpumem_cupy_malloc(void* param, int64_t bytes, int32_t device) {
  void* p = nullptr;
  if (bytes == 0) return p;
  on_device(device, [&](SharedContext& shared) {
    Stream* const stream = stream_of_param(shared, param);
    p = param == nullptr ? shared.allocate(bytes, stream) : allocate(shared, bytes, param, stream);
  });
  return p;
}

void gpumem_cupy_free(void* param, void* p, int32_t device) {
  if (p == nullptr) return;
  on_device(device, [&](SharedContext& shared) { shared.free(p, stream_of_param(shared, param)); });
}
