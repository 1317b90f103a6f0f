// What the reductions of many lines at once share, those of an axis and those of segments: each has one block of results.
#pragma once

#include <memory>
#include <optional>

#include "context/streams.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {

// Bytes of the results of `lines` reductions. Throws INVALID_ARGUMENT when they leave 64 bits.
int64_t result_bytes(gpumem_reduce_op op, int64_t lines);

// Throws an Error with a sentence for a status that the run reported; returns for GPUMEM_OK. lines: "rows", "columns" or "segments".
void require_values(gpumem_status found, gpumem_dtype dtype, gpumem_reduce_op op, const char* lines);

// The two outputs of the _async forms; the plain ones have no status.
struct LineOutputs {
  Output result_and_status[2];

  LineOutputs(void* result, int64_t bytes, gpumem_status* status) noexcept
      : result_and_status{{"result", result, bytes, 8}, status_of(status)} {}
  Output& result() noexcept { return result_and_status[0]; }
  Output& status() noexcept { return result_and_status[1]; }
  std::span<Output> all() noexcept { return result_and_status; }
};

// The plain form: on the context's own stream, with the results brought to where they belong.
template <class Family>
gpumem_status reduce_lines(Context& context, const Plan<Family>& planned, typename Family::Params params,
                           const Output& result) {
  std::optional<Scratch> room;
  make_room(context, room, planned.placement.runs, result);
  if (room) params.result = room->get();
  const gpumem_status found = run_now(context, planned.placement, [&](Backend& backend, NativeStream stream) {
    return backend.reduce_lines(stream, params, planned.decision, Until::complete);
  });
  if (room) bring_back(context, *room, result);
  return found;
}

// The _async form.
template <class Family>
void enqueue_lines(Context& context, const Plan<Family>& planned, LineOutputs& outputs, NativeStream stream) {
  typename Family::Params params = planned.params;
  if (!context.on_cuda() || planned.placement.runs == Runs::cuda) {
    prefetch_managed(context, planned.placement, stream);
    context.running(planned.placement.runs).reduce_lines(stream, params, planned.decision, Until::enqueued);
    return;
  }
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  params.result = buffers.room_for(outputs.result());
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs.status()));
  const auto work = [params, choice = Choice(planned.decision)](Backend& host, NativeStream now, Until done) {
    host.reduce_lines(now, params, choice, done);
  };
  enqueue_on_host(context, stream, "an enqueued reduction", work, params.status, std::move(buffers), false);
}

}  // namespace gpumem
