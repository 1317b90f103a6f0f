/* What the parts of the extension module share. It is written in the limited API of Python 3.11, so that one binary serves
 * every later version. */
#ifndef GPUMEM_PYTHON_MODULE_H
#define GPUMEM_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <gpumem.h>
#include <stdbool.h>

enum { MAX_AXES = 8, FORMAT_BYTES = 16, UNTYPED = -1 };

/* Strided memory of any kind, and what keeps it alive: a buffer of another object, a tensor of DLPack, or `owner`. */
typedef struct {
  PyObject_HEAD char* address;
  PyObject* owner;    /* or NULL */
  PyObject* weakrefs; /* the list of weak references, or NULL */
  Py_buffer buffer;   /* held while buffer.obj is set */
  bool traversed;     /* whether the collector of cycles may go into buffer.obj */
  void* managed;      /* a tensor of DLPack, which goes back at the end, or NULL */
  bool managed_is_versioned;
  bool readonly;
  int32_t kind;   /* gpumem_memory_kind */
  int32_t device; /* a CUDA ordinal or GPUMEM_DEVICE_HOST */
  int32_t dtype;  /* gpumem_dtype, or UNTYPED: bytes that can be moved, and not computed with */
  int32_t ndim;
  int64_t itemsize;
  char format[FORMAT_BYTES]; /* as in the module struct */
  int64_t shape[MAX_AXES];
  int64_t strides[MAX_AXES]; /* in bytes */
} View;

extern PyTypeObject *view_type, *cell_type;
extern const char* const dtype_names[];
extern const int64_t dtype_sizes[];

View* view_new(PyTypeObject* type);
/* Sets dtype, itemsize and format. */
void view_set_dtype(View* view, int32_t dtype);
/* Strides of an array without gaps. */
void view_set_contiguous(View* view);
/* Without elements there is nothing between them: NumPy's strides of such arrays may be anything. */
void view_settle_strides(View* view);
bool view_is_empty(const View* view);
bool view_is_contiguous(const View* view);
int64_t view_size(const View* view);
/* The bytes of all elements; -1 with an exception set where there can be no such array. */
int64_t view_bytes(const View* view);
/* Whether there can be such an array at all, whoever describes it: no extent, product or place overflows, and elements have
 * bytes and an address. False with an exception set. */
bool view_check(const View* view);
/* How far apart the elements lie when all of them are taken as one sequence, in elements; 0 where they are none: where
 * strides differ, are negative or are no whole number of elements. */
int64_t view_sequence_stride(const View* view);
/* Takes the buffer of an object into a View that is all zeros. False with an exception set. */
bool view_take_buffer(View* view, PyObject* object);
PyObject* tuple_of(const int64_t* values, int32_t count);
int view_add_types(PyObject* module);

/* cell.c */
void* cell_address(PyObject* cell);
int cell_add_types(PyObject* module);

/* dlpack.c */
void dlpack_release(View* view);
PyObject* dlpack_export(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* dlpack_import(PyObject* module, PyObject* capsule);

/* keep.c */
int keep_add_types(PyObject* module);

/* callbacks.c */
/* Around what any thread does in Python, or in a callback that may be Python's, whether it holds the lock of the interpreter or
 * not. False: the interpreter ends or has ended, and nothing of it may be touched. */
bool python_begin(void);
void python_end(void);
int callbacks_add_types(PyObject* module);

/* calls.c: conversions of the arguments and results of the generated calls. Each returns false with an exception set, that
 * says of which argument. */
bool to_pointer(PyObject* object, void** value, const char* name);
bool to_string(PyObject* object, const char** value, const char* name);
bool to_int32(PyObject* object, int32_t* value, const char* name);
bool to_int64(PyObject* object, int64_t* value, const char* name);
bool to_float(PyObject* object, float* value, const char* name);
bool to_double(PyObject* object, double* value, const char* name);
bool check_count(const char* function, Py_ssize_t expected, Py_ssize_t given);
PyObject* from_pointer(const void* p);
PyObject* from_string(const char* text);
/* The result of a reduction of elements of a type, in eight bytes. */
PyObject* from_result(int32_t dtype, const void* result);
/* NULL, with the exception that `failure` makes of the status and the library's sentence, or this one. */
PyObject* raise_status(gpumem_status status);
PyObject* raise_sentence(gpumem_status status, const char* sentence);
PyObject* set_failure(PyObject* module, PyObject* callable);
/* Types and exceptions are those of one interpreter. False with an ImportError set in any other than the main one. */
bool is_main_interpreter(void);
PyObject* load_library(PyObject* module, PyObject* path);
PyObject* function_address(PyObject* module, PyObject* name);

/* quick_reduce.c, quick.c: None for what is left to the general way. */
PyObject* quick_reduce(void* ctx, int32_t op, PyObject* x);
PyObject* quick_reduce_axis(void* ctx, int32_t op, PyObject* x, int64_t axis);
int quick_add_functions(PyObject* module);

/* base.c */
int base_add_types(PyObject* module);

/* calls.inc, generated from gpumem.h */
typedef struct {
  const char* name;
  void** address; /* of the pointer to the function */
} Symbol;
extern const Symbol symbols[];
extern PyMethodDef call_methods[];
gpumem_status library_last_error(char* buf, int64_t cap, int64_t* needed);

#endif
