// Parameters of z = alpha x + beta y.
#pragma once

#include <cstdint>

#include "kernels/elements.hpp"

namespace gpumem {

// Factors are bits of the arrays' type. Converting or comparing them would depend on the program's floating-point
// environment.
struct AxpbyParams {
  gpumem_dtype dtype = GPUMEM_F32;  // or f64
  uint64_t alpha = 0;
  const void* x = nullptr;  // nullptr in a plan: the factor is 0, and x is not read
  uint64_t beta = 0;
  const void* y = nullptr;  // as x
  void* z = nullptr;
  int64_t n = 0;

  constexpr int64_t elements() const noexcept { return n; }
};

constexpr int kAxpbyThreads = 256;
// 16-byte words of each operand that a thread keeps in flight.
constexpr int kAxpbyWords = 2;
constexpr int64_t axpby_vec16_tile(gpumem_dtype dtype) noexcept {
  return int64_t{kAxpbyThreads} * kAxpbyWords * (16 / element_bytes(dtype));
}
// Consecutive elements per thread of the strided variant, which shows their cost: each load of a warp touches 32 lines.
constexpr int kAxpbyRun = 32;

}  // namespace gpumem
