// Scalar reductions: the plan, and both forms.
#include "ops/reduce/reduce.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "context/streams.hpp"
#include "kernels/alignment.hpp"
#include "kernels/values.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// The empty asm forces the operands and the result into memory (see DefaultFloatEnvironment).
[[gnu::noinline]] ReduceValue value_in_default_environment(gpumem_dtype dtype, gpumem_reduce_op op,
                                                           ReduceNode node) noexcept {
  const DefaultFloatEnvironment environment;
  asm volatile("" : "+m"(node));
  ReduceValue value = value_of(dtype, op, node, [](double x) noexcept { return std::sqrt(x); });
  asm volatile("" : "+m"(value));
  return value;
}

Inputs inputs_of(const ReduceParams& c) {
  if (c.n == 0) return {};
  const int64_t element = element_bytes(c.dtype);
  const auto range = [&](const char* argument, const void* p, int64_t stride, const int64_t* strides,
                         const char* what) {
    if (c.view.rank == 0) {
      return ByteRange{argument, p, strided_bytes(c.dtype, c.n, stride, what), spacing_of(1, {{c.n, stride}}, element)};
    }
    const StridedSide side{"", what, c.view.rank, c.view.extents, strides};
    return range_of_view(argument, p, side, element);
  };
  const ByteRange x = range("x", c.x, c.stride, c.view.strides, "bytes of x");
  if (!takes_y(c.op)) return {{x, {}}, 1};
  return {{x, range("y", c.y, c.y_stride, c.view.y_strides, "bytes of y")}, 2};
}

// Only an argument search has an index output, and its value is optional.
Output result_of(const ReduceParams& c, int64_t alignment) noexcept {
  const bool arg = is_search(c.op);
  const int64_t bytes = c.op == GPUMEM_MIN_MAX ? 16 : 8;
  return {arg ? "value" : "result", c.result, bytes, alignment, arg, empty_word(c.dtype, c.op)};
}
Output index_of(gpumem_reduce_op op, int64_t* p, int64_t alignment) noexcept {
  return {"index", p, is_search(op) ? 8 : 0, alignment};
}

double about(const IntegerNode& node) noexcept {
  const bool negative = static_cast<int64_t>(node.word[3]) < 0;
  const IntegerNode magnitude = negative ? negated(node) : node;
  double sum = 0;
  for (int i = 3; i >= 0; --i) sum = sum * 0x1p64 + static_cast<double>(magnitude.word[i]);
  return negative ? -sum : sum;
}

[[noreturn]] void fail_overflow(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) {
  const DefaultFloatEnvironment environment;
  if (node_kind(dtype, op) == NodeKind::integer_product) {
    fail(GPUMEM_OVERFLOW, "the %s does not fit; expected a value that fits %s", op_name(op), result_type_name(dtype));
  }
  // A magnitude that does not fit is INT64_MIN's.
  const double value = node_kind(dtype, op) == NodeKind::integer ? about(IntegerNode(node)) : 0x1p63;
  char text[32] = {};  // printf would use the locale's decimal point
  std::to_chars(text, std::end(text) - 1, value, std::chars_format::general, 6);
  fail(GPUMEM_OVERFLOW, "the %s is about %s; expected a value that fits %s", op_name(op), text,
       result_type_name(dtype));
}

// Pieces are copied with their padding, so only contiguous data is streamed.
bool streams(const Planner& planner, const ReduceParams& call, const Operand& x, Completion completion) noexcept {
  return planner.streams_host_data() && planner.on_cuda() && completion == Completion::blocking && x.on_host() &&
         call.view.rank == 0 && (call.stride == 1 || call.n == 1) && !takes_y(call.op);
}

Placement place_reduction(Planner& planner, const ReduceParams& call, const ReduceParams& params,
                          Completion completion) {
  const Inputs inputs = inputs_of(call);
  const Operand x = planner.look_up_here(inputs.range[0], Access::read);
  if (streams(planner, params, x, completion)) return place_streamed(x);
  if (!takes_y(call.op)) return place(planner.on_cuda(), x);
  const Operand y = planner.look_up_here(inputs.range[1], Access::read);
  const Placement placement = place_beside_x(planner.on_cuda(), x, y);
  if (placement.stage_src && completion == Completion::asynchronous) fail_on_two_sides("x", x, "y", y);
  return placement;
}

// The axes are fused, unused strides become 1, and an operand that is never read becomes nullptr.
ReduceParams normal(const ReduceParams& call) noexcept {
  ReduceParams c = fused(call);
  const bool dot = takes_y(c.op);
  if (c.n == 1) c.stride = 1;
  if (c.n == 1 || !dot) c.y_stride = 1;
  if (!dot) c.y = nullptr;
  return c;
}

ReduceNode run(Context& context, const Plan<ReduceFamily>& planned, const ReduceParams& call) {
  if (planned.placement.streamed) return reduce_streamed(context, planned, call);
  ReduceParams params = planned.params;
  std::optional<Workspace> staged;
  if (planned.placement.stage_src) {
    const ByteRange y = inputs_of(call).range[1];
    stage(context, staged, planned.placement.space, y.p, y.bytes, planned.placement.host_side);
    params.y = staged->get();
  }
  return run_now(context, planned.placement, [&](Backend& backend, NativeStream stream) {
    return backend.reduce(stream, params, planned.selection);
  });
}

