#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_select(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_pitch_bytes,
                            const uint8_t* mask, int64_t n, void* dst, int64_t dst_rows, int64_t dst_pitch_bytes,
                            int64_t* kept) {
  return run(ctx, select_rows,
             {.row_bytes = row_bytes,
              .src = src,
              .src_pitch = src_pitch_bytes,
              .mask = mask,
              .n = n,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_pitch = dst_pitch_bytes,
              .kept = kept});
}

gpumem_status gpumem_select_async(gpumem_ctx* ctx, int64_t row_bytes, const void* src, int64_t src_pitch_bytes,
                                  const uint8_t* mask, int64_t n, void* dst, int64_t dst_rows, int64_t dst_pitch_bytes,
                                  int64_t* kept, gpumem_stream* stream) {
  return run(ctx, select_rows,
             {.row_bytes = row_bytes,
              .src = src,
              .src_pitch = src_pitch_bytes,
              .mask = mask,
              .n = n,
              .dst = dst,
              .dst_rows = dst_rows,
              .dst_pitch = dst_pitch_bytes,
              .kept = kept},
             enqueued(stream));
}

gpumem_status gpumem_select_places(gpumem_ctx* ctx, const uint8_t* mask, int64_t n, gpumem_dtype index_type,
                                   void* places, int64_t places_n, int64_t* kept) {
  return run(ctx, select_rows,
             {.places = true,
              .index_type = index_type,
              .mask = mask,
              .n = n,
              .dst = places,
              .dst_rows = places_n,
              .kept = kept});
}

gpumem_status gpumem_select_places_async(gpumem_ctx* ctx, const uint8_t* mask, int64_t n, gpumem_dtype index_type,
                                         void* places, int64_t places_n, int64_t* kept, gpumem_stream* stream) {
  return run(ctx, select_rows,
             {.places = true,
              .index_type = index_type,
              .mask = mask,
              .n = n,
              .dst = places,
              .dst_rows = places_n,
              .kept = kept},
             enqueued(stream));
}
