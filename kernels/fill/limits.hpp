// What the fill table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

namespace gpumem {

// A store a thread: eight such blocks fill a multiprocessor of 2048 threads.
constexpr int kFillThreads = 256;

}  // namespace gpumem
