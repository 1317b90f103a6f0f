/* Tensors by DLPack's table of C functions (DLPack 1.3). A type has the table as __dlpack_c_exchange_api__. This takes
 * no call of Python code, unlike __dlpack__(). */
#include "quick.h"

enum { EXCHANGE_MAJOR = 1, CUDA_DEVICE = 2, MOST_TYPES = 16 };

struct Exchange {
  uint32_t major, minor;
  const struct Exchange* previous; /* of an older major version, or NULL */
  void (*allocate)(void);
  int (*managed_from_object)(void* object, void** managed);
  void (*to_object)(void);
  void (*tensor_from_object)(void);
  int (*current_stream)(int32_t device_type, int32_t device, void** stream);
};

/* Known types, also those without a table. The references keep another type from the same address. */
typedef struct {
  PyObject* type;
  const Exchange* table; /* or NULL */
  bool has_gradients;
  PyObject* is_neg; /* a method, or NULL */
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
  const Known found = {type, table_of(type), type_has(type, "requires_grad"), PyObject_GetAttrString(type, "is_neg")};
  PyErr_Clear();
  Known* slot = &known[next++ % MOST_TYPES];
  PyObject *before = slot->type, *method = slot->is_neg;
  *slot = found;
  Py_INCREF(type);
  Py_XDECREF(before);
  Py_XDECREF(method);
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

bool exchange_order(void* ctx, gpumem_stream* queue, const Exchange* of, int32_t device) {
  void *theirs = NULL, *own = NULL;
  if (of->current_stream(CUDA_DEVICE, device, &theirs) != 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, "the tensor's library does not tell its current stream");
    return false;
  }
  gpumem_status status;
  RUN(p_gpumem_stream_native(ctx, queue, &own))
  if (status == GPUMEM_OK && number_of(own) == number_of(theirs)) return true;
  if (status == GPUMEM_OK) RUN(follow(ctx, (void*)number_of(theirs), queue))
  return status == GPUMEM_OK || raise_status(status);
}
