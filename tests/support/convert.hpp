// gpumem_convert() as tests call it, numbers to convert, and the reference: exact values, rounded once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "support/dtypes.hpp"
#include "support/explain.hpp"
#include "support/random.hpp"

namespace gpumem_test {

struct Convert {
  gpumem_dtype from;
  const void* src;
  gpumem_dtype to;
  void* dst;
  int64_t n;
};

inline gpumem_status run(gpumem_ctx* ctx, const Convert& c) {
  return gpumem_convert(ctx, c.from, c.src, c.to, c.dst, c.n);
}
inline gpumem_status run_async(gpumem_ctx* ctx, const Convert& c, gpumem_stream* stream) {
  return gpumem_convert_async(ctx, c.from, c.src, c.to, c.dst, c.n, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Convert& c) {
  Line line(ctx, "convert");
  line.with("from", info_of(c.from).name).with("to", info_of(c.to).name).with("n", c.n);
  return line.at("src", c.src).at("dst", c.dst);
}

inline std::string describe(const Convert& c) {
  const auto offset = [](const void* p) { return std::to_string(reinterpret_cast<uintptr_t>(p) % 16); };
  return std::to_string(c.n) + ' ' + info_of(c.from).name + " to " + info_of(c.to).name + ", offsets " + offset(c.src) +
         ", " + offset(c.dst) + (c.src == c.dst ? ", in place" : "");
}

namespace convert {

// Holds every element of every type.
using Exact = long double;
static_assert(std::numeric_limits<Exact>::digits >= 64);

inline int bias_of(const TypeInfo& type) { return (1 << (type.exponent_bits - 1)) - 1; }
inline uint64_t infinity_of(const TypeInfo& type) {
  return ((uint64_t{1} << type.exponent_bits) - 1) << type.fraction_bits;
}
inline uint64_t sign_of(const TypeInfo& type) { return uint64_t{1} << (8 * type.bytes - 1); }

// May be a NaN.
inline Exact decoded(const TypeInfo& type, uint64_t bits) {
  if (type.what == Class::unsigned_integer) return static_cast<Exact>(bits);
  const bool negative = (bits & sign_of(type)) != 0;
  if (type.what == Class::signed_integer)
    return static_cast<Exact>(static_cast<int64_t>(negative ? bits | ~(sign_of(type) - 1) : bits));
  const uint64_t size = bits & (sign_of(type) - 1);
  if (size > infinity_of(type)) return std::numeric_limits<Exact>::quiet_NaN();
  const auto exponent = static_cast<int>(size >> type.fraction_bits);
  const uint64_t one = uint64_t{1} << type.fraction_bits;
  const uint64_t fraction = (size & (one - 1)) | (exponent != 0 ? one : 0);
  const Exact value =
      size == infinity_of(type)
          ? std::numeric_limits<Exact>::infinity()
          : std::ldexp(static_cast<Exact>(fraction), std::max(exponent, 1) - bias_of(type) - type.fraction_bits);
  return negative ? -value : value;
}

inline uint64_t encoded_integer(const TypeInfo& type, Exact value) {
  if (std::isnan(value)) return 0;
  const bool has_sign = type.what == Class::signed_integer;
  const uint64_t largest = has_sign ? sign_of(type) - 1 : sign_of(type) | (sign_of(type) - 1);
  const Exact least = has_sign ? -static_cast<Exact>(sign_of(type)) : 0;
  const Exact whole = std::rint(value);
  if (whole >= static_cast<Exact>(largest)) return largest;
  if (whole <= least) return has_sign ? sign_of(type) : 0;
  const auto magnitude = static_cast<uint64_t>(std::fabs(whole));
  return (whole < 0 ? 0 - magnitude : magnitude) & (sign_of(type) | (sign_of(type) - 1));
}

// In units of the last place that the value has in the type.
inline uint64_t encoded(const TypeInfo& type, Exact value) {
  if (type.what != Class::floating) return encoded_integer(type, value);
  if (std::isnan(value)) return infinity_of(type) | uint64_t{1} << (type.fraction_bits - 1);
  const uint64_t sign = std::signbit(value) ? sign_of(type) : 0;
  const Exact size = std::fabs(value);
  if (std::isinf(size)) return sign | infinity_of(type);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), 1 - bias_of(type));
  if (exponent > bias_of(type)) return sign | infinity_of(type);
  const auto units = static_cast<uint64_t>(std::rint(std::ldexp(size, type.fraction_bits - exponent)));
  const auto bits = (static_cast<uint64_t>(exponent + bias_of(type) - 1) << type.fraction_bits) + units;
  return sign | std::min(bits, infinity_of(type));
}

}  // namespace convert

