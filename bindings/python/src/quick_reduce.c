/* Fast paths of reductions of one or two arrays. */
#include <string.h>

#include "quick.h"

LIBRARY(gpumem_argreduce);
LIBRARY(gpumem_dot_f32);
LIBRARY(gpumem_dot_f64);
LIBRARY(gpumem_nrm2_f32);
LIBRARY(gpumem_nrm2_f64);
LIBRARY(gpumem_reduce);
LIBRARY(gpumem_reduce_axis);

PyObject* quick_reduce(void* ctx, int32_t op, PyObject* x) {
  Operands all;
  operands_begin(&all);
  const View* view = operands_take(&all, x, false);
  const int64_t stride = view ? view_sequence_stride(view) : 0;
  if (stride < 1) return operands_leave(&all);
  int64_t result[2];
  gpumem_status status;
  RUN(p_gpumem_reduce(ctx, view->dtype, op, view->address, view_size(view), stride, result))
  if (status != GPUMEM_OK) return operands_end(&all, raise_status(status));
  PyObject* first = from_result(view->dtype, &result[0]);
  return operands_end(&all,
                      op != GPUMEM_MIN_MAX ? first : Py_BuildValue("NN", first, from_result(view->dtype, &result[1])));
}

static int64_t product(const int64_t* extents, int32_t count) {
  int64_t all = 1;
  for (int32_t i = 0; i < count; ++i) all *= extents[i];
  return all;
}

/* Reduces an array without padding along an axis. If some results are missing, the general path returns the others. */
PyObject* quick_reduce_axis(void* ctx, int32_t op, PyObject* object, int64_t axis) {
  Operands all;
  operands_begin(&all);
  const View* x = operands_take(&all, object, false);
  if (!x || view_size(x) == 0 || !view_is_contiguous(x) || axis < -x->ndim || axis >= x->ndim || op == GPUMEM_MIN_MAX)
    return operands_leave(&all);
  const int32_t at = (int32_t)(axis < 0 ? axis + x->ndim : axis), behind = x->ndim - at - 1;
  int64_t shape[MAX_AXES];
  memcpy(shape, x->shape, (size_t)at * sizeof shape[0]);
  memcpy(shape + at, x->shape + at + 1, (size_t)behind * sizeof shape[0]);
  const int32_t dtype = x->dtype >= GPUMEM_F16 ? GPUMEM_F64 : x->dtype % 2 == 0 ? GPUMEM_I64 : GPUMEM_U64;
  const View* to = operands_take_result(&all, Py_None, object, shape, x->ndim - 1, dtype);
  if (!to) return operands_leave(&all);
  const int64_t lead = product(x->shape, at), extent = x->shape[at], trail = product(shape + at, behind);
  gpumem_status status;
  RUN(trail == 1 ? p_gpumem_reduce_axis(ctx, x->dtype, op, GPUMEM_AXIS_ROWS, x->address, lead, extent, extent, 1, 0,
                                        to->address)
                 : p_gpumem_reduce_axis(ctx, x->dtype, op, GPUMEM_AXIS_COLS, x->address, extent, trail, trail, lead,
                                        extent * trail, to->address))
  return status == GPUMEM_OK ? operands_end_with(&all, status, NULL) : operands_leave(&all);
}

/* quick_argreduce(ctx, op, x) */
static PyObject* quick_argreduce(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  int32_t op;
  if (!check_count("quick_argreduce", 3, given) || !to_pointer(args[0], &ctx, "ctx") || !to_int32(args[1], &op, "op"))
    return NULL;
  Operands all;
  operands_begin(&all);
  const View* x = operands_take(&all, args[2], false);
  const int64_t stride = x ? view_sequence_stride(x) : 0;
  if (stride < 1) return operands_leave(&all);
  int64_t value, index;
  gpumem_status status;
  RUN(p_gpumem_argreduce(ctx, x->dtype, op, x->address, view_size(x), stride, &value, &index))
  if (status != GPUMEM_OK) return operands_end(&all, raise_status(status));
  return operands_end(&all, Py_BuildValue("NL", from_result(x->dtype, &value), (long long)index));
}

/* quick_dot(ctx, x, y) */
static PyObject* quick_dot(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_dot", 3, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  Operands all;
  operands_begin(&all);
  const View* x = operands_take(&all, args[1], false);
  const View* y = x ? operands_take(&all, args[2], false) : NULL;
  if (!y || !is_float(x) || y->dtype != x->dtype || view_size(x) != view_size(y)) return operands_leave(&all);
  const int64_t n = view_size(x), dx = view_sequence_stride(x), dy = view_sequence_stride(y);
  if (dx < 1 || dy < 1) return operands_leave(&all);
  double result;
  gpumem_status status;
  RUN(x->dtype == GPUMEM_F32
          ? p_gpumem_dot_f32(ctx, (const float*)x->address, (const float*)y->address, n, dx, dy, &result)
          : p_gpumem_dot_f64(ctx, (const double*)x->address, (const double*)y->address, n, dx, dy, &result))
  return operands_end(&all, status == GPUMEM_OK ? PyFloat_FromDouble(result) : raise_status(status));
}

/* quick_nrm2(ctx, x) */
static PyObject* quick_nrm2(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_nrm2", 2, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  Operands all;
  operands_begin(&all);
  const View* x = operands_take(&all, args[1], false);
  const int64_t stride = x && is_float(x) ? view_sequence_stride(x) : 0;
  if (stride < 1) return operands_leave(&all);
  double result;
  gpumem_status status;
  RUN(x->dtype == GPUMEM_F32 ? p_gpumem_nrm2_f32(ctx, (const float*)x->address, view_size(x), stride, &result)
                             : p_gpumem_nrm2_f64(ctx, (const double*)x->address, view_size(x), stride, &result))
  return operands_end(&all, status == GPUMEM_OK ? PyFloat_FromDouble(result) : raise_status(status));
}

PyMethodDef quick_reductions[] = {
    QUICK(argreduce, "(ctx, op, x)"), QUICK(dot, "(ctx, x, y)"), QUICK(nrm2, "(ctx, x)"), {NULL, NULL, 0, NULL}};
