/* Declarations of the extension module. It uses the limited API of Python 3.11, so one binary works with all later
 * versions. */
#ifndef GPUMEM_PYTHON_MODULE_H
#define GPUMEM_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <gpumem.h>
#include <stdbool.h>

enum { MAX_AXES = 8, FORMAT_BYTES = 16, UNTYPED = -1 };

/* Strided memory of any kind, and its owner: a buffer of another object, a tensor of DLPack, or `owner`. */
typedef struct {
  PyObject_HEAD char* address;
  PyObject* owner;    /* or NULL */
  PyObject* weakrefs; /* list of weak references, or NULL */
  Py_buffer buffer;   /* held while buffer.obj is set */
  bool traversed;     /* true if the cycle collector may visit buffer.obj */
  void* managed;      /* a tensor of DLPack, returned at the end, or NULL */
  bool managed_is_versioned;
  bool readonly;
  int32_t kind;   /* gpumem_memory_kind */
  int32_t device; /* a CUDA ordinal or GPUMEM_DEVICE_HOST */
  int32_t dtype;  /* gpumem_dtype, or UNTYPED: elements that can only be moved */
  int32_t ndim;
  int64_t itemsize;
  char format[FORMAT_BYTES]; /* of the module struct */
  int64_t shape[MAX_AXES];
  int64_t strides[MAX_AXES]; /* in bytes */
} View;

extern PyTypeObject *view_type, *cell_type;
extern const char* const dtype_names[];
extern const int64_t dtype_sizes[];

View* view_new(PyTypeObject* type);
/* A View with these elements, without strides or memory. shape is a tuple. NULL with an exception. */
View* view_shaped(PyTypeObject* type, PyObject* shape, int32_t dtype, int64_t itemsize, const char* format);
/* Sets dtype, itemsize and format. */
void view_set_dtype(View* view, int32_t dtype);
/* Sets the strides of an array without padding. */
void view_set_contiguous(View* view);
/* True without elements, because NumPy's strides of such arrays are arbitrary. */
void view_settle_strides(View* view);
bool view_is_empty(const View* view);
bool view_is_contiguous(const View* view);
int64_t view_size(const View* view);
bool view_is_bool(const View* view);
/* The bytes of all elements. -1 with an exception if such an array is impossible. */
int64_t view_bytes(const View* view);
/* True if the description is possible: no extent, product or address overflows, and elements have bytes and an address.
 * False with an exception. */
bool view_check(const View* view);
/* The stride, in elements, of all elements as one sequence. 0 if they are not one: strides differ, are negative, or are
 * not a multiple of the element size. */
int64_t view_sequence_stride(const View* view);
/* Takes the buffer of an object into a zeroed View. False with an exception. */
bool view_take_buffer(View* view, PyObject* object);
PyObject* view_part(PyObject* module, PyObject* const* args, Py_ssize_t given);
PyObject* tuple_of(const int64_t* values, int32_t count);
int view_add_types(PyObject* module);

/* cell.c */
void* cell_address(PyObject* cell);
int cell_add_types(PyObject* module);

