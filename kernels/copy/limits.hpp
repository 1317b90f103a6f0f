// Sizes that the copy table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/limits.hpp"

namespace gpumem {

// 64 to 512 threads are as fast as each other (H200, below 1 MiB).
constexpr int kCopyThreads = 256;

// Rows that the driver's copies are slower at even where ours go by single bytes (H200: 0.16 of our speed at 63 bytes).
constexpr int64_t kShortCopyRow = 64;

// Accesses of a lane that are under way at once: more where they are narrow.
constexpr int copy_row_depth(int64_t access) noexcept { return access == 1 ? 4 : access == 2 ? 2 : 1; }

// Lanes that share a row of a copy: a power of two, up to a warp.
constexpr int copy_row_lanes(int64_t row_bytes, int64_t access) noexcept {
  int lanes = 1;
  while (lanes < 32 && lanes * copy_row_depth(access) < row_accesses(row_bytes, access)) lanes *= 2;
  return lanes;
}

// Pieces of such a row: what its lanes move at once.
constexpr int64_t copy_row_pieces(int64_t row_bytes, int64_t access) noexcept {
  const int64_t accesses = row_accesses(row_bytes, access);
  const int64_t at_once = int64_t{copy_row_lanes(row_bytes, access)} * copy_row_depth(access);
  return accesses / at_once + (accesses % at_once != 0 ? 1 : 0);
}

}  // namespace gpumem
