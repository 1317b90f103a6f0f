/* Fast paths of reductions of one or two arrays. */
#include "quick.h"

LIBRARY_BOTH(gpumem_argreduce);
LIBRARY_BOTH(gpumem_argreduce_axis);
LIBRARY_BOTH(gpumem_dot_f32);
LIBRARY_BOTH(gpumem_dot_f64);
LIBRARY_BOTH(gpumem_nrm2_f32);
LIBRARY_BOTH(gpumem_nrm2_f64);
LIBRARY_BOTH(gpumem_reduce);
LIBRARY_BOTH(gpumem_reduce_axes);
LIBRARY_BOTH(gpumem_reduce_axis);

int32_t result_type(int32_t dtype) {
  return dtype >= GPUMEM_F16 ? GPUMEM_F64 : dtype % 2 == 0 ? GPUMEM_I64 : GPUMEM_U64;
}

bool to_axis(PyObject* object, int64_t* axis) {
  if (PyLong_Check(object) && to_int64(object, axis, "axis")) return true;
  PyErr_Clear();
  return false;
}

/* A reduction of all elements, as one sequence. */
static PyObject* reduce_all(PyObject* context, const Reduction* call) {
  static const int64_t two = 2;
  Operands all;
  if (!operands_begin(&all, context, call->stream)) Py_RETURN_NONE;
  const View* x = operands_take(&all, call->x, READ);
  const int64_t stride = x ? view_sequence_stride(x) : 0;
  if (stride < 1) return operands_leave(&all);
  const bool is_pair = call->op == GPUMEM_MIN_MAX, is_number = !all.stream && Py_IsNone(call->out);
  int64_t results[2];
  const View* to =
      is_number ? NULL : operands_take_values(&all, call->out, call->x, &two, is_pair, result_type(x->dtype));
  if (!is_number && !to) return operands_leave(&all);
  void* result = is_number ? (void*)results : to->address;
  gpumem_status status;
  CALL_WITH_STATUS(call->status, gpumem_reduce, all.ctx, x->dtype, call->op, x->address, view_size(x), stride, result)
  if (!is_number || status != GPUMEM_OK) return operands_end_with(&all, status, call->out);
  PyObject* first = from_result(x->dtype, &results[0]);
  return operands_end(&all, is_pair ? Py_BuildValue("NN", first, from_result(x->dtype, &results[1])) : first);
}

/* The matrices of an array without padding, with the reduced axis as rows or columns. */
typedef struct {
  int32_t ndim; /* of the result */
  gpumem_axis axis;
  int64_t shape[MAX_AXES], rows, cols, ld, batches, batch_stride;
} Lines;

/* False if the general path must describe them. If some results are missing, it returns the others. */
static bool to_lines(const View* x, int64_t axis, Lines* lines) {
  if (view_size(x) == 0 || !view_is_contiguous(x) || axis < -x->ndim || axis >= x->ndim) return false;
  const int32_t at = (int32_t)(axis < 0 ? axis + x->ndim : axis);
  const int64_t extent = x->shape[at];
  int64_t lead = 1, trail = 1;
  lines->ndim = 0;
  for (int32_t i = 0; i < x->ndim; ++i) {
    if (i == at) continue;
    lines->shape[lines->ndim++] = x->shape[i];
    *(i < at ? &lead : &trail) *= x->shape[i];
  }
  const bool is_rows = trail == 1;
  lines->axis = is_rows ? GPUMEM_AXIS_ROWS : GPUMEM_AXIS_COLS;
  lines->rows = is_rows ? lead : extent;
  lines->cols = lines->ld = is_rows ? extent : trail;
  lines->batches = is_rows ? 1 : lead;
  lines->batch_stride = is_rows ? 0 : extent * trail;
  return true;
}

/* A reduction along an axis to the default type. */
static PyObject* reduce_lines(PyObject* context, const Reduction* call) {
  Operands all;
  Lines to_do;
  if (call->op == GPUMEM_MIN_MAX || !operands_begin(&all, context, call->stream)) Py_RETURN_NONE;
  const View* x = operands_take(&all, call->x, READ);
  if (!x || !to_lines(x, call->axis, &to_do)) return operands_leave(&all);
  const View* to = operands_take_values(&all, call->out, call->x, to_do.shape, to_do.ndim, result_type(x->dtype));
  if (!to) return operands_leave(&all);
  gpumem_status status;
  CALL_WITH_STATUS(call->status, gpumem_reduce_axis, all.ctx, x->dtype, call->op, to_do.axis, x->address, to_do.rows,
                   to_do.cols, to_do.ld, to_do.batches, to_do.batch_stride, to->address)
  return operands_end_several(&all, status, call->out);
}

