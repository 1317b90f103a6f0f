/* The shortest way for blocking calls on operands that are as the library takes them: no object of Python for a View, no frame.
 * Each of these gives None where an operand is anything else. The general way, in operations.py, then does it or says why not. */
#include <math.h>
#include <string.h>

#include "module.h"

#define LIBRARY(name) extern __typeof__(name)* p_##name
LIBRARY(gpumem_argreduce);
LIBRARY(gpumem_axpby_f32);
LIBRARY(gpumem_axpby_f64);
LIBRARY(gpumem_copy);
LIBRARY(gpumem_dot_f32);
LIBRARY(gpumem_dot_f64);
LIBRARY(gpumem_fill);
LIBRARY(gpumem_lincomb_f32);
LIBRARY(gpumem_lincomb_f64);
LIBRARY(gpumem_multiply_f32);
LIBRARY(gpumem_multiply_f64);
LIBRARY(gpumem_nrm2_f32);
LIBRARY(gpumem_nrm2_f64);
LIBRARY(gpumem_reduce);
LIBRARY(gpumem_transpose);

/* status = call, while other threads of Python run. */
#define RUN(call)                         \
  Py_BEGIN_ALLOW_THREADS status = (call); \
  Py_END_ALLOW_THREADS

enum { MAX_TERMS = 8 };

static PyObject* room; /* room(x, shape): an array like x for a result, or None */

static PyObject* set_room(PyObject* module, PyObject* callable) {
  (void)module;
  Py_XDECREF(room);
  room = Py_NewRef(callable);
  Py_RETURN_NONE;
}

typedef struct {
  View views[MAX_TERMS + 1];
  int count;
  PyObject* made; /* a result that was not given, or NULL */
} Operands;

/* The View of an object; NULL, without an exception, for what is left to the general way. Masks are of classes of Python. */
static const View* take(Operands* all, PyObject* x, bool write) {
  View* view = &all->views[all->count];
  PyTypeObject* type = Py_TYPE(x);
  if (PyType_IsSubtype(type, view_type)) {
    *view = *(const View*)x; /* the caller keeps x */
    view->buffer.obj = NULL;
  } else {
    if (!PyObject_CheckBuffer(x)) return NULL;
    if ((PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) && PyObject_HasAttrString((PyObject*)type, "mask")) return NULL;
    *view = (View){.device = GPUMEM_DEVICE_HOST};
    if (!view_take_buffer(view, x)) {
      PyErr_Clear();
      if (view->buffer.obj) PyBuffer_Release(&view->buffer);
      return NULL;
    }
  }
  ++all->count;
  return view->dtype >= 0 && !(write && view->readonly) ? view : NULL;
}

/* The View of `out`, or of a new array like x where that is None. */
static const View* take_result(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim) {
  if (!Py_IsNone(out)) return take(all, out, true);
  PyObject* extents = tuple_of(shape, ndim);
  all->made = extents ? PyObject_CallFunctionObjArgs(room, x, extents, NULL) : NULL;
  Py_XDECREF(extents);
  if (!all->made) PyErr_Clear(); /* the general way has the same room, and says so */
  return all->made && !Py_IsNone(all->made) ? take(all, all->made, true) : NULL;
}

static PyObject* end(Operands* all, PyObject* result) {
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].buffer.obj) PyBuffer_Release(&all->views[i].buffer);
  Py_XDECREF(all->made);
  return result;
}

static PyObject* leave(Operands* all) { return end(all, Py_NewRef(Py_None)); }

static PyObject* end_with(Operands* all, gpumem_status status, PyObject* out) {
  if (status != GPUMEM_OK) return end(all, raise_status(status));
  return end(all, Py_NewRef(all->made ? all->made : out));
}

static bool same_shape(const View* a, const View* b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t axis = 0; axis < a->ndim; ++axis)
    if (a->shape[axis] != b->shape[axis]) return false;
  return true;
}

static bool is_float(const View* view) { return view->dtype == GPUMEM_F32 || view->dtype == GPUMEM_F64; }

static bool number(PyObject* object, double* value) {
  if (to_double(object, value)) return true;
  PyErr_Clear();
  return false;
}

