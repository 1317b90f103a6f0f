/* Arrays to and from other libraries by DLPack: https://dmlc.github.io/dlpack, versions 0.x and 1.x of its structs. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
/* Opaque handles are refused. So are types after DL_LAST, the last one of DLPack 1.1, because their elements may not be
 * plain bytes. */
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_HANDLE = 3, DL_BFLOAT = 4, DL_BOOL = 6, DL_LAST = 17 };
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };
enum { DL_MAJOR = 1, DL_MINOR = 0 };

typedef struct {
  int32_t type, id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides; /* in elements; NULL: row-major without padding */
  uint64_t byte_offset;
} DLTensor;
typedef struct Unversioned {
  DLTensor tensor;
  void* context;
  void (*deleter)(struct Unversioned* self);
} Unversioned;
typedef struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct Versioned* self);
  uint64_t flags;
  DLTensor tensor;
} Versioned;

/* An exported tensor, and the View that keeps its memory alive. */
typedef struct {
  union {
    Unversioned plain;
    Versioned versioned;
  } tensor;
  PyObject* view;
  int64_t shape[MAX_AXES], strides[MAX_AXES];
} Lent;

static void end_lent(Lent* lent) {
  if (python_begin()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(lent->view);
    PyGILState_Release(gil);
    python_end();
  }
  free(lent);
}
static void delete_plain(Unversioned* self) { end_lent((Lent*)self->context); }
static void delete_versioned(Versioned* self) { end_lent((Lent*)self->context); }

/* Deletes a capsule that no consumer took. A consumer renames the capsule, and then owns the tensor. */
static void capsule_end(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    Unversioned* tensor = (Unversioned*)PyCapsule_GetPointer(capsule, "dltensor");
    if (tensor->deleter) tensor->deleter(tensor);
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    Versioned* tensor = (Versioned*)PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (tensor->deleter) tensor->deleter(tensor);
  }
}

static bool dtype_to_dlpack(const View* view, DLDataType* type) {
  static const uint8_t codes[] = {DL_INT, DL_UINT, DL_INT,   DL_UINT,   DL_INT,   DL_UINT,
                                  DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT, DL_FLOAT, DL_FLOAT};
  const bool is_bool = view_is_bool(view);
  if (view->dtype < 0 && !is_bool) {
    PyErr_Format(PyExc_BufferError, "elements of format '%s' have no type in DLPack", view->format);
    return false;
  }
  type->code = is_bool ? DL_BOOL : codes[view->dtype];
  type->bits = (uint8_t)(8 * view->itemsize);
  type->lanes = 1;
  return true;
}

static int32_t dtype_from_dlpack(DLDataType type) {
  if (type.lanes != 1) return UNTYPED;
  int size_code = type.bits == 8 ? 0 : type.bits == 16 ? 2 : type.bits == 32 ? 4 : type.bits == 64 ? 6 : UNTYPED;
  if (size_code == UNTYPED) return UNTYPED;
  if (type.code == DL_INT || type.code == DL_UINT) return size_code + (type.code == DL_UINT);
  if (type.code == DL_BFLOAT && type.bits == 16) return GPUMEM_BF16;
  if (type.code != DL_FLOAT) return UNTYPED;
  return type.bits == 16 ? GPUMEM_F16 : type.bits == 32 ? GPUMEM_F32 : type.bits == 64 ? GPUMEM_F64 : UNTYPED;
}

static bool fill_tensor(DLTensor* tensor, Lent* lent, const View* view, DLDevice device) {
  tensor->data = view->address;
  tensor->device = device;
  tensor->ndim = view->ndim;
  tensor->shape = lent->shape;
  tensor->strides = lent->strides;
  for (int32_t axis = 0; axis < view->ndim; ++axis) {
    if (view->shape[axis] > 1 && view->strides[axis] % view->itemsize != 0) {
      PyErr_Format(PyExc_BufferError,
                   "a stride of %lld bytes is not a multiple of the element size, but DLPack counts elements",
                   (long long)view->strides[axis]);
      return false;
    }
    lent->shape[axis] = view->shape[axis];
    lent->strides[axis] = view->strides[axis] / view->itemsize;
  }
  return dtype_to_dlpack(view, &tensor->dtype);
}

