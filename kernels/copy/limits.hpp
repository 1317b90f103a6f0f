// Sizes that the copy table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

namespace gpumem {

// 64 to 512 threads are as fast as each other (H200, below 1 MiB).
constexpr int kCopyThreads = 256;

}  // namespace gpumem
