// Sizes that the variant tables and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/nodes.hpp"
#include "kernels/order.hpp"

namespace gpumem {

// Nodes that the last step of a reduction folds, and the scratch memory for them.
constexpr int64_t kMaxReduceBlocks = 16384;
constexpr int64_t kScratchNodeBytes = kMaxReduceBlocks * int64_t{sizeof(ReduceNode)};

// Of the largest node of a kind, as kernels leave it in scratch memory.
constexpr int64_t node_bytes(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::sum:
      return sizeof(SumNode);
    case NodeKind::range:
      return sizeof(RangeNode);
    case NodeKind::found:
      return sizeof(FoundNode);
    case NodeKind::compensated:
      return sizeof(CompensatedNode);
    case NodeKind::norm:
      return sizeof(NormNode);
    default:
      return sizeof(IntegerNode);
  }
}

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

// Neighbouring elements that a thread of the kernels of rows and columns loads at once: up to 16 bytes.
constexpr int bundle_elements(int64_t element_bytes) noexcept { return element_bytes == 8 ? 2 : 4; }

// Threads along a row of a matrix, and rows of threads, of a block that reduces columns.
constexpr int kColumnSide = 16;

// Nodes of a column that a row of its last block's threads folds in one go.
constexpr int kColumnNodesAtOnce = 16;

// Threads of a block of the kernel of short columns.
constexpr int kShortColumnThreads = 256;

// Blocks of the kernel of short rows, rows that a thread has in flight, and neighbouring threads that share a row.
constexpr int kShortRowThreads = 256;
constexpr int kShortRowsInFlight = 4;
constexpr int short_row_sharers(gpumem_dtype dtype, gpumem_reduce_op op, int64_t cols) noexcept {
  const int count = bundle_elements(element_bytes(dtype));
  if (cols <= 2 * count) return 1;
  return node_kind(dtype, op) == NodeKind::sum && cols <= 16 * count ? 8 : kLeafLanes / count / 4;
}

// Leaf sums that wait in a block's shared memory for their neighbours.
constexpr int kLeavesAtOnce = 256;

// Chunks that one block takes at once, each by two warps where there is no order, by one where there is; and a cluster of blocks.
constexpr int64_t kOneBlockChunks = 16;
constexpr int kClusterBlocks = 8;
constexpr int one_chunk_warps(NodeKind kind) noexcept { return is_ordered(kind) ? 1 : 2; }

constexpr int kTransposeThreads = 256;
constexpr int kFillThreads = 256;
constexpr int kCopyThreads = 256;

// Rows that the driver's copies are slower at even where ours go by single bytes (H200: 0.16 of our speed at 63 bytes).
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

// Accesses of a lane that are under way at once: more where they are narrow.
constexpr int copy_row_depth(int64_t access) noexcept { return access == 1 ? 4 : access == 2 ? 2 : 1; }

// Lanes that share a row of a copy: a power of two, up to a warp.
constexpr int copy_row_lanes(int64_t row_bytes, int64_t access) noexcept {
  int lanes = 1;
  while (lanes < 32 && lanes * copy_row_depth(access) < row_accesses(row_bytes, access)) lanes *= 2;
  return lanes;
}

// Pieces of such a row: what its lanes move at once.
constexpr int64_t copy_row_pieces(int64_t row_bytes, int64_t access) noexcept {
  const int64_t accesses = row_accesses(row_bytes, access);
  const int64_t at_once = int64_t{copy_row_lanes(row_bytes, access)} * copy_row_depth(access);
  return accesses / at_once + (accesses % at_once != 0 ? 1 : 0);
}

constexpr int kAxpbyThreads = 256;
// 16-byte words of each operand that a thread has on their way at once.
constexpr int kAxpbyWords = 2;
constexpr int64_t axpby_vec16_tile(gpumem_dtype dtype) noexcept {
  return int64_t{kAxpbyThreads} * kAxpbyWords * (16 / element_bytes(dtype));
}
// Elements one after the other of a thread of the strided variant.
constexpr int kAxpbyRun = 32;

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

// Transposes in place through a block's shared memory, which is taken by lines of all banks. Several blocks that take no more than
// `many` fit on a multiprocessor; a larger one has more threads, to keep as many loads under way.
constexpr int kTransposeMostThreads = 1024;
constexpr int64_t kTransposeLine = 128;
constexpr int64_t kTransposeSharedOfMany = int64_t{56} << 10;
constexpr int64_t transpose_shared_bytes(int64_t elements, int64_t element_bytes) noexcept {
  return (elements * element_bytes + kTransposeLine - 1) / kTransposeLine * kTransposeLine;
}
constexpr int transpose_shared_threads(int64_t shared_bytes) noexcept {
  return shared_bytes <= 16384                    ? kTransposeThreads
         : shared_bytes <= kTransposeSharedOfMany ? 512
                                                  : kTransposeMostThreads;
}

