"""Arrays: memory of any kind with a shape, for the array protocols of other libraries."""

import contextlib
import math
import operator
import os
import queue
import re
import reprlib
import struct
import sys
import threading
import weakref

from . import _gpumem as raw
from .arithmetic import Arithmetic
from .names import DEVICE_HOST, Dtype, Kind
from .words import FORMATS, NAMES, TYPESTRS, element_of, integers

DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED = 1, 2, 3, 13
MOST_SHOWN = 64  # elements in repr()
LEGACY_STREAM = 1  # the legacy default stream, in DLPack and in __cuda_array_interface__


left = queue.SimpleQueue()
enders = {}  # the thread for deferred work, by process: a child does not inherit the thread


def end(work, callbacks_under_way=raw.callbacks_under_way, leave=left.put):
    """Calls work(), which may wait for a callback.

    The collector can call this in a thread that such a callback waits for. During callbacks, another thread calls work().
    """
    if callbacks_under_way():
        leave(work)
    else:
        work()


def end_left():
    while True:
        work = left.get()
        try:
            work()
        except Exception:
            sys.excepthook(*sys.exc_info())
        del work


def expect_callbacks(process=os.getpid):
    """Starts the thread for deferred work. Call this before you give the library a callback."""
    thread = threading.Thread(target=end_left, name="gpumem", daemon=True)
    if enders.setdefault(process(), thread) is thread:  # only one of several concurrent callers starts it
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or no more threads are available: deferred work is lost
            del enders[process()]


class Owned:
    """An object that keeps its core alive, in whatever order Python collects them. It can't be copied."""

    __slots__ = ()

    def _needs(self, core):
        self.core = core
        core.users.add(id(self))

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


class Memory(raw.Allocation):
    """An allocation of a context. It is freed with its last array, in the order of the streams that used it."""

    __slots__ = ()
    __reduce__ = Owned.__reduce__

    def used_on(self, stream):
        self.streams[id(stream)] = (weakref.ref(stream),)

    def running(self):
        """The streams that may have unfinished work on it."""
        return [stream for (of,) in list(self.streams.values()) if (stream := of()) is not None]

    def synchronize(self):
        for key, use in list(self.streams.items()):
            stream = use[0]()
            if stream is not None:
                stream.synchronize()
            last = self.streams.pop(key, use)
            if last is not use:  # another thread recorded it after the wait
                self.streams.setdefault(key, last)


def free_later(core, address, kind, exported, end=end, device=int(Kind.DEVICE), free=raw.gpumem_free, free_async=raw.gpumem_free_async):
    """Frees the memory of an allocation that has ended, after the callbacks, and on the legacy default stream if it was exported."""

    def work():
        if core.is_forked():
            return
        if kind == device:
            free_async(core.handle, address, core.legacy_stream() if exported and core.cuda else None)
        else:
            free(core.handle, address)

    end(work)


raw.set_memory(Memory, free_later)


def shape_of(shape):
    """The extents: `shape` is an integer or a sequence of integers."""
    if type(shape) is tuple:  # most often, and an exception takes time
        return integers(shape, "the shape", "an integer, or several")
    try:
        return (operator.index(shape),)
    except TypeError:
        return integers(shape, "the shape", "an integer, or several")


def half_number(bits):
    return struct.unpack("<e", struct.pack("<H", bits))[0]


