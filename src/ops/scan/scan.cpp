// Scans. The work runs next to the result. A blocking call stages x if it is on the other side.
#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/scan/limits.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/sources.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr const char* kThisScan = "this scan";

void check(const ScanParams& c) {
  require_dtype("dtype", c.dtype);
  if (!is_operation(c.op)) fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected a gpumem_reduce_op", c.op);
  if (c.op != GPUMEM_SUM && c.op != GPUMEM_MIN && c.op != GPUMEM_MAX && c.op != GPUMEM_PROD) {
    fail(GPUMEM_UNSUPPORTED, "op is %d (%s); expected GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MAX or GPUMEM_PROD", c.op,
         operation_traits(c.op).name);
  }
  if (c.exclusive != 0 && c.exclusive != 1) {
    fail(GPUMEM_INVALID_ARGUMENT, "exclusive is %d; expected 0 or 1", c.exclusive);
  }
  require_at_least("n", c.n, 0);
  if (c.offsets != nullptr) require_at_least("segments", c.segments, 0);
  const gpumem_dtype wide = wide_type(c.dtype);
  if (c.result_type != c.dtype && c.result_type != wide) {
    fail(GPUMEM_INVALID_ARGUMENT, "result_type is %d; expected %d (%s), or the dtype %d (%s)", c.result_type, wide,
         traits_of(wide).name, c.dtype, traits_of(c.dtype).name);
  }
}

StridedSide side_of(const ScanView& view, bool result) noexcept {
  if (result) return {"result_strides", "bytes of result", view.rank, view.extents, view.result_strides};
  return {"x_strides", "bytes of x", view.rank, view.extents, view.x_strides};
}
void check_view(const ScanParams& c) {
  const ScanView& view = c.view;
  if (view.rank == 0) return;
  gpumem::check_extents(view.rank, view.extents, kMaxScanRank);
  if (view.axis < 0 || view.axis >= view.rank) {
    fail(GPUMEM_INVALID_ARGUMENT, "axis is %d; expected 0 to ndim - 1, which is %d", view.axis, view.rank - 1);
  }
  check_strides("x_strides", view.x_strides, view.rank);
  check_strides("result_strides", view.result_strides, view.rank);
  if (checked_product(view.extents, view.rank) == 0) return;
  for (const bool result : {false, true}) static_cast<void>(reach_bytes(side_of(view, result), sizeof(uint64_t)));
  check_distinct(side_of(view, true));
}

ByteRange range_of(const ScanParams& c, bool result) {
  const char* const argument = result ? "result" : "x";
  const void* const p = result ? c.result : c.x;
  const int64_t bytes = element_bytes(result ? c.result_type : c.dtype);
  if (c.view.rank > 0) return range_of_view(argument, p, side_of(c.view, result), bytes);
  return {argument, p, checked_mul(c.n, bytes, result ? "bytes of result" : "bytes of x")};
}
ByteRange x_of(const ScanParams& c) { return range_of(c, false); }
ByteRange result_of(const ScanParams& c) { return range_of(c, true); }

// In place, each element is read before its result is written.
bool is_in_place(const ScanParams& c) noexcept {
  const ScanView& view = c.view;
  return c.x == c.result && element_bytes(c.dtype) == element_bytes(c.result_type) &&
         same_places(view.rank, view.extents, view.x_strides, view.result_strides);
}

// The scanned axis first, then the fewest other axes. A single line without gaps becomes a sequence.
ScanView fused(const ScanView& view) noexcept {
  ScanView found;
  const auto add = [&found](const ScanView& of, int32_t d) {
    found.extents[found.rank] = of.extents[d];
    found.x_strides[found.rank] = of.x_strides[d];
    found.result_strides[found.rank++] = of.result_strides[d];
  };
  ScanView others = view;
  others.extents[view.axis] = 1;
  fuse_views(others.rank, others.extents, others.result_strides, std::span(&others.x_strides, 1));
  add(view, view.axis);
  for (int32_t d = 0; d < others.rank; ++d) {
    if (others.extents[d] > 1) add(others, d);
  }
  const bool apart = found.extents[0] > 1 && (found.x_strides[0] != 1 || found.result_strides[0] != 1);
  return found.rank > 1 || apart ? found : ScanView{};
}

ScanParams with_view(const ScanAxisCall& given) noexcept {
  ScanParams call = given.scan;
  if (given.rank < 1 || given.rank > kMaxScanRank || given.extents == nullptr) return call;
  ScanView& view = call.view;
  view.rank = given.rank;
  view.axis = given.axis;
  std::copy_n(given.extents, view.rank, view.extents);
  read_strides(given.x_strides, view.extents, view.rank, view.x_strides);
  read_strides(given.result_strides, view.extents, view.rank, view.result_strides);
  call.n = product_of(view.extents, view.rank);
  return call;
}

Placement place_scan(bool on_cuda, const Operand& x, const Operand& result, Completion completion) {
  const bool across = on_cuda && x.on_host() != result.on_host();
  if (across && completion == Completion::asynchronous) fail_on_two_sides("x", x, "result", result);
  Placement placement = place_beside_output(on_cuda, result, across);
  placement.uses(x);
  placement.host_side = x.host_side();
  return placement;
}

