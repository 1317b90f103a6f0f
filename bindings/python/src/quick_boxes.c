/* Copies of many boxes in one call. */
#include <stdlib.h>

#include "quick.h"

LIBRARY_BOTH(gpumem_copy_boxes);

/* The arguments of a call, in one block of memory. */
typedef struct {
  int64_t count, itemsize;
  int32_t ndim;
  char** addresses[2];                    /* of src and dst */
  int64_t *extents, *strides[2], *memory; /* box by box */
} Boxes;

static bool boxes_begin(Boxes* boxes, int64_t count, int32_t ndim, int64_t itemsize) {
  *boxes = (Boxes){.count = count, .itemsize = itemsize, .ndim = ndim};
  boxes->memory = (int64_t*)calloc((size_t)count + 1, (size_t)(2 + 3 * ndim) * sizeof(int64_t));
  if (!boxes->memory) {
    PyErr_NoMemory();
    return false;
  }
  boxes->extents = boxes->memory;
  for (int side = 0; side < 2; ++side) {
    boxes->strides[side] = boxes->memory + (1 + side) * count * ndim;
    boxes->addresses[side] = (char**)(boxes->memory + (3 * ndim + side) * count);
  }
  return true;
}

/* Calls the library, and lets the stream keep the tuple. False with an exception. */
static bool boxes_copy(const Operands* all, const Boxes* boxes, PyObject* kept) {
  if (!operands_order(all)) return false;
  const void* const* src = (const void* const*)boxes->addresses[0];
  void* const* dst = (void* const*)boxes->addresses[1];
  gpumem_status status;
  RUN(all->stream ? p_gpumem_copy_boxes_async(all->ctx, boxes->itemsize, boxes->ndim, boxes->count, boxes->extents, src,
                                              boxes->strides[0], dst, boxes->strides[1], all->queue)
                  : p_gpumem_copy_boxes(all->ctx, boxes->itemsize, boxes->ndim, boxes->count, boxes->extents, src,
                                        boxes->strides[0], dst, boxes->strides[1]))
  if (status != GPUMEM_OK) return raise_status(status);
  return !all->stream || keep_on(all->stream, kept);
}

/* Describes box k of a list, whose View is new. False if the general path must do it. */
static bool take_box(Operands* all, Boxes* boxes, int64_t k, int side, PyObject* x, PyObject* views) {
  PyObject* object = operands_view(all, x);
  if (!object || PyTuple_SetItem(views, 2 * k + side, object) != 0) return false;
  const View* view = (const View*)object;
  if (k == 0 && side == 0 && !boxes_begin(boxes, PyTuple_Size(views) / 2, view->ndim, view->itemsize)) return false;
  const View* first = (const View*)PyTuple_GetItem(views, 0);
  const bool is_known = view->dtype >= 0 || view_is_bool(view);
  if (!is_known || view->dtype != first->dtype || view->itemsize != first->itemsize || view->ndim != first->ndim ||
      (side == 1 && view->readonly) || !whole_strides(view, boxes->strides[side] + k * view->ndim))
    return false;
  boxes->addresses[side][k] = view->address;
  for (int32_t axis = 0; axis < view->ndim; ++axis) {
    int64_t* extent = &boxes->extents[k * view->ndim + axis];
    if (side == 0) *extent = view->shape[axis];
    if (*extent != view->shape[axis]) return false;
  }
  return true;
}

static PyObject* copy_lists(PyObject* context, PyObject* stream, PyObject* const* sides) {
  const Py_ssize_t count = PyTuple_Size(sides[0]);
  Operands all;
  if (count < 1 || PyTuple_Size(sides[1]) != count || !operands_begin(&all, context, stream)) Py_RETURN_NONE;
  PyObject* views = PyTuple_New(2 * count);
  Boxes boxes = {0};
  bool good = views != NULL;
  for (Py_ssize_t k = 0; good && k < count; ++k)
    for (int side = 0; good && side < 2; ++side)
      good = take_box(&all, &boxes, k, side, PyTuple_GetItem(sides[side], k), views);
  PyErr_Clear(); /* the general path raises the same error */
  PyObject* result = !good ? Py_NewRef(Py_None) : boxes_copy(&all, &boxes, views) ? Py_NewRef(Py_True) : NULL;
  free(boxes.memory);
  operands_end(&all, NULL);
  Py_XDECREF(views);
  return result;
}

/* quick_copy_boxes(context, stream, src, dst): True if it has copied the arrays of two lists */
static PyObject* quick_copy_boxes(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_copy_boxes", 4, given)) return NULL;
  if (!PyList_Check(args[2]) || !PyList_Check(args[3])) Py_RETURN_NONE;
  PyObject* sides[] = {PyList_AsTuple(args[2]), PyList_AsTuple(args[3])}; /* other threads may change the lists */
  PyObject* result = sides[0] && sides[1] ? copy_lists(args[0], args[1], sides) : NULL;
  Py_XDECREF(sides[0]);
  Py_XDECREF(sides[1]);
  return result;
}

