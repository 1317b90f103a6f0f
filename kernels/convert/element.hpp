// One element as another type, as gpumem.h promises, in the default floating-point environment. Plain C++ except for
// device instructions. Everything has internal linkage, because the host compiles it per instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/convert/params.hpp"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace gpumem {
namespace {

constexpr uint32_t bits_of(float v) { return std::bit_cast<uint32_t>(v); }
constexpr float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }

constexpr float canonical(float v) { return v == v ? v : float_of(0x7fc00000u); }
constexpr double canonical(double v) { return v == v ? v : std::bit_cast<double>(kCanonicalNan); }

constexpr float float_of(Brain v) { return float_of(uint32_t{v.bits} << 16); }

constexpr float float_of(Half v) {
#if defined(__CUDA_ARCH__)
  return __half2float(__ushort_as_half(v.bits));
#else
  // The fields move to float's places, and a multiplication corrects the bias. Infinities and NaNs get their exponent.
  const uint32_t size = v.bits & 0x7fffu;
  const float finite = float_of(size << 13) * 0x1p112f;
  return float_of(bits_of(finite) | (size >= 0x7c00 ? 0x7f800000u : 0u) | (v.bits & 0x8000u) << 16);
#endif
}

#if defined(__CUDA_ARCH__)
// A pair is converted and the other half is dropped. If the low byte of a single one is stored, ptxas of CUDA 13.0
// stores the byte of the number as an integer (F2I.U8.F16).
template <class Pair>
__device__ uint16_t low_of(const Pair& pair) {
  return static_cast<uint16_t>(reinterpret_cast<const uint32_t&>(pair));
}
#endif

constexpr Half half_of(float v) {
#if defined(__CUDA_ARCH__)
  const uint16_t number = low_of(__floats2half2_rn(v, v));
  return {v == v ? number : uint16_t{0x7e00}};
#else
  const uint32_t size = bits_of(v) & 0x7fffffffu;
  // From 2^-14 on: another bias, and a carry from the bits cut off, ties to even. Below: 0.5 has the unit of such
  // halves.
  const uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
  const uint32_t subnormal = bits_of(float_of(size) + 0.5f) - 0x3f000000u;
  const uint32_t finite = size < 0x38800000u ? subnormal : normal;
  const uint32_t magnitude = size >= 0x47800000u ? 0x7c00u : finite;
  const uint32_t number = magnitude | (bits_of(v) >> 16 & 0x8000u);
  return {static_cast<uint16_t>(size > 0x7f800000u ? 0x7e00u : number)};
#endif
}

constexpr Brain brain_of(float v) {
#if defined(__CUDA_ARCH__)
  const uint16_t number = low_of(__floats2bfloat162_rn(v, v));
  return {v == v ? number : uint16_t{0x7fc0}};
#else
  const uint32_t bits = bits_of(v);
  const uint32_t number = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  return {static_cast<uint16_t>(v == v ? number : 0x7fc0u)};
#endif
}

// Rounds once, to kFraction fraction bits or to the last bit of numbers of the exponent kLeast: it adds a number whose
// unit is that bit. The result is a float that converts exactly.
template <int kFraction, int kLeast>
constexpr float shortened(double v) {
  constexpr double kSmall = std::bit_cast<double>(uint64_t{1023 + kLeast} << 52);
  constexpr double kLarge = 0x1p129;
  const uint64_t sign = std::bit_cast<uint64_t>(v) & uint64_t{1} << 63;
  const double size = v < 0 ? -v : v;
  const double of_normal = size < kSmall ? kSmall : size;
  const double of_finite = of_normal > kLarge ? kLarge : of_normal;
  const uint64_t exponent = std::bit_cast<uint64_t>(of_finite) & uint64_t{0x7ff} << 52;
  const auto shift = std::bit_cast<double>(exponent + (uint64_t{52 - kFraction} << 52));
  const double rounded = (size + shift) - shift;
  return static_cast<float>(std::bit_cast<double>(std::bit_cast<uint64_t>(rounded) | sign));
}

