/* Fast paths of arithmetic on f32 and f64. */
#include <string.h>

#include "quick.h"

LIBRARY_BOTH(gpumem_axpby_f32);
LIBRARY_BOTH(gpumem_axpby_f64);
LIBRARY_BOTH(gpumem_lincomb_f32);
LIBRARY_BOTH(gpumem_lincomb_f64);
LIBRARY_BOTH(gpumem_multiply_f32);
LIBRARY_BOTH(gpumem_multiply_f64);

/* quick_axpby(context, stream, alpha, x, beta, y, out): the result */
static PyObject* quick_axpby(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  double alpha, beta;
  if (!check_count("quick_axpby", 7, given)) return NULL;
  PyObject *x = args[3], *y = args[5], *first = Py_IsNone(x) ? y : x;
  Operands all;
  if (Py_IsNone(first) || !to_number(args[2], &alpha) || !to_number(args[4], &beta) ||
      !operands_begin(&all, args[0], args[1]))
    Py_RETURN_NONE;
  const View* like = operands_take(&all, first, READ);
  const View* other = Py_IsNone(x) || Py_IsNone(y) ? like : like ? operands_take(&all, y, READ) : NULL;
  const View* to =
      other ? operands_take_result(&all, args[6], first, 0, like->shape, like->ndim, like->dtype, 0) : NULL;
  if (!to || !is_float(like)) return operands_leave(&all);
  for (int i = 0; i < all.count; ++i)
    if (all.views[i].dtype != like->dtype || !view_is_contiguous(&all.views[i]) || !same_shape(&all.views[i], like))
      return operands_leave(&all);
  const int64_t n = view_size(like);
  const void *a = Py_IsNone(x) ? NULL : like->address, *b = Py_IsNone(y) ? NULL : other->address;
  gpumem_status status;
  if (like->dtype == GPUMEM_F32) {
    CALL(gpumem_axpby_f32, all.ctx, (float)alpha, a, (float)beta, b, (float*)to->address, n)
  } else {
    CALL(gpumem_axpby_f64, all.ctx, alpha, a, beta, b, (double*)to->address, n)
  }
  return operands_end_with(&all, status, args[6]);
}

/* The first array with axes, else the first one: the result is like it. */
static int first_with_axes(const Operands* all) {
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].ndim > 0) return i;
  return 0;
}

static bool all_of_one_float(const Operands* all) {
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].dtype != all->views[0].dtype) return false;
  return is_float(&all->views[0]);
}

/* quick_multiply(context, stream, x, y, out): the result */
static PyObject* quick_multiply(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_multiply", 5, given)) return NULL;
  Operands all;
  Walk walk;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  bool good = operands_take(&all, args[2], READ) && operands_take(&all, args[3], READ);
  const int like = good ? first_with_axes(&all) : 0;
  good = good && walk_take(&all, args[4], args[2 + like], like, all.views[0].dtype, 0, &walk);
  if (!good || !all_of_one_float(&all)) return operands_leave(&all);
  const void *x = all.views[0].address, *y = all.views[1].address;
  void* z = all.views[2].address;
  const int64_t *dx = walk.strides, *dy = dx + walk.rank, *dz = dy + walk.rank;
  gpumem_status status;
  if (all.views[0].dtype == GPUMEM_F32) {
    CALL(gpumem_multiply_f32, all.ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz)
  } else {
    CALL(gpumem_multiply_f64, all.ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz)
  }
  return operands_end_with(&all, status, args[4]);
}

typedef struct {
  float narrow[MAX_TERMS];
  double wide[MAX_TERMS];
  const void* x[MAX_TERMS];
} Terms;

static bool take_terms(Operands* all, PyObject* tuple, Terms* terms) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  if (count < 1 || count > MAX_TERMS) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* term = PyTuple_GetItem(tuple, i);
    if (!PyTuple_Check(term) || PyTuple_Size(term) != 2 || !to_number(PyTuple_GetItem(term, 0), &terms->wide[i]))
      return false;
    const View* view = operands_take(all, PyTuple_GetItem(term, 1), READ);
    if (!view) return false;
    terms->narrow[i] = (float)terms->wide[i];
    terms->x[i] = view->address;
  }
  return true;
}

static PyObject* lincomb_of(PyObject* context, PyObject* stream, PyObject* tuple, PyObject* out) {
  Operands all;
  Terms terms;
  Walk walk;
  if (!operands_begin(&all, context, stream)) Py_RETURN_NONE;
  if (!take_terms(&all, tuple, &terms)) return operands_leave(&all);
  const int count = all.count, like = first_with_axes(&all);
  PyObject* x = PyTuple_GetItem(PyTuple_GetItem(tuple, like), 1);
  if (!walk_take(&all, out, x, like, all.views[0].dtype, 0, &walk) || !all_of_one_float(&all))
    return operands_leave(&all);
  void* z = all.views[count].address;
  const int64_t* dz = walk.strides + count * walk.rank;
  gpumem_status status;
  if (all.views[0].dtype == GPUMEM_F32) {
    CALL(gpumem_lincomb_f32, all.ctx, walk.rank, walk.extents, count, terms.narrow, (const float* const*)terms.x,
         walk.strides, z, dz)
  } else {
    CALL(gpumem_lincomb_f64, all.ctx, walk.rank, walk.extents, count, terms.wide, (const double* const*)terms.x,
         walk.strides, z, dz)
  }
  return operands_end_with(&all, status, out);
}

/* quick_lincomb(context, stream, terms, out): the result. Other threads may change the list, so its terms are held. */
static PyObject* quick_lincomb(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_lincomb", 4, given)) return NULL;
  if (!PyList_Check(args[2])) Py_RETURN_NONE;
  PyObject* terms = PyList_AsTuple(args[2]);
  PyObject* result = terms ? lincomb_of(args[0], args[1], terms, args[3]) : NULL;
  Py_XDECREF(terms);
  return result;
}

PyMethodDef quick_arithmetic[] = {QUICK(axpby, "(context, stream, alpha, x, beta, y, out)"),
                                  QUICK(lincomb, "(context, stream, terms, out)"),
                                  QUICK(multiply, "(context, stream, x, y, out)"),
                                  {NULL, NULL, 0, NULL}};
