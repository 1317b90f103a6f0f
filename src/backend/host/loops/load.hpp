// Loads floating-point elements as vectors of f64. Everything has internal linkage (loops.hpp says why).
#pragma once

#include "backend/host/loops/common.hpp"
#include "kernels/elements.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gpumem {
namespace {

constexpr int kWide = kVectorBytes / 8;

using F64s = double __attribute__((vector_size(kVectorBytes)));
using Bits64 = int64_t __attribute__((vector_size(kVectorBytes)));
#if !defined(__AVX2__) && !defined(__aarch64__)
using F32s = float __attribute__((vector_size(4 * kWide)));
using U32s = uint32_t __attribute__((vector_size(4 * kWide)));
using U16s = uint16_t __attribute__((vector_size(2 * kWide)));
#endif

inline F64s load(const double* p) { return load_as<F64s>(p); }

// gcc 12 compiles conversions between vectors of different widths badly, so these are intrinsics. The mask of all lanes
// avoids its warning that the unmasked form uses an uninitialised vector.
#if defined(__AVX512F__)
inline F64s widened(__m256 v) { return reinterpret_cast<F64s>(_mm512_maskz_cvtps_pd(0xff, v)); }
inline F64s load(const float* p) { return widened(_mm256_loadu_ps(p)); }
inline F64s load(const Brain* p) {
  const __m256i low = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return widened(_mm256_castsi256_ps(_mm256_slli_epi32(low, 16)));
}
inline F64s load(const Half* p) {
  return widened(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
#elif defined(__AVX2__)
inline F64s widened(__m128 v) { return reinterpret_cast<F64s>(_mm256_cvtps_pd(v)); }
inline F64s load(const float* p) { return widened(_mm_loadu_ps(p)); }
inline F64s load(const Brain* p) {
  const __m128i low = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  return widened(_mm_castsi128_ps(_mm_slli_epi32(low, 16)));
}
inline F64s load(const Half* p) { return widened(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))); }
#elif defined(__aarch64__)
inline F64s widened(float32x2_t v) { return reinterpret_cast<F64s>(vcvt_f64_f32(v)); }
inline F64s load(const float* p) { return widened(vld1_f32(p)); }
inline F64s load(const Brain* p) {
  const uint16x4_t low = vreinterpret_u16_u32(vdup_n_u32(load_as<uint32_t>(p)));
  return widened(vreinterpret_f32_u16(vzip1_u16(vdup_n_u16(0), low)));
}
inline F64s load(const Half* p) {
  const float16x4_t low = vreinterpret_f16_u32(vdup_n_u32(load_as<uint32_t>(p)));
  return widened(vget_low_f32(vcvt_f32_f16(low)));
}
#else
inline F64s load(const float* p) { return __builtin_convertvector(load_as<F32s>(p), F64s); }
inline F64s load(const Brain* p) {
  const U32s high = __builtin_convertvector(load_as<U16s>(p), U32s) << 16;
  return __builtin_convertvector(reinterpret_cast<F32s>(high), F64s);
}
// Scales by the difference of the exponent biases; infinities and NaNs get f64's exponent.
inline F64s load(const Half* p) {
  const Bits64 bits = __builtin_convertvector(load_as<U16s>(p), Bits64);
  const F64s finite = reinterpret_cast<F64s>((bits & 0x7fff) << 42) * 0x1p1008;
  const Bits64 special = (bits & 0x7c00) == 0x7c00;
  const Bits64 size = reinterpret_cast<Bits64>(finite) | (special & 0x7ff0000000000000);
  return reinterpret_cast<F64s>(size | (bits & 0x8000) << 48);
}
#endif

template <class T>
constexpr T kOne = T{1};
template <>
constexpr Half kOne<Half> = {0x3c00};
template <>
constexpr Brain kOne<Brain> = {0x3f80};

// The first `count` elements, fewer than a vector has; the others are +0, or 1.
template <bool kOnes = false, class T>
[[gnu::noinline]] F64s copied_part(const T* p, int64_t count) {
  T part[kWide] = {};
  for (int i = 0; kOnes && i < kWide; ++i) part[i] = kOne<T>;
  for (int64_t i = 0; i < count; ++i) part[i] = load_as<T>(p + i);
  return load(part);
}
template <class T>
inline F64s load_part(const T* p, int64_t count) {
#if defined(__AVX512F__)
  const auto mask = static_cast<__mmask8>((1U << count) - 1);
  if constexpr (sizeof(T) == 8) return reinterpret_cast<F64s>(_mm512_maskz_loadu_pd(mask, p));
  if constexpr (sizeof(T) == 4) return widened(_mm256_maskz_loadu_ps(mask, p));
#endif
  return copied_part(p, count);
}

inline F64s magnitude(const F64s& v) {
  return reinterpret_cast<F64s>(reinterpret_cast<Bits64>(v) & INT64_C(0x7fffffffffffffff));
}

}  // namespace
}  // namespace gpumem
