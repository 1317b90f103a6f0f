// One element of gpumem_map(), gpumem_compare() and gpumem_convert_scaled(), as gpumem.h promises, in the default
// floating-point environment. Plain C++. Everything has internal linkage, because the host compiles it per instruction
// set. No product meets a sum, so no compiler can fuse them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/convert/element.hpp"
#include "kernels/map/params.hpp"

namespace gpumem {
namespace {

// f16 and bf16 are computed in f32.
template <class T>
using ValueOf = std::conditional_t<kIsSixteen<T>, float, T>;

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 2, uint16_t, std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>>;

template <class F>
constexpr auto kSignOf = static_cast<BitsOf<F>>(BitsOf<F>{1} << (8 * sizeof(F) - 1));

template <class F>
constexpr BitsOf<F> bits_in(F v) {
  return std::bit_cast<BitsOf<F>>(v);
}

template <class F>
constexpr F with_sign(F magnitude, F sign) {
  return std::bit_cast<F>(static_cast<BitsOf<F>>((bits_in(magnitude) & ~kSignOf<F>) | (bits_in(sign) & kSignOf<F>)));
}

// To a whole number. The result has the sign of v, also if it is 0.
template <gpumem_map_op kOp, class F>
constexpr F rounded(F v) {
#if defined(__CUDA_ARCH__) || defined(__SSE4_1__) || defined(__aarch64__)  // one instruction
  if constexpr (kOp == GPUMEM_MAP_FLOOR) return std::floor(v);
  if constexpr (kOp == GPUMEM_MAP_CEIL) return std::ceil(v);
  if constexpr (kOp == GPUMEM_MAP_TRUNCATE) return std::trunc(v);
  return std::rint(v);
#else
  const F size = with_sign(v, F{0});
  F near = whole(size);
  const bool negative = (bits_in(v) & kSignOf<F>) != 0;
  bool away = negative;  // from 0
  if constexpr (kOp == GPUMEM_MAP_CEIL) away = !negative;
  if constexpr (kOp == GPUMEM_MAP_TRUNCATE) away = false;
  if constexpr (kOp != GPUMEM_MAP_ROUND) {
    const F step = away ? (near < size ? F{1} : F{0}) : (near > size ? F{-1} : F{0});
    near += step;
  }
  return with_sign(near, v);
#endif
}

// Equal numbers have equal bits, except zeros. Of those, or'ed bits are -0, and and'ed ones +0.
template <gpumem_map_op kOp, class F>
constexpr F extreme(F x, F y) {
  constexpr bool kLeast = kOp == GPUMEM_MAP_MINIMUM;
  const bool first = kLeast ? x < y : x > y;
  const bool second = kLeast ? y < x : y > x;
  const F equal = std::bit_cast<F>(kLeast ? bits_in(x) | bits_in(y) : bits_in(x) & bits_in(y));
  const F number = first ? x : second ? y : equal;
  return x == x && y == y ? number : std::numeric_limits<F>::quiet_NaN();
}

// The same of 16-bit types, by their bits: keys are in the order of the numbers.
template <gpumem_map_op kOp, class T>
constexpr T short_extreme(T x, T y) {
  constexpr uint16_t kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  constexpr uint16_t kNan = std::is_same_v<T, Half> ? 0x7e00 : 0x7fc0;
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, Half>) {
    const __half a = __ushort_as_half(x.bits);
    const __half b = __ushort_as_half(y.bits);
    const __half found = kOp == GPUMEM_MAP_MINIMUM ? __hmin_nan(a, b) : __hmax_nan(a, b);
    return {__hisnan(found) ? kNan : __half_as_ushort(found)};
  }
#endif
  const auto key = [](T v) { return static_cast<int16_t>(v.bits ^ ((v.bits & 0x8000u) != 0 ? 0x7fffu : 0u)); };
  const bool first = kOp == GPUMEM_MAP_MINIMUM ? key(x) < key(y) : key(x) > key(y);
  const uint16_t number = first ? x.bits : y.bits;
  const bool is_nan = (x.bits & 0x7fffu) > kInfinity || (y.bits & 0x7fffu) > kInfinity;
  return {is_nan ? kNan : number};
}

template <gpumem_map_op kOp, class F>
constexpr F float_mapped(F x, F y) {
  if constexpr (kOp == GPUMEM_MAP_NEGATE) return -x;
  if constexpr (kOp == GPUMEM_MAP_ABSOLUTE) return with_sign(x, F{0});
  if constexpr (kOp == GPUMEM_MAP_RECIPROCAL) return F{1} / x;
  if constexpr (kOp == GPUMEM_MAP_SQUARE_ROOT) return std::sqrt(x);
  if constexpr (kOp >= GPUMEM_MAP_FLOOR && kOp <= GPUMEM_MAP_ROUND) return rounded<kOp>(x);
  if constexpr (kOp == GPUMEM_MAP_ADD) return x + y;
  if constexpr (kOp == GPUMEM_MAP_SUBTRACT) return x - y;
  if constexpr (kOp == GPUMEM_MAP_MULTIPLY) return x * y;
  if constexpr (kOp == GPUMEM_MAP_DIVIDE) return x / y;
  if constexpr (kOp == GPUMEM_MAP_MINIMUM || kOp == GPUMEM_MAP_MAXIMUM) return extreme<kOp>(x, y);
}

// x / y toward 0. y is neither 0 nor, in a signed type, -1. Quotients of short integers are exact in a wider float: one
// that is not whole differs from the next integer by more than a rounding. A host divides vectors of floats only.
template <class T>
constexpr T quotient(T x, T y) {
  if constexpr (sizeof(T) <= 2)
    return static_cast<T>(static_cast<int32_t>(static_cast<float>(x) / static_cast<float>(y)));
#if !defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4) return static_cast<T>(static_cast<double>(x) / static_cast<double>(y));
#endif
  return static_cast<T>(x / y);
}

template <gpumem_map_op kOp, class T>
constexpr T integer_mapped(T x, T y) {
  using Word = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;  // overflows wrap
  constexpr Word kBits = 8 * sizeof(T);
  const auto a = static_cast<Word>(x);
  const auto b = static_cast<Word>(y);
  if constexpr (kOp == GPUMEM_MAP_NEGATE) return static_cast<T>(0 - a);
  if constexpr (kOp == GPUMEM_MAP_ABSOLUTE) {
    if constexpr (std::is_signed_v<T>) return static_cast<T>(x < 0 ? 0 - a : a);
    return x;
  }
  if constexpr (kOp >= GPUMEM_MAP_FLOOR && kOp <= GPUMEM_MAP_ROUND) return x;
  if constexpr (kOp == GPUMEM_MAP_NOT) return static_cast<T>(~a);
  if constexpr (kOp == GPUMEM_MAP_ADD) return static_cast<T>(a + b);
  if constexpr (kOp == GPUMEM_MAP_SUBTRACT) return static_cast<T>(a - b);
  if constexpr (kOp == GPUMEM_MAP_MULTIPLY) return static_cast<T>(a * b);
  if constexpr (divides(kOp)) {
    const bool negates = std::is_signed_v<T> && y == static_cast<T>(-1);
    const T divisor = y == 0 || negates ? T{1} : y;
    const T whole_times = quotient(x, divisor);
    if constexpr (kOp == GPUMEM_MAP_DIVIDE) return y == 0 ? T{0} : negates ? static_cast<T>(0 - a) : whole_times;
    return y == 0 || negates ? T{0} : static_cast<T>(a - static_cast<Word>(whole_times) * static_cast<Word>(divisor));
  }
  if constexpr (kOp == GPUMEM_MAP_MINIMUM) return x < y ? x : y;
  if constexpr (kOp == GPUMEM_MAP_MAXIMUM) return x > y ? x : y;
  if constexpr (kOp == GPUMEM_MAP_AND) return static_cast<T>(a & b);
  if constexpr (kOp == GPUMEM_MAP_OR) return static_cast<T>(a | b);
  if constexpr (kOp == GPUMEM_MAP_XOR) return static_cast<T>(a ^ b);
  // A negative count is a large one.
  const Word count = static_cast<std::make_unsigned_t<T>>(y);
  if constexpr (kOp == GPUMEM_MAP_SHIFT_LEFT) return static_cast<T>(count < kBits ? a << count : 0);
  if constexpr (kOp == GPUMEM_MAP_SHIFT_RIGHT) {
    if constexpr (std::is_signed_v<T>) return static_cast<T>(x >> (count < kBits ? count : kBits - 1));
    return static_cast<T>(count < kBits ? a >> count : 0);
  }
}

template <gpumem_map_op kOp, class T>
constexpr T mapped(T x, T y) {
  using V = ValueOf<T>;
  if constexpr (kIsInteger<T>) {
    return integer_mapped<kOp>(x, y);
  } else if constexpr (kIsSixteen<T> && (kOp == GPUMEM_MAP_MINIMUM || kOp == GPUMEM_MAP_MAXIMUM)) {
    return short_extreme<kOp>(x, y);
  } else if constexpr (kOp == GPUMEM_MAP_COPY_SIGN) {  // of a NaN too, which a conversion may lose
    const V v = converted<V>(x);
    return v == v ? with_sign(x, y) : converted<T>(canonical(v));
  } else {
    V second{};
    if constexpr (takes_two(kOp)) second = converted<V>(y);
    return converted<T>(canonical(float_mapped<kOp>(converted<V>(x), second)));
  }
}

template <gpumem_compare_op kOp, class T>
constexpr bool compared(T x, T y) {
  const auto a = converted<ValueOf<T>>(x);
  const auto b = converted<ValueOf<T>>(y);
  if constexpr (kOp == GPUMEM_LESS) return a < b;
  if constexpr (kOp == GPUMEM_LESS_EQUAL) return a <= b;
  if constexpr (kOp == GPUMEM_EQUAL) return a == b;
  if constexpr (kOp == GPUMEM_NOT_EQUAL) return a != b;
}

// -0 is the offset that changes no number.
constexpr double kNoOffset = -0.0;
constexpr double kNoScale = 1;

constexpr double scaled(double v, double scale, double offset, double nan_value) {
  const double number = canonical((v + offset) * scale);
  return v == v ? number : nan_value;
}

}  // namespace
}  // namespace gpumem
