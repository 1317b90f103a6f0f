// Reductions of some axes of a view. They become lines: rows or columns of matrices in x, lines along several axes of x,
// or rows of a copy whose reduced axes come last.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/order.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "kernels/values.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/permute/permute_fuse.hpp"
#include "ops/plan.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

struct ViewAxis {
  int64_t extent = 1;
  int64_t stride = 0;
};

// From the slowest to the fastest.
struct AxisList {
  int32_t rank = 0;
  ViewAxis axis[kMaxAxes];

  ViewAxis from_end(int32_t i) const noexcept { return i < rank ? axis[rank - 1 - i] : ViewAxis{}; }
};

struct SplitAxes {
  AxisList kept;
  AxisList reduced;
};

bool is_reduced(const ReduceAxesCall& call, int32_t d) noexcept { return (call.axes >> d & 1) != 0; }

// Of a view with elements. Axes that continue each other are one.
AxisList merged_axes(const ReduceAxesCall& call, bool reduced) noexcept {
  const ReduceView& view = call.reduction.view;
  int64_t extents[kMaxAxes];
  for (int32_t d = 0; d < view.rank; ++d) extents[d] = is_reduced(call, d) == reduced ? view.extents[d] : 1;
  const int64_t* const sides[] = {view.strides};
  const FusedAxes fused = fused_axes(view.rank, extents, sides, !reduced || !any_order(call.reduction));
  AxisList list;
  for (int32_t i = fused.rank - 1; i >= 0; --i) list.axis[list.rank++] = {fused.extent[i], view.strides[fused.axis[i]]};
  return list;
}
SplitAxes split_axes(const ReduceAxesCall& call) noexcept {
  return {.kept = merged_axes(call, false), .reduced = merged_axes(call, true)};
}

// The shape of the matrices whose rows or columns are the lines, if there are any.
std::optional<ReduceAxisParams> as_matrices(const SplitAxes& split) noexcept {
  if (split.kept.rank > 2 || split.reduced.rank > 1) return std::nullopt;
  const ViewAxis line = split.reduced.from_end(0);
  const ViewAxis inner = split.kept.from_end(0);
  const ViewAxis outer = split.kept.from_end(1);
  ReduceAxisParams p{.batches = outer.extent, .batch_stride = outer.stride};
  const bool columns = inner.extent == 1 ? line.stride != 1 : inner.stride == 1;
  if (columns && (line.extent == 1 || line.stride >= inner.extent)) {
    p.axis = GPUMEM_AXIS_COLS;
    p.rows = line.extent;
    p.cols = inner.extent;
    p.ld = line.extent == 1 ? inner.extent : line.stride;
    return p;
  }
  if (line.extent != 1 && line.stride != 1) return std::nullopt;
  p.rows = inner.extent;
  p.cols = line.extent;
  p.ld = inner.stride;
  if (p.rows > 1 && p.ld < p.cols) {  // rows that overlap
    if (p.batches > 1) return std::nullopt;
    p.batches = p.rows;
    p.batch_stride = p.ld;
    p.rows = 1;
  }
  if (p.rows == 1) p.ld = p.cols;
  return p;
}

// Shorter rows would be read by sectors of 32 bytes several times.
constexpr int64_t kShortestRowBytes = 32;

// Columns whose rows lie along two axes, of floating-point elements. A kernel adds them up where they are.
std::optional<ReduceAxisParams> as_columns_of_runs(const SplitAxes& split, const ReduceAxisParams& lines) noexcept {
  const int32_t bytes = element_bytes(lines.dtype);
  const ViewAxis run = split.reduced.from_end(0);
  const ViewAxis inner = split.kept.from_end(0);
  const ViewAxis outer = split.kept.from_end(1);
  if (!columns_in_runs(lines.dtype, lines.op)) return std::nullopt;
  if (split.kept.rank > 2 || split.reduced.rank != 2 || inner.stride != 1 || run.stride < inner.extent) {
    return std::nullopt;
  }
  if (inner.extent * bytes < kShortestRowBytes || lines.cols > kLongestRun || lines.rows > kMaxGrid ||
      !aligned(lines.x, bytes)) {
    return std::nullopt;
  }
  ReduceAxisParams p = lines;
  p.axis = GPUMEM_AXIS_COLS;
  p.rows = lines.cols;
  p.cols = inner.extent;
  p.ld = run.stride;
  p.batches = outer.extent;
  p.batch_stride = outer.stride;
  p.run_rows = run.extent;
  p.run_stride = split.reduced.from_end(1).stride;
  return p;
}

