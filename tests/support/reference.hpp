// The reductions of gpumem.h written out once more, one element after the other, with nothing in common with the library:
// what its results must be, bit by bit.
#pragma once

#include <cstdint>
#include <vector>

#include "gpumem.h"

namespace gpumem_test {

// x[0], x[stride], ..., x[(n-1)*stride] in ordinary memory, at any alignment.
struct Sequence {
  gpumem_dtype dtype = GPUMEM_I32;
  const void* first = nullptr;
  int64_t n = 0;
  int64_t stride = 1;
};

// What a call must give: the bits of its results, or a status and no result.
struct Outcome {
  gpumem_status status = GPUMEM_OK;
  uint64_t words[2] = {0, 0};  // words_of(op) of them
  bool operator==(const Outcome&) const = default;
};

// Any operation of gpumem_reduce_op; y is for GPUMEM_DOT alone.
Outcome reference(gpumem_reduce_op op, const Sequence& x, const Sequence& y = {});

// Element i as a double, exactly. For floating-point types.
double element(const Sequence& x, int64_t i);

// The terms of a floating-point sum: x, |x|, x*x, (x*x)*x or x*y, each operation rounded once.
std::vector<double> terms(gpumem_reduce_op op, const Sequence& x, const Sequence& y = {});

// The sum of doubles, all of them finite, without any rounding but one at the end: to nearest, ties to even.
double exact_sum(const std::vector<double>& terms);

}  // namespace gpumem_test
