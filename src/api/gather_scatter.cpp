#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_gather(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_rows,
                            int64_t src_pitch_bytes, gpumem_dtype index_type, const void* index, int64_t n, void* dst,
                            int64_t dst_pitch_bytes) {
  return run(ctx, gather,
             {.row_bytes = row_bytes,
              .src = src,
              .src_rows = src_rows,
              .src_pitch = src_pitch_bytes,
              .index_type = index_type,
              .index = index,
              .n = n,
              .dst = dst,
              .dst_rows = n,
              .dst_pitch = dst_pitch_bytes});
}

gpumem_status gpumem_gather_async(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_rows,
                                  int64_t src_pitch_bytes, gpumem_dtype index_type, const void* index, int64_t n,
                                  void* dst, int64_t dst_pitch_bytes, gpumem_status* status, gpumem_stream* stream) {
  return run(ctx, gather,
             {.row_bytes = row_bytes,
              .src = src,
              .src_rows = src_rows,
              .src_pitch = src_pitch_bytes,
              .index_type = index_type,
              .index = index,
              .n = n,
              .dst = dst,
              .dst_rows = n,
              .dst_pitch = dst_pitch_bytes,
              .status = status},
             enqueued(stream));
}

gpumem_status gpumem_scatter(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_pitch_bytes,
                             gpumem_dtype index_type, const void* index, int64_t n, void* dst, int64_t dst_rows,
                             int64_t dst_pitch_bytes) {
  return run(ctx, scatter,
             {.row_bytes = row_bytes,
              .src = src,
              .src_rows = n,
              .src_pitch = src_pitch_bytes,
              .index_type = index_type,
              .index = index,
              .n = n,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_pitch = dst_pitch_bytes});
}

gpumem_status gpumem_scatter_async(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_pitch_bytes,
                                   gpumem_dtype index_type, const void* index, int64_t n, void* dst, int64_t dst_rows,
                                   int64_t dst_pitch_bytes, gpumem_status* status, gpumem_stream* stream) {
  return run(ctx, scatter,
             {.row_bytes = row_bytes,
              .src = src,
              .src_rows = n,
              .src_pitch = src_pitch_bytes,
              .index_type = index_type,
              .index = index,
              .n = n,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_pitch = dst_pitch_bytes,
              .status = status},
             enqueued(stream));
}
