/* Tensors by DLPack's table of C functions (DLPack 1.3). A type has the table as __dlpack_c_exchange_api__. This takes
 * no call of Python code, unlike __dlpack__(). */
#include "quick.h"

enum { EXCHANGE_MAJOR = 1, EXCHANGE_MINOR = 3, CPU_DEVICE = 1, CUDA_DEVICE = 2, MOST_TYPES = 16 };

typedef void SetError(void* to, const char* kind, const char* message);
struct Exchange {
  uint32_t major, minor;
  const struct Exchange* previous; /* of an older major version, or NULL */
  int (*allocate)(void* prototype, void** managed, void* error, SetError* set_error);
  int (*managed_from_object)(void* object, void** managed);
  int (*to_object)(void* managed, void** object);
  int (*tensor_from_object)(void* object, void* tensor); /* or NULL */
  int (*current_stream)(int32_t device_type, int32_t device, void** stream);
};

/* Known types, also those without a table. The references keep another type from the same address. */
typedef struct {
  PyObject* type;
  const Exchange* table; /* or NULL */
  bool has_gradients;
  PyObject* is_neg; /* a method, or NULL */
  PyObject*
      dlpack; /* the method __dlpack__() of a type without a table, whose arrays may be in memory of CUDA, or NULL */
} Known;
static Known known[MOST_TYPES];

LIBRARY(gpumem_event_create);
LIBRARY(gpumem_event_destroy);
LIBRARY(gpumem_event_record);
LIBRARY(gpumem_stream_destroy);
LIBRARY(gpumem_stream_native);
LIBRARY(gpumem_stream_wait_event);
LIBRARY(gpumem_stream_wrap);

static bool type_has(PyObject* type, const char* name) {
  PyObject* value = PyObject_GetAttrString(type, name);
  PyErr_Clear();
  Py_XDECREF(value);
  return value != NULL;
}

static const Exchange* table_of(PyObject* type) {
  PyObject* capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  const bool is_table = capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api") && !type_has(type, "mask");
  const Exchange* table = is_table ? (const Exchange*)PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  while (table && table->major != EXCHANGE_MAJOR) table = table->previous;
  PyErr_Clear();
  Py_XDECREF(capsule);
  return table && table->managed_from_object && table->current_stream ? table : NULL;
}

static Known known_type(PyTypeObject* of) {
  static int next;
  PyObject* type = (PyObject*)of;
  for (int i = 0; i < MOST_TYPES; ++i)
    if (known[i].type == type) return known[i];
  Known found = {type, table_of(type), type_has(type, "requires_grad"), PyObject_GetAttrString(type, "is_neg"), NULL};
  if (!found.table && type_has(type, "__cuda_array_interface__") && !type_has(type, "mask"))
    found.dlpack = PyObject_GetAttrString(type, "__dlpack__");
  PyErr_Clear();
  Known* slot = &known[next++ % MOST_TYPES];
  const Known before = *slot;
  *slot = found;
  Py_INCREF(type);
  Py_XDECREF(before.type);
  Py_XDECREF(before.is_neg);
  Py_XDECREF(before.dlpack);
  return found;
}

/* PyTorch's __dlpack__() refuses such tensors, because a write would go unnoticed. */
static bool needs_gradients(PyObject* x) {
  static PyObject* name;
  if (!name) name = PyUnicode_InternFromString("requires_grad");
  PyObject* value = name ? PyObject_GetAttr(x, name) : NULL;
  const bool needs = !value || !Py_IsFalse(value);
  PyErr_Clear();
  Py_XDECREF(value);
  return needs;
}

/* True for PyTorch's negative bit: the numbers have the other sign in memory. from_dlpack() refuses such tensors. */
static bool is_negated(PyObject* is_neg, PyObject* x) {
  Py_INCREF(is_neg); /* the call may make other types known */
  PyObject* value = PyObject_CallFunctionObjArgs(is_neg, x, NULL);
  const bool is = !value || Py_IsTrue(value);
  PyErr_Clear();
  Py_XDECREF(value);
  Py_DECREF(is_neg);
  return is;
}

