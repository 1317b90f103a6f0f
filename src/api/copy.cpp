// Copies: of one range, of rows, of slices of rows.
#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

gpumem_status copy_now(gpumem_ctx* ctx, const CopyCall& call) noexcept {
  return with_context(ctx, [&](Context& context) { copy(context, call, context.own_stream(), Until::complete); });
}

gpumem_status enqueue_copy(gpumem_ctx* ctx, const CopyCall& call, const gpumem_stream* stream) noexcept {
  return with_context(ctx, [&](Context& context) { copy(context, call, stream_of(context, stream), Until::enqueued); });
}

}  // namespace

gpumem_status gpumem_copy(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes) {
  return copy_now(ctx, {dst, {}, src, {}, bytes});
}

gpumem_status gpumem_copy_async(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes, gpumem_stream* stream) {
  return enqueue_copy(ctx, {dst, {}, src, {}, bytes}, stream);
}

gpumem_status gpumem_copy_2d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                             int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows) {
  return copy_now(ctx, {dst, {dst_pitch_bytes, 0}, src, {src_pitch_bytes, 0}, row_bytes, rows, 1, 2});
}

gpumem_status gpumem_copy_2d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* src,
                                   int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows, gpumem_stream* stream) {
  return enqueue_copy(ctx, {dst, {dst_pitch_bytes, 0}, src, {src_pitch_bytes, 0}, row_bytes, rows, 1, 2}, stream);
}

gpumem_status gpumem_copy_3d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                             const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                             int64_t rows, int64_t slices) {
  const CopySide to{dst_pitch_bytes, dst_slice_bytes};
  const CopySide from{src_pitch_bytes, src_slice_bytes};
  return copy_now(ctx, {dst, to, src, from, row_bytes, rows, slices, 3});
}

gpumem_status gpumem_copy_3d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                                   const void* src, int64_t src_pitch_bytes, int64_t src_slice_bytes, int64_t row_bytes,
                                   int64_t rows, int64_t slices, gpumem_stream* stream) {
  const CopySide to{dst_pitch_bytes, dst_slice_bytes};
  const CopySide from{src_pitch_bytes, src_slice_bytes};
  return enqueue_copy(ctx, {dst, to, src, from, row_bytes, rows, slices, 3}, stream);
}
