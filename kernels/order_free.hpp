// Sums that depend only on their terms, and not on the order of the terms (J. Demmel and H. D. Nguyen, "Parallel
// reproducible summation", IEEE Transactions on Computers 64, 2015). Shared by the host and the kernels.
//
// The range of exponents is cut into bins of kBinBits bits, at the same places for every sum. A bin holds an exact
// multiple of its unit. The top bin gets a term, rounded to its unit. The remainder goes to the bin below in the same
// way, and its remainder to the lowest bin. The rest is dropped. Each part depends only on the term. A sum keeps
// three bins. The level of the largest term decides which: the term is less than half a unit of the bin above them, so
// that it has no part there. When a larger term raises the level, the lowest bins are dropped. They hold what would have
// been dropped if the larger term had come first. Bins are therefore sums of integers, which have no order.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/accumulators.hpp"

namespace gpumem {

constexpr int kBins = 3;
constexpr int kBinBits = 40;
// Level l >= 1 has the bins l, l + 1 and l + 2. The unit of bin b is 2^(kBinBits * b + kBinOrigin). Level 1 holds the
// squares of all elements of f64.
constexpr int kBinOrigin = -2194;
constexpr int bin_exponent(int bin) noexcept { return kBinBits * bin + kBinOrigin; }

// A term adds at most 2^39 units to a bin, and a node has 82 bits per bin.
constexpr int64_t kMostOrderFreeTerms = (int64_t{1} << 42) - 1;
// An f64 accumulator begins at 1.5 * 2^52 units. It is exact for 2^51 / 2^39 terms. Half of them leave a margin.
constexpr int kTermsBetweenCarries = 2048;
// Carries of 64 bits hold up to 2^24 terms.
constexpr int64_t kMostCarriedTerms = int64_t{1} << 23;

// Terms by range. The level of a term follows from the exponent field of `element`, which is the term, or the element
// whose square the term is. Terms at levels below kLowLevel are scaled up before they are split, and those from
// kHighLevel on are scaled down. Accumulators and squares then neither overflow nor underflow.
constexpr int kLowLevel = 40;
constexpr int kHighLevel = 60;
struct NarrowTerms {  // elements of f32, their squares and products: they need no scale
  static constexpr int kLeast = kLowLevel;
  static constexpr int kFactor = 1;
  static constexpr int kOffset = 1212;
  static constexpr int kShift = 0;  // of the level, by a scale
  static constexpr int kScale = 0;  // exponent
  static constexpr bool kSquares = false;
};
struct WideTerms : NarrowTerms {  // any elements and their products
  static constexpr int kLeast = 28;
  static constexpr int kShift = 10;
  static constexpr int kScale = 400;
};
struct SquaredTerms {  // squares of f64, formed of scaled elements
  static constexpr int kLeast = 1;
  static constexpr int kFactor = 2;
  static constexpr int kOffset = 190;
  static constexpr int kShift = 30;
  static constexpr int kScale = 600;
  static constexpr bool kSquares = true;
};

[[gnu::always_inline]] constexpr double power_of_two(int exponent) noexcept {  // -1022 to 1023
  return std::bit_cast<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}
// The lowest level at which |term| < 2^(bin_exponent(level + 3) - 1).
template <class Range>
[[gnu::always_inline]] constexpr int level_of(int exponent_field) noexcept {
  const int level = (Range::kFactor * exponent_field + Range::kOffset) / kBinBits - kBins;
  return level < Range::kLeast ? Range::kLeast : level;
}
// The least exponent field that needs a higher level. Infinities and NaNs, of field 2047, always reach it.
template <class Range>
[[gnu::always_inline]] constexpr int limit_of(int level) noexcept {
  const int limit = (kBinBits * (level + kBins + 1) - Range::kOffset + Range::kFactor - 1) / Range::kFactor;
  return limit < 2047 ? limit : 2047;
}
template <class Range>
[[gnu::always_inline]] constexpr int direction_of_scale(int level) noexcept {
  return level < kLowLevel ? 1 : level >= kHighLevel ? -1 : 0;
}
template <class Range>
[[gnu::always_inline]] constexpr double scale_of(int level) noexcept {
  return power_of_two(direction_of_scale<Range>(level) * Range::kScale);
}
// An empty accumulator, 1.5 * 2^52 units of bin i of the scaled level. The bits of two accumulators of one bin differ by
// the difference of their sums, in units.
template <class Range>
[[gnu::always_inline]] constexpr uint64_t start_of(int level, int i) noexcept {
  const int bin = level + direction_of_scale<Range>(level) * Range::kShift + i;
  return static_cast<uint64_t>(bin_exponent(bin) + 52 + 1023) << 52 | uint64_t{1} << 51;
}

// Adds a scaled term of the level, V being double or a vector. odd() sets the last bit, so that no tie is rounded by the
// digits of the accumulator.
template <class V, class Odd>
[[gnu::always_inline]] constexpr void deposit(V (&bin)[kBins], V term, const Odd& odd) noexcept {
  for (int i = kBins - 1; i > 0; --i) {
    const V before = bin[i];
    bin[i] = before + odd(term);
    term = term - (bin[i] - before);
  }
  bin[0] = bin[0] + odd(term);
}

// Numbers other than finite ones among the terms, as bits.
enum SpecialTerms : uint32_t { kNanTerm = 1, kInfiniteTerm = 2, kMinusInfiniteTerm = 4 };
[[gnu::always_inline]] constexpr uint32_t special_of(double term) noexcept {  // that is not finite
  return term != term ? kNanTerm : term > 0 ? kInfiniteTerm : kMinusInfiniteTerm;
}

// Three bins of 82 bits, the level, and the special terms. Level 0 is a sum without terms.
struct OrderFreeNode {
  static constexpr NodeKind kind = NodeKind::order_free;
  static constexpr int kHighBits = 18;
  uint64_t low[kBins] = {};
  uint64_t high = 0;  // of each bin; 7 bits of the level; 3 bits of special terms

