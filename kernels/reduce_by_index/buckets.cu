// Sums of floating-point elements by index, with few of them in a bin, in the reproducible order (kernels/order.hpp).
// Moves: reads the index twice and x once. Writes and reads two words of 4 bytes per element, and 8 bytes per bin.
// Access: the counter of its bin gives an element a number, and a scan of the counters gives each bin a part of the
//         places. Both are in no particular order, so each bin sorts its places. Then it reads its elements.
//         few: a thread has a bin of up to 16 elements, a warp one of up to 32. many: a block has a bin.
//         huge: the same with 1,024 threads. The block of a bin of more than 8,192 elements finds their places by reading
//         the index once more (bin_sum.cuh).
// Shapes: any. Up to 2^21 elements, caches hold the places.
// H200, f32: 2^20 elements in 2^20 bins 66 us, where a sort by bins takes 137.
#include "kernels/reduce_by_index/buckets.hpp"

#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/reduce_by_index/bin_sum.cuh"
#include "kernels/scan/limits.hpp"
#include "kernels/scan/scan.hpp"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kByIndexThreads;
constexpr int kEach = kByIndexEach;
constexpr int kOfThread = 16;  // elements of a bin that a thread has
constexpr unsigned kManyBlocks = 1056;
constexpr int kManyThreads = 256;
constexpr unsigned kHugeBlocks = 264;

// Gives each bin's elements numbers. The lanes of a warp that have the bin of the first one share an atomic, because
// many atomics on one counter would wait for each other.
template <class Index>
__global__ void __launch_bounds__(kThreads) count_kernel(const __grid_constant__ BucketSums s) {
  synchronize_and_trigger();
  const auto* index = static_cast<const Index*>(s.index);
  const uint32_t first = blockIdx.x * static_cast<uint32_t>(kByIndexTile) + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32);
  Index bin[kEach];
  unsigned alike[kEach];
  uint32_t number[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const uint32_t at = first + k * kThreads;
    bin[k] = at < s.n ? index[at] : Index{0};
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const uint32_t at = first + k * kThreads;
    const bool is_here = at < s.n;
    const bool is_sound = is_here && bin[k] < s.limit;
    if (is_here && !is_sound) atomicMax(&s.head->bad, ~static_cast<unsigned long long>(at));
    const Index first_bin = __shfl_sync(kAll, bin[k], 0);
    alike[k] = __ballot_sync(kAll, is_sound && bin[k] == first_bin);
    const bool is_alike = (alike[k] >> lane & 1) != 0;
    number[k] = 0;
    if (is_sound && (!is_alike || __ffs(static_cast<int>(alike[k])) - 1 == lane)) {
      number[k] = atomicAdd(s.counts + bin[k], is_alike ? __popc(alike[k]) : 1);
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const uint32_t at = first + k * kThreads;
    const uint32_t shared = __shfl_sync(kAll, number[k], (__ffs(static_cast<int>(alike[k])) - 1) & 31);
    if ((alike[k] >> lane & 1) != 0) number[k] = shared + __popc(alike[k] & ((1u << lane) - 1));
    if (at < s.n) s.numbers[at] = number[k];
  }
}

template <class Index>
__global__ void __launch_bounds__(kThreads) places_kernel(const __grid_constant__ BucketSums s) {
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  const auto* index = static_cast<const Index*>(s.index);
  const uint32_t first = blockIdx.x * static_cast<uint32_t>(kByIndexTile) + threadIdx.x;
  Index bin[kEach];
  uint32_t to[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const uint32_t at = first + k * kThreads;
    if (at < s.n) {
      bin[k] = index[at];
      to[k] = s.numbers[at];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if (first + k * kThreads < s.n) to[k] += s.offsets[bin[k]];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const uint32_t at = first + k * kThreads;
    if (at < s.n) s.places[to[k]] = at;
  }
}

// Batcher's odd-even network (K. E. Batcher, Sorting networks and their applications, AFIPS 1968). It exchanges the
// values at each pair of places if the first is greater.
template <int kCount>
struct SortingNetwork {
  int pairs = 0;
  int places[kCount * kCount][2] = {};

  constexpr SortingNetwork() {
    for (int run = 1; run < kCount; run *= 2) {
      for (int distance = run; distance > 0; distance /= 2) {
        for (int a = distance % run; a + distance < kCount; ++a) {
          const int b = a + distance;
          if ((a - distance % run) % (2 * distance) >= distance || a / (2 * run) != b / (2 * run)) continue;
          places[pairs][0] = a;
          places[pairs++][1] = b;
        }
      }
    }
  }
};

template <int kCount>
__device__ __forceinline__ void sort_by_network(uint32_t (&v)[kCount]) {
  constexpr SortingNetwork<kCount> kNetwork;
#pragma unroll
  for (int i = 0; i < kNetwork.pairs; ++i) {
    const int a = kNetwork.places[i][0];
    const int b = kNetwork.places[i][1];
    const uint32_t least = min(v[a], v[b]);
    v[b] = max(v[a], v[b]);
    v[a] = least;
  }
}

// At most kMost elements.
template <int kMost, class T>
__device__ __forceinline__ double sum_by_thread(const T* x, const uint32_t* places, uint32_t count) {
  uint32_t place[kMost];
#pragma unroll
  for (int k = 0; k < kMost; ++k) place[k] = k < count ? places[k] : kNowhere;
  sort_by_network(place);
  double term[kMost] = {};
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    if (k < count) term[k] += converted<double>(x[place[k]]);
  }
#pragma unroll
  for (int half = kMost / 2; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < kMost / 2; ++k) {
      if (k < half) term[k] += term[k + half];
    }
  }
  return term[0];
}

