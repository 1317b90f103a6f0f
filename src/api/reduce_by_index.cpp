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

gpumem_status gpumem_reduce_rows_by_index(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                          int64_t rows, int64_t cols, int64_t ld, gpumem_dtype index_type,
                                          const void* index, void* result, int64_t bins) {
  return run(ctx, reduce_rows_by_index,
             {.dtype = dtype,
              .op = op,
              .x = x,
              .index_type = index_type,
              .index = index,
              .n = rows,
              .result = result,
              .bins = bins,
              .cols = cols,
              .ld = ld});
}

gpumem_status gpumem_reduce_rows_by_index_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                                int64_t rows, int64_t cols, int64_t ld, gpumem_dtype index_type,
                                                const void* index, void* result, int64_t bins, gpumem_status* status,
                                                gpumem_stream* stream) {
  return run(ctx, reduce_rows_by_index,
             {.dtype = dtype,
              .op = op,
              .x = x,
              .index_type = index_type,
              .index = index,
              .n = rows,
              .result = result,
              .bins = bins,
              .status = status,
              .cols = cols,
              .ld = ld},
             enqueued(stream));
}
