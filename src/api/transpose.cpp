// C functions of the transpose.
#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

TransposeParams matrices(int64_t element_bytes, int64_t rows, int64_t cols, const void* src, int64_t src_ld,
                         int64_t src_batch_stride, void* dst, int64_t dst_ld, int64_t dst_batch_stride,
                         int64_t batches) noexcept {
  return {.element_bytes = element_bytes,
          .rows = rows,
          .cols = cols,
          .src = src,
          .src_ld = src_ld,
          .dst = dst,
          .dst_ld = dst_ld,
          .batches = batches,
          .src_batch_stride = src_batch_stride,
          .dst_batch_stride = dst_batch_stride};
}

}  // namespace

gpumem_status gpumem_transpose(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols, const void* src,
                               int64_t src_ld, void* dst, int64_t dst_ld) {
  return run(ctx, transpose, matrices(element_bytes, rows, cols, src, src_ld, 0, dst, dst_ld, 0, 1));
}

gpumem_status gpumem_transpose_async(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                     const void* src, int64_t src_ld, void* dst, int64_t dst_ld,
                                     gpumem_stream* stream) {
  return run(ctx, transpose, matrices(element_bytes, rows, cols, src, src_ld, 0, dst, dst_ld, 0, 1), enqueued(stream));
}

gpumem_status gpumem_transpose_batched(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                       const void* src, int64_t src_ld, int64_t src_batch_stride, void* dst,
                                       int64_t dst_ld, int64_t dst_batch_stride, int64_t batches) {
  return run(
      ctx, transpose,
      matrices(element_bytes, rows, cols, src, src_ld, src_batch_stride, dst, dst_ld, dst_batch_stride, batches));
}

gpumem_status gpumem_transpose_batched_async(gpumem_ctx* ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                             const void* src, int64_t src_ld, int64_t src_batch_stride, void* dst,
                                             int64_t dst_ld, int64_t dst_batch_stride, int64_t batches,
                                             gpumem_stream* stream) {
  return run(ctx, transpose,
             matrices(element_bytes, rows, cols, src, src_ld, src_batch_stride, dst, dst_ld, dst_batch_stride, batches),
             enqueued(stream));
}
