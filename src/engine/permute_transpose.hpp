// Permutations that are transposes: of two fused axes, or of three, one of which counts matrices.
#pragma once

#include <algorithm>

#include "engine/problem.hpp"
#include "kernels/permute_axes.hpp"

namespace gpumem {

// Of shorter sides most of a transpose's tile is empty.
constexpr int64_t kPermuteLeastTransposed = 32;

constexpr bool is_transpose(const PermuteAxes& axes) noexcept {
  if (axes.rank > 3 || form_of(axes) != PermuteForm::planes) return false;
  return std::min(axes.extent[0], axes.extent[src_fastest(axes)]) >= kPermuteLeastTransposed;
}

// For axes that are one. Axis 0 runs along the rows of dst, so its length is the number of rows of src.
constexpr TransposeProblem transpose_of(const PermuteProblem& p) noexcept {
  const PermuteAxes& a = p.axes;
  const int32_t across = src_fastest(a);
  TransposeProblem t;
  t.runs = p.runs;
  t.element_bytes = a.element_bytes;
  t.rows = a.extent[0];
  t.cols = a.extent[across];
  t.src_ld = a.src_stride[0];
  t.dst_ld = a.dst_stride[across];
  t.src_misalignment = p.src_misalignment;
  t.dst_misalignment = p.dst_misalignment;
  if (a.rank == 3) {
    const int32_t batch = 3 - across;  // axes 1 and 2 are one each
    t.batches = a.extent[batch];
    t.src_batch_stride = a.src_stride[batch];
    t.dst_batch_stride = a.dst_stride[batch];
  }
  return t;
}

}  // namespace gpumem
