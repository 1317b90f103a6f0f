// A tree of sums, whose parts come in order.
#pragma once

namespace gpumem::kernels {

// waiting[k]: a sum of 2^k parts that waits for its neighbour. Adds the sum of part `number` to those that wait for it, and
// returns what is added up now: after the last of 2^n parts, the sum of all.
template <int kLevels>
__device__ __forceinline__ double add_to_tree(double (&waiting)[kLevels], unsigned number, double sum) {
  bool waits = false;
#pragma unroll
  for (int k = 0; k < kLevels; ++k) {
    if (waits) continue;
    waits = (number >> k & 1) == 0;
    if (waits) {
      waiting[k] = sum;
    } else {
      sum = waiting[k] + sum;
    }
  }
  return sum;
}

}  // namespace gpumem::kernels
