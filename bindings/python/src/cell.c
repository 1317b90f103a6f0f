/* Cell: memory for the results of a call. */
#include "module.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject* cell_type;

typedef struct {
  PyObject_HEAD int64_t words[2];
} Cell;

/* result(dtype, index): one result of a reduction of elements of this type. */
static PyObject* cell_result(Cell* cell, PyObject* const* args, Py_ssize_t count) {
  int32_t dtype, index;
  if (!check_count("result", 2, count) || !to_int32(args[0], &dtype, "dtype") || !to_int32(args[1], &index, "index"))
    return NULL;
  const int64_t* word = &cell->words[index != 0];
  return from_result(dtype, word);
}

static PyMethodDef cell_methods[] = {
    {"result", (PyCFunction)(void (*)(void))cell_result, METH_FASTCALL, "the result for elements of a type, by index"},
    {NULL, NULL, 0, NULL}};
static PyMemberDef cell_members[] = {{"i32", T_INT, offsetof(Cell, words), READONLY, "the first four bytes"},
                                     {"i64", T_LONGLONG, offsetof(Cell, words), READONLY, "the first eight bytes"},
                                     {"f64", T_DOUBLE, offsetof(Cell, words), READONLY, "the first eight bytes"},
                                     {NULL, 0, 0, 0, NULL}};
static void cell_dealloc(Cell* cell) {
  PyTypeObject* type = Py_TYPE((PyObject*)cell);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(cell);
  Py_DECREF(type);
}
static PyType_Slot cell_slots[] = {{Py_tp_new, (void*)PyType_GenericNew},
                                   {Py_tp_dealloc, (void*)cell_dealloc},
                                   {Py_tp_methods, cell_methods},
                                   {Py_tp_members, cell_members},
                                   {0, NULL}};
static PyType_Spec cell_spec = {"gpumem._gpumem.Cell", sizeof(Cell), 0, Py_TPFLAGS_DEFAULT, cell_slots};

void* cell_address(PyObject* cell) { return ((Cell*)cell)->words; }

int cell_add_types(PyObject* module) {
  cell_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &cell_spec, NULL);
  return cell_type ? PyModule_AddType(module, cell_type) : -1;
}