/* The reduced axes, as bits. -1 if the general path must read them. */
static int32_t axes_of(const View* x, const Reduction* call) {
  const Py_ssize_t count = call->axes ? PyTuple_Size(call->axes) : call->has_axis;
  int32_t axes = call->has_axis ? 0 : (1 << x->ndim) - 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    int64_t axis = call->axis;
    if (call->axes && !to_axis(PyTuple_GetItem(call->axes, i), &axis)) return -1;
    if (axis < 0) axis += x->ndim;
    if (axis < 0 || axis >= x->ndim || (axes >> axis & 1)) return -1;
    axes |= 1 << axis;
  }
  return axes;
}

/* True for what only gpumem_reduce_axes() does: several axes, and results with them. */
static bool needs_axes(const Reduction* call) { return call->keepdims || (call->axes && PyTuple_Size(call->axes) > 1); }

/* A reduction along axes to this type. */
static PyObject* reduce_axes(PyObject* context, const Reduction* call) {
  Operands all;
  int64_t shape[MAX_AXES], strides[MAX_AXES];
  int32_t ndim = 0;
  if (call->op == GPUMEM_MIN_MAX || !operands_begin(&all, context, call->stream)) Py_RETURN_NONE;
  const View* x = operands_take(&all, call->x, READ);
  const int32_t axes = x ? axes_of(x, call) : -1;
  if (axes < 0 || !whole_strides(x, strides)) return operands_leave(&all);
  for (int32_t i = 0; i < x->ndim; ++i)
    if (call->keepdims || !(axes >> i & 1)) shape[ndim++] = axes >> i & 1 ? 1 : x->shape[i];
  const bool any_type = needs_axes(call);
  const int32_t usual = result_type(x->dtype), dtype = call->dtype >= 0 ? call->dtype : any_type ? usual : x->dtype;
  const View* to = operands_take_values(&all, call->out, call->x, shape, ndim, dtype);
  /* The general path reduces f16 to f32. */
  const bool is_usual = dtype == usual;
  if (!to || (call->dtype < 0 ? is_usual && !any_type : dtype != x->dtype && !is_usual)) return operands_leave(&all);
  gpumem_status status;
  CALL_WITH_STATUS(call->status, gpumem_reduce_axes, all.ctx, x->dtype, call->op, x->ndim, x->shape, x->address,
                   strides, axes, to->address, dtype)
  return operands_end_several(&all, status, call->out);
}

PyObject* quick_reduce(PyObject* context, const Reduction* call) {
  if (call->dtype >= 0 || needs_axes(call)) return reduce_axes(context, call);
  if (call->axes) Py_RETURN_NONE;
  PyObject* result = call->has_axis ? reduce_lines(context, call) : reduce_all(context, call);
  if (!result || !Py_IsNone(result) || Py_IsNone(call->out)) return result;
  Py_DECREF(result);
  return reduce_axes(context, call); /* `out` may have the type of x, if it is not the default */
}

/* The value and the index of a search, as arrays: `out` is None or a pair. */
static PyObject* search(PyObject* const* args, int32_t op, int64_t axis, bool has_axis) {
  PyObject *outs[] = {Py_None, Py_None}, *x_object = args[3];
  Operands all;
  Lines lines = {0};
  if (!Py_IsNone(args[5])) {
    if (!PyTuple_Check(args[5]) || PyTuple_Size(args[5]) != 2) Py_RETURN_NONE;
    for (int i = 0; i < 2; ++i) outs[i] = PyTuple_GetItem(args[5], i);
  }
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* x = operands_take(&all, x_object, READ);
  const int64_t stride = x && !has_axis ? view_sequence_stride(x) : 1;
  if (!x || stride < 1 || (has_axis && !to_lines(x, axis, &lines))) return operands_leave(&all);
  const View* value = operands_take_values(&all, outs[0], x_object, lines.shape, lines.ndim, result_type(x->dtype));
  PyObject* first = all.made; /* operands_take_values() makes one array */
  all.made = NULL;
  const View* index = value ? operands_take_values(&all, outs[1], x_object, lines.shape, lines.ndim, GPUMEM_I64) : NULL;
  PyObject* pair = index ? PyTuple_Pack(2, first ? first : outs[0], all.made ? all.made : outs[1]) : NULL;
  Py_XDECREF(first);
  if (!pair) return index ? operands_end(&all, NULL) : operands_leave(&all);
  Py_XDECREF(all.made);
  all.made = pair;
  gpumem_status status;
  if (has_axis) {
    CALL_WITH_STATUS(args[6], gpumem_argreduce_axis, all.ctx, x->dtype, op, lines.axis, x->address, lines.rows,
                     lines.cols, lines.ld, lines.batches, lines.batch_stride, value->address, (int64_t*)index->address)
  } else {
    CALL(gpumem_argreduce, all.ctx, x->dtype, op, x->address, view_size(x), stride, value->address,
         (int64_t*)index->address)
  }
  return has_axis ? operands_end_several(&all, status, NULL) : operands_end_with(&all, status, NULL);
}

