// Compiled once for each instruction set: GPUMEM_LOOPS names the table, GPUMEM_LOOPS_NAME is its name. Everything but the
// table has internal linkage, so that no code for a wide instruction set can be taken by the linker for another file's.
// Reads x once: n * 4 bytes; transposes read and write each element once, through a buffer that stays in L1 or L2.
#include "backend/host/loops.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "kernels/limits.hpp"

namespace gpumem {
namespace {

// So many terms can't overflow any of the 64-bit accumulators below.
constexpr int64_t kChunk = int64_t{1} << 28;

using I32 = const int32_t* __restrict;

template <class Chunk>
Int128 sum_chunks(const int32_t* x, int64_t n, Chunk chunk) {
  Int128 total = 0;
  for (int64_t at = 0; at < n; at += kChunk) total += chunk(x + at, n - at < kChunk ? n - at : kChunk);
  return total;
}

Int128 sum(const int32_t* x, int64_t n) {
  return sum_chunks(x, n, [](I32 v, int64_t count) -> Int128 {
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += v[i];
    return total;
  });
}

// |INT32_MIN| fits the unsigned type.
inline uint32_t magnitude(int32_t v) { return v < 0 ? 0u - static_cast<uint32_t>(v) : static_cast<uint32_t>(v); }

Int128 sum_abs(const int32_t* x, int64_t n) {
  return sum_chunks(x, n, [](I32 v, int64_t count) -> Int128 {
    uint64_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += magnitude(v[i]);
    return total;
  });
}

// A square has 62 bits: its halves are summed apart.
Int128 sum_squares(const int32_t* x, int64_t n) {
  return sum_chunks(x, n, [](I32 v, int64_t count) -> Int128 {
    uint64_t low = 0;
    uint64_t high = 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t a = magnitude(v[i]);
      const uint64_t square = a * a;
      low += square & 0xffffffffu;
      high += square >> 32;
    }
    return static_cast<Int128>(low) + (static_cast<Int128>(high) << 32);
  });
}

// A cube has 93 bits and a sign: its magnitude is formed in three words of 32 bits, each summed apart under the sign.
Int128 sum_cubes(const int32_t* x, int64_t n) {
  return sum_chunks(x, n, [](I32 v, int64_t count) -> Int128 {
    int64_t word0 = 0;
    int64_t word1 = 0;
    int64_t word2 = 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t a = magnitude(v[i]);
      const int64_t sign = static_cast<int64_t>(v[i]) >> 63;
      const uint64_t square = a * a;
      const uint64_t p = a * (square & 0xffffffffu);
      const uint64_t q = a * (square >> 32);
      const auto t0 = static_cast<int64_t>(p & 0xffffffffu);
      const auto t1 = static_cast<int64_t>((p >> 32) + (q & 0xffffffffu));
      const auto t2 = static_cast<int64_t>(q >> 32);
      word0 += (t0 ^ sign) - sign;
      word1 += (t1 ^ sign) - sign;
      word2 += (t2 ^ sign) - sign;
    }
    // Multiplied, not shifted: the words may be negative.
    return word0 + static_cast<Int128>(word1) * (Int128{1} << 32) + static_cast<Int128>(word2) * (Int128{1} << 64);
  });
}

Int128 minimum(const int32_t* x, int64_t n) {
  int32_t least = x[0];
  for (int64_t i = 1; i < n; ++i) least = x[i] < least ? x[i] : least;
  return least;
}

Int128 maximum(const int32_t* x, int64_t n) {
  int32_t most = x[0];
  for (int64_t i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

Int128 max_abs(const int32_t* x, int64_t n) {
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t a = magnitude(x[i]);
    most = a > most ? a : most;
  }
  return most;
}

#if defined(__x86_64__)
// 16-byte stores around the caches; dst aligned to 16, bytes a multiple of 16.
inline void stream_bytes(char* dst, const char* src, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + at), _mm_load_si128(reinterpret_cast<const __m128i*>(src + at)));
  }
}
inline void stream_fence() { _mm_sfence(); }
#else
inline void stream_bytes(char* dst, const char* src, int64_t bytes) {
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}
inline void stream_fence() {}
#endif

