// Sizes that the table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr int kArithmeticThreads = 256;
// Elements that a thread has on their way at once: neighbouring threads have neighbouring ones.
constexpr int kArithmeticEach = 4;
constexpr int64_t kArithmeticTile = int64_t{kArithmeticThreads} * kArithmeticEach;

}  // namespace gpumem
