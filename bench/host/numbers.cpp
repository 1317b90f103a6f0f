#include "host/numbers.hpp"

#include <cmath>
#include <stdexcept>

#include "support/random.hpp"

namespace bench {
namespace {

__extension__ using Int128 = __int128;

// Sixteen bits that stand for a number, and where its mantissa ends.
template <int kMantissa>
struct Short {
  uint16_t bits;

  // Positive or negative, in [1, 2).
  static Short random(uint64_t index) {
    constexpr int bias = (1 << (14 - kMantissa)) - 1;
    const uint64_t r = random_bits(index);
    const uint64_t fraction = r & ((1u << kMantissa) - 1);
    return {static_cast<uint16_t>((r >> 63) << 15 | uint64_t{bias} << kMantissa | fraction)};
  }
  explicit operator long double() const {
    constexpr int bias = (1 << (14 - kMantissa)) - 1;
    const int exponent = (bits & 0x7FFF) >> kMantissa, fraction = bits & ((1 << kMantissa) - 1);
    const long double magnitude =
        std::ldexp(static_cast<long double>((1 << kMantissa) + fraction), exponent - bias - kMantissa);
    return bits >> 15 ? -magnitude : magnitude;
  }
};
using Half = Short<10>;
using BrainFloat = Short<7>;

template <class T>
constexpr bool is_integer = std::is_integral_v<T>;

template <class T>
void fill(T* x, int64_t n, int64_t first, uint32_t limit) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) {
    const auto index = static_cast<uint64_t>(first + i);
    if constexpr (std::is_arithmetic_v<T>) {
      x[i] = random_value<T>(index, limit);
    } else {
      x[i] = T::random(index);
    }
  }
}

// Calls f with a null pointer of the type.
template <class F>
auto with_type(gpumem_dtype dtype, const F& f) {
  switch (static_cast<decltype(GPUMEM_I8)>(dtype)) {
    case GPUMEM_I8:
      return f(static_cast<int8_t*>(nullptr));
    case GPUMEM_U8:
      return f(static_cast<uint8_t*>(nullptr));
    case GPUMEM_I16:
      return f(static_cast<int16_t*>(nullptr));
    case GPUMEM_U16:
      return f(static_cast<uint16_t*>(nullptr));
    case GPUMEM_I32:
      return f(static_cast<int32_t*>(nullptr));
    case GPUMEM_I64:
      return f(static_cast<int64_t*>(nullptr));
    case GPUMEM_F16:
      return f(static_cast<Half*>(nullptr));
    case GPUMEM_BF16:
      return f(static_cast<BrainFloat*>(nullptr));
    case GPUMEM_F32:
      return f(static_cast<float*>(nullptr));
    case GPUMEM_F64:
      return f(static_cast<double*>(nullptr));
    case GPUMEM_U32:
    case GPUMEM_U64:
      break;
  }
  throw std::invalid_argument("no numbers of type " + dtype_name(dtype));
}

template <class V>
V term(gpumem_reduce_op op, V x, V y) {
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_SUM_ABS:
      return x < 0 ? -x : x;
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_NRM2:
      return x * x;
    case GPUMEM_SUM_CUBES:
      return x * x * x;
    case GPUMEM_DOT:
      return x * y;
    case GPUMEM_SUM:
    case GPUMEM_SUM_COMPENSATED:
      return x;
    case GPUMEM_MIN:
    case GPUMEM_MAX:
    case GPUMEM_MAX_ABS:
    case GPUMEM_MIN_MAX:
    case GPUMEM_ARG_MIN:
    case GPUMEM_ARG_MAX:
    case GPUMEM_ARG_MAX_ABS:
    case GPUMEM_PROD:
      break;  // no sums
  }
  return 0;
}

template <class V>
struct Totals {
  V sum, low, high;
  int64_t low_at, high_at;
};

template <class T, class V>
Totals<V> totals(const T* x, const T* y, gpumem_reduce_op op, int64_t n) {
  Totals<V> t{0, static_cast<V>(x[0]), static_cast<V>(x[0]), 0, 0};
  for (int64_t i = 0; i < n; ++i) {
    const V v = static_cast<V>(x[i]);
    t.sum += term(op, v, y ? static_cast<V>(y[i]) : V{0});
    if (v < t.low) {
      t.low = v;
      t.low_at = i;
    }
    if (v > t.high) {
      t.high = v;
      t.high_at = i;
    }
  }
  return t;
}

template <class V>
Expected expected(V value, double scale) {
  if constexpr (std::is_same_v<V, Int128>) return {static_cast<int64_t>(value), 0, 0};
  return {0, static_cast<double>(value), scale};
}

// The magnitude of floating-point elements is at least 1, so that n says how large a sum's terms are.
template <class V>
Reduced reduced(gpumem_reduce_op op, const Totals<V>& t, int64_t n) {
  const V low = t.low < 0 ? -t.low : t.low, high = t.high < 0 ? -t.high : t.high;
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_MIN:
      return {expected(t.low, 0), {}};
    case GPUMEM_MAX:
      return {expected(t.high, 0), {}};
    case GPUMEM_MAX_ABS:
      return {expected(low > high ? low : high, 0), {}};
    case GPUMEM_MIN_MAX:
      return {expected(t.low, 0), expected(t.high, 0)};
    case GPUMEM_ARG_MIN:
      return {expected(t.low, 0), {t.low_at, 0, 0}};
    case GPUMEM_ARG_MAX:
      return {expected(t.high, 0), {t.high_at, 0, 0}};
    case GPUMEM_NRM2: {
      const double norm = std::sqrt(static_cast<double>(t.sum));
      return {{0, norm, norm}, {}};
    }
    case GPUMEM_SUM:
    case GPUMEM_SUM_COMPENSATED:
    case GPUMEM_SUM_ABS:
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_SUM_CUBES:
    case GPUMEM_DOT:
      return {expected(t.sum, static_cast<double>(n)), {}};
    case GPUMEM_ARG_MAX_ABS:
    case GPUMEM_PROD:
      break;
  }
  throw std::invalid_argument("no reference of this operation");
}

}  // namespace

Numbers::Numbers(gpumem_dtype type, int64_t n, uint32_t most, bool second)
    : dtype(type), limit(most), x(bytes_of(type, n)), y(second ? bytes_of(type, n) : 1) {
  with_type(dtype, [&]<class T>(T*) {
    fill(x.as<T>(), n, 0, most);
    if (second) fill(y.as<T>(), n, n, most);
  });
}

std::shared_ptr<const Numbers> numbers(gpumem_dtype dtype, int64_t n, uint32_t limit, bool second) {
  static std::shared_ptr<const Numbers> last;
  const std::size_t bytes = bytes_of(dtype, n);
  if (!last || last->dtype != dtype || last->limit != limit || last->x.bytes() < bytes ||
      (second && last->y.bytes() < bytes)) {
    last.reset();
    last = std::make_shared<const Numbers>(dtype, n, limit, second);
  }
  return last;
}

Reduced reference_reduce(const Numbers& numbers, gpumem_reduce_op op, int64_t n) {
  return with_type(numbers.dtype, [&]<class T>(T*) {
    using V = std::conditional_t<is_integer<T>, Int128, long double>;
    const T* y = op == GPUMEM_DOT ? numbers.y.as<const T>() : nullptr;
    return reduced(op, totals<T, V>(numbers.x.as<const T>(), y, op, n), n);
  });
}

}  // namespace bench