def bf16_number(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def each(convert, numbers):
    return [each(convert, part) for part in numbers] if isinstance(numbers, list) else convert(numbers)


CONVERSIONS = {Dtype.F16: half_number, Dtype.BF16: bf16_number}  # of types that a memoryview does not read


def owner_of(view):
    """The owner for another view of the same memory. A chain of owners would be freed by deep recursion."""
    return view.owner if type(view) is Array and view.owner is not None else view


class Array(Arithmetic, raw.View):
    """An array in memory of any kind. NumPy, PyTorch and CuPy use it without a copy if they can access the memory."""

    __slots__ = ()

    @property
    def dtype(self):
        """The name of the element type. For elements that can only be moved, "bool" or their format."""
        return NAMES[self.dtype_code] if self.dtype_code >= 0 else "bool" if self.format == "?" else self.format

    @property
    def kind(self):
        return Kind(self.kind_code)

    @property
    def nbytes(self):
        return self.size * self.itemsize

    memory = property(raw.memory_of, doc="The allocation of this array. None if the memory does not belong to a context.")

    def __repr__(self):
        """Also shows the elements of a short array, if no stream may work on them."""
        memory, elements = self.memory, ""
        if self.size <= MOST_SHOWN and not (memory and memory.running()):
            with contextlib.suppress(Exception):  # memory of a broken device, or elements that are not numbers
                elements = f": {reprlib.repr(self.tolist())}"
        return f"<gpumem.Array {self.dtype} {self.shape} in {self.kind.name.lower()} memory{elements}>"

    def __len__(self):
        if not self.ndim:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def _part(self, address, shape, strides, element=None):
        dtype, itemsize, format = element or (self.dtype_code, self.itemsize, self.format)
        return Array(shape, dtype, address=address, strides=strides, readonly=self.readonly, kind=self.kind_code,
                     device=self.device, owner=owner_of(self), itemsize=itemsize, format=format)

    # An array of one element acts as a number, after the work on it. Otherwise int() and float() would parse its bytes as text.

    def _number(self):
        if self.size != 1:
            raise TypeError(f"an array of {self.size} elements is not a number; expected one element, or any(), all(), tolist() or numpy()")
        return self.item()

    def __bool__(self):
        return bool(self._number())

    def __int__(self):
        return int(self._number())

    def __float__(self):
        return float(self._number())

    def __complex__(self):
        return complex(self._number())

    def __index__(self):
        if self.ndim:
            raise TypeError("only an array without axes is an index")
        return operator.index(self._number())

    def __round__(self, digits=None):
        return round(self._number(), digits)

    def __format__(self, words):
        return format(self._number(), words) if words else repr(self)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key):
        return raw.part(self, key)

    @property
    def T(self):
        """The array with its axes in reverse order, as a view."""
        return self._part(self.address, self.shape[::-1], self.strides[::-1])

    def reshape(self, *shape):
        shape = shape_of(shape[0] if len(shape) == 1 else shape)
        if not self.contiguous:
            raise ValueError("elements with padding, or in another order than that of the axes, can't be reshaped in place: reshape the copy()")
        if -1 in shape:
            rest = math.prod(extent for extent in shape if extent != -1)
            shape = tuple(self.size // rest if extent == -1 and rest else extent for extent in shape)
        if math.prod(shape) != self.size or min(shape, default=0) < 0:
            raise ValueError(f"{self.size} elements do not fit the shape {shape}")
        return self._part(self.address, shape, None)

    def view(self, dtype):
        """The same bytes as elements of another type, for example bf16 as u16."""
        element = element_of(dtype)
        itemsize = element[1]
        if self.itemsize == itemsize:
            return self._part(self.address, self.shape, self.strides, element)
        if not self.contiguous or not self.ndim or self.shape[-1] * self.itemsize % itemsize:
            raise ValueError(f"an array of {self.shape} of {self.dtype} can't be seen as {NAMES[element[0]] if element[0] >= 0 else 'bool'}")
        shape = (*self.shape[:-1], self.shape[-1] * self.itemsize // itemsize)
        return self._part(self.address, shape, None, element)

    # ---------------------------------------------------------------------------------------------------- to the host

    @property
    def on_device(self):
        """True if only a device can access the memory."""
        return self.kind_code == Kind.DEVICE and self.device != DEVICE_HOST

    def _settle(self):
        memory = self.memory
        if memory is not None and memory.streams:
            memory.synchronize()

    def to_host(self):
        """This array if the host can read it, else a copy in pageable memory. Waits for the work on the array."""
        self._settle()
        if not self.on_device:
            return self
        if not self.contiguous:
            return self.copy().to_host()
        host = Array(self.shape, self.dtype_code, itemsize=self.itemsize, format=self.format)
        memory = self.memory
        raw.gpumem_copy(memory.core.handle if memory else raw.gpumem_shared_ctx(self.device), host, self, self.nbytes)
        return host

    def numpy(self):
        """An array of NumPy, without a copy if the host can read the memory."""
        import numpy

        return numpy.asarray(self.to_host())

    def tolist(self):
        if self.dtype_code in CONVERSIONS:
            return each(CONVERSIONS[self.dtype_code], self.view("u16").tolist())
        if self.dtype_code < 0 and self.format != "?":
            raise TypeError(f"elements of format '{self.format}' are not Python numbers; expected .view() of a type, or numpy()")
        return memoryview(self.to_host()).tolist()

    def item(self):
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is not a number")
        return self.reshape(1).tolist()[0]

    # ---------------------------------------------------------------------------------------------- to other libraries

    def _interface(self, **more):
        typestr = TYPESTRS[self.dtype_code] if self.dtype_code >= 0 else "|b1" if self.format == "?" else f"|V{self.itemsize}"
        strides = None if self.contiguous else self.strides
        return {"shape": self.shape, "typestr": typestr, "data": (self.address, self.readonly), "strides": strides,
                "version": 3, **more}

    @property
    def __array_interface__(self):
        if self.on_device:
            raise AttributeError("device memory has no __array_interface__: take to_host()")
        self._settle()
        return self._interface()

    @property
    def __cuda_array_interface__(self):
        if self.device == DEVICE_HOST:
            raise AttributeError("memory of the host has no __cuda_array_interface__")
        memory, stream = self.memory, None
        if memory:
            memory.exported = True
            stream = memory.core.stream_of(memory)
        return self._interface(stream=stream)

    def __dlpack_device__(self):
        """Managed memory counts as device memory, and pinned memory as host memory, because PyTorch accepts these."""
        on_cuda = self.device != DEVICE_HOST and self.kind_code in (Kind.DEVICE, Kind.MANAGED)
        return (DL_CUDA, self.device) if on_cuda else (DL_CPU, 0)

    def _dlpack_devices(self):
        """All devices of DLPack that can describe the memory."""
        natural = self.__dlpack_device__()
        if natural[0] == DL_CUDA and self.kind_code == Kind.MANAGED:
            return natural, (DL_CUDA_MANAGED, self.device), (DL_CPU, 0)
        if self.kind_code == Kind.PINNED:
            return natural, (DL_CUDA_HOST, 0)
        return (natural,)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        device = tuple(map(int, dl_device)) if dl_device is not None else self.__dlpack_device__()
        source, copied = self, bool(copy)
        if device not in self._dlpack_devices():
            if device != (DL_CPU, 0):
                raise BufferError(f"memory of device {self.__dlpack_device__()} can't be exported for {device}")
            if copy is False:
                raise BufferError("device memory can't be exported to the host without a copy")
            copied = True
        versioned = max_version is not None and max_version[0] >= 1
        if self.readonly and not versioned and not copied:
            raise BufferError("the memory is read-only, which DLPack can't say before version 1.0")
        if copied:
            source = self._copy_for(device)
        elif device[0] == DL_CUDA or device[0] == DL_CUDA_MANAGED:
            self._order(stream)
        else:
            self._settle()
        return raw.dlpack_export(source, *device, versioned, copied)

    def _copy_for(self, device):
        if device[0] == DL_CPU:
            host = self.to_host()
            if host is not self:
                return host
            copy = Array(self.shape, self.dtype_code, itemsize=self.itemsize, format=self.format)
            bits = (copy.view("u16"), self.view("u16")) if self.dtype_code == Dtype.BF16 else (copy, self)
            memoryview(bits[0]).cast("B")[:] = memoryview(bits[1]).tobytes()
            return copy
        if not self.memory or not self.contiguous:
            raise BufferError("only device memory of a context, without padding, can be copied for DLPack")
        self._settle()
        copy = self.memory.core.allocate(self.shape, self.dtype_code, self.kind_code, itemsize=self.itemsize, format=self.format)
        raw.gpumem_copy(self.memory.core.handle, copy, self, self.nbytes)
        return copy

    def _order(self, stream):
        """Makes the consumer's CUDA stream wait for the work on the memory."""
        memory = self.memory
        if memory:
            memory.exported = True
            if stream != -1:
                memory.core.order_native_after(memory, LEGACY_STREAM if stream is None else stream)


def element_of_typestr(typestr, source):
    """element_of() for the typestr of an array interface. None if elements are not whole bytes."""
    found = re.match(r"([<>|=]?)([A-Za-z])(\d{1,17})(?!\d)", typestr) if isinstance(typestr, str) else None
    if found is None or found[2] == "t":  # bit fields
        return None
    order, kind, count = found.groups()
    size = int(count) * (4 if kind == "U" else 1)
    swapped = ">" if order == ">" and size > 1 else ""
    if kind == "b" and size == 1:
        return -1, 1, "?"
    if kind == "V" and size == 2 and getattr(getattr(source, "dtype", None), "name", "") == "bfloat16":
        return int(Dtype.BF16), 2, ""
    code = CODES_OF_KINDS.get(kind + count, -1)
    form = FORMATS[code] if code >= 0 else {"c8": "Zf", "c16": "Zd"}.get(kind + count, f"{size}s")
    return -1 if swapped else code, size, swapped + form


CODES_OF_KINDS = {typestr[1:]: code for code, typestr in enumerate(TYPESTRS) if code != Dtype.BF16}


def from_interface(source, interface, kind, device):
    """An Array from the dictionary of __array_interface__ or __cuda_array_interface__."""

    def wrong(what):
        return BufferError(f"the array interface of a {type(source).__name__} {what}")

    if not isinstance(interface, dict):
        raise wrong("is not a dictionary")
    if interface.get("mask") is not None:
        raise wrong("has a mask, which is not supported")
    typestr, data, strides = (interface.get(key) for key in ("typestr", "data", "strides"))
    if "O" in str(typestr)[:2] or "|O" in str(interface.get("descr")):
        raise TypeError(f"the elements of a {type(source).__name__} are Python objects, which can't be moved")
    element = element_of_typestr(typestr, source)
    if element is None:
        raise wrong(f"has the typestr {reprlib.repr(typestr)}, whose elements are not whole bytes")
    if not isinstance(data, tuple) or len(data) != 2 or not isinstance(data[0], int):
        raise wrong("has no address as its data")
    shape = integers(interface.get("shape"), "the shape of an array interface")
    strides = None if strides is None else integers(strides, "strides of an array interface")
    dtype, itemsize, form = element
    return Array(shape, dtype, address=data[0], strides=strides, readonly=bool(data[1]), kind=int(kind), device=device,
                 owner=source, itemsize=itemsize, format=form)  # fmt: skip
