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
  const TransposeCall call{p.element_bytes, p.rows,       p.cols,    p.src,          p.src_stride,
                           p.dst,           p.dst_stride, p.batches, p.batch_stride, p.dst_batch_stride};
  const auto planned = plan(context, call, Until::complete);
  std::string words = p.batches == 1 ? "" : std::to_string(p.batches) + " x ";
  words += std::to_string(p.rows) + " x " + std::to_string(p.cols) + " elements of " + std::to_string(p.element_bytes) +
           " bytes, leading dimensions " + std::to_string(p.src_stride) + " and " + std::to_string(p.dst_stride);
  if (planned.problem.in_place) words += ", in place";
  return report_of(context, planned, std::move(words));
}

Report explain_fill(Context& context, const gpumem_problem& p) {
  const auto planned = plan(context, FillCall{p.dst, p.element_bytes, p.n}, p.src);
  return report_of(context, planned,
                   std::to_string(p.n) + " patterns of " + std::to_string(p.element_bytes) + " bytes");
}

// By family_index().
constexpr Report (*kExplain[kFamilies])(Context&, const gpumem_problem&) = {
    explain_reduce, explain_transpose, explain_fill, explain_reduce_axis, explain_reduce_segments,
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
