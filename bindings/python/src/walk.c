/* Describes broadcast operands by the smallest number of axes. */
#include <string.h>

#include "quick.h"

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
  int64_t along[MAX_OPERANDS][MAX_AXES];
  int32_t rank = 0;
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].ndim > to->ndim) return false;
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

bool walk_take(Operands* all, PyObject* out, PyObject* x, int like, int32_t dtype, int flags, Walk* walk) {
  int64_t shape[MAX_AXES];
  int32_t ndim;
  return shape_together(all, shape, &ndim) && operands_take_result(all, out, x, like, shape, ndim, dtype, flags) &&
         walk_over(all, walk);
}
