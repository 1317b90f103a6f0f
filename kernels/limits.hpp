// Sizes that the variant tables and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"

namespace gpumem {

// Nodes that the last step of a reduction folds.
constexpr int64_t kMaxReduceBlocks = 16384;

// Threads of the largest block of a tile kernel, and of the others.
constexpr int kTileThreads = 512;
constexpr int kElementThreads = 256;
constexpr int kLadderThreads = 512;

// What a warp takes at a time: 4 KiB, or the leaves of the reproducible order that come closest to it.
constexpr int64_t reduce_chunk(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const NodeKind kind = node_kind(dtype, op);
  if (!is_ordered(kind)) return 4096 / element_bytes(dtype);
  return element_bytes(dtype) == 2 ? 2 * kLeafTerms : kLeafTerms;
}

// Leaf sums that wait in a block's shared memory for their neighbours.
constexpr int kLeavesAtOnce = 256;

// Chunks that one block takes at once.
constexpr int64_t kOneBlockChunks = kTileThreads / 32;

constexpr int kTransposeThreads = 256;
constexpr int kFillThreads = 256;

// Side of the square tile of the transpose by 16-byte words: 8 to 16 KiB of shared memory.
constexpr int64_t transpose_vec16_tile(int64_t element_bytes) noexcept {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Side of the tile of the transpose by single elements: one element a lane.
constexpr int64_t kTransposePaddedTile = 32;

constexpr int kPermuteThreads = 256;

// Lanes that share a run: a power of two, so that short runs share a warp.
constexpr int64_t permute_row_lanes(int64_t run) noexcept {
  int64_t lanes = 1;
  while (lanes < run && lanes < 32) lanes *= 2;
  return lanes;
}

// Independent loads of a lane: as 16-byte words they saturate memory one at a time.
constexpr int64_t permute_row_loads(int64_t element_bytes) noexcept {
  return element_bytes == 16 ? 1 : element_bytes == 8 ? 2 : 4;
}

// Side of the square tile over the two fastest axes, one element a lane: 4 to 17 KiB of shared memory. Smaller elements take a
// larger one, so that a row of it is at least a sector of 32 bytes.
constexpr int64_t permute_tile(int64_t element_bytes) noexcept { return element_bytes <= 2 ? 64 : 32; }

// Shorter axes than this leave more than three quarters of every tile's lanes idle.
constexpr int64_t kPermuteLeastTiled = 8;

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

}  // namespace gpumem