// Matrices that a block takes whole at a time, for its threads to have something to do.
constexpr int64_t kTransposeWholeGroup = 8192;  // bytes
constexpr int64_t transpose_whole_at_once(int64_t matrix_bytes) noexcept {
  return matrix_bytes < kTransposeWholeGroup ? kTransposeWholeGroup / matrix_bytes : 1;
}

// Scratch memory of the transposes in place for what does not fit into shared memory, if it is more than one row: it is to stay in
// the L2 cache of an H200 (60 MB).
constexpr int64_t kTransposeScratchBytes = int64_t{32} << 20;

// What a task of host work moves at least: a thread that looks out for work takes it up in a microsecond or two.
constexpr int64_t kHostTaskBytes = int64_t{128} << 10;

// The host takes a matrix of so many bytes whole, and so many bytes of the columns of a larger one: what the caches of a core hold.
constexpr int64_t kHostInPlaceBytes = int64_t{1} << 20;

// Elements of the short side that the transpose of narrow matrices takes, and bytes of its shared memory.
constexpr int64_t kTransposeNarrow = 32;
constexpr int kTransposeNarrowThreads = 512;
constexpr int64_t kTransposeNarrowShared = 18432;

// Elements from plane to plane in it: past a multiple of 128 bytes by what the structures of a warp's elements take of a plane, so
// that these lie in different banks; and by whole words of 16 bytes.
constexpr int64_t transpose_narrow_pitch(int64_t element_bytes, int64_t width, int64_t tile) noexcept {
  const int64_t word = 16 / element_bytes;
  const int64_t structures = 128 / element_bytes / width;
  return tile + (structures < word ? word : structures / word * word);
}

// Elements of the long side that a block of it takes, for a short side of `width`: a multiple of 32.
constexpr int64_t transpose_narrow_tile(int64_t element_bytes, int64_t width) noexcept {
  const int64_t padding = transpose_narrow_pitch(element_bytes, width, 0);
  return (kTransposeNarrowShared / (width * element_bytes) - padding) / 32 * 32;
}

// Side of the tile of the transpose by 4-byte words of 1- and 2-byte elements.
constexpr int64_t transpose_words_tile(int64_t element_bytes) noexcept { return 128 / element_bytes; }

// The tile of the transpose that turns elements of 1 and 2 bytes in registers: 128 bytes of each row of dst, 256 of each row of src.
constexpr int64_t transpose_turned_rows(int64_t element_bytes) noexcept { return 128 / element_bytes; }
constexpr int64_t transpose_turned_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// The tile of the transpose of misaligned rows: 256 bytes of each row of src and 64 elements of each row of dst; a sector's worth of
// rows before it is loaded too.
constexpr int64_t transpose_odd_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }
constexpr int64_t transpose_odd_rows(int64_t) noexcept { return 64; }
constexpr int64_t transpose_odd_sector(int64_t element_bytes) noexcept { return 32 / element_bytes; }

// Threads of a block of the textbook's transposes, an element each.
constexpr int kTransposeSeedThreads = 1024;

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// Gathers and scatters: threads of a block, and words that a thread has under way.
constexpr int kRowsThreads = 256;
constexpr int kRowsWords = 4;

// A block of a resize is so many lanes along a row of dst times as many rows as are left of its threads.
constexpr int kResizeThreads = 256;

// Neighbouring pixels of a row that a thread of the resize makes: 16 bytes and 12 elements at most, for the sake of its registers.
constexpr int resize_pixels(int64_t channels, int64_t element_bytes) noexcept {
  int pixels = 4;
  while (pixels > 1 && (pixels * channels * element_bytes > 16 || pixels * channels > 12)) pixels /= 2;
  return pixels;
}

// The resize of bytes by words: warps of a block, one below the other, rows of each at most, and pixels of a row that a lane makes.
constexpr int kResizeWarps = kResizeThreads / 32;
constexpr int kMaxResizeRows = 16;
constexpr int resize_words_pixels(int64_t channels) noexcept { return channels == 1 ? 8 : 4; }

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

// Elements of the short side that the host's transpose of narrow matrices takes, and of the long side at a time: 4 KiB of each plane.
constexpr int64_t kHostTransposeNarrow = 16;
constexpr int64_t host_narrow_tile(int64_t element_bytes) noexcept { return 4096 / element_bytes; }

}  // namespace gpumem
