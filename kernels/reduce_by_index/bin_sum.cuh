// Sums of floating-point elements at given places, by a block, in the reproducible order (kernels/order.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/convert/element.hpp"
#include "kernels/order.hpp"
#include "kernels/reduce_by_index/reduce_by_index.hpp"
#include "kernels/reduce_by_index/tree.cuh"

namespace gpumem::kernels {
namespace {

constexpr uint32_t kNowhere = ~0u;  // behind all places

// In shared memory. A lane of the fold has a thread.
template <int kBlock>
class BlockSum {
 public:
  // Adds the elements at `count` places, 1 or more. They are leaves from number `leaf` on, of which only the last one may
  // be short. Called by all threads. Returns the number of all leaves so far.
  __device__ uint32_t add(gpumem_dtype dtype, const void* x, const uint32_t* places, uint32_t count, uint32_t leaf) {
    const uint32_t lane = threadIdx.x % kLeafLanes;
    for (uint32_t first = 0; first < count; first += kLeaves * kLeafTerms) {
      const uint32_t at = first + threadIdx.x / kLeafLanes * kLeafTerms + lane;
      lanes_[threadIdx.x] = for_floating_type(
          dtype, [&]<gpumem_dtype kType>() { return sum_of_lane<ElementOf<kType>>(x, places, at, count); });
      __syncthreads();
      const uint32_t warp = threadIdx.x / 32;
      if (warp < kLeaves && first + warp * kLeafTerms < count) fold(warp);
      __syncthreads();
      for (uint32_t k = 0; k < kLeaves && first + k * kLeafTerms < count; ++k, ++leaf) {
        if (threadIdx.x == 0) add_leaf(leaf, lanes_[k * kLeafLanes]);
      }
      __syncthreads();
    }
    return leaf;
  }

  // Called by thread 0.
  __device__ double value(uint32_t leaves) const { return canonical(value_of_tree(level_, leaves)); }

 private:
  static constexpr uint32_t kLeaves = kBlock / kLeafLanes;  // at a time
  static constexpr int kLevels = 22;                        // there are fewer than 2^kLevels leaves

  template <class T>
  __device__ __forceinline__ static double sum_of_lane(const void* x, const uint32_t* places, uint32_t at,
                                                       uint32_t count) {
    T term[kLeafRows] = {};
#pragma unroll
    for (int r = 0; r < kLeafRows; ++r) {
      const uint32_t of_row = at + r * kLeafLanes;
      if (of_row < count) term[r] = static_cast<const T*>(x)[places[of_row]];
    }
    double sum = 0;
#pragma unroll
    for (int r = 0; r < kLeafRows; ++r) sum += converted<double>(term[r]);
    return sum;
  }
  // By a warp. The sum of the leaf replaces its lane 0.
  __device__ void fold(uint32_t leaf) {
    double* const lanes = lanes_ + leaf * kLeafLanes;
    const double sum = fold_leaf(lanes);
    __syncwarp();
    if (threadIdx.x % 32 == 0) lanes[0] = sum;
  }
  // As add_to_tree(), which unrolls its loop because registers have no addresses.
  __device__ void add_leaf(uint32_t leaf, double sum) {
    int k = 0;
    for (; (leaf >> k & 1) != 0; ++k) sum = level_[k] + sum;
    level_[k] = sum;
  }

  double lanes_[kBlock];
  double level_[kLevels];  // the sums of 2^k leaves that wait for their neighbours
};

// Sorts places by a bitonic network, in shared memory with room for the next power of two.
template <int kBlock>
__device__ void sort_places(const uint32_t* places, uint32_t count, uint32_t* sorted) {
  uint32_t size = 64;
  while (size < count) size *= 2;
  for (uint32_t i = threadIdx.x; i < size; i += kBlock) sorted[i] = i < count ? places[i] : kNowhere;
  for (uint32_t run = 2; run <= size; run *= 2) {
    for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < size / 2; i += kBlock) {
        const uint32_t a = 2 * i - i % distance;
        const uint32_t b = a + distance;
        const bool ascends = (a & run) == 0;
        if ((sorted[a] > sorted[b]) == ascends) {
          const uint32_t v = sorted[a];
          sorted[a] = sorted[b];
          sorted[b] = v;
        }
      }
    }
  }
  __syncthreads();
}

