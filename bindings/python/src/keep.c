/* Keep: holds an object that the cycle collector does not visit. The object is then not part of the garbage that holds
 * the Keep. So its finalizer runs after the finalizers of its users: an allocation ends after its last array, and
 * operands end after the stream that uses them. */
#include "module.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD PyObject* object;
} Keep;

enum { CHUNK = 64 }; /* calls per event; an event tells when their operands may go */

PyTypeObject* array_type;
static PyTypeObject *keep_type, *stream_type;
static PyObject *name_handle, *name_kept, *name_mark;

PyObject* keep_of(PyObject* object) {
  allocfunc alloc = (allocfunc)PyType_GetSlot(keep_type, Py_tp_alloc);
  Keep* keep = (Keep*)alloc(keep_type, 0);
  if (keep) keep->object = Py_NewRef(object);
  return (PyObject*)keep;
}

static PyObject* keep_create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  (void)type;
  static char* names[] = {"object", NULL};
  PyObject* object;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O", names, &object)) return NULL;
  return keep_of(object);
}

static void keep_dealloc(Keep* keep) {
  PyTypeObject* type = Py_TYPE((PyObject*)keep);
  Py_CLEAR(keep->object);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(keep);
  Py_DECREF(type);
}

static PyMemberDef keep_members[] = {{"object", T_OBJECT, offsetof(Keep, object), READONLY, "what is held"},
                                     {NULL, 0, 0, 0, NULL}};
static PyType_Slot keep_slots[] = {
    {Py_tp_new, (void*)keep_create}, {Py_tp_dealloc, (void*)keep_dealloc}, {Py_tp_members, keep_members}, {0, NULL}};
static PyType_Spec keep_spec = {"gpumem._gpumem.Keep", sizeof(Keep), 0, Py_TPFLAGS_DEFAULT, keep_slots};

/* set_types(Stream, Array): the classes of streams and of arrays */
static PyObject* set_types(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("set_types", 2, given)) return NULL;
  stream_type = (PyTypeObject*)Py_NewRef(args[0]);
  array_type = (PyTypeObject*)Py_NewRef(args[1]);
  Py_RETURN_NONE;
}

bool queue_of(PyObject* stream, gpumem_stream** queue) {
  void* address = NULL;
  PyObject* handle =
      stream_type && PyType_IsSubtype(Py_TYPE(stream), stream_type) ? PyObject_GetAttr(stream, name_handle) : NULL;
  const bool good = handle && to_pointer(handle, &address, "stream");
  PyErr_Clear();
  Py_XDECREF(handle);
  *queue = (gpumem_stream*)address;
  return good;
}

PyObject* kept_object(PyObject* object) {
  return object && Py_TYPE(object) == keep_type ? ((Keep*)object)->object : object;
}

bool keep_on(PyObject* stream, PyObject* operands) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(operands); ++i) {
    PyObject* memory = memory_of(PyTuple_GetItem(operands, i));
    if (memory && !memory_use_on(memory, stream)) return false;
  }
  PyObject *list = PyObject_GetAttr(stream, name_kept), *keep = list ? keep_of(operands) : NULL;
  bool good = keep && PyList_Append(list, keep) == 0;
  if (good && PyList_Size(list) >= CHUNK) {
    PyObject* done = PyObject_CallMethodObjArgs(stream, name_mark, NULL);
    good = done != NULL;
    Py_XDECREF(done);
  }
  Py_XDECREF(keep);
  Py_XDECREF(list);
  return good;
}

static PyObject* keep_function(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("keep_on", 2, given)) return NULL;
  if (!PyTuple_Check(args[1])) return PyErr_Format(PyExc_TypeError, "expected a tuple of operands");
  return keep_on(args[0], args[1]) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef keep_functions[] = {
    {"keep_on", (PyCFunction)(void (*)(void))keep_function, METH_FASTCALL, "keeps operands on a stream"},
    {"set_types", (PyCFunction)(void (*)(void))set_types, METH_FASTCALL, "the classes of streams and of arrays"},
    {NULL, NULL, 0, NULL}};

int keep_add_types(PyObject* module) {
  name_handle = PyUnicode_InternFromString("handle");
  name_kept = PyUnicode_InternFromString("kept");
  name_mark = PyUnicode_InternFromString("_mark");
  keep_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &keep_spec, NULL);
  if (!name_handle || !name_kept || !name_mark || !keep_type) return -1;
  if (PyModule_AddIntConstant(module, "CHUNK", CHUNK) != 0) return -1;
  return PyModule_AddType(module, keep_type) == 0 ? PyModule_AddFunctions(module, keep_functions) : -1;
}
