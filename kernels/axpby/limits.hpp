// Sizes that the axpby table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/elements.hpp"

namespace gpumem {

constexpr int kAxpbyThreads = 256;
// 16-byte words of each operand that a thread has on their way at once.
constexpr int kAxpbyWords = 2;
constexpr int64_t axpby_vec16_tile(gpumem_dtype dtype) noexcept {
  return int64_t{kAxpbyThreads} * kAxpbyWords * (16 / element_bytes(dtype));
}
// Consecutive elements of a thread of the strided variant, which shows what they cost: each load of a warp touches 32 lines.
constexpr int kAxpbyRun = 32;

}  // namespace gpumem
