// z = a0 x0 + a1 x1 + ..., and dot products of z with views, in one pass.
// Moves: reads each source and each w once, writes z once and one value per dot product.
// Access: a block takes a leaf (1024 elements) at a time. A warp has one of the leaf's rows of 128 elements, with every
//         32nd element per lane, and loads all of its elements together. One warp per dot product then adds the leaf's
//         products in the reproducible order.
// Shapes: aligned elements, up to 8 sources, three axes, and at most two lists of strides. Rows of 128 elements that are
//         contiguous in every operand have constant distances. Other calls take a launch per dot product.
// A thread reads only the elements of z that it overwrites itself, so z may be a source.
#include <cstring>

#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/arithmetic/limits.hpp"
#include "kernels/division.hpp"
#include "kernels/elements.hpp"
#include "kernels/reduce/terms.cuh"
#include "kernels/rounded.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kRowThreads = 32;
constexpr int kEach = kLeafLanes / kRowThreads;  // elements per lane
static_assert(kDotThreads == kLeafRows * kRowThreads);

static_assert(kMaxReduceBlocks * kMaxDots * sizeof(SumNode) <= kScratchNodeBytes);

// Distances are in bytes. Axis 0 is the last one of the view.
template <class T>
struct DotViews {
  uint32_t n;
  uint32_t tile;  // leaves per block
  int32_t terms;
  int32_t dots;
  uint32_t other;   // as in StrideSets
  bool contiguous;  // along axis 0, with both lists of strides
  Divisor<uint32_t> extent[2];
  int64_t stride[2][kTileAxes];
  const char* x[kFewTerms];
  const char* w[kMaxDots];  // nullptr: z
  char* z;
  T factor[kFewTerms];
  const double* numerator[kFewTerms];
  const double* denominator[kFewTerms];
  double* results;
  SumNode* nodes;  // of the blocks, for each dot product
  unsigned* counter;

  __device__ __forceinline__ bool has_other_strides(int operand) const { return (other >> operand & 1) != 0; }
};

// The elements of a lane, in one row of each operand or anywhere.
template <class T>
struct Lane {
  int64_t offset[2][kEach];
  bool there[kEach];
  bool in_row;

  __device__ __forceinline__ Lane(const DotViews<T>& v, uint32_t first) {
    const uint32_t column = place(v, first, 0);
    const uint32_t lane = threadIdx.x % kRowThreads;
    in_row = v.contiguous && first < v.n && column >= lane && column - lane + kLeafLanes <= v.extent[0].value;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      there[j] = first + j * kRowThreads < v.n;
      if (j > 0) {
        offset[0][j] = offset[0][0] + kStep * j;
        offset[1][j] = offset[1][0] + kStep * j;
      }
    }
    if (in_row) return;
#pragma unroll
    for (int j = 1; j < kEach; ++j) place(v, first + j * kRowThreads, j);
  }

  // kInRow: in_row, which makes the distances constant.
  template <bool kInRow>
  __device__ __forceinline__ void load(T (&to)[kEach], const char* from, bool other) const {
    const char* const at = from + (other ? offset[1][0] : offset[0][0]);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const char* const p = kInRow ? at + kStep * j : from + (other ? offset[1][j] : offset[0][j]);
      to[j] = kInRow || there[j] ? Aligned::load(reinterpret_cast<const T*>(p)) : T{0};
    }
  }

 private:
  static constexpr int64_t kStep = kRowThreads * sizeof(T);

  // Returns the index along axis 0.
  __device__ __forceinline__ uint32_t place(const DotViews<T>& v, uint32_t index, int j) {
    const uint32_t row = v.extent[0].quotient(index);
    const uint32_t outer = v.extent[1].quotient(row);
    const uint32_t at[] = {index - row * v.extent[0].value, row - outer * v.extent[1].value, outer};
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      offset[s][j] = at[0] * v.stride[s][0] + at[1] * v.stride[s][1] + at[2] * v.stride[s][2];
    }
    return at[0];
  }
};

