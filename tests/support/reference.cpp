#include "support/reference.hpp"
#include "support/order_free_reference.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/dtypes.hpp"
#include "support/wide.hpp"

// Compiled without fused multiply-add and without fast-math: see the CMakeLists that name it.
#if defined(__FAST_MATH__)
#error "the reference needs the arithmetic of IEEE 754"
#endif

namespace gpumem_test {
namespace {

constexpr uint64_t kNan = 0x7FF8000000000000;

uint64_t bits_of(double value) { return std::isnan(value) ? kNan : std::bit_cast<uint64_t>(value); }

// The bits of element i, in the low end of the word.
uint64_t raw(const Sequence& x, int64_t i) {
  const size_t bytes = info_of(x.dtype).bytes;
  uint64_t word = 0;  // the machines that run this have the low byte first
  std::memcpy(&word, static_cast<const char*>(x.first) + static_cast<size_t>(i * x.stride) * bytes, bytes);
  return word;
}

// A floating-point number from its bits, by what its exponent and fraction mean.
double decoded(uint64_t word, int exponent_bits, int fraction_bits) {
  const uint64_t fraction = word & ((uint64_t{1} << fraction_bits) - 1);
  const auto exponent = static_cast<int>(word >> fraction_bits & ((uint64_t{1} << exponent_bits) - 1));
  const bool negative = (word >> (exponent_bits + fraction_bits)) != 0;
  const int all_ones = (1 << exponent_bits) - 1;
  const int bias = all_ones / 2;
  double value = 0;
  if (exponent == all_ones) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(fraction), 1 - bias - fraction_bits);
  } else {
    const uint64_t significand = fraction | uint64_t{1} << fraction_bits;
    value = std::ldexp(static_cast<double>(significand), exponent - bias - fraction_bits);
  }
  return negative ? -value : value;
}

// ---------------------------------------------------------------------------------------------------- the fixed order

// Nodes of the tree, and what joining two of them is.
struct Plain {
  double s = 0;
};
Plain joined(const Plain& a, const Plain& b) { return {a.s + b.s}; }

struct Factor {
  double p = 1;
};
Factor joined(const Factor& a, const Factor& b) { return {a.p * b.p}; }

struct Compensated {
  double s = 0;
  double e = 0;
};
Compensated joined(const Compensated& a, const Compensated& b) {
  // TwoSum (Knuth): s + d is a.s + b.s exactly.
  const double s = a.s + b.s;
  const double b_part = s - a.s;
  const double a_part = s - b_part;
  const double d = (a.s - a_part) + (b.s - b_part);
  return {s, (a.e + b.e) + d};
}

struct Norm {
  double small = 0;
  double middle = 0;
  double large = 0;
};
Norm joined(const Norm& a, const Norm& b) { return {a.small + b.small, a.middle + b.middle, a.large + b.large}; }

template <class Node>
Node tree(const std::vector<Node>& term) {
  const size_t n = term.size();
  std::vector<Node> sums;
  for (size_t q = 0; 1024 * q < n; ++q) {
    std::array<Node, 128> a{};
    for (size_t r = 0; r < 8; ++r) {
      for (size_t j = 0; j < 128; ++j) {
        const size_t i = 1024 * q + 128 * r + j;
        a[j] = joined(a[j], i < n ? term[i] : Node{});
      }
    }
    for (size_t h = 64; h >= 1; h /= 2) {
      for (size_t j = 0; j < h; ++j) a[j] = joined(a[j], a[j + h]);
    }
    sums.push_back(a[0]);
  }
  if (sums.empty()) return Node{};
  while (sums.size() > 1) {
    std::vector<Node> next;
    for (size_t q = 0; q < sums.size(); q += 2) {
      next.push_back(joined(sums[q], q + 1 < sums.size() ? sums[q + 1] : Node{}));
    }
    sums = next;
  }
  return sums[0];
}

double plain_sum(const std::vector<double>& numbers) {
  std::vector<Plain> nodes;
  for (const double t : numbers) nodes.push_back({t});
  return tree(nodes).s;
}

double product(const std::vector<double>& numbers) {
  std::vector<Factor> nodes;
  for (const double t : numbers) nodes.push_back({t});
  return tree(nodes).p;
}

double compensated_sum(const std::vector<double>& numbers) {
  std::vector<Compensated> nodes;
  for (const double t : numbers) nodes.push_back({t, 0});
  const Compensated all = tree(nodes);
  const double result = all.s + all.e;
  return std::isfinite(result) ? result : plain_sum(numbers);
}

