// Sizes that the permute table and the kernels must agree on; the plans of boxes and lines have theirs in box.hpp, packed.hpp and
// contiguous_boxes.hpp. Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr int kPermuteThreads = 256;

// Side of the square tile over the two fastest axes, one element a lane: 4 to 17 KiB of shared memory. Smaller elements take a
// larger one, so that a row of it is at least a sector of 32 bytes.
constexpr int64_t permute_tile(int64_t element_bytes) noexcept { return element_bytes <= 2 ? 64 : 32; }

// Shorter axes than this leave more than three quarters of every tile's lanes idle.
constexpr int64_t kPermuteLeastTiled = 8;

}  // namespace gpumem
