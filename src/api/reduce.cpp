// Reductions. The typed functions differ from the general ones in their types alone.
#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

// The operations that have functions of their own are known to gpumem_explain() alone.
void require_general(gpumem_reduce_op op) {
  if (op < GPUMEM_SUM || op > GPUMEM_SUM_COMPENSATED) {
    fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected GPUMEM_SUM to GPUMEM_SUM_COMPENSATED (%d to %d)", op, GPUMEM_SUM,
         GPUMEM_SUM_COMPENSATED);
  }
}

gpumem_reduce_op search_for(gpumem_reduce_op op) {
  if (op != GPUMEM_MIN && op != GPUMEM_MAX) {
    fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected GPUMEM_MIN (%d) or GPUMEM_MAX (%d)", op, GPUMEM_MIN, GPUMEM_MAX);
  }
  return op == GPUMEM_MIN ? GPUMEM_ARG_MIN : GPUMEM_ARG_MAX;
}

// One value, now or in the order of a stream, by an operation that the function's name says.
gpumem_status value(gpumem_ctx* ctx, const ReduceCall& call, void* result) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(result, "result");
    reduce(context, call, result, nullptr);
  });
}

gpumem_status value_async(gpumem_ctx* ctx, const ReduceCall& call, void* result, gpumem_stream* stream) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(result, "result");
    reduce_async(context, call, {result, nullptr, nullptr}, stream_of(context, stream));
  });
}

// The same by an operation that the program names.
gpumem_status general(gpumem_ctx* ctx, const ReduceCall& call, void* result) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(result, "result");
    require_general(call.op);
    reduce(context, call, result, nullptr);
  });
}

gpumem_status general_async(gpumem_ctx* ctx, const ReduceCall& call, void* result, gpumem_status* status,
                            gpumem_stream* stream) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(result, "result");
    require_general(call.op);
    reduce_async(context, call, {result, nullptr, status}, stream_of(context, stream));
  });
}

gpumem_status search(gpumem_ctx* ctx, ReduceCall call, void* found, int64_t* index) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(index, "index");
    call.op = search_for(call.op);
    reduce(context, call, found, index);
  });
}

gpumem_status search_async(gpumem_ctx* ctx, ReduceCall call, void* found, int64_t* index,
                           gpumem_stream* stream) noexcept {
  return with_context(ctx, [&](Context& context) {
    require(index, "index");
    call.op = search_for(call.op);
    reduce_async(context, call, {found, index, nullptr}, stream_of(context, stream));
  });
}

}  // namespace

