#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_sort(gpumem_ctx* ctx, gpumem_dtype dtype, const void* keys, int64_t n, int32_t descending,
                          void* sorted, void* order, gpumem_dtype order_type) {
  return run(ctx, sort,
             {.dtype = dtype,
              .keys = keys,
              .n = n,
              .descending = descending,
              .sorted = sorted,
              .order = order,
              .order_type = order_type});
}

gpumem_status gpumem_sort_async(gpumem_ctx* ctx, gpumem_dtype dtype, const void* keys, int64_t n, int32_t descending,
                                void* sorted, void* order, gpumem_dtype order_type, gpumem_stream* stream) {
  return run(ctx, sort,
             {.dtype = dtype,
              .keys = keys,
              .n = n,
              .descending = descending,
              .sorted = sorted,
              .order = order,
              .order_type = order_type},
             enqueued(stream));
}

gpumem_status gpumem_sort_segments(gpumem_ctx* ctx, gpumem_dtype dtype, const void* keys, int64_t n,
                                   const int64_t* offsets, int64_t segments, int32_t descending, void* sorted,
                                   void* order, gpumem_dtype order_type) {
  return run(ctx, sort_segments,
             {.dtype = dtype,
              .keys = keys,
              .n = n,
              .descending = descending,
              .sorted = sorted,
              .order = order,
              .order_type = order_type,
              .offsets = offsets,
              .segments = segments});
}

gpumem_status gpumem_sort_segments_async(gpumem_ctx* ctx, gpumem_dtype dtype, const void* keys, int64_t n,
                                         const int64_t* offsets, int64_t segments, int32_t descending, void* sorted,
                                         void* order, gpumem_dtype order_type, gpumem_status* status,
                                         gpumem_stream* stream) {
  return run(ctx, sort_segments,
             {.dtype = dtype,
              .keys = keys,
              .n = n,
              .descending = descending,
              .sorted = sorted,
              .order = order,
              .order_type = order_type,
              .offsets = offsets,
              .segments = segments,
              .status = status},
             enqueued(stream));
}
