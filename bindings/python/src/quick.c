/* Takes the operands of the fast paths. */
#include "quick.h"

#include <math.h>
#include <string.h>

static PyObject* room; /* room(x, shape, element=None): an array like x for a result, or None */
static PyObject *name_core, *name_device, *name_follows, *name_room, *name_singles, *name_stream;

static PyObject* set_room(PyObject* module, PyObject* callable) {
  (void)module;
  Py_XDECREF(room);
  room = Py_NewRef(callable);
  Py_RETURN_NONE;
}

bool operands_begin(Operands* all, PyObject* context, PyObject* stream) {
  all->count = 0, all->made = NULL, all->producer = NULL, all->lender = NULL, all->queue = NULL, all->deferred = NULL,
  all->context = context;
  all->stream = Py_IsNone(stream) ? NULL : stream;
  if (all->stream && !queue_of(stream, &all->queue)) return false;
  all->handle = all->with_core = base_handle(context);
  if (!all->handle) return false;
  if (to_pointer(all->handle, &all->ctx, "ctx")) return true;
  PyErr_Clear();
  Py_DECREF(all->handle);
  return false;
}

/* Clears an exception that the general path raises again. Others, such as KeyboardInterrupt, end the call. */
static void forget_exception(void) {
  if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
}

static bool may_have_mask(PyTypeObject* type) {
  PyObject* mask = PyObject_GetAttrString((PyObject*)type, "mask");
  const bool may = mask || !PyErr_ExceptionMatches(PyExc_AttributeError);
  PyErr_Clear();
  Py_XDECREF(mask);
  return may;
}

/* A member of the context's core. NULL without an exception if there is none. */
static PyObject* of_core(const Operands* all, PyObject* name) {
  PyObject *core = PyObject_GetAttr(all->with_core, name_core), *value = core ? PyObject_GetAttr(core, name) : NULL;
  PyErr_Clear();
  Py_XDECREF(core);
  return value;
}

/* True for the device of the context. It can wait for streams of that device only. */
static bool is_own_device(const Operands* all, int32_t device) {
  PyObject* own = of_core(all, name_device);
  const bool is_own = own && PyLong_AsLong(own) == device;
  PyErr_Clear();
  Py_XDECREF(own);
  return is_own;
}

/* Takes an array by __dlpack__(). The first array of a library and a device orders the stream for the others, too. */
static bool take_by_method(Operands* all, View* view, PyObject* x) {
  const bool waits = all->lender == Py_TYPE(x);
  const bool taken = exchange_take_by_method(view, x, all->ctx, all->queue, waits);
  forget_exception();
  if (taken && waits && view->device != all->lender_device) {
    dlpack_release(view);
    return false;
  }
  if (taken && is_on_gpu(view)) all->lender = Py_TYPE(x), all->lender_device = view->device;
  return taken;
}

/* Takes a buffer, or an array of a GPU by DLPack, into a zeroed View. CuPy's arrays have a buffer, which they refuse. */
static bool take_memory(Operands* all, View* view, PyObject* x) {
  PyTypeObject* type = Py_TYPE(x);
  const bool is_class_of_python = PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE;
  if (is_class_of_python && exchange_has_method(x)) return take_by_method(all, view, x);
  if (!PyObject_CheckBuffer(x)) {
    const Exchange* of = exchange_take(view, x);
    if (!of || !is_on_gpu(view)) return of != NULL;
    if (!all->producer && !is_own_device(all, view->device)) return false;
    const bool is_other = all->producer && (all->producer != of || all->producer_device != view->device);
    all->producer = of, all->producer_device = view->device;
    return !is_other;
  }
  if (is_class_of_python && may_have_mask(type)) return false; /* masked arrays are such classes */
  if (view_take_buffer(view, x)) return true;
  PyErr_Clear();
  return false;
}

PyObject* operands_view(Operands* all, PyObject* x) {
  if (PyType_IsSubtype(Py_TYPE(x), view_type)) return Py_NewRef(x);
  View* view = view_new(view_type);
  if (view && !take_memory(all, view, x)) Py_CLEAR(view);
  forget_exception();
  return (PyObject*)view;
}

static bool take_any(Operands* all, PyObject* x, View* view, PyObject** object) {
  if (!all->stream && !PyType_IsSubtype(Py_TYPE(x), view_type)) {
    *view = (View){.device = GPUMEM_DEVICE_HOST};
    return take_memory(all, view, x);
  }
  *object = operands_view(all, x); /* for the stream to keep */
  if (!*object) return false;
  *view = *(const View*)*object;
  view->buffer.obj = NULL, view->managed = NULL;
  return true;
}