const Exchange* exchange_take(View* view, PyObject* x) {
  const Known type = known_type(Py_TYPE(x));
  void* managed = NULL;
  if (!type.table || (type.is_neg && is_negated(type.is_neg, x)) || (type.has_gradients && needs_gradients(x)))
    return NULL;
  if (type.table->managed_from_object(x, &managed) != 0 || !managed) {
    PyErr_Clear();
    return NULL;
  }
  if (!dlpack_take(view, managed, true)) {
    PyErr_Clear();
    dlpack_delete(managed, true);
    return NULL;
  }
  if (view->dtype >= 0 || view_is_bool(view)) return type.table;
  dlpack_release(view); /* complex numbers may be conjugated */
  return NULL;
}

bool is_on_gpu(const View* view) { return view->device != GPUMEM_DEVICE_HOST; }

static gpumem_status follow(void* ctx, void* native, gpumem_stream* queue) {
  gpumem_stream* of = NULL;
  gpumem_event* mark = NULL;
  gpumem_status status = p_gpumem_stream_wrap(ctx, native, &of);
  if (status == GPUMEM_OK) status = p_gpumem_event_create(ctx, &mark);
  if (status == GPUMEM_OK) status = p_gpumem_event_record(ctx, mark, of);
  if (status == GPUMEM_OK) status = p_gpumem_stream_wait_event(ctx, queue, mark);
  if (mark) p_gpumem_event_destroy(mark);
  if (of) p_gpumem_stream_destroy(of);
  return status;
}

/* The legacy default stream has the numbers 0 and 1. */
static uintptr_t number_of(void* native) { return (uintptr_t)native > 1 ? (uintptr_t)native : 0; }

/* __dlpack__(stream=, max_version=(1, 0)): a capsule. NULL with an exception. */
static PyObject* call_dlpack(PyObject* method, PyObject* x, int64_t number) {
  static PyObject *name_stream, *name_version, *version;
  if (!name_stream) name_stream = PyUnicode_InternFromString("stream");
  if (!name_version) name_version = PyUnicode_InternFromString("max_version");
  if (!version) version = Py_BuildValue("(ii)", 1, 0);
  PyObject *positional = PyTuple_Pack(1, x), *words = PyDict_New(), *capsule = NULL;
  PyObject* stream = PyLong_FromLongLong(number);
  Py_INCREF(method); /* the call may make other types known */
  if (positional && words && stream && name_stream && name_version && version &&
      PyDict_SetItem(words, name_stream, stream) == 0 && PyDict_SetItem(words, name_version, version) == 0)
    capsule = PyObject_Call(method, positional, words);
  Py_DECREF(method);
  Py_XDECREF(positional);
  Py_XDECREF(words);
  Py_XDECREF(stream);
  return capsule;
}

bool exchange_has_method(PyObject* x) { return known_type(Py_TYPE(x)).dlpack != NULL; }

bool exchange_take_by_method(View* view, PyObject* x, void* ctx, gpumem_stream* queue, bool waits) {
  enum { NO_STREAM = -1, LEGACY = 1 };
  const Known type = known_type(Py_TYPE(x));
  void* native = NULL;
  gpumem_status status;
  if (!ctx || !type.dlpack || (type.is_neg && is_negated(type.is_neg, x))) return false;
  RUN(p_gpumem_stream_native(ctx, queue, &native))
  if (status != GPUMEM_OK) return false;
  const int64_t number = waits ? NO_STREAM : number_of(native) == 0 ? LEGACY : (int64_t)(intptr_t)native;
  PyObject* capsule = call_dlpack(type.dlpack, x, number);
  const bool taken = capsule && dlpack_take_capsule(view, capsule);
  Py_XDECREF(capsule);
  return taken;
}

bool exchange_order(void* ctx, gpumem_stream* queue, const Exchange* of, int32_t device, bool follows_legacy) {
  void *theirs = NULL, *own = NULL;
  if (of->current_stream(CUDA_DEVICE, device, &theirs) != 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, "the tensor's library does not tell its current stream");
    return false;
  }
  if (follows_legacy && number_of(theirs) == 0) return true;
  gpumem_status status;
  RUN(p_gpumem_stream_native(ctx, queue, &own))
  if (status == GPUMEM_OK && number_of(own) == number_of(theirs)) return true;
  if (status == GPUMEM_OK) RUN(follow(ctx, (void*)number_of(theirs), queue))
  return status == GPUMEM_OK || raise_status(status);
}

