// The part that a block of the transpose by aligned words (chunks.cu) takes at a time: a tile of one matrix, or whole
// small matrices. A pure function of the parameters. Plain C++, no CUDA.
// Shared memory holds src in memory order, with padding between rows that keeps every byte's address modulo 16. So
// aligned 16-byte words are copied unchanged, and the place of an element is a sum of multiples of its indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/transpose/limits.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

constexpr int64_t kChunk = 16;                       // bytes of a word
constexpr int64_t kChunkShared = int64_t{64} << 10;  // maximum per block
constexpr int64_t kChunkLeastRun = 256;              // contiguous bytes of src, if dst is one range
constexpr int64_t kChunkRange = int64_t{24} << 10;   // maximum range of dst per block

constexpr int64_t kSmallMatrixBytes = 16384;  // of a batch; tiles are for larger matrices

// The tunable sizes, in bytes. `down` is the tile's side along the rows of dst, `across` along the rows of src.
struct ChunkSizes {
  int64_t down;
  int64_t across;
  int64_t together;  // of small matrices, and of columns that are one range of dst
  int32_t lanes;     // with neighbouring words of dst, or of a row of it
  int32_t threads;
};
// H200: the best, or nearly, of up to 100 candidates for batches of 2 x 3 to 64 x 64 and matrices from 4097 x 4099 on.
constexpr ChunkSizes chunk_sizes(int64_t element_bytes, int64_t cols) noexcept {
  if (element_bytes == 1 && cols > 128) return {128, 256, 24576, 8, 512};
  if (element_bytes == 1) return {256, 128, 24576, 4, 256};
  if (element_bytes == 2) return {128, 256, 24576, 8, 256};
  return {128, 256, 6144, 4, 128};
}

struct ChunkPlan {
  bool fits = false;
  bool tight = false;  // a block writes one range of dst; otherwise rows
  int64_t rows = 1;    // of a tile, elements
  int64_t cols = 1;
  int64_t matrices = 1;
  int64_t ahead = 0;  // rows before the tile that are loaded too, because each row of dst is divided at its own words
  int64_t pitch = 0;  // bytes of shared memory between rows
  int64_t matrix_pitch = 0;
  int64_t runs = 1;       // contiguous pieces of src
  int64_t run_bytes = 0;  // maximum
  int64_t run_words = 0;  // maximum number of words that it touches
  int64_t down = 1;       // tiles in a column of a matrix
  int64_t per_matrix = 1;
  int64_t all = 1;
  int64_t shared_bytes = 0;
  int32_t lanes = 1;
  int32_t threads = 32;
};

// The configuration of in_place_scratch: the transpose to scratch memory, and its chunks if it uses them.
struct InPlaceScratch {
  WayApart way;
  ChunkPlan chunks;
};

namespace chunks {

// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): elements have 1 to 16 bytes, so no unit is 0
constexpr int64_t up(int64_t n, int64_t unit) noexcept { return (n + unit - 1) / unit * unit; }
// The least number from `least` on that differs from `like` by a multiple of 16.
constexpr int64_t as_aligned_as(int64_t like, int64_t least) noexcept {
  return least + ((like - least) % kChunk + kChunk) % kChunk;
}

struct Bits {
  uint64_t src;  // of the start addresses of rows
  uint64_t dst;
};
inline Bits bits_of(const TransposeParams& p) noexcept {
  const auto of = [&](const void* side, int64_t ld, int64_t batch) {
    const int64_t steps = ld | (p.batches > 1 ? batch : 0);
    return reinterpret_cast<uintptr_t>(side) | static_cast<uint64_t>(steps * p.element_bytes);
  };
  return {of(p.src, p.src_ld, p.src_batch_stride), of(p.dst, p.dst_ld, p.dst_batch_stride)};
}

inline void cut_rows(ChunkPlan& plan, const TransposeParams& p, const ChunkSizes& sizes, const Bits& bits) noexcept {
  const int64_t e = p.element_bytes;
  plan.ahead = bits.dst % kChunk == 0 ? 0 : kChunk / e;
  // Rows of shared memory are then multiples of 16 bytes apart, and more lanes gather from the same banks. H200, 1500 x
  // 64 in 1280 matrices of 2 bytes, 2, 4 and 8 lanes: 159, 185 and 286 us; 1001 x 256 in 400: 187, 138 and 230.
  const bool in_words = bits.src % kChunk == 0;
  if (plan.ahead != 0 && in_words && e <= 4) plan.lanes = static_cast<int32_t>(2 * e);
  if (plan.ahead == 0) plan.lanes = std::min(sizes.lanes, static_cast<int32_t>(2 * e));
  const int64_t unit = kChunk / e * plan.lanes;
  const int64_t reach = p.rows + std::max<int64_t>(plan.ahead - 1, 0);  // a divided row may need one more tile
  plan.rows = std::min(up(sizes.down / e, unit), up(reach, unit));
  plan.cols = std::min(sizes.across / e, p.cols);
  plan.down = (reach + plan.rows - 1) / plan.rows;
  if (plan.down == 1 && plan.cols == p.cols) plan.matrices = sizes.together / (plan.rows * plan.cols * e);
}

// Whole columns of src, which are one range of dst. False: there are too few.
inline bool cut_range(ChunkPlan& plan, const TransposeParams& p, const ChunkSizes& sizes) noexcept {
  const int64_t column = p.rows * p.element_bytes;
  const int64_t matrix = column * p.cols;
  int64_t pieces = 1;
  if (matrix > std::max(kSmallMatrixBytes, sizes.together)) {
    const int64_t most = std::max(sizes.together / column, kChunkLeastRun / p.element_bytes);
    pieces = (p.cols + most - 1) / most;
  }
  const int64_t cols = (p.cols + pieces - 1) / pieces;
  if (cols * column > kChunkRange) return false;
  plan.rows = p.rows;
  plan.cols = cols;
  plan.matrices = std::min((sizes.together + matrix / 2) / matrix, kChunkRange / matrix);
  // If possible, a block begins at a cache line or a sector, or at least at a word.
  for (const int64_t line : {128, 32, 16}) {
    const int64_t step = line / std::gcd(line, matrix);
    if (step > plan.matrices) continue;
    plan.matrices -= plan.matrices % step;  // NOLINT(clang-analyzer-core.DivideZero): no divisor of line exceeds it
    break;
  }
  plan.lanes = 4;
  // Odd rounds of a thread (chunks.cu). With elements of 4 bytes, smaller blocks have more loads in flight.
  const int64_t bytes = std::max<int64_t>(plan.matrices, 1) * cols * column;
  const int64_t words = bytes / kChunk + 1;
  const int64_t rounds = p.element_bytes <= 2 ? 7 : 3;
  const int64_t threads = p.element_bytes == 4 ? (bytes <= 8192 ? 128 : 256) : up((words + rounds - 1) / rounds, 32);
  plan.threads = static_cast<int32_t>(std::min<int64_t>(threads, 512));
  return true;
}

}  // namespace chunks

