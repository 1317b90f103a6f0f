// Implementations of reduce. Launch shapes were measured on an H200 (bench/experiments.csv). Small inputs use one chunk
// per warp and few warps per block. Large ones use long tiles, which leave few partial results to combine.
#include <algorithm>
#include <bit>

#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

bool is_order_free(const ReduceParams& p) noexcept { return node_kind(p.dtype, p.op) == NodeKind::order_free; }
constexpr const char* kOrdered = "it does not have order-free sums";

const char* accepts_sequence(const DeviceProps&, const ReduceParams& p) noexcept {
  if (is_order_free(p)) return kOrdered;
  return p.view.rank == 0 ? nullptr : "it takes elements with one stride";
}
const char* contiguous(const ReduceParams& p) noexcept {
  if (p.view.rank != 0) return "it needs contiguous elements, not a view of several axes";
  if (p.stride != 1 || p.y_stride != 1) return "it needs stride 1";
  if (!aligned(p.x, element_bytes(p.dtype)) || !aligned(p.y, element_bytes(p.dtype)))
    return "it needs aligned elements";
  return nullptr;
}

int64_t chunks_of(const ReduceParams& p) noexcept { return ceil_div(p.n, reduce_chunk(p.dtype, p.op)); }

const char* accepts_contiguous(const DeviceProps&, const ReduceParams& p) noexcept { return contiguous(p); }
const char* accepts_view(const DeviceProps&, const ReduceParams& p) noexcept {
  return is_order_free(p) ? kOrdered : nullptr;
}
const char* accepts_tiles(const ReduceParams& p) noexcept { return is_order_free(p) ? kOrdered : contiguous(p); }
const char* accepts_order_free_view(const DeviceProps&, const ReduceParams& p) noexcept {
  return is_order_free(p) ? nullptr : "it is for order-free sums";
}
const char* accepts_order_free(const DeviceProps& d, const ReduceParams& p) noexcept {
  if (const char* refusal = accepts_order_free_view(d, p)) return refusal;
  if (element_bytes(p.dtype) == 2) return "it needs elements of 4 or 8 bytes";
  if (takes_y(p.op) && misalignment(p.x) != misalignment(p.y)) return "it needs x and y with the same alignment";
  return contiguous(p);
}
const char* accepts_last_block(const DeviceProps&, const ReduceParams& p) noexcept {
  // A thread counts its elements of 4 and 8 bytes in 32 bits. It has a 32nd of all.
  if (node_kind(p.dtype, p.op) == NodeKind::arg && element_bytes(p.dtype) >= 4 && p.n >= int64_t{32} << 32) {
    return "it looks for a place among less than 2^37 elements";
  }
  return accepts_tiles(p);
}
const char* accepts_short(const DeviceProps&, const ReduceParams& p) noexcept {
  if (chunks_of(p) > kSingleTileChunks) return "it takes at most the elements that one block's threads load at once";
  return accepts_tiles(p);
}
const char* accepts_cluster(const DeviceProps& d, const ReduceParams& p) noexcept {
  if (!d.clusters) return "it needs clusters of blocks: compute capability 9.0, and code built for it";
  if (chunks_of(p) <= kClusterBlocks) return "it needs more than a chunk for each of its blocks";
  if (chunks_of(p) > kClusterBlocks * kSingleTileChunks)
    return "it takes at most the elements that a cluster's threads load at once";
  return accepts_tiles(p);
}
const char* accepts_ladder(const DeviceProps& d, const ReduceParams& p) noexcept {
  if (const char* refusal = accepts_sequence(d, p)) return refusal;
  if (p.dtype != GPUMEM_I32 || node_kind(p.dtype, p.op) != NodeKind::integer) {
    return "it is of the textbook ladder, which sums i32";
  }
  return contiguous(p);
}

// The reproducible order needs a power of two of chunks per block.
Config at_once_config(const ReduceParams& p, int64_t blocks) noexcept {
  const auto of_block = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(chunks_of(p), blocks))));
  const int32_t warps = single_tile_warps(node_kind(p.dtype, p.op));
  return {blocks, static_cast<int32_t>(of_block) * 32 * warps, 1, of_block * reduce_chunk(p.dtype, p.op)};
}
Config single_tile_config(const DeviceProps&, const ReduceParams& p) noexcept { return at_once_config(p, 1); }
Config cluster_config(const DeviceProps&, const ReduceParams& p) noexcept { return at_once_config(p, kClusterBlocks); }