double norm_of_f64(const std::vector<double>& x) {
  const double low = std::ldexp(1.0, -511);
  const double high = std::ldexp(1.0, 486);
  std::vector<Norm> nodes;
  for (const double value : x) {
    Norm node;
    if (std::fabs(value) > high) {
      const double scaled = value * std::ldexp(1.0, -538);
      node.large = scaled * scaled;
    } else if (std::fabs(value) < low) {
      const double scaled = value * std::ldexp(1.0, 537);
      node.small = scaled * scaled;
    } else {
      node.middle = value * value;
    }
    nodes.push_back(node);
  }
  const Norm all = tree(nodes);
  if (all.large > 0 || std::isnan(all.large)) {
    const double down = std::ldexp(1.0, -538);
    return std::sqrt(all.large + (all.middle * down) * down) * std::ldexp(1.0, 538);
  }
  if (all.small > 0) {
    const double s = std::sqrt(all.small) * std::ldexp(1.0, -537);
    const double m = std::sqrt(all.middle);
    if (std::isnan(m)) return m;
    const double upper = s > m ? s : m;
    const double lower = s > m ? m : s;
    const double quotient = lower / upper;
    return upper * std::sqrt(1 + quotient * quotient);
  }
  return std::sqrt(all.middle);
}

// ----------------------------------------------------------------------------------------------------- floating point

// NaN stands before everything, and -0 before +0.
bool less(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

// Where the minimum or maximum is: the first NaN, else the first of the equals.
int64_t place_of(const Sequence& x, bool maximum) {
  int64_t best = 0;
  for (int64_t i = 0; i < x.n; ++i) {
    const double value = element(x, i);
    if (std::isnan(value)) return i;
    const double champion = element(x, best);
    if (maximum ? less(champion, value) : less(value, champion)) best = i;
  }
  return best;
}

// The same among the numbers. 0 if there are none.
int64_t valid_place_of(const Sequence& x, bool maximum) {
  int64_t best = 0;
  for (int64_t i = 1; i < x.n; ++i) {
    const double value = element(x, i);
    const double champion = element(x, best);
    if (std::isnan(value)) continue;
    if (std::isnan(champion) || (maximum ? less(champion, value) : less(value, champion))) best = i;
  }
  return best;
}

// Squares of f64 have a range of their own. Those of f32 are exact.
double order_free_sum(gpumem_reduce_op op, const Sequence& x, const Sequence& y) {
  OrderFreeReference sum;
  const bool squares = op == GPUMEM_NRM2_ORDER_FREE;
  for (const double term : terms(op, x, y)) {
    if (squares && x.dtype == GPUMEM_F64) {
      sum.add_square(term);
    } else {
      sum.add_term(squares ? term * term : term);
    }
  }
  return squares ? sum.root() : sum.sum();
}

Outcome floating(gpumem_reduce_op op, const Sequence& x, const Sequence& y) {
  const auto lowest = [&] { return bits_of(element(x, place_of(x, false))); };
  const auto highest = [&] { return bits_of(element(x, place_of(x, true))); };
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_MIN:
      return {GPUMEM_OK, {lowest(), 0}};
    case GPUMEM_MAX:
      return {GPUMEM_OK, {highest(), 0}};
    case GPUMEM_MIN_MAX:
      return {GPUMEM_OK, {lowest(), highest()}};
    case GPUMEM_ARG_MIN:
      return {GPUMEM_OK, {lowest(), static_cast<uint64_t>(place_of(x, false))}};
    case GPUMEM_ARG_MAX:
      return {GPUMEM_OK, {highest(), static_cast<uint64_t>(place_of(x, true))}};
    case GPUMEM_MAX_ABS:
    case GPUMEM_ARG_MAX_ABS: {
      double most = 0;
      uint64_t place = 0;
      for (int64_t i = 0; i < x.n && !std::isnan(most); ++i) {
        const double magnitude = std::fabs(element(x, i));
        if (magnitude <= most) continue;
        most = magnitude;
        place = static_cast<uint64_t>(i);
      }
      return {GPUMEM_OK, {bits_of(most), op == GPUMEM_MAX_ABS ? 0 : place}};
    }
    case GPUMEM_NRM2:
      if (x.dtype == GPUMEM_F64) return {GPUMEM_OK, {bits_of(norm_of_f64(terms(GPUMEM_SUM, x))), 0}};
      return {GPUMEM_OK, {bits_of(std::sqrt(plain_sum(terms(GPUMEM_SUM_SQUARES, x)))), 0}};
    case GPUMEM_SUM_ORDER_FREE:
    case GPUMEM_NRM2_ORDER_FREE:
    case GPUMEM_DOT_ORDER_FREE:
      return {GPUMEM_OK, {bits_of(order_free_sum(op, x, y)), 0}};
    case GPUMEM_SUM_COMPENSATED:
      return {GPUMEM_OK, {bits_of(compensated_sum(terms(GPUMEM_SUM, x))), 0}};
    case GPUMEM_PROD:
      return {GPUMEM_OK, {bits_of(product(terms(GPUMEM_SUM, x))), 0}};
    case GPUMEM_SUM:
    case GPUMEM_SUM_ABS:
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_SUM_CUBES:
    case GPUMEM_DOT:
    case GPUMEM_SUM_VALID:
    case GPUMEM_COUNT_VALID:
      return {GPUMEM_OK, {bits_of(plain_sum(terms(op, x, y))), 0}};
    case GPUMEM_MIN_VALID:
    case GPUMEM_MAX_VALID:
    case GPUMEM_ARG_MIN_VALID:
    case GPUMEM_ARG_MAX_VALID: {
      const int64_t place = valid_place_of(x, op == GPUMEM_MAX_VALID || op == GPUMEM_ARG_MAX_VALID);
      return {GPUMEM_OK, {bits_of(element(x, place)), is_arg(op) ? static_cast<uint64_t>(place) : 0}};
    }
  }
  return {GPUMEM_INTERNAL, {}};
}

