// Folding one value a thread to one value a block: shuffles inside a warp, one shared-memory step across warps.
#pragma once

#include "kernels/reduce/reduce_i32.hpp"
#include "kernels/reduce/terms.cuh"

namespace gpumem::kernels {

constexpr unsigned kWholeWarp = 0xffffffffu;

__device__ __forceinline__ int64_t from_lane_above(int64_t v, int distance) {
  return __shfl_down_sync(kWholeWarp, v, distance);
}
__device__ __forceinline__ Int128 from_lane_above(Int128 v, int distance) {
  const auto low = static_cast<uint64_t>(v);
  const auto high = static_cast<uint64_t>(static_cast<unsigned __int128>(v) >> 64);
  const unsigned long long other_low = __shfl_down_sync(kWholeWarp, static_cast<unsigned long long>(low), distance);
  const unsigned long long other_high = __shfl_down_sync(kWholeWarp, static_cast<unsigned long long>(high), distance);
  return static_cast<Int128>((static_cast<unsigned __int128>(other_high) << 64) | other_low);
}

template <int kOp, class Wide>
__device__ __forceinline__ Wide warp_fold(Wide v) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) v = combine<kOp>(v, from_lane_above(v, distance));
  return v;  // whole in lane 0
}

// The block's value, in thread 0. All kThreads threads take part; may be called again after a __syncthreads().
template <int kOp, int kThreads, class Wide>
__device__ __forceinline__ Wide block_fold(Wide v) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  __shared__ Wide of_warp[kThreads / 32];
  v = warp_fold<kOp>(v);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : neutral<kOp, Wide>();
    v = warp_fold<kOp>(v);
  }
  return v;
}

// Hands the value to the host: the ticket is visible only after the value is.
__device__ __forceinline__ void publish(ReduceResult* result, Int128 value, uint32_t ticket) {
  volatile ReduceResult* out = result;
  out->low = static_cast<uint64_t>(value);
  out->high = static_cast<uint64_t>(static_cast<unsigned __int128>(value) >> 64);
  __threadfence_system();
  out->ticket = ticket;
}

}  // namespace gpumem::kernels
