// Entry points for reductions. Typed functions differ from general ones only in their types.
#include "ops/reduce/reduce.hpp"
#include "api/guard.hpp"
#include "ops/call_record.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

// One value, after check(params) has accepted the arguments. A rejected problem still counts as this thread's last one.
// view: nullptr if the operands are sequences.
template <class Check>
gpumem_status checked(gpumem_ctx* ctx, ReduceParams params, Order order, const ViewArguments* view,
                      const Check& check) noexcept {
  if (view != nullptr) params = with_view(params, *view);
  return with_context(ctx, [&](Context& context) {
    note_call(params, order.completion);
    if (view != nullptr) gpumem::check(*view);
    check(params);
    run_profiled(context, order, [&](NativeStream stream) { reduce(context, params, stream, order.completion); });
  });
}

gpumem_status value(gpumem_ctx* ctx, const ReduceParams& params, Order order = {},
                    const ViewArguments* view = nullptr) noexcept {
  return checked(ctx, params, order, view, [](const ReduceParams& p) { require(p.result, "result"); });
}

gpumem_status general(gpumem_ctx* ctx, const ReduceParams& params, Order order = {},
                      const ViewArguments* view = nullptr) noexcept {
  return checked(ctx, params, order, view, [](const ReduceParams& p) {
    require(p.result, "result");
    require_general(p.op);
  });
}

gpumem_status search(gpumem_ctx* ctx, const ReduceParams& params, Order order = {},
                     const ViewArguments* view = nullptr) noexcept {
  return checked(ctx, params, order, view, [](ReduceParams& p) {
    require(p.index, "index");
    p.op = search_for(p.op);
  });
}

template <class T>
ReduceParams reduction(gpumem_reduce_op op, const T* x, int64_t n, int64_t stride, void* result,
                       gpumem_status* status = nullptr) noexcept {
  return {.dtype = kDtypeOf<T>, .op = op, .x = x, .n = n, .stride = stride, .result = result, .status = status};
}
template <class T>
ReduceParams arg_reduction(gpumem_reduce_op op, const T* x, int64_t n, int64_t stride, void* value,
                           int64_t* index) noexcept {
  return {.dtype = kDtypeOf<T>, .op = op, .x = x, .n = n, .stride = stride, .result = value, .index = index};
}

template <class T>
ReduceParams dot(const T* x, const T* y, int64_t n, int64_t x_stride, int64_t y_stride, double* result) noexcept {
  ReduceParams params = reduction(GPUMEM_DOT, x, n, x_stride, result);
  params.y = y;
  params.y_stride = y_stride;
  return params;
}

ReduceAxisParams matrices(gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis, const void* x, int64_t rows,
                          int64_t cols, int64_t ld, int64_t batches, int64_t batch_stride, void* result,
                          gpumem_status* status = nullptr) noexcept {
  return {.dtype = dtype,
          .op = op,
          .axis = axis,
          .x = x,
          .rows = rows,
          .cols = cols,
          .ld = ld,
          .batches = batches,
          .batch_stride = batch_stride,
          .result = result,
          .status = status};
}

// As checked(), for reductions of many lines.
template <class Check>
gpumem_status checked_axis(gpumem_ctx* ctx, ReduceAxisParams params, Order order, const Check& check) noexcept {
  return with_context(ctx, [&](Context& context) {
    run_profiled(context, order, [&](NativeStream stream) {
      note_call(params, order.completion);
      check(params);
      reduce_axis(context, params, stream, order.completion);
    });
  });
}

gpumem_status general_axis(gpumem_ctx* ctx, const ReduceAxisParams& params, Order order = {}) noexcept {
  return checked_axis(ctx, params, order, [](const ReduceAxisParams& p) { require_general(p.op); });
}

gpumem_status search_axis(gpumem_ctx* ctx, ReduceAxisParams params, int64_t* index, Order order = {}) noexcept {
  params.index = index;
  return checked_axis(ctx, params, order, [](ReduceAxisParams& p) {
    require(p.index, "index");
    p.op = search_for(p.op);
  });
}

}  // namespace

