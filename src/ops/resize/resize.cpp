// Resizes of images: argument checks, and the plan of one image and of a batch.
#include "ops/resize/images.hpp"

#include <optional>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"
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

void check_extents(const ImageNames& side, int64_t rows, int64_t cols, int64_t pitch, int64_t pixel) {
  require_at_least(side.rows, rows, 0);
  require_at_least(side.cols, cols, 0);
  const int64_t row_bytes = checked_mul(cols, pixel, side.cols);
  if (pitch < row_bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least the %lld bytes of a row", side.pitch.text, ll(pitch),
         ll(row_bytes));
  }
}

void require_pixel(const char* argument, int64_t extent) {
  if (extent == 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is 0; expected 1 or more, since dst has a pixel", argument);
  }
}

// The pitch of a single row is never used. It becomes the tight one, so that it does not affect the choice of variant.
int64_t normal_pitch(int64_t rows, int64_t pitch, int64_t row_bytes) noexcept { return rows == 1 ? row_bytes : pitch; }

// Checks an image, and returns its bytes.
ByteRange src_range(const ImageNames& names, const ResizeImage& image, int64_t pixel) {
  require_pixel(names.rows, image.rows);
  require_pixel(names.cols, image.cols);
  const int64_t row = image.cols * pixel;
  return {names.image, image.src, checked_extent(image.rows, image.pitch, row, names.bytes),
          spacing_of(row, {{image.rows, image.pitch}}, 1)};
}

// Equal images, one after another.
ByteRange equal_images_range(const ImageNames& names, const ResizeParams& c, const ByteRange& first) {
  const int64_t step = checked_mul(c.src_rows, c.src_pitch, names.bytes);
  return {names.image, c.src, checked_extent(c.batches, step, first.bytes, names.bytes),
          spacing_of(c.src_cols * c.pixel_bytes(), {{c.src_rows, c.src_pitch}, {c.batches, step}}, 1)};
}

ByteRange dst_range(const ImageNames& names, const ResizeParams& c) {
  const int64_t row = c.dst_cols * c.pixel_bytes();
  const int64_t image = checked_extent(c.dst_rows, c.dst_pitch, row, names.bytes);
  if (c.batches > 1 && c.dst_image_stride < image) {
    fail(GPUMEM_INVALID_ARGUMENT, "dst_image_stride_bytes is %lld; expected at least the %lld bytes of an image",
         ll(c.dst_image_stride), ll(image));
  }
  return {names.image, c.dst, checked_extent(c.batches, c.dst_image_stride, image, names.bytes),
          spacing_of(row, {{c.dst_rows, c.dst_pitch}, {c.batches, c.dst_image_stride}}, 1)};
}

bool meets(const ByteRange& range, const void* p, int64_t bytes) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(range.p);
  const auto other = reinterpret_cast<uintptr_t>(p);
  return first < other + static_cast<uint64_t>(bytes) && other < first + static_cast<uint64_t>(range.bytes);
}

// Places the images one by one. The first that is staged decides the reason.
class Images {
 public:
  Images(Planner& planner, const ByteRange& dst, const Operand& dst_lies, Completion completion) noexcept
      : planner_(planner), dst_(dst), dst_lies_(dst_lies), completion_(completion) {}

  // Whether the image is staged.
  bool add(const ByteRange& src, const Operand& lies) {
    require_disjoint(dst_, src);
    const Placement own = place(planner_.on_cuda(), lies, dst_lies_);
    if (own.stage_src && completion_ == Completion::asynchronous)
      fail_on_two_sides(src.argument, lies, "dst", dst_lies_);
    if (count_++ == 0) {
      placement_ = own;
      placement_.host_side = lies.host_side();
      return own.stage_src;
    }
    if (own.stage_src && placement_.stage_src && placement_.host_side != lies.host_side()) {
      placement_.host_side = HostSide::mixed;
    } else if (own.stage_src && !placement_.stage_src) {
      placement_.stage_src = true;
      placement_.reason = own.reason;
      placement_.host_side = lies.host_side();
    }
    // A hint, so it need not be complete.
    if (placement_.managed_ranges < static_cast<int32_t>(placement_.managed.size())) placement_.uses(lies);
    return own.stage_src;
  }
  const Placement& placement() const noexcept { return placement_; }