/* ------------------------------------------------------------------------------------------------------------ reduce */

PyObject* quick_reduce(void* ctx, int32_t op, PyObject* x) {
  Operands all = {.count = 0};
  const View* view = take(&all, x, false);
  const int64_t stride = view ? view_sequence_stride(view) : 0;
  if (stride < 1) return leave(&all);
  int64_t result[2];
  gpumem_status status;
  RUN(p_gpumem_reduce(ctx, view->dtype, op, view->address, view_size(view), stride, result))
  if (status != GPUMEM_OK) return end(&all, raise_status(status));
  PyObject* first = from_result(view->dtype, &result[0]);
  return end(&all, op != GPUMEM_MIN_MAX ? first : Py_BuildValue("NN", first, from_result(view->dtype, &result[1])));
}

/* quick_argreduce(ctx, op, x) */
static PyObject* quick_argreduce(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  int32_t op;
  if (!check_count("quick_argreduce", 3, given) || !to_pointer(args[0], &ctx) || !to_int32(args[1], &op)) return NULL;
  Operands all = {.count = 0};
  const View* x = take(&all, args[2], false);
  const int64_t stride = x ? view_sequence_stride(x) : 0;
  if (stride < 1) return leave(&all);
  int64_t value, index;
  gpumem_status status;
  RUN(p_gpumem_argreduce(ctx, x->dtype, op, x->address, view_size(x), stride, &value, &index))
  if (status != GPUMEM_OK) return end(&all, raise_status(status));
  return end(&all, Py_BuildValue("NL", from_result(x->dtype, &value), (long long)index));
}

/* quick_dot(ctx, x, y) */
static PyObject* quick_dot(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_dot", 3, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  const View* x = take(&all, args[1], false);
  const View* y = x ? take(&all, args[2], false) : NULL;
  if (!y || !is_float(x) || y->dtype != x->dtype || view_size(x) != view_size(y)) return leave(&all);
  const int64_t n = view_size(x), dx = view_sequence_stride(x), dy = view_sequence_stride(y);
  if (dx < 1 || dy < 1) return leave(&all);
  double result;
  gpumem_status status;
  RUN(x->dtype == GPUMEM_F32
          ? p_gpumem_dot_f32(ctx, (const float*)x->address, (const float*)y->address, n, dx, dy, &result)
          : p_gpumem_dot_f64(ctx, (const double*)x->address, (const double*)y->address, n, dx, dy, &result))
  return end(&all, status == GPUMEM_OK ? PyFloat_FromDouble(result) : raise_status(status));
}

/* quick_nrm2(ctx, x) */
static PyObject* quick_nrm2(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_nrm2", 2, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  const View* x = take(&all, args[1], false);
  const int64_t stride = x && is_float(x) ? view_sequence_stride(x) : 0;
  if (stride < 1) return leave(&all);
  double result;
  gpumem_status status;
  RUN(x->dtype == GPUMEM_F32 ? p_gpumem_nrm2_f32(ctx, (const float*)x->address, view_size(x), stride, &result)
                             : p_gpumem_nrm2_f64(ctx, (const double*)x->address, view_size(x), stride, &result))
  return end(&all, status == GPUMEM_OK ? PyFloat_FromDouble(result) : raise_status(status));
}

/* ---------------------------------------------------------------------------------------------------------- movement */

/* quick_copy(ctx, dst, src): dst */
static PyObject* quick_copy(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_copy", 3, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  const View* to = take(&all, args[1], true);
  const View* of = to ? take(&all, args[2], false) : NULL;
  if (!of || of->dtype != to->dtype || !same_shape(of, to) || !view_is_contiguous(of) || !view_is_contiguous(to))
    return leave(&all);
  gpumem_status status;
  RUN(p_gpumem_copy(ctx, to->address, of->address, view_size(of) * of->itemsize))
  return end_with(&all, status, args[1]);
}

