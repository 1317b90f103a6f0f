/* Fast paths of blocking calls, for operands that the library can use as they are. They create no Python object for a
 * View, and no frame. They return None for other operands. The general path in operations.py then does the work or
 * raises the error. */
#ifndef GPUMEM_PYTHON_QUICK_H
#define GPUMEM_PYTHON_QUICK_H

#include "module.h"

/* Declares the pointer to a function of the library, which calls.inc defines. */
#define LIBRARY(name) extern __typeof__(name)* p_##name

/* status = call, while other Python threads run. */
#define RUN(call)                         \
  Py_BEGIN_ALLOW_THREADS status = (call); \
  Py_END_ALLOW_THREADS

#define QUICK(name, arguments) \
  { "quick_" #name, (PyCFunction)(void (*)(void))quick_##name, METH_FASTCALL, arguments }

enum { MAX_TERMS = 16 };

typedef struct {
  int count;
  PyObject* made; /* the new result, or NULL */
  View views[MAX_TERMS + 1];
} Operands;

static inline void operands_begin(Operands* all) { all->count = 0, all->made = NULL; }
static inline bool is_float(const View* view) { return view->dtype == GPUMEM_F32 || view->dtype == GPUMEM_F64; }

/* The View of an object. NULL without an exception if the general path must take it. */
const View* operands_take(Operands* all, PyObject* x, bool write);
/* The View of `out`. If that is None, the View of a new array like x, whose View is the first one. */
const View* operands_take_result(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim,
                                 int32_t dtype);
/* Releases the buffers. Returns this result, None, the new array or `out`, or raises the status. */
PyObject* operands_end(Operands* all, PyObject* result);
PyObject* operands_leave(Operands* all);
PyObject* operands_end_with(Operands* all, gpumem_status status, PyObject* out);
/* For Python's numbers and NumPy's scalars. Other types may run Python code, which may end the context. */
bool to_number(PyObject* object, double* value);

extern PyMethodDef quick_reductions[], quick_moves[], quick_arithmetic[];

#endif
