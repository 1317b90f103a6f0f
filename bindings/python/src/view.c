/* View: strided memory of any kind. */
#include "module.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <sys/mman.h>

PyTypeObject* view_type;

const char* const dtype_names[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
const int64_t dtype_sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
/* bf16 has no letter, so its buffer can't be exported as numbers. */
static const char* const dtype_formats[] = {"b", "B", "h", "H", "i", "I", "q", "Q", "e", "", "f", "d"};
enum { DTYPES = 12 };

View* view_new(PyTypeObject* type) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  View* view = (View*)alloc(type, 0);
  if (view) view->device = GPUMEM_DEVICE_HOST;
  return view;
}

void view_set_dtype(View* view, int32_t dtype) {
  view->dtype = dtype;
  view->itemsize = dtype_sizes[dtype];
  strcpy(view->format, dtype_formats[dtype]);
}

/* The strides overflow if the shape has too many elements. The byte count then refuses it. */
void view_set_contiguous(View* view) {
  uint64_t stride = (uint64_t)view->itemsize;
  for (int32_t axis = view->ndim - 1; axis >= 0; --axis) {
    view->strides[axis] = (int64_t)stride;
    stride *= view->shape[axis] > 0 ? (uint64_t)view->shape[axis] : 1;
  }
}

/* The letter of a one-letter format, without its byte order, else 0. */
static char letter_of_format(const char* format, bool* swapped) {
  *swapped = *format == '>' || *format == '!';
  if (*swapped || *format == '@' || *format == '=' || *format == '<') ++format;
  return format[0] != '\0' && format[1] == '\0' ? format[0] : '\0';
}

/* The element type of a format of the module struct. UNTYPED for other types and swapped bytes. */
static int32_t dtype_of_format(const char* format, Py_ssize_t itemsize) {
  bool swapped;
  const char letter = letter_of_format(format, &swapped);
  if (swapped && itemsize > 1) return UNTYPED;
  int32_t integer = itemsize == 1 ? GPUMEM_I8 : itemsize == 2 ? GPUMEM_I16 : itemsize == 4 ? GPUMEM_I32 : GPUMEM_I64;
  switch (letter) {
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return integer;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return integer + 1; /* the unsigned type */
    case 'e':
      return GPUMEM_F16;
    case 'f':
      return GPUMEM_F32;
    case 'd':
      return GPUMEM_F64;
    default:
      return UNTYPED;
  }
}

/* True if elements of a format contain Python objects, whose reference counts a move would miss. Names are between
 * colons. */
static bool has_objects(const char* format) {
  bool in_name = false;
  for (; *format; ++format) {
    if (*format == ':') in_name = !in_name;
    if (*format == 'O' && !in_name) return true;
  }
  return false;
}

bool view_take_buffer(View* view, PyObject* object) {
  if (PyObject_GetBuffer(object, &view->buffer, PyBUF_FULL_RO) != 0) return false;
  /* A memoryview in use can't be cleared, also behind a Python class: Python reports an error. */
  view->traversed = view->buffer.obj == object && !PyMemoryView_Check(object);
  const Py_buffer* buffer = &view->buffer;
  if (buffer->ndim < 0 || buffer->ndim > MAX_AXES || (buffer->ndim > 0 && !buffer->shape)) {
    PyErr_Format(PyExc_BufferError, "the buffer has %d axes; expected at most %d, with their extents", buffer->ndim,
                 MAX_AXES);
    return false;
  }
  if (buffer->suboffsets) {
    PyErr_SetString(PyExc_BufferError, "the buffer's rows are behind pointers; expected strided memory");
    return false;
  }
  const char* format = buffer->format ? buffer->format : "B";
  if (has_objects(format)) {
    PyErr_SetString(PyExc_TypeError, "the elements are Python objects, which can't be moved");
    return false;
  }
  view->address = (char*)buffer->buf;
  view->readonly = buffer->readonly;
  view->itemsize = buffer->itemsize;
  view->dtype = dtype_of_format(format, buffer->itemsize);
  if (view->dtype >= 0 && dtype_sizes[view->dtype] != view->itemsize) view->dtype = UNTYPED;
  bool swapped;
  if (letter_of_format(format, &swapped) == '?' && view->itemsize == 1)
    strcpy(view->format, "?");
  else if (strlen(format) < FORMAT_BYTES && letter_of_format(format, &swapped) != '?')
    strcpy(view->format, format);
  else
    PyOS_snprintf(view->format, FORMAT_BYTES, "%zds", buffer->itemsize);
  view->ndim = buffer->ndim;
  for (int axis = 0; axis < buffer->ndim; ++axis) view->shape[axis] = buffer->shape[axis];
  view_set_contiguous(view);
  /* NumPy's scalars of times have none, although they were requested. */
  for (int axis = 0; buffer->strides && axis < buffer->ndim; ++axis) view->strides[axis] = buffer->strides[axis];
  view_settle_strides(view);
  return view_check(view);
}

