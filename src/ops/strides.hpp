// Arrays of several axes, with strides in elements: checks and extents. The stride of an axis of extent 1 is ignored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/permute/pieces.hpp"
#include "ops/operand.hpp"

namespace gpumem {

constexpr int32_t kMaxAxes = 8;

// Axes by ascending stride. The sort is stable.
struct AxesInOrder {
  int32_t axis[kMaxAxes];
};
constexpr AxesInOrder in_order_of(const int64_t* strides, int32_t rank) noexcept {
  AxesInOrder order{};
  for (int32_t d = 0; d < rank; ++d) {
    int32_t at = d;
    for (; at > 0 && strides[d] < strides[order.axis[at - 1]]; --at) order.axis[at] = order.axis[at - 1];
    order.axis[at] = d;
  }
  return order;
}

// The fewest axes with the same elements, by ascending stride of the first side. Axes of extent 1 are dropped.
// Neighbours that are contiguous on every side are merged. in_order: the axes keep their order, from the last to the
// first.
struct FusedAxes {
  int32_t rank = 0;
  int32_t axis[kMaxAxes] = {};  // the axis that has the strides
  int64_t extent[kMaxAxes] = {};
};
constexpr FusedAxes fused_axes(int32_t rank, const int64_t* extents, std::span<const int64_t* const> sides,
                               bool in_order = false) noexcept {
  FusedAxes fused;
  const AxesInOrder order = in_order_of(sides[0], rank);
  for (int32_t i = 0; i < rank; ++i) {
    const int32_t d = in_order ? rank - 1 - i : order.axis[i];
    if (extents[d] == 1) continue;
    const int32_t last = fused.rank - 1;
    const auto goes_on = [&](const int64_t* strides) {
      int64_t end = 0;
      return !__builtin_mul_overflow(fused.extent[last], strides[fused.axis[last]], &end) && strides[d] == end;
    };
    if (last >= 0 && std::all_of(sides.begin(), sides.end(), goes_on)) {
      fused.extent[last] *= extents[d];
    } else {
      fused.axis[fused.rank] = d;
      fused.extent[fused.rank++] = extents[d];
    }
  }
  return fused;
}

// Whether each element has the same distance from the first on both sides.
bool same_places(int32_t rank, const int64_t* extents, const int64_t* a, const int64_t* b) noexcept;
// Replaces the axes of z and its sources by the fused ones, the longest stride in z first. With w, views that z is
// multiplied by, the axes keep their order. At least one is left.
void fuse_views(int32_t& rank, int64_t (&extents)[kMaxAxes], int64_t (&z_strides)[kMaxAxes],
                std::span<int64_t[kMaxAxes]> x_strides, std::span<int64_t[kMaxAxes]> w_strides = {}) noexcept;

// The fused axes of src and dst. If the first of them has no padding on both sides, it becomes the run.
StridedRuns runs_of(const FusedAxes& axes, int64_t element_bytes, const int64_t* src_strides,
                    const int64_t* dst_strides) noexcept;

struct StridedSide {
  const char* strides_of;  // "z_strides"
  const char* bytes_of;    // "bytes of z"
  int32_t rank;
  const int64_t* extents;
  const int64_t* strides;
};

// These throw INVALID_ARGUMENT.
void check_extents(int32_t rank, const int64_t* extents, int32_t most_axes);
// strides may be nullptr. They begin at the element `first` of the argument.
void check_strides(const char* strides_of, const int64_t* strides, int32_t rank, int32_t first = 0);
// Throws unless each stride exceeds the reach of the smaller ones. Distinct elements then have distinct places.
void check_distinct(const StridedSide& side);
// The first axis whose stride is too short, and the least sufficient stride. axis is -1 if all suffice.
struct ShortStride {
  int32_t axis = -1;
  int64_t least = 0;
};
ShortStride find_short_stride(int32_t rank, const int64_t* extents, const int64_t* strides) noexcept;

// Products of unchecked numbers, limited to the range of int64_t.
inline int64_t saturated_product(int64_t a, int64_t b) noexcept {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
inline int64_t saturated_product(int64_t a, int64_t b, int64_t c) noexcept {
  return saturated_product(saturated_product(a, b), c);
}
// The same. 0 if any extent is 0.
inline int64_t product_of(const int64_t* extents, int32_t rank) noexcept {
  int64_t product = 1;
  for (int32_t d = 0; d < rank; ++d) product = saturated_product(product, extents[d]);
  return std::find(extents, extents + rank, 0) != extents + rank ? 0 : product;
}
// Strides as given, or if from is nullptr, those of a row-major view without padding. The extents are unchecked.
inline void read_strides(const int64_t* from, const int64_t* extents, int32_t rank, int64_t* to) noexcept {
  for (int32_t d = rank - 1; d >= 0; --d) {
    to[d] = from != nullptr ? from[d] : d == rank - 1 ? 1 : saturated_product(to[d + 1], extents[d + 1]);
  }
}

// Row-major strides without padding. Throws if they overflow.
void fill_tight(int64_t* strides, const int64_t* extents, int32_t rank);
// From the first element to the end of the last.
int64_t reach_bytes(const StridedSide& side, int64_t element_bytes);
Spacing spacing_in(const StridedSide& side, int64_t element_bytes) noexcept;
// From p on, with both. Throws as reach_bytes().
ByteRange range_of_view(const char* argument, const void* p, const StridedSide& side, int64_t element_bytes);

}  // namespace gpumem
