// Sums and products of floating-point elements of one sequence, with the bits of a reduction of each prefix
// (kernels/order.hpp).
// Moves: reads n elements and writes n.
// Access: a warp has a block of 1024 elements (block.cuh).
// Shapes: any. A tile publishes its reduction. From those of its group of 32 tiles, it finds the subtrees inside the
//         group. The last tile of a group publishes the group's reduction, and so on: one step for 32 times as many
//         tiles.
// A block reads its tile before it writes it, so the result may be x.
#include <bit>

#include "kernels/scan/block.cuh"
#include "kernels/scan/tickets.cuh"

namespace gpumem::kernels {
namespace {

constexpr uint64_t kNothing = ~uint64_t{0};   // a NaN that is never published
constexpr int kMostSubtrees = 5 * kScanHops;  // to the left of a tile

// Blocks per multiprocessor. H200, f32, 2^28 elements: 823 us with 5, 894 with 4; f64, 2^22: 36 us with 5, 33 with 4.
constexpr int resident(gpumem_dtype dtype) { return element_bytes(dtype) == 8 ? 4 : 5; }

struct Arguments : BlockArguments {
  ScanCounters* counters;
  uint64_t* nodes[kScanHops];  // the reductions of aligned groups of 32^k tiles
};

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

}  // namespace

LaunchResult scan_ordered(const ScanParams& p, const Config& config, const Launch& launch) {
  Arguments a{block_arguments(p), nullptr, {}};
  const LaunchResult error = reset(config, launch, a.counters);
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
  return start_blocks(kernel, a, config, launch);
}

LaunchResult scan_preload() { return preload(ordered_kernel<Add, GPUMEM_F32, GPUMEM_F64>); }

}  // namespace gpumem::kernels
