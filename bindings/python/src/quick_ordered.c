/* Fast paths of scans, sorts and selections. */
#include "quick.h"

LIBRARY_BOTH(gpumem_scan);
LIBRARY_BOTH(gpumem_scan_axis);
LIBRARY_BOTH(gpumem_scan_segments);
LIBRARY_BOTH(gpumem_select);
LIBRARY_BOTH(gpumem_sort);
LIBRARY_BOTH(gpumem_sort_segments);
LIBRARY(gpumem_select_places);

typedef struct {
  PyObject *x, *out;
  int32_t op, exclusive, dtype;
} Scan;

/* Takes x and the result. NULL if the general path must take them. */
static const View* take_scan(Operands* all, const Scan* scan, bool has_axis) {
  const View* x = operands_take(all, scan->x, READ);
  if (!x || (!has_axis && !view_is_contiguous(x))) return NULL;
  const int64_t n = view_size(x);
  const int32_t dtype = scan->dtype >= 0 ? scan->dtype : result_type(x->dtype);
  const View* to = has_axis ? operands_take_result(all, scan->out, scan->x, 0, x->shape, x->ndim, dtype, 0)
                            : operands_take_result(all, scan->out, scan->x, 0, &n, 1, dtype, 0);
  if (!to || (scan->dtype >= 0 && to->dtype != scan->dtype)) return NULL;
  return has_axis ? (same_shape(x, to) ? to : NULL) : view_size(to) == n && view_is_contiguous(to) ? to : NULL;
}

/* quick_scan(context, stream, op, x, axis, exclusive, dtype, out, offsets, status): the result. dtype -1: that of `out`,
 * else the default. Offsets, or None, are for segments. */
static PyObject* quick_scan(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  Scan scan;
  int64_t axis = 0, strides[2][MAX_AXES];
  if (!check_count("quick_scan", 10, given) || !to_int32(args[2], &scan.op, "op") ||
      !to_int32(args[5], &scan.exclusive, "exclusive") || !to_int32(args[6], &scan.dtype, "dtype"))
    return NULL;
  const bool has_axis = !Py_IsNone(args[4]);
  scan.x = args[3], scan.out = args[7];
  if (has_axis && !to_axis(args[4], &axis)) Py_RETURN_NONE;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View *to = take_scan(&all, &scan, has_axis), *x = &all.views[0];
  const bool of_segments = !Py_IsNone(args[8]);
  const View* ends = to && of_segments && x->ndim == 1 ? take_offsets(&all, args[8]) : NULL;
  if (!to || (of_segments && !ends)) return operands_leave(&all);
  gpumem_status status;
  if (of_segments) {
    CALL_WITH_STATUS(args[9], gpumem_scan_segments, all.ctx, x->dtype, scan.op, scan.exclusive, x->address, x->shape[0],
                     (const int64_t*)ends->address, ends->shape[0] - 1, to->address, to->dtype)
    return operands_end_several(&all, status, scan.out);
  }
  if (!has_axis) {
    CALL_WITH_STATUS(args[9], gpumem_scan, all.ctx, x->dtype, scan.op, scan.exclusive, x->address, view_size(x),
                     to->address, to->dtype)
    return operands_end_with(&all, status, scan.out);
  }
  if (axis < -x->ndim || axis >= x->ndim || !whole_strides(x, strides[0]) || !whole_strides(to, strides[1]))
    return operands_leave(&all);
  const int32_t at = (int32_t)(axis < 0 ? axis + x->ndim : axis);
  CALL_WITH_STATUS(args[9], gpumem_scan_axis, all.ctx, x->dtype, scan.op, scan.exclusive, x->ndim, x->shape, at,
                   x->address, strides[0], to->address, strides[1], to->dtype)
  return operands_end_several(&all, status, scan.out);
}

/* quick_sort(context, stream, keys, descending, out, order, dtype, offsets, status): `out`, or with a dtype the
 * positions, which are written to `order`, or to a new array of this type. Offsets, or None, are for segments. */
