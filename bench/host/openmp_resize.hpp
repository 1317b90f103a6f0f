// The host backend's peer in resizing: the plain loop over the pixels, with the columns worked out before. Compiled with
// -O3 -march=native.
#pragma once

#include <cstdint>

namespace bench::openmp {

// Images of u8 without gaps between their rows.
struct Resize {
  const uint8_t* src;
  int64_t src_rows;
  int64_t src_cols;
  uint8_t* dst;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t channels;
};

// Bilinear, by the arithmetic of gpumem_resize_2d().
void resize_bilinear(const Resize& r);

}  // namespace bench::openmp
