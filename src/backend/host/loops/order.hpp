// The order of elements of every type. Everything has internal linkage (loops.hpp says why).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "backend/host/loops/common.hpp"
#include "kernels/accumulators.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

template <class T>
using Bits [[gnu::may_alias]] = T;

template <gpumem_dtype kType>
using SignedOf = std::tuple_element_t<std::countr_zero(static_cast<unsigned>(element_bytes(kType))),
                                      std::tuple<int8_t, int16_t, int32_t, int64_t>>;

template <class T>
struct Vector {
  typedef T Of __attribute__((vector_size(kVectorBytes)));  // NOLINT(modernize-use-using): gcc drops it from a using
};
template <class T>
using VectorOf = typename Vector<T>::Of;

template <class T>
struct Range {
  T low;
  T high;
};

// Elements are read as T; order() maps them to integers that are compared.
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

  struct Ends {
    VectorOf<T> low;
    VectorOf<T> high;
    explicit Ends(const VectorOf<T>& v) : low(v), high(v) {}
    void take(const VectorOf<T>& v) {
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    void finish() {}
  };
};

template <class Type, Type kInfinity>
struct Floating {
  using T = Type;
  using U = std::make_unsigned_t<T>;
  static constexpr T kInfinityBits = kInfinity;
  // Inverts the magnitude bits of a negative number; it is its own inverse.
  static T order(T bits) { return static_cast<T>(bits < 0 ? bits ^ static_cast<U>(-1) >> 1 : bits); }
  static bool is_nan(T x) { return x > kInfinity || x < static_cast<T>(-kInfinity - 1); }
  static bool is_number(T bits) { return (bits & std::numeric_limits<T>::max()) <= kInfinity; }
  static U size(T v) { return static_cast<U>(v < 0 ? ~v : v); }

  // Bits with the sign set are the lowest as signed numbers and the highest as unsigned ones. Among them the order is
  // reversed.
  static Range<T> range(const Bits<T>* x, int64_t n) {
    T least = x[0];
    T most = x[0];
    auto highest = static_cast<U>(x[0]);
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      const auto u = static_cast<U>(v);
      least = v < least ? v : least;
      most = v > most ? v : most;
      highest = u > highest ? u : highest;
    }
    return {order(least < 0 ? static_cast<T>(highest) : least), order(most < 0 ? least : most)};
  }

  // AVX2 has only signed comparisons of 64 bits.
  struct Ends {
    static constexpr T kTurn = sizeof(T) == 8 ? std::numeric_limits<T>::min() : T{0};
    using Turned = VectorOf<std::conditional_t<sizeof(T) == 8, T, U>>;
    VectorOf<T> least;
    VectorOf<T> most;
    Turned highest;
    explicit Ends(const VectorOf<T>& v) : least(v), most(v), highest(reinterpret_cast<Turned>(v ^ kTurn)) {}
    void take(const VectorOf<T>& v) {
      const auto turned = reinterpret_cast<Turned>(v ^ kTurn);
      least = v < least ? v : least;
      most = v > most ? v : most;
      highest = turned > highest ? turned : highest;
    }
    void finish() { highest = reinterpret_cast<Turned>(reinterpret_cast<VectorOf<T>>(highest) ^ kTurn); }
  };
};

// Floating-point elements in the order of range_key(): NaNs are above all numbers, or below them.
template <class Number, bool kAbove>
struct Skipping {
  using T = typename Number::T;
  using U = typename Number::U;
  static constexpr U kNans = std::numeric_limits<T>::max() - Number::kInfinityBits;  // of one sign
  static constexpr auto kShift = static_cast<U>(kAbove ? 0 - kNans : kNans);
  static constexpr auto kBack = static_cast<U>(0 - kShift);
  static T order(T bits) { return shifted(Number::order(bits), kShift); }

  static Range<T> range(const Bits<T>* x, int64_t n) {
    T low = order(x[0]);
    T high = low;
    for (int64_t i = 0; i < n; ++i) {
      const T v = order(x[i]);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    return {low, high};
  }

  struct Ends {
    using V = VectorOf<T>;
    V low;
    V high;
    explicit Ends(const V& bits) : low(ordered(bits)), high(low) {}
    void take(const V& bits) {
      const V v = ordered(bits);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    void finish() {
      low = turned(moved(low, kBack));
      high = turned(moved(high, kBack));
    }

   private:
    static V turned(const V& v) { return v ^ ((v < 0) & std::numeric_limits<T>::max()); }
    static V moved(const V& v, U by) { return reinterpret_cast<V>(reinterpret_cast<VectorOf<U>>(v) + by); }
    static V ordered(const V& bits) { return moved(turned(bits), kShift); }
  };

 private:
  static T shifted(T v, U by) { return static_cast<T>(static_cast<U>(static_cast<U>(v) + by)); }
};

// Like key_of(): unsigned, with a signed type's sign bit inverted.
template <class T>
inline uint64_t key(T v) {
  using U = std::make_unsigned_t<T>;
  constexpr U kSign = std::is_signed_v<T> ? static_cast<U>(U{1} << (8 * sizeof(T) - 1)) : U{0};
  return static_cast<U>(static_cast<U>(v) ^ kSign);
}

// Like rank_of(), for an element as order() makes it. The wanted element has the lowest rank.
template <class Type, gpumem_reduce_op kOp, class T = typename Type::T>
std::make_unsigned_t<T> rank(T v) {
  using U = std::make_unsigned_t<T>;
  if constexpr (skips_nan(kOp)) {
    const auto shifted = static_cast<U>(is_minimum(kOp) ? key(v) : ~key(v));
    constexpr auto kNumbers = static_cast<U>(-1 - 2 * Type::kNans);
    const bool is_nan = shifted > kNumbers;  // gcc 12 does not vectorise a condition here
    return static_cast<U>((shifted + Type::kNans) | -static_cast<U>(is_nan));
  } else {
    if (Type::is_nan(v)) return 0;
    if constexpr (kOp == GPUMEM_ARG_MIN) return static_cast<U>(key(v));
    if constexpr (kOp == GPUMEM_ARG_MAX) return static_cast<U>(~key(v));
    if constexpr (kOp == GPUMEM_ARG_MAX_ABS) return static_cast<U>(~Type::size(v));
  }
}

template <gpumem_dtype kType>
using Ordered = std::conditional_t<
    is_floating(kType), Floating<SignedOf<kType>, static_cast<SignedOf<kType>>(infinity_bits(kType))>,
    Integer<std::conditional_t<is_signed_integer(kType), SignedOf<kType>, std::make_unsigned_t<SignedOf<kType>>>>>;
constexpr bool has_loop(gpumem_dtype dtype, gpumem_reduce_op op) { return is_floating(dtype) || !skips_nan(op); }
template <gpumem_dtype kType, gpumem_reduce_op kOp>
using OrderedFor = std::conditional_t<skips_nan(kOp), Skipping<Ordered<kType>, is_minimum(kOp)>, Ordered<kType>>;

}  // namespace
}  // namespace gpumem
