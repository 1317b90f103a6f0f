// Sums and products of floating-point elements of one sequence, with the bits of a reduction of each prefix
// (kernels/order.hpp).
// Moves: reads n elements and writes n.
// Access: ordered: each warp has a block of 1024 elements (block.cuh). ordered_rows: each tile is one block, and each
//         warp has a row of 128 elements.
// Shapes: any; ordered_rows: short sequences, whose time is that of one block. A tile publishes its reduction. From
//         those of its group of 32 tiles, it finds the subtrees inside the group. The last tile of a group publishes
//         the group's reduction, and so on: one step for 32 times as many tiles.
// A block reads its tile before it writes it, so the result may be x.
#include <bit>

#include "kernels/scan/block.cuh"
#include "kernels/scan/tile_words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kMostSubtrees = 5 * kScanHops;  // to the left of a tile

// Blocks per multiprocessor. H200, f32, 2^28 elements: 823 us with 5, 894 with 4; f64, 2^22: 36 us with 5, 33 with 4.
constexpr int resident(gpumem_dtype dtype) { return element_bytes(dtype) == 8 ? 4 : 5; }

struct Arguments : BlockArguments {
  ScanHead* head;
  uint32_t nodes[kScanHops];  // where the reductions of aligned groups of 32^k tiles begin
  uint32_t words;             // of all of them
};

// A reduction as a word that is not 0, which would be the complement of a NaN that is not canonical.
__device__ __forceinline__ uint64_t published(double reduction) { return ~word_of(reduction); }

// Enters the subtrees to the left of this tile, whose reduction is `own`, into `left`, the nearest first. Returns their
// number. Called by a warp.
template <class Op>
__device__ int find_subtrees(const Arguments& a, const TileWords& words, unsigned tile, double own, double* left,
                             int lane) {
  if (lane == 0) write_word(words.own() + a.nodes[0] + tile, published(own));
  words.clear_before(tile, gridDim.x, lane);
  constexpr uint64_t kNotNeeded = 1;
  uint64_t seen[kScanHops];
  const auto node = [&](int k) {
    return words.own() + a.nodes[k] + ((tile >> 5 * k & ~31u) + static_cast<unsigned>(lane));
  };
#pragma unroll
  for (int k = 0; k < kScanHops; ++k) {
    seen[k] = static_cast<unsigned>(lane) < (tile >> 5 * k & 31) ? read_word(node(k)) : kNotNeeded;
  }
  int count = 0;
  bool ends = true;  // this tile is the last one of its groups so far
#pragma unroll
  for (int k = 0; k < kScanHops; ++k) {
    if (tile >> 5 * k == 0) break;
    while (__any_sync(kAll, seen[k] == 0)) {
#pragma unroll
      for (int j = k; j < kScanHops; ++j) {
        if (seen[j] == 0) seen[j] = read_word(node(j));
      }
    }
    const unsigned mine = tile >> 5 * k & 31;
    double v = static_cast<unsigned>(lane) == mine ? own : std::bit_cast<double>(~seen[k]);
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
    if (k + 1 < kScanHops && ends && lane == 0) {
      write_word(words.own() + a.nodes[k + 1] + (tile >> 5 * (k + 1)), published(own));
    }
  }
  if (tile + 1 == gridDim.x && lane == 0) words.end_turn(a.words);
  return count;
}

// Of a tile of one sequence.
struct Tile {
  double tree[2 * kScanWarps];  // of its blocks. Node k has the children 2k and 2k + 1
  double left[kMostSubtrees];   // of earlier tiles, the nearest first
  int left_count;
};

