/* Fast paths of arithmetic on f32 and f64. */
#include <string.h>

#include "quick.h"

LIBRARY_BOTH(gpumem_axpby_f32);
LIBRARY_BOTH(gpumem_axpby_f64);
LIBRARY_BOTH(gpumem_lincomb_at_f32);
LIBRARY_BOTH(gpumem_lincomb_at_f64);
LIBRARY_BOTH(gpumem_lincomb_dot_f32);
LIBRARY_BOTH(gpumem_lincomb_dot_f64);
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

enum { MOST_DOTS = 3 };

/* A linear combination z of arrays, and dot products of z. */
typedef struct {
  Walk walk; /* over the sources, the other arrays of the dot products, and z */
  int32_t terms, dots;
  bool in_memory; /* some factor is in memory */
  float narrow[MAX_TERMS];
  double wide[MAX_TERMS];
  const void *x[MAX_TERMS], *w[MOST_DOTS];
  const double *above[MAX_TERMS], *below[MAX_TERMS]; /* NULL: 1 */
  int64_t w_strides[MOST_DOTS * MAX_AXES];
} Combination;

/* Takes a numerator or a denominator. The general path knows an array by __dlpack__(), which other buffers may lack. */
static bool take_factor(Operands* all, PyObject* x, const double** at) {
  *at = NULL;
  if (Py_IsNone(x)) return true;
  const bool is_foreign_buffer = PyObject_CheckBuffer(x) && !PyType_IsSubtype(Py_TYPE(x), view_type);
  const View* view = is_foreign_buffer ? NULL : operands_take(all, x, READ);
  if (!view || view->dtype != GPUMEM_F64 || view_size(view) != 1) return false;
  *at = (const double*)view->address;
  return true;
}

/* Takes factor i: a number, an array of one f64, or a tuple (number, numerator, denominator). */
static bool take_scale(Operands* all, PyObject* x, Combination* of, int32_t i) {
  PyObject *number = x, *above = Py_None, *below = Py_None;
  const bool is_tuple = PyTuple_Check(x);
  if (is_tuple && PyTuple_Size(x) != 3) return false;
  if (is_tuple) number = PyTuple_GetItem(x, 0), above = PyTuple_GetItem(x, 1), below = PyTuple_GetItem(x, 2);
  of->wide[i] = 1;
  if (!Py_IsNone(number) && !to_number(number, &of->wide[i])) {
    if (is_tuple) return false;
    above = x, of->wide[i] = 1;
  }
  if (Py_IsNone(x) || !take_factor(all, above, &of->above[i]) || !take_factor(all, below, &of->below[i])) return false;
  of->narrow[i] = (float)of->wide[i];
  of->in_memory = of->in_memory || of->above[i] || of->below[i];
  return true;
}

/* Takes the sources, and the arrays of the dot products that are not z. */
static bool take_arrays(Operands* all, PyObject* terms, PyObject* dots, PyObject** objects, Combination* of) {
  const Py_ssize_t count = PyTuple_Size(terms), products = dots ? PyTuple_Size(dots) : 0;
  if (count < 1 || count > MAX_TERMS || products > MOST_DOTS) return false;
  of->terms = (int32_t)count, of->dots = (int32_t)products;
  for (int32_t i = 0; i < of->terms; ++i) {
    PyObject* term = PyTuple_GetItem(terms, i);
    if (!PyTuple_Check(term) || PyTuple_Size(term) != 2) return false;
    objects[i] = PyTuple_GetItem(term, 1);
    const View* view = operands_take(all, objects[i], READ);
    if (!view) return false;
    of->x[i] = view->address;
  }
  for (int32_t i = 0; i < of->dots; ++i) {
    PyObject* x = PyTuple_GetItem(dots, i);
    if (Py_IsNone(x)) continue;
    const View* view = operands_take(all, x, READ);
    if (!view) return false;
    objects[all->count - 1] = x;
  }
  return true;
}

/* Takes everything but the results of dot products. The factors come last, because the walk does not cover them. Returns
 * the View of z, which is like the first array with axes. */
static const View* take_combination(Operands* all, PyObject* terms, PyObject* dots, PyObject* out, Combination* of) {
  PyObject* objects[MAX_OPERANDS];
  if (!take_arrays(all, terms, dots, objects, of)) return NULL;
  const int like = first_with_axes(all), last = all->count;
  if (!walk_take(all, out, objects[like], like, all->views[0].dtype, 0, &of->walk) || !all_of_one_float(all))
    return NULL;
  const int32_t rank = of->walk.rank;
  for (int32_t i = 0, next = of->terms; i < of->dots; ++i) {
    const bool is_z = Py_IsNone(PyTuple_GetItem(dots, i));
    const int place = is_z ? last : next++;
    of->w[i] = is_z ? NULL : all->views[place].address;
    memcpy(of->w_strides + i * rank, of->walk.strides + place * rank, (size_t)rank * sizeof(int64_t));
  }
  of->in_memory = false;
  for (int32_t i = 0; i < of->terms; ++i)
    if (!take_scale(all, PyTuple_GetItem(PyTuple_GetItem(terms, i), 0), of, i)) return NULL;
  return &all->views[last];
}