// Blocks of an ordered sum that run at once on 132 multiprocessors. The last ones of a second wave would leave most of the
// device idle. H200, from two waves: sum of 12,000,000 f32 10.1 us from 14.3, dot of 6,000,000 10.6 from 15.2.
constexpr int64_t kOneWave = int64_t{4} * 132;

// One wave of large blocks for large inputs. Otherwise one chunk per warp, and fewer warps per block for less input.
Config last_block_config(const DeviceProps&, const ReduceParams& p) noexcept {
  const int64_t chunks = chunks_of(p);
  const int64_t chunk = reduce_chunk(p.dtype, p.op);
  if (chunks <= 1024) {
    const int32_t warps = chunks <= 128 ? 2 : chunks <= 512 ? 4 : 8;
    return {ceil_div(chunks, warps), 32 * warps, 1, warps * chunk};
  }
  // Ordered sums stall a warp longest between its loads. Twice as many blocks of half the size keep more warps loading.
  const bool ordered = is_ordered(node_kind(p.dtype, p.op));
  const int32_t block_warps = kTileThreads / (ordered ? 64 : 32);
  const int64_t most = ordered ? kLeavesInShared : 2 * kLeavesInShared;
  const auto share = static_cast<uint64_t>(ordered ? ceil_div(chunks, kOneWave) : chunks / 256);
  const auto whole = static_cast<int64_t>(ordered ? std::bit_ceil(share) : std::bit_floor(share));
  int64_t tile = std::clamp<int64_t>(whole, ordered && chunks > 2048 ? 2 * block_warps : block_warps, most);
  while (ceil_div(chunks, tile) > kMaxReduceBlocks) tile *= 2;
  return {ceil_div(chunks, tile), 32 * block_warps, static_cast<int32_t>(tile / block_warps), tile * chunk};
}

// Views, and any stride. One warp per 1024-element block. Up to eight are one thread block. Few of them get small ones, so
// that each multiprocessor has some. Otherwise a tile leaves several waves of thread blocks.
Config view_config(const DeviceProps&, const ReduceParams& p) noexcept {
  const int64_t leaves = ceil_div(p.n, kLeafTerms);
  if (leaves <= 1024) {
    const int32_t warps = leaves <= 8 ? 8 : leaves <= 128 ? 1 : leaves <= 256 ? 2 : leaves <= 512 ? 4 : 8;
    return {ceil_div(leaves, warps), 32 * warps, 1, warps * int64_t{kLeafTerms}};
  }
  constexpr int64_t kWarps = kElementThreads / 32;
  int64_t tile = std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(leaves / 1024))), kWarps,
                                     kLeavesInShared);
  while (ceil_div(leaves, tile) > kMaxViewBlocks) tile *= 2;
  return {ceil_div(leaves, tile), kElementThreads, 1, tile * kLeafTerms};
}

// Blocks that fill the device, and more only if a thread would have more terms than its carries hold.
Config order_free_blocks(const DeviceProps& d, const ReduceParams& p, int64_t of_block) noexcept {
  const int64_t resident = int64_t{d.multiprocessors} * kOrderFreeResident;
  const int64_t least = ceil_div(p.n, kMostCarriedTerms / 2 * kElementThreads);
  return {std::max(std::clamp<int64_t>(ceil_div(p.n, of_block), 1, resident), least), kElementThreads, 1, of_block};
}
Config order_free_config(const DeviceProps& d, const ReduceParams& p) noexcept {
  return order_free_blocks(d, p, int64_t{kElementThreads} * kOrderFreeTerms);
}
// A warp takes a piece of each of several rows, and short rows leave some of its lanes without an element.
Config order_free_view_config(const DeviceProps& d, const ReduceParams& p) noexcept {
  return order_free_blocks(d, p, kElementThreads);
}

