// Sums and products of floating-point elements, with the bits of a reduction of each prefix (kernels/order.hpp). x is one
// sequence, or has many lines, each of which belongs to a warp.
// Moves: reads n elements and writes n.
// Access: a warp has a block of 1024 elements in shared memory. It folds each 32 lanes of a row by shuffles, for all 32
//         prefixes that end there. A lane then has the prefix that ends with its element, and puts the subtrees to the
//         left in front, one for each set bit of the block's place.
// Shapes: if no sum of the block's elements can round, as is usual for elements of 32 bits or less, then any order of
//         additions has the bits, and a lane adds its elements one after the other. H200, f32, 2^28 elements: 823 us,
//         1040 us if no block is exact, and 961 us without looking.
// A tile of a sequence publishes its reduction. From those of its group of 32 tiles, it finds the subtrees inside the group. The last
// tile of a group publishes the group's reduction, and so on: one step for 32 times as many tiles.
// A block reads its tile before it writes it, so the result may be x.
#include <bit>

#include "kernels/config.hpp"
#include "kernels/scan/element.hpp"
#include "kernels/scan/fold.cuh"
#include "kernels/scan/lines.cuh"
#include "kernels/scan/scan.hpp"
#include "kernels/scan/tickets.cuh"
#include "kernels/values.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr uint64_t kNothing = ~uint64_t{0};   // a NaN that is never published
constexpr int kMostSubtrees = 5 * kScanHops;  // to the left of a tile

// Blocks per multiprocessor. H200, f32, 2^28 elements: 823 us with 5, 894 with 4; f64, 2^22: 36 us with 5, 33 with 4.
constexpr int resident(gpumem_dtype dtype) { return element_bytes(dtype) == 8 ? 4 : 5; }

struct Arguments {
  ScanParams p;
  bool aligned;  // elements of x and of the result
  ScanCounters* counters;
  uint64_t* nodes[kScanHops];  // the reductions of aligned groups of 32^k tiles
  Report report;               // of lines
};

constexpr int kEach = kLeafLanes / 32;  // elements of a row per lane

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

// A block of up to 1024 elements of a sequence or a line, and its results. Strides are in elements.
template <class T, class Result>
struct Block {
  const T* x;
  Result* result;
  int64_t x_stride;
  int64_t result_stride;
  int count;
  bool aligned;
  bool vectors;         // of 16 bytes, of x
  bool result_vectors;  // of up to 16 bytes

  __device__ Block(const Arguments& a, const Line& line, int64_t first, int64_t stride_of_x, int64_t stride_of_result)
      : x_stride(stride_of_x),
        result_stride(stride_of_result),
        count(static_cast<int>(min(line.n - first, int64_t{kLeafTerms}))),
        aligned(a.aligned) {
    x = static_cast<const T*>(a.p.x) + line.x + first * x_stride;
    result = static_cast<Result*>(a.p.result) + line.result + first * result_stride;
    vectors = x_stride == 1 && is_aligned(x, 16);
    result_vectors = result_stride == 1 && a.p.exclusive == 0 && is_aligned(result, 16);
  }
};

// Brings the block's elements to shared memory. Those past the end of the last row are neutral.
template <class T, class Result>
__device__ void load_block(const Block<T, Result>& block, T* to, T neutral, int lane) {
  constexpr int kVectors = kLeafTerms * static_cast<int>(sizeof(T)) / (16 * 32);
  constexpr int kAtOnce = kVectors < 4 ? kVectors : 4;
  if (block.vectors && block.count == kLeafTerms) {
    const auto* from = reinterpret_cast<const uint4*>(block.x) + lane;
    auto* vectors = reinterpret_cast<uint4*>(to) + lane;
#pragma unroll
    for (int at = 0; at < kVectors; at += kAtOnce) {
      uint4 v[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) v[k] = __ldcs(from + (at + k) * 32);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) vectors[(at + k) * 32] = v[k];
    }
    return;
  }
#pragma unroll 1
  for (int row = 0; row < block.count; row += kLeafLanes) {
    T v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int i = row + 32 * k + lane;
      const T* const from = block.x + i * block.x_stride;
      v[k] = neutral;
      if (i < block.count) v[k] = block.aligned ? Aligned::load(from) : Bytewise::load(from);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) to[row + 32 * k + lane] = v[k];
  }
}