/* quick_argreduce(context, stream, op, x, axis, out, status) */
static PyObject* quick_argreduce(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t op;
  int64_t axis = 0, value, index;
  if (!check_count("quick_argreduce", 7, given) || !to_int32(args[2], &op, "op")) return NULL;
  const bool has_axis = !Py_IsNone(args[4]);
  if (has_axis && !to_axis(args[4], &axis)) Py_RETURN_NONE;
  if (has_axis || !Py_IsNone(args[1]) || !Py_IsNone(args[5])) return search(args, op, axis, has_axis);
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* x = operands_take(&all, args[3], READ);
  const int64_t stride = x ? view_sequence_stride(x) : 0;
  if (stride < 1) return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_argreduce, all.ctx, x->dtype, op, x->address, view_size(x), stride, &value, &index)
  if (status != GPUMEM_OK) return operands_end(&all, raise_status(status));
  return operands_end(&all, Py_BuildValue("NL", from_result(x->dtype, &value), (long long)index));
}

/* Takes the result of dot() or nrm2(): an f64. NULL with `is_number`: it is returned. */
static bool take_f64(Operands* all, PyObject* out, PyObject* x, double* number, double** result) {
  *result = number;
  if (!all->stream && Py_IsNone(out)) return true;
  const View* to = operands_take_values(all, out, x, NULL, 0, GPUMEM_F64);
  if (to) *result = (double*)to->address;
  return to != NULL;
}

/* quick_dot(context, stream, x, y, out) */
static PyObject* quick_dot(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_dot", 5, given)) return NULL;
  Operands all;
  double number, *result;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* x = operands_take(&all, args[2], READ);
  const View* y = x ? operands_take(&all, args[3], READ) : NULL;
  if (!y || !is_float(x) || y->dtype != x->dtype || view_size(x) != view_size(y)) return operands_leave(&all);
  const int64_t n = view_size(x), dx = view_sequence_stride(x), dy = view_sequence_stride(y);
  if (dx < 1 || dy < 1 || !take_f64(&all, args[4], args[2], &number, &result)) return operands_leave(&all);
  const void *a = x->address, *b = y->address;
  gpumem_status status;
  if (x->dtype == GPUMEM_F32) {
    CALL(gpumem_dot_f32, all.ctx, (const float*)a, (const float*)b, n, dx, dy, result)
  } else {
    CALL(gpumem_dot_f64, all.ctx, (const double*)a, (const double*)b, n, dx, dy, result)
  }
  if (status != GPUMEM_OK || result != &number) return operands_end_with(&all, status, args[4]);
  return operands_end(&all, PyFloat_FromDouble(number));
}

/* quick_nrm2(context, stream, x, out) */
static PyObject* quick_nrm2(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_nrm2", 4, given)) return NULL;
  Operands all;
  double number, *result;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* x = operands_take(&all, args[2], READ);
  const int64_t stride = x && is_float(x) ? view_sequence_stride(x) : 0;
  if (stride < 1 || !take_f64(&all, args[3], args[2], &number, &result)) return operands_leave(&all);
  gpumem_status status;
  if (x->dtype == GPUMEM_F32) {
    CALL(gpumem_nrm2_f32, all.ctx, (const float*)x->address, view_size(x), stride, result)
  } else {
    CALL(gpumem_nrm2_f64, all.ctx, (const double*)x->address, view_size(x), stride, result)
  }
  if (status != GPUMEM_OK || result != &number) return operands_end_with(&all, status, args[3]);
  return operands_end(&all, PyFloat_FromDouble(number));
}

PyMethodDef quick_reductions[] = {QUICK(argreduce, "(context, stream, op, x, axis, out, status)"),
                                  QUICK(dot, "(context, stream, x, y, out)"),
                                  QUICK(nrm2, "(context, stream, x, out)"),
                                  {NULL, NULL, 0, NULL}};
