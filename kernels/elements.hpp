// The element types: sizes, values, and the keys by which they are ordered. Plain constexpr functions, for host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "gpumem.h"

namespace gpumem {

constexpr int element_bytes(gpumem_dtype dtype) noexcept {
  switch (dtype) {
    case GPUMEM_I8:
    case GPUMEM_U8:
      return 1;
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_F16:
    case GPUMEM_BF16:
      return 2;
    case GPUMEM_I32:
    case GPUMEM_U32:
    case GPUMEM_F32:
      return 4;
    default:
      return 8;
  }
}

constexpr bool is_floating(gpumem_dtype dtype) noexcept { return dtype >= GPUMEM_F16; }
constexpr bool is_signed_integer(gpumem_dtype dtype) noexcept { return dtype < GPUMEM_F16 && dtype % 2 == 0; }

constexpr uint64_t sign_bit(gpumem_dtype dtype) noexcept { return uint64_t{1} << (8 * element_bytes(dtype) - 1); }
constexpr uint64_t all_bits(gpumem_dtype dtype) noexcept { return ~uint64_t{0} >> (64 - 8 * element_bytes(dtype)); }

// The bits of +infinity.
constexpr uint64_t infinity_bits(gpumem_dtype dtype) noexcept {
  switch (dtype) {
    case GPUMEM_F16:
      return 0x7c00;
    case GPUMEM_BF16:
      return 0x7f80;
    case GPUMEM_F32:
      return 0x7f800000;
    default:
      return 0x7ff0000000000000;
  }
}

constexpr uint64_t kCanonicalNan = 0x7ff8000000000000;

// Every finite or infinite number of binary16, exactly.
constexpr double half_to_double(uint16_t bits) noexcept {
  const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
  const int exponent = (bits >> 10) & 31;
  const uint64_t fraction = bits & 1023u;
  if (exponent == 0) return (sign != 0 ? -0x1p-24 : 0x1p-24) * static_cast<double>(fraction);
  const uint64_t wide = exponent == 31 ? 2047 : static_cast<uint64_t>(exponent - 15 + 1023);
  return std::bit_cast<double>(sign | (wide << 52) | (fraction << 42));
}

// A floating-point element, given by its bits, as f64: exact.
constexpr double to_double(gpumem_dtype dtype, uint64_t bits) noexcept {
  switch (dtype) {
    case GPUMEM_F16:
      return half_to_double(static_cast<uint16_t>(bits));
    case GPUMEM_BF16:
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits << 16)));
    case GPUMEM_F32:
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    default:
      return std::bit_cast<double>(bits);
  }
}

// An integer element's bits, extended to 64: by its sign, or by zeros.
constexpr uint64_t extend(gpumem_dtype dtype, uint64_t bits) noexcept {
  if (!is_signed_integer(dtype)) return bits;
  return (bits ^ sign_bit(dtype)) - sign_bit(dtype);
}

// Keys: unsigned numbers of the element's width, ordered as the elements are, with -0 before +0. NaNs lie outside the
// infinities, those with a sign below.
constexpr uint64_t key_of(gpumem_dtype dtype, uint64_t bits) noexcept {
  const uint64_t sign = sign_bit(dtype);
  if (is_floating(dtype)) return (bits & sign) != 0 ? ~bits & all_bits(dtype) : bits | sign;
  return is_signed_integer(dtype) ? bits ^ sign : bits;
}

constexpr uint64_t bits_of_key(gpumem_dtype dtype, uint64_t key) noexcept {
  const uint64_t sign = sign_bit(dtype);
  if (is_floating(dtype)) return (key & sign) != 0 ? key ^ sign : ~key & all_bits(dtype);
  return is_signed_integer(dtype) ? key ^ sign : key;
}

constexpr bool is_nan_key(gpumem_dtype dtype, uint64_t key) noexcept {
  if (!is_floating(dtype)) return false;
  const uint64_t infinity = infinity_bits(dtype);
  return key > key_of(dtype, infinity) || key < key_of(dtype, infinity | sign_bit(dtype));
}

// Ranks: what a search for the minimum or maximum looks for has the lowest. A NaN has rank 0, and nothing else that is floating.
constexpr uint64_t rank_of(gpumem_dtype dtype, bool maximum, uint64_t key) noexcept {
  if (is_nan_key(dtype, key)) return 0;
  return maximum ? key ^ all_bits(dtype) : key;
}

}  // namespace gpumem