// The node of a leaf, for every lane.
__device__ __forceinline__ SumNode node_of_products(const double (&products)[kLeafTerms]) {
  SumNode a[kEach];
#pragma unroll
  for (int r = 0; r < kLeafRows; ++r) {
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      a[j].sum += products[r * kLeafLanes + j * kRowThreads + threadIdx.x % kRowThreads];
    }
  }
  SumNode node = fold_own<SumNode>(a);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) node = combine(node, shuffle_xor(node, distance));
  return node;
}

// Leaf i of a block: writes its z, and one node per dot product. A single dot product uses two rows of `products` in
// turn, which saves a barrier.
template <class T, int kMost>
__device__ __forceinline__ void take_leaf(const DotViews<T>& v, uint32_t leaf, uint32_t i, T (&factor)[kFewTerms],
                                          double (&products)[kMaxDots][kLeafTerms],
                                          SumNode (&leaves)[kMaxDots][kLeavesInShared]) {
  const int warp = threadIdx.x / kRowThreads;
  const int lane = threadIdx.x % kRowThreads;
  const uint32_t in_leaf = warp * kLeafLanes + lane;
  const Lane<T> own(v, leaf * kLeafTerms + in_leaf);
  T x[kMost][kEach];
  T w[kEach];
  const auto load_w = [&]<bool kInRow>(int d) {
    if (v.w[d] != nullptr) own.template load<kInRow>(w, v.w[d], v.has_other_strides(kMaxTerms + d));
  };
  const auto load_all = [&]<bool kInRow>() {
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      if (k < v.terms) own.template load<kInRow>(x[k], v.x[k], v.has_other_strides(k));
    }
    load_w.template operator()<kInRow>(0);
  };
  own.in_row ? load_all.template operator()<true>() : load_all.template operator()<false>();
  if (i == 0) {  // while the elements are on their way
    if (const uint32_t k = threadIdx.x; k < static_cast<uint32_t>(v.terms)) {
      factor[k] = factor_in_memory(v.factor[k], v.numerator[k], v.denominator[k]);
    }
    __syncthreads();
  }
  T z[kEach] = {};
#pragma unroll
  for (int k = 0; k < kMost; ++k) {
    if (k >= v.terms) break;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const T term = product(factor[k], x[k][j]);
      z[j] = k == 0 ? term : sum(z[j], term);
    }
  }
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    z[j] = canonical(z[j]);
    if (own.there[j]) Aligned::store(reinterpret_cast<T*>(v.z + own.offset[0][j]), z[j]);
  }
#pragma unroll 1
  for (int d = 0; d < v.dots; ++d) {
    if (d > 0) load_w.template operator()<false>(d);
    double* const of = products[v.dots == 1 ? i % 2 : d] + in_leaf;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const auto factor_of_z = static_cast<double>(v.w[d] != nullptr ? w[j] : z[j]);
      of[j * kRowThreads] = own.there[j] ? static_cast<double>(z[j]) * factor_of_z : 0;
    }
  }
  __syncthreads();
  const int d = (warp - static_cast<int>(i) * v.dots) & (kLeafRows - 1);  // another warp for each leaf
  if (d < v.dots) {
    const SumNode node = node_of_products(products[v.dots == 1 ? i % 2 : d]);
    if (lane == 0) leaves[d][i] = node;
  }
  if (v.dots > 1) __syncthreads();
}

__device__ __forceinline__ void store_result(double* results, int d, const SumNode& node) {
  reinterpret_cast<uint64_t*>(results)[d] = word_of(node.sum);
}

// kMost: sources.
template <class T, int kMost>
__global__ void __launch_bounds__(kDotThreads, kMost > 2 ? 2 : 3) fused_kernel(const __grid_constant__ DotViews<T> v) {
  __shared__ double products[kMaxDots][kLeafTerms];
  __shared__ SumNode leaves[kMaxDots][kLeavesInShared];
  __shared__ SumNode shared[32];
  __shared__ T factor[kFewTerms];
  synchronize_and_trigger();
  const uint32_t first = blockIdx.x * v.tile;
  const uint32_t all = (v.n + kLeafTerms - 1) / kLeafTerms;
  const uint32_t count = min(v.tile, all - first);
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) take_leaf<T, kMost>(v, first + i, i, factor, products, leaves);
  __syncthreads();
  if (const int d = threadIdx.x / kRowThreads; d < v.dots) {
    const int lane = threadIdx.x % kRowThreads;
    const SumNode node = warp_tree(eight_tree<SumNode>([&](int64_t i) { return leaves[d][i]; }, 8 * lane, count));
    if (lane == 0 && gridDim.x > 1) store_node(v.nodes + d * gridDim.x + blockIdx.x, node);
    if (lane == 0 && gridDim.x == 1) store_result(v.results, d, node);
  }
  if (gridDim.x == 1) return;
  __syncthreads();
  if (!is_last_block(v.counter, gridDim.x)) return;
