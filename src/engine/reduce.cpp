#include <cstring>

#include "engine/checked.hpp"
#include "engine/plan.hpp"
#include "engine/streams.hpp"

namespace gpumem {
namespace {

const char* op_name(gpumem_reduce_op op) noexcept {
  static constexpr const char* kNames[] = {
      "sum", "minimum", "maximum", "sum of absolutes", "sum of squares", "sum of cubes", "largest absolute"};
  return kNames[op];
}

bool is_sum(gpumem_reduce_op op) noexcept {
  return op == GPUMEM_SUM || op == GPUMEM_SUM_ABS || op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES;
}

void check(const ReduceCall& call) {
  if (call.dtype < GPUMEM_I8 || call.dtype > GPUMEM_F64) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected a gpumem_dtype (%d to %d)", call.dtype, GPUMEM_I8, GPUMEM_F64);
  }
  if (call.dtype != GPUMEM_I32) {
    fail(GPUMEM_UNSUPPORTED, "dtype is %d; reductions take GPUMEM_I32 (%d) in this version", call.dtype, GPUMEM_I32);
  }
  if (call.op < GPUMEM_SUM || call.op > GPUMEM_MAX_ABS) {
    fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected a gpumem_reduce_op (%d to %d)", call.op, GPUMEM_SUM,
         GPUMEM_MAX_ABS);
  }
  if (call.n < 0) fail(GPUMEM_INVALID_ARGUMENT, "n is %lld; expected 0 or more", static_cast<long long>(call.n));
  if (call.stride < 1) {
    fail(GPUMEM_INVALID_ARGUMENT, "stride is %lld; expected 1 or more", static_cast<long long>(call.stride));
  }
}

int64_t narrow(Int128 value, gpumem_reduce_op op) {
  const auto narrowed = static_cast<int64_t>(value);
  if (narrowed == value) return narrowed;
  fail(GPUMEM_OVERFLOW, "the %s is about %.6g; expected a value that fits int64_t", op_name(op),
       static_cast<double>(value));
}

void store(Context& context, const Operand& where, int64_t* result, int64_t value) {
  if (!context.on_cuda() || where.on_host()) {
    std::memcpy(result, &value, sizeof value);  // any alignment
  } else {
    context.device().copy(context.own_stream(), result, &value, sizeof value, Until::complete);
  }
}

}  // namespace

Plan<ReduceFamily> plan(Context& context, const ReduceCall& call) {
  check(call);
  Plan<ReduceFamily> plan;
  if (call.n == 0) {
    if (!is_sum(call.op)) fail(GPUMEM_EMPTY, "n is 0; expected at least one element for the %s", op_name(call.op));
    plan.empty = true;
    return plan;
  }
  const int64_t span = checked_add(checked_mul(call.n - 1, call.stride, "(n - 1) x stride"), 1, "elements of x");
  const int64_t bytes = checked_mul(span, sizeof(int32_t), "bytes of x");
  const Operand x = look_up_range(context, call.x, bytes, Access::read, "x");
  require_same_device(context, x, "x");
  plan.placement = place(context.on_cuda(), x);
  plan.problem = {plan.placement.runs,           call.dtype,          call.op, call.n,
                  call.n == 1 ? 1 : call.stride, misalignment(call.x)};
  plan.decision = decide<ReduceFamily>(context, plan.problem);
  return plan;
}

void reduce_i32(Context& context, const ReduceCall& call, int64_t* result) {
  const Plan<ReduceFamily> planned = plan(context, call);
  const Operand where = look_up_range(context, result, sizeof *result, Access::write, "result");
  require_same_device(context, where, "result");
  require_not_capturing(context, context.own_stream(), "gpumem_reduce_i32");
  Int128 value = 0;
  if (!planned.empty) {
    const ReduceArgs args{planned.decision.row,  planned.decision.shape, call.op, call.x, call.n,
                          planned.problem.stride};
    const bool beside = context.on_cuda() && planned.placement.runs == Runs::host;
    if (beside) context.device().await_order();
    value = context.running(planned.placement.runs).reduce(beside ? nullptr : context.own_stream(), args);
  }
  store(context, where, result, narrow(value, call.op));
}

}  // namespace gpumem
