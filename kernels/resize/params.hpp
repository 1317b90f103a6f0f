// Parameters of a resize of an image.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/elements.hpp"

namespace gpumem {

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

  constexpr int64_t pixel_bytes() const noexcept { return int64_t{channels} * element_bytes(dtype); }
  // pixels of dst times channels
  constexpr int64_t elements() const noexcept { return dst_rows * dst_cols * channels; }
};

}  // namespace gpumem
