#include "ops/explain.hpp"

#include "base/error.hpp"
#include "base/names.hpp"
#include "ops/report.hpp"

namespace gpumem {
namespace {

std::string counted(int64_t n, gpumem_dtype dtype) { return std::to_string(n).append(" ").append(dtype_name(dtype)); }

Report explain_reduce(Context& context, const gpumem_problem& p) {
  const ReduceParams call{.dtype = p.dtype,
                          .op = p.op,
                          .x = p.src,
                          .n = p.n,
                          .stride = p.src_stride,
                          .y = p.src2,
                          .y_stride = p.src2_stride};
  const auto planned = plan(context, call, Until::complete);
  std::string words = std::string(op_name(p.op)) + " of " + counted(p.n, p.dtype);
  if (p.op == GPUMEM_DOT) {
    words += ", strides " + std::to_string(p.src_stride) + " and " + std::to_string(p.src2_stride);
  } else {
    words += ", stride " + std::to_string(p.src_stride);
  }
  return report_of(context, planned, std::move(words));
}

Report explain_reduce_axis(Context& context, const gpumem_problem& p) {
  const ReduceAxisParams call{.dtype = p.dtype,
                              .op = p.op,
                              .axis = p.axis,
                              .x = p.src,
                              .rows = p.rows,
                              .cols = p.cols,
                              .ld = p.src_stride,
                              .batches = p.batches,
                              .batch_stride = p.batch_stride};
  const auto planned = plan(context, call);
  return report_of(context, planned,
                   std::string(op_name(p.op)) +
                       (p.axis == GPUMEM_AXIS_ROWS ? " of each row of " : " of each column of ") +
                       std::to_string(p.batches) + " x " + std::to_string(p.rows) + " x " + counted(p.cols, p.dtype) +
                       ", leading dimension " + std::to_string(p.src_stride));
}

Report explain_reduce_segments(Context& context, const gpumem_problem& p) {
  const ReduceSegmentsParams call{
      .dtype = p.dtype, .op = p.op, .x = p.src, .n = p.n, .offsets = p.offsets, .segments = p.rows};
  const auto planned = plan(context, call, Until::complete);
  return report_of(
      context, planned,
      std::string(op_name(p.op)) + " of each of " + std::to_string(p.rows) + " segments of " + counted(p.n, p.dtype));
}

Report explain_transpose(Context& context, const gpumem_problem& p) {
  const TransposeParams call{.element_bytes = p.element_bytes,
                             .rows = p.rows,
                             .cols = p.cols,
                             .src = p.src,
                             .src_ld = p.src_stride,
                             .dst = p.dst,
                             .dst_ld = p.dst_stride,
                             .batches = p.batches,
                             .src_batch_stride = p.batch_stride,
                             .dst_batch_stride = p.dst_batch_stride};
  const auto planned = plan(context, call, Until::complete);
  std::string words = p.batches == 1 ? "" : std::to_string(p.batches) + " x ";
  words += std::to_string(p.rows) + " x " + std::to_string(p.cols) + " elements of " + std::to_string(p.element_bytes) +
           " bytes, leading dimensions " + std::to_string(p.src_stride) + " and " + std::to_string(p.dst_stride);
  if (planned.params.in_place()) words += ", in place";
  return report_of(context, planned, std::move(words));
}

Report explain_fill(Context& context, const gpumem_problem& p) {
  FillParams call{.dst = p.dst, .pattern = p.src, .pattern_bytes = p.element_bytes, .count = p.n};
  std::string words = std::to_string(p.n) + " patterns of " + std::to_string(p.element_bytes) + " bytes";
  if (p.rows != 0) {
    call.rank = 2;
    call.rows = p.rows;
    call.pitch = p.dst_stride;
    words += ", " + std::to_string(p.rows) + " rows of them, pitch " + std::to_string(p.dst_stride);
  }
  return report_of(context, plan(context, call), std::move(words));
}

Report explain_copy(Context& context, const gpumem_problem& p) {
  CopyParams call{.dst = static_cast<char*>(p.dst), .src = static_cast<const char*>(p.src), .row_bytes = p.n};
  std::string words = std::to_string(p.n) + " bytes";
  if (p.rows != 0) {
    call.rank = p.batches == 1 ? 2 : 3;
    call.rows = p.rows;
    call.slices = p.batches;
    call.src_pitch = p.src_stride;
    call.src_slice = p.batch_stride;
    call.dst_pitch = p.dst_stride;
    call.dst_slice = p.dst_batch_stride;
    words += ", " + std::to_string(p.rows) + " rows of them, pitches " + std::to_string(p.src_stride) + " and " +
             std::to_string(p.dst_stride);
  }
  if (call.slices != 1) {
    words += ", " + std::to_string(p.batches) + " slices, " + std::to_string(p.batch_stride) + " and " +
             std::to_string(p.dst_batch_stride) + " bytes apart";
  }
  const CopyPlan planned = plan(context, call);
  Report report = report_of(context, planned, std::move(words));
  if (!planned.placement.by_driver) return report;
  for (PassedOver& row : report.passed_over)
    row.reason = "the driver alone copies between host and device, and devices";
  return report;
}

// A problem has no factors, and a plan depends only on which of them are 0: any other number, as 1 in bits, will do.
Report explain_axpby(Context& context, const gpumem_problem& p) {
  const AxpbyParams call{.dtype = p.dtype,
                         .alpha = p.src != nullptr,
                         .x = p.src,
                         .beta = p.src2 != nullptr,
                         .y = p.src2,
                         .z = p.dst,
                         .n = p.n};
  const auto planned = plan(context, call, Until::complete);
  const char* reads = p.src != nullptr ? (p.src2 != nullptr ? "x and y" : "x") : p.src2 != nullptr ? "y" : "nothing";
  return report_of(context, planned, counted(p.n, p.dtype) + " from " + reads);
}

GatherScatterParams rows_of(const gpumem_problem& p) noexcept {
  return {.row_bytes = p.element_bytes,
          .src = p.src,
          .src_rows = p.n,
          .src_pitch = p.src_stride,
          .index_type = p.dtype,
          .index = p.src2,
          .n = p.n,
          .dst = p.dst,
          .dst_rows = p.n,
          .dst_pitch = p.dst_stride};
}

std::string words_of(const GatherScatterParams& c, const char* of) {
  return std::to_string(c.n) + " rows of " + std::to_string(c.row_bytes) + " bytes by " + dtype_name(c.index_type) +
         of + ", pitches " + std::to_string(c.src_pitch) + " and " + std::to_string(c.dst_pitch);
}

Report explain_gather(Context& context, const gpumem_problem& p) {
  GatherScatterParams call = rows_of(p);
  call.src_rows = p.rows;
  const auto planned = plan_gather(context, call, Until::complete);
  return report_of(context, planned, words_of(call, (" from " + std::to_string(p.rows)).c_str()));
}

Report explain_scatter(Context& context, const gpumem_problem& p) {
  GatherScatterParams call = rows_of(p);
  call.dst_rows = p.dst_rows;
  const auto planned = plan_scatter(context, call, Until::complete);
  return report_of(context, planned, words_of(call, (" to " + std::to_string(p.dst_rows)).c_str()));
}

// count values, each behind a separator but the first.
template <class T>
std::string listed(const T* values, int32_t count, const char* separator) {
  std::string out;
  for (int32_t i = 0; i < count; ++i) out.append(i == 0 ? "" : separator).append(std::to_string(values[i]));
  return out;
}

std::string permute_words(const PermuteParams& c, const PermuteAxes& fused) {
  std::string words = c.rank == 0 ? "one element of " : listed(c.extents, c.rank, " x ") + " elements of ";
  words += std::to_string(c.element_bytes) + " bytes";
  if (c.rank > 0) words += ", order " + listed(c.order, c.rank, " ");
  if (c.rank > 0 && c.src_strides != nullptr) words += ", strides of src " + listed(c.src_strides, c.rank, " ");
  if (c.rank > 0 && c.dst_strides != nullptr) words += ", strides of dst " + listed(c.dst_strides, c.rank, " ");
  if (fused.rank == 0) return words;  // nothing to do
  return words + "; fused, the fastest axis of dst first: " + listed(fused.extent, fused.rank, " x ") +
         " elements of " + std::to_string(fused.element_bytes) + " bytes";
}

Report explain_permute(Context& context, const gpumem_problem& p) {
  const PermuteParams call{.element_bytes = p.element_bytes,
                           .rank = p.rank,
                           .extents = p.extents,
                           .order = p.order,
                           .src = p.src,
                           .src_strides = p.src_strides,
                           .dst = p.dst,
                           .dst_strides = p.dst_strides};
  const auto planned = plan(context, call, Until::complete);
  return report_of(context, planned, permute_words(call, planned.params.axes));
}

Report explain_resize(Context& context, const gpumem_problem& p) {
  const ResizeParams call{.filter = p.filter,
                          .dtype = p.dtype,
                          .channels = p.channels,
                          .src = p.src,
                          .src_rows = p.rows,
                          .src_cols = p.cols,
                          .src_pitch = p.src_stride,
                          .dst = p.dst,
                          .dst_rows = p.dst_rows,
                          .dst_cols = p.dst_cols,
                          .dst_pitch = p.dst_stride};
  const auto planned = plan(context, call, Until::complete);
  const std::string words = p.filter == GPUMEM_FILTER_NEAREST ? "nearest" : "bilinear";
  return report_of(context, planned,
                   words + " of " + std::to_string(p.rows) + " x " + std::to_string(p.cols) + " to " +
                       std::to_string(p.dst_rows) + " x " + std::to_string(p.dst_cols) + " pixels of " +
                       counted(p.channels, p.dtype) + ", pitches " + std::to_string(p.src_stride) + " and " +
                       std::to_string(p.dst_stride) + " bytes");
}

// By family_index().
constexpr Report (*kExplain[kFamilies])(Context&, const gpumem_problem&) = {
    explain_reduce, explain_transpose, explain_fill,    explain_reduce_axis, explain_reduce_segments, explain_copy,
    explain_axpby,  explain_gather,    explain_scatter, explain_permute,     explain_resize,
};

}  // namespace

std::string explain(Context& context, const gpumem_problem& problem, gpumem_format format) {
  if (format != GPUMEM_FORMAT_TEXT && format != GPUMEM_FORMAT_JSON) {
    fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (0) or GPUMEM_FORMAT_JSON (1)", format);
  }
  static_cast<void>(family_names(problem.family));  // refuses what is no family
  const Report report = kExplain[family_index(problem.family)](context, problem);
  return format == GPUMEM_FORMAT_JSON ? as_json(report) : as_text(report);
}

}  // namespace gpumem
