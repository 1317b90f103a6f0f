// The boxes of a permutation (kernels/permute/box.hpp) for kernels. Multiplications convert numbers into indices.
#pragma once

#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/permute/box.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {

// Axes for the indices of an element of a box, fastest first.
struct Places {
  int32_t rank = 0;
  Divisor<uint32_t> extent[kMaxPermuteRank];
  uint32_t stride[kMaxPermuteRank];  // in src or dst, elements
  uint32_t weight[kMaxPermuteRank];  // in shared memory
};

struct Place {
  uint32_t outside = 0;
  uint32_t shared = 0;
};

__device__ __forceinline__ Place place_of(uint32_t number, const Places& places) {
  Place at;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= places.rank) break;
    const uint32_t rest = places.extent[d].quotient(number);
    const uint32_t index = number - rest * places.extent[d].value;
    at.outside += index * places.stride[d];
    at.shared += index * places.weight[d];
    number = rest;
  }
  return at;
}

struct Boxes {
  uint32_t all = 1;
  int32_t cut = -1;  // the axis along which lines are divided; -1: none
  int32_t rank = 0;
  Divisor<uint32_t> count[kMaxPermuteRank];
  int64_t step[kMaxPermuteRank];
  int64_t last[kMaxPermuteRank];  // start of the last box
  int64_t src_stride[kMaxPermuteRank];
  int64_t dst_stride[kMaxPermuteRank];
};

// The start of a box, and the part of a line to write: from its first boundary on, or all of it in the line's first
// box.
struct Origin {
  int64_t src = 0;
  int64_t dst = 0;
  bool first = true;
  bool last = true;
};

__device__ __forceinline__ Origin origin_of(uint32_t box, const Boxes& boxes) {
  Origin at;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= boxes.rank) break;
    const uint32_t rest = boxes.count[d].quotient(box);
    const uint32_t number = box - rest * boxes.count[d].value;
    const bool is_last = number + 1 == boxes.count[d].value;
    const int64_t index = is_last ? boxes.last[d] : number * boxes.step[d];
    at.src += index * boxes.src_stride[d];
    at.dst += index * boxes.dst_stride[d];
    if (d == boxes.cut) {
      at.first = number == 0;
      at.last = is_last;
    }
    box = rest;
  }
  return at;
}

inline void add(Places& places, int64_t extent, int64_t stride, int64_t weight) {
  if (extent == 1) return;
  places.extent[places.rank] = Divisor<uint32_t>(static_cast<uint32_t>(extent));
  places.stride[places.rank] = static_cast<uint32_t>(stride);
  places.weight[places.rank++] = static_cast<uint32_t>(weight);
}

inline void add_boxes(Boxes& outer, const PermuteAxes& axes, const PermuteBox& t, int32_t axis) {
  if (t.boxes[axis] == 1) return;
  for (int32_t d = 0; d < outer.rank; ++d) {
    if (outer.src_stride[d] == axes.src_stride[axis] && outer.dst_stride[d] == axes.dst_stride[axis])
      return;  // already complete
  }
  if (axis == t.cut_axis) outer.cut = outer.rank;
  outer.count[outer.rank] = Divisor<uint32_t>(static_cast<uint32_t>(t.boxes[axis]));
  outer.step[outer.rank] = t.step[axis];
  outer.last[outer.rank] = axes.extent[axis] - t.extent[axis];
  outer.src_stride[outer.rank] = axes.src_stride[axis];
  outer.dst_stride[outer.rank++] = axes.dst_stride[axis];
}

// Advances to the block's next box. False: there are no more.
__device__ __forceinline__ bool next_box(uint32_t& box, const Boxes& boxes) {
  if (boxes.all - box <= gridDim.x) return false;
  box += gridDim.x;
  return true;
}

// Boxes that are consecutive in src, and then in dst, run at about the same time and share sectors.
inline Boxes boxes_of(const PermuteAxes& axes, const PermuteBox& t) {
  Boxes boxes;
  boxes.all = static_cast<uint32_t>(t.all_boxes);
  for (int32_t k = 0; k < axes.rank && boxes.rank == 0; ++k) add_boxes(boxes, axes, t, t.src_order[k]);
  for (int32_t d = 0; d < axes.rank; ++d) add_boxes(boxes, axes, t, d);
  return boxes;
}

}  // namespace gpumem::kernels
