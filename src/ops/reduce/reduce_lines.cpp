// Reductions of many lines at once: rows or columns of matrices, and segments of a vector.
#include <optional>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "context/streams.hpp"
#include "kernels/values.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

// Throws INVALID_ARGUMENT if the bytes exceed 64 bits.
int64_t result_bytes(gpumem_reduce_op op, int64_t lines) {
  return checked_mul(lines, int64_t{8} * value_words(op), "bytes of result");
}

// The outputs are the result, the index of a search, and the status.
template <class Family>
gpumem_status reduce_lines(Context& context, const Plan<Family>& planned, typename Family::Params params,
                           const Output (&outputs)[3]) {
  std::optional<Workspace> room;
  std::optional<Workspace> room_of_index;
  if (outputs[0].wanted()) make_room(context, room, planned.placement.space, outputs[0]);
  if (outputs[1].wanted()) make_room(context, room_of_index, planned.placement.space, outputs[1]);
  if (room) params.result = room->get();
  if constexpr (requires { params.index; }) {
    if (room_of_index) params.index = static_cast<int64_t*>(room_of_index->get());
  }
  const gpumem_status found = run_now(context, planned.placement, [&](Backend& backend, NativeStream stream) {
    return backend.reduce_lines(stream, params, planned.selection, Completion::blocking);
  });
  if (room) bring_back(context, *room, outputs[0]);
  if (room_of_index) bring_back(context, *room_of_index, outputs[1]);
  return found;
}

template <class Family>
void enqueue_lines(Context& context, const Plan<Family>& planned, const Output (&outputs)[3], NativeStream stream) {
  typename Family::Params params = planned.params;
  if (!context.on_cuda() || planned.placement.space == ExecutionSpace::cuda) {
    prefetch_managed(context, planned.placement, stream);
    context.running(planned.placement.space).reduce_lines(stream, params, planned.selection, Completion::asynchronous);
    return;
  }
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  params.result = buffers.room_for(outputs[0]);
  if constexpr (requires { params.index; }) params.index = static_cast<int64_t*>(buffers.room_for(outputs[1]));
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[2]));
  const auto work = [params, chosen = Configured(planned.selection)](Backend& host, NativeStream now, Completion done) {
    host.reduce_lines(now, params, chosen, done);
  };
  enqueue_on_host(context, stream, beside_task(context, "an enqueued reduction", work, params.status),
                  std::move(buffers), false);
}

struct LineExtents {
  int64_t count;
  int64_t length;
};
LineExtents lines_of(const ReduceAxisParams& c) {
  const bool rows = c.axis == GPUMEM_AXIS_ROWS;
  return {checked_mul(c.batches, rows ? c.rows : c.cols, rows ? "batches x rows" : "batches x cols"),
          rows ? c.cols : c.rows};
}

// Unused strides become tight ones, so that no product with them exceeds the checked extent.
ReduceAxisParams normal(ReduceAxisParams c) noexcept {
  if (c.rows <= 1) c.ld = c.cols;
  if (c.batches <= 1) c.batch_stride = 0;
  return c;
}

int64_t bytes_of_x(const ReduceAxisParams& c) {
  constexpr const char* kWhat = "bytes of x";
  static_cast<void>(checked_mul(checked_mul(c.batches, c.rows, "batches x rows"), c.cols, "batches x rows x cols"));
  const int64_t matrix = checked_extent(c.rows, c.ld, c.cols, kWhat);
  return checked_mul(checked_extent(c.batches, c.batch_stride, matrix, kWhat), element_bytes(c.dtype), kWhat);
}

Inputs inputs_of(const ReduceAxisParams& c) {
  if (c.batches == 0 || c.rows == 0 || c.cols == 0) return {};
  const int64_t bytes = bytes_of_x(c);
  const Spacing spacing = spacing_of(c.cols, {{c.rows, c.ld}, {c.batches, c.batch_stride}}, element_bytes(c.dtype));
  return {{{"x", c.x, bytes, spacing}, {}}, 1};
}

const char* lines_name(gpumem_axis axis) noexcept { return axis == GPUMEM_AXIS_ROWS ? "rows" : "columns"; }

Inputs inputs_of(const ReduceSegmentsParams& c) {
  if (c.segments == 0) return {};
  const ByteRange offsets = range_of_offsets(c.offsets, c.segments);
  if (c.n == 0) return {{offsets, {}}, 1};
  return {{offsets, {"x", c.x, strided_bytes(c.dtype, c.n, 1, "bytes of x")}}, 2};
}

// The work runs next to x, or next to the offsets if x is empty.
Placement place_segments(Planner& planner, const ReduceSegmentsParams& c, Completion completion) {
  const Inputs inputs = inputs_of(c);
  const Operand offsets = planner.look_up_index(inputs.range[0]);
  Placement placement =
      place(planner.on_cuda(), c.n > 0 ? planner.look_up_here(inputs.range[1], Access::read) : offsets);
  place_index(placement, planner.on_cuda(), "offsets", offsets, "x", completion);
  return placement;
}

// offsets: at an address that the host can read. One of them is bad.
[[noreturn]] void fail_offsets(const int64_t* offsets, int64_t segments, int64_t n, const char* otherwise) {
  int64_t s = 0;
  int64_t before = 0;
  while (s < segments && offsets[s] >= before && offsets[s] <= n) before = offsets[s++];
  fail(GPUMEM_OUT_OF_RANGE, "offsets[%lld] is %lld; expected at least %s%lld, and at most n = %lld (%s)", ll(s),
       ll(offsets[s]), s == 0 ? "" : "the offset before it, ", ll(before), ll(n), otherwise);
}

}  // namespace

