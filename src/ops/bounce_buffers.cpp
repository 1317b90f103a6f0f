#include "ops/bounce_buffers.hpp"

#include "base/limits.hpp"
#include "base/scope_exit.hpp"
#include "ops/copy/ring_copy.hpp"

namespace gpumem {
namespace {

int64_t bytes_of(const BounceBuffers::Place& place) noexcept { return static_cast<int64_t>(place.size); }

}  // namespace

void* BounceBuffers::room_for(const Output& output) {
  if (!output.wanted() || output.where.on_host()) return output.p;
  const auto size = static_cast<size_t>(output.bytes);
  require_available_for_call(size);
  places_.push_back({output.p, std::make_unique<std::byte[]>(size), size});
  return places_.back().bytes.get();
}

void enqueue_on_host(Context& context, NativeStream stream, HostTask task, BounceBuffers buffers, bool prefilled) {
  Backend& device = context.device();
  if (buffers.places().empty()) return device.host_callback(stream, std::move(task));
  const auto shared = std::make_shared<const BounceBuffers>(std::move(buffers));
  ScopeExit finish([&] { device.finish_stream(stream); });  // enqueued work still uses the buffers
  for (const BounceBuffers::Place& place : shared->places()) {
    if (prefilled)
      enqueue_through_rings(context, stream, one_range(place.bytes.get(), place.target, bytes_of(place)),
                            ExecutionSpace::host);
  }
  device.host_callback(stream, std::move(task));
  for (const BounceBuffers::Place& place : shared->places()) {
    enqueue_through_rings(context, stream, one_range(place.target, place.bytes.get(), bytes_of(place)),
                          ExecutionSpace::cuda);
  }
  device.host_callback(stream, [shared] {});  // keeps the buffers until the stream reaches this point
  finish.release();
}

}  // namespace gpumem
