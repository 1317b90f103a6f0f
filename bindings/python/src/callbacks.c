/* Python functions as callbacks, which the library calls from any thread. Each kind has one C function. Its `user` is a
 * Python object, which the owner of the callback keeps alive. */
#include "module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread that requests the lock of an interpreter that ends never returns: Python ends or hangs it inside the
 * library's frames. So callbacks are closed before that, and close_callbacks() counts the running ones. */
static atomic_int inside;
static atomic_int under_way; /* running callbacks that a call of the library waits for */
static atomic_bool closed;

bool python_begin(void) {
  atomic_fetch_add(&inside, 1);
  if (!atomic_load(&closed)) return true;
  atomic_fetch_sub(&inside, 1);
  return false;
}

void python_end(void) { atomic_fetch_sub(&inside, 1); }

static bool callback_begin(void) {
  if (!python_begin()) return false;
  atomic_fetch_add(&under_way, 1);
  return true;
}

static void callback_end(void) {
  atomic_fetch_sub(&under_way, 1);
  python_end();
}

/* A callback that outlasts the wait. Up to Python 3.13, the interpreter unwinds its thread through the library's
 * frames, which aborts the process. So the thread stays here. */
static void stay(void* none) {
  (void)none;
  for (;;) pause();
}

bool callbacks_run(void) { return atomic_load(&under_way) > 0; }

static PyObject* callbacks_under_way(PyObject* module, PyObject* none) {
  (void)module, (void)none;
  return PyBool_FromLong(callbacks_run());
}

static PyObject* open_callbacks(PyObject* module, PyObject* none) {
  (void)module, (void)none;
  atomic_store(&under_way, 0);
  atomic_store(&inside, 0); /* a forked child does not have the threads of running callbacks */
  atomic_store(&closed, false);
  Py_RETURN_NONE;
}

static PyObject* close_callbacks(PyObject* module, PyObject* none) {
  (void)module, (void)none;
  atomic_store(&closed, true);
  return PyLong_FromLong(atomic_load(&inside));
}

/* Reports the exception of a callback. The main thread raises an interrupt when it is back in Python. */
static void report(PyObject* function) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    PyErr_SetInterrupt();
  } else {
    PyErr_WriteUnraisable(function);
  }
}

/* `user` is a list that contains the function, so that the function can be replaced during a call. */
static void on_log(void* user, gpumem_log_level level, const char* message) {
  if (!callback_begin()) return;
  pthread_cleanup_push(stay, NULL);
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* function = Py_XNewRef(PyList_GetItem((PyObject*)user, 0));
  if (function && !Py_IsNone(function)) {
    /* a message can contain a file name of any bytes */
    PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    PyObject* result = text ? PyObject_CallFunction(function, "iN", (int)level, text) : NULL;
    if (!result) report(function);
    Py_XDECREF(result);
  }
  Py_XDECREF(function);
  PyGILState_Release(gil);
  pthread_cleanup_pop(0);
  callback_end();
}

/* ------------------------------------------------------------------------------------------- the program's own pool */

/* task(i) of a parallel_for. The library makes sure that each index runs once and has ended with the call. */
typedef struct {
  PyObject_HEAD gpumem_task_fn run;
  void* state;
  int64_t tasks;
  char* begun; /* one byte per task, so that a second call raises an exception */
  bool over;
} Task;

static PyTypeObject* task_type;

static PyObject* task_call(Task* task, PyObject* args, PyObject* keywords) {
  static char* names[] = {"index", NULL};
  long long index;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "L", names, &index)) return NULL;
  if (task->over) return PyErr_Format(PyExc_RuntimeError, "the parallel_for of this task is over");
  if (index < 0 || index >= task->tasks)
    return PyErr_Format(PyExc_IndexError, "task %lld of %lld", index, (long long)task->tasks);
  if (task->begun[index]) return PyErr_Format(PyExc_RuntimeError, "task %lld was run before", index);
  task->begun[index] = 1; /* guarded by the lock of the interpreter */
  gpumem_task_fn run = task->run;
  void* state = task->state;
  Py_BEGIN_ALLOW_THREADS run(state, index);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static void task_dealloc(Task* task) {
  PyTypeObject* type = Py_TYPE((PyObject*)task);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  free(task->begun);
  release(task);
  Py_DECREF(type);
}

static PyType_Slot task_slots[] = {{Py_tp_dealloc, (void*)task_dealloc}, {Py_tp_call, (void*)task_call}, {0, NULL}};
static PyType_Spec task_spec = {"gpumem._gpumem.Task", sizeof(Task), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, task_slots};

static Task* new_task(int64_t tasks, gpumem_task_fn run, void* state) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(task_type, Py_tp_alloc);
  Task* task = (Task*)alloc(task_type, 0);
  if (!task) return NULL;
  task->run = run, task->state = state, task->tasks = tasks;
  task->begun = (char*)calloc((size_t)tasks, 1);
  if (task->begun) return task;
  Py_DECREF(task);
  PyErr_NoMemory();
  return NULL;
}

/* The library runs the tasks that the function leaves out, and all of them if callbacks are closed. */
static void on_parallel_for(void* user, int64_t tasks, gpumem_task_fn run, void* state) {
  if (!callback_begin()) return;
  pthread_cleanup_push(stay, NULL);
  PyGILState_STATE gil = PyGILState_Ensure();
  Task* task = new_task(tasks, run, state);
  PyObject* result = task ? PyObject_CallFunction((PyObject*)user, "LO", (long long)tasks, (PyObject*)task) : NULL;
  if (!result) report((PyObject*)user);
  if (task) task->over = true;
  Py_XDECREF(result);
  Py_XDECREF((PyObject*)task);
  PyGILState_Release(gil);
  pthread_cleanup_pop(0);
  callback_end();
}

