// Parameters of a reduction by index, and the encoding of values that are combined by atomics.
#pragma once

#include <cstdint>

#include "kernels/elements.hpp"
#include "kernels/gather_scatter/params.hpp"

namespace gpumem {

// The outcome of a blocking call. No bad index: its bits are the status.
using ByIndexReport = BadIndex;

// n rows of `cols` elements, with a number in the index each. Each bin has `cols` values. Without padding, a single
// column is a vector.
struct ReduceByIndexParams {
  gpumem_dtype dtype = GPUMEM_I64;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;  // nullptr: each element is 1
  gpumem_dtype index_type = GPUMEM_I64;
  const void* index = nullptr;
  int64_t n = 0;
  void* result = nullptr;
  int64_t bins = 0;
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr
  ByIndexReport* report = nullptr;  // of a blocking call
  int64_t cols = 1;
  int64_t ld = 1;

  constexpr int64_t elements() const noexcept { return n * cols; }
  constexpr int64_t values() const noexcept { return bins * cols; }
  constexpr bool of_vector() const noexcept { return ld == 1; }
  constexpr uint64_t limit() const noexcept { return index_limit(index_type, bins); }
  constexpr bool extremes() const noexcept { return op == GPUMEM_MIN || op == GPUMEM_MAX; }
  // Whether words of 64 bits, combined in any order, are exact: counts, and sums and extremes of short integers.
  constexpr bool any_order() const noexcept {
    if (x == nullptr) return true;
    if (is_floating(dtype) || element_bytes(dtype) > 4) return false;
    return extremes() || (op == GPUMEM_SUM && n <= int64_t{1} << 32);
  }
};

// Extremes in any order: the largest code wins. Memory of zeros has no value, because no code is 0.
constexpr int64_t kExtremeOrigin = int64_t{1} << 40;
constexpr uint64_t extreme_code(gpumem_reduce_op op, int64_t value) noexcept {
  return static_cast<uint64_t>(kExtremeOrigin + (op == GPUMEM_MAX ? value : -value));
}
constexpr uint64_t value_of_code(gpumem_reduce_op op, uint64_t code) noexcept {
  const int64_t distance = static_cast<int64_t>(code) - kExtremeOrigin;
  return static_cast<uint64_t>(op == GPUMEM_MAX ? distance : -distance);
}

}  // namespace gpumem
