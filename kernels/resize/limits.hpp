// Sizes that the resize table and the kernels must agree on. Plain C++, no CUDA.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"

namespace gpumem {

// A block of a resize is resize_lanes() threads along a row of dst times the rows that its other threads make.
constexpr int kResizeThreads = 256;

// Neighbouring pixels of a row that a thread of the resize makes: 16 bytes and 12 elements at most, which its registers hold.
constexpr int resize_pixels(int64_t channels, int64_t element_bytes) noexcept {
  int pixels = 4;
  while (pixels > 1 && (pixels * channels * element_bytes > 16 || pixels * channels > 12)) pixels /= 2;
  return pixels;
}

// The resize of bytes by words: warps of a block, one below the other, rows of each at most, and pixels of a row that a lane makes.
constexpr int kResizeWarps = kResizeThreads / 32;
constexpr int kMaxResizeRows = 16;
constexpr int resize_words_pixels(int64_t channels) noexcept { return channels == 1 ? 8 : 4; }

// Bits of a coordinate's fraction that one step of its division gives.
constexpr int kResizeFractionStep = 12;

// Bits of the words in which the coordinates of an axis are exact, 32, 64 or 128: (2 dst - 1) src, and 2 dst with a step of
// fraction behind it.
constexpr int resize_bits(int64_t src, int64_t dst) noexcept {
  const Uint128 twice = Uint128{static_cast<uint64_t>(dst)} * 2;
  for (const int bits : {32, 64}) {
    const bool products = twice * static_cast<uint64_t>(src) < Uint128{1} << bits;
    if (products && twice < Uint128{1} << (bits - kResizeFractionStep)) return bits;
  }
  return 128;
}

// Lanes along a row, a power of two: a warp, less for an image that is narrower, more for one of few rows. `groups` is what a row
// holds of the pixels of one thread, `steps` what the image holds of the rows of one thread.
constexpr int resize_lanes(int64_t groups, int64_t steps) noexcept {
  int lanes = 1;
  while (lanes < kResizeThreads && lanes < groups && (lanes < 32 || kResizeThreads / lanes > steps)) lanes *= 2;
  return lanes;
}

// A block of dst's pixels a tile: 2^log2_lanes threads along a row.
struct ResizeTiles {
  int64_t across;  // tiles along a row
  int64_t count;
  int32_t log2_lanes;
};
// Where a thread makes so many pixels of each of so many rows.
constexpr ResizeTiles resize_tiles(int64_t dst_rows, int64_t dst_cols, int pixels, int64_t rows) noexcept {
  const int64_t groups = ceil_div(dst_cols, pixels);
  const int64_t steps = ceil_div(dst_rows, rows);
  const int lanes = resize_lanes(groups, steps);
  int32_t log2_lanes = 0;
  while (1 << log2_lanes < lanes) ++log2_lanes;
  const int64_t across = ceil_div(groups, lanes);
  return {across, across * ceil_div(steps, kResizeThreads / lanes), log2_lanes};
}

// Columns of dst that the host's resize takes at once: two lines of them stay in the caches of a core.
constexpr int64_t kHostResizeCols = 1024;

}  // namespace gpumem