// Up to 32 elements, by a warp. terms: room for a term per lane.
template <class T>
__device__ __forceinline__ double sum_by_warp(const T* x, const uint32_t* places, uint32_t count, double* terms) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t place = lane < count ? places[lane] : kNowhere;
  int rank = 0;
  for (uint32_t other = 0; other < count; ++other) rank += __shfl_sync(kAll, place, other) < place ? 1 : 0;
  terms[lane] = 0;
  __syncwarp();
  if (lane < count) terms[rank] += converted<double>(x[place]);
  __syncwarp();
  const double sum = fold_warp(terms[lane]);
  __syncwarp();
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) few_kernel(const __grid_constant__ BucketSums s) {
  __shared__ double terms[kThreads];
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  const auto* x = static_cast<const T*>(s.x);
  const uint32_t bin = blockIdx.x * kThreads + threadIdx.x;
  const bool is_here = bin < s.bins;
  const uint32_t count = is_here ? s.counts[bin] : 0;
  const uint32_t offset = is_here ? s.offsets[bin] : 0;
  double sum = 0;
  if (count <= 2) {
    sum = sum_by_thread<2>(x, s.places + offset, count);
  } else if (count <= 8) {
    sum = sum_by_thread<8>(x, s.places + offset, count);
  } else if (count <= kOfThread) {
    sum = sum_by_thread<kOfThread>(x, s.places + offset, count);
  }
  unsigned left = __ballot_sync(kAll, count > kOfThread && count <= kFewOfBin);
  for (; left != 0; left &= left - 1) {
    const int lane = __ffs(static_cast<int>(left)) - 1;
    const uint32_t of_lane = __shfl_sync(kAll, offset, lane);
    const double found =
        sum_by_warp(x, s.places + of_lane, __shfl_sync(kAll, count, lane), terms + threadIdx.x / 32 * 32);
    if (threadIdx.x % 32 == lane) sum = found;
  }
  if (count > kManyOfBin) {
    s.huge[atomicAdd(&s.head->huge, 1u)] = bin;
  } else if (count > kFewOfBin) {
    s.many[atomicAdd(&s.head->many, 1u)] = bin;
  } else if (is_here) {
    s.result[bin] = canonical(sum);
  }
}

__global__ void __launch_bounds__(kManyThreads) many_kernel(const __grid_constant__ BucketSums s) {
  __shared__ uint32_t places[kManyOfBin];
  __shared__ BlockSum<kManyThreads> sum;
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  for (unsigned i = blockIdx.x; i < s.head->many; i += gridDim.x) {
    const uint32_t bin = s.many[i];
    sort_places<kManyThreads>(s.places + s.offsets[bin], s.counts[bin], places);
    const uint32_t leaves = sum.add(s.dtype, s.x, places, s.counts[bin], 0);
    if (threadIdx.x == 0) s.result[bin] = sum.value(leaves);
  }
}

template <class Index>
__global__ void __launch_bounds__(kBinThreads) huge_kernel(const __grid_constant__ BucketSums s) {
  __shared__ BinSum<Index> sum;
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  for (unsigned i = blockIdx.x; i < s.head->huge; i += gridDim.x) {
    const uint32_t bin = s.huge[i];
    const uint32_t count = s.counts[bin];
    const auto* index = static_cast<const Index*>(s.index);
    const double found = count <= BinSum<Index>::kMostSorted
                             ? sum.of_places(s.dtype, s.x, s.places + s.offsets[bin], count)
                             : sum.of_bin(s.dtype, s.x, index, s.n, bin, s.limit);
    if (threadIdx.x == 0) s.result[bin] = found;
  }
}

template <class Index>
LaunchResult sum_buckets_of(const BucketSums& s, const ByIndexBuckets& at, const Launch& launch) {
  const auto blocks = static_cast<unsigned>(s.grid);
  LaunchResult error = enqueue_programmatic(count_kernel<Index>, blocks, kThreads, launch, s);
  if (error != cudaSuccess) return error;
  ScanParams scan{.dtype = GPUMEM_U32, .exclusive = 1, .x = s.counts, .n = s.bins};
  scan.result = s.offsets;
  scan.result_type = GPUMEM_U32;
  Config config{at.scan_grid, kScanThreads};
  config.workspace_bytes = at.scan_bytes;
  Launch of_scan = launch;
  of_scan.workspace = static_cast<char*>(launch.workspace) + at.scan;
  error = scan_look_back(scan, config, of_scan);
  if (error != cudaSuccess) return error;
  error = enqueue_programmatic(places_kernel<Index>, blocks, kThreads, launch, s);
  if (error != cudaSuccess) return error;
  const auto few_blocks = static_cast<unsigned>(ceil_div(s.bins, int64_t{kThreads}));
  error = for_floating_type(s.dtype, [&]<gpumem_dtype kType>() {
    return enqueue_programmatic(few_kernel<ElementOf<kType>>, few_blocks, kThreads, launch, s);
  });
  if (error == cudaSuccess) error = enqueue_programmatic(many_kernel, kManyBlocks, kManyThreads, launch, s);
  if (error != cudaSuccess || s.n <= kManyOfBin) return error;
  return enqueue_programmatic(huge_kernel<Index>, kHugeBlocks, kBinThreads, launch, s);
}

}  // namespace

LaunchResult sum_buckets(const BucketSums& s, const ByIndexBuckets& at, const Launch& launch) {
  return s.wide ? sum_buckets_of<uint64_t>(s, at, launch) : sum_buckets_of<uint32_t>(s, at, launch);
}

}  // namespace gpumem::kernels
