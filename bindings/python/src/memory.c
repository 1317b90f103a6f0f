/* Allocation: the base class of gpumem.Memory, an allocation of a context. It is freed with its last array, in the order
 * of the streams that used it. It keeps the context's core, and the cycle collector does not visit it, so the core ends
 * after it. */
#include "quick.h"

#include <stddef.h>
#include <structmember.h>
#include <unistd.h>

typedef struct {
  PyObject_HEAD PyObject* core;
  PyObject* streams;  /* NULL, or weak references to streams with work on it, by id. They keep their operands */
  PyObject* weakrefs; /* list of weak references, or NULL */
  void *ctx, *address;
  int32_t kind;
  bool of_stream; /* it was allocated on a stream */
  char exported;  /* another library may use it on the legacy default stream */
  pid_t process;  /* a forked child does not free it */
} Allocation;

LIBRARY(gpumem_alloc_device);
LIBRARY(gpumem_alloc_pinned);
LIBRARY(gpumem_alloc_managed);
LIBRARY(gpumem_alloc_async);
LIBRARY(gpumem_free);
LIBRARY(gpumem_free_async);

static PyTypeObject *allocation_type, *memory_type;
static PyObject *free_later, *name_device, *name_handle;

/* ctx stays valid, because the core ends after its allocations. NULL with an exception. */
static Allocation* allocation_of(PyTypeObject* type, PyObject* core, int32_t kind) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  PyObject* handle = PyObject_GetAttr(core, name_handle);
  Allocation* made = handle ? (Allocation*)alloc(type, 0) : NULL;
  if (made) {
    made->core = Py_NewRef(core);
    made->kind = kind;
    made->process = getpid();
    if (!to_pointer(handle, &made->ctx, "ctx")) Py_CLEAR(made);
  }
  Py_XDECREF(handle);
  return made;
}

/* Allocation(core, address, kind) */
static PyObject* allocation_create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"core", "address", "kind", NULL};
  PyObject *core, *address;
  int kind;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOi", names, &core, &address, &kind)) return NULL;
  Allocation* made = allocation_of(type, core, kind);
  if (made && !to_pointer(address, &made->address, "address")) Py_CLEAR(made);
  return (PyObject*)made;
}

/* A new reference to the stream of the allocation if no other stream has used it. NULL without an exception for others.
 * A free on that stream needs no event. */
static PyObject* only_stream(const Allocation* own) {
  PyObject *key, *use;
  Py_ssize_t at = 0;
  if (!own->of_stream || !own->streams || PyDict_Size(own->streams) != 1 || !PyDict_Next(own->streams, &at, &key, &use))
    return NULL;
  PyObject* stream = PyObject_CallNoArgs(PyTuple_GetItem(use, 0));
  PyErr_Clear();
  return stream;
}

/* A callback that is under way may wait for this thread, and so may the free. free_later() then frees in another
 * thread. It also frees exported memory, on the legacy default stream. */
static bool end_allocation(const Allocation* own) {
  if (callbacks_run() || own->exported) {
    PyObject* done = PyObject_CallFunction(free_later, "ONii", own->core, from_pointer(own->address), (int)own->kind,
                                           (int)own->exported);
    Py_XDECREF(done);
    return done != NULL;
  }
  gpumem_ctx* ctx = (gpumem_ctx*)own->ctx;
  gpumem_stream* queue = NULL;
  gpumem_status status;
  PyObject* stream = only_stream(own);
  if (stream) (void)queue_of(stream, &queue);
  RUN(own->kind == GPUMEM_MEMORY_DEVICE ? p_gpumem_free_async(ctx, own->address, queue)
                                        : p_gpumem_free(ctx, own->address));
  const bool is_unfit = status == GPUMEM_CAPTURING || status == GPUMEM_INVALID_HANDLE; /* its stream ends */
  if (queue && is_unfit) RUN(p_gpumem_free_async(ctx, own->address, NULL));
  Py_XDECREF(stream);
  return status == GPUMEM_OK || raise_status(status) != NULL;
}

static void allocation_dealloc(Allocation* own) {
  PyTypeObject* type = Py_TYPE((PyObject*)own);
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (own->weakrefs) PyObject_ClearWeakRefs((PyObject*)own);
  if (own->address && own->process == getpid() && !end_allocation(own)) PyErr_WriteUnraisable(own->core);
  Py_CLEAR(own->streams);
  Py_CLEAR(own->core); /* may end the context */
  PyErr_Restore(kind, value, trace);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(own);
  Py_DECREF(type);
}

static PyObject* get_streams(Allocation* own, void* closure) {
  (void)closure;
  if (!own->streams) own->streams = PyDict_New();
  return Py_XNewRef(own->streams);
}

static PyObject* get_address(Allocation* own, void* closure) {
  (void)closure;
  return from_pointer(own->address);
}

