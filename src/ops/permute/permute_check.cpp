#include "ops/permute/permute_check.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/permute/permute_fuse.hpp"

namespace gpumem {
namespace {

void check_sizes(const PermuteParams& c) {
  require_element_size("element_bytes", c.element_bytes);
  if (c.rank < 0 || c.rank > kMaxPermuteRank) {
    fail(GPUMEM_INVALID_ARGUMENT, "rank is %d; expected 0 to %d", c.rank, kMaxPermuteRank);
  }
  if (c.rank > 0 && c.extents == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "extents is NULL; expected the extents of %d axes", c.rank);
  }
  for (int32_t d = 0; d < c.rank; ++d) {
    if (c.extents[d] < 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "extents[%d] is %lld; expected 0 or more", d, ll(c.extents[d]));
    }
  }
}

void check_order(const PermuteParams& c) {
  if (c.rank > 0 && c.order == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "order is NULL; expected the order of %d axes", c.rank);
  }
  int32_t place[kMaxPermuteRank];
  std::fill_n(place, kMaxPermuteRank, -1);
  for (int32_t d = 0; d < c.rank; ++d) {
    const int32_t axis = c.order[d];
    if (axis < 0 || axis >= c.rank) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d; expected an axis of src (0 to %d)", d, axis, c.rank - 1);
    }
    if (place[axis] >= 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d, as order[%d] is; expected each axis of src once", d, axis,
           place[axis]);
    }
    place[axis] = d;
  }
}

void check_strides(const char* argument, const int64_t* strides, int32_t rank) {
  for (int32_t d = 0; strides != nullptr && d < rank; ++d) {
    if (strides[d] < 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "%s[%d] is %lld; expected 0 or more", argument, d, ll(strides[d]));
    }
  }
}

// Row-major strides without gaps.
void fill_tight(int64_t* strides, const int64_t* extents, int32_t rank, const char* what) {
  int64_t stride = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = checked_mul(stride, extents[d], what);
  }
}

// Bytes from the first element to the end of the last.
int64_t reach_bytes(const int64_t* extents, const int64_t* strides, const PermuteAxes& axes, const char* what) {
  int64_t last = 0;
  for (int32_t d = 0; d < axes.rank; ++d) {
    if (extents[d] > 1) last = checked_add(last, checked_mul(extents[d] - 1, strides[d], what), what);
  }
  return checked_mul(checked_add(last, 1, what), axes.element_bytes, what);
}

// Distinct elements have distinct places when each stride leads past what the smaller ones reach.
void check_distinct(const PermuteAxes& axes) {
  const AxesInOrder order = in_order_of(axes.dst_stride, axes.rank);
  int64_t last = 0;  // that smaller strides reach
  for (int32_t i = 0; i < axes.rank; ++i) {
    const int32_t d = order.axis[i];
    if (axes.extent[d] == 1) continue;
    if (axes.dst_stride[d] <= last) {
      fail(GPUMEM_INVALID_ARGUMENT,
           "dst_strides[%d] is %lld; expected at least %lld, so that distinct elements have distinct places", d,
           ll(axes.dst_stride[d]), ll(last + 1));
    }
    last += (axes.extent[d] - 1) * axes.dst_stride[d];
  }
}

}  // namespace

Permutation permutation_of(const PermuteParams& c) {
  check_sizes(c);
  check_order(c);
  check_strides("src_strides", c.src_strides, c.rank);
  check_strides("dst_strides", c.dst_strides, c.rank);
  Permutation p;
  p.empty = std::find(c.extents, c.extents + c.rank, 0) != c.extents + c.rank;
  if (p.empty) return p;
  int64_t src_strides[kMaxPermuteRank] = {};
  if (c.src_strides != nullptr) {
    std::copy_n(c.src_strides, c.rank, src_strides);
  } else {
    fill_tight(src_strides, c.extents, c.rank, "product of extents");
  }
  PermuteAxes& axes = p.axes;
  axes.element_bytes = c.element_bytes;
  for (int32_t d = 0; d < c.rank; ++d) axes.add(c.extents[c.order[d]], src_strides[c.order[d]], 0);
  if (c.dst_strides != nullptr) {
    std::copy_n(c.dst_strides, c.rank, axes.dst_stride);
  } else {
    fill_tight(axes.dst_stride, axes.extent, axes.rank, "product of extents");
  }
  p.src_bytes = reach_bytes(c.extents, src_strides, axes, "bytes of src");
  p.dst_bytes = reach_bytes(axes.extent, axes.dst_stride, axes, "bytes of dst");
  check_distinct(axes);
  return p;
}

}  // namespace gpumem
