// gpumem_lincomb_*, with and without dot products, and gpumem_multiply_* as tests call them, and the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/axpby.hpp"
#include "support/forms.hpp"
#include "support/reference.hpp"

namespace gpumem_test {

// A view: where its first element lies, and its strides in elements.
struct View {
  void* p = nullptr;
  std::vector<int64_t> strides;
};

struct Arithmetic {
  bool product = false;
  gpumem_dtype dtype = GPUMEM_F32;  // or f64
  std::vector<int64_t> extents;
  std::vector<uint64_t> factors;  // bits of the type; of a sum
  std::vector<View> x;
  View z;
  std::vector<const double*> numerators = {};  // of a sum; if they are empty, no factor is in memory
  std::vector<const double*> denominators = {};
  std::vector<View> w = {};  // of a sum with dot products; without address: NULL
  double* results = nullptr;
};

template <class T>
gpumem_status run_of(const CallForm& form, gpumem_ctx* ctx, const Arithmetic& c) {
  const auto rank = static_cast<int32_t>(c.extents.size());
  auto* z = static_cast<T*>(c.z.p);
  const auto lincomb = [&](auto plain, auto enqueued) {
    std::vector<T> factors(c.factors.size());
    std::vector<const T*> x;
    std::vector<int64_t> strides;
    for (size_t k = 0; k < c.x.size(); ++k) {
      std::memcpy(&factors[k], &c.factors[k], sizeof(T));
      x.push_back(static_cast<const T*>(c.x[k].p));
      strides.insert(strides.end(), c.x[k].strides.begin(), c.x[k].strides.end());
    }
    const auto terms = static_cast<int32_t>(x.size());
    if constexpr (std::is_invocable_v<decltype(plain), gpumem_ctx*, int32_t, const int64_t*, int32_t, const T*,
                                      const T* const*, const int64_t*, T*, const int64_t*>) {
      return call_as(form, plain, enqueued, ctx, rank, c.extents.data(), terms, factors.data(), x.data(),
                     strides.data(), z, c.z.strides.data());
    } else if constexpr (std::is_invocable_v<decltype(plain), gpumem_ctx*, int32_t, const int64_t*, int32_t, const T*,
                                             const double* const*, const double* const*, const T* const*,
                                             const int64_t*, T*, const int64_t*>) {
      return call_as(form, plain, enqueued, ctx, rank, c.extents.data(), terms, factors.data(), c.numerators.data(),
                     c.denominators.data(), x.data(), strides.data(), z, c.z.strides.data());
    } else {
      std::vector<const T*> w;
      std::vector<int64_t> w_strides;
      for (const View& view : c.w) {
        w.push_back(static_cast<const T*>(view.p));
        w_strides.insert(w_strides.end(), view.strides.begin(), view.strides.end());
      }
      const auto given = [](const auto& numbers) { return numbers.empty() ? nullptr : numbers.data(); };
      return call_as(form, plain, enqueued, ctx, rank, c.extents.data(), terms, factors.data(), given(c.numerators),
                     given(c.denominators), x.data(), strides.data(), z, c.z.strides.data(),
                     static_cast<int32_t>(c.w.size()), w.data(), w_strides.data(), c.results);
    }
  };
  const auto multiply = [&](auto plain, auto enqueued) {
    const auto* x = static_cast<const T*>(c.x[0].p);
    const auto* y = static_cast<const T*>(c.x[1].p);
    return call_as(form, plain, enqueued, ctx, rank, c.extents.data(), x, c.x[0].strides.data(), y,
                   c.x[1].strides.data(), z, c.z.strides.data());
  };
  if constexpr (sizeof(T) == 4) {
    if (!c.w.empty()) return lincomb(gpumem_lincomb_dot_f32, gpumem_lincomb_dot_f32_async);
    if (!c.numerators.empty()) return lincomb(gpumem_lincomb_at_f32, gpumem_lincomb_at_f32_async);
    return c.product ? multiply(gpumem_multiply_f32, gpumem_multiply_f32_async)
                     : lincomb(gpumem_lincomb_f32, gpumem_lincomb_f32_async);
  } else {
    if (!c.w.empty()) return lincomb(gpumem_lincomb_dot_f64, gpumem_lincomb_dot_f64_async);
    if (!c.numerators.empty()) return lincomb(gpumem_lincomb_at_f64, gpumem_lincomb_at_f64_async);
    return c.product ? multiply(gpumem_multiply_f64, gpumem_multiply_f64_async)
                     : lincomb(gpumem_lincomb_f64, gpumem_lincomb_f64_async);
  }
}

inline gpumem_status run_as(const CallForm& form, gpumem_ctx* ctx, const Arithmetic& c) {
  return c.dtype == GPUMEM_F32 ? run_of<float>(form, ctx, c) : run_of<double>(form, ctx, c);
}
inline gpumem_status run(gpumem_ctx* ctx, const Arithmetic& c) { return run_as({}, ctx, c); }
inline gpumem_status run_async(gpumem_ctx* ctx, const Arithmetic& c, gpumem_stream* stream) {
  return run_as({true, stream}, ctx, c);
}

namespace arithmetic {

// The formula, one element after the other, of operands in host memory. Each result goes through memory, so that it is rounded there
// and then. z is written last: it may be a source.
template <class T, class Bits>
void reference(const Arithmetic& c, Bits nan) {
  const size_t rank = c.extents.size();
  int64_t n = 1;
  for (const int64_t extent : c.extents) n *= extent;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> at(rank);
    int64_t rest = i;
    for (size_t d = rank; d-- > 0; rest /= c.extents[d]) at[d] = rest % c.extents[d];
    const auto place = [&](const View& view) {
      int64_t elements = 0;
      for (size_t d = 0; d < rank; ++d) elements += at[d] * view.strides[d];
      return static_cast<char*>(view.p) + elements * static_cast<int64_t>(sizeof(T));
    };
    volatile T z = 0;
    bool any = false;
    for (size_t k = 0; k < c.x.size(); ++k) {
      T factor = 1;
      if (!c.product) std::memcpy(&factor, &c.factors[k], sizeof factor);
      const double* const numerator = c.numerators.empty() ? nullptr : c.numerators[k];
      const double* const denominator = c.denominators.empty() ? nullptr : c.denominators[k];
      if (factor == 0 && numerator == nullptr && denominator == nullptr) continue;
      volatile double exact = factor;
      if (numerator != nullptr) exact = exact * *numerator;
      if (denominator != nullptr) exact = exact / *denominator;
      factor = static_cast<T>(exact);
      T x = 0;
      std::memcpy(&x, place(c.x[k]), sizeof x);
      if (c.product) {
        z = any ? z * x : x;
      } else {
        const volatile T term = factor * x;
        z = any ? z + term : term;
      }
      any = true;
    }
    const T value = z;
    Bits bits = std::bit_cast<Bits>(value);
    if (std::isnan(value)) bits = nan;
    std::memcpy(place(c.z), &bits, sizeof bits);
  }
}

// The elements of a view in row-major order.
template <class T>
std::vector<T> packed(const std::vector<int64_t>& extents, const View& view) {
  int64_t n = 1;
  for (const int64_t extent : extents) n *= extent;
  std::vector<T> elements(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i;
    int64_t at = 0;
    for (size_t d = extents.size(); d-- > 0; rest /= extents[d]) at += rest % extents[d] * view.strides[d];
    std::memcpy(&elements[static_cast<size_t>(i)], static_cast<const char*>(view.p) + at * int64_t{sizeof(T)},
                sizeof(T));
  }
  return elements;
}

// After z.
template <class T>
void dots_reference(const Arithmetic& c) {
  const std::vector<T> z = packed<T>(c.extents, c.z);
  for (size_t k = 0; k < c.w.size(); ++k) {
    const std::vector<T> w = c.w[k].p == nullptr ? z : packed<T>(c.extents, c.w[k]);
    const auto n = static_cast<int64_t>(z.size());
    const Outcome dot = gpumem_test::reference(GPUMEM_DOT, {c.dtype, z.data(), n, 1}, {c.dtype, w.data(), n, 1});
    std::memcpy(c.results + k, dot.words, sizeof(double));
  }
}

}  // namespace arithmetic

inline void arithmetic_reference(const Arithmetic& c) {
  if (c.dtype == GPUMEM_F32) {
    arithmetic::reference<float, uint32_t>(c, 0x7fc00000);
    return arithmetic::dots_reference<float>(c);
  }
  arithmetic::reference<double, uint64_t>(c, 0x7ff8000000000000);
  arithmetic::dots_reference<double>(c);
}

}  // namespace gpumem_test