  constexpr OrderFreeNode() noexcept = default;
  [[gnu::always_inline]] constexpr OrderFreeNode(int level, const Int128 (&bin)[kBins], uint32_t special) noexcept
      : high(static_cast<uint64_t>(level) << 54 | uint64_t{special} << 61) {
    for (int i = 0; i < kBins; ++i) {
      low[i] = static_cast<uint64_t>(bin[i]);
      high |= (static_cast<uint64_t>(bin[i] >> 64) & ((uint64_t{1} << kHighBits) - 1)) << kHighBits * i;
    }
  }
  [[gnu::always_inline]] constexpr explicit OrderFreeNode(const ReduceNode& n) noexcept
      : low{n.word[0], n.word[1], n.word[2]}, high(n.word[3]) {}
  [[gnu::always_inline]] constexpr ReduceNode stored() const noexcept { return {{low[0], low[1], low[2], high}}; }

  [[gnu::always_inline]] constexpr int level() const noexcept { return static_cast<int>(high >> 54 & 127); }
  [[gnu::always_inline]] constexpr uint32_t special() const noexcept { return static_cast<uint32_t>(high >> 61); }
  [[gnu::always_inline]] constexpr Int128 bin(int i) const noexcept {
    const int64_t upper = static_cast<int64_t>(high << (64 - kHighBits * (i + 1))) >> (64 - kHighBits);
    return static_cast<Int128>(static_cast<Uint128>(upper) << 64 | low[i]);
  }
};

// Bins of a higher level.
template <class Sum>
[[gnu::always_inline]] constexpr void raise_bins(Sum (&bin)[kBins], int levels) noexcept {
  for (int left = levels < kBins ? levels : kBins; left > 0; --left) {
    for (int i = 0; i + 1 < kBins; ++i) bin[i] = bin[i + 1];
    bin[kBins - 1] = Sum{};
  }
}

[[gnu::always_inline]] constexpr OrderFreeNode combine(const OrderFreeNode& a, const OrderFreeNode& b) noexcept {
  const int level = a.level() > b.level() ? a.level() : b.level();
  Int128 of_a[kBins] = {a.bin(0), a.bin(1), a.bin(2)};
  Int128 of_b[kBins] = {b.bin(0), b.bin(1), b.bin(2)};
  raise_bins(of_a, level - a.level());
  raise_bins(of_b, level - b.level());
  for (int i = 0; i < kBins; ++i) of_a[i] += of_b[i];
  return {level, of_a, a.special() | b.special()};
}

// significand * 2^exponent.
struct ScaledDouble {
  double significand;
  int exponent;

  // Two steps, because one power of two may be out of range. Only the last one rounds.
  constexpr double value() const noexcept {
    const int e = exponent > 2044 ? 2044 : exponent < -2044 ? -2044 : exponent;
    return significand * power_of_two(e / 2) * power_of_two(e - e / 2);
  }
};

// std::bit_width() has no device code.
constexpr int width_of(Uint128 v) noexcept {
  const auto high = static_cast<uint64_t>(v >> 64);
  uint64_t rest = high != 0 ? high : static_cast<uint64_t>(v);
  int width = high != 0 ? 64 : 0;
  for (int step = 32; step > 0; step /= 2) {
    if (rest >> step == 0) continue;
    rest >>= step;
    width += step;
  }
  return width + static_cast<int>(rest);
}

// The bins' sum, rounded once to 53 bits, to nearest, ties to even.
constexpr ScaledDouble rounded_sum(const OrderFreeNode& node) noexcept {
  // The magnitude is upper * 2^80 + lower units.
  constexpr int kLowerBits = 2 * kBinBits;
  constexpr Uint128 kLower = (Uint128{1} << kLowerBits) - 1;
  const Int128 first = node.bin(0) + (node.bin(1) << kBinBits);
  Int128 upper = node.bin(2) + (first >> kLowerBits);
  Uint128 lower = static_cast<Uint128>(first) & kLower;
  const bool negative = upper < 0;
  if (negative) {
    lower = (0 - lower) & kLower;
    upper = -upper - (lower != 0 ? 1 : 0);
  }
  // As many bits of lower behind upper as 127 bits have room for.
  const int room = 127 - width_of(static_cast<Uint128>(upper));
  const int taken = room < kLowerBits ? room : kLowerBits;
  const Uint128 head = static_cast<Uint128>(upper) << taken | lower >> (kLowerBits - taken);
  const bool more = (lower & ((Uint128{1} << (kLowerBits - taken)) - 1)) != 0;
  const int beyond = width_of(head) - 53;
  const int dropped = beyond > 0 ? beyond : 0;
  auto significand = static_cast<int64_t>(head >> dropped);
  if (dropped > 0) {
    const Uint128 rest = head & ((Uint128{1} << dropped) - 1);
    const Uint128 half = Uint128{1} << (dropped - 1);
    if (rest > half || (rest == half && (more || significand % 2 != 0))) ++significand;
  }
  return {static_cast<double>(negative ? -significand : significand),
          bin_exponent(node.level()) + kLowerBits - taken + dropped};
}

}  // namespace gpumem
