#include "context/streams.hpp"
#include "api/guard.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_stream_create(gpumem_ctx* ctx, gpumem_stream** stream) {
  return make_in(ctx, stream, "stream",
                 [](Context& context) { return as_handle<gpumem_stream>(create_stream(context)); });
}

gpumem_status gpumem_stream_destroy(gpumem_stream* stream) {
  if (stream == nullptr) return GPUMEM_OK;
  return guard([&] { destroy_stream(as_number(stream)); });
}

gpumem_status gpumem_stream_wrap(gpumem_ctx* ctx, void* native_stream, gpumem_stream** stream) {
  return make_in(ctx, stream, "stream",
                 [&](Context& context) { return as_handle<gpumem_stream>(wrap_stream(context, native_stream)); });
}

gpumem_status gpumem_stream_native(gpumem_ctx* ctx, gpumem_stream* stream, void** native_stream) {
  return make_in(ctx, native_stream, "native_stream", [&](Context& context) {
    const NativeStream native = stream_of(context, stream);
    if (!context.on_cuda()) {
      fail(GPUMEM_UNSUPPORTED, "ctx is a host context, whose streams are not CUDA's; expected a context of a device");
    }
    return native;
  });
}

gpumem_status gpumem_stream_synchronize(gpumem_ctx* ctx, gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) { synchronize(context, stream_of(context, stream)); });
}

gpumem_status gpumem_stream_query(gpumem_ctx* ctx, gpumem_stream* stream) {
  bool idle = false;
  const gpumem_status status =
      with_context(ctx, [&](Context& context) { idle = is_idle(context, stream_of(context, stream)); });
  return status == GPUMEM_OK && !idle ? GPUMEM_NOT_READY : status;
}

gpumem_status gpumem_stream_wait_event(gpumem_ctx* ctx, gpumem_stream* stream, gpumem_event* event) {
  return with_context(ctx,
                      [&](Context& context) { wait(context, stream_of(context, stream), event_of(context, event)); });
}

gpumem_status gpumem_event_create(gpumem_ctx* ctx, gpumem_event** event) {
  return make_in(ctx, event, "event", [](Context& context) { return as_handle<gpumem_event>(create_event(context)); });
}

gpumem_status gpumem_event_destroy(gpumem_event* event) {
  if (event == nullptr) return GPUMEM_OK;
  return guard([&] { destroy_event(as_number(event)); });
}

gpumem_status gpumem_event_record(gpumem_ctx* ctx, gpumem_event* event, gpumem_stream* stream) {
  return with_context(ctx,
                      [&](Context& context) { record(context, event_of(context, event), stream_of(context, stream)); });
}

gpumem_status gpumem_event_synchronize(gpumem_event* event) {
  return guard([&] {
    Event& resolved = resolve(event);
    in_context(*resolved.context, [&](Context& context) { synchronize(context, resolved); });
  });
}

gpumem_status gpumem_event_elapsed(gpumem_event* start, gpumem_event* end, double* seconds) {
  return guard([&] {
    require(seconds, "seconds");
    Event& first = resolve(start, "start");
    Event& last = resolve(end, "end");
    if (first.context != last.context) {
      fail(GPUMEM_INVALID_ARGUMENT, "start and end belong to two contexts; expected two events of one");
    }
    in_context(*first.context, [&](Context& context) { *seconds = elapsed_seconds(context, first, last); });
  });
}