gpumem_status gpumem_reduce(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                            int64_t stride, void* result) {
  return general(ctx, {.dtype = dtype, .op = op, .x = x, .n = n, .stride = stride, .result = result});
}

gpumem_status gpumem_reduce_i32(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                int64_t* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_i64(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                int64_t* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_u32(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n, int64_t stride,
                                uint64_t* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_u64(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n, int64_t stride,
                                uint64_t* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_f32(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                double* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_f64(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                double* result) {
  return general(ctx, reduction(op, x, n, stride, result));
}

gpumem_status gpumem_reduce_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                  int64_t stride, void* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, {.dtype = dtype, .op = op, .x = x, .n = n, .stride = stride, .result = result, .status = status},
                 enqueued(stream));
}

gpumem_status gpumem_reduce_i32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                      int64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_reduce_i64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                      int64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_reduce_u32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n,
                                      int64_t stride, uint64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_reduce_u64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n,
                                      int64_t stride, uint64_t* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_reduce_f32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                      double* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_reduce_f64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                      double* result, gpumem_status* status, gpumem_stream* stream) {
  return general(ctx, reduction(op, x, n, stride, result, status), enqueued(stream));
}

gpumem_status gpumem_argreduce(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                               int64_t stride, void* value, int64_t* index) {
  return search(ctx, {.dtype = dtype, .op = op, .x = x, .n = n, .stride = stride, .result = value, .index = index});
}

gpumem_status gpumem_argreduce_i32(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, int64_t stride,
                                   int64_t* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_i64(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n, int64_t stride,
                                   int64_t* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_u32(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n, int64_t stride,
                                   uint64_t* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_u64(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n, int64_t stride,
                                   uint64_t* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_f32(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n, int64_t stride,
                                   double* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_f64(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n, int64_t stride,
                                   double* value, int64_t* index) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index));
}

gpumem_status gpumem_argreduce_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                     int64_t stride, void* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, {.dtype = dtype, .op = op, .x = x, .n = n, .stride = stride, .result = value, .index = index},
                enqueued(stream));
}

gpumem_status gpumem_argreduce_i32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n,
                                         int64_t stride, int64_t* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_argreduce_i64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const int64_t* x, int64_t n,
                                         int64_t stride, int64_t* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_argreduce_u32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint32_t* x, int64_t n,
                                         int64_t stride, uint64_t* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_argreduce_u64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const uint64_t* x, int64_t n,
                                         int64_t stride, uint64_t* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_argreduce_f32_async(gpumem_ctx* ctx, gpumem_reduce_op op, const float* x, int64_t n,
                                         int64_t stride, double* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_argreduce_f64_async(gpumem_ctx* ctx, gpumem_reduce_op op, const double* x, int64_t n,
                                         int64_t stride, double* value, int64_t* index, gpumem_stream* stream) {
  return search(ctx, arg_reduction(op, x, n, stride, value, index), enqueued(stream));
}

gpumem_status gpumem_dot_f32(gpumem_ctx* ctx, const float* x, const float* y, int64_t n, int64_t x_stride,
                             int64_t y_stride, double* result) {
  return value(ctx, dot(x, y, n, x_stride, y_stride, result));
}

gpumem_status gpumem_dot_f64(gpumem_ctx* ctx, const double* x, const double* y, int64_t n, int64_t x_stride,
                             int64_t y_stride, double* result) {
  return value(ctx, dot(x, y, n, x_stride, y_stride, result));
}

gpumem_status gpumem_dot_f32_async(gpumem_ctx* ctx, const float* x, const float* y, int64_t n, int64_t x_stride,
                                   int64_t y_stride, double* result, gpumem_stream* stream) {
  return value(ctx, dot(x, y, n, x_stride, y_stride, result), enqueued(stream));
}

gpumem_status gpumem_dot_f64_async(gpumem_ctx* ctx, const double* x, const double* y, int64_t n, int64_t x_stride,
                                   int64_t y_stride, double* result, gpumem_stream* stream) {
  return value(ctx, dot(x, y, n, x_stride, y_stride, result), enqueued(stream));
}

gpumem_status gpumem_reduce_view(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                 const int64_t* extents, const void* x, const int64_t* x_strides, void* result) {
  const ViewArguments view{ndim, extents, x_strides};
  return general(ctx, {.dtype = dtype, .op = op, .x = x, .result = result}, {}, &view);
}

gpumem_status gpumem_reduce_view_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                       const int64_t* extents, const void* x, const int64_t* x_strides, void* result,
                                       gpumem_status* status, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides};
  return general(ctx, {.dtype = dtype, .op = op, .x = x, .result = result, .status = status}, enqueued(stream), &view);
}

gpumem_status gpumem_argreduce_view(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                    const int64_t* extents, const void* x, const int64_t* x_strides, void* value,
                                    int64_t* index) {
  const ViewArguments view{ndim, extents, x_strides};
  return search(ctx, {.dtype = dtype, .op = op, .x = x, .result = value, .index = index}, {}, &view);
}

gpumem_status gpumem_argreduce_view_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                          const int64_t* extents, const void* x, const int64_t* x_strides, void* value,
                                          int64_t* index, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides};
  return search(ctx, {.dtype = dtype, .op = op, .x = x, .result = value, .index = index}, enqueued(stream), &view);
}

