/* The calls of the library: it is opened at run time, arguments are converted, statuses become exceptions. */
#include "module.h"

#include <dlfcn.h>
#include <string.h>

static PyObject* failure; /* the Python function that makes an exception of a status and a sentence */
static void* library;

bool check_count(const char* function, Py_ssize_t expected, Py_ssize_t given) {
  if (expected == given) return true;
  PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, and %zd were given", function, expected, given);
  return false;
}

bool to_pointer(PyObject* object, void** value) {
  PyTypeObject* type = Py_TYPE(object);
  if (Py_IsNone(object)) {
    *value = NULL;
  } else if (type == cell_type) {
    *value = cell_address(object);
  } else if (type == view_type || PyType_IsSubtype(type, view_type)) {
    *value = ((View*)object)->address;
  } else if (PyLong_Check(object)) {
    *value = PyLong_AsVoidPtr(object);
    return *value || !PyErr_Occurred();
  } else {
    PyErr_SetString(PyExc_TypeError, "a pointer is None, an address, a View or a Cell");
    return false;
  }
  return true;
}

bool to_string(PyObject* object, const char** value) {
  Py_ssize_t length = 0;
  char* bytes = NULL; /* a path's, in the encoding of file names */
  if (Py_IsNone(object)) {
    *value = NULL;
    return true;
  }
  if (!PyBytes_Check(object)) {
    *value = PyUnicode_AsUTF8AndSize(object, &length);
  } else {
    *value = PyBytes_AsStringAndSize(object, &bytes, &length) == 0 ? bytes : NULL;
  }
  if (*value && strlen(*value) != (size_t)length) {
    *value = NULL;
    PyErr_SetString(PyExc_ValueError, "embedded null character");
  }
  return *value != NULL;
}

bool to_int64(PyObject* object, int64_t* value) {
  *value = PyLong_AsLongLong(object);
  return *value != -1 || !PyErr_Occurred();
}

bool to_int32(PyObject* object, int32_t* value) {
  int64_t wide;
  if (!to_int64(object, &wide)) return false;
  *value = (int32_t)wide;
  if (*value == wide) return true;
  PyErr_Format(PyExc_OverflowError, "%lld does not fit 32 bits", (long long)wide);
  return false;
}

bool to_double(PyObject* object, double* value) {
  *value = PyFloat_AsDouble(object);
  return *value != -1 || !PyErr_Occurred();
}

bool to_float(PyObject* object, float* value) {
  double wide;
  if (!to_double(object, &wide)) return false;
  *value = (float)wide;
  return true;
}

PyObject* from_pointer(const void* p) { return p ? PyLong_FromVoidPtr((void*)p) : Py_NewRef(Py_None); }
PyObject* from_string(const char* text) { return PyUnicode_FromString(text); }

PyObject* from_result(int32_t dtype, const void* result) {
  if (dtype >= GPUMEM_F16) {
    double value;
    memcpy(&value, result, sizeof value);
    return PyFloat_FromDouble(value);
  }
  int64_t value;
  memcpy(&value, result, sizeof value);
  return dtype % 2 == 0 ? PyLong_FromLongLong(value) : PyLong_FromUnsignedLongLong((uint64_t)value);
}

PyObject* raise_status(gpumem_status status) {
  char sentence[2048] = "";
  library_last_error(sentence, sizeof sentence, NULL);
  return raise_sentence(status, sentence);
}

PyObject* raise_sentence(gpumem_status status, const char* sentence) {
  PyObject* exception =
      failure ? PyObject_CallFunction(failure, "iN", (int)status,
                                      PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace"))
              : NULL;
  if (exception) {
    PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  } else if (!PyErr_Occurred()) {
    PyErr_Format(PyExc_RuntimeError, "status %d: %s", (int)status, sentence);
  }
  return NULL;
}

PyObject* set_failure(PyObject* module, PyObject* callable) {
  (void)module;
  Py_XDECREF(failure);
  failure = Py_NewRef(callable);
  Py_RETURN_NONE;
}

/* load_library(path): opens the library, once, and looks up every function. OSError with the loader's sentence. */
PyObject* load_library(PyObject* module, PyObject* path) {
  (void)module;
  const char* name = PyUnicode_AsUTF8AndSize(path, NULL);
  if (!name) return NULL;
  void* opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!opened) return PyErr_Format(PyExc_OSError, "%s", dlerror());
  for (const Symbol* symbol = symbols; symbol->name; ++symbol) {
    *symbol->address = dlsym(opened, symbol->name);
    if (!*symbol->address) {
      dlclose(opened);
      return PyErr_Format(PyExc_OSError, "%s has no function %s: it is older than this package", name, symbol->name);
    }
  }
  library = opened;
  Py_RETURN_NONE;
}

PyObject* function_address(PyObject* module, PyObject* name) {
  (void)module;
  const char* text = PyUnicode_AsUTF8AndSize(name, NULL);
  if (!text) return NULL;
  return PyLong_FromVoidPtr(dlsym(library, text));
}

#include "calls.inc"
