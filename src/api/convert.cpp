#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_convert(gpumem_ctx* ctx, gpumem_dtype src_type, const void* src, gpumem_dtype dst_type, void* dst,
                             int64_t n) {
  return run(ctx, convert, {.src_type = src_type, .src = src, .dst_type = dst_type, .dst = dst, .n = n});
}

gpumem_status gpumem_convert_async(gpumem_ctx* ctx, gpumem_dtype src_type, const void* src, gpumem_dtype dst_type,
                                   void* dst, int64_t n, gpumem_stream* stream) {
  return run(ctx, convert, {.src_type = src_type, .src = src, .dst_type = dst_type, .dst = dst, .n = n},
             enqueued(stream));
}
