// Exact integer arithmetic: terms, vectors of 64-bit words, nodes. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <cstring>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "kernels/nodes.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace gpumem {
namespace {

template <class T, class Word>
inline Word itself(T v) {
  return v;
}
template <class T, class Word>
inline Word absolute(T v) {
  return unsigned_magnitude(v);
}
// An unsigned element is its own absolute value, and needs no code of its own.
template <class T, class Word>
constexpr auto kAbsolute = std::is_signed_v<T> ? absolute<T, Word> : itself<T, Word>;
template <class T, class Word>
inline Word square(T v) {
  // Formed in 32 bits, so that a vector holds more of them.
  const std::make_unsigned_t<T> a = unsigned_magnitude(v);
  const uint32_t square = static_cast<uint32_t>(a) * a;
  return static_cast<Word>(square);
}
template <class Wide, class T>
inline Wide widened(T v) {
  return static_cast<Wide>(v);
}
template <class T, class Word>
inline Word cube(T v) {
  const auto a = widened<std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>(v);
  return static_cast<Word>(static_cast<Word>(a * a) * static_cast<Word>(a));
}

inline ReduceNode node_of(Int128 v) {
  const uint64_t sign = v < 0 ? ~uint64_t{0} : 0;
  return {{static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64), sign, sign}};
}

// Words of the result, each summed apart in 128 bits: no carry goes from one to the next but at the end. In signed arithmetic,
// which holds 2^60 terms.
inline ReduceNode node_of(Int128 word0, Int128 word1, Int128 word2) {
  word1 += word0 >> 64;
  word2 += word1 >> 64;
  return {{static_cast<uint64_t>(word0), static_cast<uint64_t>(word1), static_cast<uint64_t>(word2),
           static_cast<uint64_t>(word2 >> 64)}};
}

using Words = uint64_t __attribute__((vector_size(kVectorBytes)));
constexpr int kWords = kVectorBytes / 8;

// The low halves of the words, of T each, multiplied.
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

// take(pair) for vectors of pairs of elements of 32 bits, the last one filled up with zeros.
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
