// gpumem_axpby_* as tests call it, numbers to call it with, and the reference. Numbers are bits: what a test does with them must not
// depend on the floating-point environment that it runs in.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "gpumem.h"
#include "support/explain.hpp"
#include "support/random.hpp"

namespace gpumem_test {

struct Axpby {
  gpumem_dtype dtype;  // GPUMEM_F32 or GPUMEM_F64
  uint64_t alpha;      // bits of the type
  const void* x;
  uint64_t beta;
  const void* y;
  void* z;
  int64_t n;

  bool reads_x() const { return (alpha << (dtype == GPUMEM_F32 ? 33 : 1)) != 0; }
  bool reads_y() const { return (beta << (dtype == GPUMEM_F32 ? 33 : 1)) != 0; }
};

inline size_t size_of(gpumem_dtype dtype) { return dtype == GPUMEM_F32 ? 4 : 8; }

inline float f32_of(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double f64_of(uint64_t bits) { return std::bit_cast<double>(bits); }
// Of a number that both types have.
inline uint64_t bits_of(gpumem_dtype dtype, double value) {
  return dtype == GPUMEM_F32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

inline gpumem_status run(gpumem_ctx* ctx, const Axpby& c) {
  if (c.dtype == GPUMEM_F64) {
    return gpumem_axpby_f64(ctx, f64_of(c.alpha), static_cast<const double*>(c.x), f64_of(c.beta),
                            static_cast<const double*>(c.y), static_cast<double*>(c.z), c.n);
  }
  return gpumem_axpby_f32(ctx, f32_of(c.alpha), static_cast<const float*>(c.x), f32_of(c.beta),
                          static_cast<const float*>(c.y), static_cast<float*>(c.z), c.n);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const Axpby& c, gpumem_stream* stream) {
  if (c.dtype == GPUMEM_F64) {
    return gpumem_axpby_f64_async(ctx, f64_of(c.alpha), static_cast<const double*>(c.x), f64_of(c.beta),
                                  static_cast<const double*>(c.y), static_cast<double*>(c.z), c.n, stream);
  }
  return gpumem_axpby_f32_async(ctx, f32_of(c.alpha), static_cast<const float*>(c.x), f32_of(c.beta),
                                static_cast<const float*>(c.y), static_cast<float*>(c.z), c.n, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Axpby& c) {
  Line line(ctx, "axpby");
  line.with("dtype", c.dtype).with("n", c.n);
  c.reads_x() ? line.at("x", c.x) : line.with("x", "none");
  c.reads_y() ? line.at("y", c.y) : line.with("y", "none");
  return line.at("z", c.z);
}

namespace axpby {

// The formula. Each result goes through memory, so that it is rounded there and then.
template <class T, class Bits>
void reference(const Axpby& c, Bits nan) {
  const volatile T alpha = std::bit_cast<T>(static_cast<Bits>(c.alpha));
  const volatile T beta = std::bit_cast<T>(static_cast<Bits>(c.beta));
  for (int64_t i = 0; i < c.n; ++i) {
    const auto at = static_cast<size_t>(i) * sizeof(T);
    T x = 0;
    T y = 0;
    if (c.reads_x()) std::memcpy(&x, static_cast<const char*>(c.x) + at, sizeof x);
    if (c.reads_y()) std::memcpy(&y, static_cast<const char*>(c.y) + at, sizeof y);
    const volatile T of_x = alpha * x;
    const volatile T of_y = beta * y;
    const volatile T of_both = of_x + of_y;
    const T z = c.reads_x() && c.reads_y() ? of_both : c.reads_x() ? of_x : c.reads_y() ? of_y : T{0};
    Bits bits = std::bit_cast<Bits>(z);
    if (std::isnan(z)) bits = nan;
    std::memcpy(static_cast<char*>(c.z) + at, &bits, sizeof bits);
  }
}

}  // namespace axpby

// In host memory; z may be x or y.
inline void axpby_reference(const Axpby& c) {
  if (c.dtype == GPUMEM_F32) return axpby::reference<float, uint32_t>(c, 0x7fc00000);
  axpby::reference<double, uint64_t>(c, 0x7ff8000000000000);
}

// Bits of every sort: any; those next to 1, whose sums cancel and round; subnormals; zeros, infinities and NaNs with payloads, quiet
// and signalling, of both signs.
inline uint64_t random_number(gpumem_dtype dtype, Random& random) {
  const bool f32 = dtype == GPUMEM_F32;
  const int fraction_bits = f32 ? 23 : 52;
  const uint64_t bias = f32 ? 127 : 1023;
  const uint64_t all_ones = 2 * bias + 1;
  const uint64_t any = random.bits();
  const uint64_t fraction = any & ((uint64_t{1} << fraction_bits) - 1);
  const auto number = [&](uint64_t exponent, uint64_t low) {
    return random.below(2) << (f32 ? 31 : 63) | exponent << fraction_bits | low;
  };
  switch (random.below(16)) {
    case 0:
      return number(random.below(2) * all_ones, 0);  // zero, infinity
    case 1:
      return number(all_ones, fraction | 1);  // NaN
    case 2:
    case 3:
      return number(0, fraction >> random.below(static_cast<uint64_t>(fraction_bits)));
    case 4:
      return number(1 + random.below(2) * (all_ones - 2), fraction);  // the smallest and the largest exponent
    case 5:
    case 6:
    case 7:
      return f32 ? any >> 32 : any;
    default:
      return number(bias - 3 + random.below(6), fraction);
  }
}

// As often as not one for which there is a path of its own.
inline uint64_t random_factor(gpumem_dtype dtype, Random& random) {
  static constexpr double kFactors[] = {0, 0, -0.0, 1, 1, -1, 2, 0.75};
  if (random.below(2) == 0) return bits_of(dtype, kFactors[random.below(8)]);
  return random_number(dtype, random);
}

template <class Bytes>
void fill_with_numbers(gpumem_dtype dtype, Bytes& bytes, size_t first, size_t count, Random& random) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random_number(dtype, random);
    std::memcpy(&bytes[first + i * size_of(dtype)], &bits, size_of(dtype));
  }
}

inline std::string describe(const Axpby& c) {
  char factors[80];
  std::snprintf(factors, sizeof factors, "%s, alpha %#llx, beta %#llx, ", c.dtype == GPUMEM_F32 ? "f32" : "f64",
                static_cast<unsigned long long>(c.alpha), static_cast<unsigned long long>(c.beta));
  const auto offset = [](const void* p) { return std::to_string(reinterpret_cast<uintptr_t>(p) % 16); };
  return std::to_string(c.n) + ' ' + factors + "offsets " + offset(c.x) + ", " + offset(c.y) + ", " + offset(c.z) +
         (c.x == c.z ? ", z is x" : "") + (c.y == c.z ? ", z is y" : "") + (c.x == c.y ? ", x is y" : "");
}

}  // namespace gpumem_test
