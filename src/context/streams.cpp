#include "context/streams.hpp"

#include "base/error.hpp"
#include "base/float_environment.hpp"
#include "memory/fences.hpp"

namespace gpumem {
namespace {

// An event recorded in a capture is a graph node, not a moment.
void require_no_node(const Event& event, const char* argument) {
  if (event.capture != 0 && event.capture != Event::kNeverRecorded) {
    fail(GPUMEM_CAPTURING, "%s was recorded on a stream under graph capture; expected one that was recorded outside",
         argument);
  }
}

}  // namespace

void require_not_capturing(Context& context, NativeStream stream, const char* what) {
  require_not_capturing(context.device(), stream, what);
}

bool is_captured(Context& context, NativeStream stream) noexcept {
  try {
    return context.device().loss() == nullptr && context.device().capturing(stream);
  } catch (const Error&) {
    return false;
  }
}

void require_none_capturing(Context& context, const char* what) {
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  require_not_capturing(context, context.own_stream(), what);
  for (const Stream* stream : context.streams) require_not_capturing(context, stream->native, what);
}

void synchronize(Context& context, NativeStream stream) {
  require_not_capturing(context, stream, "waiting");
  context.device().synchronize(stream);
}

bool is_idle(Context& context, NativeStream stream) {
  require_not_capturing(context, stream, "a query");
  return context.device().idle(stream);
}

void synchronize_all(Context& context) {
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  synchronize(context, context.own_stream());
  for (const Stream* stream : context.streams) synchronize(context, stream->native);
}

void wait_for_streams(Context& context) {
  Backend& device = context.device();
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  if (!device.capturing(context.own_stream())) device.synchronize(context.own_stream());
  for (const Stream* stream : context.streams) {
    if (!device.capturing(stream->native)) device.synchronize(stream->native);
  }
}

void record(Context& context, Event& event, NativeStream stream) {
  const uint64_t capture = context.device().capture_id(stream);
  context.device().record(event.native, stream);
  event.capture = capture;
}

// Waiting for an event from elsewhere would invalidate the stream's capture.
void wait(Context& context, NativeStream stream, const Event& event) {
  const uint64_t recorded_in = event.capture;
  const uint64_t capture = recorded_in == Event::kNeverRecorded ? 0 : context.device().capture_id(stream);
  if (capture != 0 && capture != recorded_in) {
    fail(GPUMEM_CAPTURING,
         "event was recorded outside of the capture that stream is under; expected one recorded in it; the capture is "
         "still valid");
  }
  context.device().wait_event(stream, event.native);
}

void synchronize(Context& context, Event& event) {
  require_no_node(event, "event");
  context.device().synchronize_event(event.native);
}

double elapsed_seconds(Context& context, Event& start, Event& end) {
  require_no_node(start, "start");
  require_no_node(end, "end");
  const DefaultFloatEnvironment environment;
  return context.device().elapsed_seconds(start.native, end.native);
}

}  // namespace gpumem
