/* Parts of arrays by integers, slices, None and `...`. */
#include "module.h"

#include <string.h>

/* Takes an axis with an integer. False with an exception. */
static bool take_integer(const View* view, int32_t axis, PyObject* key, View* part) {
  const int64_t extent = view->shape[axis];
  PyObject* number = PyIndex_Check(key) ? PyNumber_Index(key) : NULL;
  if (!number && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)))
    PyErr_Format(
        PyExc_TypeError,
        "an index is %.200R; expected an integer, a slice, None or ...: Context.gather() takes an array of indices, "
        "and select() a mask",
        key);
  if (!number) return false;
  int overflow;
  const int64_t at = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow || at < -extent || at >= extent)
    PyErr_Format(PyExc_IndexError, "index %R of an axis of %lld", number, (long long)extent);
  else
    part->address += view->strides[axis] * (at < 0 ? at + extent : at);
  Py_DECREF(number);
  return !PyErr_Occurred();
}

/* Adds an axis to the part. False with an exception. */
static bool add_axis(View* part, int64_t extent, int64_t stride) {
  if (part->ndim == MAX_AXES) {
    PyErr_Format(PyExc_ValueError, "there are more than %d axes; expected at most %d", MAX_AXES, MAX_AXES);
    return false;
  }
  part->shape[part->ndim] = extent;
  part->strides[part->ndim++] = stride;
  return true;
}

static bool take_slice(const View* view, int32_t axis, PyObject* key, View* part) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(key, &start, &stop, &step) != 0) return false;
  const Py_ssize_t count = PySlice_AdjustIndices(view->shape[axis], &start, &stop, step);
  int64_t stride = 0; /* not used if the product overflows, because count is then at most 1 */
  if (__builtin_mul_overflow(view->strides[axis], (int64_t)step, &stride)) stride = view->strides[axis];
  if (count > 0) part->address += view->strides[axis] * start;
  return add_axis(part, count, stride);
}

/* Applies the keys. False with an exception. */
static bool take_keys(const View* view, PyObject* keys, View* part) {
  const Py_ssize_t count = PyTuple_Size(keys);
  Py_ssize_t taken = 0, ellipses = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* key = PyTuple_GetItem(keys, i);
    ellipses += key == Py_Ellipsis;
    taken += key != Py_Ellipsis && !Py_IsNone(key);
  }
  if (taken > view->ndim || ellipses > 1) {
    PyErr_Format(PyExc_IndexError, "%zd indices for %d axes", taken, (int)view->ndim);
    return false;
  }
  int32_t axis = 0;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < count; ++i) {
    PyObject* key = PyTuple_GetItem(keys, i);
    if (Py_IsNone(key))
      good = add_axis(part, 1, 0);
    else if (key == Py_Ellipsis)
      for (const int32_t rest = axis + view->ndim - (int32_t)taken; good && axis < rest; ++axis)
        good = add_axis(part, view->shape[axis], view->strides[axis]);
    else if (PySlice_Check(key))
      good = take_slice(view, axis++, key, part);
    else
      good = take_integer(view, axis++, key, part);
  }
  for (; good && axis < view->ndim; ++axis) good = add_axis(part, view->shape[axis], view->strides[axis]);
  return good;
}

/* part(view, key): view[key] as an Array, which shares the memory */
PyObject* view_part(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("part", 2, given)) return NULL;
  if (!PyType_IsSubtype(Py_TYPE(args[0]), view_type)) return PyErr_Format(PyExc_TypeError, "expected a View");
  const View* view = (const View*)args[0];
  PyObject* keys = PyTuple_Check(args[1]) ? Py_NewRef(args[1]) : PyTuple_Pack(1, args[1]);
  View* part = keys ? view_new(array_type) : NULL;
  if (part) {
    part->address = view->address;
    part->readonly = view->readonly;
    part->kind = view->kind, part->device = view->device, part->dtype = view->dtype, part->itemsize = view->itemsize;
    memcpy(part->format, view->format, FORMAT_BYTES);
    part->owner = Py_NewRef(view->owner && Py_TYPE(args[0]) == array_type ? view->owner : args[0]); /* as owner_of() */
    const bool good = take_keys(view, keys, part);
    if (good) view_settle_strides(part);
    if (!good || !view_check(part)) {
      Py_DECREF((PyObject*)part);
      part = NULL;
    }
  }
  Py_XDECREF(keys);
  return (PyObject*)part;
}
