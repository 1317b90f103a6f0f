// Images for tests: their layout in memory, the calls on them, and an independent reference of gpumem_resize_2d().
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "gpumem.h"
#include "support/explain.hpp"

namespace gpumem_test {

struct Resize {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  const void* src;
  int64_t src_rows;
  int64_t src_cols;
  int64_t src_pitch;
  void* dst;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t dst_pitch;
};

inline int64_t element_bytes_of(gpumem_dtype dtype) { return dtype == GPUMEM_U8 ? 1 : dtype == GPUMEM_U16 ? 2 : 4; }

inline int64_t row_bytes(const Resize& r, int64_t cols) { return cols * r.channels * element_bytes_of(r.dtype); }

// Bytes from the first pixel to the end of the last.
inline int64_t src_bytes(const Resize& r) { return (r.src_rows - 1) * r.src_pitch + row_bytes(r, r.src_cols); }
inline int64_t dst_bytes(const Resize& r) {
  return r.dst_rows == 0 || r.dst_cols == 0 ? 0 : (r.dst_rows - 1) * r.dst_pitch + row_bytes(r, r.dst_cols);
}

inline gpumem_status run(gpumem_ctx* ctx, const Resize& r) {
  return gpumem_resize_2d(ctx, r.filter, r.dtype, r.channels, r.src, r.src_rows, r.src_cols, r.src_pitch, r.dst,
                          r.dst_rows, r.dst_cols, r.dst_pitch);
}

inline gpumem_status run_async(gpumem_ctx* ctx, const Resize& r, gpumem_stream* stream) {
  return gpumem_resize_2d_async(ctx, r.filter, r.dtype, r.channels, r.src, r.src_rows, r.src_cols, r.src_pitch, r.dst,
                                r.dst_rows, r.dst_cols, r.dst_pitch, stream);
}

inline std::string line_of(gpumem_ctx* ctx, const Resize& r) {
  Line line(ctx, "resize");
  line.with("filter", r.filter).with("dtype", r.dtype).with("channels", r.channels);
  line.with("src_rows", r.src_rows).with("src_cols", r.src_cols).with("src_pitch", r.src_pitch);
  line.with("dst_rows", r.dst_rows).with("dst_cols", r.dst_cols).with("dst_pitch", r.dst_pitch);
  return line.at("src", r.src, 4096).at("dst", r.dst);
}

inline std::string describe(const Resize& r) {
  static const char* const kTypes[] = {"u8", "u16", "f32"};
  const char* type = kTypes[r.dtype == GPUMEM_U8 ? 0 : r.dtype == GPUMEM_U16 ? 1 : 2];
  return std::string(r.filter == GPUMEM_FILTER_NEAREST ? "nearest, " : "bilinear, ") + std::to_string(r.channels) +
         " x " + type + ", " + std::to_string(r.src_rows) + " x " + std::to_string(r.src_cols) + " to " +
         std::to_string(r.dst_rows) + " x " + std::to_string(r.dst_cols) + ", pitches " + std::to_string(r.src_pitch) +
         " and " + std::to_string(r.dst_pitch);
}

// The header's text, pixel by pixel: r.src and r.dst are host memory here.
void resize_reference(const Resize& r);

// The exact bilinear value of a channel of pixel (i, j) of dst, to the precision of long double, and the smallest and largest of the
// four pixels that it lies between.
struct Between {
  long double value;
  long double least;
  long double most;
};
Between exact_bilinear(const Resize& r, int64_t i, int64_t j, int64_t channel);

}  // namespace gpumem_test
