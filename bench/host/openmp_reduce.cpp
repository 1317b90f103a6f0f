#include "host/openmp_peers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace bench::openmp {
namespace {

__extension__ using Int128 = __int128;

struct Half {
  uint16_t bits;
  explicit operator double() const {
#if defined(__FLT16_MANT_DIG__)
    _Float16 value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
#else
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double magnitude = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    return bits >> 15 ? -magnitude : magnitude;
#endif
  }
};

struct BrainFloat {
  uint16_t bits;
  explicit operator double() const {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
};

// The accumulator of sums of T, and the type of results.
template <class T>
using Sum = std::conditional_t<!std::is_integral_v<T>, double, std::conditional_t<sizeof(T) == 8, Int128, int64_t>>;
template <class T>
using Result = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

template <class A, class Term>
A sum_of(int64_t n, const Term& term) {
  A s = 0;
  if constexpr (sizeof(A) == 16) {
#pragma omp parallel for reduction(+ : s)
    for (int64_t i = 0; i < n; ++i) s += term(i);
  } else {
#pragma omp parallel for simd reduction(+ : s)
    for (int64_t i = 0; i < n; ++i) s += term(i);
  }
  return s;
}

template <class T>
const T* elements(const void* x) {
  return static_cast<const T*>(x);
}

template <class T, class V>
void put(void* result, int at, V value) {
  static_cast<Result<T>*>(result)[at] = static_cast<Result<T>>(value);
}

struct Plain {
  template <class A>
  A operator()(A v) const {
    return v;
  }
};
struct Magnitude {
  template <class A>
  A operator()(A v) const {
    if constexpr (std::is_same_v<A, double>) return std::fabs(v);
    return v < 0 ? -v : v;
  }
};
struct Square {
  template <class A>
  A operator()(A v) const {
    return v * v;
  }
};
struct Cube {
  template <class A>
  A operator()(A v) const {
    return v * v * v;
  }
};

template <class T, class Term, class A = Sum<T>>
void sum(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  put<T>(result, 0, sum_of<A>(n, [x](int64_t i) { return Term{}(static_cast<A>(x[i])); }));
}

template <class T>
void dot(const void* data, const void* other, int64_t n, void* result, int64_t*) {
  const T *x = elements<T>(data), *y = elements<T>(other);
  put<T>(result, 0, sum_of<double>(n, [x, y](int64_t i) { return double{x[i]} * double{y[i]}; }));
}

template <class T>
void nrm2(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  put<T>(result, 0, std::sqrt(sum_of<double>(n, [x](int64_t i) { return double{x[i]} * double{x[i]}; })));
}

template <class T>
void min(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  T m = std::numeric_limits<T>::max();
#pragma omp parallel for simd reduction(min : m)
  for (int64_t i = 0; i < n; ++i) m = x[i] < m ? x[i] : m;
  put<T>(result, 0, m);
}

template <class T>
void max(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  T m = std::numeric_limits<T>::lowest();
#pragma omp parallel for simd reduction(max : m)
  for (int64_t i = 0; i < n; ++i) m = x[i] > m ? x[i] : m;
  put<T>(result, 0, m);
}

template <class T>
void min_max(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
#pragma omp parallel for simd reduction(min : low) reduction(max : high)
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  put<T>(result, 0, low);
  put<T>(result, 1, high);
}

template <class T>
void max_abs(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const T* x = elements<T>(data);
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    Unsigned m = 0;
#pragma omp parallel for simd reduction(max : m)
    for (int64_t i = 0; i < n; ++i) {
      const auto u = static_cast<Unsigned>(x[i]);
      const Unsigned a = x[i] < 0 ? Unsigned{0} - u : u;
      m = a > m ? a : m;
    }
    put<T>(result, 0, m);
  } else {
    T m = 0;
#pragma omp parallel for simd reduction(max : m)
    for (int64_t i = 0; i < n; ++i) {
      const T a = std::fabs(x[i]);
      m = a > m ? a : m;
    }
    put<T>(result, 0, m);
  }
}

// The first of the least (of the greatest, for Greater).
template <class T, bool kGreater>
void position(const void* data, const void*, int64_t n, void* result, int64_t* index) {
  const T* x = elements<T>(data);
  const auto better = [](T a, T b) { return kGreater ? a > b : a < b; };
  T best = x[0];
  int64_t at = 0;
#pragma omp parallel
  {
    T mine = x[0];
    int64_t mine_at = 0;
#pragma omp for nowait
    for (int64_t i = 0; i < n; ++i) {
      if (better(x[i], mine)) {
        mine = x[i];
        mine_at = i;
      }
    }
#pragma omp critical
    if (better(mine, best) || (mine == best && mine_at < at)) {
      best = mine;
      at = mine_at;
    }
  }
  put<T>(result, 0, best);
  *index = at;
}

// Neumaier's form of Kahan's sum.
void compensated(const void* data, const void*, int64_t n, void* result, int64_t*) {
  const auto* x = elements<double>(data);
  double sum = 0, error = 0;
#pragma omp parallel for reduction(+ : sum, error)
  for (int64_t i = 0; i < n; ++i) {
    const double next = sum + x[i];
    error += std::fabs(sum) >= std::fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
    sum = next;
  }
  put<double>(result, 0, sum + error);
}

template <class T>
Loop any_loop(gpumem_reduce_op op) {
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_SUM:
      return sum<T, Plain>;
    case GPUMEM_MIN:
      return min<T>;
    case GPUMEM_MAX:
      return max<T>;
    case GPUMEM_SUM_ABS:
      return sum<T, Magnitude>;
    case GPUMEM_SUM_SQUARES:
      return sum<T, Square>;
    case GPUMEM_SUM_CUBES:
      return sum<T, Cube>;
    case GPUMEM_MAX_ABS:
      return max_abs<T>;
    case GPUMEM_MIN_MAX:
      return min_max<T>;
    case GPUMEM_ARG_MIN:
      return position<T, false>;
    case GPUMEM_ARG_MAX:
      return position<T, true>;
    case GPUMEM_DOT:
      if constexpr (std::is_floating_point_v<T>) return dot<T>;
      break;
    case GPUMEM_NRM2:
      if constexpr (std::is_floating_point_v<T>) return nrm2<T>;
      break;
    case GPUMEM_SUM_COMPENSATED:
      if constexpr (std::is_same_v<T, double>) return compensated;
      break;
    case GPUMEM_ARG_MAX_ABS:
    case GPUMEM_PROD:
    case GPUMEM_SUM_VALID:
    case GPUMEM_COUNT_VALID:
    case GPUMEM_MIN_VALID:
    case GPUMEM_MAX_VALID:
    case GPUMEM_ARG_MIN_VALID:
    case GPUMEM_ARG_MAX_VALID:
    case GPUMEM_SUM_ORDER_FREE:
    case GPUMEM_NRM2_ORDER_FREE:
    case GPUMEM_DOT_ORDER_FREE:
      break;
  }
  return nullptr;
}

template <class T>
Loop sum_loop(gpumem_reduce_op op) {
  return op == GPUMEM_SUM ? sum<T, Plain> : Loop{nullptr};
}

}  // namespace

Loop loop(gpumem_reduce_op op, gpumem_dtype dtype) {
  using OfType = Loop (*)(gpumem_reduce_op);
  constexpr OfType kAll[] = {sum_loop<int8_t>,     sum_loop<uint8_t>, sum_loop<int16_t>,
                             sum_loop<uint16_t>,   any_loop<int32_t>, nullptr,
                             any_loop<int64_t>,    nullptr,           sum_loop<Half>,
                             sum_loop<BrainFloat>, any_loop<float>,   any_loop<double>};
  return kAll[dtype] != nullptr ? kAll[dtype](op) : nullptr;
}

Loop exact_loop(gpumem_reduce_op op) {
  if (op == GPUMEM_SUM_SQUARES) return sum<int32_t, Square, Int128>;
  return op == GPUMEM_SUM_CUBES ? sum<int32_t, Cube, Int128> : Loop{nullptr};
}

}  // namespace bench::openmp
