#include <optional>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

void check_pixel(const ResizeParams& c) {
  if (c.filter != GPUMEM_FILTER_NEAREST && c.filter != GPUMEM_FILTER_BILINEAR) {
    fail(GPUMEM_INVALID_ARGUMENT, "filter is %d; expected GPUMEM_FILTER_NEAREST (%d) or GPUMEM_FILTER_BILINEAR (%d)",
         c.filter, GPUMEM_FILTER_NEAREST, GPUMEM_FILTER_BILINEAR);
  }
  if (!is_dtype(c.dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected GPUMEM_U8 (%d), GPUMEM_U16 (%d) or GPUMEM_F32 (%d)", c.dtype,
         GPUMEM_U8, GPUMEM_U16, GPUMEM_F32);
  }
  if (c.dtype != GPUMEM_U8 && c.dtype != GPUMEM_U16 && c.dtype != GPUMEM_F32) {
    fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected GPUMEM_U8 (%d), GPUMEM_U16 (%d) or GPUMEM_F32 (%d)", c.dtype,
         dtype_name(c.dtype), GPUMEM_U8, GPUMEM_U16, GPUMEM_F32);
  }
  if (c.channels < 1 || c.channels > 4) {
    fail(GPUMEM_INVALID_ARGUMENT, "channels is %d; expected 1 to 4", c.channels);
  }
}

struct Side {
  const char* rows;
  const char* cols;
  const char* pitch;
  const char* bytes;
};
constexpr Side kSrc = {"src_rows", "src_cols", "src_pitch_bytes", "bytes of src"};
constexpr Side kDst = {"dst_rows", "dst_cols", "dst_pitch_bytes", "bytes of dst"};

void check_extents(const Side& side, int64_t rows, int64_t cols, int64_t pitch, int64_t pixel) {
  require_at_least(side.rows, rows, 0);
  require_at_least(side.cols, cols, 0);
  const int64_t row_bytes = checked_mul(cols, pixel, side.cols);
  if (pitch < row_bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least the %lld bytes of a row", side.pitch, ll(pitch),
         ll(row_bytes));
  }
}

void require_pixel(const char* argument, int64_t extent) {
  if (extent == 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is 0; expected 1 or more, since dst has a pixel", argument);
  }
}

int64_t gap_in(int64_t rows, int64_t cols, int64_t pitch, int64_t pixel) noexcept {
  return gap_of(cols * pixel, {{rows, pitch}}, 1);
}

// The pitch of a single row is never used. It becomes the tight one, so that it does not affect the choice of variant.
ResizeParams normal(ResizeParams c) noexcept {
  if (c.src_rows == 1) c.src_pitch = c.src_cols * c.pixel_bytes();
  if (c.dst_rows == 1) c.dst_pitch = c.dst_cols * c.pixel_bytes();
  return c;
}

}  // namespace

Plan<ResizeFamily> plan(Planner& planner, const ResizeParams& given, Completion completion) {
  check_pixel(given);
  const int64_t pixel = given.pixel_bytes();
  check_extents(kSrc, given.src_rows, given.src_cols, given.src_pitch, pixel);
  check_extents(kDst, given.dst_rows, given.dst_cols, given.dst_pitch, pixel);
  Plan<ResizeFamily> plan;
  plan.empty = given.dst_rows == 0 || given.dst_cols == 0;
  if (plan.empty) return plan;
  require_pixel(kSrc.rows, given.src_rows);
  require_pixel(kSrc.cols, given.src_cols);
  ResizeParams& c = plan.params = normal(given);
  const int64_t src_bytes = checked_extent(c.src_rows, c.src_pitch, c.src_cols * pixel, kSrc.bytes);
  const int64_t dst_bytes = checked_extent(c.dst_rows, c.dst_pitch, c.dst_cols * pixel, kDst.bytes);
  const ByteRange src{"src", c.src, src_bytes, gap_in(c.src_rows, c.src_cols, c.src_pitch, pixel)};
  const ByteRange dst{"dst", c.dst, dst_bytes, gap_in(c.dst_rows, c.dst_cols, c.dst_pitch, pixel)};
  const Operand src_lies = planner.look_up_here(src, Access::read);
  const Operand dst_lies = planner.look_up_here(dst, Access::write);
  require_disjoint(dst, src);
  plan.placement = place(planner.on_cuda(), src_lies, dst_lies, completion);
  if (plan.placement.stage_src) {  // the staged copy is tight and starts an allocation
    c.src = placeholder();
    c.src_pitch = c.src_cols * pixel;
  }
  plan.selection = decide<ResizeFamily>(planner, plan.placement.space, c);
  return plan;
}

void resize(Context& context, const ResizeParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  Plan<ResizeFamily> planned = plan(planner, given, completion);
  if (planned.empty) return;
  std::optional<Workspace> staged;
  if (planned.placement.stage_src) {
    require_not_capturing(context, stream, "this resize");
    ResizeParams& params = planned.params;
    stage_rows(context, staged, planned.placement.space, given.src, given.src_pitch, params.src_pitch, params.src_rows,
               planned.placement.host_side);
    params.src = staged->get();
  }
  launch_placed(context, planned, stream, completion, "this resize");
}

}  // namespace gpumem
