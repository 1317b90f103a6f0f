// A generated terrain, the same on every machine: integers only.
#pragma once

#include <cstdint>
#include <span>

namespace tool {

// Heights are 0 .. about 4000: value noise of smoothly interpolated octaves of random lattice heights. Each octave has
// half the width and half the height of the previous one.
void generate_terrain(int64_t rows, int64_t cols, uint64_t seed, std::span<int32_t> heights);

}  // namespace tool