/* ------------------------------------------------------------------------------------------------------ a transport */

/* The program's functions may be Python functions. Their addresses do not tell. */
typedef struct {
  gpumem_dist_transport own, given;
} Transport;

static int32_t on_isend(void* user, const void* p, int64_t bytes, int32_t to, void** request) {
  const gpumem_dist_transport* given = (const gpumem_dist_transport*)user;
  if (!callback_begin()) return 1;
  int32_t failed;
  pthread_cleanup_push(stay, NULL);
  failed = given->isend(given->user, p, bytes, to, request);
  pthread_cleanup_pop(0);
  callback_end();
  return failed;
}

static int32_t on_irecv(void* user, void* p, int64_t bytes, int32_t from, void** request) {
  const gpumem_dist_transport* given = (const gpumem_dist_transport*)user;
  if (!callback_begin()) return 1;
  int32_t failed;
  pthread_cleanup_push(stay, NULL);
  failed = given->irecv(given->user, p, bytes, from, request);
  pthread_cleanup_pop(0);
  callback_end();
  return failed;
}

static int32_t on_test(void* user, void* request, int32_t* done) {
  const gpumem_dist_transport* given = (const gpumem_dist_transport*)user;
  if (!callback_begin()) return 1;
  int32_t failed;
  pthread_cleanup_push(stay, NULL);
  failed = given->test(given->user, request, done);
  pthread_cleanup_pop(0);
  callback_end();
  return failed;
}

static void on_release(void* user) {
  const gpumem_dist_transport* given = (const gpumem_dist_transport*)user;
  if (!callback_begin()) return;
  pthread_cleanup_push(stay, NULL);
  given->release(given->user);
  pthread_cleanup_pop(0);
  callback_end();
}

/* transport_callbacks(address): memory that begins with a copy of the table at the address. Its calls fail once
 * callbacks are closed. None for a table that the library refuses. The caller keeps the memory. */
static PyObject* transport_callbacks(PyObject* module, PyObject* address) {
  (void)module;
  void* p;
  if (!to_pointer(address, &p, "transport")) return NULL;
  const gpumem_dist_transport* given = (const gpumem_dist_transport*)p;
  if (given->struct_size != sizeof *given || !given->isend || !given->irecv || !given->test) Py_RETURN_NONE;
  PyObject* memory = PyObject_CallFunction((PyObject*)view_type, "(n)i", (Py_ssize_t)sizeof(Transport), GPUMEM_U8);
  if (!memory) return NULL;
  Transport* transport = (Transport*)((View*)memory)->address;
  transport->given = transport->own = *given;
  transport->own.user = &transport->given;
  transport->own.isend = on_isend;
  transport->own.irecv = on_irecv;
  transport->own.test = on_test;
  transport->own.release = given->release ? on_release : NULL;
  return memory;
}

/* -------------------------------------------------------------------------------------------------------- addresses */

static bool check_callable(PyObject* callable, const char* name) {
  if (Py_IsNone(callable) || PyCallable_Check(callable)) return true;
  PyErr_Format(PyExc_TypeError, "%s is %.200R; expected a function", name, callable);
  return false;
}

/* log_callback(list, function): stores the function, or None, in the list. Returns the addresses of the C function and
 * of the list, which the caller keeps alive. */
static PyObject* log_callback(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module;
  if (!check_count("log_callback", 2, count) || !check_callable(args[1], "log") ||
      PyList_SetItem(args[0], 0, Py_NewRef(args[1])) != 0)
    return NULL;
  return Py_BuildValue("NN", PyLong_FromVoidPtr((void*)on_log), PyLong_FromVoidPtr(args[0]));
}

/* parallel_for_callback(function): the addresses of the C function and of `function`, which the caller keeps alive. */
static PyObject* parallel_for_callback(PyObject* module, PyObject* callable) {
  (void)module;
  if (!check_callable(callable, "parallel_for")) return NULL;
  if (Py_IsNone(callable)) return Py_BuildValue("OO", Py_None, Py_None);
  return Py_BuildValue("NN", PyLong_FromVoidPtr((void*)on_parallel_for), PyLong_FromVoidPtr(callable));
}

static PyMethodDef callback_functions[] = {
    {"open_callbacks", open_callbacks, METH_NOARGS, "allows callbacks from the library"},
    {"close_callbacks", close_callbacks, METH_NOARGS,
     "refuses further callbacks, and returns the number of running ones"},
    {"callbacks_under_way", callbacks_under_way, METH_NOARGS, "true if a call of the library waits for a callback"},
    {"log_callback", (PyCFunction)(void (*)(void))log_callback, METH_FASTCALL, "the addresses of a gpumem_log_fn"},
    {"parallel_for_callback", parallel_for_callback, METH_O, "the addresses of a gpumem_parallel_for_fn"},
    {"transport_callbacks", transport_callbacks, METH_O, "a gpumem_dist_transport that wraps another"},
    {NULL, NULL, 0, NULL}};

int callbacks_add_types(PyObject* module) {
  task_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &task_spec, NULL);
  if (!task_type || PyModule_AddType(module, task_type) != 0) return -1;
  return PyModule_AddFunctions(module, callback_functions);
}
