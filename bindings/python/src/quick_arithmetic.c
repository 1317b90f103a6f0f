/* Fast paths of elementwise arithmetic. */
#include <string.h>

#include "quick.h"

LIBRARY(gpumem_axpby_f32);
LIBRARY(gpumem_axpby_f64);
LIBRARY(gpumem_lincomb_f32);
LIBRARY(gpumem_lincomb_f64);
LIBRARY(gpumem_multiply_f32);
LIBRARY(gpumem_multiply_f64);

/* quick_axpby(ctx, alpha, x, beta, y, out): the result */
static PyObject* quick_axpby(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  double alpha, beta;
  if (!check_count("quick_axpby", 6, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  PyObject *x = args[2], *y = args[4], *first = Py_IsNone(x) ? y : x;
  if (Py_IsNone(first) || !to_number(args[1], &alpha) || !to_number(args[3], &beta)) Py_RETURN_NONE;
  Operands all;
  operands_begin(&all);
  const View* like = operands_take(&all, first, false);
  const View* other = Py_IsNone(x) || Py_IsNone(y) ? like : like ? operands_take(&all, y, false) : NULL;
  const View* to = other ? operands_take_result(&all, args[5], first, like->shape, like->ndim, like->dtype) : NULL;
  if (!to || !is_float(like)) return operands_leave(&all);
  const int64_t n = view_size(like);
  for (int i = 0; i < all.count; ++i)
    if (all.views[i].dtype != like->dtype || all.views[i].ndim != like->ndim || !view_is_contiguous(&all.views[i]) ||
        memcmp(all.views[i].shape, like->shape, (size_t)like->ndim * sizeof *like->shape) != 0)
      return operands_leave(&all);
  const void *a = Py_IsNone(x) ? NULL : like->address, *b = Py_IsNone(y) ? NULL : other->address;
  gpumem_status status;
  RUN(like->dtype == GPUMEM_F32 ? p_gpumem_axpby_f32(ctx, (float)alpha, a, (float)beta, b, (float*)to->address, n)
                                : p_gpumem_axpby_f64(ctx, alpha, a, beta, b, (double*)to->address, n))
  return operands_end_with(&all, status, args[5]);
}

/* The broadcast shape of the views, by the rules of NumPy. */
static bool shape_together(const Operands* all, int64_t* shape, int32_t* ndim) {
  *ndim = 0;
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].ndim > *ndim) *ndim = all->views[i].ndim;
  for (int32_t axis = 0; axis < *ndim; ++axis) {
    shape[axis] = 1;
    for (int i = 0; i < all->count; ++i) {
      const int32_t own = axis - (*ndim - all->views[i].ndim);
      const int64_t extent = own < 0 ? 1 : all->views[i].shape[own];
      if (extent != 1 && shape[axis] != 1 && extent != shape[axis]) return false;
      if (extent != 1) shape[axis] = extent;
    }
  }
  return true;
}

/* The smallest list of axes for several views: extents, and strides in elements, view by view. */
typedef struct {
  int32_t rank;
  int64_t extents[MAX_AXES];
  int64_t strides[(MAX_TERMS + 1) * MAX_AXES];
} Walk;

/* The stride of a view along an axis of the result. 0 if the axis is repeated, -1 if the library can't take the stride. */
static int64_t stride_along(const View* view, const View* to, int32_t axis) {
  const int32_t own = axis - (to->ndim - view->ndim);
  if (own < 0 || (view->shape[own] == 1 && to->shape[axis] != 0)) return 0;
  if (view->shape[own] != to->shape[axis]) return -1;
  return view->strides[own] % view->itemsize == 0 ? view->strides[own] / view->itemsize : -1;
}

