// The box of a permutation that keeps the fastest axis: lines that are near each other on both sides. It needs no
// shared memory. A pure function of the axes. Plain C++, no CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/permute/box.hpp"

namespace gpumem {

constexpr int32_t kLineTileThreads = 256;
constexpr int64_t kLinePieces = 256;  // maximum per box; a warp takes one at a time, one element per lane
constexpr int64_t kLineRounds = 3;    // approximate number of times that a warp loads for a box
constexpr int64_t kLinePiece = 32;

constexpr int line_loads(int64_t element_bytes) noexcept {
  return element_bytes == 16 ? 4 : element_bytes == 8 ? 6 : 8;
}

struct LineTile : PermuteBox {
  int64_t lines = 1;
  int64_t pieces = 1;  // per line
  // Warps begin to write at sectors, at most this many elements before the line. 0: every line begins at a sector.
  int64_t sector_mask = 0;
};

// For a fused problem whose axis 0 is contiguous on both sides.
inline LineTile line_tile(const PermuteAxes& axes) noexcept {
  LineTile t;
  if (axes.dst_stride[0] != 1 || axes.src_stride[0] != 1 || axes.rank < 2) return t;
  const int64_t sector = boxes::sector_elements(axes.element_bytes);
  boxes::sort_by_src(axes, t.src_order);
  std::fill_n(t.extent, axes.rank, 1);
  const int64_t longest = kLinePieces * kLinePiece / 2;
  t.extent[0] = axes.extent[0] <= longest ? axes.extent[0] : boxes::piece_of(axes.extent[0], longest, sector);
  const int64_t pieces = ceil_div(t.extent[0] + sector - 1, kLinePiece);
  // The box has as many lines along src as along dst: whole axes first, then parts.
  const int64_t lines = kLineTileThreads / 32 * line_loads(axes.element_bytes) * kLineRounds / pieces;
  int64_t side = 1;
  while (side * side < lines) ++side;
  int32_t dst_order[kMaxPermuteRank];
  std::iota(dst_order, dst_order + axes.rank, 0);
  if (t.extent[0] == axes.extent[0] && lines > 1) {
    int32_t rest[kMaxPermuteRank];  // src_order without axis 0
    std::copy_if(t.src_order, t.src_order + axes.rank, rest, [](int32_t d) { return d != 0; });
    boxes::grow(t, axes, rest, axes.rank - 1, side, 1);
    int64_t reached = 1;
    for (int32_t d = 1; d < axes.rank; ++d) reached *= t.extent[d];
    boxes::grow(t, axes, dst_order + 1, axes.rank - 1, std::max<int64_t>(lines / reached, 1), 1);
  }
  for (;;) {
    const int32_t most = static_cast<int32_t>(std::max_element(t.extent + 1, t.extent + axes.rank) - t.extent);
    int64_t product = 1;
    for (int32_t d = 1; d < axes.rank; ++d) product *= t.extent[d];
    if (product * pieces <= kLinePieces || t.extent[most] == 1) break;
    t.extent[most] = ceil_div(t.extent[most], 2);
  }
  std::copy_n(t.extent, kMaxPermuteRank, t.step);
  if (!boxes::on_sectors(t, axes, dst_order, axes.dst_stride, 1, sector)) t.sector_mask = sector - 1;
  if (!boxes::count_boxes(t, axes)) return t;
  t.lines = t.volume / t.extent[0];
  t.pieces = ceil_div(t.extent[0] + t.sector_mask, kLinePiece);
  t.fits = t.pieces * t.lines <= kLinePieces && boxes::spans_32_bits(t, axes.rank, axes.src_stride) &&
           boxes::spans_32_bits(t, axes.rank, axes.dst_stride);
  return t;
}

}  // namespace gpumem
