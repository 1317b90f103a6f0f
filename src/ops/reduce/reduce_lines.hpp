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
inline gpumem_status run_lines(Backend& backend, NativeStream stream, const ReduceAxisArgs& args, Until until) {
  return backend.reduce_axis(stream, args, until);
}
inline gpumem_status run_lines(Backend& backend, NativeStream stream, const ReduceSegmentsArgs& args, Until until) {
  return backend.reduce_segments(stream, args, until);
}

// The plain form: on the context's own stream, with the results brought to where they belong.
template <class Args>
gpumem_status reduce_lines(Context& context, const Placement& placement, Args args, const Output& result) {
  const Runs runs = placement.runs;
  const bool beside = context.on_cuda() && runs == Runs::host;
  std::optional<Scratch> room;
  make_room(context, room, runs, result);
  args.result = room ? room->get() : result.p;
  args.status = nullptr;
  if (beside) context.device().await_order();
  prefetch_managed(context, placement, context.own_stream());
  const gpumem_status found =
      run_lines(context.running(runs), beside ? nullptr : context.own_stream(), args, Until::complete);
  if (room) bring_back(context, *room, result);
  return found;
}

// Lines on the host in the order of a stream of a CUDA context.
template <class Args>
class LinesTask final : public HostTask {
 public:
  LinesTask(Context& context, const Args& args) noexcept : context_(context), args_(args) {}

  void run() noexcept override {
    try {
      const gpumem_status found = run_lines(context_.host(), nullptr, args_, Until::complete);
      if (args_.status != nullptr) *args_.status = found;
    } catch (const std::exception& error) {  // of memory
      if (args_.status != nullptr) *args_.status = GPUMEM_OUT_OF_MEMORY;
      context_.log.write(GPUMEM_LOG_ERROR, "an enqueued reduction failed: %s", error.what());
    }
  }

 private:
  Context& context_;
  Args args_;
};

// The _async form.
template <class Args>
void enqueue_lines(Context& context, const Placement& placement, Args args, LineOutputs& outputs, NativeStream stream) {
  if (!context.on_cuda() || placement.runs == Runs::cuda) {
    prefetch_managed(context, placement, stream);
    args.result = outputs.result().p;
    args.status = static_cast<gpumem_status*>(outputs.status().p);
    run_lines(context.running(placement.runs), stream, args, Until::enqueued);
    return;
  }
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  args.result = buffers.room_for(outputs.result());
  args.status = static_cast<gpumem_status*>(buffers.room_for(outputs.status()));
  enqueue_on_host(context, stream, std::make_unique<LinesTask<Args>>(context, args), std::move(buffers), false);
}

}  // namespace gpumem