gpumem_status gpumem_dot_view_f32(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const float* x,
                                  const int64_t* x_strides, const float* y, const int64_t* y_strides, double* result) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, dot(x, y, 1, 1, 1, result), {}, &view);
}

gpumem_status gpumem_dot_view_f64(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const double* x,
                                  const int64_t* x_strides, const double* y, const int64_t* y_strides, double* result) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, dot(x, y, 1, 1, 1, result), {}, &view);
}

gpumem_status gpumem_dot_view_f32_async(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const float* x,
                                        const int64_t* x_strides, const float* y, const int64_t* y_strides,
                                        double* result, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, dot(x, y, 1, 1, 1, result), enqueued(stream), &view);
}

gpumem_status gpumem_dot_view_f64_async(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const double* x,
                                        const int64_t* x_strides, const double* y, const int64_t* y_strides,
                                        double* result, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, dot(x, y, 1, 1, 1, result), enqueued(stream), &view);
}

gpumem_status gpumem_dot_order_free(gpumem_ctx* ctx, gpumem_dtype dtype, int32_t ndim, const int64_t* extents,
                                    const void* x, const int64_t* x_strides, const void* y, const int64_t* y_strides,
                                    double* result) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, {.dtype = dtype, .op = GPUMEM_DOT_ORDER_FREE, .x = x, .n = 1, .y = y, .result = result}, {}, &view);
}

gpumem_status gpumem_dot_order_free_async(gpumem_ctx* ctx, gpumem_dtype dtype, int32_t ndim, const int64_t* extents,
                                          const void* x, const int64_t* x_strides, const void* y,
                                          const int64_t* y_strides, double* result, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides, y_strides};
  return value(ctx, {.dtype = dtype, .op = GPUMEM_DOT_ORDER_FREE, .x = x, .n = 1, .y = y, .result = result},
               enqueued(stream), &view);
}

gpumem_status gpumem_nrm2_view_f32(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const float* x,
                                   const int64_t* x_strides, double* result) {
  const ViewArguments view{ndim, extents, x_strides};
  return value(ctx, reduction(GPUMEM_NRM2, x, 1, 1, result), {}, &view);
}

gpumem_status gpumem_nrm2_view_f64(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const double* x,
                                   const int64_t* x_strides, double* result) {
  const ViewArguments view{ndim, extents, x_strides};
  return value(ctx, reduction(GPUMEM_NRM2, x, 1, 1, result), {}, &view);
}

gpumem_status gpumem_nrm2_view_f32_async(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const float* x,
                                         const int64_t* x_strides, double* result, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides};
  return value(ctx, reduction(GPUMEM_NRM2, x, 1, 1, result), enqueued(stream), &view);
}

