"""What the operations share: calls of the library, and the memory of their results."""

import array
import math
import sys

from . import _gpumem as raw
from .array import Array
from .errors import Error
from .layout import contiguous, described, element_name, numbers_of, operand, same_elements, with_axes
from .names import DEVICE_HOST, Dtype, Kind
from .streams import stream_handle
from .words import CODES, NAMES, REDUCE_OPS, TYPESTRS

PAGEABLE = int(Kind.PAGEABLE)
KIND_CODES = {word: int(kind) for kind in Kind for word in (kind, kind.name.lower())}
OP_CODES = {word: int(op) for op in REDUCE_OPS for word in (op, op.name.lower())}


def room_of_numpy(x, shape, element=None):
    """A new array by NumPy's allocator, with x's element type by default. None if x is not an array of NumPy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(x, numpy.ndarray):
        return None
    return numpy.empty(shape, x.dtype if element is None else element)


def numbers(letter, values):
    return raw.view(array.array(letter, values))


def pointers(views):
    """Addresses of Views, and 0 for None, as an argument of a function."""
    return numbers("Q", [0 if view is None else view.address or 0 for view in views])


def joined(strides):
    """The strides of several Views, one after another, as an argument of a function."""
    return numbers("q", [s for own in strides for s in own])


raw.set_names(OP_CODES, CODES, KIND_CODES)
raw.set_room(room_of_numpy)


class Calls(raw.Base):
    """The base class of the operations."""

    def _run(self, name, stream, args, kept, tail=()):
        """Calls a function, or with a stream its _async form, which also takes `tail`."""
        if stream is None:
            getattr(raw, name)(self.handle, *args)
        else:
            getattr(raw, name + "_async")(self.handle, *args, *tail, stream_handle(stream))
            stream.keep(kept)

    def _room(self, x, like, shape, dtype, stream):
        """Memory for a result, of the kind of the operand x, whose View is `like`. A stream's result for the host is pinned."""
        kind = like.kind_code
        if kind == PAGEABLE and stream is None:
            element = None if dtype == like.dtype_code else TYPESTRS[dtype]
            room = None if element and dtype == Dtype.BF16 else room_of_numpy(x, shape, element)  # NumPy has no bf16 of its own
            return room if room is not None else Array(shape, dtype, itemsize=like.itemsize, format=like.format)
        return self.core.allocate(shape, dtype, int(Kind.PINNED) if kind == PAGEABLE else kind, itemsize=like.itemsize, format=like.format)

    def _moved(self, out, x, of, shape, stream):
        """`out` and its View, for elements of x that are moved. Makes the array if `out` is None."""
        out = self._room(x, of, shape, of.dtype_code, stream) if out is None else out
        to = operand(self, out, "out", stream, write=True)
        if to.shape != shape:
            raise ValueError(f"out has the shape {to.shape}; expected {shape}")
        same_elements(to, of)
        return out, to

    def _out(self, out, x, like, shape, dtype, stream, order=None):
        """`out` and its View, for results of this dtype. Makes the array if `out` is None.

        `order` is the order of the axes in memory if it differs from the order of the indices.
        """
        if out is None:
            out = self._room(x, like, tuple(shape[axis] for axis in order) if order else shape, int(dtype), stream)
            if order:
                indices = [order.index(axis) for axis in range(len(order))]
                out = with_axes(out, indices) if isinstance(out, Array) else out.transpose(indices)
        result = operand(self, out, "out", stream, write=True)
        if result.dtype_code != dtype or result.size != math.prod(shape):
            raise ValueError(f"out has {result.size} elements of {element_name(result)}; expected {math.prod(shape)} "
                             f"of {NAMES[dtype]}")
        if order:
            laid = with_axes(result, order) if result.shape == shape else None
            if laid is None or not laid.contiguous:
                raise ValueError(f"out has the shape {result.shape} and strides of {result.strides} bytes; expected {shape}, its axes in memory in "
                                 f"the order of those of x, {tuple(order)} from the widest: without out, such an array is made")
            result = laid
        contiguous(result, "out")
        return out, result

    def _offsets(self, offsets, stream):
        """The View of the offsets of segments, as i64, and the number of segments."""
        ends = operand(self, offsets, "offsets", stream)
        count = numbers_of(ends, "offsets", *(dtype for dtype in Dtype if dtype <= Dtype.U64))
        if count == 0:
            raise ValueError("offsets is empty; expected one more element than there are segments")
        if ends.dtype_code != Dtype.I64:
            if ends.kind_code == Kind.DEVICE and ends.device != DEVICE_HOST:
                raise ValueError(f"offsets has elements of {element_name(ends)} in device memory; expected i64, as of convert(offsets, \"i64\")")
            ends = operand(self, self.convert(ends, "i64", stream=stream), "offsets", stream)
        return ends, count - 1

    def _status(self, status):
        if status is None:
            return None
        view = operand(self, status, "status", write=True)
        if view.dtype_code != Dtype.I32 or view.size != 1:
            raise ValueError(f"status has {view.size} elements of {element_name(view)}; expected one of i32")
        return view

    def _several(self, name, args, kept, out, status, stream):
        """A reduction to several values. If some are missing, the exception's `result` has the others."""
        try:
            self._run(name, stream, args, kept, (self._status(status),))
        except Error as error:
            error.result = out
            raise
        return out

    @staticmethod
    def _float_name(view):
        if view.dtype_code not in (Dtype.F32, Dtype.F64):
            raise TypeError(f"x has elements of {described(view)}; expected f32 or f64")
        return NAMES[view.dtype_code]
