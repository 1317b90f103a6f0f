// Random views of arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "support/random.hpp"

namespace gpumem_test {

// Strides such that distinct elements have distinct places: axes in any order, with gaps or without.
inline std::vector<int64_t> distinct_strides(const std::vector<int64_t>& extents, Random& random) {
  std::vector<size_t> order(extents.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  if (random.below(5) == 0) std::shuffle(order.begin(), order.end(), std::mt19937_64(random.bits()));
  std::vector<int64_t> strides(extents.size(), 1);
  int64_t stride = random.below(6) == 0 ? random.between(2, 3) : 1;
  for (const size_t d : order) {
    strides[d] = stride;
    stride *= std::max<int64_t>(extents[d], 1);
    if (random.below(3) == 0) stride += random.between(0, 16);
  }
  return strides;
}

// Elements from the first to the end of the last.
inline int64_t reach(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < extents.size(); ++d) last += (std::max<int64_t>(extents[d], 1) - 1) * strides[d];
  return last + 1;
}

}  // namespace gpumem_test
