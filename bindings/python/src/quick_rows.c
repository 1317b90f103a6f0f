/* Fast paths of rows by index, reductions by index and of segments, and images. */
#include "quick.h"

LIBRARY_BOTH(gpumem_gather);
LIBRARY_BOTH(gpumem_reduce_by_index);
LIBRARY_BOTH(gpumem_reduce_rows_by_index);
LIBRARY_BOTH(gpumem_reduce_segments);
LIBRARY_BOTH(gpumem_resize_2d);
LIBRARY_BOTH(gpumem_scatter);

bool to_rows(const View* view, int64_t* bytes, int64_t* pitch) {
  if (view->ndim < 1) return false;
  *bytes = view->itemsize;
  for (int32_t axis = view->ndim - 1; axis > 0; --axis) {
    if (view->shape[axis] != 1 && view->strides[axis] != *bytes) return false;
    *bytes *= view->shape[axis];
  }
  *pitch = view->shape[0] > 1 ? view->strides[0] : *bytes;
  return *bytes > 0 && *pitch >= *bytes;
}

bool is_index(const View* view) { return view->dtype >= GPUMEM_I32 && view->dtype <= GPUMEM_U64; }

static bool is_vector(const View* view) { return view->ndim == 1 && view_is_contiguous(view); }

static const View* take_index(Operands* all, PyObject* x) {
  const View* view = operands_take(all, x, READ);
  return view && is_index(view) && is_vector(view) ? view : NULL;
}

const View* take_offsets(Operands* all, PyObject* x) {
  const View* view = operands_take(all, x, READ);
  return view && view->dtype == GPUMEM_I64 && is_vector(view) && view->shape[0] > 0 ? view : NULL;
}

/* The shape of an array like the view, whose first extent is `count`. */
static const int64_t* shape_of_rows(const View* view, int64_t count, int64_t* shape) {
  for (int32_t axis = 0; axis < view->ndim; ++axis) shape[axis] = axis == 0 ? count : view->shape[axis];
  return shape;
}

const View* take_rows(Operands* all, PyObject* out, PyObject* x, int64_t count) {
  int64_t shape[MAX_AXES];
  const View *of = &all->views[0], *to = operands_take_result(all, out, x, 0, shape_of_rows(of, count, shape), of->ndim,
                                                              of->dtype, WITH_BOOL);
  return to && to->dtype == of->dtype ? to : NULL;
}

/* quick_gather(context, stream, src, index, out, status): the result */
static PyObject* quick_gather(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_gather", 6, given)) return NULL;
  Operands all;
  int64_t bytes, pitch, to_bytes, to_pitch, shape[MAX_AXES];
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], WITH_BOOL);
  const View* by = of && to_rows(of, &bytes, &pitch) ? take_index(&all, args[3]) : NULL;
  const View* to = by ? take_rows(&all, args[4], args[2], by->shape[0]) : NULL;
  if (!to || !is_of_shape(to, shape_of_rows(of, by->shape[0], shape), of->ndim) || !to_rows(to, &to_bytes, &to_pitch))
    return operands_leave(&all);
  gpumem_status status;
  CALL_WITH_STATUS(args[5], gpumem_gather, all.ctx, bytes, of->address, of->shape[0], pitch, by->dtype, by->address,
                   by->shape[0], to->address, to_pitch)
  return operands_end_with(&all, status, args[4]);
}

/* quick_scatter(context, stream, src, index, dst, status): dst */
static PyObject* quick_scatter(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_scatter", 6, given)) return NULL;
  Operands all;
  int64_t bytes, pitch, to_bytes, to_pitch;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], WITH_BOOL);
  const View* by = of && to_rows(of, &bytes, &pitch) ? take_index(&all, args[3]) : NULL;
  const View* to = by ? operands_take(&all, args[4], WRITE | WITH_BOOL) : NULL;
  if (!to || to->dtype != of->dtype || by->shape[0] != of->shape[0] || !to_rows(to, &to_bytes, &to_pitch) ||
      to_bytes != bytes)
    return operands_leave(&all);
  gpumem_status status;
  CALL_WITH_STATUS(args[5], gpumem_scatter, all.ctx, bytes, of->address, pitch, by->dtype, by->address, of->shape[0],
                   to->address, to->shape[0], to_pitch)
  return operands_end_with(&all, status, args[4]);
}

