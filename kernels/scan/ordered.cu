// Sums and products of floating-point elements, with the bits of a reduction of each prefix (kernels/order.hpp).
// Moves: reads n elements and writes n.
// Access: a warp has a block of 1024 elements in shared memory. It folds each 32 lanes of a row by shuffles, for all 32
//         prefixes that end there. A lane then has the prefix that ends with its element, and puts the subtrees to the
//         left in front, one for each set bit of the block's place.
// A tile publishes its reduction. From those of its group of 32 tiles, it finds the subtrees inside the group. The last
// tile of a group publishes the group's reduction, and so on: one step for 32 times as many tiles.
// A block reads its tile before it writes it, so the result may be x.
#include <bit>

#include "kernels/config.hpp"
#include "kernels/scan/element.hpp"
#include "kernels/scan/scan.hpp"
#include "kernels/scan/tickets.cuh"
#include "kernels/values.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr unsigned kAll = 0xffffffff;
constexpr uint64_t kNothing = ~uint64_t{0};  // a NaN that is never published
constexpr int kMostSubtrees = 5 * kScanHops;

struct Add {
  static constexpr double kNeutral = 0;
  static __device__ double of(double a, double b) { return __dadd_rn(a, b); }
};
struct Multiply {
  static constexpr double kNeutral = 1;
  static __device__ double of(double a, double b) { return __dmul_rn(a, b); }
};

struct Arguments {
  ScanParams p;
  bool aligned;  // elements of x and of the result
  bool vectors;  // x begins at a multiple of 16 bytes
  ScanCounters* counters;
  uint64_t* nodes[kScanHops];  // the reductions of aligned groups of 32^k tiles
};

template <class T>
__device__ double as_double(T v) {
  if constexpr (kIsSixteen<T>) return static_cast<double>(float_of(v));
  if constexpr (!kIsSixteen<T>) return static_cast<double>(v);
}

// Enters the subtrees to the left of this tile, whose reduction is `own`, into `left`, the nearest first. Returns their
// number. Called by a warp.
template <class Op>
__device__ int find_subtrees(const Arguments& a, unsigned tile, double own, double* left, int lane) {
  if (lane == 0) write_word(a.nodes[0] + tile, word_of(own));
  uint64_t seen[kScanHops];
  const auto node = [&](int k) { return a.nodes[k] + ((tile >> 5 * k & ~31u) + static_cast<unsigned>(lane)); };
#pragma unroll
  for (int k = 0; k < kScanHops; ++k) {
    seen[k] = static_cast<unsigned>(lane) < (tile >> 5 * k & 31) ? read_word(node(k)) : 0;
  }
  int count = 0;
  bool ends = true;  // this tile is the last one of its groups so far
#pragma unroll
  for (int k = 0; k < kScanHops; ++k) {
    if (tile >> 5 * k == 0) break;
    while (__any_sync(kAll, seen[k] == kNothing)) {
#pragma unroll
      for (int j = k; j < kScanHops; ++j) {
        if (seen[j] == kNothing) seen[j] = read_word(node(j));
      }
    }
    const unsigned mine = tile >> 5 * k & 31;
    double v = static_cast<unsigned>(lane) == mine ? own : std::bit_cast<double>(seen[k]);
#pragma unroll
    for (int b = 0; b < 5; ++b) {
      const double subtree = __shfl_sync(kAll, v, static_cast<int>(((mine >> b) - 1) << b & 31));
      if ((mine >> b & 1) != 0) {
        if (lane == 0) left[count] = subtree;
        ++count;
      }
      v = Op::of(v, __shfl_xor_sync(kAll, v, 1 << b));
    }
    ends = ends && mine == 31;
    own = v;
    if (k + 1 < kScanHops && ends && lane == 0) write_word(a.nodes[k + 1] + (tile >> 5 * (k + 1)), word_of(own));
  }
  return count;
}

