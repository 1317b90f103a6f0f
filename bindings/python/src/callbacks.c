/* Python functions as callbacks of the library, which calls them from any of its threads. What the library calls is one C
 * function a kind, with the Python function as its `user`: whoever gives it away keeps it alive. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static void on_log(void* user, gpumem_log_level level, const char* message) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  /* a message can have a file's name, in whatever bytes it is */
  PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  PyObject* result = text ? PyObject_CallFunction((PyObject*)user, "iN", (int)level, text) : NULL;
  if (!result) PyErr_WriteUnraisable((PyObject*)user);
  Py_XDECREF(result);
  PyGILState_Release(gil);
}

/* ------------------------------------------------------------------------------------------- the program's own pool */

/* task(i) of a parallel_for. Each index runs once, whatever the pool does: what it leaves out is run at the end. */
typedef struct {
  PyObject_HEAD gpumem_task_fn run;
  void* state;
  int64_t tasks;
  char* done; /* a byte a task; NULL when the parallel_for is over */
} Task;

static PyTypeObject* task_type;

static PyObject* task_call(Task* task, PyObject* args, PyObject* keywords) {
  static char* names[] = {"index", NULL};
  long long index;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "L", names, &index)) return NULL;
  if (!task->done) return PyErr_Format(PyExc_RuntimeError, "the parallel_for of this task is over");
  if (index < 0 || index >= task->tasks)
    return PyErr_Format(PyExc_IndexError, "task %lld of %lld", index, (long long)task->tasks);
  if (task->done[index]) return PyErr_Format(PyExc_RuntimeError, "task %lld was run before", index);
  task->done[index] = 1; /* under the lock of the interpreter */
  gpumem_task_fn run = task->run;
  void* state = task->state;
  Py_BEGIN_ALLOW_THREADS run(state, index);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static void task_dealloc(Task* task) {
  PyTypeObject* type = Py_TYPE((PyObject*)task);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(task);
  Py_DECREF(type);
}

static PyType_Slot task_slots[] = {{Py_tp_dealloc, (void*)task_dealloc}, {Py_tp_call, (void*)task_call}, {0, NULL}};
static PyType_Spec task_spec = {"gpumem._gpumem.Task", sizeof(Task), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, task_slots};

static void call_pool(PyObject* function, Task* task) {
  PyObject* result = PyObject_CallFunction(function, "LO", (long long)task->tasks, (PyObject*)task);
  if (!result) PyErr_WriteUnraisable(function);
  Py_XDECREF(result);
}

static void on_parallel_for(void* user, int64_t tasks, gpumem_task_fn run, void* state) {
  Task* task = NULL;
  char* done = Py_IsInitialized() ? (char*)calloc((size_t)tasks, 1) : NULL;
  if (done) {
    PyGILState_STATE gil = PyGILState_Ensure();
    allocfunc alloc = (allocfunc)PyType_GetSlot(task_type, Py_tp_alloc);
    task = (Task*)alloc(task_type, 0);
    if (task) {
      task->run = run, task->state = state, task->tasks = tasks, task->done = done;
      call_pool((PyObject*)user, task);
      task->done = NULL;
      Py_DECREF(task);
    }
    PyErr_Clear();
    PyGILState_Release(gil);
  }
  for (int64_t i = 0; i < tasks; ++i)
    if (!done || !done[i]) run(state, i);
  free(done);
}

/* Each gives the addresses of the C function and of the Python function, which the caller keeps alive. */
static PyObject* callback(void (*function)(void), PyObject* callable, const char* name) {
  if (Py_IsNone(callable)) return Py_BuildValue("OO", Py_None, Py_None);
  if (!PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "%s is %.200R; expected a function", name, callable);
  return Py_BuildValue("NN", PyLong_FromVoidPtr((void*)function), PyLong_FromVoidPtr(callable));
}

PyObject* log_callback(PyObject* module, PyObject* callable) {
  return (void)module, callback((void (*)(void))on_log, callable, "log");
}

PyObject* parallel_for_callback(PyObject* module, PyObject* callable) {
  return (void)module, callback((void (*)(void))on_parallel_for, callable, "parallel_for");
}

int callbacks_add_types(PyObject* module) {
  task_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &task_spec, NULL);
  return task_type ? PyModule_AddType(module, task_type) : -1;
}
