// What the reductions of many lines at once share, those of an axis and those of segments: each has one block of results.
#pragma once

#include <memory>
#include <optional>

#include "context/streams.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/managed_prefetch.hpp"
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

// The seam's call of each family.
inline gpumem_status run_lines(Backend& backend, NativeStream stream, const ReduceAxisParams& params,
                               const Choice& choice, Until until) {
  return backend.reduce_axis(stream, params, choice, until);
}
inline gpumem_status run_lines(Backend& backend, NativeStream stream, const ReduceSegmentsParams& params,
                               const Choice& choice, Until until) {
  return backend.reduce_segments(stream, params, choice, until);
}

// The plain form: on the context's own stream, with the results brought to where they belong.
template <class Family>
gpumem_status reduce_lines(Context& context, const Plan<Family>& planned, typename Family::Params params,
                           const Output& result) {
  const Runs runs = planned.placement.runs;
  const bool beside = context.on_cuda() && runs == Runs::host;
  std::optional<Scratch> room;
  make_room(context, room, runs, result);
  if (room) params.result = room->get();
  if (beside) context.device().await_order();
  prefetch_managed(context, planned.placement, context.own_stream());
  const gpumem_status found = run_lines(context.running(runs), beside ? nullptr : context.own_stream(), params,
                                        planned.decision, Until::complete);
  if (room) bring_back(context, *room, result);
  return found;
}

// Lines on the host in the order of a stream of a CUDA context.
template <class Params>
class LinesTask final : public HostTask {
 public:
  LinesTask(Context& context, const Params& params, const Choice& choice) noexcept
      : context_(context), params_(params), choice_(choice) {}

  void run() noexcept override {
    try {
      const gpumem_status found = run_lines(context_.host(), nullptr, params_, choice_, Until::complete);
      if (params_.status != nullptr) *params_.status = found;
    } catch (const std::exception& error) {  // of memory
      if (params_.status != nullptr) *params_.status = GPUMEM_OUT_OF_MEMORY;
      context_.log.write(GPUMEM_LOG_ERROR, "an enqueued reduction failed: %s", error.what());
    }
  }

 private:
  Context& context_;
  Params params_;
  Choice choice_;
};

// The _async form.
template <class Family>
void enqueue_lines(Context& context, const Plan<Family>& planned, LineOutputs& outputs, NativeStream stream) {
  typename Family::Params params = planned.params;
  if (!context.on_cuda() || planned.placement.runs == Runs::cuda) {
    prefetch_managed(context, planned.placement, stream);
    run_lines(context.running(planned.placement.runs), stream, params, planned.decision, Until::enqueued);
    return;
  }
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  params.result = buffers.room_for(outputs.result());
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs.status()));
  enqueue_on_host(context, stream,
                  std::make_unique<LinesTask<typename Family::Params>>(context, params, planned.decision),
                  std::move(buffers), false);
}

}  // namespace gpumem
