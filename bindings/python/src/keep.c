/* Keep: holds an object that the cycle collector does not visit. The object is then not part of the garbage that holds
 * the Keep. So its finalizer runs after the finalizers of its users: an allocation ends after its last array, and
 * operands end after the stream that uses them. */
#include "module.h"

#include <stddef.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD PyObject* object;
} Keep;

static PyObject* keep_create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static char* names[] = {"object", NULL};
  PyObject* object;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O", names, &object)) return NULL;
  allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Keep* keep = (Keep*)alloc(type, 0);
  if (keep) keep->object = Py_NewRef(object);
  return (PyObject*)keep;
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

int keep_add_types(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &keep_spec, NULL);
  if (!type || PyModule_AddType(module, (PyTypeObject*)type) != 0) return -1;
  Py_DECREF(type);
  return 0;
}