template <class Op, class T>
__device__ void add_row(Lanes& lanes, const T* row, int lane) {
#pragma unroll
  for (int k = 0; k < 4; ++k) lanes.segment[k] = Op::of(lanes.segment[k], as_double(row[32 * k + lane]));
}

// The fold of all lanes.
template <class Op>
__device__ double folded(const Lanes& lanes) {
  double v = Op::of(Op::of(lanes.segment[0], lanes.segment[2]), Op::of(lanes.segment[1], lanes.segment[3]));
#pragma unroll
  for (int half = 16; half > 0; half /= 2) v = Op::of(v, __shfl_xor_sync(kAll, v, half));
  return v;
}

// The magnitudes of elements, as bits.
struct Magnitudes {
  uint32_t greatest = 0;
  uint32_t least_less_one = ~0u;  // of those that are not 0

  template <class T>
  __device__ void enter(const T* row, int lane) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint32_t bits = magnitude_bits(row[32 * k + lane]);
      greatest = max(greatest, bits);
      least_less_one = min(least_less_one, bits - 1);
    }
  }
  // Whether no sum of the warp's elements rounds, in any order.
  template <gpumem_dtype kType>
  __device__ bool exact() {
#pragma unroll
    for (int half = 16; half > 0; half /= 2) {
      greatest = max(greatest, __shfl_xor_sync(kAll, greatest, half));
      least_less_one = min(least_less_one, __shfl_xor_sync(kAll, least_less_one, half));
    }
    return block_sums_are_exact<kType>(greatest, least_less_one + 1);
  }
};
template <class Op, class T>
constexpr bool kMayBeExact = std::is_same_v<Op, Add> && sizeof(T) < 8;

template <class T, class Result>
__device__ void store_value(const Block<T, Result>& block, int at, double value) {
  Result* const to = block.result + at * block.result_stride;
  const auto result = converted<Result>(gpumem::canonical(value));
  block.aligned ? Aligned::store(to, result) : Bytewise::store(to, result);
}

// The prefix that ends at a place of the block. An exclusive scan writes it to the next element. The next block writes
// its first one itself.
template <class T, class Result>
__device__ void store_prefix(const Block<T, Result>& block, int exclusive, int place, double prefix) {
  if (place + exclusive < block.count) store_value(block, place + exclusive, prefix);
}

// Neighbouring prefixes of the block, from place `at` on.
template <class T, class Result>
__device__ void store_prefixes(const Block<T, Result>& block, int exclusive, int at, const double (&prefix)[kEach]) {
  struct alignas(kEach * sizeof(Result) < 16 ? kEach * sizeof(Result) : 16) Vector {
    Result element[kEach];
  };
  if (block.result_vectors && at + kEach <= block.count) {
    Vector v;
#pragma unroll
    for (int k = 0; k < kEach; ++k) v.element[k] = converted<Result>(gpumem::canonical(prefix[k]));
    *reinterpret_cast<Vector*>(block.result + at) = v;
    return;
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) store_prefix(block, exclusive, at + k, prefix[k]);
}

// Writes the prefixes of the block, whose elements are x.
template <class Op, int kAtOnce, class T, class Result, class Subtrees>
__device__ void write_prefixes(const Block<T, Result>& block, int exclusive, const Subtrees& subtrees, const T* x,
                               int lane) {
  Lanes before = neutral_lanes<Op>();
#pragma unroll 1
  for (int row = 0; row * kLeafLanes < block.count; row += kAtOnce) {
    double prefix[4 * kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; ++r) {
      Lanes after = before;
      add_row<Op>(after, x + (row + r) * kLeafLanes, lane);
      row_prefixes<Op>(before, after, prefix + 4 * r, lane);
      before = after;
    }
    subtrees.each([&](double subtree) {
#pragma unroll
      for (double& v : prefix) v = Op::of(subtree, v);
    });
#pragma unroll
    for (int k = 0; k < 4 * kAtOnce; ++k) store_prefix(block, exclusive, kLeafLanes * row + 32 * k + lane, prefix[k]);
  }
}