gpumem_status gpumem_nrm2_view_f64_async(gpumem_ctx* ctx, int32_t ndim, const int64_t* extents, const double* x,
                                         const int64_t* x_strides, double* result, gpumem_stream* stream) {
  const ViewArguments view{ndim, extents, x_strides};
  return value(ctx, reduction(GPUMEM_NRM2, x, 1, 1, result), enqueued(stream), &view);
}

gpumem_status gpumem_nrm2_f32(gpumem_ctx* ctx, const float* x, int64_t n, int64_t stride, double* result) {
  return value(ctx, reduction(GPUMEM_NRM2, x, n, stride, result));
}

gpumem_status gpumem_nrm2_f64(gpumem_ctx* ctx, const double* x, int64_t n, int64_t stride, double* result) {
  return value(ctx, reduction(GPUMEM_NRM2, x, n, stride, result));
}

gpumem_status gpumem_nrm2_f32_async(gpumem_ctx* ctx, const float* x, int64_t n, int64_t stride, double* result,
                                    gpumem_stream* stream) {
  return value(ctx, reduction(GPUMEM_NRM2, x, n, stride, result), enqueued(stream));
}

gpumem_status gpumem_nrm2_f64_async(gpumem_ctx* ctx, const double* x, int64_t n, int64_t stride, double* result,
                                    gpumem_stream* stream) {
  return value(ctx, reduction(GPUMEM_NRM2, x, n, stride, result), enqueued(stream));
}

gpumem_status gpumem_reduce_axis(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                 const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                 int64_t batch_stride, void* result) {
  return general_axis(ctx, matrices(dtype, op, axis, x, rows, cols, ld, batches, batch_stride, result));
}

gpumem_status gpumem_reduce_axis_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                       const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                       int64_t batch_stride, void* result, gpumem_status* status,
                                       gpumem_stream* stream) {
  return general_axis(ctx, matrices(dtype, op, axis, x, rows, cols, ld, batches, batch_stride, result, status),
                      enqueued(stream));
}

gpumem_status gpumem_argreduce_axis(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                    const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                    int64_t batch_stride, void* value, int64_t* index) {
  return search_axis(ctx, matrices(dtype, op, axis, x, rows, cols, ld, batches, batch_stride, value), index);
}

gpumem_status gpumem_argreduce_axis_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                          const void* x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                          int64_t batch_stride, void* value, int64_t* index, gpumem_status* status,
                                          gpumem_stream* stream) {
  return search_axis(ctx, matrices(dtype, op, axis, x, rows, cols, ld, batches, batch_stride, value, status), index,
                     enqueued(stream));
}

gpumem_status gpumem_reduce_axes(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                 const int64_t* extents, const void* x, const int64_t* x_strides, int32_t axes,
                                 void* result, gpumem_dtype result_type) {
  return run(ctx, reduce_axes,
             {.reduction = {.dtype = dtype, .op = op, .x = x, .result = result},
              .view = {ndim, extents, x_strides},
              .axes = axes,
              .result_type = result_type});
}

gpumem_status gpumem_reduce_axes_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                       const int64_t* extents, const void* x, const int64_t* x_strides, int32_t axes,
                                       void* result, gpumem_dtype result_type, gpumem_status* status,
                                       gpumem_stream* stream) {
  return run(ctx, reduce_axes,
             {.reduction = {.dtype = dtype, .op = op, .x = x, .result = result, .status = status},
              .view = {ndim, extents, x_strides},
              .axes = axes,
              .result_type = result_type},
             enqueued(stream));
}

gpumem_status gpumem_reduce_segments(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x, int64_t n,
                                     const int64_t* offsets, int64_t segments, void* result) {
  return run(ctx, reduce_segments,
             {.dtype = dtype, .op = op, .x = x, .n = n, .offsets = offsets, .segments = segments, .result = result});
}

gpumem_status gpumem_reduce_segments_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void* x,
                                           int64_t n, const int64_t* offsets, int64_t segments, void* result,
                                           gpumem_status* status, gpumem_stream* stream) {
  return run(ctx, reduce_segments,
             {.dtype = dtype,
              .op = op,
              .x = x,
              .n = n,
              .offsets = offsets,
              .segments = segments,
              .result = result,
              .status = status},
             enqueued(stream));
}
