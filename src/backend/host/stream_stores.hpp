// Stores around the caches. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpumem {
namespace {

constexpr int64_t kLine = 64;

#if defined(__x86_64__)
// Writes whole cache lines around the caches; dst is aligned to kLine, and bytes is a multiple of it.
inline void stream_lines(char* dst, const char* src, int64_t bytes) {
#if defined(__AVX512F__)
  for (int64_t at = 0; at < bytes; at += 64) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + at), _mm512_loadu_si512(src + at));
  }
#else
  for (int64_t at = 0; at < bytes; at += 16) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + at), word);
  }
#endif
}
inline void stream_fence() { _mm_sfence(); }
#else
inline void stream_lines(char* dst, const char* src, int64_t bytes) {
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}
inline void stream_fence() {}
#endif

inline int64_t to_next_line(const char* p) {
  return static_cast<int64_t>((kLine - reinterpret_cast<uintptr_t>(p) % kLine) % kLine);
}

// The whole lines of a row go around the caches; its ends share lines with the data before and after them.
inline void stream_row(char* dst, const char* src, int64_t bytes) {
  const int64_t head = to_next_line(dst) < bytes ? to_next_line(dst) : bytes;
  const int64_t lines = (bytes - head) / kLine * kLine;
  std::memcpy(dst, src, static_cast<size_t>(head));
  stream_lines(dst + head, src + head, lines);
  std::memcpy(dst + head + lines, src + head + lines, static_cast<size_t>(bytes - head - lines));
}

}  // namespace
}  // namespace gpumem