/* The bytes of a value of an element type; false where the general way has to look at it. */
static bool to_pattern(int32_t dtype, PyObject* object, void* pattern) {
  double real;
  if (dtype == GPUMEM_F32 || dtype == GPUMEM_F64) {
    if (!(PyFloat_Check(object) || PyLong_Check(object)) || !number(object, &real)) return false;
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
  memcpy(pattern, &value, (size_t)dtype_sizes[dtype]); /* little-endian, as all of the library's platforms */
  return rest == 0;
}

/* quick_fill(ctx, dst, value): dst */
static PyObject* quick_fill(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_fill", 3, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  const View* to = take(&all, args[1], true);
  int64_t pattern = 0;
  if (!to || !view_is_contiguous(to) || !to_pattern(to->dtype, args[2], &pattern)) return leave(&all);
  gpumem_status status;
  RUN(p_gpumem_fill(ctx, to->address, &pattern, to->itemsize, view_size(to)))
  return end_with(&all, status, args[1]);
}

/* Of a matrix, in elements; 0 where its rows have gaps, or do not lie one after the other. */
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
  if (!check_count("quick_transpose", 3, given) || !to_pointer(args[0], &ctx)) return NULL;
  if (args[1] == args[2]) Py_RETURN_NONE; /* in place */
  Operands all = {.count = 0};
  const View* of = take(&all, args[1], false);
  if (!of || of->ndim != 2) return leave(&all);
  const int64_t shape[] = {of->shape[1], of->shape[0]};
  const View* to = take_result(&all, args[2], args[1], shape, 2);
  if (!to || to->dtype != of->dtype || to->ndim != 2 || to->shape[0] != shape[0] || to->shape[1] != shape[1])
    return leave(&all);
  const int64_t ld = leading_dimension(of), to_ld = leading_dimension(to);
  if (ld == 0 || to_ld == 0) return leave(&all);
  gpumem_status status;
  RUN(p_gpumem_transpose(ctx, of->itemsize, shape[1], shape[0], of->address, ld, to->address, to_ld))
  return end_with(&all, status, args[2]);
}

/* ------------------------------------------------------------------------------------------------------- elementwise */

/* quick_axpby(ctx, alpha, x, beta, y, out): the result */
static PyObject* quick_axpby(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  double alpha, beta;
  if (!check_count("quick_axpby", 6, given) || !to_pointer(args[0], &ctx)) return NULL;
  PyObject *x = args[2], *y = args[4], *first = Py_IsNone(x) ? y : x;
  if (Py_IsNone(first) || !number(args[1], &alpha) || !number(args[3], &beta)) Py_RETURN_NONE;
  Operands all = {.count = 0};
  const View* like = take(&all, first, false);
  const View* other = Py_IsNone(x) || Py_IsNone(y) ? like : like ? take(&all, y, false) : NULL;
  const View* to = other ? take_result(&all, args[5], first, like->shape, like->ndim) : NULL;
  if (!to || !is_float(like)) return leave(&all);
  const int64_t n = view_size(like);
  for (int i = 0; i < all.count; ++i)
    if (all.views[i].dtype != like->dtype || view_size(&all.views[i]) != n || !view_is_contiguous(&all.views[i]))
      return leave(&all);
  const void *a = Py_IsNone(x) ? NULL : like->address, *b = Py_IsNone(y) ? NULL : other->address;
  gpumem_status status;
  RUN(like->dtype == GPUMEM_F32 ? p_gpumem_axpby_f32(ctx, (float)alpha, a, (float)beta, b, (float*)to->address, n)
                                : p_gpumem_axpby_f64(ctx, alpha, a, beta, b, (double*)to->address, n))
  return end_with(&all, status, args[5]);
}

/* The shape that views have together, by the rules of NumPy. */
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

/* The fewest axes by which several views can be gone through: extents, and strides in elements, view by view. */
typedef struct {
  int32_t rank;
  int64_t extents[MAX_AXES];
  int64_t strides[(MAX_TERMS + 1) * MAX_AXES];
} Walk;

/* The stride of a view along an axis of the result: 0 where it is repeated, -1 where the library takes it not. */
static int64_t stride_along(const View* view, const View* to, int32_t axis) {
  const int32_t own = axis - (to->ndim - view->ndim);
  if (own < 0 || (view->shape[own] == 1 && to->shape[axis] != 0)) return 0;
  if (view->shape[own] != to->shape[axis]) return -1;
  return view->strides[own] % view->itemsize == 0 ? view->strides[own] / view->itemsize : -1;
}