const View* operands_take(Operands* all, PyObject* x, int flags) {
  if (all->count == MAX_OPERANDS) return NULL;
  View* view = &all->views[all->count];
  PyObject** object = &all->objects[all->count++];
  view->buffer.obj = NULL, view->managed = NULL, *object = NULL;
  if (!take_any(all, x, view, object) || ((flags & WRITE) && view->readonly)) return NULL;
  return view->dtype >= 0 || ((flags & WITH_BOOL) && view_is_bool(view)) ? view : NULL;
}

bool is_number(PyObject* x) { return PyFloat_Check(x) || PyLong_Check(x); }

/* Finds an element that the stream keeps. The key is that of Elementwise._single(). NULL if there is none. */
static PyObject* find_single(const Operands* all, int32_t dtype, int32_t kind, const int64_t* pattern) {
  if (kind == GPUMEM_MEMORY_PAGEABLE && all->stream) kind = GPUMEM_MEMORY_PINNED;
  PyObject* stream = all->stream ? Py_NewRef(all->stream) : PyObject_GetAttr(all->context, name_stream);
  PyObject* singles = stream ? PyObject_GetAttr(stream, name_singles) : NULL;
  PyObject* key = singles ? Py_BuildValue("iisy#i", (int)kind, (int)dtype, "", (const char*)pattern,
                                          (Py_ssize_t)dtype_sizes[dtype], !all->stream)
                          : NULL;
  PyObject* single = key ? Py_XNewRef(PyDict_GetItemWithError(singles, key)) : NULL;
  forget_exception();
  Py_XDECREF(stream);
  Py_XDECREF(singles);
  Py_XDECREF(key);
  return single;
}

/* The host's elements are on the stack. Others are elements that the stream keeps for its next calls. */
const View* operands_take_number(Operands* all, PyObject* x, int32_t dtype, const View* like) {
  if (!is_number(x)) return operands_take(all, x, READ);
  const bool on_stack = !all->stream && !is_on_gpu(like) && all->count <= 2;
  int64_t* number = &all->numbers[all->count % 2];
  const bool has_pattern = to_pattern(dtype, x, number);
  if (on_stack && has_pattern) {
    View* view = &all->views[all->count];
    *view = (View){.device = GPUMEM_DEVICE_HOST, .address = (char*)number};
    view_set_dtype(view, dtype);
    all->objects[all->count++] = NULL;
    return view;
  }
  PyObject* single = has_pattern ? find_single(all, dtype, like->kind, number) : NULL;
  if (!single && !PyErr_Occurred())
    single = PyObject_CallMethod(all->context, "_single", "OiiO", x, (int)dtype, (int)like->kind,
                                 all->stream ? all->stream : Py_None);
  forget_exception();
  const View* view = single ? operands_take(all, single, READ) : NULL;
  Py_XDECREF(single);
  return view;
}

/* A View like this one for the general path, without the memory. */
static PyObject* shadow_of(const View* view) {
  View* shadow = view_new(view_type);
  if (!shadow) return NULL;
  shadow->kind = view->kind, shadow->device = view->device, shadow->dtype = view->dtype;
  shadow->itemsize = view->itemsize;
  memcpy(shadow->format, view->format, FORMAT_BYTES);
  return (PyObject*)shadow;
}

/* The same in pageable memory: an array of NumPy if x is one. */
static PyObject* new_pageable(const Operands* all, PyObject* x, const View* like, PyObject* shape, int32_t dtype) {
  static const char* const numpy_names[] = {"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", NULL, "f4", "f8"};
  const bool alike = dtype == like->dtype;
  PyObject* made = NULL;
  if (PyObject_CheckBuffer(x) && (alike || (dtype >= 0 && numpy_names[dtype]))) {
    PyObject* element = alike ? NULL : PyUnicode_FromString(numpy_names[dtype]);
    if (alike || element) made = PyObject_CallFunctionObjArgs(room, x, shape, element, NULL);
    Py_XDECREF(element);
  }
  if (PyErr_Occurred() || (made && !Py_IsNone(made))) return made;
  PyObject *shadow = shadow_of(like), *code = PyLong_FromLong(dtype);
  Py_XDECREF(made);
  made = shadow && code ? PyObject_CallMethodObjArgs(all->context, name_room, x, shadow, shape, code, Py_None, NULL)
                        : NULL;
  Py_XDECREF(shadow);
  Py_XDECREF(code);
  return made;
}