/* The last view is the result. */
static bool walk_over(const Operands* all, Walk* walk) {
  const View* to = &all->views[all->count - 1];
  int64_t along[MAX_TERMS + 1][MAX_AXES];
  int32_t rank = 0;
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].dtype != to->dtype || all->views[i].ndim > to->ndim) return false;
  for (int32_t axis = 0; axis < to->ndim; ++axis) {
    const int64_t extent = to->shape[axis];
    bool joins = rank > 0;
    for (int i = 0; i < all->count; ++i) {
      along[i][rank] = stride_along(&all->views[i], to, axis);
      if (along[i][rank] < 0) return false;
      joins = joins && along[i][rank - 1] == along[i][rank] * extent;
    }
    if (extent == 1) continue;
    if (joins) {
      for (int i = 0; i < all->count; ++i) along[i][rank - 1] = along[i][rank];
      walk->extents[rank - 1] *= extent;
    } else {
      walk->extents[rank++] = extent;
    }
  }
  walk->rank = rank;
  for (int i = 0; i < all->count; ++i) memcpy(walk->strides + i * rank, along[i], (size_t)rank * sizeof along[i][0]);
  return true;
}

/* Takes the result for views that are already taken, and combines their axes. */
static bool take_walk(Operands* all, PyObject* out, PyObject* x, Walk* walk) {
  int64_t shape[MAX_AXES];
  int32_t ndim;
  return is_float(&all->views[0]) && shape_together(all, shape, &ndim) &&
         operands_take_result(all, out, x, shape, ndim, all->views[0].dtype) && walk_over(all, walk);
}

/* quick_multiply(ctx, x, y, out): the result */
static PyObject* quick_multiply(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_multiply", 4, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  Operands all;
  operands_begin(&all);
  Walk walk;
  if (!operands_take(&all, args[1], false) || !operands_take(&all, args[2], false) ||
      !take_walk(&all, args[3], args[1], &walk))
    return operands_leave(&all);
  const void *x = all.views[0].address, *y = all.views[1].address;
  void* z = all.views[2].address;
  const int64_t *dx = walk.strides, *dy = dx + walk.rank, *dz = dy + walk.rank;
  gpumem_status status;
  RUN(all.views[0].dtype == GPUMEM_F32 ? p_gpumem_multiply_f32(ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz)
                                       : p_gpumem_multiply_f64(ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz))
  return operands_end_with(&all, status, args[3]);
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
    const View* view = operands_take(all, PyTuple_GetItem(term, 1), false);
    if (!view) return false;
    terms->narrow[i] = (float)terms->wide[i];
    terms->x[i] = view->address;
  }
  return true;
}

static PyObject* lincomb_of(void* ctx, PyObject* tuple, PyObject* out) {
  Operands all;
  operands_begin(&all);
  Terms terms;
  Walk walk;
  if (!take_terms(&all, tuple, &terms)) return operands_leave(&all);
  const int32_t count = all.count, is_narrow = all.views[0].dtype == GPUMEM_F32;
  if (!take_walk(&all, out, PyTuple_GetItem(PyTuple_GetItem(tuple, 0), 1), &walk)) return operands_leave(&all);
  void* z = all.views[count].address;
  const int64_t* dz = walk.strides + count * walk.rank;
  gpumem_status status;
  RUN(is_narrow ? p_gpumem_lincomb_f32(ctx, walk.rank, walk.extents, count, terms.narrow, (const float* const*)terms.x,
                                       walk.strides, z, dz)
                : p_gpumem_lincomb_f64(ctx, walk.rank, walk.extents, count, terms.wide, (const double* const*)terms.x,
                                       walk.strides, z, dz))
  return operands_end_with(&all, status, out);
}

/* quick_lincomb(ctx, terms, out): the result. Other threads may change the list, so its terms are held. */
static PyObject* quick_lincomb(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_lincomb", 3, given) || !to_pointer(args[0], &ctx, "ctx")) return NULL;
  if (!PyList_Check(args[1])) Py_RETURN_NONE;
  PyObject* terms = PyList_AsTuple(args[1]);
  PyObject* result = terms ? lincomb_of(ctx, terms, args[2]) : NULL;
  Py_XDECREF(terms);
  return result;
}

PyMethodDef quick_arithmetic[] = {QUICK(axpby, "(ctx, alpha, x, beta, y, out)"),
                                  QUICK(lincomb, "(ctx, terms, out)"),
                                  QUICK(multiply, "(ctx, x, y, out)"),
                                  {NULL, NULL, 0, NULL}};