static PyMemberDef allocation_members[] = {
    {"core", T_OBJECT, offsetof(Allocation, core), READONLY, "the part of the context that its objects share"},
    {"kind", T_INT, offsetof(Allocation, kind), READONLY, "the kind of memory"},
    {"exported", T_BOOL, offsetof(Allocation, exported), 0,
     "whether another library may use it on the legacy default stream"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Allocation, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef allocation_properties[] = {
    {"address", (getter)get_address, NULL, "its first byte", NULL},
    {"streams", (getter)get_streams, NULL, "streams with work on it, by id", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot allocation_slots[] = {{Py_tp_new, (void*)allocation_create},
                                         {Py_tp_dealloc, (void*)allocation_dealloc},
                                         {Py_tp_members, allocation_members},
                                         {Py_tp_getset, allocation_properties},
                                         {0, NULL}};
static PyType_Spec allocation_spec = {"gpumem._gpumem.Allocation", sizeof(Allocation), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, allocation_slots};

/* set_memory(Memory, free_later): the class of allocations, and what frees one at another time or on another stream */
static PyObject* set_memory(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("set_memory", 2, given)) return NULL;
  memory_type = (PyTypeObject*)Py_NewRef(args[0]);
  free_later = Py_NewRef(args[1]);
  Py_RETURN_NONE;
}

PyObject* memory_of(PyObject* operand) {
  while (operand && PyType_IsSubtype(Py_TYPE(operand), view_type)) operand = ((View*)operand)->owner;
  operand = kept_object(operand);
  return operand && Py_TYPE(operand) == memory_type ? operand : NULL;
}

/* The tuple is new each time, because a wait compares it. */
bool memory_use_on(PyObject* memory, PyObject* stream) {
  Allocation* own = (Allocation*)memory;
  if (!own->streams) own->streams = PyDict_New();
  PyObject *key = PyLong_FromVoidPtr(stream), *weak = PyWeakref_NewRef(stream, NULL),
           *use = weak ? PyTuple_Pack(1, weak) : NULL;
  const bool good = own->streams && key && use && PyDict_SetItem(own->streams, key, use) == 0;
  Py_XDECREF(key);
  Py_XDECREF(weak);
  Py_XDECREF(use);
  return good;
}

/* On failure the address stays NULL. */
static gpumem_status allocate(Allocation* to, int64_t bytes, int64_t alignment, gpumem_stream* queue, bool on_stream) {
  gpumem_ctx* ctx = (gpumem_ctx*)to->ctx;
  gpumem_status status;
  __typeof__(p_gpumem_alloc_device) of_kind = to->kind == GPUMEM_MEMORY_DEVICE   ? p_gpumem_alloc_device
                                              : to->kind == GPUMEM_MEMORY_PINNED ? p_gpumem_alloc_pinned
                                                                                 : p_gpumem_alloc_managed;
  RUN(on_stream ? p_gpumem_alloc_async(ctx, bytes, alignment, queue, &to->address) : of_kind(ctx, bytes, &to->address));
  return status;
}

/* Puts a View without memory into a new allocation. False with an exception. */
static bool place(View* view, PyObject* core, int32_t kind, PyObject* stream, int64_t alignment) {
  const int64_t bytes = view_bytes(view);
  gpumem_stream* queue = NULL;
  if (bytes < 0) return false;
  if (stream && !queue_of(stream, &queue)) {
    PyErr_SetString(PyExc_TypeError, "stream is no gpumem.Stream");
    return false;
  }
  view->kind = kind;
  if (kind != GPUMEM_MEMORY_PINNED) {
    PyObject* device = PyObject_GetAttr(core, name_device);
    const bool known = device && to_int32(device, &view->device, "device");
    Py_XDECREF(device);
    if (!known) return false;
  }
  Allocation* own = allocation_of(memory_type, core, kind); /* first, so that a failure here leaks nothing */
  if (!own) return false;
  const gpumem_status status = allocate(own, bytes, alignment, queue, stream != NULL);
  if (status != GPUMEM_OK) raise_status(status);
  view->address = (char*)own->address;
  view->owner = status == GPUMEM_OK ? keep_of((PyObject*)own) : NULL;
  own->of_stream = stream != NULL;
  const bool good = view->owner && (!stream || memory_use_on((PyObject*)own, stream)) && view_check(view);
  Py_DECREF((PyObject*)own);
  return good;
}

PyObject* memory_array(PyObject* core, const ArrayForm* form, PyObject* stream, int64_t alignment) {
  View* view = view_shaped(array_type, form->shape, form->dtype, form->itemsize, form->format);
  if (!view) return NULL;
  view_set_contiguous(view);
  view_settle_strides(view);
  if (!place(view, core, form->kind, stream, alignment)) Py_CLEAR(view);
  return (PyObject*)view;
}

/* allocate(core, shape, dtype, itemsize, format, kind, stream, alignment): an array in memory that is not pageable */
static PyObject* allocate_function(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  ArrayForm form;
  int64_t alignment;
  if (!check_count("allocate", 8, given) || !to_int32(args[2], &form.dtype, "dtype") ||
      !to_int64(args[3], &form.itemsize, "itemsize") || !to_string(args[4], &form.format, "format") ||
      !to_int32(args[5], &form.kind, "kind") || !to_int64(args[7], &alignment, "alignment"))
    return NULL;
  form.shape = args[1];
  return memory_array(args[0], &form, Py_IsNone(args[6]) ? NULL : args[6], alignment);
}

bool is_of_arguments(void) {
  return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
         PyErr_ExceptionMatches(PyExc_OverflowError);
}

static PyObject* memory_function(PyObject* module, PyObject* array) {
  (void)module;
  PyObject* memory = memory_of(array);
  return Py_NewRef(memory ? memory : Py_None);
}

static PyMethodDef memory_functions[] = {
    {"allocate", (PyCFunction)(void (*)(void))allocate_function, METH_FASTCALL, "an array of a new allocation"},
    {"memory_of", memory_function, METH_O, "the allocation of an array, or None"},
    {"set_memory", (PyCFunction)(void (*)(void))set_memory, METH_FASTCALL, "the class of allocations"},
    {NULL, NULL, 0, NULL}};

int memory_add_types(PyObject* module) {
  name_device = PyUnicode_InternFromString("device");
  name_handle = PyUnicode_InternFromString("handle");
  allocation_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &allocation_spec, NULL);
  if (!name_device || !name_handle || !allocation_type || PyModule_AddType(module, allocation_type) != 0) return -1;
  return PyModule_AddFunctions(module, memory_functions);
}