static PyObject* new_allocation(const Operands* all, const View* like, PyObject* shape, int32_t dtype) {
  const int32_t kind = like->kind == GPUMEM_MEMORY_PAGEABLE ? GPUMEM_MEMORY_PINNED : like->kind;
  const ArrayForm form = {shape, like->format, like->itemsize, dtype, kind};
  PyObject* core = PyObject_GetAttr(all->with_core, name_core);
  PyObject* made = core ? memory_array(core, &form, NULL, 1) : NULL;
  Py_XDECREF(core);
  return made;
}

/* A new array like x, as Calls._room() makes it. NULL if the general path must make it, or with an exception that
 * ends the call. */
static PyObject* new_array(const Operands* all, PyObject* x, const View* like, const int64_t* shape, int32_t ndim,
                           int32_t dtype) {
  const bool is_pageable = like->kind == GPUMEM_MEMORY_PAGEABLE && !all->stream;
  PyObject *extents = tuple_of(shape, ndim), *made = NULL;
  if (extents)
    made = is_pageable ? new_pageable(all, x, like, extents, dtype) : new_allocation(all, like, extents, dtype);
  Py_XDECREF(extents);
  if (is_pageable || (!made && is_of_arguments())) forget_exception();
  return made;
}

const View* operands_take_result(Operands* all, PyObject* out, PyObject* x, int like, const int64_t* shape,
                                 int32_t ndim, int32_t dtype, int flags) {
  if (!Py_IsNone(out)) return operands_take(all, out, flags | WRITE);
  all->made = new_array(all, x, &all->views[like], shape, ndim, dtype);
  return all->made ? operands_take(all, all->made, flags | WRITE) : NULL;
}

const View* operands_take_values(Operands* all, PyObject* out, PyObject* x, const int64_t* shape, int32_t ndim,
                                 int32_t dtype) {
  const View* to = operands_take_result(all, out, x, 0, shape, ndim, dtype, 0);
  int64_t size = 1;
  for (int32_t axis = 0; axis < ndim; ++axis) size *= shape[axis];
  return to && to->dtype == dtype && view_size(to) == size && view_is_contiguous(to) ? to : NULL;
}

bool operands_take_status(Operands* all, PyObject* x) {
  if (Py_IsNone(x)) return true;
  const View* view = operands_take(all, x, WRITE);
  if (!view || view->dtype != GPUMEM_I32 || view_size(view) != 1) return false;
  all->deferred = (gpumem_status*)view->address;
  return true;
}

bool operands_order(const Operands* all) {
  if (!all->producer) return true;
  PyObject* follows = all->queue ? NULL : of_core(all, name_follows);
  const bool follows_legacy = follows && Py_IsTrue(follows);
  Py_XDECREF(follows);
  return exchange_order(all->ctx, all->queue, all->producer, all->producer_device, follows_legacy);
}

PyObject* operands_end(Operands* all, PyObject* result) {
  /* The owner of a buffer may run Python code when it is released. An exception may be pending. */
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  for (int i = 0; i < all->count; ++i) {
    if (all->views[i].buffer.obj) PyBuffer_Release(&all->views[i].buffer);
    if (all->views[i].managed) dlpack_release(&all->views[i]);
    Py_XDECREF(all->objects[i]);
  }
  Py_XDECREF(all->made);
  Py_DECREF(all->handle);
  PyErr_Restore(kind, value, trace);
  return result;
}

PyObject* operands_leave(Operands* all) { return operands_end(all, PyErr_Occurred() ? NULL : Py_NewRef(Py_None)); }

/* The stream keeps the operands until it has passed the call. */
static bool keep(const Operands* all) {
  PyObject* kept = PyTuple_New(all->count);
  for (int i = 0; kept && i < all->count; ++i) PyTuple_SetItem(kept, i, Py_NewRef(all->objects[i]));
  const bool good = kept && keep_on(all->stream, kept);
  Py_XDECREF(kept);
  return good;
}

PyObject* operands_end_with(Operands* all, gpumem_status status, PyObject* out) {
  if (status != GPUMEM_OK) return operands_end(all, raise_status(status));
  if (all->stream && !keep(all)) return operands_end(all, NULL);
  return operands_end(all, Py_NewRef(all->made ? all->made : out));
}

PyObject* operands_end_several(Operands* all, gpumem_status status, PyObject* out) {
  if (status == GPUMEM_OK) return operands_end_with(all, status, out);
  PyObject *kind, *value, *trace;
  raise_status(status);
  PyErr_Fetch(&kind, &value, &trace);
  if (value && PyObject_SetAttrString(value, "result", all->made ? all->made : out) != 0) PyErr_Clear();
  PyErr_Restore(kind, value, trace);
  return operands_end(all, NULL);
}

