// The element types: sizes, values, and the keys that order them. Plain constexpr functions, for host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/operations.hpp"

namespace gpumem {

enum class ElementClass : int8_t { signed_integer, unsigned_integer, floating };

struct ElementTraits {
  const char* name = nullptr;
  ElementClass what = {};
  int8_t bytes = 0;
  int8_t exponent_bits = 0;
};

// The only table of the element types. An invalid type has 0 bytes.
constexpr ElementTraits traits_of(gpumem_dtype dtype) noexcept {
  using enum ElementClass;
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"  // a type of gpumem.h without an entry does not compile
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_I8:
      return {"i8", signed_integer, 1};
    case GPUMEM_U8:
      return {"u8", unsigned_integer, 1};
    case GPUMEM_I16:
      return {"i16", signed_integer, 2};
    case GPUMEM_U16:
      return {"u16", unsigned_integer, 2};
    case GPUMEM_I32:
      return {"i32", signed_integer, 4};
    case GPUMEM_U32:
      return {"u32", unsigned_integer, 4};
    case GPUMEM_I64:
      return {"i64", signed_integer, 8};
    case GPUMEM_U64:
      return {"u64", unsigned_integer, 8};
    case GPUMEM_F16:
      return {"f16", floating, 2, 5};
    case GPUMEM_BF16:
      return {"bf16", floating, 2, 8};
    case GPUMEM_F32:
      return {"f32", floating, 4, 8};
    case GPUMEM_F64:
      return {"f64", floating, 8, 11};
  }
#pragma GCC diagnostic pop
  return {};
}

// gpumem.h numbers the types from 0 without a gap.
constexpr gpumem_dtype count_dtypes() noexcept {
  gpumem_dtype count = 0;
  while (traits_of(count).bytes != 0) ++count;
  return count;
}
inline constexpr gpumem_dtype kDtypes = count_dtypes();
constexpr bool is_dtype(gpumem_dtype dtype) noexcept { return dtype >= 0 && dtype < kDtypes; }

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
template <gpumem_dtype kType>
constexpr auto element_of() noexcept {
  if constexpr (kType == GPUMEM_I8) return int8_t{};
  if constexpr (kType == GPUMEM_U8) return uint8_t{};
  if constexpr (kType == GPUMEM_I16) return int16_t{};
  if constexpr (kType == GPUMEM_U16) return uint16_t{};
  if constexpr (kType == GPUMEM_I32) return int32_t{};
  if constexpr (kType == GPUMEM_U32) return uint32_t{};
  if constexpr (kType == GPUMEM_I64) return int64_t{};
  if constexpr (kType == GPUMEM_U64) return uint64_t{};
  if constexpr (kType == GPUMEM_F16) return Half{};
  if constexpr (kType == GPUMEM_BF16) return Brain{};
  if constexpr (kType == GPUMEM_F32) return float{};
  if constexpr (kType == GPUMEM_F64) return double{};
}
template <gpumem_dtype kType>
using ElementOf = decltype(element_of<kType>());

// A field of the table in one word, with kBits per type. If a type is known only at run time, device code shifts this
// word instead of loading from a table.
template <int kBits, class Field>
constexpr uint32_t packed_traits(const Field& field) noexcept {
  static_assert(kBits * kDtypes <= 32);
  uint32_t packed = 0;
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) packed |= uint32_t{field(traits_of(dtype))} << kBits * dtype;
  return packed;
}
constexpr uint32_t types_of_class(ElementClass what) noexcept {
  return packed_traits<1>([what](const ElementTraits& t) { return t.what == what; });
}
inline constexpr uint32_t kFloatingTypes = types_of_class(ElementClass::floating);
inline constexpr uint32_t kSignedTypes = types_of_class(ElementClass::signed_integer);
inline constexpr uint32_t kLog2Bytes = packed_traits<2>(
    [](const ElementTraits& t) { return static_cast<uint32_t>(std::countr_zero(static_cast<unsigned>(t.bytes))); });

// dtype is valid in these functions.
constexpr bool is_floating(gpumem_dtype dtype) noexcept { return (kFloatingTypes >> dtype & 1) != 0; }
constexpr bool is_signed_integer(gpumem_dtype dtype) noexcept { return (kSignedTypes >> dtype & 1) != 0; }
constexpr int element_bytes(gpumem_dtype dtype) noexcept { return 1 << (kLog2Bytes >> 2 * dtype & 3); }
// Of the results of reductions.
constexpr gpumem_dtype wide_type(gpumem_dtype dtype) noexcept {
  return is_floating(dtype) ? GPUMEM_F64 : is_signed_integer(dtype) ? GPUMEM_I64 : GPUMEM_U64;
}

constexpr uint64_t sign_bit(gpumem_dtype dtype) noexcept { return uint64_t{1} << (8 * element_bytes(dtype) - 1); }
// True for +0 and -0.
constexpr bool is_zero(gpumem_dtype dtype, uint64_t bits) noexcept { return (bits & ~sign_bit(dtype)) == 0; }
constexpr uint64_t all_bits(gpumem_dtype dtype) noexcept { return ~uint64_t{0} >> (64 - 8 * element_bytes(dtype)); }

