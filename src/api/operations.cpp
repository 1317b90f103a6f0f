// Movement.
#include "engine/operations.hpp"

#include "api/guard.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_copy(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes) {
  return with_context(ctx,
                      [&](Context& context) { copy(context, dst, src, bytes, context.own_stream(), Until::complete); });
}

gpumem_status gpumem_copy_async(gpumem_ctx* ctx, void* dst, const void* src, int64_t bytes, gpumem_stream* stream) {
  return with_context(
      ctx, [&](Context& context) { copy(context, dst, src, bytes, stream_of(context, stream), Until::enqueued); });
}

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
