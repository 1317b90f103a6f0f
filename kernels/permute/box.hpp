// The box over several axes that a block of a permutation moves at a time. A pure function of the axes. Plain C++, no
// CUDA.
// All boxes of a problem have the same extents. The last box along an axis is moved back to end where the axis ends, so
// kernels check no bounds. Elements in two boxes are moved twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/limits.hpp"
#include "kernels/permute/params.hpp"

namespace gpumem {

constexpr int64_t kPermuteSectorBytes = 32;  // the unit of memory reads and writes

struct PermuteBox {
  bool fits = false;
  int64_t extent[kMaxPermuteRank] = {};  // elements
  int64_t step[kMaxPermuteRank] = {};    // between boxes; less than the extent if neighbours overlap
  int64_t boxes[kMaxPermuteRank] = {};
  int64_t volume = 1;  // elements per box
  int64_t all_boxes = 1;
  int32_t src_order[kMaxPermuteRank] = {};  // axes by their stride in src; stride 0 comes last
  // The axis along which boxes overlap, so that each line is divided at a sector boundary; -1: none.
  int32_t cut_axis = -1;
};

namespace boxes {

constexpr int64_t up(int64_t n, int64_t unit) noexcept { return (n + unit - 1) / unit * unit; }

constexpr int64_t sector_elements(int64_t element_bytes) noexcept {
  return std::max<int64_t>(kPermuteSectorBytes / element_bytes, 1);
}

inline void sort_by_src(const PermuteAxes& axes, int32_t* order) noexcept {
  std::iota(order, order + axes.rank, 0);
  std::stable_sort(order, order + axes.rank, [&](int32_t a, int32_t b) {
    const bool a_repeats = axes.src_stride[a] == 0;
    const bool b_repeats = axes.src_stride[b] == 0;
    return a_repeats != b_repeats ? b_repeats : axes.src_stride[a] < axes.src_stride[b];
  });
}

// The size of equal pieces of about `wanted`. It is a multiple of `granule`, unless too much would be moved twice.
inline int64_t piece_of(int64_t extent, int64_t wanted, int64_t granule) noexcept {
  int64_t best = std::min(extent, up(ceil_div(extent, ceil_div(extent, wanted)), granule));
  if (extent / wanted > 16) return best;
  double least = 1e9;
  for (int64_t count = ceil_div(extent, wanted + wanted / 3); count <= ceil_div(extent, wanted - wanted / 4); ++count) {
    const int64_t bare = ceil_div(extent, count);
    const double off = 0.1 * std::abs(static_cast<double>(bare - wanted)) / static_cast<double>(wanted);
    for (const int64_t piece : {std::min(extent, up(bare, granule)), bare}) {
      const double twice = static_cast<double>(count * piece) / static_cast<double>(extent) + off;
      const double cost = piece % granule == 0 ? twice : twice + 0.06;
      if (cost >= least) continue;
      least = cost;
      best = piece;
    }
  }
  return best;
}

constexpr int64_t kLongestWhole = 256;

inline void grow(PermuteBox& t, const PermuteAxes& axes, const int32_t* order, int32_t count, int64_t wanted,
                 int64_t sector) noexcept {
  int64_t reached = 1;
  for (int32_t k = 0; k < count && 4 * reached < 3 * wanted; ++k) {
    const int32_t d = order[k];
    const int64_t more = ceil_div(wanted, reached);
    const int64_t granule = sector / std::gcd(sector, reached);
    const bool whole = axes.extent[d] <= std::min(more + more / 2, kLongestWhole);
    const int64_t piece = whole ? axes.extent[d] : piece_of(axes.extent[d], more, granule);
    t.extent[d] = std::max(t.extent[d], piece);
    reached *= piece;
    if (!whole) return;
  }
}

// How many of the axes in `order` are contiguous in the box, and their elements.
struct Run {
  int32_t axes = 0;
  int64_t elements = 1;
};
inline Run run_of(const PermuteBox& t, const PermuteAxes& axes, const int32_t* order, const int64_t* stride) noexcept {
  Run run;
  int64_t next = 1;
  for (; run.axes < axes.rank; ++run.axes) {
    const int32_t d = order[run.axes];
    if (stride[d] != next) break;
    run.elements *= t.extent[d];
    if (t.extent[d] < axes.extent[d]) return {run.axes + 1, run.elements};
    next = stride[d] * axes.extent[d];
  }
  return run;
}

// Whether every run of every box begins and ends at sector boundaries if the array does.
inline bool on_sectors(const PermuteBox& t, const PermuteAxes& axes, const int32_t* order, const int64_t* stride,
                       int32_t run_axes, int64_t sector) noexcept {
  for (int32_t k = 0; k < axes.rank; ++k) {
    const int32_t d = order[k];
    const int64_t unit = stride[d] % sector;
    if (k >= run_axes && unit != 0) return false;
    if (k < run_axes && t.extent[d] < axes.extent[d]) {
      if (unit * (t.extent[d] % sector) % sector != 0 || unit * (axes.extent[d] % sector) % sector != 0) return false;
    }
  }
  return true;
}

// Whether the distance from the first to the last element of a box exceeds 32 bits.
inline bool spans_32_bits(const PermuteBox& t, int32_t rank, const int64_t* stride) noexcept {
  int64_t last = 0;
  for (int32_t d = 0; d < rank; ++d) {
    if (t.extent[d] == 1) continue;
    if (stride[d] > UINT32_MAX) return false;
    last += (t.extent[d] - 1) * stride[d];
  }
  return last <= UINT32_MAX;
}

// Counts the boxes from extents and steps. False: too many for 32 bits.
inline bool count_boxes(PermuteBox& t, const PermuteAxes& axes) noexcept {
  for (int32_t d = 0; d < axes.rank; ++d) {
    t.boxes[d] = ceil_div(axes.extent[d] - t.extent[d], t.step[d]) + 1;
    if (t.boxes[d] > UINT32_MAX || t.all_boxes > UINT32_MAX) return false;
    t.volume *= t.extent[d];
    t.all_boxes *= t.boxes[d];
  }
  return t.all_boxes <= UINT32_MAX;
}

}  // namespace boxes
}  // namespace gpumem