void* dlpack_lend(PyObject* object, const int32_t device[2], bool versioned, bool copied) {
  const View* view = (const View*)object;
  Lent* lent = (Lent*)calloc(1, sizeof(Lent));
  if (!lent) return PyErr_NoMemory();
  DLTensor* tensor = versioned ? &lent->tensor.versioned.tensor : &lent->tensor.plain.tensor;
  if (!fill_tensor(tensor, lent, view, (DLDevice){device[0], device[1]})) {
    free(lent);
    return NULL;
  }
  if (versioned) {
    lent->tensor.versioned.major = DL_MAJOR;
    lent->tensor.versioned.minor = DL_MINOR;
    lent->tensor.versioned.context = lent;
    lent->tensor.versioned.deleter = delete_versioned;
    lent->tensor.versioned.flags = (view->readonly ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0);
  } else {
    lent->tensor.plain.context = lent;
    lent->tensor.plain.deleter = delete_plain;
  }
  lent->view = Py_NewRef(object);
  return &lent->tensor;
}

/* dlpack_export(view, device_type, device_id, versioned, copied): returns a capsule. */
PyObject* dlpack_export(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  int32_t device[2], versioned, copied;
  if (!check_count("dlpack_export", 5, count) || !to_int32(args[1], &device[0], "device.type") ||
      !to_int32(args[2], &device[1], "device.id") || !to_int32(args[3], &versioned, "versioned") ||
      !to_int32(args[4], &copied, "copied"))
    return NULL;
  if (!PyType_IsSubtype(Py_TYPE(args[0]), view_type)) return PyErr_Format(PyExc_TypeError, "expected a View");
  void* managed = dlpack_lend(args[0], device, versioned, copied);
  PyObject* capsule =
      managed ? PyCapsule_New(managed, versioned ? "dltensor_versioned" : "dltensor", capsule_end) : NULL;
  if (managed && !capsule) dlpack_delete(managed, versioned);
  return capsule;
}

void dlpack_release(View* view) {
  dlpack_delete(view->managed, view->managed_is_versioned);
  view->managed = NULL;
}

void dlpack_delete(void* managed, bool versioned) {
  if (versioned) {
    Versioned* tensor = (Versioned*)managed;
    if (tensor->deleter) tensor->deleter(tensor);
  } else {
    Unversioned* tensor = (Unversioned*)managed;
    if (tensor->deleter) tensor->deleter(tensor);
  }
}

/* Elements of other types can still be moved. */
static bool take_elements(View* view, DLDataType type) {
  const int32_t bits = type.bits * type.lanes, dtype = dtype_from_dlpack(type);
  if (type.code == DL_HANDLE || type.code > DL_LAST || bits % 8 != 0) {
    PyErr_Format(PyExc_BufferError,
                 "the tensor has elements of DLPack type %d and %d bits; expected numbers in whole bytes", type.code,
                 bits);
    return false;
  }
  if (dtype >= 0) {
    view_set_dtype(view, dtype);
    return true;
  }
  view->dtype = UNTYPED;
  view->itemsize = bits / 8;
  if (type.code == DL_BOOL && bits == 8)
    strcpy(view->format, "?");
  else
    PyOS_snprintf(view->format, FORMAT_BYTES, "%llds", (long long)view->itemsize);
  return true;
}

/* Converts strides to bytes. They are arbitrary in empty arrays, and along an axis of one element. */
static bool take_strides(View* view, const int64_t* strides) {
  view_set_contiguous(view);
  for (int32_t axis = 0; strides && axis < view->ndim; ++axis) {
    int64_t stride;
    if (!__builtin_mul_overflow(strides[axis], view->itemsize, &stride)) {
      view->strides[axis] = stride;
    } else if (!view_is_empty(view) && view->shape[axis] != 1) {
      PyErr_Format(PyExc_BufferError, "the tensor has a stride of %lld elements, which is too large",
                   (long long)strides[axis]);
      return false;
    }
  }
  view_settle_strides(view);
  return true;
}

