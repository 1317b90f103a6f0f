/* Fast paths of operations, for operands that the library can use as they are. They create no frame, and for a blocking
 * call no Python object for a View. They return None for other operands. The general path in Python then does
 * the work or raises the error. */
#ifndef GPUMEM_PYTHON_QUICK_H
#define GPUMEM_PYTHON_QUICK_H

#include "module.h"

/* Declares the pointer to a function of the library, which calls.inc defines. */
#define LIBRARY(name) extern __typeof__(name)* p_##name
#define LIBRARY_BOTH(name) \
  LIBRARY(name);           \
  LIBRARY(name##_async)

/* status = call, while other Python threads run. */
#define RUN(call)                         \
  Py_BEGIN_ALLOW_THREADS status = (call); \
  Py_END_ALLOW_THREADS

/* Calls a function of the library, or with a stream its _async form. Some take a pointer to a status, an operand. */
#define CALL(name, ...)                                       \
  if (!operands_order(&all)) return operands_end(&all, NULL); \
  RUN(all.stream ? p_##name##_async(__VA_ARGS__, all.queue) : p_##name(__VA_ARGS__))
#define CALL_WITH_STATUS(operand, name, ...)                             \
  if (!operands_take_status(&all, operand)) return operands_leave(&all); \
  if (!operands_order(&all)) return operands_end(&all, NULL);            \
  RUN(all.stream ? p_##name##_async(__VA_ARGS__, all.deferred, all.queue) : p_##name(__VA_ARGS__))

#define QUICK(name, arguments) \
  { "quick_" #name, (PyCFunction)(void (*)(void))quick_##name, METH_FASTCALL, arguments }

enum { MAX_TERMS = 16, MAX_OPERANDS = MAX_TERMS + 1 };

typedef struct {
  void* ctx;
  PyObject *context, *handle, *stream; /* the handle lives, also if another thread closes the context */
  PyObject* with_core;                 /* has the core as an attribute */
  gpumem_stream* queue;
  const Exchange* producer; /* of tensors on a GPU, or NULL */
  int32_t producer_device;
  PyTypeObject* lender; /* the type of the last array of a GPU by __dlpack__(), or NULL */
  int32_t lender_device;
  gpumem_status* deferred; /* or NULL */
  int count;
  PyObject* made;                  /* the new result, or NULL */
  PyObject* objects[MAX_OPERANDS]; /* what a stream keeps, or NULL */
  int64_t numbers[2];              /* operands that are Python numbers */
  View views[MAX_OPERANDS];
} Operands;

/* The smallest list of axes for several views: extents, and strides in elements, view by view. */
typedef struct {
  int32_t rank;
  int64_t extents[MAX_AXES];
  int64_t strides[MAX_OPERANDS * MAX_AXES];
} Walk;

enum { READ = 0, WRITE = 1, WITH_BOOL = 2 };

static inline bool is_float(const View* view) { return view->dtype == GPUMEM_F32 || view->dtype == GPUMEM_F64; }
static inline bool is_bool(const View* view) {
  return view->dtype < 0; /* other elements without a type are not taken */
}

/* False without an exception if the general path must make the call. `stream` may be None. */
bool operands_begin(Operands* all, PyObject* context, PyObject* stream);
/* The View of an object. NULL if the general path must take it, or with an exception that ends the call, such as
 * KeyboardInterrupt. So do the two functions after it. */
const View* operands_take(Operands* all, PyObject* x, int flags);
/* The same for an array or a number, which becomes one element like `like`. */
const View* operands_take_number(Operands* all, PyObject* x, int32_t dtype, const View* like);
bool is_number(PyObject* x);
/* The View of `out`. If that is None, the View of a new array like x, whose View is the one at `like`. */
const View* operands_take_result(Operands* all, PyObject* out, PyObject* x, int like, const int64_t* shape,
                                 int32_t ndim, int32_t dtype, int flags);
/* The result of a reduction to elements of this type, without padding. */
const View* operands_take_values(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim,
                                 int32_t dtype);
/* Takes an array of one i32, or None. */
bool operands_take_status(Operands* all, PyObject* x);
/* Makes the stream wait for the work of another library on its tensors. False with an exception. */
bool operands_order(const Operands* all);
/* Releases the operands. Returns this result, None, the new array or `out`, or raises the status. operands_leave() returns
 * NULL if an exception is pending. */
PyObject* operands_end(Operands* all, PyObject* result);
PyObject* operands_leave(Operands* all);
PyObject* operands_end_with(Operands* all, gpumem_status status, PyObject* out);
/* The same for several values: if some are missing, the exception's `result` has the others. */
PyObject* operands_end_several(Operands* all, gpumem_status status, PyObject* out);
/* A View of an object, as a new reference. NULL as above. */
PyObject* operands_view(Operands* all, PyObject* x);
bool is_of_shape(const View* view, const int64_t* shape, int32_t ndim);
bool same_shape(const View* a, const View* b);
/* The bytes of a value of this type. False if the general path must convert it. */
bool to_pattern(int32_t dtype, PyObject* object, void* pattern);
/* For Python's numbers and NumPy's scalars. Other types may run Python code, which may end the context. */
bool to_number(PyObject* object, double* value);
/* The strides of a view in elements. False if one is negative, or not a multiple of the element size. */
bool whole_strides(const View* view, int64_t* strides);

/* quick_reduce.c */
/* The default type of the result of a reduction or a scan. */
int32_t result_type(int32_t dtype);
/* False without an exception if the axis is no integer. */
bool to_axis(PyObject* object, int64_t* axis);

/* quick_rows.c */
bool is_index(const View* view);
/* Rows without padding inside. False if the general path must describe them. */
bool to_rows(const View* view, int64_t* bytes, int64_t* pitch);
/* The result for this number of rows of x, whose View is the first one. */
const View* take_rows(Operands* all, PyObject* out, PyObject* x, int64_t count);
/* The offsets of segments. */
const View* take_offsets(Operands* all, PyObject* x);

/* walk.c */
/* Takes the result for the broadcast views that are already taken, and combines their axes. `like`: as above. */
bool walk_take(Operands* all, PyObject* out, PyObject* x, int like, int32_t dtype, int flags, Walk* walk);

extern PyMethodDef quick_reductions[], quick_moves[], quick_arithmetic[], quick_boxes[], quick_elementwise[],
    quick_ordered[], quick_rows[];

#endif
