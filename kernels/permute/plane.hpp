// The plane that the tiles of a permutation cover: the first axes of dst by the fastest axes of src. Both lists are
// contiguous on their side, and the plane takes more axes while its tiles would be partly empty. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/limits.hpp"
#include "kernels/permute/limits.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem {

struct PermutePlane {
  int64_t down = 1;       // elements along dst
  int64_t across = 1;     // elements along src
  int32_t down_axes = 0;  // these are the first axes
  int32_t across_axes = 0;
  int32_t across_axis[kMaxPermuteRank] = {};  // fastest in src first

  constexpr bool has(int32_t axis) const noexcept {
    const int32_t* const end = across_axis + across_axes;
    return axis < down_axes || std::find(across_axis, end, axis) != end;
  }
};

namespace planes {

constexpr bool lengthen_down(PermutePlane& plane, const PermuteAxes& axes) noexcept {
  const int32_t next = plane.down_axes;
  if (next == axes.rank || plane.has(next) || axes.dst_stride[next] != plane.down) return false;
  plane.down *= axes.extent[next];
  ++plane.down_axes;
  return true;
}

constexpr bool lengthen_across(PermutePlane& plane, const PermuteAxes& axes) noexcept {
  for (int32_t d = 0; d < axes.rank; ++d) {
    if (axes.src_stride[d] != plane.across || plane.has(d)) continue;
    plane.across *= axes.extent[d];
    plane.across_axis[plane.across_axes++] = d;
    return true;
  }
  return false;
}

}  // namespace planes

// For fused axes of the form `planes`.
constexpr PermutePlane permute_plane(const PermuteAxes& axes) noexcept {
  constexpr int64_t kFilled = 90;  // percent
  PermutePlane plane;
  bool down = planes::lengthen_down(plane, axes);
  bool across = planes::lengthen_across(plane, axes);
  while (down || across) {
    const int64_t filled_down = permute_tiles_filled(axes.element_bytes, plane.down);
    const int64_t filled_across = permute_tiles_filled(axes.element_bytes, plane.across);
    down = down && filled_down < kFilled;
    across = across && filled_across < kFilled;
    if (down && (!across || filled_down <= filled_across)) {
      down = planes::lengthen_down(plane, axes);
    } else if (across) {
      across = planes::lengthen_across(plane, axes);
    }
  }
  return plane;
}

// The axes of a transpose. The fastest of dst is the first.
constexpr PermuteAxes transposed_axes(const TransposeParams& params) noexcept {
  PermuteAxes axes{.element_bytes = params.element_bytes};
  axes.add(params.rows, params.src_ld, 1);
  axes.add(params.cols, 1, params.dst_ld);
  axes.add(params.batches, params.src_batch_stride, params.dst_batch_stride);
  return axes;
}

inline Config permute_tiled_config(const PermuteAxes& axes) noexcept {
  const PermutePlane plane = permute_plane(axes);
  const int64_t tile = permute_tile(axes.element_bytes);
  const int64_t planes = axes.elements() / plane.down / plane.across;
  const int64_t tiles = planes * ceil_div(plane.down, tile) * ceil_div(plane.across, tile);
  Config config{std::min(tiles, kMaxGrid), kPermuteThreads, static_cast<int32_t>(tile * tile / kPermuteThreads), tile};
  config.own.set(plane);
  return config;
}

}  // namespace gpumem