// In shared memory: the sum of a bin's elements. Thread 0 has it.
template <class Index>
class BinSum {
 public:
  static constexpr uint32_t kMostSorted = kBinTile;

  // Of elements whose places are known, in any order: up to kMostSorted.
  __device__ double of_places(gpumem_dtype dtype, const void* x, const uint32_t* places, uint32_t count) {
    sort_places<kBinThreads>(places, count, places_);
    return sum_.value(sum_.add(dtype, x, places_, count, 0));
  }

  // Of the elements that the block finds by reading the index. n < 2^31.
  __device__ double of_bin(gpumem_dtype dtype, const void* x, const Index* index, uint32_t n, uint32_t bin,
                           uint64_t limit) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t warp = threadIdx.x / 32;
    uint32_t first = warp * (32 * kEach) + lane;
    uint32_t found = 0;  // places that are not added yet
    uint32_t leaves = 0;
    if (threadIdx.x == 0) first_bad_ = n;
    Index number[kEach];  // on their way while the block adds elements
    load(number, index, n, first);
    for (uint32_t tile = 0; tile < n; tile += kTile, first += kTile) {
      unsigned having = 0;
      unsigned bad = 0;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        const bool is_here = first + 32 * k < n;
        if (is_here && number[k] == bin) having |= 1u << k;
        if (is_here && number[k] >= limit) bad |= 1u << k;
      }
      load(number, index, n, first + kTile);
      unsigned lanes[kEach];
      uint32_t count = 0;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        lanes[k] = __ballot_sync(kAll, (having >> k & 1) != 0);
        count += __popc(lanes[k]);
      }
      if (lane == 0) of_warps_[warp] = count;
      __syncthreads();
      if (bad != 0) atomicMin(&first_bad_, first + 32 * static_cast<uint32_t>(__ffs(static_cast<int>(bad)) - 1));
      const uint32_t until = scan_lanes(of_warps_[lane]);
      uint32_t to = found + __shfl_sync(kAll, until, static_cast<int>(warp)) - count;
#pragma unroll
      for (int k = 0; k < kEach; ++k) {
        if ((having >> k & 1) != 0) places_[to + __popc(lanes[k] & ((1u << lane) - 1))] = first + 32 * k;
        to += __popc(lanes[k]);
      }
      found += __shfl_sync(kAll, until, 31);
      __syncthreads();
      const bool last = tile + kTile >= n;
      const uint32_t whole = last ? found : found / kLeafTerms * kLeafTerms;
      if (whole == 0) continue;
      leaves = sum_.add(dtype, x, places_, whole, leaves);
      found -= whole;
      const uint32_t kept = threadIdx.x < found ? places_[whole + threadIdx.x] : 0;
      __syncthreads();
      if (threadIdx.x < found) places_[threadIdx.x] = kept;
    }
    return sum_.value(leaves);
  }
  // n if there is none.
  __device__ uint32_t first_bad() const { return first_bad_; }

 private:
  static constexpr int kEach = kBinEach;
  static constexpr uint32_t kTile = kBinTile;
  static_assert(kBinThreads == 32 * 32);

  __device__ __forceinline__ static void load(Index (&number)[kEach], const Index* index, uint32_t n, uint32_t first) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) number[k] = first + 32 * k < n ? index[first + 32 * k] : Index{0};
  }
  // The sum of the lanes up to each one.
  __device__ __forceinline__ static uint32_t scan_lanes(uint32_t v) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const uint32_t other = __shfl_up_sync(kAll, v, distance);
      if (static_cast<int>(threadIdx.x % 32) >= distance) v += other;
    }
    return v;
  }

  BlockSum<kBinThreads> sum_;
  uint32_t places_[kTile + kLeafTerms];
  uint32_t of_warps_[kBinThreads / 32];
  unsigned first_bad_;
};

}  // namespace
}  // namespace gpumem::kernels
