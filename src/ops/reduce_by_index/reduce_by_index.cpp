// Reductions of elements by the number of their bin.
#include <optional>

#include "base/checked.hpp"
#include "context/streams.hpp"
#include "kernels/values.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/rows.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

[[noreturn]] void fail_without_x() {
  fail(GPUMEM_INVALID_ARGUMENT,
       "x is NULL; expected the address of rows of elements, because only vectors are counted");
}

void check(const ReduceByIndexParams& c) {
  check(ReduceSegmentsParams{.dtype = c.dtype, .op = c.op, .n = c.n});
  require_index_type("index_type", c.index_type);
  require_at_least("cols", c.cols, 0);
  require_at_least("ld", c.ld, "cols", c.cols);
  const int64_t elements = checked_mul(c.n, c.cols, "elements of x");
  require_at_least("bins", c.bins, elements > 0 ? 1 : 0);
  if (elements > 0 && c.x == nullptr && !c.of_vector()) fail_without_x();
  if (elements > 0 && c.x == nullptr && (c.dtype != GPUMEM_I64 || c.op != GPUMEM_SUM)) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "x is NULL, so elements are counted, but dtype is %d and op is %d; expected GPUMEM_I64 (%d) and GPUMEM_SUM "
         "(%d)",
         c.dtype, c.op, GPUMEM_I64, GPUMEM_SUM);
  }
  constexpr int64_t kScratch = 256;  // more bytes per element or bin than any implementation takes
  static_cast<void>(checked_mul(elements, kScratch, "bytes of scratch memory"));
  static_cast<void>(checked_mul(checked_mul(c.bins, c.cols, "values"), kScratch, "bytes of scratch memory"));
}

// Absent: no bytes.
ByteRange range_of_x(const ReduceByIndexParams& c) {
  if (c.x == nullptr || c.elements() == 0) return {"x", c.x, 0};
  const int64_t span = checked_extent(c.n, c.ld, c.cols, "elements of x");
  return {"x", c.x, checked_mul(span, element_bytes(c.dtype), "bytes of x")};
}
ByteRange range_of_index(const ReduceByIndexParams& c) { return {"index", c.index, c.n * element_bytes(c.index_type)}; }

Placement place_by_index(Planner& planner, const ReduceByIndexParams& c, Completion completion) {
  if (c.x == nullptr) return place(planner.on_cuda(), planner.look_up_here(range_of_index(c), Access::read));
  const Operand x = planner.look_up_here(range_of_x(c), Access::read);
  const Operand index = planner.look_up_index(range_of_index(c));
  Placement placement = place(planner.on_cuda(), x);
  place_index(placement, planner.on_cuda(), "index", index, "x", completion);
  return placement;
}

void run(Context& context, const Plan<ReduceByIndexFamily>& planned, const Output& result) {
  const ExecutionSpace space = planned.placement.space;
  ReduceByIndexParams params = planned.params;
  std::optional<Workspace> index;
  std::optional<Workspace> room;
  if (planned.placement.stage_index) {
    const ByteRange range = range_of_index(params);
    stage(context, index, space, range.p, range.bytes, planned.placement.index_side);
    params.index = index->get();
  }
  make_room(context, room, space, result);
  if (room) params.result = room->get();
  const BlockingResult report(context, space);
  params.report = static_cast<ByIndexReport*>(report.get());
  run_now(context, planned.placement, [&](Backend& backend, NativeStream stream) {
    backend.launch(stream, Work<ReduceByIndexFamily>{params, planned.selection}, Completion::blocking);
  });
  const auto found = report.value<ByIndexReport>();
  require_rows(found, params.index_type, "bins", params.bins);
  if (room) bring_back(context, *room, result);
  require_values(static_cast<gpumem_status>(found.bits), params.dtype, params.op, "bins");
}

// With a bad index, the buffers return the contents that they brought.
void enqueue(Context& context, Plan<ReduceByIndexFamily>& planned, const Output (&outputs)[2], NativeStream stream) {
  launch_bounced(context, planned, stream,
                 {"this reduction by index", "a reduction of host memory", "an enqueued reduction"}, true,
                 [&outputs](ReduceByIndexParams& params, BounceBuffers& buffers) {
                   params.result = buffers.room_for(outputs[0]);
                   return params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[1]));
                 });
}

}  // namespace

Plan<ReduceByIndexFamily> plan(Planner& planner, const ReduceByIndexParams& given, Completion completion) {
  check(given);
  Plan<ReduceByIndexFamily> plan;
  const ReduceByIndexParams& c = plan.params = given;
  plan.empty = c.elements() == 0;
  if (plan.empty) return plan;
  require_aligned("index", c.index, element_bytes(c.index_type));
  plan.placement = place_by_index(planner, c, completion);
  plan.selection = decide<ReduceByIndexFamily>(planner, plan.placement.space, c);
  return plan;
}

void reduce_by_index(Context& context, const ReduceByIndexParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  Plan<ReduceByIndexFamily> planned = plan(planner, given, completion);
  const ReduceByIndexParams& c = planned.params;
  const bool no_values = c.values() > 0 && !has_empty_value(c.dtype, c.op);
  Output outputs[] = {
      {"result", c.result, int64_t{8} * value_words(c.op) * c.values(), 8, false, empty_word(c.dtype, c.op)},
      status_of(c.status)};
  outputs[1].empty_word = no_values ? GPUMEM_EMPTY : GPUMEM_OK;
  const ByteRange operands[] = {range_of_x(c), planned.empty ? ByteRange{} : range_of_index(c)};
  check_outputs(context, outputs, planned.empty ? std::span<const ByteRange>() : operands, completion);
  if (completion == Completion::blocking) require_not_capturing(context, stream, "a blocking reduction by index");
  if (planned.empty) {
    write_empty_values(context, outputs, stream, completion);
    if (completion == Completion::blocking && no_values) require_values(GPUMEM_EMPTY, c.dtype, c.op, "bins");
  } else if (completion == Completion::asynchronous) {
    enqueue(context, planned, outputs, stream);
  } else {
    run(context, planned, outputs[0]);
  }
}

void reduce_rows_by_index(Context& context, const ReduceByIndexParams& c, NativeStream stream, Completion completion) {
  require_at_least("rows", c.n, 0);
  if (c.n > 0 && c.cols > 0 && c.x == nullptr) fail_without_x();
  reduce_by_index(context, c, stream, completion);
}

}  // namespace gpumem
