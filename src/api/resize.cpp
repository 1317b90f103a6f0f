#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_resize_2d(gpumem_ctx* ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                               const void* src, int64_t src_rows, int64_t src_cols, int64_t src_pitch_bytes, void* dst,
                               int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes) {
  return run(ctx, resize,
             {.filter = filter,
              .dtype = dtype,
              .channels = channels,
              .src = src,
              .src_rows = src_rows,
              .src_cols = src_cols,
              .src_pitch = src_pitch_bytes,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_cols = dst_cols,
              .dst_pitch = dst_pitch_bytes});
}

gpumem_status gpumem_resize_2d_async(gpumem_ctx* ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                                     const void* src, int64_t src_rows, int64_t src_cols, int64_t src_pitch_bytes,
                                     void* dst, int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes,
                                     gpumem_stream* stream) {
  return run(ctx, resize,
             {.filter = filter,
              .dtype = dtype,
              .channels = channels,
              .src = src,
              .src_rows = src_rows,
              .src_cols = src_cols,
              .src_pitch = src_pitch_bytes,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_cols = dst_cols,
              .dst_pitch = dst_pitch_bytes},
             enqueued(stream));
}

gpumem_status gpumem_resize_2d_batch(gpumem_ctx* ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                                     int64_t count, const void* const* src, const int64_t* src_rows,
                                     const int64_t* src_cols, const int64_t* src_pitch_bytes, void* dst,
                                     int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes,
                                     int64_t dst_image_stride_bytes) {
  return run(ctx, resize_batch,
             {.filter = filter,
              .dtype = dtype,
              .channels = channels,
              .count = count,
              .src = src,
              .src_rows = src_rows,
              .src_cols = src_cols,
              .src_pitch = src_pitch_bytes,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_cols = dst_cols,
              .dst_pitch = dst_pitch_bytes,
              .dst_image_stride = dst_image_stride_bytes});
}

gpumem_status gpumem_resize_2d_batch_async(gpumem_ctx* ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                                           int64_t count, const void* const* src, const int64_t* src_rows,
                                           const int64_t* src_cols, const int64_t* src_pitch_bytes, void* dst,
                                           int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes,
                                           int64_t dst_image_stride_bytes, gpumem_stream* stream) {
  return run(ctx, resize_batch,
             {.filter = filter,
              .dtype = dtype,
              .channels = channels,
              .count = count,
              .src = src,
              .src_rows = src_rows,
              .src_cols = src_cols,
              .src_pitch = src_pitch_bytes,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_cols = dst_cols,
              .dst_pitch = dst_pitch_bytes,
              .dst_image_stride = dst_image_stride_bytes},
             enqueued(stream));
}
