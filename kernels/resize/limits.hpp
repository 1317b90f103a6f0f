// Sizes that the resize table and the kernels share. Plain C++, no CUDA.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"

namespace gpumem {

// A block has resize_lanes() threads along a row of dst, and its other threads make other rows.
constexpr int kResizeThreads = 256;

// Neighbouring pixels of a row per thread: at most 16 bytes and 12 elements, which fit its registers.
constexpr int resize_pixels(int64_t channels, int64_t element_bytes) noexcept {
  int pixels = 4;
  while (pixels > 1 && (pixels * channels * element_bytes > 16 || pixels * channels > 12)) pixels /= 2;
  return pixels;
}

// The resize of bytes by words: warps per block, maximum rows per warp, and pixels of a row per lane.
constexpr int kResizeWarps = kResizeThreads / 32;
constexpr int kMaxResizeRows = 16;
constexpr int resize_words_pixels(int64_t channels) noexcept { return channels == 1 ? 8 : 4; }

// Fraction bits of a coordinate per step of its division.
constexpr int kResizeFractionStep = 12;

// Width of the words that hold the coordinates of an axis exactly: 32, 64 or 128 bits. They hold (2 dst - 1) src, and 2
// dst with one step of fraction.
constexpr int resize_bits(int64_t src, int64_t dst) noexcept {
  const Uint128 twice = Uint128{static_cast<uint64_t>(dst)} * 2;
  for (const int bits : {32, 64}) {
    const bool products = twice * static_cast<uint64_t>(src) < Uint128{1} << bits;
    if (products && twice < Uint128{1} << (bits - kResizeFractionStep)) return bits;
  }
  return 128;
}

// Lanes along a row, a power of two: a warp, fewer for a narrow image, more for one of few rows. `groups` is the row's
// pixels divided by a thread's, `steps` the image's rows divided by a thread's.
constexpr int resize_lanes(int64_t groups, int64_t steps) noexcept {
  int lanes = 1;
  while (lanes < kResizeThreads && lanes < groups && (lanes < 32 || kResizeThreads / lanes > steps)) lanes *= 2;
  return lanes;
}

// Tiles of dst, one per block, with 2^log2_lanes threads along a row.
struct ResizeTiles {
  int64_t across;  // tiles along a row
  int64_t count;
  int32_t log2_lanes;
};
constexpr ResizeTiles resize_tiles(int64_t dst_rows, int64_t dst_cols, int pixels, int64_t rows) noexcept {
  const int64_t groups = ceil_div(dst_cols, pixels);
  const int64_t steps = ceil_div(dst_rows, rows);
  const int lanes = resize_lanes(groups, steps);
  int32_t log2_lanes = 0;
  while (1 << log2_lanes < lanes) ++log2_lanes;
  const int64_t across = ceil_div(groups, lanes);
  return {across, across * ceil_div(steps, kResizeThreads / lanes), log2_lanes};
}

// Columns of dst that the host's resize takes at once. Two lines of them stay in a core's caches.
constexpr int64_t kHostResizeCols = 1024;

}  // namespace gpumem
