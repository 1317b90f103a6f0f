// Sizes that the transpose table and the kernels share. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/transpose/params.hpp"

namespace gpumem {

constexpr int kTransposeThreads = 256;

// Side of the square tile of the transpose by 16-byte words: 8 to 16 KiB of shared memory. H200, 16384 x 16384 elements
// of 4 bytes: 64 x 64 by words 4010 GB/s, 32 x 32 by elements 3440. Tiles of 64 x 128 and 128 x 64 gain nothing.
constexpr int64_t transpose_vec16_tile(int64_t element_bytes) noexcept {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Side of the tile of the transpose by elements: one element per lane.
constexpr int64_t kTransposePaddedTile = 32;

// The pairs of tiles that an in-place transpose swaps, in a square of `across` x `across` tiles. Row `a` of the upper
// triangle and row `even - 1 - a` form one row of even + 1 pairs. Pairs with col >= across are skipped.
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

// Elements of the largest matrix with one element per thread, threads that small matrices fill, matrices per thread.
constexpr int kBatchedScalarElements = 1024;
constexpr int64_t kBatchedScalarThreads = 256;
constexpr int kBatchedScalarMatrices = 4;

// In-place transposes in shared memory, which is allocated in lines of all banks. Several blocks of at most
// kTransposeSharedOfMany bytes fit on a multiprocessor. A larger block has more threads, to keep as many loads in
// flight.
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

constexpr int64_t kInPlaceSharedGroup = 8192;  // bytes of small matrices per block

// Columns of `length` elements per block, as a power of two; -1: too few fit. A block takes a sector, or half of one if
// only that fits. Neighbouring blocks then share the sector in L2. It takes more columns while several blocks still fit
// on a multiprocessor, and while its threads would be idle.
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

constexpr int64_t in_place_shared_matrices(int64_t matrix_bytes) noexcept {
  return matrix_bytes < kInPlaceSharedGroup ? kInPlaceSharedGroup / matrix_bytes : 1;
}

// Scratch memory of transposes in place, if it is more than one line. It should stay in the L2 cache (H200: 60 MB). By
// slots, 10000000 x 3 elements of 4 bytes take 210 us with 8 MiB, 182 with 32.
constexpr int64_t kTransposeScratchBytes = int64_t{32} << 20;

// The size of a core's cache. One host thread transposes a matrix up to this size. Passes over a matrix too large for a
// copy take groups of columns of this size. 3000 x 2000 f32, one thread: 8.9 ms by a copy, 77 by passes (Xeon).
constexpr int64_t kHostInPlaceBytes = int64_t{1} << 20;

// The transpose of narrow matrices: maximum of the short side, and bytes of shared memory.
constexpr int64_t kAosSoaWidth = 32;
constexpr int kAosSoaThreads = 512;
constexpr int64_t kAosSoaShared = 18432;

// The transpose into pool memory for matrices without padding at natural alignment: for narrow ones, for elements of 1
// and 2 bytes, of 4 and 8, and of 16.
enum class WayApart : int32_t { narrow, bytes, words, vectors };
constexpr WayApart way_apart(const TransposeParams& p) noexcept {
  if (p.rows <= kAosSoaWidth || p.cols <= kAosSoaWidth) return WayApart::narrow;
  return p.element_bytes <= 2 ? WayApart::bytes : p.element_bytes == 16 ? WayApart::vectors : WayApart::words;
}

// Elements between planes, in whole words of 16 bytes. The distance exceeds a multiple of 128 bytes by the part of a
// plane that a warp's structures occupy, so that their elements are in different banks.
constexpr int64_t aos_soa_pitch(int64_t element_bytes, int64_t width, int64_t tile) noexcept {
  const int64_t word = 16 / element_bytes;
  const int64_t structures = 128 / element_bytes / width;
  return tile + (structures < word ? word : structures / word * word);
}

// Elements of the long side per block, for a short side of `width`: a multiple of 32.
constexpr int64_t aos_soa_tile(int64_t element_bytes, int64_t width) noexcept {
  const int64_t padding = aos_soa_pitch(element_bytes, width, 0);
  return (kAosSoaShared / (width * element_bytes) - padding) / 32 * 32;
}

// The tile of the transpose by byte permutations: 128 bytes of each row of dst, 256 of each row of src. H200: tiles
// from 192 x 64 to 256 x 128 bytes are 0.01 to 0.03 slower, and 384 x 128 reaches 0.55 of a copy instead of 0.94.
constexpr int64_t byte_perm_rows(int64_t element_bytes) noexcept { return 128 / element_bytes; }
constexpr int64_t byte_perm_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// The tile of the transpose of misaligned rows: 256 bytes of each row of src, and 64 elements of each row of dst. A
// sector's worth of rows before it is also loaded.
constexpr int64_t realigned_cols(int64_t element_bytes) noexcept { return 256 / element_bytes; }
constexpr int64_t realigned_rows(int64_t) noexcept { return 64; }
constexpr int64_t realigned_sector(int64_t element_bytes) noexcept { return 32 / element_bytes; }

constexpr int kTextbookThreads = 1024;

// Side of the tiles that threads of the host's transpose share: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

// The tile that the host writes around the caches: rows and columns of src. The pitch of its buffer, in bytes, is one
// line more than its rows, which then use different places in the cache. whole_lines: rows of dst are aligned to lines.
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

// Maximum bytes of a buffer on a thread's stack. The program's threads may have small stacks.
constexpr int64_t kHostStackBuffer = 8192;

// Bytes of a matrix that the host transposes without tiles.
constexpr int64_t kHostSmallMatrix = 8192;

// The host's transpose of narrow matrices: maximum of the short side, and elements of the long side at a time (4 KiB
// per plane).
constexpr int64_t kHostAosSoaWidth = 16;
constexpr int64_t host_aos_soa_tile(int64_t element_bytes) noexcept { return 4096 / element_bytes; }
constexpr int64_t host_aos_soa_stack_tile(int64_t element_bytes) noexcept {
  return kHostStackBuffer / kHostAosSoaWidth / element_bytes;
}

}  // namespace gpumem