// A kernel reads lines where they are if they are long and contiguous along their last axis. It takes as long for small
// elements as for large ones, and longer for an incomplete last leaf, so a copy is faster for some. H200, all but the
// channels of 32 x 64 x 56 x 56: f64 21 µs, by a copy 45; f32 18 and 26; f16 17 and 16. Of 16 x 256 x 28 x 28: f64 16
// and 21; f32 18 and 12.
constexpr int64_t kShortestLine = 4096;
constexpr int64_t kShortestRun = 32;
constexpr int64_t kManyElements = int64_t{1} << 22;

bool is_readable(const SplitAxes& split, const ReduceAxisParams& lines) noexcept {
  const int32_t bytes = element_bytes(lines.dtype);
  const ViewAxis run = split.reduced.from_end(0);
  if (run.stride != 1 || run.extent < kShortestRun || lines.cols < kShortestLine) return false;
  if (split.kept.rank + split.reduced.rank > kMaxReduceRank || lines.rows > kMaxGrid) return false;
  if (!aligned(lines.x, bytes)) return false;
  return bytes == 8 || (bytes == 4 && (lines.cols % kLeafTerms == 0 || lines.elements() >= kManyElements));
}

// On the host: a part of the copy stays in the caches until its lines are reduced. Two threads, f32 365 x 180 x 361,
// all but the second axis: 22.3 ms as a whole, 6.4 in parts.
constexpr int64_t kPartBytes = int64_t{256} << 10;  // per thread

// The host reads lines that are longer than a part where they are: it copies 1,024 elements at a time, by runs of the
// last axis, and reduces them. EPYC, runs of 2 KiB, time divided by that of copies of whole lines: f32 with two
// threads, lines of 16 KiB 0.97, 256 KiB 0.87, 1 MiB 0.41; one thread 1.34, 1.02, 0.46. u8 1.15 to 1.40. Runs of 240
// bytes 2.8.
constexpr int64_t kShortestRunBytesOfHost = 2048;

bool is_readable_on_host(const SplitAxes& split, const ReduceAxisParams& lines) noexcept {
  const int32_t bytes = element_bytes(lines.dtype);
  const ViewAxis run = split.reduced.from_end(0);
  if (bytes == 1 || run.stride != 1 || run.extent * bytes < kShortestRunBytesOfHost) return false;
  return lines.cols * bytes > kPartBytes && split.kept.rank + split.reduced.rank <= kMaxReduceRank;
}

LineAxes line_axes(const SplitAxes& split) noexcept {
  LineAxes axes{.kept = split.kept.rank};
  for (const AxisList* list : {&split.kept, &split.reduced}) {
    for (int32_t i = 0; i < list->rank; ++i) {
      axes.extents[axes.rank] = list->axis[i].extent;
      axes.strides[axes.rank++] = list->axis[i].stride;
    }
  }
  return axes;
}

// Row-major, with the reduced axes last.
PermuteAxes packing_of(const SplitAxes& split, int64_t elements, int64_t bytes) noexcept {
  PermuteAxes axes{.element_bytes = bytes};
  for (const AxisList* list : {&split.kept, &split.reduced}) {
    for (int32_t i = 0; i < list->rank; ++i) {
      elements /= list->axis[i].extent;
      axes.add(list->axis[i].extent, list->axis[i].stride, elements);
    }
  }
  return axes;
}

// The work after all decisions that the planner makes.
struct AxesWork {
  ReduceAxisParams lines;  // of x, or of its copy
  Configured<ReduceAxisParams> reducing;
  bool packed = false;
  PermuteAxes packing;
  int64_t lines_of_step = 0;      // on the host: lines per step along the first axis of packing; 0: packed as a whole
  bool readable = false;          // on a GPU, lines.axes may be axes, and then x is not packed
  bool readable_on_host = false;  // the same on the host, if one task does all
  LineAxes axes;
  std::optional<ReduceAxisParams> columns;  // lines may be these, and then x is not packed
  gpumem_dtype result_type = GPUMEM_F64;
  bool rounded = false;  // in a launch of its own
  const void* x = nullptr;
};

