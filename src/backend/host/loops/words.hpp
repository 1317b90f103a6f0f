// Vectors of 64-bit words for the arithmetic of kernels/accumulators.hpp. Everything has internal linkage (loops.hpp
// says why).
#pragma once

#include <cstring>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "kernels/accumulators.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gpumem {
namespace {

// An unsigned element is its own absolute value and needs no code of its own.
template <class T>
constexpr Addend kAbsolute = std::is_signed_v<T> ? Addend::magnitude : Addend::element;

using Words = uint64_t __attribute__((vector_size(kVectorBytes)));
constexpr int kWords = kVectorBytes / 8;

template <class T>
inline Words products(const Words& a, const Words& b) {
  constexpr bool kSigned = std::is_signed_v<T>;
#if defined(__AVX512F__)
  const auto x = reinterpret_cast<__m512i>(a);
  const auto y = reinterpret_cast<__m512i>(b);
  return reinterpret_cast<Words>(kSigned ? _mm512_maskz_mul_epi32(0xff, x, y) : _mm512_maskz_mul_epu32(0xff, x, y));
#elif defined(__AVX2__)
  const auto x = reinterpret_cast<__m256i>(a);
  const auto y = reinterpret_cast<__m256i>(b);
  return reinterpret_cast<Words>(kSigned ? _mm256_mul_epi32(x, y) : _mm256_mul_epu32(x, y));
#elif defined(__aarch64__)
  const uint32x2_t x = vmovn_u64(reinterpret_cast<uint64x2_t>(a));
  const uint32x2_t y = vmovn_u64(reinterpret_cast<uint64x2_t>(b));
  if constexpr (kSigned) return reinterpret_cast<Words>(vmull_s32(vreinterpret_s32_u32(x), vreinterpret_s32_u32(y)));
  return reinterpret_cast<Words>(vmull_u32(x, y));
#else
  using Wide = std::conditional_t<kSigned, int64_t, uint64_t>;
  Words result{};
  for (int i = 0; i < kWords; ++i) {
    result[i] =
        // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): it loses track of vectors' elements
        static_cast<uint64_t>(static_cast<Wide>(static_cast<T>(a[i])) * static_cast<Wide>(static_cast<T>(b[i])));
  }
  return result;
#endif
}

// take(pair) for vectors of pairs of 32-bit elements; zeros fill the last one.
template <class T, class Take>
inline void over_pairs(const T* x, int64_t count, const Take& take) {
  constexpr int64_t kElements = int64_t{2} * kWords;
  Words pairs;
  int64_t at = 0;
  for (; at + kElements <= count; at += kElements) {
    std::memcpy(&pairs, x + at, sizeof pairs);
    take(pairs);
  }
  if (at == count) return;
  pairs = Words{};
  std::memcpy(&pairs, x + at, static_cast<size_t>(count - at) * sizeof(T));
  take(pairs);
}

template <class Word>
inline Int128 sum_of_lanes(const Words& v) {
  Int128 total = 0;
  for (int i = 0; i < kWords; ++i) total += static_cast<Word>(v[i]);
  return total;
}

}  // namespace
}  // namespace gpumem
