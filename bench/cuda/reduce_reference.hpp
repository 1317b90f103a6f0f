// What reductions should give, by plain kernels that share nothing with the library's: each thread loops over its elements,
// a block folds its threads, the host folds the blocks. For int8_t, uint8_t, int32_t, int64_t, float and double.
#pragma once

#include <cstdint>
#include <type_traits>

namespace bench {

// x[i] = random_value<T>(first + i, limit).
template <class T>
void generate_values(T* x, int64_t n, uint64_t first, uint32_t limit);

// Sums of integers wrap: what does not fit 64 bits is for nobody to ask. products is the sum of x[i] * y[i].
template <class T>
struct Reference {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  Sum sum, products, cubes;
  T min, max;
  int64_t argmin, argmax;  // the first of equals
};

template <class T>
Reference<T> reference_reduce(const T* x, const T* y, int64_t n);  // n >= 1; blocks

// out[k] = the sum of line k of a dense row-major matrix: of row k, or of column k.
void reference_line_sums(const float* x, int64_t rows, int64_t cols, bool of_columns, double* out);

// How many of n values differ by more than `tolerance` from what was expected. Blocks.
int64_t count_different(const double* got, const double* expected, int64_t n, double tolerance);

}  // namespace bench
