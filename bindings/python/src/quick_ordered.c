/* Fast paths of scans, sorts and selections. */
#include "quick.h"

LIBRARY_BOTH(gpumem_scan);
LIBRARY_BOTH(gpumem_scan_axis);
LIBRARY_BOTH(gpumem_scan_segments);
LIBRARY_BOTH(gpumem_select);
LIBRARY_BOTH(gpumem_select_places);
LIBRARY_BOTH(gpumem_sort);
LIBRARY_BOTH(gpumem_sort_segments);

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

/* Takes a mask. */
static const View* take_flags(Operands* all, PyObject* mask) {
  const View* flags = operands_take(all, mask, WITH_BOOL);
  return flags && flags->dtype <= GPUMEM_U8 && flags->ndim == 1 && view_is_contiguous(flags) ? flags : NULL;
}

/* Counts the elements of the mask that are not 0. False with an exception. */
static bool count_flags(const Operands* all, const View* mask, int64_t* count) {
  if (!operands_order(all)) return false;
  const uint8_t* flags = (const uint8_t*)mask->address;
  gpumem_status status;
  RUN(p_gpumem_select_places(all->ctx, flags, mask->shape[0], GPUMEM_I64, NULL, 0, count))
  return status == GPUMEM_OK || raise_status(status);
}

/* True if a call takes the number of rows for the room of a new result, although it selects fewer: on a GPU, counting
 * first takes as long as the selection. */
static bool has_room_for_all(const Operands* all, int64_t rows, int64_t bytes) {
  enum { MOST_BYTES = 1 << 20 };
  return all->stream || (is_on_gpu(&all->views[0]) && rows <= MOST_BYTES / bytes);
}

/* With a stream, takes the array for the number of what is selected. */
static bool take_kept(Operands* all, PyObject* kept, int64_t** count) {
  if (!all->stream) return true;
  const View* number = operands_take(all, kept, WRITE);
  if (!number || number->dtype != GPUMEM_I64 || view_size(number) != 1) return false;
  *count = (int64_t*)number->address;
  return true;
}

/* Returns the result. Without a stream, it ends after what was selected. */
static PyObject* end_selection(Operands* all, gpumem_status status, PyObject* out, int64_t count, int64_t room) {
  const bool is_part = !all->stream && count != room;
  PyObject* result = operands_end_with(all, status, out);
  if (!result || !is_part) return result;
  PyObject* part = PySequence_GetSlice(result, 0, count);
  Py_DECREF(result);
  return part;
}

/* quick_select(context, stream, src, mask, out, kept): the selected rows, or with a stream all of `out` */
static PyObject* quick_select(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_select", 6, given)) return NULL;
  Operands all;
  int64_t bytes, pitch, to_bytes, to_pitch, count = 0, *kept = &count;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* of = operands_take(&all, args[2], WITH_BOOL);
  const View* mask = of && to_rows(of, &bytes, &pitch) ? take_flags(&all, args[3]) : NULL;
  if (!mask || mask->shape[0] != of->shape[0]) return operands_leave(&all);
  const int64_t n = of->shape[0];
  const uint8_t* flags = (const uint8_t*)mask->address;
  const bool for_all = has_room_for_all(&all, n, bytes);
  if (!for_all && Py_IsNone(args[4]) && !count_flags(&all, mask, &count)) return operands_end(&all, NULL);
  const View* to = take_rows(&all, args[4], args[2], for_all ? n : count);
  if (!to || !to_rows(to, &to_bytes, &to_pitch) || to_bytes != bytes || !take_kept(&all, args[5], &kept))
    return operands_leave(&all);
  const int64_t room = to->shape[0];
  gpumem_status status;
  CALL(gpumem_select, all.ctx, bytes, of->address, pitch, flags, n, to->address, room, to_pitch, kept)
  return end_selection(&all, status, args[4], count, room);
}

/* quick_select_places(context, stream, mask, dtype, out, kept): the places, or with a stream all of `out`. dtype is not
 * used with `out`. */
static PyObject* quick_select_places(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t dtype;
  if (!check_count("quick_select_places", 6, given) || !to_int32(args[3], &dtype, "dtype")) return NULL;
  Operands all;
  int64_t count = 0, *kept = &count;
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* mask = take_flags(&all, args[2]);
  if (!mask) return operands_leave(&all);
  const int64_t n = mask->shape[0];
  const uint8_t* flags = (const uint8_t*)mask->address;
  const bool for_all = has_room_for_all(&all, n, sizeof(int64_t));
  if (!for_all && Py_IsNone(args[4]) && !count_flags(&all, mask, &count)) return operands_end(&all, NULL);
  const int64_t most = for_all ? n : count;
  const View* to = operands_take_result(&all, args[4], args[2], 0, &most, 1, dtype, 0);
  if (!to || !is_index(to) || to->ndim != 1 || !view_is_contiguous(to) || !take_kept(&all, args[5], &kept))
    return operands_leave(&all);
  const int64_t room = to->shape[0];
  gpumem_status status;
  CALL(gpumem_select_places, all.ctx, flags, n, to->dtype, to->address, room, kept)
  return end_selection(&all, status, args[4], count, room);
}

/* quick_count(context, mask): the number of elements that are not 0 */
static PyObject* quick_count(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_count", 2, given)) return NULL;
  Operands all;
  int64_t count;
  if (!operands_begin(&all, args[0], Py_None)) Py_RETURN_NONE;
  const View* mask = take_flags(&all, args[1]);
  if (!mask) return operands_leave(&all);
  return operands_end(&all, count_flags(&all, mask, &count) ? PyLong_FromLongLong(count) : NULL);
}

PyMethodDef quick_ordered[] = {QUICK(count, "(context, mask)"),
                               QUICK(scan, "(context, stream, op, x, axis, exclusive, dtype, out, offsets, status)"),
                               QUICK(select, "(context, stream, src, mask, out, kept)"),
                               QUICK(select_places, "(context, stream, mask, dtype, out, kept)"),
                               QUICK(sort, "(context, stream, keys, descending, out, order, dtype, offsets, status)"),
                               {NULL, NULL, 0, NULL}};
