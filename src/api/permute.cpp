#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_permute(gpumem_ctx* ctx, int64_t element_bytes, int32_t rank, const int64_t* extents,
                             const int32_t* order, const void* src, const int64_t* src_strides, void* dst,
                             const int64_t* dst_strides) {
  return run(ctx, permute,
             {.element_bytes = element_bytes,
              .rank = rank,
              .extents = extents,
              .order = order,
              .src = src,
              .src_strides = src_strides,
              .dst = dst,
              .dst_strides = dst_strides});
}

gpumem_status gpumem_permute_async(gpumem_ctx* ctx, int64_t element_bytes, int32_t rank, const int64_t* extents,
                                   const int32_t* order, const void* src, const int64_t* src_strides, void* dst,
                                   const int64_t* dst_strides, gpumem_stream* stream) {
  return run(ctx, permute,
             {.element_bytes = element_bytes,
              .rank = rank,
              .extents = extents,
              .order = order,
              .src = src,
              .src_strides = src_strides,
              .dst = dst,
              .dst_strides = dst_strides},
             enqueued(stream));
}
