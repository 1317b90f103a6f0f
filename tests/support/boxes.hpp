// Calls of gpumem_copy_boxes() for tests, and the plain loop that says what each has to do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpumem.h"

namespace gpumem_test {

struct Boxes {
  int64_t element_bytes = 8;
  int32_t ndim = 0;
  std::vector<int64_t> extents{};
  std::vector<const void*> src{};
  std::vector<int64_t> src_strides{};  // empty: NULL
  std::vector<void*> dst{};
  std::vector<int64_t> dst_strides{};

  int64_t count() const { return static_cast<int64_t>(src.size()); }
  const int64_t* extents_of(int64_t k) const { return extents.data() + k * ndim; }
  bool empty(int64_t k) const { return std::find(extents_of(k), extents_of(k) + ndim, 0) != extents_of(k) + ndim; }
  std::vector<int64_t> strides_of(int64_t k, const std::vector<int64_t>& given) const {
    if (!given.empty()) return {given.begin() + k * ndim, given.begin() + (k + 1) * ndim};
    std::vector<int64_t> tight(static_cast<size_t>(ndim), 1);
    for (size_t d = tight.size(); d-- > 1;) tight[d - 1] = tight[d] * extents_of(k)[d];
    return tight;
  }
  // From the first byte of a box to its last.
  size_t reach(int64_t k, const std::vector<int64_t>& given) const {
    if (empty(k)) return 0;
    const std::vector<int64_t> strides = strides_of(k, given);
    int64_t last = 0;
    for (int32_t d = 0; d < ndim; ++d) {
      const int64_t extent = extents_of(k)[d];
      if (extent > 1) last += (extent - 1) * strides[static_cast<size_t>(d)];
    }
    return static_cast<size_t>((last + 1) * element_bytes);
  }
  void add(const std::vector<int64_t>& of, const void* from, void* to) {
    extents.insert(extents.end(), of.begin(), of.end());
    src.push_back(from);
    dst.push_back(to);
  }
};

inline gpumem_status run(gpumem_ctx* ctx, const Boxes& b) {
  return gpumem_copy_boxes(ctx, b.element_bytes, b.ndim, b.count(), b.extents.data(), b.src.data(),
                           b.src_strides.empty() ? nullptr : b.src_strides.data(), b.dst.data(),
                           b.dst_strides.empty() ? nullptr : b.dst_strides.data());
}

inline gpumem_status run_async(gpumem_ctx* ctx, const Boxes& b, gpumem_stream* stream) {
  return gpumem_copy_boxes_async(ctx, b.element_bytes, b.ndim, b.count(), b.extents.data(), b.src.data(),
                                 b.src_strides.empty() ? nullptr : b.src_strides.data(), b.dst.data(),
                                 b.dst_strides.empty() ? nullptr : b.dst_strides.data(), stream);
}

// Box k by the formula of the header, in memory of the test.
inline void copy_box_reference(const Boxes& b, int64_t k, const unsigned char* src, unsigned char* dst) {
  if (b.empty(k)) return;
  const std::vector<int64_t> from_strides = b.strides_of(k, b.src_strides);
  const std::vector<int64_t> to_strides = b.strides_of(k, b.dst_strides);
  std::vector<int64_t> i(static_cast<size_t>(b.ndim), 0);
  for (;;) {
    int64_t from = 0;
    int64_t to = 0;
    for (size_t d = 0; d < i.size(); ++d) {
      if (i[d] > 0) from += i[d] * from_strides[d];
      if (i[d] > 0) to += i[d] * to_strides[d];
    }
    std::memcpy(dst + to * b.element_bytes, src + from * b.element_bytes, static_cast<size_t>(b.element_bytes));
    size_t d = i.size();
    while (d > 0 && ++i[d - 1] == b.extents_of(k)[d - 1]) i[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace gpumem_test
