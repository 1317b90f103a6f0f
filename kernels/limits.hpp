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
constexpr int kCopyThreads = 256;

// Rows that many lanes of a warp would find nothing to do in.
constexpr int64_t kShortCopyRow = 64;

// The widest power of two, up to 16, that divides every number of which the bits are given.
constexpr int64_t widest_access(uint64_t bits) noexcept {
  const uint64_t lowest = bits & (~bits + 1);
  return lowest == 0 || lowest > 16 ? 16 : static_cast<int64_t>(lowest);
}

// Accesses of a row of so many bytes: whole ones, and one for what is left.
constexpr int64_t row_accesses(int64_t row_bytes, int64_t access) noexcept {
  return row_bytes / access + (row_bytes % access != 0 ? 1 : 0);
}

// Lanes that share a row of a copy: a power of two, up to a warp.
constexpr int copy_row_lanes(int64_t row_bytes, int64_t access) noexcept {
  int lanes = 1;
  while (lanes < 32 && lanes < row_accesses(row_bytes, access)) lanes *= 2;
  return lanes;
}

// Side of the square tile of the transpose by 16-byte words: 8 to 16 KiB of shared memory.
constexpr int64_t transpose_vec16_tile(int64_t element_bytes) noexcept {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Side of the tile of the transpose by single elements: one element a lane.
constexpr int64_t kTransposePaddedTile = 32;

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

}  // namespace gpumem
