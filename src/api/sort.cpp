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
