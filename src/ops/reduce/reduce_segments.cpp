// Reductions of segments of a vector.
#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/reduce/reduce_check.hpp"
#include "ops/reduce/reduce_lines.hpp"

namespace gpumem {
namespace {

int64_t bytes_of_offsets(const ReduceSegmentsParams& c) {
  return checked_mul(checked_add(c.segments, 1, "segments + 1"), sizeof(int64_t), "bytes of offsets");
}

// The offsets, and the elements when there are some.
Inputs inputs_of(const ReduceSegmentsParams& c) {
  if (c.segments == 0) return {};
  const ByteRange offsets{"offsets", c.offsets, bytes_of_offsets(c)};
  if (c.n == 0) return {{offsets, {}}, 1};
  return {{offsets, {"x", c.x, strided_bytes(c.dtype, c.n, 1, "bytes of x")}}, 2};
}

// Kernels read pinned memory, but not as often as offsets are read: the plain form moves those too.
bool elsewhere(Runs runs, const Operand& offsets, Until until) noexcept {
  if (runs == Runs::host) return !offsets.on_host();
  return until == Until::complete ? offsets.on_host() : offsets.kind == GPUMEM_MEMORY_PAGEABLE;
}

// The work runs where x lies; where there is no x, where the offsets lie.
Placement place_segments(Planner& planner, const ReduceSegmentsParams& c, Until until) {
  const Inputs inputs = inputs_of(c);
  const Operand offsets = planner.look_up_here(inputs.range[0], Access::read);
  Placement placement =
      place(planner.on_cuda(), c.n > 0 ? planner.look_up_here(inputs.range[1], Access::read) : offsets);
  if (!planner.on_cuda() || !elsewhere(placement.runs, offsets, until)) return placement;
  if (until == Until::enqueued) {
    fail(GPUMEM_UNSUPPORTED, "offsets is %s memory, which the work on x (%s) can't read; expected memory of that side",
         kind_name(offsets.kind), placement.runs == Runs::cuda ? "on the device" : "on the host");
  }
  placement.stage_src = true;
  placement.host_side = offsets.host_side();
  return placement;
}

}  // namespace

Plan<ReduceSegmentsFamily> plan(Planner& planner, const ReduceSegmentsParams& given, Until until) {
  check(given);
  Plan<ReduceSegmentsFamily> plan;
  ReduceSegmentsParams& c = plan.params = given;
  if (c.n == 0) c.x = nullptr;
  static_cast<void>(result_bytes(c.op, c.segments));
  if (c.segments == 0) {
    plan.empty = true;
    return plan;
  }
  if (reinterpret_cast<uintptr_t>(c.offsets) % sizeof(int64_t) != 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "offsets (0x%llx) is misaligned; expected a multiple of %zu", number(c.offsets),
         sizeof(int64_t));
  }
  plan.placement = place_segments(planner, c, until);
  plan.decision = decide<ReduceSegmentsFamily>(planner, plan.placement.runs, c);
  return plan;
}

void reduce_segments(Context& context, const ReduceSegmentsParams& given, NativeStream stream, Until until) {
  CallPlanner planner(context, given, until);
  const Plan<ReduceSegmentsFamily> planned = plan(planner, given, until);
  ReduceSegmentsParams params = planned.params;
  LineOutputs outputs(params.result, result_bytes(params.op, params.segments), params.status);
  const Inputs inputs = inputs_of(params);
  check_outputs(context, outputs.all(), inputs.all(), until);
  if (until == Until::complete) require_not_capturing(context, stream, "gpumem_reduce_segments");
  if (planned.empty) return zero(context, outputs.all(), stream, until);
  if (until == Until::enqueued) return enqueue_lines(context, planned, outputs, stream);
  std::optional<Scratch> staged;
  if (planned.placement.stage_src) {
    const ByteRange& offsets = inputs.range[0];
    stage(context, staged, planned.placement.runs, offsets.p, offsets.bytes, planned.placement.host_side);
    params.offsets = static_cast<const int64_t*>(staged->get());
  }
  require_values(reduce_lines(context, planned, params, outputs.result()), params.dtype, params.op, "segments");
}

}  // namespace gpumem