ByteRange range_of_offsets(const int64_t* offsets, int64_t segments) {
  return {"offsets", offsets,
          checked_mul(checked_add(segments, 1, "segments + 1"), sizeof(int64_t), "bytes of offsets")};
}

void require_offsets(Context& context, gpumem_status found, const ByteRange& offsets, int64_t n,
                     const char* otherwise) {
  if (found != GPUMEM_OUT_OF_RANGE) return;
  std::optional<Workspace> copy;
  const void* readable = offsets.p;
  const Operand where = look_up_range(context, offsets.p, offsets.bytes, Access::read, "offsets");
  if (context.on_cuda() && where.kind == GPUMEM_MEMORY_DEVICE) {
    stage(context, copy, ExecutionSpace::host, offsets.p, offsets.bytes, HostSide::pageable);
    readable = copy->get();
  }
  const int64_t segments = offsets.bytes / static_cast<int64_t>(sizeof(int64_t)) - 1;
  fail_offsets(static_cast<const int64_t*>(readable), segments, n, otherwise);
}

void require_values(gpumem_status found, gpumem_dtype dtype, gpumem_reduce_op op, const char* lines) {
  if (found == GPUMEM_OK) return;
  if (found == GPUMEM_EMPTY) {
    fail(GPUMEM_EMPTY,
         "some of the %s are empty and have no %s (their results are 0); expected at least one element each", lines,
         op_name(op));
  }
  if (found == GPUMEM_OVERFLOW) {
    fail(GPUMEM_OVERFLOW, "the %s of some of the %s does not fit (their results are 0); expected values that fit %s",
         op_name(op), lines, result_type_name(dtype));
  }
  fail(found, "a reduction of %s ended with status %d", lines, found);
}

Plan<ReduceAxisFamily> plan(Planner& planner, const ReduceAxisParams& given, Completion) {
  check(given);
  Plan<ReduceAxisFamily> plan;
  const ReduceAxisParams& c = plan.params = normal(given);
  const LineExtents lines = lines_of(c);
  static_cast<void>(result_bytes(c.op, lines.count));
  plan.empty = lines.count == 0 || lines.length == 0;
  if (plan.empty && lines.count != 0 && !has_empty_value(c.dtype, c.op)) {
    fail(GPUMEM_EMPTY, "%s is 0; expected at least one element for the %s of each of the %s",
         c.axis == GPUMEM_AXIS_ROWS ? "cols" : "rows", op_name(c.op), lines_name(c.axis));
  }
  if (plan.empty) return plan;
  plan.placement = place(planner.on_cuda(), planner.look_up_here(inputs_of(c).range[0], Access::read));
  plan.selection = decide<ReduceAxisFamily>(planner, plan.placement.space, c);
  return plan;
}

void reduce_axis(Context& context, const ReduceAxisParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  const Plan<ReduceAxisFamily> planned = plan(planner, given, completion);
  const ReduceAxisParams& params = planned.params;
  const bool search = is_search(params.op);
  const int64_t bytes = result_bytes(params.op, params.lines());
  Output outputs[] = {
      {search ? "value" : "result", params.result, bytes, 8, search, empty_word(params.dtype, params.op)},
      {"index", params.index, search ? bytes : 0, 8},
      status_of(params.status)};
  check_outputs(context, outputs, inputs_of(params).all(), completion);
  if (completion == Completion::blocking) {
    require_not_capturing(context, stream, search ? "gpumem_argreduce_axis" : "gpumem_reduce_axis");
  }
  if (planned.empty) return write_empty_values(context, outputs, stream, completion);
  if (completion == Completion::asynchronous) return enqueue_lines(context, planned, outputs, stream);
  require_values(reduce_lines(context, planned, params, outputs), params.dtype, params.op, lines_name(params.axis));
}

Plan<ReduceSegmentsFamily> plan(Planner& planner, const ReduceSegmentsParams& given, Completion completion) {
  check(given);
  Plan<ReduceSegmentsFamily> plan;
  ReduceSegmentsParams& c = plan.params = given;
  if (c.n == 0) c.x = nullptr;
  static_cast<void>(result_bytes(c.op, c.segments));
  plan.empty = c.segments == 0;
  if (plan.empty) return plan;
  require_aligned("offsets", c.offsets, sizeof(int64_t));
  plan.placement = place_segments(planner, c, completion);
  plan.selection = decide<ReduceSegmentsFamily>(planner, plan.placement.space, c);
  return plan;
}

void reduce_segments(Context& context, const ReduceSegmentsParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  const Plan<ReduceSegmentsFamily> planned = plan(planner, given, completion);
  ReduceSegmentsParams params = planned.params;
  Output outputs[] = {
      {"result", params.result, result_bytes(params.op, params.segments), 8}, {"index"}, status_of(params.status)};
  const Inputs inputs = inputs_of(params);
  check_outputs(context, outputs, inputs.all(), completion);
  if (completion == Completion::blocking) require_not_capturing(context, stream, "gpumem_reduce_segments");
  if (planned.empty) return write_empty_values(context, outputs, stream, completion);
  if (completion == Completion::asynchronous) return enqueue_lines(context, planned, outputs, stream);
  std::optional<Workspace> staged;
  const ByteRange& offsets = inputs.range[0];
  if (planned.placement.stage_index) {
    stage(context, staged, planned.placement.space, offsets.p, offsets.bytes, planned.placement.index_side);
    params.offsets = static_cast<const int64_t*>(staged->get());
  }
  const gpumem_status found = reduce_lines(context, planned, params, outputs);
  require_offsets(context, found, offsets, params.n, "the results of segments with bad offsets are 0");
  require_values(found, params.dtype, params.op, "segments");
}

}  // namespace gpumem