// p: elements at their natural alignment.
inline ChunkPlan chunk_plan(const TransposeParams& p, const ChunkSizes& sizes) noexcept {
  const int64_t e = p.element_bytes;
  const chunks::Bits bits = chunks::bits_of(p);
  const int64_t matrix = p.rows * p.cols;
  ChunkPlan plan;
  plan.lanes = sizes.lanes;
  plan.threads = sizes.threads;
  plan.tight =
      p.dst_ld == p.rows && (p.batches == 1 || p.dst_batch_stride == matrix) && chunks::cut_range(plan, p, sizes);
  if (!plan.tight) chunks::cut_rows(plan, p, sizes, bits);
  plan.matrices = std::clamp<int64_t>(plan.matrices, 1, p.batches);
  plan.per_matrix = plan.down * ((p.cols + plan.cols - 1) / plan.cols);
  plan.all = plan.per_matrix == 1 ? (p.batches + plan.matrices - 1) / plan.matrices : plan.per_matrix * p.batches;
  const bool together = plan.matrices > 1;
  const int64_t rows = std::min(plan.rows + plan.ahead, p.rows);
  if (plan.cols == p.cols && p.src_ld == p.cols && (!together || p.src_batch_stride == matrix)) {
    plan.pitch = p.cols * e;
    plan.matrix_pitch = matrix * e;
    plan.run_bytes = together ? plan.matrices * plan.matrix_pitch : rows * plan.pitch;
  } else {
    plan.runs = together ? plan.matrices * p.rows : plan.rows + plan.ahead;
    plan.run_bytes = plan.cols * e;
    // Words of neighbouring rows may not share a place.
    const int64_t apart = (bits.src | static_cast<uint64_t>(plan.run_bytes)) % kChunk == 0 ? 0 : kChunk - 1;
    plan.pitch = chunks::as_aligned_as(p.src_ld * e, plan.run_bytes + apart);
    plan.matrix_pitch = chunks::as_aligned_as(p.src_batch_stride * e, p.rows * plan.pitch + apart);
  }
  const bool aligned = (bits.src | static_cast<uint64_t>(plan.run_bytes)) % kChunk == 0;
  plan.run_words = (plan.run_bytes + (aligned ? 0 : 2 * (kChunk - 1))) / kChunk;
  // Rows are counted from `ahead` before the first. Words of the first row begin up to 15 bytes earlier, and words of
  // the last row end later.
  const int64_t reach = plan.ahead * plan.pitch + (together ? plan.matrices * plan.matrix_pitch : rows * plan.pitch);
  plan.shared_bytes = chunks::up(reach, kChunk) + 2 * kChunk;
  plan.fits = plan.shared_bytes <= kChunkShared;
  return plan;
}
inline ChunkPlan chunk_plan(const TransposeParams& p) noexcept {
  ChunkSizes sizes = chunk_sizes(p.element_bytes, p.cols);
  ChunkPlan plan = chunk_plan(p, sizes);
  // padding needs room too
  for (; !plan.fits && sizes.together > 4096; plan = chunk_plan(p, sizes)) sizes.together /= 2;
  return plan;
}

}  // namespace gpumem
