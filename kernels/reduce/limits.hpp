// Sizes that the tables of the reductions and their kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "kernels/order.hpp"

namespace gpumem {

// Nodes that the last block of a reduction folds, and the scratch memory for them and those of many lines: with its counters 2 MiB a
// stream, which is what the driver takes anyway.
constexpr int64_t kMaxReduceBlocks = 16384;
constexpr int64_t kScratchNodeBytes = (int64_t{2} << 20) - (int64_t{128} << 10);

// Of the largest node of a kind, as kernels leave it in scratch memory.
constexpr int64_t node_bytes(NodeKind kind) noexcept {
  return with_node(kind, [](auto node) { return int64_t{sizeof node}; });
}

// Threads of the largest block of a tile kernel. Two such blocks fit a multiprocessor with 61 registers a thread, which hold all of a
// lane's loads (H200, sum of 2^28 i32: 1.018 of CUB's speed; 0.992 in 34 registers).
constexpr int kTileThreads = 512;
constexpr int kElementThreads = 256;
// The block size of the textbook examples.
constexpr int kLadderThreads = 512;

// What a warp takes at a time: 4 KiB, or the leaves of the reproducible order that come closest to it.
constexpr int64_t reduce_chunk(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const NodeKind kind = node_kind(dtype, op);
  if (!is_ordered(kind)) return 4096 / element_bytes(dtype);
  return element_bytes(dtype) == 2 ? 2 * kLeafTerms : kLeafTerms;
}

// Leaf sums that wait in a block's shared memory for their neighbours.
constexpr int kLeavesInShared = 256;

// The aligned subtrees of 2^level leaves that a sequence of whole leaves is, one behind the other, where it begins anywhere in a longer one:
// a launch makes a node of each. A block has at most `leaves` of them.
struct LeafTrees {
  static constexpr int kMost = 48;  // of 2^23 leaves there are at most 45
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
constexpr int64_t kMostTreeLeaves = int64_t{1} << 21;  // in all; more are worth a launch a tree

// Chunks that one block takes at once, each by two warps where there is no order, by one where there is: as many as a block has warps.
constexpr int64_t kSingleTileChunks = 16;
constexpr int single_tile_warps(NodeKind kind) noexcept { return is_ordered(kind) ? 1 : 2; }
// The largest cluster that every device of compute capability 9.0 runs. On an H200 clusters of 4 take 4.58 us in place of 4.35 at 2^16
// elements, of 16 4.38 there and 4.58 in place of 4.80 at 2^17.
constexpr int kClusterBlocks = 8;

}  // namespace gpumem
