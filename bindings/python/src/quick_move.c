/* Fast paths of operations that move or convert elements. */
#include "quick.h"

LIBRARY_BOTH(gpumem_convert);
LIBRARY_BOTH(gpumem_copy);
LIBRARY_BOTH(gpumem_fill);
LIBRARY_BOTH(gpumem_permute);
LIBRARY_BOTH(gpumem_transpose);

/* quick_copy(context, stream, dst, src): dst */
static PyObject* quick_copy(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_copy", 4, given)) return NULL;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* to = operands_take(&all, args[2], WRITE | WITH_BOOL);
  const View* of = to ? operands_take(&all, args[3], WITH_BOOL) : NULL;
  if (!of || of->dtype != to->dtype || of->itemsize != to->itemsize || !same_shape(of, to) || !view_is_contiguous(of) ||
      !view_is_contiguous(to))
    return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_copy, all.ctx, to->address, of->address, view_size(of) * of->itemsize)
  return operands_end_with(&all, status, args[2]);
}

/* quick_fill(context, stream, dst, value): dst */
static PyObject* quick_fill(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_fill", 4, given)) return NULL;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* to = operands_take(&all, args[2], WRITE);
  int64_t pattern = 0;
  if (!to || !view_is_contiguous(to) || !to_pattern(to->dtype, args[3], &pattern)) return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_fill, all.ctx, to->address, &pattern, to->itemsize, view_size(to))
  return operands_end_with(&all, status, args[2]);
}

/* The leading dimension of a matrix, in elements. 0 if a row has padding inside or rows overlap. */
static int64_t leading_dimension(const View* view) {
  const int64_t rows = view->shape[0], cols = view->shape[1], pitch = view->strides[0];
  if (cols > 1 && view->strides[1] != view->itemsize) return 0;
  if (rows <= 1) return cols > 0 ? cols : 1;
  return pitch % view->itemsize == 0 && pitch / view->itemsize >= cols && pitch > 0 ? pitch / view->itemsize : 0;
}

/* quick_transpose(context, stream, src, out): the result */
static PyObject* quick_transpose(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_transpose", 4, given)) return NULL;
  Operands all;
  if (args[2] == args[3] /* in place */ || !operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], WITH_BOOL);
  if (!of || of->ndim != 2) return operands_leave(&all);
  const int64_t shape[] = {of->shape[1], of->shape[0]};
  const View* to = operands_take_result(&all, args[3], args[2], 0, shape, 2, of->dtype, WITH_BOOL);
  if (!to || to->dtype != of->dtype || to->ndim != 2 || to->shape[0] != shape[0] || to->shape[1] != shape[1])
    return operands_leave(&all);
  const int64_t ld = leading_dimension(of), to_ld = leading_dimension(to);
  if (ld == 0 || to_ld == 0) return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_transpose, all.ctx, of->itemsize, shape[1], shape[0], of->address, ld, to->address, to_ld)
  return operands_end_with(&all, status, args[3]);
}

/* Reads a tuple of axes. False if the general path must read it. */
static bool to_order(PyObject* object, int32_t ndim, int32_t* order) {
  if (!PyTuple_Check(object) || PyTuple_Size(object) != ndim) return false;
  for (int32_t i = 0; i < ndim; ++i) {
    int64_t axis;
    if (!to_axis(PyTuple_GetItem(object, i), &axis) || axis < -ndim || axis >= ndim) return false;
    order[i] = (int32_t)(axis < 0 ? axis + ndim : axis);
  }
  return true;
}

/* quick_permute(context, stream, src, order, out): the result */
static PyObject* quick_permute(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t order[MAX_AXES];
  int64_t shape[MAX_AXES], strides[2][MAX_AXES];
  if (!check_count("quick_permute", 5, given)) return NULL;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], WITH_BOOL);
  if (!of || !to_order(args[3], of->ndim, order) || !whole_strides(of, strides[0])) return operands_leave(&all);
  for (int32_t axis = 0; axis < of->ndim; ++axis) shape[axis] = of->shape[order[axis]];
  const View* to = operands_take_result(&all, args[4], args[2], 0, shape, of->ndim, of->dtype, WITH_BOOL);
  if (!to || to->dtype != of->dtype || !is_of_shape(to, shape, of->ndim) || !whole_strides(to, strides[1]))
    return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_permute, all.ctx, of->itemsize, of->ndim, of->shape, order, of->address, strides[0], to->address,
       strides[1])
  return operands_end_with(&all, status, args[4]);
}

/* quick_convert(context, stream, src, dtype, out): the result. If `out` is given, its type counts. */
static PyObject* quick_convert(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t dtype;
  if (!check_count("quick_convert", 5, given) || !to_int32(args[3], &dtype, "dtype")) return NULL;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], READ);
  if (!of || !view_is_contiguous(of)) return operands_leave(&all);
  const View* to = operands_take_result(&all, args[4], args[2], 0, of->shape, of->ndim, dtype, 0);
  if (!to || !view_is_contiguous(to) || view_size(to) != view_size(of)) return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_convert, all.ctx, of->dtype, of->address, to->dtype, to->address, view_size(of))
  return operands_end_with(&all, status, args[4]);
}

PyMethodDef quick_moves[] = {
    QUICK(convert, "(context, stream, src, dtype, out)"), QUICK(copy, "(context, stream, dst, src)"),
    QUICK(fill, "(context, stream, dst, value)"),         QUICK(permute, "(context, stream, src, order, out)"),
    QUICK(transpose, "(context, stream, src, out)"),      {NULL, NULL, 0, NULL}};