// Brings the block's elements to shared memory. Those past the end are neutral.
template <class T>
__device__ void load_block(const Arguments& a, int64_t first, T* to, T neutral, int lane) {
  const T* x = static_cast<const T*>(a.p.x) + first;
  if (a.vectors && first + kLeafTerms <= a.p.n) {
    constexpr int kVectors = kLeafTerms * static_cast<int>(sizeof(T)) / 512;
    constexpr int kAtOnce = 4;
    const auto* from = reinterpret_cast<const uint4*>(x) + lane;
    auto* vectors = reinterpret_cast<uint4*>(to) + lane;
#pragma unroll
    for (int at = 0; at < kVectors; at += kAtOnce) {
      uint4 v[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) v[k] = __ldcs(from + (at + k) * 32);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) vectors[(at + k) * 32] = v[k];
    }
  } else {
    for (int i = lane; i < kLeafTerms; i += 32) {
      T v = neutral;
      if (first + i < a.p.n) v = a.aligned ? Aligned::load(x + i) : Bytewise::load(x + i);
      to[i] = v;
    }
  }
  __syncwarp();
}

// The reduction of a block.
template <class Op, class T>
__device__ double block_reduction(const T* x, int lane) {
  double lanes[4] = {Op::kNeutral, Op::kNeutral, Op::kNeutral, Op::kNeutral};
#pragma unroll
  for (int i = 0; i < kLeafTerms / 32; ++i) lanes[i % 4] = Op::of(lanes[i % 4], as_double(x[32 * i + lane]));
  double v = Op::of(Op::of(lanes[0], lanes[2]), Op::of(lanes[1], lanes[3]));
#pragma unroll
  for (int half = 16; half > 0; half /= 2) v = Op::of(v, __shfl_xor_sync(kAll, v, half));
  return v;
}

// Prefixes that end in 32 neighbouring lanes: `before` if a lane is not in the prefix, `after` if it is. A lane returns
// the prefix that ends with it.
template <class Op>
__device__ __forceinline__ double fold_prefixes(double before, double after, int lane) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    // The prefixes of the upper half contain all of the lower one. Those of the lower half have nothing of the upper.
    const double other = __shfl_xor_sync(kAll, (lane & half) != 0 ? before : after, half);
    before = Op::of(before, other);
    after = Op::of(after, other);
  }
  return after;
}

template <class Result>
__device__ void store_value(const Arguments& a, int64_t at, double value) {
  auto* to = static_cast<Result*>(a.p.result) + at;
  const auto result = converted<Result>(gpumem::canonical(value));
  a.aligned ? Aligned::store(to, result) : Bytewise::store(to, result);
}

