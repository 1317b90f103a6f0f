// Sizes that the variant tables and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

// Partial values that the last step of a reduction folds.
constexpr int64_t kMaxReduceBlocks = 16384;

// Threads of a block, and independent loads a thread keeps in flight.
constexpr int kOneBlockThreads = 1024;
constexpr int kOneBlockLoads = 4;
constexpr int kLastBlockThreads = 512;
constexpr int kLastBlockShortLoads = 2;
constexpr int kLastBlockLongLoads = 8;
constexpr int kTwoPassThreads = 256;
constexpr int kTransposeThreads = 256;
constexpr int kFillThreads = 256;

// Side of the square tile of the transpose by 16-byte words: 8 to 16 KiB of shared memory.
constexpr int64_t transpose_vec16_tile(int64_t element_bytes) noexcept {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Side of the tile of the transpose by single elements: one element a lane.
constexpr int64_t kTransposePaddedTile = 32;

// Side of the tile of the host's transpose: rows of 256 bytes, four cache lines.
constexpr int64_t host_transpose_tile(int64_t element_bytes) noexcept { return 256 / element_bytes; }

}  // namespace gpumem
