/* Base: what gpumem.Context inherits. It has the shortest way for the call that is made most often, a reduction of one array
 * to one number: no View, no Cell, no frame of Python. */
#include "module.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD PyObject* handle;
} Base;

static PyObject* operations; /* a dictionary: the number of an operation by each of its names */

static PyObject* set_operations(PyObject* module, PyObject* dictionary) {
  (void)module;
  Py_XDECREF(operations);
  operations = Py_NewRef(dictionary);
  Py_RETURN_NONE;
}

/* None where x has no buffer, or is no sequence of numbers: the general way then does it, or says why not. */
static PyObject* reduce_object(void* ctx, int32_t op, PyObject* x) {
  if (PyType_IsSubtype(Py_TYPE(x), view_type)) return reduce_scalar(ctx, op, (View*)x);
  if (!PyObject_CheckBuffer(x)) Py_RETURN_NONE;
  View view = {.device = GPUMEM_DEVICE_HOST};
  PyObject* value = NULL;
  if (view_take_buffer(&view, x)) {
    value = reduce_scalar(ctx, op, &view);
  } else {
    PyErr_Clear();
    value = Py_NewRef(Py_None);
  }
  if (view.buffer.obj) PyBuffer_Release(&view.buffer);
  return value;
}

static PyObject* reduce_generally(Base* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  PyObject* method = PyObject_GetAttrString((PyObject*)self, "_reduce");
  PyObject *positional = PyTuple_New(given), *keywords = PyDict_New(), *result = NULL;
  bool good = method && positional && keywords;
  for (Py_ssize_t i = 0; good && i < given; ++i) good = PyTuple_SetItem(positional, i, Py_NewRef(args[i])) == 0;
  for (Py_ssize_t i = 0; good && names && i < PyTuple_Size(names); ++i)
    good = PyDict_SetItem(keywords, PyTuple_GetItem(names, i), args[given + i]) == 0;
  if (good) result = PyObject_Call(method, positional, keywords);
  Py_XDECREF(method);
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return result;
}

static PyObject* base_reduce(Base* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  int32_t op = GPUMEM_SUM;
  void* ctx;
  PyObject* code = given == 2 ? PyDict_GetItem(operations, args[1]) : NULL;
  if (!names && self->handle && (given == 1 || code)) {
    if (!to_pointer(self->handle, &ctx) || (code && !to_int32(code, &op))) return NULL;
    PyObject* value = reduce_object(ctx, op, args[0]);
    if (!value || !Py_IsNone(value)) return value;
    Py_DECREF(value);
  }
  return reduce_generally(self, args, given, names);
}

static void base_dealloc(Base* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  Py_CLEAR(self->handle);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef base_methods[] = {
    {"reduce", (PyCFunction)(void (*)(void))base_reduce, METH_FASTCALL | METH_KEYWORDS,
     "reduce(x, op='sum', *, axis=None, out=None, status=None, stream=None)\n\n"
     "The reduction of all elements: an int, a float, or a pair for 'min_max'. With an axis: an array, a number for "
     "each\n"
     "line along it. With a stream: an array that the number is written to, and `status` an i32 array for its status."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef base_members[] = {{"handle", T_OBJECT, offsetof(Base, handle), 0, "the gpumem_ctx, or None"},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot base_slots[] = {{Py_tp_new, (void*)PyType_GenericNew},
                                   {Py_tp_dealloc, (void*)base_dealloc},
                                   {Py_tp_methods, base_methods},
                                   {Py_tp_members, base_members},
                                   {0, NULL}};
static PyType_Spec base_spec = {"gpumem._gpumem.Base", sizeof(Base), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                base_slots};

static PyMethodDef base_functions[] = {{"set_operations", set_operations, METH_O, "the numbers of operations by name"},
                                       {NULL, NULL, 0, NULL}};

int base_add_types(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &base_spec, NULL);
  if (!type || PyModule_AddType(module, (PyTypeObject*)type) != 0) return -1;
  Py_DECREF(type);
  return PyModule_AddFunctions(module, base_functions);
}
