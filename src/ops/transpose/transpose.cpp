// Plans every transpose, and runs those that stage no operand.
#include "ops/transpose/transpose.hpp"

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"

namespace gpumem {
namespace {

int64_t extent_bytes(int64_t matrix, const TransposeParams& c, int64_t batch_stride, const char* what) {
  return checked_mul(checked_extent(c.batches, batch_stride, matrix, what), c.element_bytes, what);
}

Spacing spacing_in(const TransposeParams& c, int64_t rows, int64_t cols, int64_t ld, int64_t batch_stride) noexcept {
  return spacing_of(cols, {{rows, ld}, {c.batches, batch_stride}}, c.element_bytes);
}

void check(const TransposeParams& c) {
  require_element_size("element_bytes", c.element_bytes);
  require_at_least("rows", c.rows, 0);
  require_at_least("cols", c.cols, 0);
  require_at_least("src_ld", c.src_ld, "cols", c.cols);
  require_at_least("dst_ld", c.dst_ld, "rows", c.rows);
  require_at_least("batches", c.batches, 0);
  require_at_least("src_batch_stride", c.src_batch_stride, 0);
  require_at_least("dst_batch_stride", c.dst_batch_stride, 0);
}

// Unused distances become tight: the leading dimension of a single row, and the stride of a single matrix. So every
// product of a distance and the element size stays inside an extent that was checked.
TransposeParams normal(TransposeParams c) noexcept {
  if (c.rows <= 1) c.src_ld = c.cols;
  if (c.cols <= 1) c.dst_ld = c.rows;
  if (c.batches <= 1) c.src_batch_stride = c.dst_batch_stride = 0;
  return c;
}

// In place, a square matrix may have any leading dimension. Other matrices have no padding.
void require_in_place_fits(const TransposeParams& c) {
  if (c.src_batch_stride != c.dst_batch_stride) {
    fail(GPUMEM_UNSUPPORTED, "dst is src, src_batch_stride is %lld and dst_batch_stride is %lld; expected equal ones",
         ll(c.src_batch_stride), ll(c.dst_batch_stride));
  }
  if (c.rows == c.cols && c.src_ld != c.dst_ld) {
    fail(GPUMEM_UNSUPPORTED, "dst is src, src_ld is %lld and dst_ld is %lld; expected equal ones", ll(c.src_ld),
         ll(c.dst_ld));
  }
  if (c.rows != c.cols && (c.src_ld != c.cols || c.dst_ld != c.rows)) {
    fail(GPUMEM_UNSUPPORTED,
         "dst is src, src_ld is %lld and dst_ld is %lld; expected cols = %lld and rows = %lld: a matrix that is not "
         "square is transposed in place only without padding",
         ll(c.src_ld), ll(c.dst_ld), ll(c.cols), ll(c.rows));
  }
}

// Also decides for the smaller pieces at the ends, so an overridden variant that does not fit fails before any write.
void decide_ends(Planner& planner, const Placement& placement, const TransposeParams& c) {
  const TransposePiece largest = transpose_piece(c, placement);
  for (const int64_t batches : {largest.batches, c.batches % largest.batches}) {
    for (const int64_t rows : {largest.rows, c.rows % largest.rows}) {
      for (const int64_t cols : {largest.cols, c.cols % largest.cols}) {
        if (batches == 0 || rows == 0 || cols == 0) continue;
        decide<TransposeFamily>(planner, placement.space, params_of_piece(c, {batches, rows, cols}, placement));
      }
    }
  }
}

}  // namespace

TransposePlan plan(Planner& planner, const TransposeParams& given, Completion completion) {
  check(given);
  TransposePlan plan;
  plan.params = normal(given);
  const TransposeParams& c = plan.params;
  plan.empty = c.rows == 0 || c.cols == 0 || c.batches == 0;
  if (plan.empty) return plan;
  const int64_t dst_matrix = checked_extent(c.cols, c.dst_ld, c.rows, "elements of dst");
  if (c.batches > 1) require_at_least("dst_batch_stride", c.dst_batch_stride, "(cols - 1) x dst_ld + rows", dst_matrix);
  const int64_t src_matrix = checked_extent(c.rows, c.src_ld, c.cols, "elements of src");
  const int64_t src_bytes = extent_bytes(src_matrix, c, c.src_batch_stride, "bytes of src");
  const int64_t dst_bytes = extent_bytes(dst_matrix, c, c.dst_batch_stride, "bytes of dst");
  const ByteRange src_range{"src", c.src, src_bytes, spacing_in(c, c.rows, c.cols, c.src_ld, c.src_batch_stride)};
  const ByteRange dst_range{"dst", c.dst, dst_bytes, spacing_in(c, c.cols, c.rows, c.dst_ld, c.dst_batch_stride)};
  const Operand src = planner.look_up_here(src_range, Access::read);
  const Operand dst = planner.look_up_here(dst_range, Access::write);
  if (c.in_place()) {
    require_in_place_fits(c);
    plan.empty = c.rows == 1 || c.cols == 1;  // without padding, a row and a column have the same bytes
    if (plan.empty) return plan;
  } else {
    require_disjoint(dst_range, src_range);
  }
  plan.placement = place_across(planner.on_cuda(), src, dst);
  if (crosses(plan.placement)) {
    if (completion == Completion::asynchronous) fail_on_two_sides("src", src, "dst", dst);
    plan.whole = plan.params;
    decide_ends(planner, plan.placement, plan.whole);
    plan.params = params_of_piece(plan.whole, transpose_piece(plan.whole, plan.placement), plan.placement);
  }
  plan.selection = decide<TransposeFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void transpose(Context& context, const TransposeParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  const TransposePlan planned = plan(planner, given, completion);
  if (planned.empty) return;
  if (crosses(planned.placement)) {
    require_not_capturing(context, context.own_stream(), "gpumem_transpose");
    return transpose_across(context, planned);
  }
  launch_placed(context, planned, stream, completion, "this transpose");
}

}  // namespace gpumem
