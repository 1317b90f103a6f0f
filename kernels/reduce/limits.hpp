// Sizes that the tables of the reductions and their kernels share. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "kernels/order.hpp"

namespace gpumem {

// Maximum number of nodes for the last block of a reduction, and the scratch memory for nodes. With the counters it is
// 2 MiB per stream, and the driver would not allocate less.
constexpr int64_t kMaxReduceBlocks = 16384;
constexpr int64_t kScratchNodeBytes = (int64_t{2} << 20) - (int64_t{128} << 10);

constexpr int64_t node_bytes(NodeKind kind) noexcept {
  return with_node(kind, [](auto node) { return int64_t{sizeof node}; });
}

// Threads of the largest block of a tile kernel. Two such blocks fit a multiprocessor with 61 registers per thread,
// which hold all of a lane's loads. H200, sum of 2^28 i32: 1.018 of CUB's speed, and 0.992 with 34 registers.
constexpr int kTileThreads = 512;
constexpr int kElementThreads = 256;
constexpr int64_t kMaxViewBlocks = 8 * kElementThreads;  // a thread of the last block takes 8 nodes
constexpr int kLadderThreads = 512;
// Order-free sums: terms per thread at a time, and thread blocks per multiprocessor.
constexpr int kOrderFreeTerms = 16;
constexpr int64_t kOrderFreeResident = 3;

// Elements that a warp takes at a time: 4 KiB, or the nearest number of leaves of the reproducible order.
constexpr int64_t reduce_chunk(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const NodeKind kind = node_kind(dtype, op);
  if (!is_ordered(kind)) return 4096 / element_bytes(dtype);
  return element_bytes(dtype) == 2 ? 2 * kLeafTerms : kLeafTerms;
}

// Leaf sums that wait in shared memory for their neighbours.
constexpr int kLeavesInShared = 256;

// The aligned subtrees of 2^level leaves that make up a sequence of whole leaves at any offset in a longer one. A
// launch makes a node of each. A block has at most `leaves` leaves.
struct LeafTrees {
  static constexpr int kMost = 48;  // 2^23 leaves have at most 45
  int32_t leaves = 1;               // a power of two, at most kLeavesInShared
  int32_t count = 0;
  int32_t blocks = 0;
  struct Tree {
    int32_t first_block;
    int32_t level;
  } tree[kMost] = {};

  constexpr void add(int32_t level) noexcept {
    tree[count++] = {blocks, level};
    blocks += blocks_of(level);
  }
  constexpr int32_t blocks_of(int32_t level) const noexcept {
    const int32_t all = int32_t{1} << level;
    return all <= leaves ? 1 : all / leaves;
  }
};
constexpr int kLeafTreeThreads = 256;
constexpr int64_t kMostTreeLeaves = int64_t{1} << 21;  // in total; with more, one launch per tree is worthwhile

// Chunks that one block takes at once, as many as it has warps. Two warps share a chunk if order does not matter.
constexpr int64_t kSingleTileChunks = 16;
constexpr int single_tile_warps(NodeKind kind) noexcept { return is_ordered(kind) ? 1 : 2; }
// The largest cluster that every device of compute capability 9.0 runs. H200, clusters of 4, 8 and 16: 4.58, 4.35 and
// 4.38 us at 2^16 elements. At 2^17, clusters of 8 take 4.80 us, and of 16 4.58.
constexpr int kClusterBlocks = 8;

}  // namespace gpumem
