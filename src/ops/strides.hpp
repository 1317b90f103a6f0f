// Arrays of several axes, each with a stride in elements: checks and reaches. Axes of extent 1 have no stride.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "ops/operand.hpp"

namespace gpumem {

constexpr int32_t kMaxAxes = 8;

// Axes by their strides, the smallest first; equal ones as they come.
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

// The fewest axes that have the same elements, by their strides on the first side, the smallest first: axes of extent 1 are left out, and
// neighbours that go on where the other ends, on every side, are one.
struct FusedAxes {
  int32_t rank = 0;
  int32_t axis[kMaxAxes] = {};  // that has the strides
  int64_t extent[kMaxAxes] = {};
};
constexpr FusedAxes fused_axes(int32_t rank, const int64_t* extents, std::span<const int64_t* const> sides) noexcept {
  FusedAxes fused;
  const AxesInOrder order = in_order_of(sides[0], rank);
  for (int32_t i = 0; i < rank; ++i) {
    const int32_t d = order.axis[i];
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

// One side of an operation: an argument and its axes.
struct StridedSide {
  const char* strides_of;  // "z_strides"
  const char* bytes_of;    // "bytes of z"
  int32_t rank;
  const int64_t* extents;
  const int64_t* strides;
};

// These throw INVALID_ARGUMENT.
void check_extents(int32_t rank, const int64_t* extents, int32_t most_axes);
// strides may be nullptr; they begin at the element `first` of the argument.
void check_strides(const char* strides_of, const int64_t* strides, int32_t rank, int32_t first = 0);
// Distinct elements have distinct places when each stride leads past what the smaller ones reach. This one throws where one does not,
void check_distinct(const StridedSide& side);
// and this one tells which, and the least that does; the axis is -1 where all do.
struct ShortStride {
  int32_t axis = -1;
  int64_t least = 0;
};
ShortStride find_short_stride(int32_t rank, const int64_t* extents, const int64_t* strides) noexcept;

// Row-major strides without gaps.
void fill_tight(int64_t* strides, const int64_t* extents, int32_t rank);
// Bytes from the first element to the end of the last.
int64_t reach_bytes(const StridedSide& side, int64_t element_bytes);
// gap_of() for the elements.
int64_t gap_in(const StridedSide& side, int64_t element_bytes) noexcept;

}  // namespace gpumem
