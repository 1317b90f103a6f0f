// Creation and end of contexts, streams and events.
#include <algorithm>
#include <memory>
#include <mutex>
#include <new>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/room.hpp"
#include "base/scope_exit.hpp"
#include "context/context.hpp"
#include "context/process.hpp"
#include "context/streams.hpp"

namespace gpumem {
namespace {

// The log is called without any lock: it may use the library for another context.
void report_leaks(Context& context) noexcept {
  try {
    for (const Allocation& leak : process().registry.live_of(&context)) {
      context.log.write(GPUMEM_LOG_WARNING, "%zu bytes of %s memory at %p%s were still %s when their context ended",
                        leak.bytes, kind_name(leak.kind), reinterpret_cast<void*>(leak.base),
                        context.labels.in_brackets(leak.base).c_str(), leak.registered ? "registered" : "allocated");
    }
  } catch (const std::bad_alloc&) {
    context.log.write(GPUMEM_LOG_WARNING, "memory has run out: the live allocations cannot be listed");
  }
}

void report_damage(Context& context) noexcept {
  for (BlockPool* pool : context.pools()) {
    try {
      Damage found;
      pool->check(found);
    } catch (const std::exception& error) {
      context.log.write(GPUMEM_LOG_WARNING, "what memory is damaged can't be told: %s", error.what());
    }
  }
}

void end_trace(Context& context) noexcept {
  try {
    context.trace.end();
  } catch (const Error& error) {
    context.log.write(GPUMEM_LOG_WARNING, "%s", error.what());
  }
}

// The pools release allocations themselves.
void unregister_leaks(Context& context) noexcept {
  while (const auto region = process().registry.remove_registered(&context)) {
    context.device().unregister_host(region->taken);
  }
}

// Room is made before the handle exists, so that entering the list can't fail.
uint64_t enlist(Context& context, std::unique_ptr<Stream> stream) {
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  reserve_doubling(context.streams, context.streams.size() + 1);
  reserve_doubling(context.ended_streams, context.streams.size() + context.ended_streams.size() + 1);
  StreamCache& cache = context.device_memory().open(stream->native);
  stream->cache = &cache;
  ScopeExit close([&] { context.device_memory().close(cache, true); });  // the stream never had work
  const uint64_t handle = process().handles.insert(HandleType::stream, stream.get());
  close.release();
  context.streams.push_back(stream.get());
  static_cast<void>(stream.release());
  return handle;
}

std::unique_ptr<Stream> unused_stream(Context& context) {
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  if (context.ended_streams.empty()) return std::make_unique<Stream>();
  std::unique_ptr<Stream> stream = std::move(context.ended_streams.back());
  context.ended_streams.pop_back();
  return stream;
}

size_t live_streams(Context& context) {
  const std::lock_guard<std::mutex> lock(context.streams_mutex);
  return context.streams.size();
}

}  // namespace

uint64_t enlist(std::unique_ptr<Context> context) {
  // Its memory may reuse addresses that a device reset has ended.
  process().registry.forget_places_of([](const void* owner) {
    return const_cast<Context*>(static_cast<const Context*>(owner))->device().loss() != nullptr;
  });
  const uint64_t handle = process().handles.insert(HandleType::context, context.get());
  static_cast<void>(context.release());
  return handle;
}

void destroy_context(uint64_t handle) {
  auto& context = object_of<Context>(handle, HandleType::context, "ctx");
  if (context.shared) {
    fail(GPUMEM_BUSY, "ctx is the process's own context of device %d; expected one from gpumem_ctx_create()",
         context.device().props().ordinal);
  }
  const size_t streams = live_streams(context);
  const auto events = static_cast<long long>(context.events.load());
  const auto dists = static_cast<long long>(context.dists.load());
  if (streams != 0 || events != 0 || dists != 0) {
    fail(GPUMEM_BUSY,
         "ctx still has %zu streams, %lld events and %lld participants of a gpumem_dist; destroy them first", streams,
         events, dists);
  }
  if (is_captured(context, context.own_stream())) {
    fail(GPUMEM_CAPTURING, "ctx can't be destroyed while its own stream is captured; the capture is still valid");
  }
  process().handles.erase(handle);
  const std::unique_ptr<Context> owned(&context);
  try {
    context.device().synchronize(context.own_stream());
  } catch (const Error& error) {
    context.log.write(GPUMEM_LOG_WARNING, "waiting for the context's last work: %s", error.what());
  }
  if (context.device().loss() == nullptr) report_damage(context);
  report_leaks(context);
  end_trace(context);
  unregister_leaks(context);
}

uint64_t create_stream(Context& context) {
  auto stream = unused_stream(context);
  *stream = {&context, nullptr, false};
  stream->native = context.device().create_stream();
  ScopeExit destroy([&context, native = stream->native] { context.device().destroy_stream(native); });
  const uint64_t handle = enlist(context, std::move(stream));
  destroy.release();
  return handle;
}

uint64_t wrap_stream(Context& context, void* native) {
  auto stream = unused_stream(context);
  *stream = {&context, context.device().wrap_stream(native), true};
  return enlist(context, std::move(stream));
}

// The stream stays listed during the wait: another thread that frees a block in use on it waits for the listed streams.
void destroy_stream(uint64_t handle) {
  auto& stream = object_of<Stream>(handle, HandleType::stream, "stream");
  if (is_captured(*stream.context, stream.native) && !stream.borrowed) {
    fail(GPUMEM_CAPTURING, "stream can't be destroyed while it is captured; the capture is still valid");
  }
  process().handles.erase(handle);
  Backend& device = stream.context->device();
  const std::lock_guard<std::mutex> lock(stream.context->streams_mutex);
  if (!stream.borrowed) device.finish_stream(stream.native);
  stream.context->device_memory().close(*stream.cache, !stream.borrowed);
  std::erase(stream.context->streams, &stream);
  if (stream.borrowed) {
    device.unwrap_stream(stream.native);
  } else {
    device.destroy_stream(stream.native);
  }
  stream.context->ended_streams.emplace_back(&stream);
}

uint64_t create_event(Context& context) {
  auto event = std::make_unique<Event>();
  event->context = &context;
  event->native = context.device().create_event();
  ScopeExit destroy([&] { context.device().destroy_event(event->native); });
  const uint64_t handle = process().handles.insert(HandleType::event, event.get());
  destroy.release();
  ++context.events;
  static_cast<void>(event.release());
  return handle;
}

void destroy_event(uint64_t handle) {
  auto& event = object_of<Event>(handle, HandleType::event, "event");
  const std::unique_ptr<Event> owned(&event);
  process().handles.erase(handle);
  event.context->device().destroy_event(event.native);
  --event.context->events;
}

}  // namespace gpumem