/* quick_reduce_by_index(context, stream, op, x, index, bins, out, status): the result. x may be None. */
static PyObject* quick_reduce_by_index(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t op;
  int64_t bins, bytes = 0, pitch = 0, shape[MAX_AXES];
  if (!check_count("quick_reduce_by_index", 8, given) || !to_int32(args[2], &op, "op")) return NULL;
  const bool counts = Py_IsNone(args[3]);
  Operands all;
  if (op == GPUMEM_MIN_MAX || (counts && op != GPUMEM_SUM) || !to_axis(args[5], &bins) || bins < 0 ||
      !operands_begin(&all, args[0], args[1]))
    Py_RETURN_NONE;
  const View* x = counts ? NULL : operands_take(&all, args[3], READ);
  const View* by = counts || (x && to_rows(x, &bytes, &pitch)) ? take_index(&all, args[4]) : NULL;
  if (!by || (x && x->shape[0] != by->shape[0])) return operands_leave(&all);
  const int32_t dtype = x ? x->dtype : GPUMEM_I64, ndim = x ? x->ndim : 1;
  const View* to = operands_take_values(&all, args[6], args[counts ? 4 : 3], shape_of_rows(x ? x : by, bins, shape),
                                        ndim, result_type(dtype));
  if (!to || (ndim == 1 ? x && !view_is_contiguous(x) : pitch % x->itemsize != 0)) return operands_leave(&all);
  gpumem_status status;
  if (ndim == 1) {
    CALL_WITH_STATUS(args[7], gpumem_reduce_by_index, all.ctx, dtype, op, x ? x->address : NULL, by->dtype, by->address,
                     by->shape[0], to->address, bins)
  } else {
    CALL_WITH_STATUS(args[7], gpumem_reduce_rows_by_index, all.ctx, dtype, op, x->address, x->shape[0],
                     bytes / x->itemsize, pitch / x->itemsize, by->dtype, by->address, to->address, bins)
  }
  return operands_end_several(&all, status, args[6]);
}

/* quick_reduce_segments(context, stream, op, x, offsets, out, status): the result */
static PyObject* quick_reduce_segments(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t op;
  if (!check_count("quick_reduce_segments", 7, given) || !to_int32(args[2], &op, "op")) return NULL;
  Operands all;
  if (op == GPUMEM_MIN_MAX || !operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* x = operands_take(&all, args[3], READ);
  const View* ends = x && is_vector(x) ? take_offsets(&all, args[4]) : NULL;
  const int64_t segments = ends ? ends->shape[0] - 1 : 0;
  const View* to = ends ? operands_take_values(&all, args[5], args[3], &segments, 1, result_type(x->dtype)) : NULL;
  if (!to) return operands_leave(&all);
  gpumem_status status;
  CALL_WITH_STATUS(args[6], gpumem_reduce_segments, all.ctx, x->dtype, op, x->address, x->shape[0],
                   (const int64_t*)ends->address, segments, to->address)
  return operands_end_several(&all, status, args[5]);
}

/* The channels of an image, and its pitch. 0 if the general path must describe it. */
static int32_t to_image(const View* view, int64_t* pitch) {
  enum { MOST_CHANNELS = 4 };
  int64_t bytes;
  if ((view->ndim != 2 && view->ndim != 3) || !to_rows(view, &bytes, pitch)) return 0;
  const int64_t channels = view->ndim == 3 ? view->shape[2] : 1;
  return channels <= MOST_CHANNELS ? (int32_t)channels : 0;
}

/* Takes the size of a new result: a tuple (rows, columns). */
static bool to_size(PyObject* size, int64_t* shape) {
  if (!PyTuple_Check(size) || PyTuple_Size(size) != 2) return false;
  for (int axis = 0; axis < 2; ++axis)
    if (!to_axis(PyTuple_GetItem(size, axis), &shape[axis]) || shape[axis] < 0) return false;
  return true;
}

/* quick_resize(context, stream, filter, src, size, out): the result. One of size and out is None. */
static PyObject* quick_resize(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t filter;
  int64_t shape[3], pitch, to_pitch;
  if (!check_count("quick_resize", 6, given) || !to_int32(args[2], &filter, "filter")) return NULL;
  Operands all;
  if ((Py_IsNone(args[5]) ? !to_size(args[4], shape) : !Py_IsNone(args[4])) || !operands_begin(&all, args[0], args[1]))
    Py_RETURN_NONE;
  const View* of = operands_take(&all, args[3], READ);
  const int32_t channels = of ? to_image(of, &pitch) : 0;
  if (channels == 0) return operands_leave(&all);
  shape[2] = channels;
  const View* to = operands_take_result(&all, args[5], args[3], 0, shape, of->ndim, of->dtype, 0);
  if (!to || to->dtype != of->dtype || to_image(to, &to_pitch) != channels) return operands_leave(&all);
  gpumem_status status;
  CALL(gpumem_resize_2d, all.ctx, filter, of->dtype, channels, of->address, of->shape[0], of->shape[1], pitch,
       to->address, to->shape[0], to->shape[1], to_pitch)
  return operands_end_with(&all, status, args[5]);
}

PyMethodDef quick_rows[] = {QUICK(gather, "(context, stream, src, index, out, status)"),
                            QUICK(reduce_by_index, "(context, stream, op, x, index, bins, out, status)"),
                            QUICK(reduce_segments, "(context, stream, op, x, offsets, out, status)"),
                            QUICK(resize, "(context, stream, filter, src, size, out)"),
                            QUICK(scatter, "(context, stream, src, index, dst, status)"),
                            {NULL, NULL, 0, NULL}};