/* One side of boxes between two arrays: integers of i64, box by box. */
typedef struct {
  const char* name;
  const View* view;
  const int64_t*
      offsets; /* one per axis. For boxes without padding in a vector one per box, or NULL: one after another */
  bool is_packed;
} Side;

/* Describes a box that is part of an array. False with an exception. */
static bool place_part(const Side* side, Boxes* boxes, int64_t k, int of) {
  const View* view = side->view;
  boxes->addresses[of][k] = view->address;
  for (int32_t axis = 0; axis < boxes->ndim; ++axis) {
    const int64_t at = side->offsets ? side->offsets[k * boxes->ndim + axis] : 0;
    const int64_t extent = boxes->extents[k * boxes->ndim + axis];
    if (extent < 0 || at < 0 || at > view->shape[axis] - extent) {
      PyErr_Format(PyExc_IndexError,
                   "box %lld begins at %lld along axis %d of %s and has the extent %lld; expected 0 to %lld",
                   (long long)k, (long long)at, (int)axis, side->name, (long long)extent, (long long)view->shape[axis]);
      return false;
    }
    boxes->strides[of][k * boxes->ndim + axis] = view->strides[axis] / view->itemsize;
    boxes->addresses[of][k] += at * view->strides[axis];
  }
  return true;
}

/* Describes a box without padding in a vector. False with an exception. */
static bool place_packed(const Side* side, Boxes* boxes, int64_t k, int of, int64_t* next) {
  const int64_t room = side->view->shape[0], at = side->offsets ? side->offsets[k] : *next;
  int64_t size = 1;
  if (!view_is_contiguous(side->view)) {
    PyErr_Format(PyExc_ValueError, "%s has padding; expected boxes without padding", side->name);
    return false;
  }
  bool good = true;
  for (int32_t axis = boxes->ndim - 1; axis >= 0; --axis) {
    const int64_t extent = boxes->extents[k * boxes->ndim + axis];
    boxes->strides[of][k * boxes->ndim + axis] = size;
    good = good && extent >= 0 && !__builtin_mul_overflow(size, extent, &size);
  }
  if (!good || at < 0 || at > room - size) {
    PyErr_Format(PyExc_IndexError, "box %lld begins at %lld of %s and has %lld elements; expected 0 to %lld",
                 (long long)k, (long long)at, side->name, (long long)size, (long long)room);
    return false;
  }
  boxes->addresses[of][k] = side->view->address + at * side->view->itemsize;
  *next = at + size;
  return true;
}

/* copy_parts(context, stream, src, dst, src_offsets, dst_offsets, extents): copies boxes between two arrays, which are
 * Views whose strides are valid. extents has one row per box. Offsets may be None. */
static PyObject* copy_parts(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("copy_parts", 7, given)) return NULL;
  const View* extents = (const View*)args[6];
  Operands all;
  Boxes boxes;
  if (!operands_begin(&all, args[0], args[1])) return raise_sentence(GPUMEM_INVALID_HANDLE, "the context is closed");
  if (!boxes_begin(&boxes, extents->shape[0], (int32_t)extents->shape[1], ((const View*)args[2])->itemsize))
    return operands_end(&all, NULL);
  for (int64_t i = 0; i < boxes.count * boxes.ndim; ++i) boxes.extents[i] = ((const int64_t*)extents->address)[i];
  static const char* const names[] = {"src", "dst"};
  bool good = true;
  for (int of = 0; of < 2; ++of) {
    const View* view = (const View*)args[2 + of];
    const int64_t* offsets = Py_IsNone(args[4 + of]) ? NULL : (const int64_t*)((const View*)args[4 + of])->address;
    const Side side = {names[of], view, offsets, view->ndim != boxes.ndim};
    int64_t next = 0;
    for (int64_t k = 0; good && k < boxes.count; ++k)
      good = side.is_packed ? place_packed(&side, &boxes, k, of, &next) : place_part(&side, &boxes, k, of);
  }
  PyObject* kept = PyTuple_Pack(2, args[2], args[3]);
  good = good && kept && boxes_copy(&all, &boxes, kept);
  free(boxes.memory);
  Py_XDECREF(kept);
  return operands_end(&all, good ? Py_NewRef(Py_None) : NULL);
}

PyMethodDef quick_boxes[] = {
    QUICK(copy_boxes, "(context, stream, src, dst)"),
    {"copy_parts", (PyCFunction)(void (*)(void))copy_parts, METH_FASTCALL, "boxes between two arrays"},
    {NULL, NULL, 0, NULL}};