template <int kBytes>
struct Element {
  unsigned char bytes[kBytes];
};

// One tile of rows x cols elements, src to the buffer: column c of src becomes row c of the buffer.
template <int kBytes, int kTile>
void gather_tile(const char* src, int64_t src_pitch, Element<kBytes>* buffer, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const char* row = src + r * src_pitch;
    for (int64_t c = 0; c < cols; ++c) std::memcpy(&buffer[c * kTile + r], row + c * kBytes, kBytes);
  }
}

template <int kBytes>
void transpose_band(const TransposeBand& b) {
  constexpr int kTile = static_cast<int>(host_transpose_tile(kBytes));
  alignas(64) Element<kBytes> buffer[kTile * kTile];
  const int64_t src_pitch = b.src_ld * kBytes;
  const int64_t dst_pitch = b.dst_ld * kBytes;
  for (int64_t c0 = b.first_col; c0 < b.last_col; c0 += kTile) {
    const int64_t cols = b.last_col - c0 < kTile ? b.last_col - c0 : kTile;
    for (int64_t r0 = b.first_row; r0 < b.last_row; r0 += kTile) {
      const int64_t rows = b.last_row - r0 < kTile ? b.last_row - r0 : kTile;
      const char* src = b.src + r0 * src_pitch + c0 * kBytes;
      if (rows == kTile && cols == kTile) {
        gather_tile<kBytes, kTile>(src, src_pitch, buffer, kTile, kTile);
      } else {
        gather_tile<kBytes, kTile>(src, src_pitch, buffer, rows, cols);
      }
      const int64_t row_bytes = rows * kBytes;
      for (int64_t c = 0; c < cols; ++c) {
        char* out = b.dst + (c0 + c) * dst_pitch + r0 * kBytes;
        const char* in = reinterpret_cast<const char*>(&buffer[c * kTile]);
        if (b.stream && row_bytes == 256 && reinterpret_cast<uintptr_t>(out) % 16 == 0) {
          stream_bytes(out, in, 256);
        } else {
          std::memcpy(out, in, static_cast<size_t>(row_bytes));
        }
      }
    }
  }
  if (b.stream) stream_fence();
}

void fill(char* dst, int64_t bytes, const unsigned char* word, bool stream) {
  constexpr int64_t kLine = 64;
  alignas(64) char line[2 * kLine];
  for (int64_t at = 0; at < 2 * kLine; at += 16) std::memcpy(line + at, word, 16);
  int64_t at = 0;
  if (stream && bytes > 2 * kLine) {
    // Up to the first line boundary, then whole lines with the pattern turned by as much.
    at = static_cast<int64_t>((kLine - reinterpret_cast<uintptr_t>(dst) % kLine) % kLine);
    std::memcpy(dst, line, static_cast<size_t>(at));
    alignas(64) char turned[kLine];
    std::memcpy(turned, line + at % 16, kLine);
    for (; at + kLine <= bytes; at += kLine) stream_bytes(dst + at, turned, kLine);
    stream_fence();
  }
  for (; at + 16 <= bytes; at += 16) std::memcpy(dst + at, line + at % 16, 16);
  std::memcpy(dst + at, line + at % 16, static_cast<size_t>(bytes - at));
}

}  // namespace

extern const Loops GPUMEM_LOOPS = {
    GPUMEM_LOOPS_NAME,
    {sum, minimum, maximum, sum_abs, sum_squares, sum_cubes, max_abs},
    {transpose_band<1>, transpose_band<2>, transpose_band<4>, transpose_band<8>, transpose_band<16>},
    fill};

}  // namespace gpumem
