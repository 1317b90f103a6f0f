// Terms of floating-point sums and products, and the lanes that accumulate them. Everything has internal linkage
// (loops.hpp says why).
#pragma once

#include <bit>
#include <utility>

#include "backend/host/loops/load.hpp"
#include "backend/host/loops/loops.hpp"
#include "kernels/nodes.hpp"

namespace gpumem {
namespace {

// The terms of an operation, a vector of them from i on. An element kMissing makes a neutral term.
template <class Element>
struct Operands {
  using T = Element;
  static constexpr T kMissing = {};
  const T* x;
  const T* y;
};
template <class T, F64s (*kTerm)(const F64s&)>
struct Unary : Operands<T> {
  F64s at(int64_t i) const { return kTerm(load(this->x + i)); }
  F64s part(int64_t i, int64_t count) const { return kTerm(load_part(this->x + i, count)); }
};
inline F64s itself(const F64s& v) { return v; }
inline F64s square(const F64s& v) { return v * v; }
inline F64s cube(const F64s& v) { return (v * v) * v; }
inline F64s valid(const F64s& v) {
  const Bits64 number = v == v;  // NOLINT(misc-redundant-expression)
  return reinterpret_cast<F64s>(number & reinterpret_cast<Bits64>(v));
}
template <class T>
using Plain = Unary<T, itself>;
template <class T>
using Magnitudes = Unary<T, magnitude>;
template <class T>
using Squares = Unary<T, square>;
template <class T>
using Cubes = Unary<T, cube>;
template <class T>
using Valid = Unary<T, valid>;
template <class T>
struct Products : Operands<T> {
  F64s at(int64_t i) const { return load(this->x + i) * load(this->y + i); }
};
template <class T>
struct Factors : Operands<T> {
  static constexpr T kMissing = kOne<T>;
  F64s at(int64_t i) const { return load(this->x + i); }
  F64s part(int64_t i, int64_t count) const { return copied_part<true>(this->x + i, count); }
};

// V is F64s for a vector of lanes, double for one. The initial value is neutral. take() enters terms, and join() other
// lanes.
template <class V>
struct Sum {
  V value;
  void take(const V& term) { value += term; }
  void join(const Sum& b) { value += b.value; }
  template <class F>
  static auto each(const Sum& a, const F& f) {
    return Sum<decltype(f(a.value))>{f(a.value)};
  }
};
template <class V>
struct Product {
  V value = V{} + 1;
  void take(const V& term) { value *= term; }
  void join(const Product& b) { value *= b.value; }
  template <class F>
  static auto each(const Product& a, const F& f) {
    return Product<decltype(f(a.value))>{f(a.value)};
  }
};

// Like combine() of kernels/nodes.hpp. The error of a term itself is +0, which changes no error, since none is ever -0.
template <class V>
struct Compensated {
  V value;
  V error;
  void take(const V& term) { error += add(term); }
  void join(const Compensated& b) {
    const V errors = error + b.error;
    error = errors + add(b.value);
  }
  V add(const V& b) {
    const V a = value;
    value = a + b;
    const V of_b = value - a;
    return (a - (value - of_b)) + (b - of_b);
  }
  template <class F>
  static auto each(const Compensated& a, const F& f) {
    return Compensated<decltype(f(a.value))>{f(a.value), f(a.error)};
  }
};

template <class Loop, class F>
constexpr ByType<LoopsByAddend<Loop>> floating_loops(const F& loop) {
  return by_type<LoopsByAddend<Loop>>([&loop]<gpumem_dtype kType>() -> LoopsByAddend<Loop> {
    if constexpr (is_floating(kType)) {
      using T = ElementOf<kType>;
      return {{loop.template operator()<Sum, Plain<T>>(), loop.template operator()<Sum, Magnitudes<T>>(),
               loop.template operator()<Sum, Squares<T>>(), loop.template operator()<Sum, Cubes<T>>(),
               loop.template operator()<Sum, Products<T>>(), loop.template operator()<Product, Factors<T>>(),
               loop.template operator()<Sum, Valid<T>>()}};
    }
    return {};
  });
}

inline ReduceNode stored(const Sum<double>& v) { return {{std::bit_cast<uint64_t>(v.value), 0, 0, 0}}; }
inline ReduceNode stored(const Product<double>& v) { return {{std::bit_cast<uint64_t>(v.value), 0, 0, 0}}; }
inline ReduceNode stored(const Compensated<double>& v) {
  return {{std::bit_cast<uint64_t>(v.value), std::bit_cast<uint64_t>(v.error), 0, 0}};
}

template <int kBy, int... kIndex>
inline F64s rotated(const F64s& v, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(v, v, ((kIndex + kBy) % kWide)...);
}

// Accumulators: half of the registers, or all that a block needs.
#if defined(__AVX512F__)
constexpr int kAccumulators = 16;
#else
constexpr int kAccumulators = 8;
#endif

// Folds a vector of lanes by halves into its first one; the others become unspecified.
template <template <class> class Lane, int kHalf = kWide / 2>
inline Lane<double> folded(Lane<F64s> lanes) {
  lanes.join(Lane<F64s>::each(
      lanes, [](const F64s& v) { return rotated<kHalf>(v, std::make_integer_sequence<int, kWide>{}); }));
  if constexpr (kHalf > 1) {
    return folded<Lane, kHalf / 2>(lanes);
  } else {
    return Lane<F64s>::each(lanes, [](const F64s& v) { return v[0]; });
  }
}

// Folds twice as many vectors as there are indices by halves into one; without indices, one vector.
template <template <class> class Lane, int... kIndex>
inline Lane<F64s> vectors_folded(Lane<F64s>* lanes, std::integer_sequence<int, kIndex...>) {
  constexpr int kHalf = sizeof...(kIndex);
  (lanes[kIndex].join(lanes[kIndex + kHalf]), ...);
  if constexpr (kHalf > 1) return vectors_folded<Lane>(lanes, std::make_integer_sequence<int, kHalf / 2>{});
  return lanes[0];
}

}  // namespace
}  // namespace gpumem