// Runs on the host in the order of a stream of a CUDA context.
void enqueue_beside(Context& context, const Plan<ReduceFamily>& planned, const Output (&outputs)[3],
                    NativeStream stream) {
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  ReduceParams params = planned.params;
  params.result = buffers.room_for(outputs[0]);
  params.index = static_cast<int64_t*>(buffers.room_for(outputs[1]));
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[2]));
  const auto work = [params, chosen = Configured(planned.selection)](Backend& host, NativeStream now, Completion) {
    host.reduce_async(now, params, chosen);
  };
  enqueue_on_host(context, stream, beside_task(context, "an enqueued reduction", work, params.status),
                  std::move(buffers), true);
}

// Inlined, it would add its frame to that of a blocking call.
[[gnu::noinline]] void reduce_async(Context& context, const ReduceParams& call, NativeStream stream) {
  CallPlanner planner(context, call, Completion::asynchronous);
  const Plan<ReduceFamily> planned = plan(planner, call, Completion::asynchronous);
  Output outputs[] = {result_of(call, 8), index_of(call.op, call.index, 8), status_of(call.status)};
  check_outputs(context, outputs, inputs_of(call).all(), Completion::asynchronous);
  if (planned.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  if (context.on_cuda() && planned.placement.space == ExecutionSpace::host) {
    return enqueue_beside(context, planned, outputs, stream);
  }
  prefetch_managed(context, planned.placement, stream);
  context.running(planned.placement.space).reduce_async(stream, planned.params, planned.selection);
}

// start: called if the device does the work and no operand has to be staged.
template <class Start>
std::unique_ptr<PendingNodes> begin(Context& context, const ReduceParams& call, const Start& start) {
  if (!context.on_cuda()) return nullptr;
  CallPlanner planner(context, call, Completion::blocking);
  const Plan<ReduceFamily> planned = plan(planner, call, Completion::blocking);
  require_not_capturing(context, context.own_stream(), "a blocking reduction");
  const Placement& placement = planned.placement;
  if (planned.empty || placement.streamed || placement.stage_src || placement.space == ExecutionSpace::host)
    return nullptr;
  return run_now(context, placement,
                 [&](Backend& backend, NativeStream stream) { return start(backend, stream, planned); });
}

}  // namespace

Plan<ReduceFamily> plan(Planner& planner, const ReduceParams& call, Completion completion) {
  check(call);
  Plan<ReduceFamily> plan;
  plan.empty = call.n == 0;
  if (plan.empty && !has_empty_value(call.dtype, call.op)) {
    fail(GPUMEM_EMPTY, "n is 0; expected at least one element for the %s", op_name(call.op));
  }
  if (plan.empty) return plan;
  plan.params = normal(call);
  plan.placement = place_reduction(planner, call, plan.params, completion);
  if (plan.placement.stage_src) plan.params.y = placeholder();
  if (plan.placement.streamed) {
    plan.params.n = std::min(call.n, streamed_piece(call.dtype));
    plan.params.x = placeholder();
  }
  plan.selection = decide<ReduceFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

ReduceNode reduce_to_node(Context& context, const ReduceParams& call) {
  CallPlanner planner(context, call, Completion::blocking);
  const Plan<ReduceFamily> planned = plan(planner, call, Completion::blocking);
  require_not_capturing(context, context.own_stream(), "a blocking reduction");
  return planned.empty ? empty_node(node_kind(call.dtype, call.op)) : run(context, planned, call);
}

std::unique_ptr<PendingNodes> begin_reduce_to_node(Context& context, const ReduceParams& call) {
  return begin(context, call, [](Backend& backend, NativeStream stream, const Plan<ReduceFamily>& planned) {
    return backend.begin_reduce(stream, planned.params, planned.selection);
  });
}

std::unique_ptr<PendingNodes> begin_reduce_to_nodes(Context& context, const ReduceParams& call,
                                                    const LeafTrees& trees) {
  return begin(context, call, [&](Backend& backend, NativeStream stream, const Plan<ReduceFamily>& planned) {
    const ReduceParams& p = planned.params;
    const bool fits = is_ordered(node_kind(p.dtype, p.op)) && p.stride == 1 && p.y_stride == 1 &&
                      aligned(p.x, element_bytes(p.dtype)) && aligned(p.y, element_bytes(p.dtype));
    return fits ? backend.begin_reduce(stream, p, trees) : nullptr;
  });
}

// Independent of the program's floating-point environment.
ReduceValue checked_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) {
  const ReduceValue value = is_floating(dtype) ? value_in_default_environment(dtype, op, node)
                                               : value_of(dtype, op, node, [](double x) noexcept { return x; });
  if (value.status == GPUMEM_OVERFLOW) fail_overflow(dtype, op, node);
  return value;
}

void reduce(Context& context, const ReduceParams& call, NativeStream stream, Completion completion) {
  if (completion == Completion::asynchronous) return reduce_async(context, call, stream);
  CallPlanner planner(context, call, Completion::blocking);
  const Plan<ReduceFamily> planned = plan(planner, call, Completion::blocking);
  Output outputs[] = {result_of(call, 1), index_of(call.op, call.index, 1)};
  check_outputs(context, outputs, inputs_of(call).all(), Completion::blocking);
  require_not_capturing(context, context.own_stream(), "a blocking reduction");
  if (planned.empty) return write_empty_values(context, outputs, context.own_stream(), Completion::blocking);
  const ReduceValue value = checked_value(call.dtype, call.op, run(context, planned, call));
  if (outputs[0].wanted()) store(context, outputs[0], &value.word[0]);
  if (outputs[1].wanted()) store(context, outputs[1], &value.word[1]);
}

}  // namespace gpumem