// dtype is a floating-point type.
template <class F>
constexpr auto for_floating_type(gpumem_dtype dtype, const F& f) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_F16:
      return f.template operator()<GPUMEM_F16>();
    case GPUMEM_BF16:
      return f.template operator()<GPUMEM_BF16>();
    case GPUMEM_F32:
      return f.template operator()<GPUMEM_F32>();
    case GPUMEM_F64:
    case GPUMEM_I8:
    case GPUMEM_U8:
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_I32:
    case GPUMEM_U32:
    case GPUMEM_I64:
    case GPUMEM_U64:
      break;
  }
  return f.template operator()<GPUMEM_F64>();
}

// dtype is f32 or f64.
template <class F>
constexpr auto for_float_or_double(gpumem_dtype dtype, const F& f) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_F32:
      return f.template operator()<float>();
    case GPUMEM_F64:
      return f.template operator()<double>();
    case GPUMEM_I8:
    case GPUMEM_U8:
    case GPUMEM_I16:
    case GPUMEM_U16:
    case GPUMEM_I32:
    case GPUMEM_U32:
    case GPUMEM_I64:
    case GPUMEM_U64:
    case GPUMEM_F16:
    case GPUMEM_BF16:
      break;
  }
  __builtin_unreachable();
}

constexpr uint64_t infinity_bits(gpumem_dtype dtype) noexcept {
  uint64_t bits = 0;
  for_floating_type(dtype, [&bits]<gpumem_dtype kType>() {
    bits = sign_bit(kType) - (sign_bit(kType) >> traits_of(kType).exponent_bits);
  });
  return bits;
}

constexpr uint64_t kCanonicalNan = 0x7ff8000000000000;

// Exact for every finite or infinite number of binary16.
constexpr double half_to_double(uint16_t bits) noexcept {
  const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
  const int exponent = (bits >> 10) & 31;
  const uint64_t fraction = bits & 1023u;
  if (exponent == 0) return (sign != 0 ? -0x1p-24 : 0x1p-24) * static_cast<double>(fraction);
  const uint64_t wide = exponent == 31 ? 2047 : static_cast<uint64_t>(exponent - 15 + 1023);
  return std::bit_cast<double>(sign | (wide << 52) | (fraction << 42));
}

template <gpumem_dtype kType>
constexpr double to_double(uint64_t bits) noexcept {
  if constexpr (kType == GPUMEM_F16) return half_to_double(static_cast<uint16_t>(bits));
  if constexpr (kType == GPUMEM_BF16)
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits << 16)));
  if constexpr (kType == GPUMEM_F32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if constexpr (kType == GPUMEM_F64) return std::bit_cast<double>(bits);
}
constexpr double to_double(gpumem_dtype dtype, uint64_t bits) noexcept {
  return for_floating_type(dtype, [bits]<gpumem_dtype kType>() { return to_double<kType>(bits); });
}

constexpr uint64_t extend(gpumem_dtype dtype, uint64_t bits) noexcept {
  if (!is_signed_integer(dtype)) return bits;
  return (bits ^ sign_bit(dtype)) - sign_bit(dtype);
}

// Keys are unsigned numbers of the element's width in the order of the elements, with -0 before +0. NaNs order outside
// the infinities, negative ones first.
constexpr uint64_t key_of(gpumem_dtype dtype, uint64_t bits) noexcept {
  const uint64_t sign = sign_bit(dtype);
  // Without a branch on the sign, which processors would mispredict.
  const uint64_t negative = (0 - static_cast<uint64_t>((bits & sign) != 0)) & all_bits(dtype);
  if (is_floating(dtype)) return bits ^ (negative | sign);
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

constexpr uint64_t magnitude_of_key(gpumem_dtype dtype, uint64_t key) noexcept {
  const uint64_t zero = sign_bit(dtype);  // the key of +0
  if (!is_floating(dtype) && !is_signed_integer(dtype)) return key;
  return key >= zero ? key - zero : zero - key - (is_floating(dtype) ? 1 : 0);
}

// Added to the keys of a range, modulo all_bits() + 1. If NaNs are skipped, it moves their keys above all others for
// a minimum, and below all others for a maximum.
constexpr uint64_t key_shift(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  if (!is_floating(dtype) || !skips_nan(op)) return 0;
  const uint64_t negative_nans = sign_bit(dtype) - 1 - infinity_bits(dtype);
  return (is_minimum(op) ? 0 - negative_nans : negative_nans) & all_bits(dtype);
}
constexpr uint64_t range_key(gpumem_dtype dtype, gpumem_reduce_op op, uint64_t bits) noexcept {
  return (key_of(dtype, bits) + key_shift(dtype, op)) & all_bits(dtype);
}

// The element that a search looks for has the lowest rank. Of floating-point elements, only NaNs have this rank.
constexpr uint64_t nan_rank(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return skips_nan(op) ? all_bits(dtype) : 0;
}
constexpr uint64_t rank_of(gpumem_dtype dtype, gpumem_reduce_op op, uint64_t key) noexcept {
  if (is_nan_key(dtype, key)) return nan_rank(dtype, op);
  static_assert(count_accumulated_in(NodeKind::arg) == 5);
  if (is_minimum(op)) return key;
  return (op == GPUMEM_ARG_MAX_ABS ? magnitude_of_key(dtype, key) : key) ^ all_bits(dtype);
}

}  // namespace gpumem