 private:
  Planner& planner_;
  const ByteRange& dst_;
  const Operand& dst_lies_;
  const Completion completion_;
  Placement placement_{};
  int64_t count_ = 0;
};

void check(const ResizeParams& c) {
  const ImageNames dst = ImageNames::of("dst");
  check_pixel(c);
  if (c.images == nullptr) {
    check_extents(ImageNames::of("src"), c.src_rows, c.src_cols, c.src_pitch, c.pixel_bytes());
    require_at_least("batches", c.batches, 0);
  }
  for (int64_t k = 0; c.images != nullptr && k < c.batches; ++k) {
    const ResizeImage& image = c.images[k];
    if (k > 0 && image.has_size_of(c.images[k - 1])) continue;
    check_extents(ImageNames::of("src", k), image.rows, image.cols, image.pitch, c.pixel_bytes());
  }
  check_extents(dst, c.dst_rows, c.dst_cols, c.dst_pitch, c.pixel_bytes());
}

}  // namespace

Plan<ResizeFamily> plan(Planner& planner, const ResizeParams& given, Completion completion) {
  check(given);
  Plan<ResizeFamily> plan;
  plan.empty = given.dst_rows == 0 || given.dst_cols == 0 || given.batches == 0;
  if (plan.empty) return plan;
  ResizeParams& c = plan.params = given;
  const int64_t pixel = c.pixel_bytes();
  c.src_pitch = normal_pitch(c.src_rows, c.src_pitch, c.src_cols * pixel);
  c.dst_pitch = normal_pitch(c.dst_rows, c.dst_pitch, c.dst_cols * pixel);
  if (c.batches == 1) c.dst_image_stride = 0;
  const bool listed = c.images != nullptr;
  const ImageNames names = ImageNames::of("src", listed ? 0 : -1);
  const ByteRange first = src_range(names, {c.src, c.src_rows, c.src_cols, c.src_pitch}, pixel);
  const ByteRange src = listed || c.batches == 1 ? first : equal_images_range(names, c, first);
  const ImageNames dst_names = ImageNames::of("dst");
  const ByteRange dst = dst_range(dst_names, c);
  const Operand src_lies = planner.look_up_here(src, Access::read);
  const Operand dst_lies = planner.look_up_here(dst, Access::write);
  Images images(planner, dst, dst_lies, completion);
  const auto stage = [pixel](const void*& p, int64_t& pitch, int64_t cols) {  // the copy is tight and aligned
    p = placeholder();
    pitch = cols * pixel;
  };
  ResizeImage before{c.src, c.src_rows, c.src_cols, c.src_pitch};
  int64_t bytes = first.bytes;
  Operand lies = src_lies;
  bool staged = images.add(src, src_lies);
  if (staged) stage(c.src, c.src_pitch, c.src_cols);
  if (listed) c.images[0] = {c.src, c.src_rows, c.src_cols, c.src_pitch};
  for (int64_t k = 1; listed && k < c.batches; ++k) {
    ResizeImage& image = c.images[k];
    image.pitch = normal_pitch(image.rows, image.pitch, image.cols * pixel);
    // An image like the one before, in its allocation, is placed like that.
    if (!image.has_size_of(before) || !is_within(lies, image.src, bytes) || meets(dst, image.src, bytes)) {
      before = image;
      const ImageNames own = ImageNames::of("src", k);
      const ByteRange range = src_range(own, image, pixel);
      bytes = range.bytes;
      lies = planner.look_up_here(range, Access::read);
      staged = images.add(range, lies);
    }
    if (staged) stage(image.src, image.pitch, image.cols);
  }
  plan.placement = images.placement();
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
    stage_rows(context, staged, planned.placement.space, given.src, given.src_pitch, params.src_pitch,
               params.batches * params.src_rows, planned.placement.host_side);
    params.src = staged->get();
  }
  launch_placed(context, planned, stream, completion, "this resize");
}

}  // namespace gpumem
