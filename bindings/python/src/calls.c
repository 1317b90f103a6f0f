/* Opens the library at run time, converts the arguments of its calls, and turns statuses into exceptions. */
#include "module.h"

#include <dlfcn.h>
#include <string.h>

static PyObject* failure; /* the Python function that makes an exception from a status and a message */
static void* library;

bool check_count(const char* function, Py_ssize_t expected, Py_ssize_t given) {
  if (expected == given) return true;
  PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, and %zd were given", function, expected, given);
  return false;
}

/* Replaces Python's exception by one that names the argument. */
static bool refuse(const char* name, PyObject* object, const char* expected) {
  PyObject* kind = NULL;
  if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))
    kind = PyExc_TypeError;
  else if (PyErr_ExceptionMatches(PyExc_OverflowError))
    kind = PyExc_OverflowError;
  if (kind) PyErr_Format(kind, "%s is %.200R; expected %s", name, object, expected);
  return false;
}

bool to_pointer(PyObject* object, void** value, const char* name) {
  PyTypeObject* type = Py_TYPE(object);
  if (Py_IsNone(object)) {
    *value = NULL;
  } else if (type == cell_type) {
    *value = cell_address(object);
  } else if (type == view_type || PyType_IsSubtype(type, view_type)) {
    *value = ((View*)object)->address;
  } else if (PyLong_Check(object)) {
    *value = PyLong_AsVoidPtr(object);
    return *value || !PyErr_Occurred() || refuse(name, object, "an address");
  } else {
    return refuse(name, object, "None, an address, a View or a Cell");
  }
  return true;
}

bool to_string(PyObject* object, const char** value, const char* name) {
  Py_ssize_t length = 0;
  char* bytes = NULL; /* of a path, in the encoding of file names */
  *value = NULL;
  if (Py_IsNone(object)) return true;
  if (PyUnicode_Check(object)) {
    *value = PyUnicode_AsUTF8AndSize(object, &length);
  } else if (PyBytes_Check(object)) {
    *value = PyBytes_AsStringAndSize(object, &bytes, &length) == 0 ? bytes : NULL;
  } else {
    return refuse(name, object, "a string");
  }
  if (*value && strlen(*value) != (size_t)length) {
    *value = NULL;
    PyErr_Format(PyExc_ValueError, "%s is %.200R, with a null character in it", name, object);
  }
  return *value != NULL;
}

bool to_int64(PyObject* object, int64_t* value, const char* name) {
  *value = PyLong_AsLongLong(object);
  return *value != -1 || !PyErr_Occurred() || refuse(name, object, "an integer of 64 bits");
}

bool to_int32(PyObject* object, int32_t* value, const char* name) {
  int64_t wide;
  if (!to_int64(object, &wide, name)) return false;
  *value = (int32_t)wide;
  if (*value == wide) return true;
  PyErr_Format(PyExc_OverflowError, "%s is %lld; expected an integer of 32 bits", name, (long long)wide);
  return false;
}

bool to_double(PyObject* object, double* value, const char* name) {
  *value = PyFloat_AsDouble(object);
  return *value != -1 || !PyErr_Occurred() || refuse(name, object, "a number");
}

bool to_float(PyObject* object, float* value, const char* name) {
  double wide;
  if (!to_double(object, &wide, name)) return false;
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

bool is_main_interpreter(void) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(PyExc_ImportError,
                  "only the main interpreter of a process can import gpumem, and this is a subinterpreter");
  return false;
}

/* load_library(path): opens the library once, and finds every function. Raises OSError with the loader's message. Other
 * interpreters get a module of the main interpreter without its initialization. They are refused here. */
PyObject* load_library(PyObject* module, PyObject* path) {
  (void)module;
  const char* name = is_main_interpreter() ? PyUnicode_AsUTF8AndSize(path, NULL) : NULL;
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
