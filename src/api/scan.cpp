#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_scan(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, const void* x,
                          int64_t n, void* result, gpumem_dtype result_type) {
  return run(
      ctx, scan,
      {.dtype = dtype, .op = op, .exclusive = exclusive, .x = x, .n = n, .result = result, .result_type = result_type});
}

gpumem_status gpumem_scan_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                const void* x, int64_t n, void* result, gpumem_dtype result_type, gpumem_status* status,
                                gpumem_stream* stream) {
  return run(ctx, scan,
             {.dtype = dtype,
              .op = op,
              .exclusive = exclusive,
              .x = x,
              .n = n,
              .result = result,
              .result_type = result_type,
              .status = status},
             enqueued(stream));
}