// ----------------------------------------------------------------------------------------------------------- integers

struct Integer {
  bool negative;
  uint64_t magnitude;
};

Integer integer(const Sequence& x, int64_t i) {
  const TypeInfo& type = info_of(x.dtype);
  const uint64_t word = raw(x, i);
  const int bits = static_cast<int>(type.bytes) * 8;
  if (type.what == Class::unsigned_integer || (word >> (bits - 1)) == 0) return {false, word};
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return {true, ((~word) & mask) + 1};
}

bool less(const Integer& a, const Integer& b) {
  if (a.negative != b.negative) return a.negative;
  return a.negative ? a.magnitude > b.magnitude : a.magnitude < b.magnitude;
}

uint64_t word_of(const Integer& value) { return value.negative ? 0 - value.magnitude : value.magnitude; }

// positive - negative, if the type of the result has it.
Outcome fitted(const Wide& positive, const Wide& negative, bool is_signed) {
  const bool below = positive < negative;
  const Wide magnitude = below ? negative.minus(positive) : positive.minus(negative);
  const uint64_t limit = !is_signed ? (below ? 0 : ~uint64_t{0}) : (uint64_t{1} << 63) - (below ? 0 : 1);
  if (!magnitude.fits_word() || magnitude.low() > limit) return {GPUMEM_OVERFLOW, {0, 0}};
  return {GPUMEM_OK, {word_of({below, magnitude.low()}), 0}};
}

// A product that is not 0 never becomes smaller.
Outcome integral_product(const Sequence& x) {
  Wide magnitude(1);
  bool negative = false;
  bool zero = false;
  for (int64_t i = 0; i < x.n; ++i) {
    const Integer e = integer(x, i);
    zero = zero || e.magnitude == 0;
    negative = negative != e.negative;
    if (magnitude.fits_word()) magnitude = magnitude.times(e.magnitude);
  }
  if (zero) return {GPUMEM_OK, {0, 0}};
  const bool is_signed = info_of(x.dtype).what == Class::signed_integer;
  return fitted(negative ? Wide() : magnitude, negative ? magnitude : Wide(), is_signed);
}