#pragma unroll 1
  for (int d = 0; d < v.dots; ++d) {
    const auto node_at = [&](int64_t i) { return load_node(v.nodes + d * gridDim.x + i); };
    WarpStack<SumNode> whole;
#pragma unroll 1
    for (uint32_t i = 0; i < gridDim.x; i += 8 * kDotThreads) {
      whole.push(block_tree(eight_tree<SumNode>(node_at, i + 8 * threadIdx.x, gridDim.x), shared));
      __syncthreads();
    }
    const SumNode node = whole.whole();
    if (threadIdx.x == 0) store_result(v.results, d, node);
  }
}

template <class T>
DotViews<T> dot_views_of(const ArithmeticParams& p, const Config& config, const ReduceScratch& scratch) {
  DotViews<T> v{};
  const StrideSets sets = stride_sets(p);
  v.n = static_cast<uint32_t>(p.elements());
  v.tile = static_cast<uint32_t>(config.tile / kLeafTerms);
  v.terms = p.terms;
  v.dots = p.dots;
  v.other = sets.other;
  v.contiguous = sets.strides[0][p.rank - 1] == 1 && sets.strides[1][p.rank - 1] == 1;
  for (int32_t a = 0; a < p.rank; ++a) {
    const int32_t d = p.rank - 1 - a;
    if (a < 2) v.extent[a] = Divisor<uint32_t>(static_cast<uint32_t>(p.extents[d]));
    for (int s = 0; s < 2; ++s) v.stride[s][a] = sets.strides[s][d] * static_cast<int64_t>(sizeof(T));
  }
  for (int32_t k = 0; k < p.terms; ++k) {
    v.x[k] = static_cast<const char*>(p.x[k]);
    std::memcpy(&v.factor[k], &p.factors[k], sizeof(T));
    v.numerator[k] = p.numerators[k];
    v.denominator[k] = p.denominators[k];
  }
  for (int32_t k = 0; k < p.dots; ++k) v.w[k] = p.w[k] == p.z ? nullptr : static_cast<const char*>(p.w[k]);
  v.z = static_cast<char*>(p.z);
  v.results = p.results;
  v.nodes = static_cast<SumNode*>(scratch.nodes);
  v.counter = scratch.counters;
  return v;
}

}  // namespace

LaunchResult lincomb_dot_fused(const ArithmeticParams& params, const Config& config, const Launch& launch) {
  return for_float_or_double(params.dtype, [&]<class T>() {
    return enqueue_programmatic(params.terms <= 2 ? fused_kernel<T, 2> : fused_kernel<T, kFewTerms>,
                                static_cast<unsigned>(config.grid), kDotThreads, launch,
                                dot_views_of<T>(params, config, *launch.reduce_scratch));
  });
}

LaunchResult separate_dots(const ArithmeticParams& params, const GeneralConfig& config, const Launch& launch) {
  LaunchResult error = cudaSuccess;
  for (int32_t k = 0; k < params.dots && error == cudaSuccess; ++k) {
    ReduceView view{.rank = params.rank};
    std::memcpy(view.extents, params.extents, sizeof view.extents);
    std::memcpy(view.strides, params.z_strides, sizeof view.strides);
    std::memcpy(view.y_strides, params.w_strides[k], sizeof view.y_strides);
    error = reduce_view({.dtype = params.dtype,
                         .op = GPUMEM_DOT,
                         .x = params.z,
                         .result = params.results + k,
                         .tile = config.dot_tile,
                         .lines = {.length = params.elements()},
                         .scratch = *launch.reduce_scratch,
                         .blocks_per_line = config.dot_blocks,
                         .block = config.dot_threads,
                         .y = params.w[k],
                         .view = &view},
                        launch);
  }
  return error;
}

}  // namespace gpumem::kernels