template <class Family>
void launch_by_table(Backend& backend, NativeStream stream, const typename Family::Params& params,
                     Completion completion) {
  backend.launch(stream, Work<Family>{params, select<Family>(backend.props(), params, {}, {})}, completion);
}

std::shared_ptr<void> scratch_of(Context& context, Backend& backend, NativeStream stream, int64_t bytes,
                                 Completion completion) {
  if (completion == Completion::asynchronous || backend.props().backend == ExecutionSpace::host) {
    return backend.scratch(stream, static_cast<size_t>(bytes));
  }
  const auto own = std::make_shared<Workspace>(context, ExecutionSpace::cuda, bytes);
  return {own, own->get()};
}

void pack(Backend& backend, NativeStream stream, const PermuteAxes& axes, const void* x, void* copy,
          Completion completion) {
  PermuteParams packing{.src = x, .dst = copy};
  packing.axes = fuse(axes, misalignment(x), misalignment(copy));
  launch_by_table<PermuteFamily>(backend, stream, packing, completion);
}

int64_t steps_at_once(const AxesWork& work, Backend& host) noexcept {
  const int64_t of_step = work.lines_of_step * work.lines.cols * element_bytes(work.lines.dtype);
  return std::clamp<int64_t>(kPartBytes * host.props().multiprocessors / of_step, 1, work.packing.extent[0]);
}

gpumem_status reduce_parts(const AxesWork& work, Backend& host, NativeStream stream, const ReduceAxisParams& lines,
                           void* copy, int64_t steps) {
  const int64_t stride = work.packing.src_stride[0] * element_bytes(lines.dtype);
  const int64_t result_bytes = int64_t{8} * value_words(lines.op) * work.lines_of_step;
  PermuteAxes axes = work.packing;
  ReduceAxisParams part = lines;
  part.x = copy;
  part.status = nullptr;
  gpumem_status found = GPUMEM_OK;
  for (int64_t first = 0; first < work.packing.extent[0]; first += steps) {
    axes.extent[0] = std::min(steps, work.packing.extent[0] - first);
    pack(host, stream, axes, static_cast<const char*>(work.x) + first * stride, copy, Completion::blocking);
    part.rows = axes.extent[0] * work.lines_of_step;
    part.result = static_cast<char*>(lines.result) + first * result_bytes;
    const auto reducing = select<ReduceAxisFamily>(host.props(), part, {}, {});
    found = std::max(found, host.reduce_lines(stream, part, reducing, Completion::blocking));
  }
  if (lines.status != nullptr) *lines.status = found;
  return found;
}

gpumem_status run(Context& context, const AxesWork& work, Backend& backend, NativeStream stream,
                  Completion completion) {
  ReduceAxisParams lines = work.lines;
  if (lines.axes != nullptr) lines.axes = &work.axes;
  const int64_t values = lines.lines() * value_words(lines.op);
  const bool in_parts = work.lines_of_step > 0;
  const int64_t steps = in_parts ? steps_at_once(work, backend) : 0;
  std::shared_ptr<void> copy;
  std::shared_ptr<void> unrounded;
  if (work.packed) {
    const int64_t copied = in_parts ? steps * work.lines_of_step * lines.cols : lines.elements();
    lines.x = (copy = scratch_of(context, backend, stream, copied * element_bytes(lines.dtype), completion)).get();
  }
  if (work.rounded) {
    lines.result = (unrounded = scratch_of(context, backend, stream, 8 * values, completion)).get();
  }
  gpumem_status found = GPUMEM_OK;
  if (in_parts) {
    found = reduce_parts(work, backend, stream, lines, copy.get(), steps);
  } else {
    if (work.packed) pack(backend, stream, work.packing, work.x, copy.get(), Completion::asynchronous);
    found = backend.reduce_lines(stream, lines, work.reducing, completion);
  }
  if (work.rounded) {
    launch_by_table<ConvertFamily>(backend, stream,
                                   {.src_type = GPUMEM_F64,
                                    .src = unrounded.get(),
                                    .dst_type = work.result_type,
                                    .dst = work.lines.result,
                                    .n = values},
                                   completion);
  }
  return found;
}

