// Sizes that the permute table and the kernels share. box.hpp, packed.hpp and contiguous_boxes.hpp have the sizes of
// their plans. Plain C++, no CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gpumem {

constexpr int kPermuteThreads = 256;

// Side of the square tile over the two fastest axes, one element per lane: 4 to 17 KiB of shared memory. Small elements
// have a larger tile, so that its rows are at least a sector of 32 bytes.
constexpr int64_t permute_tile(int64_t element_bytes) noexcept { return element_bytes <= 2 ? 64 : 32; }

// Shorter axes leave more than three quarters of each tile's lanes idle.
constexpr int64_t kPermuteLeastTiled = 8;

// Percentage of the lanes of these tiles that have elements, along one side and for a plane.
constexpr int64_t permute_tiles_filled(int64_t element_bytes, int64_t extent) noexcept {
  const int64_t tile = permute_tile(element_bytes);
  const int64_t counted = std::min(extent, 100 * tile);  // above this, less than a percent is empty
  return 100 * counted / ((counted + tile - 1) / tile * tile);
}
constexpr int64_t permute_tiles_filled(int64_t element_bytes, int64_t down, int64_t across) noexcept {
  return permute_tiles_filled(element_bytes, down) * permute_tiles_filled(element_bytes, across) / 100;
}

}  // namespace gpumem
