// Parameters of sums of scaled operands and of products, over views of up to three axes.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

constexpr int32_t kMaxTerms = 8;
constexpr int32_t kMaxViewRank = 3;

enum class Arithmetic : int32_t { lincomb, multiply };

// Strides are in elements. A plan fuses axes, puts the shortest stride in z last, and drops sources with factor 0.
struct ArithmeticParams {
  Arithmetic op = Arithmetic::lincomb;
  gpumem_dtype dtype = GPUMEM_F32;  // or f64
  int32_t rank = 0;
  int32_t terms = 0;
  int64_t extents[kMaxViewRank] = {};
  uint64_t factors[kMaxTerms] = {};  // bits, as in AxpbyParams; 1 in a product
  const void* x[kMaxTerms] = {};
  int64_t x_strides[kMaxTerms][kMaxViewRank] = {};
  void* z = nullptr;
  int64_t z_strides[kMaxViewRank] = {};

  constexpr int64_t elements() const noexcept {
    int64_t n = 1;
    for (int32_t d = 0; d < rank; ++d) n *= extents[d];
    return n;
  }
};

// The arguments of a call, with the caller's arrays.
struct ArithmeticCall {
  Arithmetic op = Arithmetic::lincomb;
  gpumem_dtype dtype = GPUMEM_F32;
  int32_t rank = 0;
  const int64_t* extents = nullptr;
  int32_t terms = 0;
  const void* factors = nullptr;  // of dtype; nullptr in a product
  const void* const* x = nullptr;
  const int64_t* x_strides[kMaxTerms] = {};  // nullptr: the strides of z
  void* z = nullptr;
  const int64_t* z_strides = nullptr;  // nullptr: row-major without padding
};

}  // namespace gpumem