bool is_of_shape(const View* view, const int64_t* shape, int32_t ndim) {
  return view->ndim == ndim && memcmp(view->shape, shape, (size_t)ndim * sizeof *shape) == 0;
}

bool same_shape(const View* a, const View* b) { return is_of_shape(a, b->shape, b->ndim); }

bool whole_strides(const View* view, int64_t* strides) {
  for (int32_t axis = 0; axis < view->ndim; ++axis) {
    const int64_t stride = view->strides[axis];
    if (view->shape[axis] > 1 && (stride < 0 || stride % view->itemsize != 0)) return false;
    strides[axis] = stride > 0 ? stride / view->itemsize : 0;
  }
  return true;
}

bool to_pattern(int32_t dtype, PyObject* object, void* pattern) {
  double real;
  if (dtype == GPUMEM_F32 || dtype == GPUMEM_F64) {
    if (!(PyFloat_Check(object) || PyLong_Check(object)) || !to_number(object, &real)) return false;
    const float narrow = (float)real;
    const bool is_wide = dtype == GPUMEM_F64;
    memcpy(pattern, is_wide ? (void*)&real : (void*)&narrow, is_wide ? sizeof real : sizeof narrow);
    return is_wide || isinf(real) || !isinf(narrow);
  }
  if (dtype > GPUMEM_U64 || !PyLong_Check(object)) return false;
  int overflow;
  const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  const int64_t bits = 8 * dtype_sizes[dtype];
  const bool is_unsigned = dtype % 2 != 0;
  if (overflow || (is_unsigned && value < 0)) return false;
  const int64_t rest = bits == 64 ? 0 : is_unsigned ? value >> bits : (value >> (bits - 1)) + (value < 0);
  memcpy(pattern, &value, (size_t)dtype_sizes[dtype]); /* little-endian, like all supported platforms */
  return rest == 0;
}

bool to_number(PyObject* object, double* value) {
  const bool is_class_of_python = PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HEAPTYPE;
  /* An array without axes counts as a sequence, and may hold Python objects. */
  if (!PyFloat_Check(object) && (is_class_of_python || PySequence_Check(object))) return false;
  if (to_double(object, value, "number")) return true;
  PyErr_Clear(); /* too large */
  return false;
}

/* operand(context, x, stream): a View of an operand. None if it must be taken in another way, or is refused. The context may be
 * any object with a core. */
static PyObject* operand(PyObject* module, PyObject* const* args, Py_ssize_t given) {
  (void)module;
  if (!check_count("operand", 3, given)) return NULL;
  Operands all;
  all.ctx = NULL, all.queue = NULL, all.producer = NULL, all.lender = NULL, all.context = all.with_core = args[0];
  if (!Py_IsNone(args[2]) && !queue_of(args[2], &all.queue)) Py_RETURN_NONE;
  PyObject* core = PyObject_GetAttr(args[0], name_core); /* held, because another thread may close the context */
  PyObject* handle = core ? PyObject_GetAttrString(core, "handle") : NULL;
  if (handle) to_pointer(handle, &all.ctx, "ctx");
  PyErr_Clear();
  PyObject* object = operands_view(&all, args[1]);
  const View* view = (const View*)object;
  const bool is_known = object && (view->dtype >= 0 || view_is_bool(view)) && (!all.producer || all.ctx);
  if (!is_known || !operands_order(&all)) Py_CLEAR(object);
  Py_XDECREF(handle);
  Py_XDECREF(core);
  return object || PyErr_Occurred() ? object : Py_NewRef(Py_None);
}

static PyMethodDef quick_functions[] = {{"operand", (PyCFunction)(void (*)(void))operand, METH_FASTCALL, "a View"},
                                        {"set_room", set_room, METH_O, "what makes an array like x for a result"},
                                        {NULL, NULL, 0, NULL}};

int quick_add_functions(PyObject* module) {
  PyMethodDef* const tables[] = {quick_functions, quick_reductions,  quick_moves,   quick_arithmetic,
                                 quick_boxes,     quick_elementwise, quick_ordered, quick_rows};
  name_core = PyUnicode_InternFromString("core");
  name_device = PyUnicode_InternFromString("device");
  name_follows = PyUnicode_InternFromString("follows_legacy");
  name_room = PyUnicode_InternFromString("_room");
  name_singles = PyUnicode_InternFromString("_singles");
  name_stream = PyUnicode_InternFromString("stream");
  if (!name_core || !name_device || !name_follows || !name_room || !name_singles || !name_stream) return -1;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
    if (PyModule_AddFunctions(module, tables[i]) != 0) return -1;
  return 0;
}
