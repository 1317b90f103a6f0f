// Sizes that the copy table and the kernels share. Plain C++, no CUDA.
#pragma once

namespace gpumem {

// 64 to 512 threads are equally fast (H200, below 1 MiB).
constexpr int kCopyThreads = 256;

}  // namespace gpumem