static PyObject* lincomb_of(PyObject* const* args, PyObject* terms) {
  Operands all;
  Combination of;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* to = take_combination(&all, terms, NULL, args[3], &of);
  if (!to) return operands_leave(&all);
  const int32_t rank = of.walk.rank;
  const int64_t *extents = of.walk.extents, *dx = of.walk.strides, *dz = dx + of.terms * rank;
  const float* const* narrow = (const float* const*)of.x;
  const double* const* wide = (const double* const*)of.x;
  void* z = to->address;
  gpumem_status status;
  if (to->dtype == GPUMEM_F32 && of.in_memory) {
    CALL(gpumem_lincomb_at_f32, all.ctx, rank, extents, of.terms, of.narrow, of.above, of.below, narrow, dx, z, dz)
  } else if (of.in_memory) {
    CALL(gpumem_lincomb_at_f64, all.ctx, rank, extents, of.terms, of.wide, of.above, of.below, wide, dx, z, dz)
  } else if (to->dtype == GPUMEM_F32) {
    CALL(gpumem_lincomb_f32, all.ctx, rank, extents, of.terms, of.narrow, narrow, dx, z, dz)
  } else {
    CALL(gpumem_lincomb_f64, all.ctx, rank, extents, of.terms, of.wide, wide, dx, z, dz)
  }
  return operands_end_with(&all, status, args[3]);
}

static PyObject* list_of(const double* numbers, int32_t count) {
  PyObject* list = PyList_New(0);
  for (int32_t i = 0; list && i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(numbers[i]);
    if (!number || PyList_Append(list, number) != 0) Py_CLEAR(list);
    Py_XDECREF(number);
  }
  return list;
}

static PyObject* lincomb_dot_of(PyObject* const* args, PyObject* terms, PyObject* dots) {
  Operands all;
  Combination of;
  double numbers[MOST_DOTS], *results = numbers;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* to = take_combination(&all, terms, dots, args[4], &of);
  PyObject* out = Py_NewRef(all.made ? all.made : args[4]);
  Py_CLEAR(all.made); /* operands_take_values() makes one array */
  const bool is_list = !all.stream && Py_IsNone(args[5]);
  if (to && !is_list) {
    const int64_t count = of.dots;
    PyObject* like = PyTuple_GetItem(PyTuple_GetItem(terms, 0), 1);
    const View* sums = operands_take_values(&all, args[5], like, &count, 1, GPUMEM_F64);
    results = sums ? (double*)sums->address : NULL;
  }
  if (!to || !results) {
    Py_DECREF(out);
    return operands_leave(&all);
  }
  PyObject* pair = PyTuple_Pack(2, out, is_list ? Py_None : all.made ? all.made : args[5]);
  Py_DECREF(out);
  Py_XDECREF(all.made);
  all.made = pair;
  if (!pair) return operands_end(&all, NULL);
  const int32_t rank = of.walk.rank;
  const int64_t *extents = of.walk.extents, *dx = of.walk.strides, *dz = dx + (to - all.views) * rank;
  void* z = to->address;
  gpumem_status status;
  if (to->dtype == GPUMEM_F32) {
    CALL(gpumem_lincomb_dot_f32, all.ctx, rank, extents, of.terms, of.narrow, of.above, of.below,
         (const float* const*)of.x, dx, z, dz, of.dots, (const float* const*)of.w, of.w_strides, results)
  } else {
    CALL(gpumem_lincomb_dot_f64, all.ctx, rank, extents, of.terms, of.wide, of.above, of.below,
         (const double* const*)of.x, dx, z, dz, of.dots, (const double* const*)of.w, of.w_strides, results)
  }
  if (!is_list || status != GPUMEM_OK) return operands_end_with(&all, status, NULL);
  return operands_end(&all, Py_BuildValue("(ON)", PyTuple_GetItem(pair, 0), list_of(numbers, of.dots)));
}

/* A tuple of the elements of a list, which other threads may change, or a tuple. NULL without an exception for others. */
static PyObject* as_tuple(PyObject* x) {
  return PyList_Check(x) ? PyList_AsTuple(x) : PyTuple_Check(x) ? Py_NewRef(x) : NULL;
}

/* quick_lincomb(context, stream, terms, out): the result */
static PyObject* quick_lincomb(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_lincomb", 4, given)) return NULL;
  PyObject* terms = as_tuple(args[2]);
  PyObject* result = terms ? lincomb_of(args, terms) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
  Py_XDECREF(terms);
  return result;
}

/* quick_lincomb_dot(context, stream, terms, dots, out, results): the result and the dot products */
static PyObject* quick_lincomb_dot(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_lincomb_dot", 6, given)) return NULL;
  PyObject *terms = as_tuple(args[2]), *dots = as_tuple(args[3]);
  PyObject* result = terms && dots ? lincomb_dot_of(args, terms, dots) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
  Py_XDECREF(terms);
  Py_XDECREF(dots);
  return result;
}

PyMethodDef quick_arithmetic[] = {QUICK(axpby, "(context, stream, alpha, x, beta, y, out)"),
                                  QUICK(lincomb, "(context, stream, terms, out)"),
                                  QUICK(lincomb_dot, "(context, stream, terms, dots, out, results)"),
                                  QUICK(multiply, "(context, stream, x, y, out)"),
                                  {NULL, NULL, 0, NULL}};
