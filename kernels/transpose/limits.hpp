// Sizes that the transpose table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/transpose/params.hpp"

namespace gpumem {

constexpr int kTransposeThreads = 256;

// Side of the square tile of the transpose by 16-byte words: 8 to 16 KiB of shared memory. 16384 x 16384 elements of 4 bytes on an
// H200: 64 x 64 by 16 bytes an access 4010 GB/s, 32 x 32 by elements 3440; 64 x 128 and 128 x 64 gain nothing.
constexpr int64_t transpose_vec16_tile(int64_t element_bytes) noexcept {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Side of the tile of the transpose by single elements: one element a lane.
constexpr int64_t kTransposePaddedTile = 32;

// A square of `across` x `across` tiles as pairs of one on or above the diagonal and the one across it: what a transpose in place
// swaps. Row `a` of the upper triangle and row `even - 1 - a` make one row of even + 1 pairs; those with col >= across are not
// pairs, and are passed over.
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

// Elements of the largest matrix that goes by single elements, one a thread; the threads that small ones fill; and the matrices of which
// each thread has one.
constexpr int kBatchedScalarElements = 1024;
constexpr int64_t kBatchedScalarThreads = 256;
constexpr int kBatchedScalarMatrices = 4;

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

constexpr int64_t kInPlaceSharedGroup = 8192;  // bytes of small matrices that a block takes at a time

// Columns of `length` elements that a block takes at a time, as a power of two; -1: not so many fit. A sector, or half of one where that
// makes them fit: neighbouring blocks then share a sector in the L2 cache. More of them while several blocks fit on a multiprocessor, and
// while a block's threads would be idle.
constexpr int c2r_columns_log2(int64_t length, int64_t bytes, int64_t room) noexcept {
  const auto shared = [&](int log2) { return transpose_shared_bytes(length << log2, bytes); };
  int log2 = 0;
  while (bytes << log2 < 32) ++log2;
  if (shared(log2) > room && log2 > 0 && bytes << log2 > 16) --log2;
  if (shared(log2) > room) return -1;
  const auto most = [&](int64_t wide) { return wide <= 128 ? kTransposeSharedOfMany : kInPlaceSharedGroup; };
  while (2 << log2 <= kTransposeThreads && shared(log2 + 1) <= room && shared(log2 + 1) <= most(bytes << (log2 + 1))) {
    ++log2;
  }
  return log2;
}

// Matrices that a block takes at a time, enough to keep its threads busy.
constexpr int64_t in_place_shared_matrices(int64_t matrix_bytes) noexcept {
  return matrix_bytes < kInPlaceSharedGroup ? kInPlaceSharedGroup / matrix_bytes : 1;
}

// Scratch memory of the transposes in place, if it is more than one line: it is to stay in the L2 cache of an H200 (60 MB). 10000000 x 3
// elements of 4 bytes by slots take 210 us with 8 MiB, 182 with 32.
constexpr int64_t kTransposeScratchBytes = int64_t{32} << 20;

// What the caches of a core hold: a matrix of up to this size is one thread's work on the host, and the passes over one too large for a
// copy take groups of columns of this size. One of 24 MB (3000 x 2000 f32): by a copy 8.9 ms with one thread, 4.1 with two, by passes 77
// and 29 (Xeon, AVX-512).
constexpr int64_t kHostInPlaceBytes = int64_t{1} << 20;

// Elements of the short side that the transpose of narrow matrices takes, and bytes of its shared memory.
constexpr int64_t kAosSoaWidth = 32;
constexpr int kAosSoaThreads = 512;
constexpr int64_t kAosSoaShared = 18432;

// By which transpose matrices without gaps, at their natural alignment, go to memory of the pool: of narrow ones, of elements of 1 and 2 bytes, of
// 4 and 8 bytes, and of 16.
enum class WayApart : int32_t { narrow, bytes, words, vectors };
constexpr WayApart way_apart(const TransposeParams& p) noexcept {
  if (p.rows <= kAosSoaWidth || p.cols <= kAosSoaWidth) return WayApart::narrow;
  return p.element_bytes <= 2 ? WayApart::bytes : p.element_bytes == 16 ? WayApart::vectors : WayApart::words;
}

// Elements from plane to plane in it: past a multiple of 128 bytes by what the structures of a warp's elements take of a plane, so
// that these lie in different banks; and by whole words of 16 bytes.
constexpr int64_t aos_soa_pitch(int64_t element_bytes, int64_t width, int64_t tile) noexcept {
  const int64_t word = 16 / element_bytes;
  const int64_t structures = 128 / element_bytes / width;
  return tile + (structures < word ? word : structures / word * word);
}

// Elements of the long side that a block of it takes, for a short side of `width`: a multiple of 32.
constexpr int64_t aos_soa_tile(int64_t element_bytes, int64_t width) noexcept {
  const int64_t padding = aos_soa_pitch(element_bytes, width, 0);
  return (kAosSoaShared / (width * element_bytes) - padding) / 32 * 32;
}

// The tile of the transpose of 1- and 2-byte elements by byte permutations, 16 bytes an access: 128 bytes of each row of dst, 256
// of each row of src. On an H200 256 x 128, 128 x 128, 192 x 64 and 256 x 64 bytes are 0.01 to 0.03 slower, 384 x 128 reach 0.55 of
// a copy for 0.94.
constexpr int64_t byte_perm_rows(int64_t element_bytes) noexcept { return 128 / element_bytes; }
constexpr int64_t byte_perm_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// The tile of the transpose of misaligned rows: 256 bytes of each row of src and 64 elements of each row of dst; a sector's worth of
// rows before it is loaded too.
constexpr int64_t realigned_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }
constexpr int64_t realigned_rows(int64_t) noexcept { return 64; }
constexpr int64_t realigned_sector(int64_t element_bytes) noexcept { return 32 / element_bytes; }

// Threads of a block of the textbook's transposes, an element each.
constexpr int kTextbookThreads = 1024;

// Side of the tiles that the threads of the host's transpose share: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// What the host writes around the caches at a time, rows and columns of src, and the pitch of its buffer in bytes: a line more than its
// rows, so that these do not share places in the cache. whole_lines: rows of dst begin at cache lines.
struct StreamedTile {
  int64_t rows;
  int64_t cols;
  int64_t pitch;
};
constexpr StreamedTile host_streamed_tile(int64_t element_bytes, bool whole_lines) noexcept {
  const int64_t row_bytes = whole_lines ? 256 : element_bytes < 4 ? 1024 : 256 * element_bytes;
  return {row_bytes / element_bytes, (whole_lines ? 256 : 64) / element_bytes, row_bytes + 64};
}
constexpr int64_t host_transpose_buffer_bytes(int64_t element_bytes) noexcept {
  const StreamedTile whole = host_streamed_tile(element_bytes, true);
  const StreamedTile ragged = host_streamed_tile(element_bytes, false);
  const int64_t least = whole.cols * whole.pitch;
  return ragged.cols * ragged.pitch < least ? least : ragged.cols * ragged.pitch;
}

// Bytes that a buffer may take of a thread's stack, which may be a small one of the program's.
constexpr int64_t kHostStackBuffer = 8192;

// Bytes of a matrix that the host transposes without tiles.
constexpr int64_t kHostSmallMatrix = 8192;

// Elements of the short side that the host's transpose of narrow matrices takes, and of the long side at a time: 4 KiB of each plane.
constexpr int64_t kHostAosSoaWidth = 16;
constexpr int64_t host_aos_soa_tile(int64_t element_bytes) noexcept { return 4096 / element_bytes; }
constexpr int64_t host_aos_soa_stack_tile(int64_t element_bytes) noexcept {
  return kHostStackBuffer / kHostAosSoaWidth / element_bytes;
}

}  // namespace gpumem
