// Sizes that the tables of gather and scatter and the kernels must agree on. Plain C++, no CUDA.
#pragma once

namespace gpumem {

// Gathers and scatters: threads of a block, and words that a thread has under way.
constexpr int kGatherScatterThreads = 256;
constexpr int kGatherScatterWords = 4;

}  // namespace gpumem