void run_blocking(Context& context, AxesWork work, const Placement& placement, const Output& result) {
  std::optional<Workspace> room;
  make_room(context, room, placement.space, result);
  if (room) work.lines.result = room->get();
  const gpumem_status found = run_now(context, placement, [&](Backend& backend, NativeStream stream) {
    return run(context, work, backend, stream, Completion::blocking);
  });
  if (room) bring_back(context, *room, result);
  require_values(found, work.lines.dtype, work.lines.op, "lines");
}

void enqueue(Context& context, AxesWork work, const Placement& placement, std::span<const Output, 2> outputs,
             NativeStream stream) {
  if (!runs_beside(context, placement)) {
    prefetch_managed(context, placement, stream);
    run(context, work, context.running(placement.space), stream, Completion::asynchronous);
    return;
  }
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  work.lines.result = buffers.room_for(outputs[0]);
  work.lines.status = static_cast<gpumem_status*>(buffers.room_for(outputs[1]));
  const auto task = [&context, work](Backend& host, NativeStream now, Completion done) {
    run(context, work, host, now, done);
  };
  enqueue_on_host(context, stream, beside_task(context, "an enqueued reduction", task, work.lines.status),
                  std::move(buffers), false);
}

void check_result_type(const ReduceAxesCall& call) {
  const gpumem_dtype dtype = call.reduction.dtype;
  const gpumem_dtype own = wide_type(dtype);
  if (call.result_type == own || (is_floating(dtype) && call.result_type == dtype)) return;
  fail(GPUMEM_INVALID_ARGUMENT, "result_type is %d; expected %d (%s)%s", call.result_type, own, dtype_name(own),
       is_floating(dtype) && dtype != own ? ", or dtype" : "");
}

void check(const ReduceAxesCall& call) {
  check(call.view);
  require_general(call.reduction.op);
  require_lines(call.reduction.op);
  check(call.reduction);
  const int32_t rank = call.reduction.view.rank;
  if (static_cast<uint32_t>(call.axes) >> rank != 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "axes is 0x%x; expected bits below ndim = %d", static_cast<unsigned>(call.axes),
         rank);
  }
  check_result_type(call);
}

// The number of elements of the reduced axes, or of the others.
int64_t product_of_axes(const ReduceAxesCall& call, bool reduced) {
  const ReduceView& view = call.reduction.view;
  int64_t extents[kMaxReduceRank];
  int32_t rank = 0;
  for (int32_t d = 0; d < view.rank; ++d) {
    if (is_reduced(call, d) == reduced) extents[rank++] = view.extents[d];
  }
  return checked_product(extents, rank);
}

// Each empty value is 0 or 1.
uint64_t empty_word_of(const ReduceAxesCall& call) noexcept {
  const uint64_t word = empty_word(call.reduction.dtype, call.reduction.op);
  if (element_bytes(call.result_type) == 8 || word == 0) return word;
  const uint64_t infinity = infinity_bits(call.result_type);  // the exponent of 1 has all bits but the highest
  uint64_t ones = infinity & infinity >> 1;
  for (int bits = 8 * element_bytes(call.result_type); bits < 64; bits *= 2) ones |= ones << bits;
  return ones;
}

// Whether gpumem_reduce_view() gives the same: a result that is not rounded and that always fits.
bool is_whole_view(const ReduceAxesCall& call, int64_t results) noexcept {
  const ReduceParams& c = call.reduction;
  return results == 1 && element_bytes(call.result_type) == 8 && always_has_value(c.dtype, c.op, c.n);
}

AxesWork work_of(const ReduceAxesCall& call) {
  const ReduceParams& c = call.reduction;
  const SplitAxes split = split_axes(call);
  AxesWork work;
  work.x = c.x;
  work.result_type = call.result_type;
  work.rounded = element_bytes(call.result_type) < 8;
  if (const auto matrices = as_matrices(split)) {
    work.lines = *matrices;
  } else {
    const int64_t length = product_of_axes(call, true);
    work.lines = {.rows = c.n / length, .cols = length, .ld = length};
    work.packed = true;
    work.packing = packing_of(split, c.n, element_bytes(c.dtype));
    if (split.kept.rank > 0) work.lines_of_step = work.lines.rows / work.packing.extent[0];
    static_cast<void>(checked_mul(c.n, element_bytes(c.dtype), "bytes of a copy of x"));
  }
  work.lines.dtype = c.dtype;
  work.lines.op = c.op;
  work.lines.x = c.x;
  work.lines.result = c.result;
  work.lines.status = c.status;
  work.readable = work.packed && is_readable(split, work.lines);
  work.readable_on_host = work.packed && is_readable_on_host(split, work.lines);
  if (work.readable || work.readable_on_host) work.axes = line_axes(split);
  if (work.packed) work.columns = as_columns_of_runs(split, work.lines);
  return work;
}