/* ------------------------------------------------------------------------------- gpumem's own table, of gpumem.Array */

static PyObject* new_like; /* makes an array for another library */

/* Other libraries use an array of a GPU on the legacy default stream. It waits for the work on the array, or the host
 * waits if it reads the memory. False with an exception. */
static bool order_after_work(PyObject* array, bool on_gpu) {
  PyObject* memory = memory_of(array);
  PyObject* streams = memory ? PyObject_GetAttrString(memory, "streams") : NULL;
  PyObject* done = Py_None;
  if (!memory || (streams && !on_gpu && PyDict_Size(streams) == 0))
    Py_INCREF(done);
  else
    done = !streams ? NULL
           : on_gpu ? PyObject_CallMethod(array, "_order", "O", Py_None)
                    : PyObject_CallMethod(array, "_settle", NULL);
  Py_XDECREF(streams);
  Py_XDECREF(done);
  return done != NULL;
}

static void* lend(PyObject* array) {
  const View* view = (const View*)array;
  const bool on_gpu = is_on_gpu(view) && (view->kind == GPUMEM_MEMORY_DEVICE || view->kind == GPUMEM_MEMORY_MANAGED);
  const int32_t device[] = {on_gpu ? CUDA_DEVICE : CPU_DEVICE, on_gpu ? view->device : 0}; /* as __dlpack_device__() */
  return order_after_work(array, on_gpu) ? dlpack_lend(array, device, true, false) : NULL;
}

static int own_managed_from_object(void* object, void** managed) {
  PyObject* array = (PyObject*)object;
  if (PyType_IsSubtype(Py_TYPE(array), array_type)) {
    *managed = lend(array);
    return *managed ? 0 : -1;
  }
  PyErr_SetString(PyExc_TypeError, "expected a gpumem.Array");
  return -1;
}

static int own_to_object(void* managed, void** object) {
  View* view = view_new(array_type);
  if (view && !dlpack_take(view, managed, true)) Py_CLEAR(view);
  if (!view) dlpack_delete(managed, true);
  *object = view;
  return view ? 0 : -1;
}

static void tell_error(void* error, SetError* set_error) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  PyErr_NormalizeException(&kind, &value, &trace);
  PyObject *name = kind ? PyObject_GetAttrString(kind, "__name__") : NULL, *text = value ? PyObject_Str(value) : NULL;
  const char *name_bytes = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL,
             *bytes = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (set_error) set_error(error, name_bytes ? name_bytes : "RuntimeError", bytes ? bytes : "");
  PyErr_Clear();
  Py_XDECREF(name);
  Py_XDECREF(text);
  Py_XDECREF(kind);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

/* Any thread may call this, without the interpreter's lock. */
static int own_allocate(void* prototype, void** managed, void* error, SetError* set_error) {
  if (!python_begin()) return -1;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* array = dlpack_new(prototype, new_like);
  *managed = array ? lend(array) : NULL;
  if (!*managed) tell_error(error, set_error);
  Py_XDECREF(array);
  PyGILState_Release(gil);
  python_end();
  return *managed ? 0 : -1;
}

static int own_current_stream(int32_t device_type, int32_t device, void** stream) {
  (void)device_type, (void)device;
  *stream = NULL;
  return 0;
}

static const Exchange own_table = {EXCHANGE_MAJOR,          EXCHANGE_MINOR, NULL, own_allocate,
                                   own_managed_from_object, own_to_object,  NULL, own_current_stream};

/* exchange_table(new_like): a capsule of gpumem's own table */
static PyObject* exchange_table(PyObject* module, PyObject* callable) {
  (void)module;
  new_like = Py_NewRef(callable);
  return PyCapsule_New((void*)&own_table, "dlpack_exchange_api", NULL);
}

static PyMethodDef exchange_functions[] = {
    {"exchange_table", exchange_table, METH_O, "DLPack's table of C functions for gpumem.Array"},
    {NULL, NULL, 0, NULL}};

int exchange_add_functions(PyObject* module) { return PyModule_AddFunctions(module, exchange_functions); }