inline uint64_t converted(gpumem_dtype from, gpumem_dtype to, uint64_t bits) {
  return from == to ? bits : convert::encoded(info_of(to), convert::decoded(info_of(from), bits));
}

// In host memory; dst may be src where elements have one size.
inline void convert_reference(const Convert& c) {
  for (int64_t i = 0; i < c.n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(c.src) + i * static_cast<int64_t>(info_of(c.from).bytes),
                info_of(c.from).bytes);
    bits = converted(c.from, c.to, bits);
    std::memcpy(static_cast<char*>(c.dst) + i * static_cast<int64_t>(info_of(c.to).bytes), &bits, info_of(c.to).bytes);
  }
}

// Bits of every sort: any; next to a number half way between two of the other type, or on it; the ends of either type; of
// floating-point types zeros, infinities, NaNs, subnormals, and numbers near 1.
inline uint64_t random_element(gpumem_dtype from, gpumem_dtype to, Random& random) {
  const TypeInfo& type = info_of(from);
  const TypeInfo& other = info_of(to);
  const uint64_t all = convert::sign_of(type) | (convert::sign_of(type) - 1);
  const uint64_t any = random.bits() & all;
  const auto nearby = [&](uint64_t bits) { return (bits + static_cast<uint64_t>(random.between(-1, 1))) & all; };
  switch (random.below(8)) {
    case 0:
    case 1:
      return any;
    case 2: {
      const uint64_t ends[] = {0, convert::sign_of(type), convert::sign_of(type) - 1, all};
      return nearby(ends[random.below(4)]);
    }
    case 3: {
      const uint64_t ends[] = {convert::sign_of(other), convert::sign_of(other) - 1,
                               convert::sign_of(other) | (convert::sign_of(other) - 1)};
      const uint64_t end = is_floating(to)
                               ? (random.below(2) * convert::sign_of(other)) | (convert::infinity_of(other) - 1)
                               : ends[random.below(3)];
      return nearby(converted(to, from, end));
    }
    case 4:
      if (!is_floating(from)) return any >> random.below(8 * type.bytes);
      return (any & convert::sign_of(type)) |
             nearby(random.below(2) == 0 ? convert::infinity_of(type) : uint64_t{1} << type.fraction_bits);
    default: {
      uint64_t low = random.bits() & (convert::sign_of(other) - 1);
      if (random.below(2) == 0) low >>= random.below(8 * other.bytes);  // small integers, subnormals
      const convert::Exact a = convert::decoded(other, low);
      const convert::Exact b = convert::decoded(other, low + 1);
      if (!std::isfinite(a) || !std::isfinite(b)) return any;
      return nearby(convert::encoded(type, (random.below(2) == 0 ? 1 : -1) * (a + (b - a) / 2)));
    }
  }
}

template <class Bytes>
void fill_with_elements(gpumem_dtype from, gpumem_dtype to, Bytes& bytes, size_t first, size_t count, Random& random) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random_element(from, to, random);
    std::memcpy(&bytes[first + i * info_of(from).bytes], &bits, info_of(from).bytes);
  }
}

}  // namespace gpumem_test