/* dlpack.c */
/* Describes a managed tensor in a zeroed View, which then owns it. False with an exception, and the View owns nothing. */
bool dlpack_take(View* view, void* managed, bool versioned);
/* The same for the tensor of a capsule. */
bool dlpack_take_capsule(View* view, PyObject* capsule);
/* A managed tensor with the memory of a View. NULL with an exception. */
void* dlpack_lend(PyObject* object, const int32_t device[2], bool versioned, bool copied);
PyObject* dlpack_new(const void* prototype, PyObject* new_like);
void dlpack_delete(void* managed, bool versioned);
void dlpack_release(View* view);
PyObject* dlpack_export(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* dlpack_import(PyObject* module, PyObject* capsule);

/* exchange.c: DLPack's table of C functions, which a type of tensors may have. */
typedef struct Exchange Exchange;
/* Takes a tensor into a zeroed View. Returns the table of its type, or NULL without an exception if it must come by
 * another way. Its stream is not ordered yet. */
const Exchange* exchange_take(View* view, PyObject* x);
/* True for an array of a library without the table that may be in memory of CUDA, such as CuPy. */
bool exchange_has_method(PyObject* x);
/* Takes such an array into a zeroed View by __dlpack__(). The library makes the queue (NULL: the context's own) wait for its
 * work, unless it waits already. False if the array must come by another way; an exception may be pending. */
bool exchange_take_by_method(View* view, PyObject* x, void* ctx, gpumem_stream* queue, bool waits);
/* Makes the queue (NULL: the context's own) wait for the stream on which the other library works now. Does nothing if
 * that is the same stream, or the legacy default stream and the queue follows it. False with an exception. */
bool exchange_order(void* ctx, gpumem_stream* queue, const Exchange* of, int32_t device, bool follows_legacy);
bool is_on_gpu(const View* view);
int exchange_add_functions(PyObject* module);

/* keep.c */
extern PyTypeObject* array_type; /* the class gpumem.Array */
int keep_add_types(PyObject* module);
/* A Keep of an object. NULL with an exception. */
PyObject* keep_of(PyObject* object);
/* What a Keep holds. Other objects as they are. */
PyObject* kept_object(PyObject* object);
/* Keeps a tuple of operands until the stream has passed their call. False with an exception. */
bool keep_on(PyObject* stream, PyObject* operands);
/* The gpumem_stream of a gpumem.Stream. False without an exception if it is something else. */
bool queue_of(PyObject* stream, gpumem_stream** queue);

/* memory.c */
typedef struct {
  PyObject* shape; /* a tuple */
  const char* format;
  int64_t itemsize; /* itemsize and format: of elements without a dtype */
  int32_t dtype, kind;
} ArrayForm;
/* A new array without padding, in memory of a context that is not pageable. Its memory belongs to the stream, or to the
 * context's own if that is NULL. NULL with an exception. */
PyObject* memory_array(PyObject* core, const ArrayForm* form, PyObject* stream, int64_t alignment);
/* True for an exception that arguments can cause, which the general path raises with a better message. */
bool is_of_arguments(void);
/* The allocation of an array. NULL if the memory does not belong to a context. */
PyObject* memory_of(PyObject* operand);
/* Notes that a stream has work on an allocation. False with an exception. */
bool memory_use_on(PyObject* memory, PyObject* stream);
int memory_add_types(PyObject* module);

/* callbacks.c */
/* True if a call of the library waits for a callback. */
bool callbacks_run(void);
/* Brackets Python code, or a callback that may be Python code, in any thread, with or without the interpreter's lock.
 * False: the interpreter ends or has ended, so do not touch it. */
bool python_begin(void);
void python_end(void);
int callbacks_add_types(PyObject* module);

/* calls.c: conversions for the generated calls. Each returns false with an exception that names the argument. */
bool to_pointer(PyObject* object, void** value, const char* name);
bool to_string(PyObject* object, const char** value, const char* name);
bool to_int32(PyObject* object, int32_t* value, const char* name);
bool to_int64(PyObject* object, int64_t* value, const char* name);
bool to_float(PyObject* object, float* value, const char* name);
bool to_double(PyObject* object, double* value, const char* name);
bool check_count(const char* function, Py_ssize_t expected, Py_ssize_t given);
PyObject* from_pointer(const void* p);
PyObject* from_string(const char* text);
/* Converts an eight-byte result of a reduction of elements of this type. */
PyObject* from_result(int32_t dtype, const void* result);
/* Returns NULL with the exception that `failure` makes from the status and the library's message, or from `sentence`. */
PyObject* raise_status(gpumem_status status);
PyObject* raise_sentence(gpumem_status status, const char* sentence);
PyObject* set_failure(PyObject* module, PyObject* callable);
/* Types and exceptions belong to one interpreter. False with an ImportError in any other interpreter than the main one. */
bool is_main_interpreter(void);
PyObject* load_library(PyObject* module, PyObject* path);
PyObject* function_address(PyObject* module, PyObject* name);

/* quick_reduce.c, quick.c: None if the general path must do the work. */
typedef struct {
  PyObject *x, *out, *status, *stream; /* all but x may be None */
  int32_t op, dtype;                   /* dtype UNTYPED: of `out`, else the default */
  bool has_axis, keepdims;
  int64_t axis;
  PyObject* axes; /* a tuple instead of an axis, or NULL */
} Reduction;
PyObject* quick_reduce(PyObject* context, const Reduction* call);
int quick_add_functions(PyObject* module);

/* base.c */
/* A new reference to the handle of a context. NULL without an exception for a closed context, or another object. */
PyObject* base_handle(PyObject* context);
int base_add_types(PyObject* module);

/* calls.inc, generated from gpumem.h */
typedef struct {
  const char* name;
  void** address; /* of the function pointer */
} Symbol;
extern const Symbol symbols[];
extern PyMethodDef call_methods[];
gpumem_status library_last_error(char* buf, int64_t cap, int64_t* needed);

#endif