// The work runs at result, so offsets may have to be brought there.
void place_offsets(Planner& planner, const ScanParams& c, Completion completion, Placement& placement) {
  require_aligned("offsets", c.offsets, sizeof(int64_t));
  const ByteRange range = range_of_offsets(c.offsets, c.segments);
  const Operand offsets = planner.look_up_index(range);
  require_disjoint(result_of(c), range);
  place_index(placement, planner.on_cuda(), "offsets", offsets, "result", completion);
}

void require_results(Context& context, const ScanParams& c, gpumem_status found) {
  if (c.offsets != nullptr) {
    require_offsets(context, found, range_of_offsets(c.offsets, c.segments), c.n,
                    "no results are written for segments with bad offsets");
  }
  if (found == GPUMEM_OK) return;
  fail(GPUMEM_OVERFLOW, "a value of the scan does not fit %s; those from the first such value%s on are undefined",
       traits_of(c.result_type).name, c.has_lines() ? " of a line" : "");
}

void run(Context& context, Plan<ScanFamily>& planned, const ScanParams& call) {
  const ExecutionSpace space = planned.placement.space;
  require_not_capturing(context, context.own_stream(), kThisScan);
  std::optional<Workspace> staged;
  std::optional<Workspace> index;
  const ByteRange x = x_of(call);
  if (planned.placement.stage_src) {
    stage(context, staged, space, x.p, x.bytes, planned.placement.host_side);
    planned.params.x = staged->get();
  }
  if (planned.placement.stage_index) {
    const ByteRange offsets = range_of_offsets(call.offsets, call.segments);
    stage(context, index, space, offsets.p, offsets.bytes, planned.placement.index_side);
    planned.params.offsets = static_cast<const int64_t*>(index->get());
  }
  std::optional<BlockingResult> status;
  if (can_overflow(planned.params) || call.offsets != nullptr) {
    planned.params.status = static_cast<gpumem_status*>(status.emplace(context, space).get());
  }
  launch_placed(context, planned, context.own_stream(), Completion::blocking, kThisScan);
  if (status) require_results(context, call, status->value<gpumem_status>());
}

void enqueue(Context& context, Plan<ScanFamily>& planned, const ScanParams& call, NativeStream stream) {
  Output outputs[] = {status_of(call.status)};
  ByteRange operands[3] = {};
  if (!planned.empty) {
    operands[0] = x_of(call);
    operands[1] = result_of(call);
    if (call.offsets != nullptr) operands[2] = range_of_offsets(call.offsets, call.segments);
  }
  const size_t count = planned.empty ? 0 : call.offsets != nullptr ? 3 : 2;
  check_outputs(context, outputs, std::span(operands, count), Completion::asynchronous);
  if (planned.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  launch_with_status(context, planned, outputs[0], stream, kThisScan, "a scan of host memory");
}

}  // namespace

Plan<ScanFamily> plan(Planner& planner, const ScanParams& c, Completion completion) {
  check_view(c);
  check(c);
  Plan<ScanFamily> plan;
  plan.empty = c.n == 0 || (c.offsets != nullptr && c.segments == 0);
  if (plan.empty) return plan;
  const ByteRange x = x_of(c);
  const ByteRange result = result_of(c);
  const Operand x_lies = planner.look_up_here(x, Access::read);
  const Operand result_lies = planner.look_up_here(result, Access::write);
  const bool in_place = is_in_place(c);
  if (!in_place) require_disjoint(result, x);
  plan.placement = place_scan(planner.on_cuda(), x_lies, result_lies, completion);
  // Padding and results of elements in no segment have to keep their contents.
  const bool whole = c.offsets == nullptr && result.bytes == c.n * element_bytes(c.result_type);
  if (!in_place && whole) plan.placement.overwrites(c.result);
  if (c.offsets != nullptr) place_offsets(planner, c, completion, plan.placement);
  plan.params = c;
  if (c.view.rank > 0) plan.params.view = fused(c.view);
  if (plan.placement.stage_src) plan.params.x = placeholder();
  plan.selection = decide<ScanFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void scan(Context& context, const ScanParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<ScanFamily> planned = plan(planner, call, completion);
  if (completion == Completion::asynchronous) return enqueue(context, planned, call, stream);
  if (!planned.empty) run(context, planned, call);
}

void scan_axis(Context& context, const ScanAxisCall& given, NativeStream stream, Completion completion) {
  const ScanParams call = with_view(given);
  if (call.view.rank > 0) return scan(context, call, stream, completion);
  note_call(call, completion);
  if (given.rank < 1 || given.rank > kMaxScanRank) {
    fail(GPUMEM_INVALID_ARGUMENT, "ndim is %d; expected 1 to %d", given.rank, kMaxScanRank);
  }
  gpumem::check_extents(given.rank, given.extents, kMaxScanRank);  // always fails
}

void scan_segments(Context& context, const ScanParams& call, NativeStream stream, Completion completion) {
  if (call.offsets != nullptr && call.segments != 0) return scan(context, call, stream, completion);
  require_at_least("segments", call.segments, 0);
  if (call.n > 0 && call.segments > 0) fail(GPUMEM_INVALID_ARGUMENT, "offsets is NULL; expected segments + 1 numbers");
  ScanParams none = call;
  none.n = std::min<int64_t>(none.n, 0);
  none.offsets = nullptr;
  scan(context, none, stream, completion);
}

}  // namespace gpumem
