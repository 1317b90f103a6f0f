/* Fast paths of operations that move or convert elements. */
#include <math.h>
#include <string.h>

#include "quick.h"

LIBRARY(gpumem_convert);
LIBRARY(gpumem_copy);
LIBRARY(gpumem_fill);
LIBRARY(gpumem_transpose);

static bool same_shape(const View* a, const View* b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t axis = 0; axis < a->ndim; ++axis)
    if (a->shape[axis] != b->shape[axis]) return false;
  return true;
}

/* quick_copy(ctx, dst, src): dst */
static PyObject* quick_copy(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_copy", 3, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  Operands all;
  operands_begin(&all);
  const View* to = operands_take(&all, args[1], true);
  const View* of = to ? operands_take(&all, args[2], false) : NULL;
  if (!of || of->dtype != to->dtype || !same_shape(of, to) || !view_is_contiguous(of) || !view_is_contiguous(to))
    return operands_leave(&all);
  gpumem_status status;
  RUN(p_gpumem_copy(ctx, to->address, of->address, view_size(of) * of->itemsize))
  return operands_end_with(&all, status, args[1]);
}

/* The bytes of a value of this type. False if the general path must convert it. */
static bool to_pattern(int32_t dtype, PyObject* object, void* pattern) {
  double real;
  if (dtype == GPUMEM_F32 || dtype == GPUMEM_F64) {
    if (!(PyFloat_Check(object) || PyLong_Check(object)) || !to_number(object, &real)) return false;
    const float narrow = (float)real;
    const bool is_wide = dtype == GPUMEM_F64;
    memcpy(pattern, is_wide ? (void*)&real : (void*)&narrow, is_wide ? sizeof real : sizeof narrow);
    return is_wide || isinf(real) || !isinf(narrow);
  }
  if (dtype > GPUMEM_U64 || !PyLong_Check(object)) return false;
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  const int64_t bits = 8 * dtype_sizes[dtype];
  const bool is_unsigned = dtype % 2 != 0;
  if (overflow || (is_unsigned && value < 0)) return false;
  const int64_t rest = bits == 64 ? 0 : is_unsigned ? value >> bits : (value >> (bits - 1)) + (value < 0);
  memcpy(pattern, &value, (size_t)dtype_sizes[dtype]); /* little-endian, like all supported platforms */
  return rest == 0;
}

/* quick_fill(ctx, dst, value): dst */
static PyObject* quick_fill(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_fill", 3, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  Operands all;
  operands_begin(&all);
  const View* to = operands_take(&all, args[1], true);
  int64_t pattern = 0;
  if (!to || !view_is_contiguous(to) || !to_pattern(to->dtype, args[2], &pattern)) return operands_leave(&all);
  gpumem_status status;
  RUN(p_gpumem_fill(ctx, to->address, &pattern, to->itemsize, view_size(to)))
  return operands_end_with(&all, status, args[1]);
}

/* The leading dimension of a matrix, in elements. 0 if a row has padding inside or rows overlap. */
static int64_t leading_dimension(const View* view) {
  const int64_t rows = view->shape[0], cols = view->shape[1], pitch = view->strides[0];
  if (cols > 1 && view->strides[1] != view->itemsize) return 0;
  if (rows <= 1) return cols > 0 ? cols : 1;
  return pitch % view->itemsize == 0 && pitch / view->itemsize >= cols && pitch > 0 ? pitch / view->itemsize : 0;
}

/* quick_transpose(ctx, src, out): the result */
static PyObject* quick_transpose(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_transpose", 3, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  if (args[1] == args[2]) Py_RETURN_NONE; /* in place */
  Operands all;
  operands_begin(&all);
  const View* of = operands_take(&all, args[1], false);
  if (!of || of->ndim != 2) return operands_leave(&all);
  const int64_t shape[] = {of->shape[1], of->shape[0]};
  const View* to = operands_take_result(&all, args[2], args[1], shape, 2, of->dtype);
  if (!to || to->dtype != of->dtype || to->ndim != 2 || to->shape[0] != shape[0] || to->shape[1] != shape[1])
    return operands_leave(&all);
  const int64_t ld = leading_dimension(of), to_ld = leading_dimension(to);
  if (ld == 0 || to_ld == 0) return operands_leave(&all);
  gpumem_status status;
  RUN(p_gpumem_transpose(ctx, of->itemsize, shape[1], shape[0], of->address, ld, to->address, to_ld))
  return operands_end_with(&all, status, args[2]);
}

/* quick_convert(ctx, src, dtype, out): the result. If `out` is given, its type counts. */
static PyObject* quick_convert(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  int32_t dtype;
  if (!check_count("quick_convert", 4, given) || !to_pointer(args[0], &ctx, "ctx") ||
      !to_int32(args[2], &dtype, "dtype"))
    return NULL;
  Operands all;
  operands_begin(&all);
  const View* of = operands_take(&all, args[1], false);
  if (!of || !view_is_contiguous(of)) return operands_leave(&all);
  const View* to = operands_take_result(&all, args[3], args[1], of->shape, of->ndim, dtype);
  if (!to || !view_is_contiguous(to) || view_size(to) != view_size(of)) return operands_leave(&all);
  gpumem_status status;
  RUN(p_gpumem_convert(ctx, of->dtype, of->address, to->dtype, to->address, view_size(of)))
  return operands_end_with(&all, status, args[3]);
}

PyMethodDef quick_moves[] = {QUICK(convert, "(ctx, src, dtype, out)"),
                             QUICK(copy, "(ctx, dst, src)"),
                             QUICK(fill, "(ctx, dst, value)"),
                             QUICK(transpose, "(ctx, src, out)"),
                             {NULL, NULL, 0, NULL}};
