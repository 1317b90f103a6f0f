/* The shortest way for blocking calls on operands that are as the library takes them: no object of Python for a View, no frame.
 * Each of these gives None where an operand is anything else. The general way, in operations.py, then does it or says why not. */
#ifndef GPUMEM_PYTHON_QUICK_H
#define GPUMEM_PYTHON_QUICK_H

#include "module.h"

/* Declares the pointer to a function of the library, of calls.inc. */
#define LIBRARY(name) extern __typeof__(name)* p_##name

/* status = call, while other threads of Python run. */
#define RUN(call)                         \
  Py_BEGIN_ALLOW_THREADS status = (call); \
  Py_END_ALLOW_THREADS

#define QUICK(name, arguments) \
  { "quick_" #name, (PyCFunction)(void (*)(void))quick_##name, METH_FASTCALL, arguments }

enum { MAX_TERMS = 8 };

typedef struct {
  int count;
  PyObject* made; /* a result that was not given, or NULL */
  View views[MAX_TERMS + 1];
} Operands;

static inline void operands_begin(Operands* all) { all->count = 0, all->made = NULL; }
static inline bool is_float(const View* view) { return view->dtype == GPUMEM_F32 || view->dtype == GPUMEM_F64; }

/* The View of an object; NULL, without an exception, for what is left to the general way. */
const View* operands_take(Operands* all, PyObject* x, bool write);
/* The View of `out`, or of a new array beside x, which the first View is of, where that is None. */
const View* operands_take_result(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim,
                                 int32_t dtype);
/* Lets go of the buffers, and gives this result; None; or the array that was made, else `out`, or the status as an exception. */
PyObject* operands_end(Operands* all, PyObject* result);
PyObject* operands_leave(Operands* all);
PyObject* operands_end_with(Operands* all, gpumem_status status, PyObject* out);
/* Of Python's own numbers and NumPy's scalars. Others may run code of Python, which may end the context that was looked up. */
bool to_number(PyObject* object, double* value);

extern PyMethodDef quick_reductions[], quick_moves[], quick_arithmetic[];

#endif
