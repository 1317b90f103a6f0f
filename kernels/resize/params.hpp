// Parameters of a resize of an image, or of a batch of images.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/elements.hpp"

namespace gpumem {

// An image of a batch.
struct ResizeImage {
  const void* src = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t pitch = 0;  // bytes

  constexpr bool has_size_of(const ResizeImage& other) const noexcept {
    return rows == other.rows && cols == other.cols && pitch == other.pitch;
  }
};

struct ResizeParams {
  gpumem_filter filter = GPUMEM_FILTER_NEAREST;
  gpumem_dtype dtype = GPUMEM_U8;
  int32_t channels = 1;
  const void* src = nullptr;
  int64_t src_rows = 0;
  int64_t src_cols = 0;
  int64_t src_pitch = 0;  // bytes
  void* dst = nullptr;
  int64_t dst_rows = 0;
  int64_t dst_cols = 0;
  int64_t dst_pitch = 0;
  int64_t batches = 1;
  int64_t dst_image_stride = 0;   // bytes; unused for one image
  ResizeImage* images = nullptr;  // of a batch, and src is the first; nullptr: equal images, one after another
  int64_t src_pixels = 0;         // of all images of a batch; 0: they are equal

  constexpr int64_t pixel_bytes() const noexcept { return int64_t{channels} * element_bytes(dtype); }
  // pixels of dst times channels
  constexpr int64_t elements() const noexcept { return batches * dst_rows * dst_cols * channels; }
  ResizeImage src_image(int64_t k) const noexcept {
    if (images != nullptr) return images[k];
    return {static_cast<const char*>(src) + k * src_rows * src_pitch, src_rows, src_cols, src_pitch};
  }
  // The resize of one image of the batch.
  ResizeParams image(int64_t k) const noexcept {
    const ResizeImage from = src_image(k);
    ResizeParams one = *this;
    one.src = from.src;
    one.src_rows = from.rows;
    one.src_cols = from.cols;
    one.src_pitch = from.pitch;
    one.dst = static_cast<char*>(dst) + k * dst_image_stride;
    one.batches = 1;
    one.images = nullptr;
    return one;
  }
};

// The arguments of a batch. Each array has `count` elements; src_pitch may be nullptr.
struct ResizeBatchCall {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  int64_t count;
  const void* const* src;
  const int64_t* src_rows;
  const int64_t* src_cols;
  const int64_t* src_pitch;
  void* dst;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t dst_pitch;
  int64_t dst_image_stride;
};

}  // namespace gpumem