// The same if no sum rounds. A lane has neighbouring elements of each row.
template <class T, class Result, class Subtrees>
__device__ void write_exact_prefixes(const Block<T, Result>& block, int exclusive, const Subtrees& subtrees, const T* x,
                                     int lane) {
  struct alignas(kEach * sizeof(T)) Vector {
    T element[kEach];
  };
  double rows_before = 0;
#pragma unroll 1
  for (int row = 0; row < block.count; row += kLeafLanes) {
    const int at = row + kEach * lane;
    const auto v = *reinterpret_cast<const Vector*>(x + at);
    double prefix[kEach] = {as_double(v.element[0])};
#pragma unroll
    for (int k = 1; k < kEach; ++k) prefix[k] = __dadd_rn(prefix[k - 1], as_double(v.element[k]));
    double sum = prefix[kEach - 1];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const double other = __shfl_up_sync(kAll, sum, distance);
      if (lane >= distance) sum = __dadd_rn(sum, other);
    }
    const double left = __shfl_up_sync(kAll, sum, 1);
    const double before = lane == 0 ? rows_before : __dadd_rn(rows_before, left);
    rows_before = __dadd_rn(rows_before, __shfl_sync(kAll, sum, 31));
#pragma unroll
    for (double& p : prefix) p = __dadd_rn(before, p);
    subtrees.each([&](double subtree) {
#pragma unroll
      for (double& p : prefix) p = __dadd_rn(subtree, p);
    });
    store_prefixes(block, exclusive, at, prefix);
  }
}

// A warp's work on a block: first its reduction, and then the prefixes.
template <class Op, gpumem_dtype kType, gpumem_dtype kResult, int kRowsAtOnce>
struct BlockScan {
  using T = ElementOf<kType>;
  using Result = ElementOf<kResult>;
  const Block<T, Result> block;
  T* const x;  // in shared memory
  const int lane;
  Magnitudes magnitudes = {};

  __device__ double reduction() {
    load_block(block, x, converted<T>(static_cast<float>(Op::kNeutral)), lane);
    __syncwarp();
    Lanes lanes = neutral_lanes<Op>();
    const auto add = [&](int row) {
      add_row<Op>(lanes, x + row * kLeafLanes, lane);
      if constexpr (kMayBeExact<Op, T>) magnitudes.enter(x + row * kLeafLanes, lane);
    };
    if (block.count == kLeafTerms) {
#pragma unroll
      for (int row = 0; row < kLeafRows; ++row) add(row);
    } else {
#pragma unroll 1
      for (int row = 0; row * kLeafLanes < block.count; ++row) add(row);
    }
    return folded<Op>(lanes);
  }
  // subtrees.each(f) calls f with the reductions of the subtrees to the left, the nearest first.
  template <class Subtrees>
  __device__ void write(int exclusive, const Subtrees& subtrees) {
    if (exclusive != 0 && lane == 0 && block.count > 0) {
      double without = Op::kNeutral;
      subtrees.each([&](double subtree) { without = Op::of(subtree, without); });
      store_value(block, 0, without);
    }
    if constexpr (kMayBeExact<Op, T>) {
      if (magnitudes.template exact<kType>()) return write_exact_prefixes(block, exclusive, subtrees, x, lane);
    }
    write_prefixes<Op, kRowsAtOnce>(block, exclusive, subtrees, x, lane);
  }
};

__device__ __forceinline__ int warps() { return static_cast<int>(blockDim.x / 32); }

// Of a tile of one sequence.
struct Tile {
  double tree[2 * kScanWarps];  // of its blocks. Node k has the children 2k and 2k + 1
  double left[kMostSubtrees];   // of earlier tiles, the nearest first
  int left_count;
  unsigned number;
};

// Completes the tree of the tile's blocks. Called by a warp.
template <class Op>
__device__ void complete(const Arguments& a, Tile& tile, int lane) {
  double* const tree = tile.tree;
  for (int half = warps() / 2; half > 0; half /= 2) {
    if (lane < half) tree[half + lane] = Op::of(tree[2 * (half + lane)], tree[2 * (half + lane) + 1]);
    __syncwarp();
  }
  const int count = a.counters == nullptr ? 0 : find_subtrees<Op>(a, tile.number, tree[1], tile.left, lane);
  if (lane == 0) tile.left_count = count;
}

struct SubtreesOfTile {
  const Tile& tile;
  int block;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
#pragma unroll
    for (int b = 0; 1 << b < kScanWarps; ++b) {
      if ((block >> b & 1) != 0) f(tile.tree[(warps() >> b) + (block >> b) - 1]);
    }
    for (int i = 0; i < tile.left_count; ++i) f(tile.left[i]);
  }
};
struct SubtreesOfLine {
  const double* level;  // the reductions of aligned groups of 2^k blocks
  uint32_t block;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    for (uint32_t left = block; left != 0; left &= left - 1) f(level[__ffs(static_cast<int>(left)) - 1]);
  }
};

