// Statistics of a grid of int32, by the library and by a simple loop that shares no code with it.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <optional>
#include <span>

namespace tool {

struct Statistics {
  int64_t min = 0;
  int64_t max = 0;
  int64_t sum = 0;
  double mean = 0;
  std::optional<double> roughness;  // sum of squares about the mean; empty if the sum of squares exceeds 64 bits
};

// From the library's exact sums: roughness = (n * sum of squares - sum^2) / n, in 128 bits. x: memory of any kind.
Statistics library_statistics(gpumem_ctx* ctx, const int32_t* x, int64_t n);

// Two passes over host memory in long double: the mean, then the squared differences from it.
Statistics plain_statistics(std::span<const int32_t> x);

// Minimum, maximum and sum must be equal. Mean and roughness may differ by 1e-9 relative, which exceeds the rounding of
// the plain loop for any grid in memory. A missing roughness agrees if its sum of squares, sum^2/n + roughness, exceeds
// 64 bits.
bool agree(const Statistics& library, const Statistics& plain, int64_t n);

}  // namespace tool