gpumem_status gpumem_reduce(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                            int64_t stride, void* result) {
  return general(ctx, {dtype, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_i32(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                int64_t* result) {
  return general(ctx, {GPUMEM_I32, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_i64(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                int64_t* result) {
  return general(ctx, {GPUMEM_I64, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_u32(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n, int64_t stride,
                                uint64_t* result) {
  return general(ctx, {GPUMEM_U32, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_u64(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n, int64_t stride,
                                uint64_t* result) {
  return general(ctx, {GPUMEM_U64, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_f32(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                double* result) {
  return general(ctx, {GPUMEM_F32, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_f64(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                double* result) {
  return general(ctx, {GPUMEM_F64, op, x, n, stride}, result);
}

gpumem_status gpumem_reduce_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                  int64_t stride, void* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {dtype, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_i32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                      int64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_I32, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_i64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                      int64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_I64, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_u32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n,
                                      int64_t stride, uint64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_U32, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_u64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n,
                                      int64_t stride, uint64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_U64, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_f32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                      double* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_F32, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_reduce_f64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                      double* result, gpumem_status* status, gpumem_stream* stream) {
  return general_async(ctx, {GPUMEM_F64, op, x, n, stride}, result, status, stream);
}

gpumem_status gpumem_argreduce(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                               int64_t stride, void* value, int64_t* index) {
  return search(ctx, {dtype, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_i32(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                   int64_t* value, int64_t* index) {
  return search(ctx, {GPUMEM_I32, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_i64(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                   int64_t* value, int64_t* index) {
  return search(ctx, {GPUMEM_I64, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_u32(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n, int64_t stride,
                                   uint64_t* value, int64_t* index) {
  return search(ctx, {GPUMEM_U32, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_u64(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n, int64_t stride,
                                   uint64_t* value, int64_t* index) {
  return search(ctx, {GPUMEM_U64, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_f32(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                   double* value, int64_t* index) {
  return search(ctx, {GPUMEM_F32, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_f64(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                   double* value, int64_t* index) {
  return search(ctx, {GPUMEM_F64, op, x, n, stride}, value, index);
}

gpumem_status gpumem_argreduce_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                     int64_t stride, void* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {dtype, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_i32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n,
                                         int64_t stride, int64_t* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_I32, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_i64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n,
                                         int64_t stride, int64_t* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_I64, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_u32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n,
                                         int64_t stride, uint64_t* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_U32, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_u64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n,
                                         int64_t stride, uint64_t* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_U64, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_f32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n,
                                         int64_t stride, double* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_F32, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_argreduce_f64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n,
                                         int64_t stride, double* value, int64_t* index, gpumem_stream* stream) {
  return search_async(ctx, {GPUMEM_F64, op, x, n, stride}, value, index, stream);
}

gpumem_status gpumem_dot_f32(gpumem_ctx* ctx, const float* x, const float* y, int64_t n, int64_t x_stride,
                             int64_t y_stride, double* result) {
  return value(ctx, {GPUMEM_F32, GPUMEM_DOT, x, n, x_stride, y, y_stride}, result);
}

gpumem_status gpumem_dot_f64(gpumem_ctx* ctx, const double* x, const double* y, int64_t n, int64_t x_stride,
                             int64_t y_stride, double* result) {
  return value(ctx, {GPUMEM_F64, GPUMEM_DOT, x, n, x_stride, y, y_stride}, result);
}

gpumem_status gpumem_dot_f32_async(gpumem_ctx* ctx, const float* x, const float* y, int64_t n, int64_t x_stride,
                                   int64_t y_stride, double* result, gpumem_stream* stream) {
  return value_async(ctx, {GPUMEM_F32, GPUMEM_DOT, x, n, x_stride, y, y_stride}, result, stream);
}

gpumem_status gpumem_dot_f64_async(gpumem_ctx* ctx, const double* x, const double* y, int64_t n, int64_t x_stride,
                                   int64_t y_stride, double* result, gpumem_stream* stream) {
  return value_async(ctx, {GPUMEM_F64, GPUMEM_DOT, x, n, x_stride, y, y_stride}, result, stream);
}

gpumem_status gpumem_nrm2_f32(gpumem_ctx* ctx, const float* x, int64_t n, int64_t stride, double* result) {
  return value(ctx, {GPUMEM_F32, GPUMEM_NRM2, x, n, stride}, result);
}

gpumem_status gpumem_nrm2_f64(gpumem_ctx* ctx, const double* x, int64_t n, int64_t stride, double* result) {
  return value(ctx, {GPUMEM_F64, GPUMEM_NRM2, x, n, stride}, result);
}

gpumem_status gpumem_nrm2_f32_async(gpumem_ctx* ctx, const float* x, int64_t n, int64_t stride, double* result,
                                    gpumem_stream* stream) {
  return value_async(ctx, {GPUMEM_F32, GPUMEM_NRM2, x, n, stride}, result, stream);
}

gpumem_status gpumem_nrm2_f64_async(gpumem_ctx* ctx, const double* x, int64_t n, int64_t stride, double* result,
                                    gpumem_stream* stream) {
  return value_async(ctx, {GPUMEM_F64, GPUMEM_NRM2, x, n, stride}, result, stream);
}

gpumem_status gpumem_reduce_axis(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                 const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                 int64_t batch_stride, void* result) {
  return with_context(ctx, [&](Context& context) {
    reduce_axis(context, {dtype, op, axis, x, rows, cols, ld, batches, batch_stride}, result);
  });
}

gpumem_status gpumem_reduce_axis_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                       const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                       int64_t batch_stride, void* result, gpumem_status* status,
                                       gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) {
    reduce_axis_async(context, {dtype, op, axis, x, rows, cols, ld, batches, batch_stride}, result, status,
                      stream_of(context, stream));
  });
}

gpumem_status gpumem_reduce_segments(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                     const int64_t* offsets, int64_t segments, void* result) {
  return with_context(ctx, [&](Context& context) {
    reduce_segments(context, {dtype, op, x, n, offsets, segments}, result);
  });
}

gpumem_status gpumem_reduce_segments_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                           int64_t n, const int64_t* offsets, int64_t segments, void* result,
                                           gpumem_status* status, gpumem_stream* stream) {
  return with_context(ctx, [&](Context& context) {
    reduce_segments_async(context, {dtype, op, x, n, offsets, segments}, result, status, stream_of(context, stream));
  });
}
