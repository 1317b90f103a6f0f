// A permutation of axes, as it travels from the entry point to the kernel.
#pragma once

#include <cstdint>

#include "kernels/permute/axes.hpp"

namespace gpumem {

// As it is given, and what the plan makes of it: the axes, fused, and no pointer to the program's arrays.
struct PermuteParams {
  int64_t element_bytes = 4;
  int32_t rank = 0;
  const int64_t* extents = nullptr;  // of src
  const int32_t* order = nullptr;
  const void* src = nullptr;
  const int64_t* src_strides = nullptr;  // nullptr: row-major without gaps
  void* dst = nullptr;
  const int64_t* dst_strides = nullptr;
  PermuteAxes axes{};

  constexpr int64_t elements() const noexcept { return axes.elements(); }
};

}  // namespace gpumem
