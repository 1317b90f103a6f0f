#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_reduce_by_index(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                     gpumem_dtype index_type, const void* index, int64_t n, void* result,
                                     int64_t bins) {
  return run(ctx, reduce_by_index,
             {.dtype = dtype,
              .op = op,
              .x = x,
              .index_type = index_type,
              .index = index,
              .n = n,
              .result = result,
              .bins = bins});
}

gpumem_status gpumem_reduce_by_index_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                           gpumem_dtype index_type, const void* index, int64_t n, void* result,
                                           int64_t bins, gpumem_status* status, gpumem_stream* stream) {
  return run(ctx, reduce_by_index,
             {.dtype = dtype,
              .op = op,
              .x = x,
              .index_type = index_type,
              .index = index,
              .n = n,
              .result = result,
              .bins = bins,
              .status = status},
             enqueued(stream));
}
