// Resizing, one image row at a time; compiled once per instruction set (loops.hpp). Each pixel of dst gathers one or
// two pixels along a row of src. Lines are blended down columns, as contiguous vectors.
#include "backend/host/loops/loops.hpp"

#include <cstring>
#include <type_traits>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "backend/host/loops/common.hpp"
#include "kernels/resize/coordinates.hpp"

namespace gpumem {
namespace {

template <int kBytes>
void take(const void* row, const ResizeColumn* columns, int64_t n, void* dst) {
  const auto* from = static_cast<const char*>(row);
  auto* to = static_cast<char*>(dst);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * kBytes, from + columns[i].at, kBytes);
}

// Gathers the pixels first, so that vectors blend them.
template <class T, int kChannels>
void across(const void* row, const ResizeColumn* columns, const uint32_t* weights, int64_t n, void* line) {
  using Line = typename ResizeBlend<T>::Line;
  constexpr int64_t kAtOnce = 64;
  T left[kAtOnce * kChannels];
  T right[kAtOnce * kChannels];
  const auto* from = static_cast<const char*>(row);
  auto* to = static_cast<Line*>(line);
  for (int64_t first = 0; first < n; first += kAtOnce) {
    const int64_t count = n - first < kAtOnce ? n - first : kAtOnce;
    for (int64_t i = 0; i < count; ++i) {
      const ResizeColumn column = columns[first + i];
      std::memcpy(left + i * kChannels, from + column.at, kChannels * sizeof(T));
      std::memcpy(right + i * kChannels, from + column.at + column.step, kChannels * sizeof(T));
    }
    const uint32_t* weight = weights + first * kChannels;
    Line* at = to + first * kChannels;
    for (int64_t k = 0; k < count * kChannels; ++k) at[k] = ResizeBlend<T>::across(left[k], right[k], weight[k]);
  }
}

#if defined(__AVX2__)
template <class T>
inline __m256i blended(const char* row, const ResizeEight& e) {
  const auto weight = load_as<__m256i>(e.weight);
  if constexpr (std::is_same_v<T, float>) {
    const __m256 first = _mm256_permutevar8x32_ps(load_as<__m256>(row + e.at[0]), load_as<__m256i>(e.pick));
    const __m256 second = _mm256_permutevar8x32_ps(load_as<__m256>(row + e.at[1]), load_as<__m256i>(e.pick + 8));
    const __m256 a = _mm256_permute2f128_ps(first, second, 0x20);
    const __m256 b = _mm256_permute2f128_ps(first, second, 0x31);
    const __m256 w = _mm256_mul_ps(_mm256_cvtepi32_ps(weight), _mm256_set1_ps(0x1p-24f));
    const __m256 between = _mm256_add_ps(a, _mm256_mul_ps(w, _mm256_sub_ps(b, a)));
    return _mm256_castps_si256(_mm256_blendv_ps(between, a, _mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
  } else {
    const auto first = load_as<__m128i>(row + e.at[0]);
    const auto second = load_as<__m128i>(row + e.at[1]);
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    const __m256i pairs = _mm256_shuffle_epi8(both, load_as<__m256i>(e.pick));
    const __m256i a = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff));
    const __m256i b = _mm256_srli_epi32(pairs, 16);
    const __m256i step = _mm256_mullo_epi32(weight, _mm256_sub_epi32(b, a));
    return _mm256_add_epi32(_mm256_slli_epi32(a, ResizeBlend<T>::kAcross), step);
  }
}

template <class T>
void across_eights(const void* row, const ResizeEight* eights, int64_t n, void* line) {
  const auto* from = static_cast<const char*>(row);
  auto* to = static_cast<__m256i*>(line);
  for (int64_t i = 0; i < n; ++i) _mm256_storeu_si256(to + i, blended<T>(from, eights[i]));
}

// Like ResizeBlend<uint16_t>::down(), to words, whose 64-bit products compile to code that is 1.5 times as long.
inline __m256i down_eight(const uint32_t* upper, const uint32_t* lower, uint32_t weight) {
  const auto a = load_as<__m256i>(upper);
  const auto b = load_as<__m256i>(lower);
  const auto sum = [weight](__m256i of_a, __m256i of_b) {
    const __m256i first = _mm256_mul_epu32(of_a, _mm256_set1_epi64x((1 << ResizeBlend<uint16_t>::kDown) - weight));
    const __m256i second = _mm256_mul_epu32(of_b, _mm256_set1_epi64x(weight));
    return _mm256_add_epi64(_mm256_add_epi64(first, second), _mm256_set1_epi64x(int64_t{1} << 39));
  };
  const __m256i even = _mm256_srli_epi64(sum(a, b), 40);
  const __m256i odd = _mm256_srli_epi64(sum(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), 8);
  return _mm256_blend_epi32(even, odd, 0xaa);
}
#else
template <class T>
constexpr auto across_eights = nullptr;
#endif

template <class T>
void down(const void* upper, const void* lower, uint32_t weight, int64_t n, void* dst) {
  using Line = typename ResizeBlend<T>::Line;
  const auto* a = static_cast<const Line*>(upper);
  const auto* b = static_cast<const Line*>(lower);
  auto* to = static_cast<char*>(dst);
  int64_t i = 0;
#if defined(__AVX2__)
  if constexpr (std::is_same_v<T, uint16_t>) {
    for (; i + 16 <= n; i += 16) {
      const __m256i packed =
          _mm256_packus_epi32(down_eight(a + i, b + i, weight), down_eight(a + i + 8, b + i + 8, weight));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i * 2), _mm256_permute4x64_epi64(packed, 0xd8));
    }
  }
#endif
  for (; i < n; ++i) {
    const T value = ResizeBlend<T>::down(a[i], b[i], weight);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof value);
  }
}

}  // namespace

namespace GPUMEM_LOOPS {
const ResizeLoops resizes = {{{take<1>, take<2>, take<4>},
                              {take<2>, take<4>, take<8>},
                              {take<3>, take<6>, take<12>},
                              {take<4>, take<8>, take<16>}},
                             {{across<uint8_t, 1>, across<uint16_t, 1>, across<float, 1>},
                              {across<uint8_t, 2>, across<uint16_t, 2>, across<float, 2>},
                              {across<uint8_t, 3>, across<uint16_t, 3>, across<float, 3>},
                              {across<uint8_t, 4>, across<uint16_t, 4>, across<float, 4>}},
                             {across_eights<uint8_t>, across_eights<uint16_t>, across_eights<float>},
                             {down<uint8_t>, down<uint16_t>, down<float>}};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