// Completes the tree of the tile's blocks. Called by a warp.
template <class Op>
__device__ void complete(const Arguments& a, const TileWords& words, Tile& tile, int lane) {
  double* const tree = tile.tree;
  for (int half = warps() / 2; half > 0; half /= 2) {
    if (lane < half) tree[half + lane] = Op::of(tree[2 * (half + lane)], tree[2 * (half + lane) + 1]);
    __syncwarp();
  }
  const int count = a.head == nullptr ? 0 : find_subtrees<Op>(a, words, block_number(), tree[1], tile.left, lane);
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

static_assert(sizeof(Tile) <= kScanStaticBytes);

template <class Op, gpumem_dtype kType, gpumem_dtype kResult>
__global__ void __launch_bounds__(kScanWarps * 32, resident_blocks(resident(kType), kScanWarps * 32))
    ordered_kernel(const __grid_constant__ Arguments a) {
  using Scan = BlockScan<Op, kType, kResult, 2>;
  __shared__ Tile tile;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  auto* const x = dynamic_shared<typename Scan::T>() + warp * kLeafTerms;
  synchronize_and_trigger();
  const unsigned number = block_number();
  const TileWords words(a.head);
  const int64_t first = (int64_t{number} * warps() + warp) * kLeafTerms;
  Scan scan{{a, {.n = a.p.n}, first, 1, 1}, x, lane};
  const double own = scan.reduction();
  if (lane == 0) tile.tree[warps() + warp] = own;
  __syncthreads();
  if (warp == 0) complete<Op>(a, words, tile, lane);
  __syncthreads();
  if (a.p.status != nullptr && number == 0 && threadIdx.x == 0) *a.p.status = GPUMEM_OK;
  scan.write(a.p.exclusive, SubtreesOfTile{tile, warp});
}

// The types are looked up at run time.
template <class Op>
__global__ void __launch_bounds__(kScanRowsThreads) ordered_rows_kernel(const __grid_constant__ Arguments a) {
  __shared__ double rows[kLeafRows][kLeafLanes];
  __shared__ double left[kMostSubtrees];
  __shared__ int left_count;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  synchronize_and_trigger();
  const unsigned number = block_number();
  const TileWords words(a.head);
  const Ordered<Op> scan(a.p);
  const Elements from = elements_of(a.p);
  const int64_t first = int64_t{number} * kLeafTerms;
  const int count = static_cast<int>(min(a.p.n - first, int64_t{kLeafTerms}));
  const int at = kLeafLanes * warp + lane;  // and the same lane of three further segments
  uint64_t bits[kEach] = {};
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    if (at + 32 * k < count) bits[k] = from.load(from.at(0, first + at + 32 * k));
  }
  double value[kEach];
  scan.values(bits, value);
#pragma unroll
  for (int k = 0; k < kEach; ++k) rows[warp][lane + 32 * k] = at + 32 * k < count ? value[k] : Op::kNeutral;
  __syncthreads();
  Lanes before = neutral_lanes<Op>();
  for (int row = 0; row < warp; ++row) add_row<Op>(before, rows[row], lane);
  Lanes after = before;
  add_row<Op>(after, rows[warp], lane);
  double prefix[kEach];
  row_prefixes<Op>(before, after, prefix, lane);
  if (warp == kLeafRows - 1) {
    const double own = __shfl_sync(kAll, prefix[kEach - 1], 31);
    const int found = a.head == nullptr ? 0 : find_subtrees<Op>(a, words, number, own, left, lane);
    if (lane == 0) left_count = found;
  }
  __syncthreads();
  double without = Op::kNeutral;  // the block
  for (int i = 0; i < left_count; ++i) {
    without = Op::of(left[i], without);
#pragma unroll
    for (double& v : prefix) v = Op::of(left[i], v);
  }
  scan.results(prefix, bits);
  const Elements to = results_of(a.p);
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int place = at + 32 * k + a.p.exclusive;
    if (place < count) to.store(to.at(0, first + place), bits[k]);
  }
  if (threadIdx.x != 0) return;
  if (a.p.exclusive != 0) {
    const double values[1] = {without};
    uint64_t bits_before[1];
    scan.results(values, bits_before);
    to.store(to.at(0, first), bits_before[0]);
  }
  if (a.p.status != nullptr && number == 0) *a.p.status = GPUMEM_OK;
}

cudaError_t ordered_arguments(const ScanParams& p, const Config& config, const Launch& launch, Arguments& a) {
  a = {block_arguments(p), nullptr, {}, 0};
  for (int k = 0; k < kScanHops; ++k) {
    a.nodes[k] = a.words;
    a.words += static_cast<uint32_t>(scan_nodes(config.grid, k));
  }
  return static_cast<cudaError_t>(tile_words(config, launch, a.head));
}

}  // namespace

LaunchResult scan_ordered_rows(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a;
  const cudaError_t error = ordered_arguments(p, config, launch, a);
  if (error != cudaSuccess) return error;
  return enqueue_programmatic(p.op == GPUMEM_SUM ? ordered_rows_kernel<Add> : ordered_rows_kernel<Multiply>,
                              static_cast<unsigned>(config.grid), kScanRowsThreads, launch, a);
}

LaunchResult scan_ordered(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a;
  const cudaError_t error = ordered_arguments(p, config, launch, a);
  if (error != cudaSuccess) return error;
  void (*kernel)(Arguments) = nullptr;
  for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
    if constexpr (is_floating(kType)) {
      kernel = p.op == GPUMEM_SUM ? ordered_kernel<Add, kType, kResult> : ordered_kernel<Multiply, kType, kResult>;
    }
  });
  return start_blocks(kernel, a, config, launch);
}

LaunchResult scan_preload() { return preload(ordered_kernel<Add, GPUMEM_F32, GPUMEM_F64>); }

}  // namespace gpumem::kernels
