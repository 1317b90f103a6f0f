/* Takes the operands of the fast paths. */
#include "quick.h"

static PyObject* room; /* room(x, shape, element=None): an array like x for a result, or None */

static PyObject* set_room(PyObject* module, PyObject* callable) {
  (void)module;
  Py_XDECREF(room);
  room = Py_NewRef(callable);
  Py_RETURN_NONE;
}

static bool may_have_mask(PyTypeObject* type) {
  PyObject* mask = PyObject_GetAttrString((PyObject*)type, "mask");
  const bool may = mask || !PyErr_ExceptionMatches(PyExc_AttributeError);
  PyErr_Clear();
  Py_XDECREF(mask);
  return may;
}

const View* operands_take(Operands* all, PyObject* x, bool write) {
  View* view = &all->views[all->count];
  PyTypeObject* type = Py_TYPE(x);
  if (PyType_IsSubtype(type, view_type)) {
    *view = *(const View*)x; /* the caller keeps x */
    view->buffer.obj = NULL;
  } else {
    if (!PyObject_CheckBuffer(x)) return NULL;
    /* Masked arrays are Python classes. */
    if ((PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) && may_have_mask(type)) return NULL;
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

const View* operands_take_result(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim,
                                 int32_t dtype) {
  static const char* const numpy_names[] = {"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", NULL, "f4", "f8"};
  if (!Py_IsNone(out)) return operands_take(all, out, true);
  const bool alike = dtype == all->views[0].dtype;
  if (!alike && !numpy_names[dtype]) return NULL;
  PyObject *extents = tuple_of(shape, ndim), *element = alike ? NULL : PyUnicode_FromString(numpy_names[dtype]);
  all->made = extents && (alike || element) ? PyObject_CallFunctionObjArgs(room, x, extents, element, NULL) : NULL;
  Py_XDECREF(extents);
  Py_XDECREF(element);
  if (!all->made) PyErr_Clear(); /* the general path raises the same error */
  return all->made && !Py_IsNone(all->made) ? operands_take(all, all->made, true) : NULL;
}

PyObject* operands_end(Operands* all, PyObject* result) {
  /* The owner of a buffer may run Python code when it is released. An exception may be pending. */
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  for (int i = 0; i < all->count; ++i)
    if (all->views[i].buffer.obj) PyBuffer_Release(&all->views[i].buffer);
  Py_XDECREF(all->made);
  PyErr_Restore(kind, value, trace);
  return result;
}

PyObject* operands_leave(Operands* all) { return operands_end(all, Py_NewRef(Py_None)); }

PyObject* operands_end_with(Operands* all, gpumem_status status, PyObject* out) {
  if (status != GPUMEM_OK) return operands_end(all, raise_status(status));
  return operands_end(all, Py_NewRef(all->made ? all->made : out));
}

bool to_number(PyObject* object, double* value) {
  const bool is_class_of_python = PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HEAPTYPE;
  /* An array without axes counts as a sequence, and may hold Python objects. */
  if (!PyFloat_Check(object) && (is_class_of_python || PySequence_Check(object))) return false;
  if (to_double(object, value, "number")) return true;
  PyErr_Clear(); /* too large */
  return false;
}

static PyMethodDef quick_functions[] = {{"set_room", set_room, METH_O, "what makes an array like x for a result"},
                                        {NULL, NULL, 0, NULL}};

int quick_add_functions(PyObject* module) {
  PyMethodDef* const tables[] = {quick_functions, quick_reductions, quick_moves, quick_arithmetic};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
    if (PyModule_AddFunctions(module, tables[i]) != 0) return -1;
  return 0;
}
