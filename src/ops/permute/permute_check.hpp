// The arguments of a permutation, checked.
#pragma once

#include "ops/operations.hpp"

namespace gpumem {

struct Permutation {
  bool empty = false;     // an extent is 0; nothing below holds
  PermuteAxes axes;       // axis d of dst is axis d; nothing is fused
  int64_t src_bytes = 0;  // from the first element to the end of the last
  int64_t dst_bytes = 0;
};

// Throws INVALID_ARGUMENT. Afterwards every sum of products of indices and strides, in bytes, fits int64_t.
Permutation permutation_of(const PermuteParams& call);

}  // namespace gpumem
