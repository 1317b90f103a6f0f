// Fuses a permutation into its shortest equivalent, which shows its form.
#pragma once

#include <cstdint>

#include "kernels/permute/params.hpp"
#include "ops/strides.hpp"

namespace gpumem {

namespace fusing {

constexpr PermuteAxes fewest(const PermuteAxes& axes) noexcept {
  const int64_t* const sides[] = {axes.dst_stride, axes.src_stride};
  const FusedAxes fused = fused_axes(axes.rank, axes.extent, sides);
  PermuteAxes out;
  out.element_bytes = axes.element_bytes;
  for (int32_t i = 0; i < fused.rank; ++i) {
    out.add(fused.extent[i], axes.src_stride[fused.axis[i]], axes.dst_stride[fused.axis[i]]);
  }
  return out;
}

// How many elements of a run on axis 0 move as one element of at most 16 bytes: 1, 2, 4, 8 or 16.
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

// Returns the same pairs of bytes in the fewest axes, ordered by dst's strides. Elements are as wide as runs, strides
// and addresses modulo 16 allow. Requires that no extent is 0 and that distinct elements have distinct places in dst. A
// single element becomes one axis of extent 1.
constexpr PermuteAxes fuse(const PermuteAxes& axes, int32_t src_misalignment, int32_t dst_misalignment) noexcept {
  PermuteAxes out = fusing::fewest(axes);
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
  return fusing::fewest(out);  // a run became one element
}

}  // namespace gpumem
