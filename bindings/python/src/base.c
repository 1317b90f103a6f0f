/* Base: the base class of gpumem.Context. It has the fast paths of reduce() and empty() without a Python frame. */
#include "module.h"

typedef struct {
  PyObject_HEAD PyObject* handle;
} Base;

enum { ALIGNMENT = 256 }; /* of new memory, in bytes */

static PyTypeObject* base_type;
static PyObject *operations, *dtypes, *kinds; /* dictionaries from names to numbers */

/* set_names(operations, dtypes, kinds) */
static PyObject* set_names(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("set_names", 3, given)) return NULL;
  operations = Py_NewRef(args[0]);
  dtypes = Py_NewRef(args[1]);
  kinds = Py_NewRef(args[2]);
  Py_RETURN_NONE;
}

/* Finds a number by its name. False without an exception if it has none. */
static bool code_of(PyObject* dictionary, PyObject* name, int32_t* code) {
  PyObject* found = PyDict_GetItemWithError(dictionary, name);
  PyErr_Clear();
  return found && to_int32(found, code, "code");
}

/* Calls a method of Python with the arguments. */
static PyObject* call_generally(Base* self, const char* name, PyObject* const* args, Py_ssize_t given,
                                PyObject* names) {
  PyObject* method = PyObject_GetAttrString((PyObject*)self, name);
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

enum { AXIS, DTYPE, KEEPDIMS, OP, OUT, STATUS, STREAM, ARGUMENTS };

/* The keyword argument of this name. ARGUMENTS if only the general path knows it. */
static int argument_of(PyObject* name) {
  static const char* const known[] = {"axis", "dtype", "keepdims", "op", "out", "status", "stream"};
  int i = 0;
  while (i < ARGUMENTS && PyUnicode_CompareWithASCIIString(name, known[i]) != 0) ++i;
  return i;
}

/* Reads the arguments. False if the general path must read them. */
static bool read_reduction(PyObject* const* args, Py_ssize_t given, PyObject* names, Reduction* call) {
  PyObject* values[ARGUMENTS] = {Py_None, Py_None, Py_False, NULL, Py_None, Py_None, Py_None};
  if (given < 1 || given > 2) return false;
  if (given == 2) values[OP] = args[1];
  for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); ++i) {
    const int place = argument_of(PyTuple_GetItem(names, i));
    if (place == ARGUMENTS || (place == OP && given == 2)) return false;
    values[place] = args[given + i];
  }
  *call = (Reduction){.x = args[0],
                      .out = values[OUT],
                      .status = values[STATUS],
                      .stream = values[STREAM],
                      .op = GPUMEM_SUM,
                      .dtype = UNTYPED,
                      .keepdims = Py_IsTrue(values[KEEPDIMS]),
                      .axes = PyTuple_Check(values[AXIS]) ? values[AXIS] : NULL,
                      .has_axis = !Py_IsNone(values[AXIS])};
  return PyBool_Check(values[KEEPDIMS]) && (!values[OP] || code_of(operations, values[OP], &call->op)) &&
         (Py_IsNone(values[DTYPE]) || code_of(dtypes, values[DTYPE], &call->dtype)) &&
         (!call->has_axis || call->axes || (PyLong_Check(values[AXIS]) && to_int64(values[AXIS], &call->axis, "axis")));
}

static PyObject* base_reduce(Base* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  Reduction call;
  if (read_reduction(args, given, names, &call)) {
    PyObject* value = quick_reduce((PyObject*)self, &call);
    if (!value || !Py_IsNone(value)) return value;
    Py_DECREF(value);
  }
  PyErr_Clear();
  return call_generally(self, "_reduce", args, given, names);
}

/* Reads the arguments. False if the general path must read them. */
static bool read_room(PyObject* const* args, Py_ssize_t given, PyObject* names, ArrayForm* form, PyObject** stream) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  PyObject* dtype = given > 1 ? args[1] : NULL;
  PyObject* kind = given > 2 ? args[2] : NULL;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject *name = PyTuple_GetItem(names, i), *value = args[given + i];
    if (PyUnicode_CompareWithASCIIString(name, "stream") == 0 && !*stream)
      *stream = value;
    else if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0 && !dtype)
      dtype = value;
    else if (PyUnicode_CompareWithASCIIString(name, "kind") == 0 && !kind)
      kind = value;
    else
      return false;
  }
  if (*stream && Py_IsNone(*stream)) *stream = NULL;
  *form = (ArrayForm){.format = "", .dtype = GPUMEM_F64, .kind = GPUMEM_MEMORY_DEVICE};
  return given <= 3 && (PyTuple_Check(args[0]) || PyLong_Check(args[0])) &&
         (!dtype || code_of(dtypes, dtype, &form->dtype)) && (!kind || code_of(kinds, kind, &form->kind)) &&
         form->kind != GPUMEM_MEMORY_PAGEABLE && (!*stream || form->kind == GPUMEM_MEMORY_DEVICE);
}

static PyObject* base_empty(Base* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
  ArrayForm form;
  PyObject *stream = NULL, *array = NULL;
  const bool is_simple = given >= 1 && read_room(args, given, names, &form, &stream);
  PyObject* handle = is_simple ? base_handle((PyObject*)self) : NULL; /* held, because a hash may close the context */
  if (handle) {
    PyObject* core = PyObject_GetAttrString(handle, "core");
    form.shape = PyLong_Check(args[0]) ? PyTuple_Pack(1, args[0]) : Py_NewRef(args[0]);
    if (core && form.shape) array = memory_array(core, &form, stream, ALIGNMENT);
    Py_XDECREF(form.shape);
    Py_XDECREF(core);
    Py_DECREF(handle);
    if (array || !is_of_arguments()) return array;
  }
  PyErr_Clear();
  return call_generally(self, "_empty", args, given, names);
}

PyObject* base_handle(PyObject* context) {
  if (!PyType_IsSubtype(Py_TYPE(context), base_type)) return NULL;
  return Py_XNewRef(((Base*)context)->handle);
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
    {"empty", (PyCFunction)(void (*)(void))base_empty, METH_FASTCALL | METH_KEYWORDS,
     "empty(shape, dtype='f64', kind='device', *, stream=None, alignment=256)\n\n"
     "An array with undefined contents. With `stream`, device memory is allocated in the order of that stream."},
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

static PyMethodDef base_functions[] = {{"set_names", (PyCFunction)(void (*)(void))set_names, METH_FASTCALL,
                                        "numbers of operations, types and kinds by name"},
                                       {NULL, NULL, 0, NULL}};

int base_add_types(PyObject* module) {
  base_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &base_spec, NULL);
  if (!base_type || PyModule_AddType(module, base_type) != 0) return -1;
  return PyModule_AddFunctions(module, base_functions);
}
