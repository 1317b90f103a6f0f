#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_fill(gpumem_ctx* ctx, void* dst, const void* pattern, int64_t pattern_bytes, int64_t count) {
  return run(ctx, fill, {.dst = dst, .pattern = pattern, .pattern_bytes = pattern_bytes, .count = count});
}

gpumem_status gpumem_fill_async(gpumem_ctx* ctx, void* dst, const void* pattern, int64_t pattern_bytes, int64_t count,
                                gpumem_stream* stream) {
  return run(ctx, fill, {.dst = dst, .pattern = pattern, .pattern_bytes = pattern_bytes, .count = count},
             enqueued(stream));
}

gpumem_status gpumem_fill_2d(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* pattern,
                             int64_t pattern_bytes, int64_t cols, int64_t rows) {
  return run(ctx, fill,
             {.dst = dst,
              .pattern = pattern,
              .pattern_bytes = pattern_bytes,
              .count = cols,
              .rows = rows,
              .pitch = dst_pitch_bytes,
              .rank = 2});
}

gpumem_status gpumem_fill_2d_async(gpumem_ctx* ctx, void* dst, int64_t dst_pitch_bytes, const void* pattern,
                                   int64_t pattern_bytes, int64_t cols, int64_t rows, gpumem_stream* stream) {
  return run(ctx, fill,
             {.dst = dst,
              .pattern = pattern,
              .pattern_bytes = pattern_bytes,
              .count = cols,
              .rows = rows,
              .pitch = dst_pitch_bytes,
              .rank = 2},
             enqueued(stream));
}
