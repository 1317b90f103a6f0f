/* Base: the base class of gpumem.Context. It has the fast path of reduce() without a Python frame. */
#include "module.h"

typedef struct {
  PyObject_HEAD PyObject* handle;
} Base;

static PyObject* operations; /* a dictionary from the names of operations to their numbers */

static PyObject* set_operations(PyObject* module, PyObject* dictionary) {
  (void)module;
  Py_XDECREF(operations);
  operations = Py_NewRef(dictionary);
  Py_RETURN_NONE;
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

/* True if `axis` is the only keyword argument, and its value is an integer. */
static bool is_axis(PyObject* names, PyObject* value, int64_t* axis) {
  if (PyTuple_Size(names) != 1 || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "axis") != 0 ||
      !PyLong_Check(value))
    return false;
  if (to_int64(value, axis, "axis")) return true;
  PyErr_Clear();
  return false;
}

static PyObject* base_reduce(Base* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  int32_t op = GPUMEM_SUM;
  int64_t axis = 0;
  void* ctx;
  PyObject* code = given == 2 ? PyDict_GetItemWithError(operations, args[1]) : NULL;
  PyErr_Clear(); /* not a key: the general path raises the error */
  if (self->handle && (given == 1 || code) && (!names || is_axis(names, args[given], &axis))) {
    PyObject *handle = Py_NewRef(self->handle), *value = NULL; /* held, because another thread may close the context */
    if (to_pointer(handle, &ctx, "ctx") && (!code || to_int32(code, &op, "op")))
      value = names ? quick_reduce_axis(ctx, op, args[0], axis) : quick_reduce(ctx, op, args[0]);
    Py_DECREF(handle);
    if (!value || !Py_IsNone(value)) return value;
    Py_DECREF(value);
  }
  return reduce_generally(self, args, given, names);
}

static PyObject* get_handle(Base* self, void* closure) {
  (void)closure;
  return self->handle ? Py_NewRef(self->handle) : raise_sentence(GPUMEM_INVALID_HANDLE, "the context is closed");
}

static int set_handle(Base* self, PyObject* handle, void* closure) {
  (void)closure;
  PyObject* before = self->handle;
  self->handle = handle && !Py_IsNone(handle) ? Py_NewRef(handle) : NULL;
  Py_XDECREF(before); /* last, because it may end the context */
  return 0;
}

static int base_traverse(Base* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)self));
  Py_VISIT(self->handle);
  return 0;
}

static int base_clear(Base* self) {
  Py_CLEAR(self->handle);
  return 0;
}

static void base_dealloc(Base* self) {
  PyTypeObject* type = Py_TYPE((PyObject*)self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(self->handle);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

static PyMethodDef base_methods[] = {
    {"reduce", (PyCFunction)(void (*)(void))base_reduce, METH_FASTCALL | METH_KEYWORDS,
     "reduce(x, op='sum', *, axis=None, dtype=None, keepdims=False, out=None, status=None, stream=None)\n\n"
     "Reduces all elements to an int, a float, or a pair for 'min_max'. With `axis`, an integer or a tuple, the result "
     "is\n"
     "an array without these axes, or with `keepdims` of extent 1. Its `dtype` is i64, u64 or f64, or for floats also "
     "that\n"
     "of x. With `stream`, the number is written to an array, and its deferred status to `status`, an array of one "
     "i32."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef base_properties[] = {{"handle", (getter)get_handle, (setter)set_handle,
                                         "the gpumem_ctx, which lives as long as a call uses it; None closes it", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot base_slots[] = {{Py_tp_new, (void*)PyType_GenericNew},
                                   {Py_tp_dealloc, (void*)base_dealloc},
                                   {Py_tp_traverse, (void*)base_traverse},
                                   {Py_tp_clear, (void*)base_clear},
                                   {Py_tp_methods, base_methods},
                                   {Py_tp_getset, base_properties},
                                   {0, NULL}};
static PyType_Spec base_spec = {"gpumem._gpumem.Base", sizeof(Base), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, base_slots};

static PyMethodDef base_functions[] = {{"set_operations", set_operations, METH_O, "the numbers of operations by name"},
                                       {NULL, NULL, 0, NULL}};

int base_add_types(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &base_spec, NULL);
  if (!type || PyModule_AddType(module, (PyTypeObject*)type) != 0) return -1;
  Py_DECREF(type);
  return PyModule_AddFunctions(module, base_functions);
}
