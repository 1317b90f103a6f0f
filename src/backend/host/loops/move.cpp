// Transposes and fills; compiled once for each instruction set (loops.hpp). A transpose reads and writes each element once,
// through a buffer that stays in L1 or L2.
#include "backend/host/loops/loops.hpp"

#include <cstring>

#include "backend/host/stream_stores.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

template <int kBytes>
struct Element {
  unsigned char bytes[kBytes];
};

// A tile's rows lie far apart, where no hardware prefetcher looks: one tile ahead hides the way to memory and the walk through
// the page tables. An address past the matrix does no harm.
template <int kTile>
inline void prefetch_next_tile(const char* row, int64_t src_pitch) {
  for (int at = 0; at < 256; at += kLine) __builtin_prefetch(row + kTile * src_pitch + at);
}

// rows x cols elements, src to the buffer: column c of src becomes row c of the buffer.
template <int kBytes, int kTile>
void gather_elements(const char* src, int64_t src_pitch, Element<kBytes>* buffer, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const char* row = src + r * src_pitch;
    prefetch_next_tile<kTile>(row, src_pitch);
    for (int64_t c = 0; c < cols; ++c) std::memcpy(&buffer[c * kTile + r], row + c * kBytes, kBytes);
  }
}

#if defined(__AVX2__)
using Words = uint32_t __attribute__((vector_size(32)));