static PyObject* view_of(PyTypeObject* type, PyObject* object) {
  View* view = view_new(type);
  if (view && !view_take_buffer(view, object)) Py_CLEAR(view);
  return (PyObject*)view;
}

/* view(object): the object if it is a View, a View of its buffer, or None. */
static PyObject* view_function(PyObject* module, PyObject* object) {
  (void)module;
  if (PyType_IsSubtype(Py_TYPE(object), view_type)) return Py_NewRef(object);
  if (PyObject_CheckBuffer(object)) return view_of(view_type, object);
  Py_RETURN_NONE;
}

static bool read_axes(PyObject* tuple, int64_t* axes, int32_t* count, const char* name) {
  if (!PyTuple_Check(tuple)) {
    PyErr_Format(PyExc_TypeError, "%s is %.200R; expected a tuple", name, tuple);
    return false;
  }
  Py_ssize_t size = PyTuple_Size(tuple);
  if (size > MAX_AXES) {
    PyErr_Format(PyExc_ValueError, "there are %zd axes; expected at most %d", size, MAX_AXES);
    return false;
  }
  for (Py_ssize_t axis = 0; axis < size; ++axis)
    if (!to_int64(PyTuple_GetItem(tuple, axis), &axes[axis], name)) return false;
  *count = (int32_t)size;
  return true;
}

int64_t view_bytes(const View* view) {
  int64_t bytes = view->itemsize;
  if (bytes < 1) {
    PyErr_SetString(PyExc_TypeError, "the elements have 0 bytes, so there is nothing to move or to compute with");
    return -1;
  }
  for (int32_t axis = 0; axis < view->ndim; ++axis) {
    const int64_t extent = view->shape[axis];
    /* Also without elements, so that partial products of the extents can't overflow elsewhere. */
    if (extent < 0 || __builtin_mul_overflow(bytes, extent > 0 ? extent : 1, &bytes)) {
      PyErr_SetString(PyExc_ValueError, "the shape has a negative extent, or is too large");
      return -1;
    }
  }
  return view_is_empty(view) ? 0 : bytes;
}

bool view_check(const View* view) {
  const int64_t bytes = view_bytes(view);
  if (bytes <= 0) return bytes == 0;
  if (!view->address) {
    PyErr_SetString(PyExc_ValueError, "the array has elements, and no memory: its address is 0");
    return false;
  }
  /* The bytes before the address of the first element, and from there on. */
  uint64_t before = 0, behind = (uint64_t)view->itemsize;
  bool good = true;
  for (int32_t axis = 0; axis < view->ndim; ++axis) {
    int64_t reach;
    good = good && !__builtin_mul_overflow(view->shape[axis] - 1, view->strides[axis], &reach);
    if (!good) break;
    uint64_t* side = reach < 0 ? &before : &behind;
    good = !__builtin_add_overflow(*side, reach < 0 ? -(uint64_t)reach : (uint64_t)reach, side);
  }
  const uint64_t address = (uint64_t)(uintptr_t)view->address;
  if (!good || before > address || behind > UINT64_MAX - address) {
    PyErr_SetString(PyExc_ValueError, "the strides reach past the ends of the address space");
    return false;
  }
  return true;
}

/* Newly mapped memory takes five times as long to touch in 4 KiB pages as in large pages. */
static void take_large_pages(char* address, int64_t bytes) {
  enum { LEAST = 1 << 22, PAGE = 4096 };
  const int64_t lead = (int64_t)(-(uintptr_t)address % PAGE);
  if (bytes >= LEAST) (void)madvise(address + lead, (size_t)(bytes - lead), MADV_HUGEPAGE);
}

/* Holding the buffer prevents a resize of the memory. */
static bool allocate(View* view, int64_t bytes) {
  PyObject* memory =
      PyByteArray_FromStringAndSize(NULL, 0); /* with a size, Python 3.11 reports another error with MemoryError */
  const bool good = memory && PyByteArray_Resize(memory, bytes) == 0 &&
                    PyObject_GetBuffer(memory, &view->buffer, PyBUF_WRITABLE) == 0;
  Py_XDECREF(memory);
  if (!good) return false;
  view->address = (char*)view->buffer.buf;
  take_large_pages(view->address, bytes);
  return true;
}

/* View(shape, dtype, *, address=None, strides=None, readonly=False, kind=0, device=-1, owner=None, itemsize=0,
 * format=""). Without an address, it has new host memory. dtype -1, with an item size and a format, is memory that can
 * only be moved. */
