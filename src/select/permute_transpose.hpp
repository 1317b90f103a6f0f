// Permutations that are transposes: of two fused axes, or of three with one for the batch.
#pragma once

#include "kernels/permute/params.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

constexpr bool is_transpose(const PermuteAxes& axes) noexcept {
  return axes.rank <= 3 && form_of(axes) == PermuteForm::planes;
}

// For permutations that are transposes. Axis 0 runs along the rows of dst, so its length is the number of rows of src.
constexpr TransposeParams transpose_of(const PermuteParams& p) noexcept {
  const PermuteAxes& a = p.axes;
  const int32_t across = src_fastest(a);
  TransposeParams t;
  t.element_bytes = a.element_bytes;
  t.rows = a.extent[0];
  t.cols = a.extent[across];
  t.src_ld = a.src_stride[0];
  t.dst_ld = a.dst_stride[across];
  t.src = p.src;
  t.dst = p.dst;
  if (a.rank == 3) {
    const int32_t batch = 3 - across;  // axes 1 and 2, in either order
    t.batches = a.extent[batch];
    t.src_batch_stride = a.src_stride[batch];
    t.dst_batch_stride = a.dst_stride[batch];
  }
  return t;
}

}  // namespace gpumem