// A thread block takes kLadderThreads x kDataBlocks elements at a time, and more in turn if the grid is full.
template <int kDataBlocks>
Config ladder_config(const DeviceProps&, const ReduceParams& p) noexcept {
  const int64_t tile = int64_t{kLadderThreads} * kDataBlocks;
  return {std::min<int64_t>(ceil_div(p.n, tile), kMaxReduceBlocks), kLadderThreads, kDataBlocks, tile};
}

// A grid that fills the device. Each thread has an equal share of the input.
Config shared_out_config(const DeviceProps& d, const ReduceParams& p) noexcept {
  const int64_t resident = int64_t{d.multiprocessors} * std::max(1, d.threads_per_multiprocessor / kLadderThreads);
  const int64_t grid = std::clamp<int64_t>(ceil_div(p.n, kLadderThreads), 1, std::min(resident, kMaxReduceBlocks));
  return {grid, kLadderThreads, 1, ceil_div(p.n, grid)};
}

// Tasks are aligned runs of 2^k blocks of 1024 elements, where floating-point sums may be cut.
Config host_config(const DeviceProps& d, const ReduceParams& p) noexcept {
  const int64_t tasks =
      std::clamp<int64_t>(p.n * element_bytes(p.dtype) / kHostTaskBytes, 1, int64_t{4} * d.multiprocessors);
  const int64_t leaves = ceil_div(ceil_div(std::max<int64_t>(p.n, 1), tasks), kLeafTerms);
  const int64_t tile = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(leaves))) * kLeafTerms;
  return {ceil_div(std::max<int64_t>(p.n, 1), tile), 1, 1, tile};
}

constexpr Implementation<ReduceParams> kTable[] = {
    {"single_tile_cluster", ExecutionSpace::cuda, 2, plan<accepts_cluster, cluster_config>,
     gpu<kernels::reduce_single_tile>},
    {"single_tile", ExecutionSpace::cuda, 4, plan<accepts_short, single_tile_config>, gpu<kernels::reduce_single_tile>},
    {"last_block", ExecutionSpace::cuda, 4, plan<accepts_last_block, last_block_config>, gpu<kernels::reduce_tiles>},
    {"order_free", ExecutionSpace::cuda, 1, plan<accepts_order_free, order_free_config>,
     gpu<kernels::reduce_order_free>},
    {"order_free_view", ExecutionSpace::cuda, 1, plan<accepts_order_free_view, order_free_view_config>,
     gpu<kernels::reduce_order_free_view>},
    {"neighbored", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<1>>, gpu<kernels::reduce_neighbored>,
     by_name},
    {"neighbored_packed", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<1>>,
     gpu<kernels::reduce_neighbored_packed>, by_name},
    {"interleaved", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<1>>, gpu<kernels::reduce_interleaved>,
     by_name},
    {"unroll2", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<2>>, gpu<kernels::reduce_unroll2>, by_name},
    {"unroll8_warp", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<8>>, gpu<kernels::reduce_unroll8_warp>,
     by_name},
    {"unroll8_complete", ExecutionSpace::cuda, 1, plan<accepts_ladder, ladder_config<8>>,
     gpu<kernels::reduce_unroll8_complete>, by_name},
    {"strided", ExecutionSpace::cuda, 1, plan<accepts_ladder, shared_out_config>, gpu<kernels::reduce_strided>,
     by_name},
    {"coalesced", ExecutionSpace::cuda, 1, plan<accepts_ladder, shared_out_config>, gpu<kernels::reduce_coalesced>,
     by_name},
    {"view", ExecutionSpace::cuda, 2, plan<accepts_view, view_config>, gpu<kernels::reduce_view>},
    {"host_vector", ExecutionSpace::host, 2, plan<accepts_contiguous, host_config>, HostWay{}},
    {"host_strided", ExecutionSpace::host, 2, plan<accepts<ReduceParams>, host_config>, HostWay{.one_by_one = true}},
    {"host_serial", ExecutionSpace::host, 2, plan<accepts<ReduceParams>, whole<ReduceParams>>,
     HostWay{.one_by_one = true, .serial = true}},
};

}  // namespace

std::span<const Implementation<ReduceParams>> ReduceFamily::table() noexcept { return kTable; }

}  // namespace gpumem
