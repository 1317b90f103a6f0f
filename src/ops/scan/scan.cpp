// Scans. The work runs next to the result. A blocking call stages x if it is on the other side.
#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/scan/limits.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

constexpr const char* kThisScan = "this scan";

void check(const ScanParams& c) {
  if (!is_dtype(c.dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected a dtype, GPUMEM_I8 (%d) to GPUMEM_F64 (%d)", c.dtype,
         GPUMEM_I8, GPUMEM_F64);
  }
  if (!is_operation(c.op)) fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected a gpumem_reduce_op", c.op);
  if (c.op != GPUMEM_SUM && c.op != GPUMEM_MIN && c.op != GPUMEM_MAX && c.op != GPUMEM_PROD) {
    fail(GPUMEM_UNSUPPORTED, "op is %d (%s); expected GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX or GPUMEM_PROD", c.op,
         operation_traits(c.op).name);
  }
  if (c.exclusive != 0 && c.exclusive != 1) {
    fail(GPUMEM_INVALID_ARGUMENT, "exclusive is %d; expected 0 or 1", c.exclusive);
  }
  require_at_least("n", c.n, 0);
  const gpumem_dtype wide = wide_type(c.dtype);
  if (c.result_type != c.dtype && c.result_type != wide) {
    fail(GPUMEM_INVALID_ARGUMENT, "result_type is %d; expected %d (%s), or the dtype %d (%s)", c.result_type, wide,
         traits_of(wide).name, c.dtype, traits_of(c.dtype).name);
  }
}

ByteRange x_of(const ScanParams& c) { return {"x", c.x, checked_mul(c.n, element_bytes(c.dtype), "bytes of x")}; }
ByteRange result_of(const ScanParams& c) {
  return {"result", c.result, checked_mul(c.n, element_bytes(c.result_type), "bytes of result")};
}

Placement place_scan(bool on_cuda, const Operand& x, const Operand& result, Completion completion) {
  const bool across = on_cuda && x.on_host() != result.on_host();
  if (across && completion == Completion::asynchronous) fail_on_two_sides("x", x, "result", result);
  Placement placement = place_beside_output(on_cuda, result, across);
  placement.uses(x);
  placement.host_side = x.host_side();
  return placement;
}

void run(Context& context, Plan<ScanFamily>& planned, const ByteRange& x) {
  const ExecutionSpace space = planned.placement.space;
  require_not_capturing(context, context.own_stream(), kThisScan);
  std::optional<Workspace> staged;
  if (planned.placement.stage_src) {
    stage(context, staged, space, x.p, x.bytes, planned.placement.host_side);
    planned.params.x = staged->get();
  }
  std::optional<BlockingResult> status;
  if (can_overflow(planned.params)) {
    planned.params.status = static_cast<gpumem_status*>(status.emplace(context, space).get());
  }
  launch_placed(context, planned, context.own_stream(), Completion::blocking, kThisScan);
  if (status && status->value<gpumem_status>() == GPUMEM_OVERFLOW) {
    fail(GPUMEM_OVERFLOW, "a value of the scan does not fit %s; those from the first such value on are undefined",
         traits_of(planned.params.result_type).name);
  }
}

void enqueue(Context& context, Plan<ScanFamily>& planned, const ScanParams& call, NativeStream stream) {
  Output outputs[] = {status_of(call.status)};
  const ByteRange operands[] = {x_of(call), result_of(call)};
  check_outputs(context, outputs, planned.empty ? std::span<const ByteRange>() : operands, Completion::asynchronous);
  if (planned.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  if (!runs_beside(context, planned.placement)) {
    return launch_placed(context, planned, stream, Completion::asynchronous, kThisScan);
  }
  require_not_capturing(context, stream, "a scan of host memory");
  BounceBuffers buffers;
  planned.params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[0]));
  const auto work = [planned](Backend& host, NativeStream now, Completion done) {
    host.launch(now, Work<ScanFamily>{planned.params, planned.selection}, done);
  };
  enqueue_on_host(context, stream, beside_task(context, "scan that was enqueued", work, planned.params.status),
                  std::move(buffers), false);
}

}  // namespace

Plan<ScanFamily> plan(Planner& planner, const ScanParams& c, Completion completion) {
  check(c);
  Plan<ScanFamily> plan;
  const ByteRange x = x_of(c);
  const ByteRange result = result_of(c);
  plan.empty = c.n == 0;
  if (plan.empty) return plan;
  const Operand x_lies = planner.look_up_here(x, Access::read);
  const Operand result_lies = planner.look_up_here(result, Access::write);
  const bool in_place = x.p == result.p && x.bytes == result.bytes;
  if (!in_place) require_disjoint(result, x);
  plan.placement = place_scan(planner.on_cuda(), x_lies, result_lies, completion);
  if (!in_place) plan.placement.overwrites(c.result);
  plan.params = c;
  if (plan.placement.stage_src) plan.params.x = placeholder();
  plan.selection = decide<ScanFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void scan(Context& context, const ScanParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<ScanFamily> planned = plan(planner, call, completion);
  if (completion == Completion::asynchronous) return enqueue(context, planned, call, stream);
  if (!planned.empty) run(context, planned, x_of(call));
}

}  // namespace gpumem