View* view_shaped(PyTypeObject* type, PyObject* shape, int32_t dtype, int64_t itemsize, const char* format) {
  if (dtype >= DTYPES || strlen(format) >= FORMAT_BYTES) {
    PyErr_Format(PyExc_ValueError, "%d is not an element type", dtype);
    return NULL;
  }
  View* view = view_new(type);
  if (!view) return NULL;
  if (dtype >= 0) {
    view_set_dtype(view, dtype);
  } else {
    view->dtype = UNTYPED;
    view->itemsize = itemsize;
    strcpy(view->format, format);
  }
  if (!read_axes(shape, view->shape, &view->ndim, "an extent of the shape")) Py_CLEAR(view);
  return view;
}

static PyObject* view_create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"shape",  "dtype", "address",  "strides", "readonly", "kind",
                          "device", "owner", "itemsize", "format",  NULL};
  PyObject *shape, *address = Py_None, *strides = Py_None, *owner = Py_None;
  int dtype, readonly = 0, kind = GPUMEM_MEMORY_PAGEABLE, device = GPUMEM_DEVICE_HOST;
  long long itemsize = 0;
  const char* format = "";
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!i|$OOpiiOLs", names, &PyTuple_Type, &shape, &dtype, &address,
                                   &strides, &readonly, &kind, &device, &owner, &itemsize, &format))
    return NULL;
  View* view = view_shaped(type, shape, dtype, itemsize, format);
  if (!view) return NULL;
  int32_t stride_count = 0;
  bool good = true;
  if (good && strides != Py_None) {
    good = read_axes(strides, view->strides, &stride_count, "one of the strides");
    if (good && stride_count != view->ndim) {
      PyErr_SetString(PyExc_ValueError, "shape and strides differ in length");
      good = false;
    } else if (good && address == Py_None) {
      PyErr_SetString(PyExc_ValueError, "strides are of memory that is there; expected an address too");
      good = false;
    }
  } else {
    view_set_contiguous(view);
  }
  if (good) view_settle_strides(view);
  view->readonly = readonly;
  view->kind = kind;
  view->device = device;
  if (good && address == Py_None) {
    const int64_t bytes = view_bytes(view);
    good = bytes >= 0 && allocate(view, bytes);
  } else if (good) {
    void* p;
    good = to_pointer(address, &p, "address");
    view->address = (char*)p;
    view->owner = Py_NewRef(owner);
  }
  good = good && view_check(view);
  if (!good) Py_CLEAR(view);
  return (PyObject*)view;
}

/* No tp_clear: a View is immutable, like a tuple. Each cycle includes another object, which the collector clears. So
 * the memory is valid as long as the View. */
static int view_traverse(View* view, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE((PyObject*)view));
  Py_VISIT(view->owner);
  if (view->traversed) Py_VISIT(view->buffer.obj);
  return 0;
}

static void view_dealloc(View* view) {
  PyTypeObject* type = Py_TYPE((PyObject*)view);
  PyObject_GC_UnTrack(view);
  if (view->weakrefs) PyObject_ClearWeakRefs((PyObject*)view);
  /* The owner of a buffer may run Python code when it is released. An exception may be pending. */
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (view->buffer.obj) PyBuffer_Release(&view->buffer);
  if (view->managed) dlpack_release(view);
  Py_CLEAR(view->owner);
  PyErr_Restore(kind, value, trace);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(view);
  Py_DECREF(type);
}

bool view_is_contiguous(const View* view) {
  int64_t stride = view->itemsize;
  for (int32_t axis = view->ndim - 1; axis >= 0; --axis) {
    if (view->shape[axis] == 0) return true;
    if (view->shape[axis] != 1 && view->strides[axis] != stride) return false;
    stride *= view->shape[axis];
  }
  return true;
}

int64_t view_size(const View* view) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < view->ndim; ++axis) count *= view->shape[axis];
  return count;
}

bool view_is_bool(const View* view) { return view->dtype < 0 && strcmp(view->format, "?") == 0 && view->itemsize == 1; }

bool view_is_empty(const View* view) {
  for (int32_t axis = 0; axis < view->ndim; ++axis)
    if (view->shape[axis] == 0) return true;
  return false;
}

void view_settle_strides(View* view) {
  if (view_is_empty(view)) view_set_contiguous(view);
}

int64_t view_sequence_stride(const View* view) {
  int64_t stride = view->itemsize, reach = -1;
  if (view_size(view) == 0) return 1;
  for (int32_t axis = view->ndim - 1; axis >= 0; --axis) {
    if (view->shape[axis] == 1) continue;
    if (reach < 0)
      stride = view->strides[axis];
    else if (view->strides[axis] != reach)
      return 0;
    if (stride <= 0 || stride % view->itemsize != 0) return 0;
    reach = view->strides[axis] * view->shape[axis];
  }
  return stride / view->itemsize;
}

