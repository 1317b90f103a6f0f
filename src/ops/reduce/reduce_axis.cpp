// Reductions of the rows or columns of matrices.
#include "base/checked.hpp"
#include "kernels/values.hpp"
#include "ops/reduce/reduce_check.hpp"
#include "ops/reduce/reduce_lines.hpp"

namespace gpumem {
namespace {

// Distances that are never used become tight ones, so that no product with them leaves the extent that is checked.
ReduceAxisParams normal(ReduceAxisParams c) noexcept {
  if (c.rows <= 1) c.ld = c.cols;
  if (c.batches <= 1) c.batch_stride = 0;
  return c;
}

int64_t bytes_of_x(const ReduceAxisParams& c) {
  constexpr const char* kWhat = "bytes of x";
  static_cast<void>(checked_mul(checked_mul(c.batches, c.rows, "batches x rows"), c.cols, "batches x rows x cols"));
  const int64_t matrices = checked_mul(c.batches - 1, c.batch_stride, kWhat);
  const int64_t matrix = checked_add(checked_mul(c.rows - 1, c.ld, kWhat), c.cols, kWhat);
  return checked_mul(checked_add(matrices, matrix, kWhat), element_bytes(c.dtype), kWhat);
}

// Nothing when there are no elements.
Inputs inputs_of(const ReduceAxisParams& c) {
  if (c.batches == 0 || c.rows == 0 || c.cols == 0) return {};
  const int64_t bytes = bytes_of_x(c);
  const int64_t gap = gap_of(c.cols, {{c.rows, c.ld}, {c.batches, c.batch_stride}}, element_bytes(c.dtype));
  return {{{"x", c.x, bytes, gap}, {}}, 1};
}

const char* lines_name(gpumem_axis axis) noexcept { return axis == GPUMEM_AXIS_ROWS ? "rows" : "columns"; }

}  // namespace

Plan<ReduceAxisFamily> plan(Planner& planner, const ReduceAxisParams& given, Until) {
  check(given);
  Plan<ReduceAxisFamily> plan;
  const ReduceAxisParams& c = plan.params = normal(given);
  const LineExtents lines = lines_of(c);
  static_cast<void>(result_bytes(c.op, lines.count));
  if (lines.count == 0 || lines.length == 0) {
    if (lines.count != 0 && !has_empty_value(c.dtype, c.op)) {
      fail(GPUMEM_EMPTY, "%s is 0; expected at least one element for the %s of each of the %s",
           c.axis == GPUMEM_AXIS_ROWS ? "cols" : "rows", op_name(c.op), lines_name(c.axis));
    }
    plan.empty = true;
    return plan;
  }
  plan.placement = place(planner.on_cuda(), planner.look_up_here(inputs_of(c).range[0], Access::read));
  plan.decision = decide<ReduceAxisFamily>(planner, plan.placement.runs, c);
  return plan;
}

void reduce_axis(Context& context, const ReduceAxisParams& given, NativeStream stream, Until until) {
  CallPlanner planner(context, given, until);
  const Plan<ReduceAxisFamily> planned = plan(planner, given, until);
  const ReduceAxisParams& params = planned.params;
  LineOutputs outputs(params.result, result_bytes(params.op, params.lines()), params.status);
  check_outputs(context, outputs.all(), inputs_of(params).all(), until);
  if (until == Until::complete) require_not_capturing(context, stream, "gpumem_reduce_axis");
  if (planned.empty) return zero(context, outputs.all(), stream, until);
  if (until == Until::enqueued) return enqueue_lines(context, planned, outputs, stream);
  require_values(reduce_lines(context, planned, params, outputs.result()), params.dtype, params.op,
                 lines_name(params.axis));
}

}  // namespace gpumem