// Rounds to odd: an inexact result ends in a 1 bit. A second rounding, to a type at least two bits shorter, then equals
// a single one. The bits of T that do not fit F are or'ed into the bit above them.
template <class F, class T>
constexpr F odd(T v) {
  using Size = std::make_unsigned_t<T>;
  constexpr Size kLast = Size{1} << (8 * static_cast<int>(sizeof(T)) - std::numeric_limits<F>::digits);
  bool negative = false;
  if constexpr (std::is_signed_v<T>) negative = v < 0;
  auto size = static_cast<Size>(v);
  size = negative ? 0 - size : size;
  const Size cut = size & (kLast - 1);
  size = size >> std::numeric_limits<F>::digits != 0 ? (size - cut) | (cut != 0 ? kLast : 0) : size;
  const auto magnitude = static_cast<F>(size);
  return negative ? -magnitude : magnitude;
}

template <class To, class From>
constexpr To saturated(From v) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_signed_v<From> && (!Limits::is_signed || sizeof(To) < sizeof(From))) {
    v = v < static_cast<From>(Limits::min()) ? static_cast<From>(Limits::min()) : v;
  }
  if constexpr (std::numeric_limits<From>::digits > Limits::digits) {
    v = v > static_cast<From>(Limits::max()) ? static_cast<From>(Limits::max()) : v;
  }
  return static_cast<To>(v);
}

// Rounds to the nearest whole number, ties to even: the sum rounds, and greater magnitudes are already whole.
template <class F>
constexpr F whole(F v) {
  constexpr F kWhole = F{1} / std::numeric_limits<F>::epsilon();
  const F shift = v < 0 ? -kWhole : kWhole;
  const F rounded = (v + shift) - shift;
  return (v < 0 ? -v : v) < kWhole ? rounded : v;
}

// As integer_of(), for short types: the sum with kUnit, whose last bit is worth 1, ends in the number. It compares only
// integers, because gcc 12 emits branches for comparisons of floats that can be constants.
template <class To, class F>
constexpr To short_integer_of(F v) {
  using Word = std::conditional_t<sizeof(F) == 4, int32_t, int64_t>;
  constexpr F kUnit = F{1.5} / std::numeric_limits<F>::epsilon();
  constexpr Word kMost = std::numeric_limits<To>::max();
  const auto bits = std::bit_cast<Word>(v);
  Word number = std::is_signed_v<To> ? bits & std::numeric_limits<Word>::max() : bits < 0 ? 0 : bits;
  constexpr Word kLimit = std::bit_cast<Word>(static_cast<F>(kMost) + F{std::is_signed_v<To> ? 1 : 0});
  number = number < kLimit ? number : kLimit;
  if constexpr (std::is_signed_v<To>) number |= bits & std::numeric_limits<Word>::min();
  const auto sum = std::bit_cast<Word>(std::bit_cast<F>(number & -static_cast<Word>(v == v)) + kUnit);
  if constexpr (!std::is_signed_v<To>) return static_cast<To>(sum);
  const Word whole = sum - std::bit_cast<Word>(kUnit);
  return static_cast<To>(whole < kMost ? whole : kMost);
}

template <class To, class F>
constexpr To integer_of(F v) {
#if defined(__CUDA_ARCH__)
  if (v != v) return 0;
  if constexpr (std::is_same_v<F, float>) {
    if constexpr (sizeof(To) == 8) return std::is_signed_v<To> ? __float2ll_rn(v) : __float2ull_rn(v);
    return std::is_same_v<To, uint32_t> ? __float2uint_rn(v) : saturated<To>(__float2int_rn(v));
  } else {
    if constexpr (sizeof(To) == 8) return std::is_signed_v<To> ? __double2ll_rn(v) : __double2ull_rn(v);
    return std::is_same_v<To, uint32_t> ? __double2uint_rn(v) : saturated<To>(__double2int_rn(v));
  }
#else
  if constexpr (std::numeric_limits<To>::digits < std::numeric_limits<F>::digits - 3) return short_integer_of<To>(v);
  constexpr To kMax = std::numeric_limits<To>::max();
  constexpr auto kLeast = static_cast<F>(std::numeric_limits<To>::min());
  constexpr bool kExact = std::numeric_limits<To>::digits <= std::numeric_limits<F>::digits;
  constexpr F kEnd = static_cast<F>(kMax / 2 + 1) * 2;
  constexpr F kMost = kExact ? kEnd - 1 : kEnd * (1 - std::numeric_limits<F>::epsilon() / 2);
  const F number = v == v ? v : F{0};
  const F not_less = number < kLeast ? kLeast : number;
  const F inside = whole(not_less > kMost ? kMost : not_less);
  To result{};
  if constexpr (std::is_same_v<To, uint32_t>) {  // through the signed type, because vectors have a conversion to it
    const F half = inside >= F{0x1p31} ? F{0x1p31} : F{0};
    result =
        static_cast<uint32_t>(static_cast<int32_t>(inside - half)) + static_cast<uint32_t>(half != 0) * 0x80000000u;
  } else {
    result = static_cast<To>(inside);
  }
  if constexpr (kExact) return result;
  return v > kMost ? kMax : result;
#endif
}

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;
template <class T>
constexpr bool kIsSixteen = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