// The record of the call describes the lines, with x in place of its copy.
Placement place_lines(CallPlanner& planner, AxesWork& work, const ByteRange& x, Completion completion) {
  const Placement placement = place(planner.on_cuda(), planner.look_up_here(x, Access::read));
  if (placement.space == ExecutionSpace::cuda && planner.forced(ReduceAxisFamily::id).row < 0) {
    work.packed = work.packed && !work.readable && !work.columns;
    if (work.readable) work.lines.axes = &work.axes;
    if (work.columns) work.lines = *work.columns;
  }
  if (placement.space == ExecutionSpace::cuda) std::swap(work.lines.rounded, work.rounded);
  const bool by_table = planner.forced(ReduceAxisFamily::id).row < 0 && planner.tuned().row < 0;
  const bool at_once = completion == Completion::blocking || planner.on_cuda();  // else the host's queue runs the steps
  const bool in_parts = placement.space == ExecutionSpace::host && by_table && at_once;
  if (in_parts && work.readable_on_host) {
    work.packed = false;
    work.lines.axes = &work.axes;
  }
  if (work.packed) work.lines.x = placeholder();
  if (!work.packed || !in_parts) work.lines_of_step = 0;
  work.reducing = decide<ReduceAxisFamily>(planner, placement.space, work.lines);
  return placement;
}

ByteRange range_of_x(const ReduceParams& c) {
  const StridedSide side{"x_strides", "bytes of x", c.view.rank, c.view.extents, c.view.strides};
  return range_of_view("x", c.x, side, element_bytes(c.dtype));
}

// Of lines, which have elements unless empty is true.
void reduce_lines(Context& context, const ReduceAxesCall& call, std::span<Output, 2> outputs, bool empty,
                  NativeStream stream, Completion completion) {
  AxesWork work;
  Placement placement;
  ByteRange x{};
  if (!empty) {
    x = range_of_x(call.reduction);
    work = work_of(call);
    CallPlanner planner(context, work.lines, completion);
    placement = place_lines(planner, work, x, completion);
  }
  check_outputs(context, outputs, std::span(&x, empty ? 0 : 1), completion);
  if (completion == Completion::blocking) require_not_capturing(context, stream, "gpumem_reduce_axes");
  if (empty) return write_empty_values(context, outputs, stream, completion);
  if (completion == Completion::asynchronous) return enqueue(context, work, placement, outputs, stream);
  run_blocking(context, work, placement, outputs[0]);
}

}  // namespace

void reduce_axes(Context& context, const ReduceAxesCall& given, NativeStream stream, Completion completion) {
  ReduceAxesCall call = given;
  const ReduceParams& c = call.reduction = with_view(given.reduction, given.view);
  note_call(c, completion);
  check(call);
  const int64_t results = product_of_axes(call, false);
  const bool empty = c.n == 0;
  if (empty && results != 0 && !has_empty_value(c.dtype, c.op)) {
    fail(GPUMEM_EMPTY, "the reduced axes have no elements; expected at least one for the %s of each result",
         op_name(c.op));
  }
  constexpr const char* kBytes = "bytes of result";
  const int64_t bytes =
      checked_mul(results, int64_t{8} * value_words(c.op), kBytes) / 8 * element_bytes(call.result_type);
  Output outputs[] = {{"result", c.result, bytes, element_bytes(call.result_type), false, empty_word_of(call)},
                      status_of(c.status)};
  if (empty || !is_whole_view(call, results)) {
    return reduce_lines(context, call, outputs, empty, stream, completion);
  }
  require_aligned("result", c.result, sizeof(uint64_t));
  reduce(context, c, stream, completion);
}

}  // namespace gpumem
