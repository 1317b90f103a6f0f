// Checks of sizes and addresses: bounds, and products that overflow. All throw INVALID_ARGUMENT.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "kernels/limits.hpp"

namespace gpumem {

inline int64_t checked_mul(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: %lld x %lld leaves 64 bits; expected a product below 2^63", what, ll(a), ll(b));
  }
  return product;
}

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s: %lld + %lld leaves 64 bits; expected a sum below 2^63", what, ll(a), ll(b));
  }
  return sum;
}

// From the start of the first of count >= 1 runs to the end of the last, with starts `step` apart.
inline int64_t checked_extent(int64_t count, int64_t step, int64_t run, const char* what) {
  return checked_add(checked_mul(count - 1, step, what), run, what);
}

inline void require_at_least(const char* argument, int64_t value, int64_t least) {
  if (value < least) fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected %lld or more", argument, ll(value), ll(least));
}
// what: names the least value.
inline void require_at_least(const char* argument, int64_t value, const char* what, int64_t least) {
  if (value >= least) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least %s = %lld", argument, ll(value), what, ll(least));
}

inline void require_aligned(const char* argument, const void* p, int64_t alignment) {
  const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % static_cast<uint64_t>(alignment));
  if (past == 0) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s is misaligned: %lld bytes past a multiple of %lld; expected a multiple", argument,
       ll(past), ll(alignment));
}

inline void require_element_size(const char* argument, int64_t bytes) {
  if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) return;
  fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected 1, 2, 4, 8 or 16", argument, ll(bytes));
}

}  // namespace gpumem
