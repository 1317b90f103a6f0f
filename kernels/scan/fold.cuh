// Prefixes in the order of kernels/order.hpp, by a warp. A row has 128 elements, one for each lane of the order.
#pragma once

#include <cuda_runtime.h>

namespace gpumem::kernels {
namespace {

constexpr unsigned kAll = 0xffffffff;

struct Add {
  static constexpr double kNeutral = 0;
  static __device__ double of(double a, double b) { return __dadd_rn(a, b); }
};
struct Multiply {
  static constexpr double kNeutral = 1;
  static __device__ double of(double a, double b) { return __dmul_rn(a, b); }
};

// The four segments of 32 lanes, of which a thread has one element each.
struct Lanes {
  double segment[4];
};

template <class Op>
__device__ Lanes neutral_lanes() {
  return {{Op::kNeutral, Op::kNeutral, Op::kNeutral, Op::kNeutral}};
}

// One step of the fold of all prefixes that end in neighbouring lanes: `before` if a lane is not in the prefix, `after`
// if it is.
template <class Op>
__device__ __forceinline__ void fold_step(double& before, double& after, int half, int lane) {
  // The prefixes of the upper half contain all of the lower one. Those of the lower half have nothing of the upper.
  const double other = __shfl_xor_sync(kAll, (lane & half) != 0 ? before : after, half);
  before = Op::of(before, other);
  after = Op::of(after, other);
}
// A lane returns the prefix that ends with it.
template <class Op>
__device__ __forceinline__ double fold_prefixes(double before, double after, int lane) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) fold_step<Op>(before, after, half, lane);
  return after;
}

// The prefixes that end in a row, which has been added to `after`.
template <class Op>
__device__ void row_prefixes(const Lanes& before, const Lanes& after, double* prefix, int lane) {
  const double(&b)[4] = before.segment;
  const double(&a)[4] = after.segment;
  // The first two steps of the fold. In element k of `states`, the segments before k are new.
  const double even[3] = {Op::of(b[0], b[2]), Op::of(a[0], b[2]), Op::of(a[0], a[2])};
  const double odd[3] = {Op::of(b[1], b[3]), Op::of(a[1], b[3]), Op::of(a[1], a[3])};
  const double states[5] = {Op::of(even[0], odd[0]), Op::of(even[1], odd[0]), Op::of(even[1], odd[1]),
                            Op::of(even[2], odd[1]), Op::of(even[2], odd[2])};
#pragma unroll
  for (int k = 0; k < 4; ++k) prefix[k] = fold_prefixes<Op>(states[k], states[k + 1], lane);
}

}  // namespace
}  // namespace gpumem::kernels
