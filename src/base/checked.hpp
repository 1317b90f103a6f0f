// Arithmetic on sizes that refuses to wrap.
#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace gpumem {

inline int64_t checked_mul(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: %lld x %lld leaves 64 bits; expected a product below 2^63", what,
         static_cast<long long>(a), static_cast<long long>(b));
  }
  return product;
}

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: %lld + %lld leaves 64 bits; expected a sum below 2^63", what,
         static_cast<long long>(a), static_cast<long long>(b));
  }
  return sum;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace gpumem