// 8 x 8 words of 4 bytes in registers: pairs of rows, then pairs of pairs, then halves.
template <int kTile>
inline void gather_8x8(const char* src, int64_t src_pitch, Element<4>* buffer) {
  Words in[8];
  for (int k = 0; k < 8; ++k) std::memcpy(&in[k], src + k * src_pitch, 32);
  Words pairs[8];
  for (int k = 0; k < 8; k += 2) {
    pairs[k] = __builtin_shufflevector(in[k], in[k + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[k + 1] = __builtin_shufflevector(in[k], in[k + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Words fours[8];
  for (int k = 0; k < 8; k += 4) {
    fours[k] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    fours[k + 1] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    fours[k + 2] = __builtin_shufflevector(pairs[k + 1], pairs[k + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    fours[k + 3] = __builtin_shufflevector(pairs[k + 1], pairs[k + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int64_t k = 0; k < 4; ++k) {
    const Words low = __builtin_shufflevector(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    const Words high = __builtin_shufflevector(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    std::memcpy(&buffer[k * kTile], &low, 32);
    std::memcpy(&buffer[(k + 4) * kTile], &high, 32);
  }
}
#endif

// A whole tile.
template <int kBytes, int kTile>
void gather_tile(const char* src, int64_t src_pitch, Element<kBytes>* buffer) {
#if defined(__AVX2__)
  if constexpr (kBytes == 4) {
    for (int64_t r = 0; r < kTile; r += 8) {
      for (int64_t k = 0; k < 8; ++k) prefetch_next_tile<kTile>(src + (r + k) * src_pitch, src_pitch);
      for (int64_t c = 0; c < kTile; c += 8)
        gather_8x8<kTile>(src + r * src_pitch + c * 4, src_pitch, &buffer[c * kTile + r]);
    }
    return;
  }
#endif
  gather_elements<kBytes, kTile>(src, src_pitch, buffer, kTile, kTile);
}

inline void put_row(char* dst, const char* src, int64_t bytes, bool stream) {
  if (stream) return stream_row(dst, src, bytes);
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}

template <int kBytes, int kTile>
void transpose_tiles(const TransposeBand b, Element<kBytes>* __restrict buffer) {
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  for (int64_t c0 = b.first_col; c0 < b.last_col; c0 += kTile) {
    const int64_t cols = b.last_col - c0 < kTile ? b.last_col - c0 : kTile;
    for (int64_t r0 = b.first_row; r0 < b.last_row; r0 += kTile) {
      const int64_t rows = b.last_row - r0 < kTile ? b.last_row - r0 : kTile;
      const char* src = b.src + r0 * src_pitch + c0 * kBytes;
      if (rows == kTile && cols == kTile) {
        gather_tile<kBytes, kTile>(src, src_pitch, buffer);
      } else {
        gather_elements<kBytes, kTile>(src, src_pitch, buffer, rows, cols);
      }
      const int64_t row_bytes = rows * kBytes;
      for (int64_t c = 0; c < cols; ++c) {
        char* out = b.dst + (c0 + c) * dst_pitch + r0 * kBytes;
        const char* in = reinterpret_cast<const char*>(&buffer[c * kTile]);
        put_row(out, in, row_bytes, b.stream);
      }
    }
  }
  if (b.stream) stream_fence();
}

template <int kBytes>
void transpose_band(const TransposeBand& b) {
  constexpr int kTile = static_cast<int>(host_transpose_tile(kBytes));
  constexpr int kStackTile = static_cast<int>(host_stack_tile(kBytes));
  if constexpr (kTile > kStackTile) {
    if (b.buffer != nullptr) return transpose_tiles<kBytes, kTile>(b, static_cast<Element<kBytes>*>(b.buffer));
  }
  alignas(64) Element<kBytes> buffer[kStackTile * kStackTile];
  transpose_tiles<kBytes, kStackTile>(b, buffer);
}

// Structures of kWidth elements side by side, and a piece of each plane.
template <int kBytes, int kWidth>
void split(const char* src, int64_t count, Element<kBytes>* __restrict planes, int64_t tile) {
  for (int64_t i = 0; i < count; ++i) {
    for (int c = 0; c < kWidth; ++c) std::memcpy(&planes[c * tile + i], src + (i * kWidth + c) * kBytes, kBytes);
  }
}
template <int kBytes>
void split(const AosSoaBand& b, const char* src, int64_t count, Element<kBytes>* __restrict planes, int64_t tile) {
  if (b.src_ld == b.width && b.width == 2) return split<kBytes, 2>(src, count, planes, tile);
  if (b.src_ld == b.width && b.width == 3) return split<kBytes, 3>(src, count, planes, tile);
  if (b.src_ld == b.width && b.width == 4) return split<kBytes, 4>(src, count, planes, tile);
  const int64_t src_pitch = b.src_ld * kBytes;
  for (int64_t c = 0; c < b.width; ++c) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(&planes[c * tile + i], src + i * src_pitch + c * kBytes, kBytes);
  }
}

// The buffer holds a piece of each plane, or the structures side by side; either leaves it in long rows.
template <int kBytes>
void aos_soa_band(const AosSoaBand& band) {
  const AosSoaBand b = band;  // its own: the elements that are written are none of it
  alignas(64) Element<kBytes> small[kHostStackBuffer / kBytes];
  const bool on_heap = b.buffer != nullptr;
  Element<kBytes>* const __restrict buffer = on_heap ? static_cast<Element<kBytes>*>(b.buffer) : small;
  const int64_t tile = on_heap ? host_aos_soa_tile(kBytes) : host_aos_soa_stack_tile(kBytes);
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  for (int64_t at = b.first; at < b.last; at += tile) {
    const int64_t count = b.last - at < tile ? b.last - at : tile;
    if (b.from_packed) {
      split<kBytes>(b, b.src + at * src_pitch, count, buffer, tile);
      for (int64_t c = 0; c < b.width; ++c) {
        put_row(b.dst + c * dst_pitch + at * kBytes, reinterpret_cast<const char*>(&buffer[c * tile]), count * kBytes,
                b.stream);
      }
      continue;
    }
    for (int64_t c = 0; c < b.width; ++c) {
      const char* from = b.src + c * src_pitch + at * kBytes;
      for (int64_t i = 0; i < count; ++i) std::memcpy(&buffer[i * b.width + c], from + i * kBytes, kBytes);
    }
    const bool tight = b.dst_ld == b.width;
    const int64_t rows = tight ? 1 : count;
    const int64_t row_bytes = (tight ? count : 1) * b.width * kBytes;
    for (int64_t i = 0; i < rows; ++i) {
      put_row(b.dst + (at + i) * dst_pitch, reinterpret_cast<const char*>(&buffer[i * b.width]), row_bytes,
              b.stream && tight);
    }
  }
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
  for (; at + 16 <= bytes; at += 16) std::memcpy(dst + at, pattern + at % 16, 16);
  std::memcpy(dst + at, pattern + at % 16, static_cast<size_t>(bytes - at));
}

}  // namespace

namespace GPUMEM_LOOPS {
const MoveLoops moves = {
    {aos_soa_band<1>, aos_soa_band<2>, aos_soa_band<4>, aos_soa_band<8>, aos_soa_band<16>},
    {transpose_band<1>, transpose_band<2>, transpose_band<4>, transpose_band<8>, transpose_band<16>},
    fill,
    stream_row};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