/* Memory that the host can read, for memoryview and NumPy. */
static int view_getbuffer(View* view, Py_buffer* buffer, int flags) {
  const char* refusal = NULL;
  buffer->obj = NULL;
  if (view->kind == GPUMEM_MEMORY_DEVICE && view->device != GPUMEM_DEVICE_HOST)
    refusal = "device memory has no buffer on the host: copy it to the host first";
  else if (view->format[0] == '\0' && (flags & PyBUF_FORMAT))
    refusal = "bf16 has no format in a buffer: take .view(\"u16\"), or DLPack";
  else if ((flags & PyBUF_WRITABLE) && view->readonly)
    refusal = "the memory is read-only";
  else if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !view_is_contiguous(view))
    refusal = "the memory has padding, but the consumer requested a buffer without strides";
  if (refusal) {
    PyErr_SetString(PyExc_BufferError, refusal);
    return -1;
  }
  _Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "64-bit addresses");
  buffer->buf = view->address;
  buffer->obj = Py_NewRef((PyObject*)view);
  buffer->len = view_size(view) * view->itemsize;
  buffer->readonly = view->readonly;
  buffer->itemsize = view->itemsize;
  buffer->format = (flags & PyBUF_FORMAT) ? view->format : NULL;
  buffer->ndim = view->ndim;
  buffer->shape = (flags & PyBUF_ND) ? (Py_ssize_t*)view->shape : NULL;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t*)view->strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = NULL;
  return 0;
}

PyObject* tuple_of(const int64_t* values, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (!value) Py_CLEAR(tuple);
    if (tuple) PyTuple_SetItem(tuple, i, value);
  }
  return tuple;
}

static PyObject* get_address(View* view, void* closure) { return (void)closure, PyLong_FromVoidPtr(view->address); }
static PyObject* get_shape(View* view, void* closure) { return (void)closure, tuple_of(view->shape, view->ndim); }
static PyObject* get_strides(View* view, void* closure) { return (void)closure, tuple_of(view->strides, view->ndim); }
static PyObject* get_size(View* view, void* closure) { return (void)closure, PyLong_FromLongLong(view_size(view)); }
static PyObject* get_contiguous(View* view, void* closure) {
  return (void)closure, PyBool_FromLong(view_is_contiguous(view));
}

static PyObject* get_sequence_stride(View* view, void* closure) {
  return (void)closure, PyLong_FromLongLong(view_sequence_stride(view));
}

static PyGetSetDef view_properties[] = {
    {"address", (getter)get_address, NULL, "the address of the first element", NULL},
    {"shape", (getter)get_shape, NULL, "the extents", NULL},
    {"strides", (getter)get_strides, NULL, "the strides, in bytes", NULL},
    {"size", (getter)get_size, NULL, "the number of elements", NULL},
    {"contiguous", (getter)get_contiguous, NULL, "row-major, without padding", NULL},
    {"sequence_stride", (getter)get_sequence_stride, NULL, "the stride as one sequence, in elements, or 0", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef view_members[] = {
    {"dtype_code", T_INT, offsetof(View, dtype), READONLY, "gpumem_dtype, or -1: bytes that can only be moved"},
    {"itemsize", T_LONGLONG, offsetof(View, itemsize), READONLY, "bytes of an element"},
    {"ndim", T_INT, offsetof(View, ndim), READONLY, "the number of axes"},
    {"kind_code", T_INT, offsetof(View, kind), READONLY, "gpumem_memory_kind"},
    {"device", T_INT, offsetof(View, device), READONLY, "a CUDA ordinal, or -1: the host"},
    {"readonly", T_BOOL, offsetof(View, readonly), READONLY, "whether it may be written"},
    {"format", T_STRING_INPLACE, offsetof(View, format), READONLY, "as in the module struct; empty for bf16"},
    {"owner", T_OBJECT, offsetof(View, owner), READONLY, "what keeps the memory alive, or None"},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(View, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyType_Slot view_slots[] = {{Py_tp_new, (void*)view_create},
                                   {Py_tp_dealloc, (void*)view_dealloc},
                                   {Py_tp_traverse, (void*)view_traverse},
                                   {Py_tp_getset, view_properties},
                                   {Py_tp_members, view_members},
                                   {Py_bf_getbuffer, (void*)view_getbuffer},
                                   {Py_tp_doc, "Strided memory of any kind, and what keeps it alive."},
                                   {0, NULL}};
static PyType_Spec view_spec = {"gpumem._gpumem.View", sizeof(View), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, view_slots};

static PyMethodDef view_functions[] = {{"view", view_function, METH_O, "a View of what has a buffer, else None"},
                                       {NULL, NULL, 0, NULL}};

int view_add_types(PyObject* module) {
  view_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &view_spec, NULL);
  if (!view_type || PyModule_AddType(module, view_type) != 0) return -1;
  return PyModule_AddFunctions(module, view_functions);
}
