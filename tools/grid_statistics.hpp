// Statistics of a grid of int32: by the library, and by a simple loop that shares nothing with it.
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
  std::optional<double> roughness;  // sum of squares about the mean; none if the sum of squares leaves 64 bits
};

// From the library's exact sums: roughness = (n * sum of squares - sum^2) / n, in 128 bits. x: memory of any kind.
Statistics library_statistics(gpumem_ctx* ctx, const int32_t* x, int64_t n);

// Two passes over host memory in long double: the mean, then the squares of the differences from it.
Statistics plain_statistics(std::span<const int32_t> x);

// Minimum, maximum and sum exactly; mean and roughness to 1e-9 of their size, which is beyond the rounding of the plain
// loop for any grid that fits in memory. A roughness that the library could not give agrees if its sum of squares, sum^2/n
// + roughness, does leave 64 bits.
bool agree(const Statistics& library, const Statistics& plain, int64_t n);

}  // namespace tool