template <class Op, gpumem_dtype kType, gpumem_dtype kResult, int kWarps = kScanWarps, int kRows = 1>
__global__ void __launch_bounds__(kWarps * 32, resident_blocks(48 / kWarps, kWarps * 32))
    ordered_kernel(const __grid_constant__ Arguments a) {
  using T = ElementOf<kType>;
  __shared__ double tree[2 * kWarps];  // node k has the children 2k and 2k + 1
  __shared__ double left[kMostSubtrees];
  __shared__ int left_count;
  __shared__ unsigned taken;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  T* const x = dynamic_shared<T>() + warp * kLeafTerms;
  if (threadIdx.x == 0) taken = next_tile(a.counters);
  __syncthreads();
  const int64_t first = (int64_t{taken} * kWarps + warp) * kLeafTerms;
  load_block(a, first, x, converted<T>(static_cast<float>(Op::kNeutral)), lane);
  const double own = block_reduction<Op>(x, lane);
  if (lane == 0) tree[kWarps + warp] = own;
  __syncthreads();
  if (warp == 0) {
#pragma unroll
    for (int half = kWarps / 2; half > 0; half /= 2) {
      if (lane < half) tree[half + lane] = Op::of(tree[2 * (half + lane)], tree[2 * (half + lane) + 1]);
      __syncwarp();
    }
    const int count = a.counters == nullptr ? 0 : find_subtrees<Op>(a, taken, tree[1], left, lane);
    if (lane == 0) left_count = count;
  }
  __syncthreads();
  const int count = left_count;
  const auto put_in_front = [&](const auto& join) {
#pragma unroll
    for (int b = 0; 1 << b < kWarps; ++b) {
      if ((warp >> b & 1) != 0) join(tree[(kWarps >> b) + (warp >> b) - 1]);
    }
    for (int i = 0; i < count; ++i) join(left[i]);
  };
  if (a.p.exclusive != 0 && lane == 0 && first < a.p.n) {
    double before = Op::kNeutral;
    put_in_front([&](double subtree) { before = Op::of(subtree, before); });
    store_value<ElementOf<kResult>>(a, first, before);
  }
  double lanes[4] = {Op::kNeutral, Op::kNeutral, Op::kNeutral, Op::kNeutral};
#pragma unroll 1
  for (int row = 0; row < kLeafRows; row += kRows) {
    double prefix[4 * kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      double next[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) next[k] = Op::of(lanes[k], as_double(x[128 * (row + r) + 32 * k + lane]));
      // The first two steps of the fold. Element k of `folded` has the segments below k.
      const double even[3] = {Op::of(lanes[0], lanes[2]), Op::of(next[0], lanes[2]), Op::of(next[0], next[2])};
      const double odd[3] = {Op::of(lanes[1], lanes[3]), Op::of(next[1], lanes[3]), Op::of(next[1], next[3])};
      const double folded[5] = {Op::of(even[0], odd[0]), Op::of(even[1], odd[0]), Op::of(even[1], odd[1]),
                                Op::of(even[2], odd[1]), Op::of(even[2], odd[2])};
#pragma unroll
      for (int k = 0; k < 4; ++k) prefix[4 * r + k] = fold_prefixes<Op>(folded[k], folded[k + 1], lane);
#pragma unroll
      for (int k = 0; k < 4; ++k) lanes[k] = next[k];
    }
    put_in_front([&](double subtree) {
#pragma unroll
      for (double& v : prefix) v = Op::of(subtree, v);
    });
#pragma unroll
    for (int k = 0; k < 4 * kRows; ++k) {
      // An exclusive scan writes a prefix to the next element. The next block writes its first one itself.
      const int to = 128 * row + 32 * k + lane + a.p.exclusive;
      if (to < kLeafTerms && first + to < a.p.n) store_value<ElementOf<kResult>>(a, first + to, prefix[k]);
    }
  }
  if (a.p.status != nullptr && taken == 0 && threadIdx.x == 0) *a.p.status = GPUMEM_OK;
}

}  // namespace

LaunchResult scan_ordered(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{p};
  a.aligned = aligned(p.x, element_bytes(p.dtype)) && aligned(p.result, element_bytes(p.result_type));
  a.vectors = aligned(p.x, 16);
  const cudaError_t error = reset(config, launch, a.counters);
  if (error != cudaSuccess) return error;
  auto* node = reinterpret_cast<uint64_t*>(a.counters + 1);
  for (int k = 0; k < kScanHops; ++k) {
    a.nodes[k] = node;
    node += scan_nodes(config.grid, k);
  }
  void (*kernel)(Arguments) = nullptr;
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    if constexpr (is_floating(kType)) {
      kernel = p.op == GPUMEM_SUM ? ordered_kernel<Add, kType, kResult> : ordered_kernel<Multiply, kType, kResult>;
    }
  });
  const auto bytes = static_cast<int>(config.shared_bytes);
  return enqueue_shared(kernel, static_cast<unsigned>(config.grid), kScanWarps * 32, {bytes, bytes}, launch, a);
}

LaunchResult scan_preload() { return preload(ordered_kernel<Add, GPUMEM_F32, GPUMEM_F64>); }

}  // namespace gpumem::kernels
