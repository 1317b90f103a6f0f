// The images of a batch, which all have the same tiles. A tile's number divided by the tiles per image gives its image.
// Equal images at one distance need no list. Others are listed in the kernel's parameters, some per launch.
#pragma once

#include <algorithm>

#include "kernels/resize/tiles.cuh"

namespace gpumem::kernels {

// Bytes between consecutive images of src if they are equal and at one distance, otherwise -1.
inline int64_t resize_src_stride(const ResizeParams& params) {
  if (params.batches == 1) return 0;
  const ResizeImage first = params.src_image(0);
  const auto address = [&](int64_t k) { return reinterpret_cast<intptr_t>(params.src_image(k).src); };
  const int64_t stride = address(1) - address(0);
  for (int64_t k = 1; k < params.batches; ++k) {
    if (!params.src_image(k).has_size_of(first) || address(k) - address(k - 1) != stride) return -1;
  }
  return stride;
}

struct EqualImages : ResizeWork {
  int64_t src_image_stride;  // bytes

  // Image k as the work of one image.
  __device__ ResizeWork work(int64_t k) const {
    ResizeWork one = *this;
    one.src = static_cast<const char*>(src) + k * src_image_stride;
    one.dst = static_cast<char*>(dst) + k * dst_image_stride;
    return one;
  }
};

constexpr int kResizeImages = 112;  // with the other parameters, up to the 4 KiB that every device takes

struct ResizeImages {
  int64_t count;
  ResizeImage at[kResizeImages];

  __device__ ResizeWork work(const ResizeWork& batch, int64_t k) const {
    const ResizeImage& image = at[k];
    ResizeWork one = batch;
    one.src = image.src;
    one.src_pitch = image.pitch;
    one.down.src = image.rows;
    one.across.src = image.cols;
    one.dst = static_cast<char*>(batch.dst) + k * batch.dst_image_stride;
    return one;
  }
};

// Calls launch_some(work, images) for the images of each launch. The axes of the work have the widest bits of all.
template <class F>
LaunchResult resize_in_launches(const ResizeParams& params, const Config& config, const F& launch_some) {
  ResizeImages images;
  for (int64_t first = 0; first < params.batches; first += images.count) {
    images.count = std::min<int64_t>(kResizeImages, params.batches - first);
    ResizeWork work = resize_work(params, config);
    work.dst = static_cast<char*>(params.dst) + first * params.dst_image_stride;
    for (int64_t k = 0; k < images.count; ++k) {
      const ResizeImage image = images.at[k] = params.src_image(first + k);
      work.down.bits = std::max(work.down.bits, resize_bits(image.rows, params.dst_rows));
      work.across.bits = std::max(work.across.bits, resize_bits(image.cols, params.dst_cols));
    }
    const LaunchResult error = launch_some(work, images);
    if (error != 0) return error;
  }
  return 0;
}

inline unsigned resize_batch_grid(const ResizeImages& images, int64_t tiles_per_image) {
  return static_cast<unsigned>(tiles_per_image > kMaxGrid / images.count ? kMaxGrid : tiles_per_image * images.count);
}

}  // namespace gpumem::kernels
