// The arithmetic of a resize, shared by host and kernels so that they cannot differ: the centre of an element of dst in
// src, and the value there. Plain constexpr functions. Functions that the host's inner loops call are always inlined:
// otherwise the linker may use code for a wide instruction set in another file (src/backend/host/loops/loops.hpp).
#pragma once

#include <bit>
#include <cstdint>

#include "gpumem.h"
#include "kernels/division.hpp"
#include "kernels/resize/limits.hpp"

namespace gpumem {

// An axis: `src` elements become `dst`, both >= 1. The centre of element i of dst is at ((2 i + 1) src - dst) / (2
// dst).
struct ResizeAxis {
  int64_t src;
  int64_t dst;
  int32_t bits;             // resize_bits(): divisions of short words are many times faster on a GPU
  Divisor<uint32_t> twice;  // 2 dst, if bits is 32
};

constexpr ResizeAxis resize_axis(int64_t src, int64_t dst) noexcept {
  const int32_t bits = resize_bits(src, dst);
  return {src, dst, bits, Divisor<uint32_t>(bits == 32 ? static_cast<uint32_t>(dst * 2) : 1)};
}

// n / (2 dst)
template <class Word>
constexpr Word resize_quotient(const ResizeAxis& axis, Word n) noexcept {
  if constexpr (sizeof(Word) == 4) {
    return axis.twice.quotient(n);
  } else {
    return n / (static_cast<Word>(axis.dst) * 2);
  }
}

// A place between elements `index` and `index` + 1 of src. `weight` is in units of 2^-kBits, below 1, and 0 at edges.
struct ResizeTap {
  int64_t index;
  uint32_t weight;

  constexpr int64_t next() const noexcept { return index + (weight != 0 ? 1 : 0); }
};

// rest / (2 dst) in units of 2^-kBits, rounded to nearest, halves up. rest < 2 dst.
template <int kBits, class Word>
constexpr uint32_t resize_fraction(const ResizeAxis& axis, Word rest) noexcept {
  const Word dst = static_cast<Word>(axis.dst);
  uint32_t fraction = 0;
  for (int left = kBits; left > 0; left -= kResizeFractionStep) {
    const int step = left < kResizeFractionStep ? left : kResizeFractionStep;
    rest <<= step;
    const Word quotient = resize_quotient(axis, rest);
    fraction = (fraction << step) | static_cast<uint32_t>(quotient);
    rest -= quotient * dst * 2;
  }
  return fraction + (rest >= dst ? 1 : 0);
}

template <int kBits, class Word>
constexpr ResizeTap resize_tap_in(const ResizeAxis& axis, int64_t i) noexcept {
  const Word dst = static_cast<Word>(axis.dst);
  const Word scaled = (static_cast<Word>(i) * 2 + 1) * static_cast<Word>(axis.src);
  if (scaled <= dst) return {0, 0};  // at or before the centre of the first element
  const Word centre = scaled - dst;
  const Word whole = resize_quotient(axis, centre);
  const uint32_t fraction = resize_fraction<kBits, Word>(axis, centre - whole * dst * 2);
  // A fraction that rounds to 1 becomes the next element with a fraction of 0.
  const Word index = whole + (fraction >> kBits);
  if (index >= static_cast<Word>(axis.src - 1)) return {axis.src - 1, 0};
  return {static_cast<int64_t>(index), fraction & ((uint32_t{1} << kBits) - 1)};
}

// kWidest: the maximum bits of an axis here.
template <int kBits, int kWidest = 128>
constexpr ResizeTap resize_tap(const ResizeAxis& axis, int64_t i) noexcept {
  if (kWidest == 32 || axis.bits == 32) return resize_tap_in<kBits, uint32_t>(axis, i);
  if constexpr (kWidest == 128) {
    if (axis.bits == 128) return resize_tap_in<kBits, Uint128>(axis, i);
  }
  return resize_tap_in<kBits, uint64_t>(axis, i);
}

template <class Word>
constexpr int64_t resize_nearest_in(const ResizeAxis& axis, int64_t i) noexcept {
  return static_cast<int64_t>(resize_quotient(axis, (static_cast<Word>(i) * 2 + 1) * static_cast<Word>(axis.src)));
}

template <int kWidest = 128>
constexpr int64_t resize_nearest(const ResizeAxis& axis, int64_t i) noexcept {
  if (kWidest == 32 || axis.bits == 32) return resize_nearest_in<uint32_t>(axis, i);
  if constexpr (kWidest == 128) {
    if (axis.bits == 128) return resize_nearest_in<Uint128>(axis, i);
  }
  return resize_nearest_in<uint64_t>(axis, i);
}

// Blends two horizontal neighbours into a Line by a weight of kAcross bits, and two Lines into an element by a weight
// of kDown bits. A weight of 0 gives the first of the two unchanged.
template <class T>
struct ResizeBlend;

// 8 + 12 + 12 bits fill a word. |error| <= 1/2 + 255 * 2^-12, half of it from each weight's 2^-13.
template <>
struct ResizeBlend<uint8_t> {
  using Line = uint32_t;
  static constexpr int kAcross = 12;
  static constexpr int kDown = 12;

