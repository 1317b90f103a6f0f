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

// A square of `across` x `across` tiles as pairs of one on or above the diagonal and the one across it: what a transpose in place
// swaps. Row `a` of the upper triangle and row `even - 1 - a` make one row of even + 1 pairs; those with col >= across are none.
constexpr int64_t transpose_tile_pairs(int64_t across) noexcept {
  const int64_t even = across + across % 2;
  return even / 2 * (even + 1);
}
struct TilePair {
  int64_t row;
  int64_t col;  // >= row
  constexpr TilePair(int64_t pair, int64_t across) noexcept : row(0), col(0) {
    const int64_t even = across + across % 2;
    const int64_t a = pair / (even + 1);
    const int64_t b = pair % (even + 1);
    row = b > a ? a : even - 1 - a;
    col = b > a ? b - 1 : row + b;
  }
};

// Elements of the short side that the transpose of narrow matrices takes, and bytes of its shared memory.
constexpr int64_t kTransposeNarrow = 16;
constexpr int64_t kTransposeNarrowShared = 16384;

// Elements of the long side that a block of it takes: a power of two, for a short side of `width`. An odd pitch keeps the columns
// of the packed side in different banks.
constexpr int64_t transpose_narrow_tile(int64_t element_bytes, int64_t width) noexcept {
  int64_t tile = 32;
  while (2 * tile * (width | 1) * element_bytes <= kTransposeNarrowShared) tile *= 2;
  return tile;
}

// Side of the tile of the transpose by 4-byte words of 1- and 2-byte elements.
constexpr int64_t transpose_words_tile(int64_t element_bytes) noexcept { return 128 / element_bytes; }

// The tile of the transpose of misaligned rows: 32 columns and 512 bytes of each row of dst, moved by up to a sector of 32 bytes.
constexpr int64_t kTransposeOddCols = 32;
constexpr int64_t transpose_odd_rows(int64_t element_bytes) noexcept { return 512 / element_bytes; }
constexpr int64_t transpose_odd_sector(int64_t element_bytes) noexcept { return 32 / element_bytes; }

// Threads of a block of the textbook's transposes, an element each.
constexpr int kTransposeSeedThreads = 1024;

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// Elements of the long side that the host's transpose of narrow matrices takes at a time: 4 KiB of each plane.
constexpr int64_t host_narrow_tile(int64_t element_bytes) noexcept { return 4096 / element_bytes; }

}  // namespace gpumem
