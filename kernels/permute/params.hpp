// Parameters of a permutation of axes, and its axes as the tables, the host's loops and the kernels use them.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr int32_t kMaxPermuteRank = 8;

// The element at index i moves from src + sum i[d] * src_stride[d] to dst + sum i[d] * dst_stride[d]. Strides are in
// elements. The axes have no particular order.
struct PermuteAxes {
  int64_t element_bytes = 1;
  int32_t rank = 0;
  int64_t extent[kMaxPermuteRank] = {};
  int64_t src_stride[kMaxPermuteRank] = {};
  int64_t dst_stride[kMaxPermuteRank] = {};

  friend constexpr bool operator==(const PermuteAxes&, const PermuteAxes&) = default;

  constexpr int64_t elements() const noexcept {
    int64_t product = 1;
    for (int32_t d = 0; d < rank; ++d) product *= extent[d];
    return product;
  }
  constexpr void add(int64_t length, int64_t in_src, int64_t in_dst) noexcept {
    extent[rank] = length;
    src_stride[rank] = in_src;
    dst_stride[rank++] = in_dst;
  }
};

// The form of a problem whose axes are fused. Axis 0 is then the fastest of dst.
enum class PermuteForm : int32_t {
  copy,    // one contiguous run
  rows,    // runs of axis 0, contiguous on both sides
  planes,  // axis 0 is contiguous in dst, and another one in src
  general
};

// The axis other than 0 that is contiguous in src; -1: none.
constexpr int32_t src_fastest(const PermuteAxes& axes) noexcept {
  for (int32_t d = 1; d < axes.rank; ++d) {
    if (axes.src_stride[d] == 1) return d;
  }
  return -1;
}

constexpr PermuteForm form_of(const PermuteAxes& fused) noexcept {
  if (fused.dst_stride[0] != 1) return PermuteForm::general;
  if (fused.src_stride[0] == 1) return fused.rank == 1 ? PermuteForm::copy : PermuteForm::rows;
  return src_fastest(fused) > 0 && fused.src_stride[0] > 0 ? PermuteForm::planes : PermuteForm::general;
}

// The arguments of a call, with the caller's arrays.
struct PermuteCall {
  int64_t element_bytes = 4;
  int32_t rank = 0;
  const int64_t* extents = nullptr;  // of src
  const int32_t* order = nullptr;
  const void* src = nullptr;
  const int64_t* src_strides = nullptr;  // nullptr: row-major without padding
  void* dst = nullptr;
  const int64_t* dst_strides = nullptr;
};

// A call with its own arrays. The plan fuses the axes.
struct PermuteParams {
  int64_t element_bytes = 4;
  int32_t rank = 0;
  bool has_extents = false;
  bool has_order = false;
  bool has_src_strides = false;
  bool has_dst_strides = false;
  int32_t order[kMaxPermuteRank] = {};
  int64_t extents[kMaxPermuteRank] = {};
  int64_t src_strides[kMaxPermuteRank] = {};
  int64_t dst_strides[kMaxPermuteRank] = {};
  const void* src = nullptr;
  void* dst = nullptr;
  PermuteAxes axes{};

  constexpr int64_t elements() const noexcept { return axes.elements(); }
};

}  // namespace gpumem
