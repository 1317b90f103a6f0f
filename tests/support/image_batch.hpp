// A batch of images for tests: the arrays of a call of gpumem_resize_2d_batch(), and the same images one by one.
#pragma once

#include <vector>

#include "support/images.hpp"

namespace gpumem_test {

struct ResizeBatch {
  gpumem_filter filter = GPUMEM_FILTER_BILINEAR;
  gpumem_dtype dtype = GPUMEM_U8;
  int32_t channels = 1;
  std::vector<const void*> src{};
  std::vector<int64_t> rows{};
  std::vector<int64_t> cols{};
  std::vector<int64_t> pitches{};  // empty: NULL
  void* dst = nullptr;
  int64_t dst_rows = 0;
  int64_t dst_cols = 0;
  int64_t dst_pitch = 0;
  int64_t dst_stride = 0;

  int64_t count() const { return static_cast<int64_t>(src.size()); }
  Resize image(int64_t k) const {
    const auto at = static_cast<size_t>(k);
    Resize r{filter, dtype, channels, src[at], rows[at], cols[at], 0, dst, dst_rows, dst_cols, dst_pitch};
    r.src_pitch = pitches.empty() ? row_bytes(r, r.src_cols) : pitches[at];
    if (dst != nullptr) r.dst = static_cast<char*>(dst) + k * dst_stride;
    return r;
  }
};

inline gpumem_status run(gpumem_ctx* ctx, const ResizeBatch& b) {
  return gpumem_resize_2d_batch(ctx, b.filter, b.dtype, b.channels, b.count(), b.src.data(), b.rows.data(),
                                b.cols.data(), b.pitches.empty() ? nullptr : b.pitches.data(), b.dst, b.dst_rows,
                                b.dst_cols, b.dst_pitch, b.dst_stride);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const ResizeBatch& b, gpumem_stream* stream) {
  return gpumem_resize_2d_batch_async(ctx, b.filter, b.dtype, b.channels, b.count(), b.src.data(), b.rows.data(),
                                      b.cols.data(), b.pitches.empty() ? nullptr : b.pitches.data(), b.dst, b.dst_rows,
                                      b.dst_cols, b.dst_pitch, b.dst_stride, stream);
}

}  // namespace gpumem_test
