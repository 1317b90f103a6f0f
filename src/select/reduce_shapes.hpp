// What the tables of the reductions share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "gpumem.h"
#include "kernels/alignment.hpp"
#include "kernels/elements.hpp"
#include "kernels/reduce/limits.hpp"

namespace gpumem {

inline bool aligned(const void* p, gpumem_dtype dtype) noexcept { return misalignment(p) % element_bytes(dtype) == 0; }

// Of a block of a tile kernel: a warp a chunk, in powers of two.
inline int32_t tile_threads(int64_t chunks) noexcept {
  const auto warps = std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(chunks, 1, kTileThreads / 32)));
  return static_cast<int32_t>(32 * warps);
}

}  // namespace gpumem
