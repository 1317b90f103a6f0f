// Transposes and fills; compiled once per instruction set (loops.hpp). A transpose reads and writes each element once.
#include "backend/host/loops/loops.hpp"

#include <cstring>

#include "backend/host/loops/transpose_block.hpp"
#include "backend/host/stream_stores.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

inline void put_row(char* dst, const char* src, int64_t bytes, bool stream) {
  if (stream) return stream_row(dst, src, bytes);
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}

template <class F>
inline void over_pieces(int64_t first, int64_t last, int64_t piece, const F& f) {
  for (int64_t at = first; at < last; at += piece) f(at, last - at < piece ? last - at : piece);
}

// In tiles that stay in the first caches.
template <int kBytes>
void transpose_direct(const TransposeBand b) {
  constexpr int64_t kTileRows = 256 / kBytes;
  constexpr int64_t kTileCols = 512 / kBytes;
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  over_pieces(b.first_col, b.last_col, kTileCols, [&](int64_t col, int64_t cols) {
    over_pieces(b.first_row, b.last_row, kTileRows, [&](int64_t row, int64_t rows) {
      transpose_matrix<kBytes>(b.src + row * src_pitch + col * kBytes, src_pitch,
                               b.dst + col * dst_pitch + row * kBytes, dst_pitch, rows, cols);
    });
  });
}

template <int kBytes>
void transpose_small(const TransposeBand b, int64_t matrices, int64_t src_next, int64_t dst_next) {
  const bool elements = too_small_for_blocks<kBytes>(b.last_row, b.last_col);
  for (int64_t m = 0; m < matrices; ++m) {
    const char* src = b.src + m * src_next;
    char* dst = b.dst + m * dst_next;
    if (elements) {
      transpose_elements<kBytes>(src, b.src_ld * kBytes, dst, b.dst_ld * kBytes, b.last_row, b.last_col);
    } else {
      transpose_matrix<kBytes>(src, b.src_ld * kBytes, dst, b.dst_ld * kBytes, b.last_row, b.last_col);
    }
  }
}

// Collects pieces of rows of dst in the buffer and writes them around the caches. If rows do not begin at line
// boundaries, two pieces share a line, so pieces are longer. Rows of src are far apart, where no hardware prefetcher
// looks; prefetching their next lines hides the memory latency.
template <int kBytes>
void transpose_streamed(const TransposeBand b) {
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  auto* const buffer = static_cast<char*>(b.buffer);
  const bool whole_lines = (reinterpret_cast<uintptr_t>(b.dst) | static_cast<uintptr_t>(dst_pitch)) % kLine == 0;
  const StreamedTile tile = host_streamed_tile(kBytes, whole_lines);
  over_pieces(b.first_row, b.last_row, tile.rows, [&](int64_t row, int64_t rows) {
    over_pieces(b.first_col, b.last_col, tile.cols, [&](int64_t col, int64_t cols) {
      const char* src = b.src + row * src_pitch + col * kBytes;
      for (int64_t r = 0; r < rows; ++r) {
        const auto next = reinterpret_cast<uintptr_t>(src + r * src_pitch + tile.cols * kBytes);
        for (int64_t at = 0; at < tile.cols * kBytes; at += kLine)
          __builtin_prefetch(reinterpret_cast<const void*>(next + static_cast<uintptr_t>(at)));
      }
      transpose_matrix<kBytes>(src, src_pitch, buffer, tile.pitch, rows, cols);
      for (int64_t c = 0; c < cols; ++c) {
        stream_row(b.dst + (col + c) * dst_pitch + row * kBytes, buffer + c * tile.pitch, rows * kBytes);
      }
    });
  });
  stream_fence();
}

template <int kBytes>
void transpose_band(const TransposeBand& b) {
  return b.buffer == nullptr ? transpose_direct<kBytes>(b) : transpose_streamed<kBytes>(b);
}

// Structures of kWidth elements without padding; compilers vectorise it.
template <int kBytes, int kWidth>
void split_packed(const char* __restrict src, int64_t count, char* __restrict planes, int64_t pitch) {
  for (int64_t i = 0; i < count; ++i) {
    for (int c = 0; c < kWidth; ++c)
      std::memcpy(planes + c * pitch + i * kBytes, src + (i * kWidth + c) * kBytes, kBytes);
  }
}
// noinline keeps vectors out of the caller's frame. Elements that a block reads past a structure belong to its
// successors.
template <int kBytes>
[[gnu::noinline]] void split(const char* src, int64_t src_pitch, int64_t width, int64_t count, char* planes,
                             int64_t pitch) {
  using Block = TransposeBlock<kBytes, kVectorBytes>;
  const bool packed = src_pitch == width * kBytes;
  if (packed && width == 2) return split_packed<kBytes, 2>(src, count, planes, pitch);
  if (packed && width == 3) return split_packed<kBytes, 3>(src, count, planes, pitch);
  if (packed && width == 4) return split_packed<kBytes, 4>(src, count, planes, pitch);
  int64_t at = 0;
  if (packed && width < Block::kCols) {
    for (; at + Block::kRows + Block::kCols <= count; at += Block::kRows) {
      Block::run(src + at * src_pitch, src_pitch, Block::kRows, planes + at * kBytes, pitch, width);
    }
  }
  transpose_matrix<kBytes>(src + at * src_pitch, src_pitch, planes + at * kBytes, pitch, count - at, width);
}

