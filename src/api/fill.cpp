// Fills.
#include "ops/operations.hpp"

#include "api/guard.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_fill(gpumem_ctx* ctx, void* dst, const void* pattern, int64_t pattern_bytes, int64_t count) {
  return with_context(ctx, [&](Context& context) {
    fill(context, {dst, pattern_bytes, count}, pattern, context.own_stream(), Until::complete);
  });
}

gpumem_status gpumem_fill_async(gpumem_ctx* ctx, void* dst, const void* pattern, int64_t pattern_bytes, int64_t count,
                                gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) {
    fill(context, {dst, pattern_bytes, count}, pattern, stream_of(context, stream), Until::enqueued);
  });
}

gpumem_status gpumem_fill_2d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* pattern,
                             int64_t pattern_bytes, int64_t cols, int64_t rows) {
  return with_context(ctx, [&](Context& context) {
    fill(context, {dst, pattern_bytes, cols, true, rows, dst_pitch_bytes}, pattern, context.own_stream(),
         Until::complete);
  });
}

gpumem_status gpumem_fill_2d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* pattern,
                                   int64_t pattern_bytes, int64_t cols, int64_t rows, gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) {
    fill(context, {dst, pattern_bytes, cols, true, rows, dst_pitch_bytes}, pattern, stream_of(context, stream),
         Until::enqueued);
  });
}