template <class To, class From>
constexpr To converted(From v) {
  constexpr bool kToBrain = std::is_same_v<To, Brain>;
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (kIsSixteen<From>) {
    if constexpr (std::is_same_v<To, float>) {
      return canonical(float_of(v));
    } else {
      return converted<To>(float_of(v));
    }
  } else if constexpr (kIsInteger<From> && kIsInteger<To>) {
    return saturated<To>(v);
  } else if constexpr (kIsInteger<To>) {
    return integer_of<To>(v);
  } else if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>) {
    return canonical(static_cast<To>(v));
  } else if constexpr (std::is_same_v<From, float>) {
    if constexpr (kToBrain) return brain_of(v);
    if constexpr (!kToBrain) return half_of(v);
  } else if constexpr (std::is_same_v<From, double>) {
    return converted<To>(kToBrain ? shortened<7, -126>(v) : shortened<10, -14>(v));
  } else if constexpr (sizeof(From) <= 2) {
    return converted<To>(static_cast<float>(v));
  } else if constexpr (kToBrain) {
    return converted<To>(odd<std::conditional_t<sizeof(From) == 4, float, double>>(v));
  } else {  // 65520 and more is infinity in f16, and a float is exact up to 2^24
    constexpr int32_t kInfinite = 1 << 17;
    const From most = v > static_cast<From>(kInfinite) ? static_cast<From>(kInfinite) : v;
    if constexpr (std::is_unsigned_v<From>) return half_of(static_cast<float>(static_cast<int32_t>(most)));
    if constexpr (std::is_signed_v<From>) {
      return half_of(static_cast<float>(static_cast<int32_t>(most < -kInfinite ? -kInfinite : most)));
    }
  }
}

template <class F>
constexpr void for_type(gpumem_dtype dtype, const F& f) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_I8:
      return f.template operator()<GPUMEM_I8>();
    case GPUMEM_U8:
      return f.template operator()<GPUMEM_U8>();
    case GPUMEM_I16:
      return f.template operator()<GPUMEM_I16>();
    case GPUMEM_U16:
      return f.template operator()<GPUMEM_U16>();
    case GPUMEM_I32:
      return f.template operator()<GPUMEM_I32>();
    case GPUMEM_U32:
      return f.template operator()<GPUMEM_U32>();
    case GPUMEM_I64:
      return f.template operator()<GPUMEM_I64>();
    case GPUMEM_U64:
      return f.template operator()<GPUMEM_U64>();
    case GPUMEM_F16:
      return f.template operator()<GPUMEM_F16>();
    case GPUMEM_BF16:
      return f.template operator()<GPUMEM_BF16>();
    case GPUMEM_F32:
      return f.template operator()<GPUMEM_F32>();
    case GPUMEM_F64:
      return f.template operator()<GPUMEM_F64>();
  }
}

// Between equal types, elements are moved as unsigned integers.
constexpr ConvertParams without_numbers(ConvertParams params) {
  if (params.src_type != params.dst_type) return params;
  const gpumem_dtype word = 2 * std::countr_zero(static_cast<unsigned>(element_bytes(params.src_type))) + GPUMEM_U8;
  params.src_type = params.dst_type = word;
  return params;
}

template <class F>
constexpr void for_types(const ConvertParams& params, const F& f) {
  const ConvertParams p = without_numbers(params);
  for_type(p.src_type, [&]<gpumem_dtype kFrom>() {
    for_type(p.dst_type, [&]<gpumem_dtype kTo>() {
      constexpr bool kWord = !is_floating(kTo) && !is_signed_integer(kTo);
      if constexpr (kTo != kFrom || kWord) f.template operator()<ElementOf<kTo>, ElementOf<kFrom>>();
    });
  });
}

}  // namespace
}  // namespace gpumem
