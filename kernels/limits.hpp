// Sizes that the variant tables and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>
#include <initializer_list>

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

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// A block of a resize is so many lanes along a row of dst times as many rows as are left of its threads.
constexpr int kResizeThreads = 256;

// Neighbouring pixels of a row that a thread of the resize makes: 16 bytes and 12 elements at most, for the sake of its registers.
constexpr int resize_pixels(int64_t channels, int64_t element_bytes) noexcept {
  int pixels = 4;
  while (pixels > 1 && (pixels * channels * element_bytes > 16 || pixels * channels > 12)) pixels /= 2;
  return pixels;
}

// A fraction of a coordinate is divided out so many bits at a time.
constexpr int kResizeFractionStep = 12;

// Bits of the words in which the coordinates of an axis are exact, 32, 64 or 128: (2 dst - 1) src, and 2 dst with a step of
// fraction behind it.
constexpr int resize_bits(int64_t src, int64_t dst) noexcept {
  const Uint128 twice = Uint128{static_cast<uint64_t>(dst)} * 2;
  for (const int bits : {32, 64}) {
    const bool products = twice * static_cast<uint64_t>(src) < Uint128{1} << bits;
    if (products && twice < Uint128{1} << (bits - kResizeFractionStep)) return bits;
  }
  return 128;
}

// Lanes along a row, a power of two: a warp, less for an image that is narrower, more for one of few rows. `groups` is what a row
// holds of the pixels of one thread, `steps` what the image holds of the rows of one thread.
constexpr int resize_lanes(int64_t groups, int64_t steps) noexcept {
  int lanes = 1;
  while (lanes < kResizeThreads && lanes < groups && (lanes < 32 || kResizeThreads / lanes > steps)) lanes *= 2;
  return lanes;
}

// Columns of dst that the host's resize takes at once: two lines of them stay in the caches of a core.
constexpr int64_t kHostResizeCols = 1024;

}  // namespace gpumem
