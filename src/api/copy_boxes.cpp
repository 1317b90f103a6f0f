#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_copy_boxes(gpumem_ctx* ctx, int64_t element_bytes, int32_t ndim, int64_t count,
                                const int64_t* extents, const void* const* src, const int64_t* src_strides,
                                void* const* dst, const int64_t* dst_strides) {
  return run(ctx, copy_boxes,
             {.element_bytes = element_bytes,
              .rank = ndim,
              .count = count,
              .extents = extents,
              .src = src,
              .src_strides = src_strides,
              .dst = dst,
              .dst_strides = dst_strides});
}

gpumem_status gpumem_copy_boxes_async(gpumem_ctx* ctx, int64_t element_bytes, int32_t ndim, int64_t count,
                                      const int64_t* extents, const void* const* src, const int64_t* src_strides,
                                      void* const* dst, const int64_t* dst_strides, gpumem_stream* stream) {
  return run(ctx, copy_boxes,
             {.element_bytes = element_bytes,
              .rank = ndim,
              .count = count,
              .extents = extents,
              .src = src,
              .src_strides = src_strides,
              .dst = dst,
              .dst_strides = dst_strides},
             enqueued(stream));
}
