// The order of elements of every type. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <bit>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

// The elements' memory, whatever their own type is.
template <class T>
using Bits [[gnu::may_alias]] = T;

// An integer as wide as elements of a type.
template <gpumem_dtype kType>
using SignedOf = std::tuple_element_t<std::countr_zero(static_cast<unsigned>(element_bytes(kType))),
                                      std::tuple<int8_t, int16_t, int32_t, int64_t>>;

template <class T>
struct Range {
  T low;
  T high;
};

// Elements are read as T, and order() makes of them what is compared.
template <class Type>
struct Integer {
  using T = Type;
  static T order(T x) { return x; }
  static bool is_nan(T) { return false; }
  static std::make_unsigned_t<T> size(T v) { return unsigned_magnitude(v); }

  static Range<T> range(const Bits<T>* x, int64_t n) {
    T low = x[0];
    T high = x[0];
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    return {low, high};
  }
};

template <class Type, Type kInfinity>
struct Floating {
  using T = Type;
  using U = std::make_unsigned_t<T>;
  // A negative number's magnitude bits are inverted; done twice, it is the number again.
  static T order(T bits) { return static_cast<T>(bits < 0 ? bits ^ static_cast<U>(-1) >> 1 : bits); }
  static bool is_nan(T x) { return x > kInfinity || x < static_cast<T>(-kInfinity - 1); }
  static U size(T v) { return static_cast<U>(v < 0 ? ~v : v); }

  // As unsigned numbers, bits with a sign are the highest, and go down as the elements go up.
  static Range<T> range(const Bits<T>* x, int64_t n) {
    T most = x[0];
    auto lowest = static_cast<U>(x[0]);
    U highest = lowest;
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      const auto u = static_cast<U>(v);
      most = v > most ? v : most;
      lowest = u < lowest ? u : lowest;
      highest = u > highest ? u : highest;
    }
    const bool any_negative = static_cast<T>(highest) < 0;
    const bool all_negative = static_cast<T>(lowest) < 0;
    return {order(static_cast<T>(any_negative ? highest : lowest)),
            order(all_negative ? static_cast<T>(lowest) : most)};
  }
};

// As key_of(): unsigned, a signed type's sign bit inverted.
template <class T>
inline uint64_t key(T v) {
  using U = std::make_unsigned_t<T>;
  constexpr U kSign = std::is_signed_v<T> ? static_cast<U>(U{1} << (8 * sizeof(T) - 1)) : U{0};
  return static_cast<U>(static_cast<U>(v) ^ kSign);
}

template <gpumem_dtype kType>
using Ordered = std::conditional_t<
    is_floating(kType), Floating<SignedOf<kType>, static_cast<SignedOf<kType>>(infinity_bits(kType))>,
    Integer<std::conditional_t<is_signed_integer(kType), SignedOf<kType>, std::make_unsigned_t<SignedOf<kType>>>>>;

}  // namespace
}  // namespace gpumem
