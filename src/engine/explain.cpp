#include "engine/explain.hpp"

#include "engine/error.hpp"
#include "engine/names.hpp"
#include "engine/report.hpp"

namespace gpumem {
namespace {

std::string counted(int64_t n, gpumem_dtype dtype) { return std::to_string(n).append(" ").append(dtype_name(dtype)); }

Report explain_reduce(Context& context, const gpumem_problem& p) {
  const ReduceCall call{p.dtype, p.op, p.src, p.n, p.src_stride, p.src2, p.src2_stride};
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
  const ReduceAxisCall call{p.dtype, p.op, p.axis, p.src, p.rows, p.cols, p.src_stride, p.batches, p.batch_stride};
  const auto planned = plan(context, call);
  return report_of(context, planned,
                   std::string(op_name(p.op)) +
                       (p.axis == GPUMEM_AXIS_ROWS ? " of each row of " : " of each column of ") +
                       std::to_string(p.batches) + " x " + std::to_string(p.rows) + " x " + counted(p.cols, p.dtype) +
                       ", leading dimension " + std::to_string(p.src_stride));
}

Report explain_reduce_segments(Context& context, const gpumem_problem& p) {
  const auto planned = plan(context, ReduceSegmentsCall{p.dtype, p.op, p.src, p.n, p.offsets, p.rows}, Until::complete);
  return report_of(
      context, planned,
      std::string(op_name(p.op)) + " of each of " + std::to_string(p.rows) + " segments of " + counted(p.n, p.dtype));
}

Report explain_transpose(Context& context, const gpumem_problem& p) {
  const auto planned =
      plan(context, TransposeCall{p.element_bytes, p.rows, p.cols, p.src, p.src_stride, p.dst, p.dst_stride});
  return report_of(context, planned,
                   std::to_string(p.rows) + " x " + std::to_string(p.cols) + " elements of " +
                       std::to_string(p.element_bytes) + " bytes, leading dimensions " + std::to_string(p.src_stride) +
                       " and " + std::to_string(p.dst_stride));
}

Report explain_fill(Context& context, const gpumem_problem& p) {
  FillCall call{p.dst, p.element_bytes, p.n};
  std::string words = std::to_string(p.n) + " patterns of " + std::to_string(p.element_bytes) + " bytes";
  if (p.rows != 0) {
    call.has_rows = true;
    call.rows = p.rows;
    call.pitch_bytes = p.dst_stride;
    words += ", " + std::to_string(p.rows) + " rows of them, pitch " + std::to_string(p.dst_stride);
  }
  return report_of(context, plan(context, call, p.src), std::move(words));
}

Report explain_copy(Context& context, const gpumem_problem& p) {
  CopyCall call{p.dst, {}, p.src, {}, p.n};
  std::string words = std::to_string(p.n) + " bytes";
  if (p.rows != 0) {
    call.rank = p.batches == 1 ? 2 : 3;
    call.rows = p.rows;
    call.slices = p.batches;
    call.src_side = {p.src_stride, p.batch_stride};
    call.dst_side = {p.dst_stride, p.dst_batch_stride};
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

// By family_index().
constexpr Report (*kExplain[kFamilies])(Context&, const gpumem_problem&) = {
    explain_reduce, explain_transpose, explain_fill, explain_reduce_axis, explain_reduce_segments, explain_copy,
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