static_assert(sizeof(Tile) <= kScanStaticBytes && kScanWarps * kLevels * sizeof(double) <= kScanStaticBytes);

template <class Op, gpumem_dtype kType, gpumem_dtype kResult>
__global__ void __launch_bounds__(kScanWarps * 32, resident_blocks(resident(kType), kScanWarps * 32))
    ordered_kernel(const __grid_constant__ Arguments a) {
  using Scan = BlockScan<Op, kType, kResult, 2>;
  __shared__ Tile tile;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  auto* const x = dynamic_shared<typename Scan::T>() + warp * kLeafTerms;
  if (threadIdx.x == 0) tile.number = next_tile(a.counters);
  __syncthreads();
  const int64_t first = (int64_t{tile.number} * warps() + warp) * kLeafTerms;
  Scan scan{{a, {.n = a.p.n}, first, 1, 1}, x, lane};
  const double own = scan.reduction();
  if (lane == 0) tile.tree[warps() + warp] = own;
  __syncthreads();
  if (warp == 0) complete<Op>(a, tile, lane);
  __syncthreads();
  if (a.p.status != nullptr && tile.number == 0 && threadIdx.x == 0) *a.p.status = GPUMEM_OK;
  scan.write(a.p.exclusive, SubtreesOfTile{tile, warp});
}

// A warp has a line.
template <gpumem_dtype kType, gpumem_dtype kResult>
__global__ void __launch_bounds__(kScanWarps * 32, resident_blocks(4, kScanWarps * 32))
    sums_of_lines(const __grid_constant__ Arguments a) {
  using Scan = BlockScan<Add, kType, kResult, 1>;  // a line may have a single row
  __shared__ double levels[kScanWarps][kLevels];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  auto* const x = dynamic_shared<typename Scan::T>() + warp * kLeafTerms;
  double* const of_line = levels[warp];
  const Line line = line_of(a.p, int64_t{blockIdx.x} * warps() + warp);
  const int64_t x_stride = a.p.view.rank > 0 ? a.p.view.x_strides[0] : 1;
  const int64_t result_stride = a.p.view.rank > 0 ? a.p.view.result_strides[0] : 1;
  const auto blocks = static_cast<uint32_t>((line.n + kLeafTerms - 1) / kLeafTerms);
#pragma unroll 1
  for (uint32_t block = 0; block < blocks; ++block) {
    Scan scan{{a, line, int64_t{block} * kLeafTerms, x_stride, result_stride}, x, lane};
    double subtree = scan.reduction();
    scan.write(a.p.exclusive, SubtreesOfLine{of_line, block});
    int level = 0;
    for (; (block >> level & 1) != 0; ++level) subtree = Add::of(of_line[level], subtree);
    __syncwarp();
    if (lane == 0) of_line[level] = subtree;
    __syncwarp();
  }
  write_report(a.report, line.sound ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE);
}

Arguments arguments_of(const ScanParams& p) {
  Arguments a{};
  a.p = p;
  a.aligned = aligned(p.x, element_bytes(p.dtype)) && aligned(p.result, element_bytes(p.result_type));
  return a;
}
cudaError_t start(void (*kernel)(Arguments), const Arguments& a, const Config& config, const Launch& launch) {
  const auto bytes = static_cast<int>(config.shared_bytes);
  return enqueue_shared(kernel, static_cast<unsigned>(config.grid), static_cast<unsigned>(config.block), {bytes, bytes},
                        launch, a);
}

}  // namespace

LaunchResult scan_ordered(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a = arguments_of(p);
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
  return start(kernel, a, config, launch);
}

LaunchResult scan_sums_of_lines(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a = arguments_of(p);
  const cudaError_t error = begin_report(p, launch, a.report);
  if (error != cudaSuccess) return error;
  void (*kernel)(Arguments) = nullptr;
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    if constexpr (is_floating(kType)) kernel = sums_of_lines<kType, kResult>;
  });
  return start(kernel, a, config, launch);
}

LaunchResult scan_preload() { return preload(ordered_kernel<Add, GPUMEM_F32, GPUMEM_F64>); }

}  // namespace gpumem::kernels
