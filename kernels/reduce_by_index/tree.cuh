// Steps of the reproducible order (kernels/order.hpp): the fold of a leaf by a warp, and the tree of leaves or lanes.
#pragma once

#include "kernels/order.hpp"

namespace gpumem::kernels {
namespace {

constexpr unsigned kAll = 0xffffffff;  // lanes of a warp

// The sum of the warp's lanes. Every lane gets it.
__device__ __forceinline__ double fold_warp(double sum) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(kAll, sum, half);
  return sum;
}
// The sum of the lanes of a leaf, by a warp. Every lane gets it.
__device__ __forceinline__ double fold_leaf(const double* lanes) {
  static_assert(kLeafLanes == 128);
  const double* const from = lanes + threadIdx.x % 32;
  return fold_warp((from[0] + from[64]) + (from[32] + from[96]));
}

// waiting[k]: a sum of 2^k parts that waits for its neighbour. Adds the sum of part `number` to those that wait for it,
// and returns what is added up now: after the last of 2^n parts, the sum of all. Parts come in order.
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
// The sum of all parts, of which there were `count`.
template <int kLevels>
__device__ __forceinline__ double value_of_tree(const double (&waiting)[kLevels], unsigned count) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kLevels; ++k) {
    if ((count >> k & 1) != 0) sum = waiting[k] + sum;
  }
  return sum;
}

}  // namespace
}  // namespace gpumem::kernels
