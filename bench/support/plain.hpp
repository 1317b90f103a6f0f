// The expected result of movement, by one loop over the elements of dst that is independent of the library and of its
// baselines.
#pragma once

#include <cstdint>

#include "problems/contents.hpp"

namespace tool {
class Problem;
}

namespace bench {

// The index space of a transpose, a permutation, a copy or boxes, slowest axis of dst first; strides in elements.
struct Axes {
  static constexpr int kMost = 8;
  int rank = 0;
  int element_bytes = 1;
  int64_t elements = 1;
  int64_t extent[kMost] = {};
  int64_t src[kMost] = {};
  int64_t dst[kMost] = {};

  void add(int64_t length, int64_t src_stride, int64_t dst_stride) {
    extent[rank] = length;
    src[rank] = src_stride;
    dst[rank++] = dst_stride;
    elements *= length;
  }
  TOOL_HOST_DEVICE void places(int64_t i, int64_t& from, int64_t& to) const {
    from = to = 0;
    for (int d = rank - 1; d >= 0; --d) {
      from += i % extent[d] * src[d];
      to += i % extent[d] * dst[d];
      i /= extent[d];
    }
  }
};

// For a line of transpose, permute (without strides), copy_boxes (extents >= 1) or copy. A copy's elements are as large as its numbers allow.
Axes axes_of(const tool::Problem& problem);

}  // namespace bench
