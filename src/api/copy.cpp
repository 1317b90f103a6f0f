// Copies: of one range, of rows, of slices of rows.
#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

gpumem_status block(gpumem_ctx* ctx, void* dst, int64_t dst_pitch, int64_t dst_slice, const void* src,
                    int64_t src_pitch, int64_t src_slice, int64_t row_bytes, int64_t rows, int64_t slices, int32_t rank,
                    Order order = {}) noexcept {
  return run(ctx, copy,
             {static_cast<char*>(dst), dst_pitch, dst_slice, static_cast<const char*>(src), src_pitch, src_slice,
              row_bytes, rows, slices, rank},
             order);
}

}  // namespace

gpumem_status gpumem_copy(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes) {
  return block(ctx, dst, 0, 0, src, 0, 0, bytes, 1, 1, 1);
}

gpumem_status gpumem_copy_async(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes, gpumem_stream* stream) {
  return block(ctx, dst, 0, 0, src, 0, 0, bytes, 1, 1, 1, enqueued(stream));
}

gpumem_status gpumem_copy_2d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                             int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows) {
  return block(ctx, dst, dst_pitch_bytes, 0, src, src_pitch_bytes, 0, row_bytes, rows, 1, 2);
}

gpumem_status gpumem_copy_2d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                                   int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows, gpumem_stream* stream) {
  return block(ctx, dst, dst_pitch_bytes, 0, src, src_pitch_bytes, 0, row_bytes, rows, 1, 2, enqueued(stream));
}

gpumem_status gpumem_copy_3d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                             const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                             int64_t rows, int64_t slices) {
  return block(ctx, dst, dst_pitch_bytes, dst_slice_bytes, src, src_pitch_bytes, src_slice_bytes, row_bytes, rows,
               slices, 3);
}

gpumem_status gpumem_copy_3d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                                   const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                                   int64_t rows, int64_t slices, gpumem_stream* stream) {
  return block(ctx, dst, dst_pitch_bytes, dst_slice_bytes, src, src_pitch_bytes, src_slice_bytes, row_bytes, rows,
               slices, 3, enqueued(stream));
}
