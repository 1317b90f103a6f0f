// A generated terrain, the same on every machine: integers only.
#pragma once

#include <cstdint>
#include <span>

namespace tool {

// Fills rows x cols heights of 0 .. about 4000 with value noise: octaves of random lattice heights, each half as wide
// and half as high as the one before, smoothly interpolated.
void generate_terrain(int64_t rows, int64_t cols, uint64_t seed, std::span<int32_t> heights);

}  // namespace tool
