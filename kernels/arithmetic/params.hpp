// Parameters of sums of scaled operands and of products, over views of up to eight axes.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

constexpr int32_t kMaxTerms = 16;
constexpr int32_t kMaxDots = 3;
constexpr int32_t kMaxViewRank = 8;

enum class Arithmetic : int32_t { lincomb, multiply };

// Strides are in elements. A plan fuses axes, puts the shortest stride in z last, and drops sources with factor 0 unless
// the factor is in memory. With dot products, the axes keep their order.
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
  uint32_t in_memory = 0;  // bit k: factor k is multiplied by *numerators[k] and divided by *denominators[k]
  const double* numerators[kMaxTerms] = {};  // nullptr: 1
  const double* denominators[kMaxTerms] = {};
  int32_t dots = 0;              // dot products of z and w, of a linear combination
  const void* w[kMaxDots] = {};  // z: z itself
  int64_t w_strides[kMaxDots][kMaxViewRank] = {};
  double* results = nullptr;

  constexpr bool has_factor_in_memory(int32_t k) const noexcept { return (in_memory >> k & 1) != 0; }
  constexpr int64_t elements() const noexcept {
    int64_t n = 1;
    for (int32_t d = 0; d < rank; ++d) n *= extents[d];
    return n;
  }
};

// `given` and the result have the type of the arrays.
template <class T>
constexpr T factor_of(T given, double numerator, double denominator) noexcept {
  return static_cast<T>(static_cast<double>(given) * numerator / denominator);
}
// nullptr: 1.
constexpr double number_in_memory(const double* p) noexcept { return p != nullptr ? *p : 1; }
template <class T>
constexpr T factor_in_memory(T given, const double* numerator, const double* denominator) noexcept {
  return factor_of(given, number_in_memory(numerator), number_in_memory(denominator));
}

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
  const int64_t* z_strides = nullptr;         // nullptr: row-major without padding
  const double* const* numerators = nullptr;  // nullptr: 1
  const double* const* denominators = nullptr;
  uint32_t in_memory = 0;  // as in the parameters, also for terms without numerator and denominator
  bool has_dots = false;
  int32_t dots = 0;
  const void* const* w = nullptr;           // nullptr, also as an entry: z
  const int64_t* w_strides[kMaxDots] = {};  // nullptr: the strides of z
  double* results = nullptr;
};

}  // namespace gpumem
