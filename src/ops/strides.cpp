#include "ops/strides.hpp"

#include <array>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/sentences.hpp"
#include "kernels/arithmetic/params.hpp"

namespace gpumem {

void check_extents(int32_t rank, const int64_t* extents, int32_t most_axes) {
  if (rank < 0 || rank > most_axes) {
    fail(GPUMEM_INVALID_ARGUMENT, "ndim is %d; expected 0 to %d", rank, most_axes);
  }
  if (rank > 0 && extents == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "extents is NULL; expected the extents of %d axes", rank);
  }
  for (int32_t d = 0; d < rank; ++d) {
    if (extents[d] < 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "extents[%d] is %lld; expected 0 or more", d, ll(extents[d]));
    }
  }
}

void check_strides(const char* strides_of, const int64_t* strides, int32_t rank, int32_t first) {
  for (int32_t d = 0; strides != nullptr && d < rank; ++d) {
    if (strides[d] < 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "%s[%d] is %lld; expected 0 or more", strides_of, first + d, ll(strides[d]));
    }
  }
}

ShortStride find_short_stride(int32_t rank, const int64_t* extents, const int64_t* strides) noexcept {
  const AxesInOrder order = in_order_of(strides, rank);
  int64_t last = 0;  // reach of the smaller strides
  for (int32_t i = 0; i < rank; ++i) {
    const int32_t d = order.axis[i];
    if (extents[d] == 1) continue;
    if (strides[d] <= last) return {d, last + 1};
    last += (extents[d] - 1) * strides[d];
  }
  return {};
}

void check_distinct(const StridedSide& side) {
  const ShortStride found = find_short_stride(side.rank, side.extents, side.strides);
  if (found.axis < 0) return;
  fail(GPUMEM_INVALID_ARGUMENT,
       "%s[%d] is %lld; expected at least %lld, so that distinct elements have distinct places", side.strides_of,
       found.axis, ll(side.strides[found.axis]), ll(found.least));
}

bool same_places(int32_t rank, const int64_t* extents, const int64_t* a, const int64_t* b) noexcept {
  for (int32_t d = 0; d < rank; ++d) {
    if (extents[d] > 1 && a[d] != b[d]) return false;
  }
  return true;
}

void fuse_views(int32_t& rank, int64_t (&extents)[kMaxAxes], int64_t (&z_strides)[kMaxAxes],
                std::span<int64_t[kMaxAxes]> x_strides, std::span<int64_t[kMaxAxes]> w_strides) noexcept {
  std::array<const int64_t*, 1 + kMaxTerms + kMaxDots> sides{z_strides};
  size_t count = 1;
  for (const auto& strides : x_strides) sides[count++] = strides;
  for (const auto& strides : w_strides) sides[count++] = strides;
  const FusedAxes fused = fused_axes(rank, extents, std::span(sides).first(count), !w_strides.empty());
  rank = std::max(fused.rank, 1);
  const auto keep = [&](int64_t(&strides)[kMaxAxes]) {
    int64_t from[kMaxAxes];
    std::copy_n(strides, kMaxAxes, from);
    strides[0] = 1;  // of a single element
    for (int32_t i = 0; i < fused.rank; ++i) strides[fused.rank - 1 - i] = from[fused.axis[i]];
  };
  keep(z_strides);
  for (auto& strides : x_strides) keep(strides);
  for (auto& strides : w_strides) keep(strides);
  extents[0] = 1;
  for (int32_t i = 0; i < fused.rank; ++i) extents[fused.rank - 1 - i] = fused.extent[i];
}

StridedRuns runs_of(const FusedAxes& axes, int64_t element_bytes, const int64_t* src_strides,
                    const int64_t* dst_strides) noexcept {
  const bool together = axes.rank > 0 && src_strides[axes.axis[0]] == 1 && dst_strides[axes.axis[0]] == 1;
  StridedRuns runs;
  runs.bytes = element_bytes * (together ? axes.extent[0] : 1);
  runs.all = runs.bytes;
  for (int32_t i = together ? 1 : 0; i < axes.rank; ++i) {
    runs.all *= axes.extent[i];
    runs.extent[runs.rank] = axes.extent[i];
    runs.src_stride[runs.rank] = src_strides[axes.axis[i]] * element_bytes;
    runs.dst_stride[runs.rank++] = dst_strides[axes.axis[i]] * element_bytes;
  }
  return runs;
}

void fill_tight(int64_t* strides, const int64_t* extents, int32_t rank) {
  int64_t stride = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = checked_mul(stride, extents[d], "product of extents");
  }
}

int64_t reach_bytes(const StridedSide& side, int64_t element_bytes) {
  int64_t last = 0;
  for (int32_t d = 0; d < side.rank; ++d) {
    if (side.extents[d] <= 1) continue;
    last = checked_add(last, checked_mul(side.extents[d] - 1, side.strides[d], side.bytes_of), side.bytes_of);
  }
  return checked_mul(checked_add(last, 1, side.bytes_of), element_bytes, side.bytes_of);
}

Spacing spacing_in(const StridedSide& side, int64_t element_bytes) noexcept {
  std::array<Repeat, kMaxAxes> repeats{};
  const AxesInOrder order = in_order_of(side.strides, side.rank);
  for (int32_t i = 0; i < side.rank; ++i) {
    repeats[static_cast<size_t>(i)] = {side.extents[order.axis[i]], side.strides[order.axis[i]]};
  }
  return spacing_of(1, std::span(repeats.data(), static_cast<size_t>(side.rank)), element_bytes);
}

ByteRange range_of_view(const char* argument, const void* p, const StridedSide& side, int64_t element_bytes) {
  return {argument, p, reach_bytes(side, element_bytes), spacing_in(side, element_bytes)};
}

}  // namespace gpumem
