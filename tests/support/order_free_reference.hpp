// The value of an order-free sum, from its definition in gpumem.h and kernels/order_free.hpp. It shares no code with the
// library: terms are integers, rounded as a whole instead of bin by bin, and added with as many bits as they need.
#pragma once

#include <gpumem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpumem_test {

__extension__ typedef __int128 Units;
__extension__ typedef unsigned __int128 UnsignedUnits;

// mantissa * 2^exponent, |mantissa| < 2^53.
struct IntegerTerm {
  int64_t mantissa;
  int exponent;
};

inline IntegerTerm integer_term(double v) {
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  return {static_cast<int64_t>(std::ldexp(fraction, 53)), exponent - 53};
}

// v * v, rounded to 53 bits, of any exponent.
inline IntegerTerm integer_square(double v) {
  const IntegerTerm t = integer_term(v);
  auto square = static_cast<UnsignedUnits>(static_cast<Units>(t.mantissa) * t.mantissa);
  int exponent = 2 * t.exponent;
  int beyond = 0;
  while (square >> beyond >> 53 != 0) ++beyond;
  if (beyond > 0) {
    const auto rest = square & ((static_cast<UnsignedUnits>(1) << beyond) - 1);
    const auto half = static_cast<UnsignedUnits>(1) << (beyond - 1);
    square >>= beyond;
    exponent += beyond;
    if (rest > half || (rest == half && square % 2 != 0)) ++square;
  }
  return {static_cast<int64_t>(square), exponent};
}

// An exact sum of numbers mantissa * 2^exponent, for exponents from kLowest on.
class ExactSum {
 public:
  void add(Units mantissa, int exponent) {
    const int place = exponent - kLowest;
    const bool negative = mantissa < 0;
    auto rest = static_cast<UnsignedUnits>(negative ? -mantissa : mantissa);
    const int shift = place % 32;
    for (size_t i = static_cast<size_t>(place / 32); rest != 0; ++i) {
      // The first limb takes 32 - shift bits, the others 32.
      const int bits = i == static_cast<size_t>(place / 32) ? 32 - shift : 32;
      const auto part = static_cast<int64_t>(rest & ((static_cast<UnsignedUnits>(1) << bits) - 1));
      const int64_t limb = i == static_cast<size_t>(place / 32) ? part << shift : part;
      limbs_[i] += negative ? -limb : limb;
      rest >>= bits;
    }
  }
  // significand * 2^exponent, rounded once to 53 bits, ties to even.
  IntegerTerm rounded() const {
    std::array<int64_t, kLimbs> limbs = limbs_;
    const auto carry = [&limbs] {
      for (size_t i = 0; i + 1 < kLimbs; ++i) {
        const int64_t high = limbs[i] >> 32;
        limbs[i] -= high * (int64_t{1} << 32);
        limbs[i + 1] += high;
      }
    };
    carry();
    const bool negative = limbs[kLimbs - 1] < 0;
    if (negative) {
      for (int64_t& limb : limbs) limb = -limb;
      carry();
    }
    const auto bit = [&limbs](int place) {
      return place >= 0 && (limbs[static_cast<size_t>(place / 32)] >> place % 32 & 1) != 0;
    };
    int top = 32 * static_cast<int>(kLimbs) - 1;
    while (top >= 0 && !bit(top)) --top;
    if (top < 0) return {0, 0};
    const int last = top - 52;
    int64_t significand = 0;
    for (int place = top; place >= last; --place) significand = 2 * significand + (bit(place) ? 1 : 0);
    bool below = false;
    for (int place = 0; place < last - 1; ++place) below = below || bit(place);
    if (bit(last - 1) && (below || significand % 2 != 0)) ++significand;
    return {negative ? -significand : significand, last + kLowest};
  }

 private:
  static constexpr int kLowest = -2304;
  static constexpr size_t kLimbs = 160;
  std::array<int64_t, kLimbs> limbs_{};
};

class OrderFreeReference {
 public:
  void add_term(double term) { add(term, false); }
  void add_square(double x) { add(x, true); }  // of f64, which has a range of its own

  double sum() const {
    if (!std::isfinite(special_)) return special_;
    const IntegerTerm s = in_bins().rounded();
    return std::ldexp(static_cast<double>(s.mantissa), s.exponent) + 0.0;
  }
  double root() const {
    if (!std::isfinite(special_)) return special_;
    IntegerTerm s = in_bins().rounded();
    auto mantissa = static_cast<double>(s.mantissa);
    if (s.exponent % 2 != 0) {
      mantissa *= 2;
      s.exponent -= 1;
    }
    return std::ldexp(std::sqrt(mantissa), s.exponent / 2);
  }
  // Without the loss of low digits.
  double exact_sum() const {
    ExactSum all;
    for (const IntegerTerm& t : terms_) all.add(t.mantissa, t.exponent);
    const IntegerTerm s = all.rounded();
    return std::ldexp(static_cast<double>(s.mantissa), s.exponent);
  }

 private:
  void add(double x, bool squared) {
    if (!std::isfinite(x)) {
      const double term = squared ? x * x : x;
      special_ = std::isnan(term) || (std::isinf(special_) && special_ != term) || std::isnan(special_)
                     ? std::numeric_limits<double>::quiet_NaN()
                     : term;
      return;
    }
    if (x == 0) return;
    terms_.push_back(squared ? integer_square(x) : integer_term(x));
    bound_ = std::max(bound_, (squared ? 2 : 1) * (std::ilogb(x) + 1));
  }

  // The lowest level l at which terms below 2^bound_ are below half a unit, 2^(40 (l + 3) - 2194), of the next bin.
  int level() const {
    int l = 1;
    while (bound_ > 40 * (l + 3) - 2195) ++l;
    return l;
  }
  ExactSum in_bins() const {
    ExactSum all;
    const int unit = 40 * level() - 2194;
    for (const IntegerTerm& t : terms_) all.add(in_units(t, unit), unit);
    return all;
  }
  // To the nearest. A tie goes away from 0 in what the two upper bins leave of the term.
  static Units in_units(const IntegerTerm& t, int unit) {
    if (t.exponent >= unit) return static_cast<Units>(t.mantissa) << (t.exponent - unit);
    const int shift = unit - t.exponent;
    if (shift > 54) return 0;
    const int64_t size = std::abs(t.mantissa);
    const int64_t rest = size & ((int64_t{1} << shift) - 1);
    const int64_t half = int64_t{1} << (shift - 1);
    Units units = size >> shift;
    if (rest > half || (rest == half && left_of(2 * units + 1) > 0)) ++units;
    return t.mantissa < 0 ? -units : units;
  }
  // Half units that the bins of 2^80 and 2^40 units leave of an odd number of half units.
  static Units left_of(Units half_units) {
    for (const int bits : {81, 41}) {
      const Units bin = static_cast<Units>(1) << bits;
      half_units %= bin;
      if (half_units > bin / 2) half_units -= bin;
      if (half_units < -bin / 2) half_units += bin;
    }
    return half_units;
  }

  std::vector<IntegerTerm> terms_;
  int bound_ = std::numeric_limits<int>::min() / 4;
  double special_ = 0;
};

}  // namespace gpumem_test
