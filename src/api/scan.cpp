#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

ScanParams scan_of(gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, const void* x, int64_t n, void* result,
                   gpumem_dtype result_type, gpumem_status* status = nullptr) noexcept {
  ScanParams scan;
  scan.dtype = dtype;
  scan.op = op;
  scan.exclusive = exclusive;
  scan.x = x;
  scan.n = n;
  scan.result = result;
  scan.result_type = result_type;
  scan.status = status;
  return scan;
}

}  // namespace

gpumem_status gpumem_scan(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, const void* x,
                          int64_t n, void* result, gpumem_dtype result_type) {
  return run(ctx, scan, scan_of(dtype, op, exclusive, x, n, result, result_type));
}

gpumem_status gpumem_scan_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                const void* x, int64_t n, void* result, gpumem_dtype result_type, gpumem_status* status,
                                gpumem_stream* stream) {
  return run(ctx, scan, scan_of(dtype, op, exclusive, x, n, result, result_type, status), enqueued(stream));
}

gpumem_status gpumem_scan_axis(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                               int32_t ndim, const int64_t* extents, int32_t axis, const void* x,
                               const int64_t* x_strides, void* result, const int64_t* result_strides,
                               gpumem_dtype result_type) {
  return run(
      ctx, scan_axis,
      {scan_of(dtype, op, exclusive, x, 0, result, result_type), ndim, extents, axis, x_strides, result_strides});
}

gpumem_status gpumem_scan_axis_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                     int32_t ndim, const int64_t* extents, int32_t axis, const void* x,
                                     const int64_t* x_strides, void* result, const int64_t* result_strides,
                                     gpumem_dtype result_type, gpumem_status* status, gpumem_stream* stream) {
  return run(ctx, scan_axis,
             {scan_of(dtype, op, exclusive, x, 0, result, result_type, status), ndim, extents, axis, x_strides,
              result_strides},
             enqueued(stream));
}

gpumem_status gpumem_scan_segments(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                   const void* x, int64_t n, const int64_t* offsets, int64_t segments, void* result,
                                   gpumem_dtype result_type) {
  ScanParams params = scan_of(dtype, op, exclusive, x, n, result, result_type);
  params.offsets = offsets;
  params.segments = segments;
  return run(ctx, scan_segments, params);
}

gpumem_status gpumem_scan_segments_async(gpumem_ctx* ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                         const void* x, int64_t n, const int64_t* offsets, int64_t segments,
                                         void* result, gpumem_dtype result_type, gpumem_status* status,
                                         gpumem_stream* stream) {
  ScanParams params = scan_of(dtype, op, exclusive, x, n, result, result_type, status);
  params.offsets = offsets;
  params.segments = segments;
  return run(ctx, scan_segments, params, enqueued(stream));
}