static PyObject* quick_sort(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t descending, dtype;
  if (!check_count("quick_sort", 9, given) || !to_int32(args[3], &descending, "descending") ||
      !to_int32(args[6], &dtype, "dtype"))
    return NULL;
  Operands all;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const bool of_places = dtype >= 0, of_segments = !Py_IsNone(args[7]);
  const View *keys = operands_take(&all, args[2], READ), *to = NULL, *by = NULL, *ends = NULL;
  bool good = keys && keys->ndim == 1 && view_is_contiguous(keys);
  if (good && of_segments) {
    ends = Py_IsNone(args[4]) ? NULL : take_offsets(&all, args[7]); /* a new result begins as a copy */
    good = ends != NULL;
  }
  if (good && !of_places) {
    to = operands_take_result(&all, args[4], args[2], 0, keys->shape, 1, keys->dtype, 0);
    good = to && to->dtype == keys->dtype && same_shape(to, keys) && view_is_contiguous(to);
  }
  if (good && (of_places || !Py_IsNone(args[5]))) {
    by = operands_take_result(&all, args[5], args[2], 0, keys->shape, 1, dtype, 0);
    good = by && is_index(by) && same_shape(by, keys) && view_is_contiguous(by);
  }
  if (!good) return operands_leave(&all);
  void *sorted = to ? to->address : NULL, *order = by ? by->address : NULL;
  const int32_t order_type = by ? by->dtype : GPUMEM_I64;
  gpumem_status status;
  if (of_segments) {
    CALL_WITH_STATUS(args[8], gpumem_sort_segments, all.ctx, keys->dtype, keys->address, keys->shape[0],
                     (const int64_t*)ends->address, ends->shape[0] - 1, descending, sorted, order, order_type)
    return operands_end_with(&all, status, args[4]);
  }
  CALL(gpumem_sort, all.ctx, keys->dtype, keys->address, keys->shape[0], descending, sorted, order, order_type)
  return operands_end_with(&all, status, args[of_places ? 5 : 4]);
}

/* Takes the rows and the mask. */
static bool take_selection(Operands* all, PyObject* src, PyObject* mask, int64_t* bytes, int64_t* pitch) {
  const View* of = operands_take(all, src, WITH_BOOL);
  const View* flags = of && to_rows(of, bytes, pitch) ? operands_take(all, mask, WITH_BOOL) : NULL;
  return flags && flags->dtype <= GPUMEM_U8 && flags->ndim == 1 && flags->shape[0] == of->shape[0] &&
         view_is_contiguous(flags);
}

/* quick_select(context, stream, src, mask, out, kept): the selected rows, or with a stream all of `out` */
static PyObject* quick_select(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_select", 6, given)) return NULL;
  Operands all;
  int64_t bytes, pitch, to_bytes, to_pitch, count = 0;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  if (!take_selection(&all, args[2], args[3], &bytes, &pitch)) return operands_leave(&all);
  const View *of = &all.views[0], *mask = &all.views[1];
  const uint8_t* flags = (const uint8_t*)mask->address;
  const int64_t n = of->shape[0];
  gpumem_status status = GPUMEM_OK;
  if (!all.stream && Py_IsNone(args[4])) {
    if (!operands_order(&all)) return operands_end(&all, NULL);
    RUN(p_gpumem_select_places(all.ctx, flags, n, GPUMEM_I64, NULL, 0, &count))
  }
  const View* to = status == GPUMEM_OK ? take_rows(&all, args[4], args[2], all.stream ? n : count) : NULL;
  const View* number = to && all.stream ? operands_take(&all, args[5], WRITE) : to;
  if (!number || !to_rows(to, &to_bytes, &to_pitch) || to_bytes != bytes ||
      (all.stream && (number->dtype != GPUMEM_I64 || view_size(number) != 1)))
    return operands_leave(&all);
  int64_t* kept = all.stream ? (int64_t*)number->address : &count;
  const int64_t room = to->shape[0];
  CALL(gpumem_select, all.ctx, bytes, of->address, pitch, flags, n, to->address, room, to_pitch, kept)
  PyObject* result = operands_end_with(&all, status, args[4]);
  if (!result || all.stream || count == room) return result;
  PyObject* part = PySequence_GetSlice(result, 0, count);
  Py_DECREF(result);
  return part;
}

PyMethodDef quick_ordered[] = {QUICK(scan, "(context, stream, op, x, axis, exclusive, dtype, out, offsets, status)"),
                               QUICK(select, "(context, stream, src, mask, out, kept)"),
                               QUICK(sort, "(context, stream, keys, descending, out, order, dtype, offsets, status)"),
                               {NULL, NULL, 0, NULL}};
