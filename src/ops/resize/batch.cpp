// Resizes of many images in one call: the list of images, and the staging of those on the other side.
#include <memory>
#include <optional>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "ops/lists.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

constexpr int64_t kStagedAlignment = 64;

ResizeParams params_of(const ResizeBatchCall& call) noexcept {
  return {.filter = call.filter,
          .dtype = call.dtype,
          .channels = call.channels,
          .dst = call.dst,
          .dst_rows = call.dst_rows,
          .dst_cols = call.dst_cols,
          .dst_pitch = call.dst_pitch,
          .batches = call.count,
          .dst_image_stride = call.dst_image_stride};
}

// Without an overflow: a pitch that saturates is refused together with its columns.
int64_t tight_pitch(const ResizeBatchCall& call, int64_t cols) noexcept {
  int64_t pitch = 0;
  const int64_t pixel = int64_t{call.channels} * (is_dtype(call.dtype) ? element_bytes(call.dtype) : 1);
  return __builtin_mul_overflow(cols, pixel, &pitch) ? INT64_MAX : pitch;
}

using ImageList = std::vector<ResizeImage>;

// Fills in the first image, and the pixels of all. Returns no images if the arguments can't be read.
ImageList read_images(const ResizeBatchCall& call, ResizeParams& params) {
  const bool readable = call.src != nullptr && call.src_rows != nullptr && call.src_cols != nullptr;
  if (!readable || call.count < 1) return {};
  require_available_for_call(static_cast<size_t>(checked_mul(call.count, sizeof(ResizeImage), "count")));
  ImageList images(static_cast<size_t>(call.count));
  int64_t pixels = 0;
  for (int64_t k = 0; k < call.count; ++k) {
    const int64_t cols = call.src_cols[k];
    const int64_t pitch = call.src_pitch != nullptr ? call.src_pitch[k] : tight_pitch(call, cols);
    images[static_cast<size_t>(k)] = {call.src[k], call.src_rows[k], cols, pitch};
    pixels = static_cast<int64_t>(static_cast<uint64_t>(pixels) +
                                  static_cast<uint64_t>(call.src_rows[k]) * static_cast<uint64_t>(cols));
  }
  params.src = images[0].src;
  params.src_rows = images[0].rows;
  params.src_cols = images[0].cols;
  params.src_pitch = images[0].pitch;
  if (call.count > 1) params.src_pixels = pixels;
  return images;
}

// Copies the images that the plan has marked next to the work, one after another.
void stage_images(Context& context, std::optional<Workspace>& staged, const ResizeBatchCall& call,
                  const Plan<ResizeFamily>& planned, ImageList& images) {
  const bool to_device = planned.placement.space == ExecutionSpace::cuda;
  int64_t bytes = 0;
  for (const ResizeImage& image : images) {
    if (image.src != placeholder()) continue;
    bytes = checked_add(bytes, ceil_div(image.rows * image.pitch, kStagedAlignment) * kStagedAlignment, "bytes of src");
  }
  // Earlier work may still be writing host memory, which this may read immediately.
  if (to_device) context.device().await_order();
  auto* to = static_cast<char*>(staged.emplace(context, planned.placement.space, bytes).get());
  for (size_t k = 0; k < images.size(); ++k) {
    ResizeImage& image = images[k];
    if (image.src != placeholder()) continue;
    const int64_t pitch = call.src_pitch != nullptr ? call.src_pitch[k] : image.pitch;
    transfer_rows(context, context.own_stream(),
                  {.dst = to,
                   .dst_pitch = image.pitch,
                   .src = static_cast<const char*>(call.src[k]),
                   .src_pitch = pitch,
                   .row_bytes = image.pitch,
                   .rows = image.rows},
                  to_device ? planned.placement.host_side : HostSide::pageable, planned.placement.space,
                  Completion::asynchronous);
    image.src = to;
    to += ceil_div(image.rows * image.pitch, kStagedAlignment) * kStagedAlignment;
  }
  if (!to_device) context.device().synchronize(context.own_stream());
}

}  // namespace

void resize_batch(Context& context, const ResizeBatchCall& call, NativeStream stream, Completion completion) {
  ResizeParams params = params_of(call);
  const auto images = std::make_shared<ImageList>(read_images(call, params));
  CallPlanner planner(context, params, completion);
  require_at_least("count", call.count, 0);
  if (call.count > 0) {
    require_list("src", call.src, call.count);
    require_list("src_rows", call.src_rows, call.count);
    require_list("src_cols", call.src_cols, call.count);
    params.images = images->data();
  }
  Plan<ResizeFamily> planned = plan(planner, params, completion);
  if (planned.empty) return;
  std::optional<Workspace> staged;
  if (planned.placement.stage_src) {
    require_not_capturing(context, stream, "this resize");
    stage_images(context, staged, call, planned, *images);
    planned.params.src = images->front().src;
  }
  launch_listed(context, planned, images, stream, completion, "this resize");
}

}  // namespace gpumem
