/* Fast paths of elementwise functions, comparisons, selections and scaled conversions. */
#include "quick.h"

LIBRARY_BOTH(gpumem_compare);
LIBRARY_BOTH(gpumem_convert_scaled);
LIBRARY_BOTH(gpumem_map);
LIBRARY_BOTH(gpumem_where);

/* A source of a call: the strides come from the walk. */
#define SOURCE(i) all.views[i].address, walk.strides + (i)*walk.rank

/* Arrays of one type, of which some may be numbers. `at` gets the places of their Views: an array that the others are
 * like comes first. Returns the argument that the result is like, or -1 if the general path must take them. */
static int take_sources(Operands* all, PyObject* const* x, int count, int flags, int at[2]) {
  const int first = count == 2 && is_number(x[0]), base = all->count;
  const View* of = is_number(x[first]) ? NULL : operands_take(all, x[first], flags);
  if (!of) return -1;
  at[first] = base, at[1 - first] = base + 1;
  if (count == 1) return 0;
  PyObject* second = x[1 - first];
  if (is_number(second) && of->dtype < 0) return -1;
  const View* other =
      is_number(second) ? operands_take_number(all, second, of->dtype, of) : operands_take(all, second, flags);
  if (!other || other->dtype != of->dtype) return -1;
  return is_number(second) ? first : of->ndim > 0 || other->ndim == 0 ? 0 : 1;
}

/* quick_map(context, stream, op, x, y, out, status): the result. y is not used if it is Ellipsis. */
static PyObject* quick_map(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t op;
  if (!check_count("quick_map", 7, given) || !to_int32(args[2], &op, "op")) return NULL;
  Operands all;
  Walk walk;
  int at[2];
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const int sources = op >= GPUMEM_MAP_ADD ? 2 : 1;
  const int like = take_sources(&all, args + 3, sources, READ, at);
  if (like < 0 || !walk_take(&all, args[5], args[3 + like], at[like], all.views[0].dtype, 0, &walk) ||
      all.views[sources].dtype != all.views[0].dtype)
    return operands_leave(&all);
  const void* y = sources == 2 ? all.views[at[1]].address : NULL;
  const int64_t* y_strides = sources == 2 ? walk.strides + at[1] * walk.rank : NULL;
  gpumem_status status;
  CALL_WITH_STATUS(args[6], gpumem_map, all.ctx, op, all.views[0].dtype, walk.rank, walk.extents, SOURCE(at[0]), y,
                   y_strides, SOURCE(sources))
  return operands_end_with(&all, status, args[5]);
}

static bool is_mask(const View* view) { return is_bool(view) || view->dtype == GPUMEM_U8; }

/* quick_compare(context, stream, op, x, y, out): the mask */
static PyObject* quick_compare(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t op;
  if (!check_count("quick_compare", 6, given) || !to_int32(args[2], &op, "op")) return NULL;
  Operands all;
  Walk walk;
  int at[2];
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const int like = take_sources(&all, args + 3, 2, READ, at);
  if (like < 0 || !walk_take(&all, args[5], args[3 + like], at[like], GPUMEM_U8, WITH_BOOL, &walk) ||
      !is_mask(&all.views[2]))
    return operands_leave(&all);
  uint8_t* mask = (uint8_t*)all.views[2].address;
  gpumem_status status;
  CALL(gpumem_compare, all.ctx, op, all.views[0].dtype, walk.rank, walk.extents, SOURCE(at[0]), SOURCE(at[1]), mask,
       walk.strides + 2 * walk.rank)
  return operands_end_with(&all, status, args[5]);
}

/* quick_where(context, stream, mask, x, y, out): the result */
static PyObject* quick_where(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("quick_where", 6, given)) return NULL;
  Operands all;
  Walk walk;
  int at[2];
  if (!operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  const View* mask = operands_take(&all, args[2], WITH_BOOL);
  const int like = mask && is_mask(mask) ? take_sources(&all, args + 3, 2, WITH_BOOL, at) : -1;
  if (like < 0 || !walk_take(&all, args[5], args[3 + like], at[like], all.views[1].dtype, WITH_BOOL, &walk) ||
      all.views[3].dtype != all.views[1].dtype)
    return operands_leave(&all);
  const uint8_t* flags = (const uint8_t*)mask->address;
  gpumem_status status;
  CALL(gpumem_where, all.ctx, all.views[1].itemsize, walk.rank, walk.extents, flags, walk.strides, SOURCE(at[0]),
       SOURCE(at[1]), SOURCE(3))
  return operands_end_with(&all, status, args[5]);
}

/* Takes a factor or a summand. Its place is 0 if there is none. */
static bool take_f64(Operands* all, PyObject* x, int* at) {
  *at = Py_IsNone(x) ? 0 : all->count;
  const View* view = *at == 0 ? NULL : operands_take_number(all, x, GPUMEM_F64, &all->views[0]);
  return *at == 0 || (view && view->dtype == GPUMEM_F64);
}

/* quick_convert_scaled(context, stream, src, dtype, scale, offset, nan_value, out): the result. dtype is not used with
 * `out`. */
static PyObject* quick_convert_scaled(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  int32_t dtype;
  double nan_value;
  if (!check_count("quick_convert_scaled", 8, given) || !to_int32(args[3], &dtype, "dtype")) return NULL;
  Operands all;
  Walk walk;
  int scale, offset;
  if (!to_number(args[6], &nan_value) || !operands_begin(&all, args[0], args[1])) Py_RETURN_NONE;
  if (!operands_take(&all, args[2], READ) || !take_f64(&all, args[4], &scale) || !take_f64(&all, args[5], &offset) ||
      !walk_take(&all, args[7], args[2], 0, dtype, 0, &walk))
    return operands_leave(&all);
  const int last = all.count - 1;
  const double *factor = scale ? (const double*)all.views[scale].address : NULL,
               *summand = offset ? (const double*)all.views[offset].address : NULL;
  gpumem_status status;
  CALL(gpumem_convert_scaled, all.ctx, walk.rank, walk.extents, all.views[0].dtype, SOURCE(0), factor,
       scale ? walk.strides + scale * walk.rank : NULL, summand, offset ? walk.strides + offset * walk.rank : NULL,
       nan_value, all.views[last].dtype, SOURCE(last))
  return operands_end_with(&all, status, args[7]);
}

PyMethodDef quick_elementwise[] = {
    QUICK(compare, "(context, stream, op, x, y, out)"),
    QUICK(convert_scaled, "(context, stream, src, dtype, scale, offset, nan_value, out)"),
    QUICK(map, "(context, stream, op, x, y, out, status)"),
    QUICK(where, "(context, stream, mask, x, y, out)"),
    {NULL, NULL, 0, NULL}};
