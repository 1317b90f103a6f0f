// The shortest description of a permutation: which of the many that move the same bytes decides what kind of move it is.
#pragma once

#include <cstdint>

#include "kernels/permute/params.hpp"
#include "ops/strides.hpp"

namespace gpumem {

namespace fusing {

// Axes of extent 1 left out, the others by their stride in dst, the smallest first.
constexpr PermuteAxes ordered(const PermuteAxes& axes) noexcept {
  PermuteAxes out;
  out.element_bytes = axes.element_bytes;
  const AxesInOrder order = in_order_of(axes.dst_stride, axes.rank);
  for (int32_t i = 0; i < axes.rank; ++i) {
    const int32_t d = order.axis[i];
    if (axes.extent[d] != 1) out.add(axes.extent[d], axes.src_stride[d], axes.dst_stride[d]);
  }
  return out;
}

// outer == extent * inner, without the product.
constexpr bool continues(int64_t outer, int64_t extent, int64_t inner) noexcept {
  if (inner == 0) return outer == 0;
  return outer % inner == 0 && outer / inner == extent;
}

// Neighbours that go on where the other ends, on both sides, are one axis.
constexpr PermuteAxes joined(const PermuteAxes& axes) noexcept {
  PermuteAxes out;
  out.element_bytes = axes.element_bytes;
  for (int32_t d = 0; d < axes.rank; ++d) {
    const int32_t last = out.rank - 1;
    if (last >= 0 && continues(axes.src_stride[d], out.extent[last], out.src_stride[last]) &&
        continues(axes.dst_stride[d], out.extent[last], out.dst_stride[last])) {
      out.extent[last] *= axes.extent[d];
    } else {
      out.add(axes.extent[d], axes.src_stride[d], axes.dst_stride[d]);
    }
  }
  return out;
}

// How many elements of a run on axis 0 move as one of at most 16 bytes: 1, 2, 4, 8 or 16.
constexpr int64_t widening(const PermuteAxes& axes, int32_t src_misalignment, int32_t dst_misalignment) noexcept {
  if (axes.src_stride[0] != 1 || axes.dst_stride[0] != 1) return 1;
  for (int64_t wide = 16 / axes.element_bytes; wide > 1; wide /= 2) {
    const int64_t bytes = wide * axes.element_bytes;
    bool fits = axes.extent[0] % wide == 0 && src_misalignment % bytes == 0 && dst_misalignment % bytes == 0;
    for (int32_t d = 1; d < axes.rank; ++d) {
      fits = fits && axes.src_stride[d] % wide == 0 && axes.dst_stride[d] % wide == 0;
    }
    if (fits) return wide;
  }
  return 1;
}

}  // namespace fusing

// The same pairs of bytes in the fewest axes, ordered by dst's strides, and in the widest elements that runs, strides and
// addresses (modulo 16) allow. No extent may be 0, and distinct elements must have distinct places in dst. A single element
// is one axis of extent 1.
constexpr PermuteAxes fuse(const PermuteAxes& axes, int32_t src_misalignment, int32_t dst_misalignment) noexcept {
  PermuteAxes out = fusing::joined(fusing::ordered(axes));
  if (out.rank == 0) out.add(1, 1, 1);
  const int64_t wide = fusing::widening(out, src_misalignment, dst_misalignment);
  if (wide == 1) return out;
  out.element_bytes *= wide;
  out.extent[0] /= wide;
  for (int32_t d = 1; d < out.rank; ++d) {
    out.src_stride[d] /= wide;
    out.dst_stride[d] /= wide;
  }
  if (out.extent[0] > 1 || out.rank == 1) return out;
  return fusing::ordered(out);  // a run became one element
}

}  // namespace gpumem