/* new_like(shape, dtype, itemsize, format, device_type, device_id): makes an array for another library. */
PyObject* dlpack_new(const void* prototype, PyObject* new_like) {
  const DLTensor* like = (const DLTensor*)prototype;
  View element;
  if (!take_elements(&element, like->dtype)) return NULL;
  return PyObject_CallFunction(new_like, "NiLsii", tuple_of(like->shape, like->ndim), (int)element.dtype,
                               (long long)element.itemsize, element.format, (int)like->device.type,
                               (int)like->device.id);
}

static bool take_tensor(View* view, const DLTensor* tensor) {
  int32_t type = tensor->device.type;
  if (type != DL_CPU && type != DL_CUDA && type != DL_CUDA_HOST && type != DL_CUDA_MANAGED) {
    PyErr_Format(PyExc_BufferError, "the tensor is on a device of DLPack type %d; expected the host or CUDA", type);
    return false;
  }
  if ((type == DL_CUDA || type == DL_CUDA_MANAGED) && tensor->device.id < 0) {
    PyErr_Format(PyExc_BufferError, "the tensor is on CUDA device %d; expected 0 or more", tensor->device.id);
    return false;
  }
  if (tensor->ndim < 0 || tensor->ndim > MAX_AXES || (tensor->ndim > 0 && !tensor->shape)) {
    PyErr_Format(PyExc_BufferError, "the tensor has %d axes%s; expected 0 to %d", tensor->ndim,
                 tensor->shape ? "" : " without extents", MAX_AXES);
    return false;
  }
  if (!take_elements(view, tensor->dtype)) return false;
  view->kind = type == DL_CPU         ? GPUMEM_MEMORY_PAGEABLE
               : type == DL_CUDA      ? GPUMEM_MEMORY_DEVICE
               : type == DL_CUDA_HOST ? GPUMEM_MEMORY_PINNED
                                      : GPUMEM_MEMORY_MANAGED;
  view->device = type == DL_CPU || type == DL_CUDA_HOST ? GPUMEM_DEVICE_HOST : tensor->device.id;
  view->ndim = tensor->ndim;
  for (int32_t axis = 0; axis < tensor->ndim; ++axis) view->shape[axis] = tensor->shape[axis];
  uintptr_t address = 0; /* no memory, so the offset does not matter */
  if (tensor->data && __builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &address)) {
    PyErr_Format(PyExc_BufferError, "the tensor has a byte_offset of %llu, which is too large",
                 (unsigned long long)tensor->byte_offset);
    return false;
  }
  view->address = (char*)address;
  return take_strides(view, tensor->strides) && view_check(view);
}

bool dlpack_take(View* view, void* managed, bool versioned) {
  const Versioned* header = (const Versioned*)managed;
  if (versioned && header->major != DL_MAJOR) {
    PyErr_Format(PyExc_BufferError, "the tensor uses DLPack %u; expected %d", header->major, DL_MAJOR);
    return false;
  }
  if (!take_tensor(view, versioned ? &header->tensor : &((const Unversioned*)managed)->tensor)) return false;
  view->readonly = versioned && (header->flags & DL_READ_ONLY);
  view->managed = managed;
  view->managed_is_versioned = versioned;
  return true;
}

bool dlpack_take_capsule(View* view, PyObject* capsule) {
  const bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
  if (!versioned && !PyCapsule_IsValid(capsule, "dltensor")) {
    PyErr_Format(PyExc_BufferError, "expected a DLPack capsule that was not taken before");
    return false;
  }
  void* managed = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
  if (!dlpack_take(view, managed, versioned)) return false;
  if (PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") == 0) return true;
  view->managed = NULL; /* the capsule still owns the tensor */
  return false;
}

/* Takes a capsule, and returns a View of its tensor. */
PyObject* dlpack_import(PyObject* module, PyObject* capsule) {
  (void)module;
  View* view = view_new(view_type);
  if (view && !dlpack_take_capsule(view, capsule)) Py_CLEAR(view);
  return (PyObject*)view;
}
