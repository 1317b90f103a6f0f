#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_copy(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes) {
  return run(ctx, copy, {.dst = static_cast<char*>(dst), .src = static_cast<const char*>(src), .row_bytes = bytes});
}

gpumem_status gpumem_copy_async(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes, gpumem_stream* stream) {
  return run(ctx, copy, {.dst = static_cast<char*>(dst), .src = static_cast<const char*>(src), .row_bytes = bytes},
             enqueued(stream));
}

gpumem_status gpumem_copy_2d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                             int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows) {
  return run(ctx, copy,
             {.dst = static_cast<char*>(dst),
              .dst_pitch = dst_pitch_bytes,
              .src = static_cast<const char*>(src),
              .src_pitch = src_pitch_bytes,
              .row_bytes = row_bytes,
              .rows = rows,
              .rank = 2});
}

gpumem_status gpumem_copy_2d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                                   int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows, gpumem_stream* stream) {
  return run(ctx, copy,
             {.dst = static_cast<char*>(dst),
              .dst_pitch = dst_pitch_bytes,
              .src = static_cast<const char*>(src),
              .src_pitch = src_pitch_bytes,
              .row_bytes = row_bytes,
              .rows = rows,
              .rank = 2},
             enqueued(stream));
}

gpumem_status gpumem_copy_3d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                             const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                             int64_t rows, int64_t slices) {
  return run(ctx, copy,
             {.dst = static_cast<char*>(dst),
              .dst_pitch = dst_pitch_bytes,
              .dst_slice = dst_slice_bytes,
              .src = static_cast<const char*>(src),
              .src_pitch = src_pitch_bytes,
              .src_slice = src_slice_bytes,
              .row_bytes = row_bytes,
              .rows = rows,
              .slices = slices,
              .rank = 3});
}

gpumem_status gpumem_copy_3d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                                   const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                                   int64_t rows, int64_t slices, gpumem_stream* stream) {
  return run(ctx, copy,
             {.dst = static_cast<char*>(dst),
              .dst_pitch = dst_pitch_bytes,
              .dst_slice = dst_slice_bytes,
              .src = static_cast<const char*>(src),
              .src_pitch = src_pitch_bytes,
              .src_slice = src_slice_bytes,
              .row_bytes = row_bytes,
              .rows = rows,
              .slices = slices,
              .rank = 3},
             enqueued(stream));
}
