// Random elements of every type, by what is hard about them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/dtypes.hpp"
#include "support/random.hpp"

namespace gpumem_test {

enum class Numbers {
  small,       // integers below 2^8, in every type
  medium,      // integers of half the type's bits; floating point near 1
  full,        // all integers; floating point of any finite exponents, subnormals too
  extreme,     // the ends of the type and what lies next to 0
  cancelling,  // x and -x, far from each other (unsigned integers: as full)
  factors      // whose product mostly lies within its type, or just outside
};
inline constexpr Numbers kAllNumbers[] = {Numbers::small,   Numbers::medium,     Numbers::full,
                                          Numbers::extreme, Numbers::cancelling, Numbers::factors};

inline const char* numbers_name(Numbers numbers) {
  static constexpr const char* kNames[] = {"small", "medium", "full", "extreme", "cancelling", "factors"};
  return kNames[static_cast<int>(numbers)];
}

namespace numbers {

inline uint64_t low_bits(uint64_t word, int bits) { return bits >= 64 ? word : word & ((uint64_t{1} << bits) - 1); }

inline uint64_t assemble(const TypeInfo& type, bool negative, uint64_t exponent, uint64_t fraction) {
  return (uint64_t{negative} << (type.exponent_bits + type.fraction_bits)) | exponent << type.fraction_bits |
         low_bits(fraction, type.fraction_bits);
}

// The bits of an integer of at most 8 bits as a floating-point number of a type.
inline uint64_t whole(const TypeInfo& type, int64_t value) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
  if (magnitude == 0) return 0;
  int top = 0;
  while (magnitude >> (top + 1) != 0) ++top;
  const int bias = (1 << (type.exponent_bits - 1)) - 1;
  return assemble(
      type, value < 0, static_cast<uint64_t>(bias + top),
      type.fraction_bits >= top ? magnitude << (type.fraction_bits - top) : magnitude >> (top - type.fraction_bits));
}

// The exponents that a sequence keeps to, as they are stored: all finite ones, or a few next to each other.
struct Exponents {
  uint64_t lowest;
  uint64_t count;
};

inline Exponents exponents_of(const TypeInfo& type, Random& random) {
  const uint64_t finite = (uint64_t{1} << type.exponent_bits) - 1;
  const uint64_t counts[] = {1, 4, 60, finite};
  const uint64_t count = std::min(finite, counts[random.below(4)]);
  return {random.below(finite - count + 1), count};
}

inline uint64_t floating(const TypeInfo& type, Numbers kind, const Exponents& exponents, Random& random) {
  const uint64_t all_ones = (uint64_t{1} << type.exponent_bits) - 1;
  const bool negative = random.below(2) != 0;
  switch (kind) {
    case Numbers::small:
      return whole(type, random.between(-255, 255));
    case Numbers::medium:
      return assemble(type, negative, all_ones / 2 - 3 + random.below(6), random.bits());
    case Numbers::extreme: {
      const uint64_t extremes[] = {assemble(type, negative, all_ones - 1, ~uint64_t{0}),  // the largest
                                   assemble(type, negative, 0, 1),                        // the smallest
                                   assemble(type, negative, 0, ~uint64_t{0}),             // the largest subnormal
                                   assemble(type, negative, 1, 0),                        // the smallest normal
                                   assemble(type, negative, 0, 0)};
      return extremes[random.below(5)];
    }
    case Numbers::factors:  // below 1 nine times of sixteen, so that the logarithms' mean is next to 0
      return assemble(type, negative, all_ones / 2 - (random.below(16) < 9 ? 1 : 0), random.bits());
    case Numbers::full:
    case Numbers::cancelling:
      break;
  }
  return assemble(type, negative, exponents.lowest + random.below(exponents.count), random.bits());
}

inline uint64_t integral(const TypeInfo& type, Numbers kind, Random& random) {
  const int bits = static_cast<int>(type.bytes) * 8;
  const bool is_signed = type.what == Class::signed_integer;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t signed_ends[] = {sign, sign - 1, ~uint64_t{0}, 0, 1, sign + 1};
  const uint64_t unsigned_ends[] = {~uint64_t{0}, ~uint64_t{0} - 1, sign, 0, 1, sign - 1};
  switch (kind) {
    case Numbers::small:
      return is_signed ? static_cast<uint64_t>(random.between(bits == 8 ? -127 : -255, bits == 8 ? 127 : 255))
                       : random.below(256);
    case Numbers::medium: {
      const uint64_t magnitude = low_bits(random.bits(), bits / 2);
      return is_signed && random.below(2) != 0 ? 0 - magnitude : magnitude;
    }
    case Numbers::extreme:
      return is_signed ? signed_ends[random.below(6)] : unsigned_ends[random.below(6)];
    case Numbers::factors:  // put_factors() makes a few of them larger
      return is_signed && random.below(2) != 0 ? ~uint64_t{0} : 1;
    case Numbers::full:
    case Numbers::cancelling:
      break;
  }
  return random.bits();
}

inline uint64_t negated(const TypeInfo& type, uint64_t word) {
  if (type.what == Class::floating) return word ^ uint64_t { 1 } << (type.exponent_bits + type.fraction_bits);
  return type.what == Class::signed_integer ? 0 - word : word;
}

}  // namespace numbers