template <int kBytes, int kWidth>
void join_packed(const char* __restrict planes, int64_t pitch, int64_t count, char* __restrict dst) {
  for (int64_t i = 0; i < count; ++i) {
    for (int c = 0; c < kWidth; ++c)
      std::memcpy(dst + (i * kWidth + c) * kBytes, planes + c * pitch + i * kBytes, kBytes);
  }
}
// Elements that a block writes past a structure are overwritten with its successors.
template <int kBytes>
[[gnu::noinline]] void join(const char* planes, int64_t pitch, int64_t width, int64_t count, char* dst) {
  using Block = TransposeBlock<kBytes, 16>;
  if (width == 2) return join_packed<kBytes, 2>(planes, pitch, count, dst);
  if (width == 3) return join_packed<kBytes, 3>(planes, pitch, count, dst);
  const int64_t structure = width * kBytes;
  int64_t at = 0;
  if (width < Block::kRows) {
    for (; at + 2 * Block::kCols <= count; at += Block::kCols) {
      Block::run(planes + at * kBytes, pitch, width, dst + at * structure, structure, Block::kCols);
    }
  }
  transpose_matrix<kBytes>(planes + at * kBytes, pitch, dst + at * structure, structure, width, count - at);
}

// The buffer holds a piece of every plane, or the structures; both are written from it in long rows.
template <int kBytes>
void aos_soa_band(const AosSoaBand& band) {
  const AosSoaBand b = band;  // a local copy, which stores cannot alias
  alignas(64) char small[kHostStackBuffer];
  const bool on_heap = b.buffer != nullptr;
  char* const buffer = on_heap ? static_cast<char*>(b.buffer) : small;
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  const int64_t structure = b.width * kBytes;
  const int64_t tile = on_heap ? host_aos_soa_tile(kBytes) : host_aos_soa_stack_tile(kBytes);
  over_pieces(b.first, b.last, tile, [&](int64_t at, int64_t count) {
    if (b.from_packed) {
      split<kBytes>(b.src + at * src_pitch, src_pitch, b.width, count, buffer, tile * kBytes);
      for (int64_t c = 0; c < b.width; ++c) {
        put_row(b.dst + c * dst_pitch + at * kBytes, buffer + c * tile * kBytes, count * kBytes, b.stream);
      }
      return;
    }
    join<kBytes>(b.src + at * kBytes, src_pitch, b.width, count, buffer);
    if (b.dst_ld == b.width) return put_row(b.dst + at * dst_pitch, buffer, count * structure, b.stream);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(b.dst + (at + i) * dst_pitch, buffer + i * structure, static_cast<size_t>(structure));
    }
  });
  if (b.stream) stream_fence();
}

void fill(char* dst, int64_t bytes, const unsigned char* word, bool stream) {
  char pattern[2 * kLine];
  for (int64_t at = 0; at < 2 * kLine; at += 16) std::memcpy(pattern + at, word, 16);
  int64_t at = 0;
  if (stream && bytes > 2 * kLine) {
    // Up to the first line boundary, then whole lines with the pattern rotated by as much.
    at = to_next_line(dst);
    std::memcpy(dst, pattern, static_cast<size_t>(at));
    const char* rotated = pattern + at % 16;
    for (; at + kLine <= bytes; at += kLine) stream_lines(dst + at, rotated, kLine);
    stream_fence();
  }
  const char* rest = pattern + at % 16;
  for (; at + kLine <= bytes; at += kLine) std::memcpy(dst + at, rest, kLine);
  for (; at + 16 <= bytes; at += 16) std::memcpy(dst + at, rest, 16);
  std::memcpy(dst + at, pattern + at % 16, static_cast<size_t>(bytes - at));
}

}  // namespace

namespace GPUMEM_LOOPS {
const MoveLoops moves = {
    {aos_soa_band<1>, aos_soa_band<2>, aos_soa_band<4>, aos_soa_band<8>, aos_soa_band<16>},
    {transpose_band<1>, transpose_band<2>, transpose_band<4>, transpose_band<8>, transpose_band<16>},
    {transpose_small<1>, transpose_small<2>, transpose_small<4>, transpose_small<8>, transpose_small<16>},
    fill,
    stream_row};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