/* The last view is the result's. */
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

/* Takes the result of views that are taken, and how they are gone through with it. */
static bool take_walk(Operands* all, PyObject* out, PyObject* x, Walk* walk) {
  int64_t shape[MAX_AXES];
  int32_t ndim;
  return is_float(&all->views[0]) && shape_together(all, shape, &ndim) && take_result(all, out, x, shape, ndim) &&
         walk_over(all, walk);
}

/* quick_multiply(ctx, x, y, out): the result */
static PyObject* quick_multiply(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_multiply", 4, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  Walk walk;
  if (!take(&all, args[1], false) || !take(&all, args[2], false) || !take_walk(&all, args[3], args[1], &walk))
    return leave(&all);
  const void *x = all.views[0].address, *y = all.views[1].address;
  void* z = all.views[2].address;
  const int64_t *dx = walk.strides, *dy = dx + walk.rank, *dz = dy + walk.rank;
  gpumem_status status;
  RUN(all.views[0].dtype == GPUMEM_F32 ? p_gpumem_multiply_f32(ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz)
                                       : p_gpumem_multiply_f64(ctx, walk.rank, walk.extents, x, dx, y, dy, z, dz))
  return end_with(&all, status, args[3]);
}

typedef struct {
  float narrow[MAX_TERMS];
  double wide[MAX_TERMS];
  const void* x[MAX_TERMS];
} Terms;

static bool take_terms(Operands* all, PyObject* list, Terms* terms) {
  const Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : 0;
  if (count < 1 || count > MAX_TERMS) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* term = PyList_GetItem(list, i);
    if (!PyTuple_Check(term) || PyTuple_Size(term) != 2 || !number(PyTuple_GetItem(term, 0), &terms->wide[i]))
      return false;
    const View* view = take(all, PyTuple_GetItem(term, 1), false);
    if (!view) return false;
    terms->narrow[i] = (float)terms->wide[i];
    terms->x[i] = view->address;
  }
  return true;
}

/* quick_lincomb(ctx, terms, out): the result */
static PyObject* quick_lincomb(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  void* ctx;
  if (!check_count("quick_lincomb", 3, given) || !to_pointer(args[0], &ctx)) return NULL;
  Operands all = {.count = 0};
  Terms terms;
  Walk walk;
  if (!take_terms(&all, args[1], &terms)) return leave(&all);
  const int32_t count = all.count, is_narrow = all.views[0].dtype == GPUMEM_F32;
  if (!take_walk(&all, args[2], PyTuple_GetItem(PyList_GetItem(args[1], 0), 1), &walk)) return leave(&all);
  void* z = all.views[count].address;
  const int64_t* dz = walk.strides + count * walk.rank;
  gpumem_status status;
  RUN(is_narrow ? p_gpumem_lincomb_f32(ctx, walk.rank, walk.extents, count, terms.narrow, (const float* const*)terms.x,
                                       walk.strides, z, dz)
                : p_gpumem_lincomb_f64(ctx, walk.rank, walk.extents, count, terms.wide, (const double* const*)terms.x,
                                       walk.strides, z, dz))
  return end_with(&all, status, args[2]);
}

#define QUICK(name, arguments) \
  { "quick_" #name, (PyCFunction)(void (*)(void))quick_##name, METH_FASTCALL, arguments }
static PyMethodDef quick_functions[] = {{"set_room", set_room, METH_O, "what makes an array like x for a result"},
                                        QUICK(argreduce, "(ctx, op, x)"),
                                        QUICK(axpby, "(ctx, alpha, x, beta, y, out)"),
                                        QUICK(copy, "(ctx, dst, src)"),
                                        QUICK(dot, "(ctx, x, y)"),
                                        QUICK(fill, "(ctx, dst, value)"),
                                        QUICK(lincomb, "(ctx, terms, out)"),
                                        QUICK(multiply, "(ctx, x, y, out)"),
                                        QUICK(nrm2, "(ctx, x)"),
                                        QUICK(transpose, "(ctx, src, out)"),
                                        {NULL, NULL, 0, NULL}};

int quick_add_functions(PyObject* module) { return PyModule_AddFunctions(module, quick_functions); }