  // The difference may be negative. The sum is correct modulo 2^32.
  [[gnu::always_inline]] static constexpr Line across(uint8_t a, uint8_t b, uint32_t weight) noexcept {
    return (Line{a} << kAcross) + weight * (Line{b} - Line{a});
  }
  [[gnu::always_inline]] static constexpr uint8_t down(Line a, Line b, uint32_t weight) noexcept {
    return static_cast<uint8_t>(((a << kDown) + weight * (b - a) + (1u << 23)) >> 24);
  }
};

// 16 + 16 bits fill a word, and the second weight multiplies it to 56 bits. |error| <= 1/2 + 65535 * (2^-17 + 2^-25).
template <>
struct ResizeBlend<uint16_t> {
  using Line = uint32_t;
  static constexpr int kAcross = 16;
  static constexpr int kDown = 24;

  [[gnu::always_inline]] static constexpr Line across(uint16_t a, uint16_t b, uint32_t weight) noexcept {
    return (Line{a} << kAcross) + weight * (Line{b} - Line{a});
  }
  [[gnu::always_inline]] static constexpr uint16_t down(Line a, Line b, uint32_t weight) noexcept {
    constexpr uint32_t kOne = 1u << kDown;
    return static_cast<uint16_t>((uint64_t{a} * (kOne - weight) + uint64_t{b} * weight + (uint64_t{1} << 39)) >> 40);
  }
};

inline constexpr float kCanonicalNanF32 = std::bit_cast<float>(uint32_t{0x7fc00000});

// a + w (b - a), each operation rounded to nearest; a if a == b. A weight of 24 bits is a float below 1, so the result
// never passes b. With u = 2^-24 and M the largest magnitude, the errors of one blend are at most
// 2 M u (b - a) + 2 M u (product) + M u (sum) + M u (weight, 2^-25 of 2 M) = 6 M u; both blends: 12 M u to first order.
template <>
struct ResizeBlend<float> {
  using Line = float;
  static constexpr int kAcross = 24;
  static constexpr int kDown = 24;

  [[gnu::always_inline]] static constexpr Line across(float a, float b, uint32_t weight) noexcept {
    const float w = static_cast<float>(static_cast<int32_t>(weight)) * 0x1p-24f;
    const float between = a + w * (b - a);
    return a == b ? a : between;
  }
  [[gnu::always_inline]] static constexpr float down(Line a, Line b, uint32_t weight) noexcept {
    const float value = across(a, b, weight);
    return value != value ? kCanonicalNanF32 : value;
  }
};

template <class F>
constexpr auto for_pixel_type(gpumem_dtype dtype, const F& f) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_U8:
      return f.template operator()<uint8_t>();
    case GPUMEM_U16:
      return f.template operator()<uint16_t>();
    case GPUMEM_F32:
      return f.template operator()<float>();
    case GPUMEM_I8:
    case GPUMEM_I16:
    case GPUMEM_I32:
    case GPUMEM_U32:
    case GPUMEM_I64:
    case GPUMEM_U64:
    case GPUMEM_F16:
    case GPUMEM_BF16:
    case GPUMEM_F64:
      break;
  }
  __builtin_unreachable();
}

}  // namespace gpumem
