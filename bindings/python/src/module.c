/* The extension module gpumem._gpumem: memory views, DLPack, callbacks, and each function of gpumem.h under its own name. */
#include "module.h"

static PyMethodDef methods[] = {
    {"load_library", load_library, METH_O, "opens libgpumem.so"},
    {"function_address", function_address, METH_O, "the address of a function of the library"},
    {"set_failure", set_failure, METH_O, "sets the function that makes an exception from a status and a message"},
    {"dlpack_export", (PyCFunction)(void (*)(void))dlpack_export, METH_FASTCALL, "a DLPack capsule of a View"},
    {"dlpack_import", dlpack_import, METH_O, "a View of the tensor in a DLPack capsule"},
    {"part", (PyCFunction)(void (*)(void))view_part, METH_FASTCALL, "a part of an array by indices and slices"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "gpumem._gpumem", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__gpumem(void) {
  if (!is_main_interpreter()) return NULL;
  PyObject* module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (view_add_types(module) == 0 && cell_add_types(module) == 0 && keep_add_types(module) == 0 &&
      memory_add_types(module) == 0 && base_add_types(module) == 0 && exchange_add_functions(module) == 0 &&
      quick_add_functions(module) == 0 && callbacks_add_types(module) == 0 &&
      PyModule_AddFunctions(module, call_methods) == 0)
    return module;
  Py_DECREF(module);
  return NULL;
}