inline void put(gpumem_dtype dtype, std::vector<unsigned char>& x, int64_t at, uint64_t word) {
  std::memcpy(x.data() + static_cast<size_t>(at) * info_of(dtype).bytes, &word, info_of(dtype).bytes);
}

// Puts integers of up to 66 bits in all at a few places, sometimes powers of 2 alone, and now and then a 0.
inline void put_factors(gpumem_dtype dtype, std::vector<unsigned char>& x, int64_t n, int64_t stride, Random& random) {
  const TypeInfo& type = info_of(dtype);
  if (type.what == Class::floating || n == 0) return;
  const bool is_signed = type.what == Class::signed_integer;
  const auto any_place = [&] { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))) * stride; };
  const bool powers = random.below(3) == 0;
  const auto most = static_cast<int64_t>(type.bytes) * 8 - (is_signed ? 1 : 0);
  for (int64_t bits = powers ? random.between(62, 64) : random.between(0, 66); bits > 0;) {
    const int64_t of_factor = std::min(bits, random.between(1, std::min<int64_t>(most - 1, 40)));
    bits -= of_factor;
    const uint64_t top = uint64_t{1} << of_factor;
    const uint64_t magnitude =
        powers ? top : top / 2 | numbers::low_bits(random.bits(), static_cast<int>(of_factor) - 1);
    put(dtype, x, any_place(), is_signed && random.below(2) != 0 ? 0 - magnitude : magnitude);
  }
  if (random.below(6) == 0) put(dtype, x, any_place(), 0);
}

// The bytes from the first to the last of n elements, `stride` apart. Between them lie numbers that would show in any
// result.
inline std::vector<unsigned char> random_elements(gpumem_dtype dtype, Numbers kind, int64_t n, int64_t stride,
                                                  Random& random) {
  const TypeInfo& type = info_of(dtype);
  const bool floating = type.what == Class::floating;
  std::vector<unsigned char> x(n == 0 ? 0 : static_cast<size_t>((n - 1) * stride + 1) * type.bytes);
  // NaN, and -1 or the largest: bytes that are all ones.
  if (stride > 1 && n > 0) std::memset(x.data(), 0xFF, x.size());
  const numbers::Exponents exponents = floating ? numbers::exponents_of(type, random) : numbers::Exponents{};
  std::vector<uint64_t> words(static_cast<size_t>(n));
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t half = (words.size() + 1) / 2;
    if (kind == Numbers::cancelling && i >= half) {
      words[i] = numbers::negated(type, words[i - half]);
    } else {
      words[i] = floating ? numbers::floating(type, kind, exponents, random) : numbers::integral(type, kind, random);
    }
    put(dtype, x, static_cast<int64_t>(i) * stride, words[i]);
  }
  if (kind == Numbers::factors) put_factors(dtype, x, n, stride, random);
  return x;
}

// Puts NaN (of any kind and sign), infinities and zeros of both signs at a few places. Sometimes a run of elements, or
// all of them, become NaN.
inline void add_specials(gpumem_dtype dtype, std::vector<unsigned char>& x, int64_t n, int64_t stride, Random& random) {
  const TypeInfo& type = info_of(dtype);
  if (type.what != Class::floating || n == 0) return;
  const uint64_t all_ones = (uint64_t{1} << type.exponent_bits) - 1;
  if (random.below(4) == 0) {
    const int64_t first = random.below(3) == 0 ? 0 : static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
    const int64_t last = random.below(2) == 0 ? n : first + static_cast<int64_t>(random.below(n - first + 1));
    for (int64_t i = first; i < last; ++i) {
      put(dtype, x, i * stride, numbers::assemble(type, random.below(2) != 0, all_ones, 1 + random.below(3)));
    }
  }
  for (uint64_t count = 1 + random.below(3); count > 0; --count) {
    const bool negative = random.below(2) != 0;
    const uint64_t specials[] = {numbers::assemble(type, negative, all_ones, 1 + random.below(3)),
                                 numbers::assemble(type, negative, all_ones, 0),
                                 numbers::assemble(type, negative, all_ones, 0),
                                 numbers::assemble(type, negative, 0, 0)};
    put(dtype, x, static_cast<int64_t>(random.below(static_cast<uint64_t>(n))) * stride, specials[random.below(4)]);
  }
}

// From low to high, each order of magnitude as often as the next.
inline int64_t log_uniform(int64_t low, int64_t high, Random& random) {
  const double share = static_cast<double>(random.below(1 << 24)) / (1 << 24);
  const double span = std::log(static_cast<double>(high) / static_cast<double>(low));
  return low + static_cast<int64_t>(static_cast<double>(low) * (std::exp(share * span) - 1));
}

}  // namespace gpumem_test