Outcome integral(gpumem_reduce_op op, const Sequence& x) {
  if (op == GPUMEM_PROD) return integral_product(x);
  const bool is_signed = info_of(x.dtype).what == Class::signed_integer;
  Wide positive, negative, most;
  int64_t low = 0;
  int64_t high = 0;
  int64_t largest = 0;
  for (int64_t i = 0; i < x.n; ++i) {
    const Integer e = integer(x, i);
    if (less(e, integer(x, low))) low = i;
    if (less(integer(x, high), e)) high = i;
    Wide term(e.magnitude);
    if (most < term) {
      most = term;
      largest = i;
    }
    if (op == GPUMEM_SUM_SQUARES) term = term.times(e.magnitude);
    if (op == GPUMEM_SUM_CUBES) term = term.times(e.magnitude).times(e.magnitude);
    const bool subtract = e.negative && op != GPUMEM_SUM_ABS && op != GPUMEM_SUM_SQUARES;
    (subtract ? negative : positive).add(term);
  }
  const auto at = [&](int64_t i) { return word_of(integer(x, i)); };
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_MIN:
      return {GPUMEM_OK, {at(low), 0}};
    case GPUMEM_MAX:
      return {GPUMEM_OK, {at(high), 0}};
    case GPUMEM_MIN_MAX:
      return {GPUMEM_OK, {at(low), at(high)}};
    case GPUMEM_ARG_MIN:
      return {GPUMEM_OK, {at(low), static_cast<uint64_t>(low)}};
    case GPUMEM_ARG_MAX:
      return {GPUMEM_OK, {at(high), static_cast<uint64_t>(high)}};
    case GPUMEM_MAX_ABS:
      return fitted(most, Wide(), is_signed);
    case GPUMEM_ARG_MAX_ABS: {
      Outcome found = fitted(most, Wide(), is_signed);
      if (found.status == GPUMEM_OK) found.words[1] = static_cast<uint64_t>(largest);
      return found;
    }
    case GPUMEM_SUM:
    case GPUMEM_SUM_ABS:
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_SUM_CUBES:
      return fitted(positive, negative, is_signed);
    case GPUMEM_PROD:  // above
    case GPUMEM_DOT:   // these are for floating-point elements
    case GPUMEM_SUM_VALID:
    case GPUMEM_COUNT_VALID:
    case GPUMEM_MIN_VALID:
    case GPUMEM_MAX_VALID:
    case GPUMEM_ARG_MIN_VALID:
    case GPUMEM_ARG_MAX_VALID:
    case GPUMEM_NRM2:
    case GPUMEM_SUM_COMPENSATED:
    case GPUMEM_SUM_ORDER_FREE:
    case GPUMEM_NRM2_ORDER_FREE:
    case GPUMEM_DOT_ORDER_FREE:
      break;
  }
  return {GPUMEM_INTERNAL, {}};
}

}  // namespace

double element(const Sequence& x, int64_t i) {
  const TypeInfo& type = info_of(x.dtype);
  return decoded(raw(x, i), type.exponent_bits, type.fraction_bits);
}

std::vector<double> terms(gpumem_reduce_op op, const Sequence& x, const Sequence& y) {
  std::vector<double> all;
  for (int64_t i = 0; i < x.n; ++i) {
    const double value = element(x, i);
    switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
      case GPUMEM_SUM_ABS:
        all.push_back(std::fabs(value));
        break;
      case GPUMEM_SUM_SQUARES:
        all.push_back(value * value);
        break;
      case GPUMEM_SUM_CUBES: {
        const double square = value * value;
        all.push_back(square * value);
        break;
      }
      case GPUMEM_DOT:
      case GPUMEM_DOT_ORDER_FREE:
        all.push_back(value * element(y, i));
        break;
      case GPUMEM_SUM_VALID:
        all.push_back(std::isnan(value) ? 0 : value);
        break;
      case GPUMEM_COUNT_VALID:
        all.push_back(std::isnan(value) ? 0 : 1);
        break;
      case GPUMEM_SUM:
      case GPUMEM_SUM_COMPENSATED:
      case GPUMEM_PROD:
      case GPUMEM_MIN_VALID:
      case GPUMEM_MAX_VALID:
      case GPUMEM_ARG_MIN_VALID:
      case GPUMEM_ARG_MAX_VALID:
      case GPUMEM_NRM2:
      case GPUMEM_SUM_ORDER_FREE:
      case GPUMEM_NRM2_ORDER_FREE:
      case GPUMEM_MIN:
      case GPUMEM_MAX:
      case GPUMEM_MIN_MAX:
      case GPUMEM_ARG_MIN:
      case GPUMEM_ARG_MAX:
      case GPUMEM_MAX_ABS:
      case GPUMEM_ARG_MAX_ABS:
        all.push_back(value);
        break;
    }
  }
  return all;
}

Outcome reference(gpumem_reduce_op op, const Sequence& x, const Sequence& y) {
  if (x.n == 0) return {needs_elements(op) ? GPUMEM_EMPTY : GPUMEM_OK, {empty_word(x.dtype, op), 0}};
  return is_floating(x.dtype) ? floating(op, x, y) : integral(op, x);
}

double exact_sum(const std::vector<double>& numbers) {
  // Every double is a multiple of 2^-1074 below 2^1024: two sums of such multiples, one a sign.
  std::array<Long, 2> sums;
  for (const double t : numbers) {
    const auto word = std::bit_cast<uint64_t>(t);
    const auto exponent = static_cast<int>(word >> 52 & 0x7FF);
    const uint64_t fraction = word & ((uint64_t{1} << 52) - 1);
    const uint64_t significand = exponent == 0 ? fraction : fraction | uint64_t{1} << 52;
    sums[word >> 63].add(significand, exponent == 0 ? 0 : exponent - 1);
  }
  const bool negative = sums[0] < sums[1];
  const double magnitude = negative ? sums[1].minus(sums[0]).rounded() : sums[0].minus(sums[1]).rounded();
  return negative ? -magnitude : magnitude;
}

}  // namespace gpumem_test
