"""The operations of a context on arrays of any library.

With `stream`, they are asynchronous, and the stream keeps the operands until it has passed the operation. Otherwise they
are complete on return. Without `out`, the result is in the same kind of memory as the first operand that has axes. It is an
array of NumPy if that operand is one, else a gpumem.Array.
"""

import array
import math
import sys

from . import _gpumem as raw
from .array import Array, owner_of
from .elementwise import Elementwise, numbers
from .errors import Error
from .layout import (axes_of, axis_of, broadcast, broadcast_shape, collapse, contiguous, described, element_name, first_with_axes, flags,
                     image, indices, is_fortran, leading_dimension, lines, matrix_of_rows, numbers_of, of_one_order, operand, refuse,
                     rows, same_elements, sequence, strides_over, typed, vector, whole_strides, with_axes)
from .names import DEVICE_HOST, Dtype, Kind, Op
from .streams import stream_handle
from .words import CODES, NAMES, REDUCE_OPS, RESULTS, TYPESTRS, arg_code, dtype_code, filter_code, integer, integers, op_code, real, scan_code, unfit

PAGEABLE = int(Kind.PAGEABLE)
POSITIONS = (Dtype.I32, Dtype.U32, Dtype.I64, Dtype.U64)
KIND_CODES = {word: int(kind) for kind in Kind for word in (kind, kind.name.lower())}
OP_CODES = {word: int(op) for op in REDUCE_OPS for word in (op, op.name.lower())}


def room_of_numpy(x, shape, element=None):
    """A new array by NumPy's allocator, with x's element type by default. None if x is not an array of NumPy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(x, numpy.ndarray):
        return None
    return numpy.empty(shape, x.dtype if element is None else element)


def elements_of(view, op=None):
    """How the library reads the elements of x: the suffix of the function's name, and its arguments."""
    found = sequence(view, op)
    if found:
        return "", (view, *found)
    strides = strides_over(view, "x", view.shape)
    return "_view", (view.ndim, numbers("q", view.shape), view, numbers("q", strides))


raw.set_names(OP_CODES, CODES, KIND_CODES)
raw.set_room(room_of_numpy)


def pointers(views):
    """Addresses of Views, and 0 for None, as an argument of a function."""
    return numbers("Q", [0 if view is None else view.address or 0 for view in views])


def joined(strides):
    """The strides of several Views, one after another, as an argument of a function."""
    return numbers("q", [s for own in strides for s in own])


class Operations(Elementwise):
    """The base class of Context."""

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

    # --------------------------------------------------------------------------------------------------------- reduce

    def _reduce(self, x, op="sum", *, axis=None, dtype=None, keepdims=False, out=None, status=None, stream=None):
        """The general case of Base.reduce()."""
        view, op = operand(self, x, "x", stream), op_code(op)
        element = typed(view, "x")
        pairs = (2,) if op == Op.MIN_MAX else ()
        if dtype is None and out is not None:
            given = typed(operand(self, out, "out", stream, write=True), "out")
            dtype = None if given == RESULTS[element] else given
        if axis is not None or dtype is not None or keepdims:
            return self._reduce_axes(x, view, op, axes_of(view, axis), dtype, keepdims, pairs, out, status, stream)
        form, elements = elements_of(view, op)
        if out is None and stream is None:
            cell = raw.Cell()
            self._run(f"gpumem_reduce{form}", None, (element, op, *elements, cell), ())
            return (cell.result(element, 0), cell.result(element, 1)) if pairs else cell.result(element, 0)
        out, result = self._out(out, x, view, pairs, RESULTS[element], stream)
        self._run(f"gpumem_reduce{form}", stream, (element, op, *elements, result), (*elements, result, status),
                  (self._status(status),))  # fmt: skip
        return out

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

    def _reduce_axes(self, x, view, op, axes, dtype, keepdims, pairs, out, status, stream):
        found = lines(view, axes[0]) if len(axes) == 1 and dtype is None and not keepdims else None
        if found:
            return self._reduce_axis(x, view, op, found, pairs, out, status, stream)
        shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(view.shape) if keepdims or axis not in axes)
        code = int(RESULTS[view.dtype_code] if dtype is None else dtype_code(dtype))
        strides = numbers("q", strides_over(view, "x", view.shape))
        out, result = self._out(out, x, view, shape + pairs, code, stream)
        if code == Dtype.F32 and view.dtype_code in (Dtype.F16, Dtype.BF16):
            return self._narrowed(x, view, op, axes, keepdims, shape + pairs, out, status, stream)
        args = (view.dtype_code, op, view.ndim, numbers("q", view.shape), view, strides, sum(1 << axis for axis in axes), result, code)
        return self._several("gpumem_reduce_axes", args, (view, result, status), out, status, stream)

    def _narrowed(self, x, view, op, axes, keepdims, shape, out, status, stream):
        """A reduction of f16 or bf16 to f32: the f64 results, rounded. The library has no such result type."""
        wide = self._room(x, view, shape, int(Dtype.F64), stream)
        try:
            self._reduce(x, op, axis=tuple(axes), dtype="f64", keepdims=keepdims, out=wide, status=status, stream=stream)
        except Error as error:
            error.result = self.convert(wide, out=out)
            raise
        return self.convert(wide, out=out, stream=stream)

    def _reduce_axis(self, x, view, op, found, pairs, out, status, stream):
        of_cols, n_rows, cols, ld, batches, batch_stride, shape, order = found
        if order is not None and pairs:
            order.append(len(order))
        out, result = self._out(out, x, view, shape + pairs, RESULTS[view.dtype_code], stream, order)
        args = (view.dtype_code, op, of_cols, view, n_rows, cols, ld, batches, batch_stride, result)
        return self._several("gpumem_reduce_axis", args, (view, result, status), out, status, stream)

    def _several(self, name, args, kept, out, status, stream):
        """A reduction to several values. If some are missing, the exception's `result` has the others."""
        try:
            self._run(name, stream, args, kept, (self._status(status),))
        except Error as error:
            error.result = out
            raise
        return out

    def reduce_segments(self, x, offsets, op="sum", *, out=None, status=None, stream=None):
        """Reduces each x[offsets[s]:offsets[s + 1]] to one number. x has one axis. The offsets are integers, in device memory i64."""
        op = op_code(op)
        done = raw.quick_reduce_segments(self, stream, op, x, offsets, out, status)
        if done is not None:
            return done
        view, (ends, segments) = operand(self, x, "x", stream), self._offsets(offsets, stream)
        dtype, n = typed(view, "x"), vector(view, "x", "one call per column")
        shape = (segments, 2) if op == Op.MIN_MAX else (segments,)
        out, result = self._out(out, x, view, shape, RESULTS[dtype], stream)
        args = (dtype, op, view, n, ends, segments, result)
        return self._several("gpumem_reduce_segments", args, (view, ends, result, status), out, status, stream)

    def reduce_by_index(self, x, index, bins, op="sum", *, out=None, status=None, stream=None):
        """Reduces the elements of each bin to one number: result[b] is for those with index[i] == b. Without x, counts them.

        If x has more axes, result[b] is the reduction of the rows x[i], element by element. The index is an array of i32, u32,
        i64 or u64 with one axis. A number outside 0 to bins - 1 raises IndexError, and nothing is written.
        """
        op = op_code(op)
        done = raw.quick_reduce_by_index(self, stream, op, x, index, bins, out, status)
        if done is not None:
            return done
        bins = integer(bins, "bins")
        if bins < 0:
            raise ValueError(f"bins is {bins}; expected 0 or more")
        by = operand(self, index, "index", stream)
        n, view, row = indices(by, "index"), by, ()
        if x is not None:
            view = operand(self, x, "x", stream)
            row = view.shape[1:]
            if not row:
                vector(view, "x", "")
            if view.shape[0] != n:
                raise ValueError(f"x has {view.shape[0]} {'rows' if row else 'elements'}, index {n} numbers; expected the same")
        elif op != Op.SUM:
            raise ValueError(f"x is None, which counts elements, but op is {Op(op).name}; expected SUM")
        dtype = Dtype.I64 if x is None else typed(view, "x")
        shape = (bins, *row, 2) if op == Op.MIN_MAX else (bins, *row)
        out, result = self._out(out, index if x is None else x, view, shape, RESULTS[dtype], stream)
        if row:
            args = (int(dtype), op, view, *matrix_of_rows(view, "x"), by.dtype_code, by, result, bins)
            return self._several("gpumem_reduce_rows_by_index", args, (view, by, result, status), out, status, stream)
        args = (int(dtype), op, None if x is None else view, by.dtype_code, by, n, result, bins)
        return self._several("gpumem_reduce_by_index", args, (view, by, result, status), out, status, stream)

    def scan(self, x, op="sum", *, axis=None, exclusive=False, dtype=None, out=None, status=None, stream=None):
        """Element i of the result is the reduction ("sum", "min", "max" or "prod") of the first i + 1 elements in C order.

        If exclusive, it is the reduction of the first i elements. The dtype is that of x, or the default: i64, u64 or f64.
        With an axis, each line along it is scanned, and the result has the shape of x.
        """
        op = scan_code(op)
        code = -1 if dtype is None else dtype_code(dtype)
        done = raw.quick_scan(self, stream, op, x, axis, bool(exclusive), code, out, None, status)
        if done is not None:
            return done
        view = operand(self, x, "x", stream)
        of, code = typed(view, "x"), self._scan_type(view, dtype, out, stream)
        if axis is not None:
            return self._scan_axis(x, view, op, axis_of(view, axis), exclusive, code, out, status, stream)
        n = contiguous(view, "x")
        out, result = self._out(out, x, view, (n,), code, stream)
        self._run("gpumem_scan", stream, (of, op, bool(exclusive), view, n, result, code), (view, result, status),
                  (self._status(status),))  # fmt: skip
        return out

    def _scan_type(self, view, dtype, out, stream):
        if dtype is not None:
            return int(dtype_code(dtype))
        return int(RESULTS[view.dtype_code] if out is None else typed(operand(self, out, "out", stream, write=True), "out"))

    def _scan_axis(self, x, view, op, axis, exclusive, code, out, status, stream):
        out = self._room(x, view, view.shape, code, stream) if out is None else out
        result = operand(self, out, "out", stream, write=True)
        if result.dtype_code != code or result.shape != view.shape:
            raise ValueError(f"out has the shape {result.shape} and elements of {element_name(result)}; expected {view.shape} of {NAMES[code]}")
        strides = [numbers("q", whole_strides(v, name)) for v, name in ((view, "x"), (result, "out"))]
        args = (view.dtype_code, op, bool(exclusive), view.ndim, numbers("q", view.shape), axis, view, strides[0], result, strides[1], code)
        return self._several("gpumem_scan_axis", args, (view, result, status), out, status, stream)

    def scan_segments(self, x, offsets, op="sum", *, exclusive=False, dtype=None, out=None, status=None, stream=None):
        """Scans each x[offsets[s]:offsets[s + 1]], as scan() does. x has one axis. The offsets are integers, in device memory i64.

        The result has one number per element of x. The numbers of elements in no segment are not written.
        """
        op, code = scan_code(op), -1 if dtype is None else dtype_code(dtype)
        done = raw.quick_scan(self, stream, op, x, None, bool(exclusive), code, out, offsets, status)
        if done is not None:
            return done
        view, (ends, segments) = operand(self, x, "x", stream), self._offsets(offsets, stream)
        of, n = typed(view, "x"), vector(view, "x", "scan() with an axis")
        code = self._scan_type(view, dtype, out, stream)
        out, result = self._out(out, x, view, (n,), code, stream)
        args = (of, op, bool(exclusive), view, n, ends, segments, result, code)
        return self._several("gpumem_scan_segments", args, (view, ends, result, status), out, status, stream)

    def argreduce(self, x, op="min", *, axis=None, out=None, status=None, stream=None):
        """The minimum, maximum or largest magnitude ("max_abs") of all elements, and its index in C order.

        numpy.unravel_index() turns the index into one per axis. With a stream, the results are two arrays. With an axis, they
        are an array of values and one of indices along that axis, and `status` may be given with a stream.
        """
        op = arg_code(op)
        if axis is None and status is not None:
            raise ValueError("status is given without an axis; expected an axis, since no other search has a status")
        found = raw.quick_argreduce(self, stream, op, x, axis, out, status)
        if found is not None:
            return found
        view = operand(self, x, "x", stream)
        dtype = typed(view, "x")
        if out is not None and not (isinstance(out, list | tuple) and len(out) == 2):
            raise unfit("out", out, "two arrays, for the value and for the index")
        values, indices = out or (None, None)
        if axis is not None:
            return self._argreduce_axis(x, view, op, axis, values, indices, status, stream)
        form, elements = elements_of(view)
        if stream is None and out is None:
            value, index = raw.Cell(), raw.Cell()
            self._run(f"gpumem_argreduce{form}", None, (dtype, op, *elements, value, index), ())
            return value.result(dtype, 0), index.i64
        values, value = self._out(values, x, view, (), RESULTS[dtype], stream)
        indices, index = self._out(indices, x, view, (), Dtype.I64, stream)
        self._run(f"gpumem_argreduce{form}", stream, (dtype, op, *elements, value, index), (*elements, value, index))
        return values, indices

    def _argreduce_axis(self, x, view, op, axis, values, indices, status, stream):
        found = lines(view, axis)
        if found is None:
            refuse(view, "x", "axes without padding between them, before and after the reduced one")
        of_cols, n_rows, cols, ld, batches, batch_stride, shape, order = found
        values, value = self._out(values, x, view, shape, RESULTS[view.dtype_code], stream, order)
        indices, index = self._out(indices, x, view, shape, Dtype.I64, stream, order)
        args = (view.dtype_code, op, of_cols, view, n_rows, cols, ld, batches, batch_stride, value, index)
        kept = (view, value, index, status)
        return self._several("gpumem_argreduce_axis", args, kept, (values, indices), status, stream)

    def dot(self, x, y, *, order_free=False, out=None, stream=None):
        """The sum of x[i] * y[i], of f32 or f64. If `order_free`, the bits are the same for every order of the elements."""
        found = None if order_free else raw.quick_dot(self, stream, x, y, out)
        if found is not None:
            return found
        a, b = operand(self, x, "x", stream), operand(self, y, "y", stream)
        if a.size != b.size or a.dtype_code != b.dtype_code:
            raise ValueError(f"x has {a.size} elements of {element_name(a)}, y {b.size} of {element_name(b)}; expected the same")
        of_type = self._float_name(a)
        of_x, of_y = sequence(a), sequence(b)
        if of_x and of_y and not order_free:
            return self._float_result(f"gpumem_dot_{of_type}", x, a, (a, b, a.size, of_x[1], of_y[1]), out, stream)
        shape = b.shape if of_x else a.shape
        strides = [numbers("q", strides_over(v, name, shape)) for v, name in ((a, "x"), (b, "y"))]
        args = (len(shape), numbers("q", shape), a, strides[0], b, strides[1])
        if order_free:
            return self._float_result("gpumem_dot_order_free", x, a, (a.dtype_code, *args), out, stream)
        return self._float_result(f"gpumem_dot_view_{of_type}", x, a, args, out, stream)

    def nrm2(self, x, *, out=None, stream=None):
        """The Euclidean norm, of f32 or f64."""
        found = raw.quick_nrm2(self, stream, x, out)
        if found is not None:
            return found
        view = operand(self, x, "x", stream)
        form, elements = elements_of(view)
        of_type = self._float_name(view)
        return self._float_result(f"gpumem_nrm2{form}_{of_type}", x, view, elements, out, stream)

    def _float_result(self, name, x, view, args, out, stream):
        if stream is None and out is None:
            cell = raw.Cell()
            getattr(raw, name)(self.handle, *args, cell)
            return cell.f64
        out, result = self._out(out, x, view, (), Dtype.F64, stream)
        self._run(name, stream, (*args, result), (*args, result))
        return out

    @staticmethod
    def _float_name(view):
        if view.dtype_code not in (Dtype.F32, Dtype.F64):
            raise TypeError(f"x has elements of {described(view)}; expected f32 or f64")
        return NAMES[view.dtype_code]

    # ------------------------------------------------------------------------------------------------------ rearrange

    def transpose(self, src, out=None, *, stream=None):
        """Transposes a matrix, or each matrix of a batch (three axes). out may be src, and the result then has the new shape.

        permute() takes any order of the axes.
        """
        done = raw.quick_transpose(self, stream, src, out)
        if done is not None:
            return done
        of = operand(self, src, "src", stream)
        if of.ndim not in (2, 3):
            raise ValueError(f"src has {of.ndim} axes; expected those of a matrix, or three of a batch")
        *batch, n_rows, cols = of.shape
        shape, ld = (*batch, cols, n_rows), leading_dimension(of)
        if out is not None and out is src:
            if ld is None or of.readonly:
                refuse(of, "src", "rows without padding, one after the other, writable")
            out = Array(shape, of.dtype_code, address=of, kind=of.kind_code, device=of.device, owner=owner_of(of), itemsize=of.itemsize,
                        format=of.format, strides=of.strides if n_rows == cols else None)  # fmt: skip
        out, to = self._moved(out, src, of, shape, stream)
        to_ld = leading_dimension(to)
        if ld is None or to_ld is None:
            self._permute(to, of, (0, 2, 1) if batch else (1, 0), stream)
        elif batch:
            steps = [view.strides[0] // view.itemsize for view in (of, to)]
            args = (of.itemsize, n_rows, cols, of, ld, steps[0], to, to_ld, steps[1], *batch)
            self._run("gpumem_transpose_batched", stream, args, (of, to))
        else:
            self._run("gpumem_transpose", stream, (of.itemsize, n_rows, cols, of, ld, to, to_ld), (of, to))
        return out

    def permute(self, src, order, out=None, *, stream=None):
        """Moves the elements so that axis d of the result is axis order[d] of src, as in numpy.transpose(src, order)."""
        done = raw.quick_permute(self, stream, src, order, out)
        if done is not None:
            return done
        of = operand(self, src, "src", stream)
        order = tuple(axis + of.ndim if axis < 0 else axis for axis in integers(order, "order"))
        if len(order) != of.ndim or not all(0 <= axis < of.ndim for axis in order):
            raise ValueError(f"order is {order}; expected each of the {of.ndim} axes of src once")
        out, to = self._moved(out, src, of, tuple(of.shape[axis] for axis in order), stream)
        self._permute(to, of, order, stream)
        return out

    def _permute(self, to, of, order, stream):
        strides = []
        for view, name in ((of, "src"), (to, "out")):
            strides.append(numbers("q", whole_strides(view, name)))
        args = (of.itemsize, of.ndim, numbers("q", of.shape), numbers("i", order), of, strides[0], to, strides[1])
        self._run("gpumem_permute", stream, args, (of, to))

    def copy_boxes(self, src, dst, *, src_offsets=None, dst_offsets=None, extents=None, stream=None):
        """Copies array k of the list src to array k of the list dst, for all k, in one call.

        Arrays are often parts of larger ones, such as field[1:9, 1:9]. All have one number of axes and one element type.

        With `extents`, src and dst are two arrays, and boxes of src are copied to boxes of dst. The arguments are arrays of
        integers with one row per box: its extents, and the indices of its first element in src and dst, by default 0. A single
        row counts for all boxes. If src or dst has one axis and the boxes have more, it holds boxes without padding. The offsets
        are then one number per box, and by default the boxes are one after the other.
        """
        if extents is not None:
            return self._copy_parts(src, dst, (src_offsets, dst_offsets), extents, stream)
        if src_offsets is not None or dst_offsets is not None:
            raise TypeError("extents is None; expected those of the boxes, because offsets are given")
        src, dst = list(src), list(dst)
        if raw.quick_copy_boxes(self, stream, src, dst):
            return
        if len(src) != len(dst):
            raise ValueError(f"src has {len(src)} arrays and dst {len(dst)}; expected as many")
        of = [operand(self, x, f"src[{k}]", stream) for k, x in enumerate(src)]
        to = [operand(self, x, f"dst[{k}]", stream, True) for k, x in enumerate(dst)]
        first = of[0] if of else None
        for k, (x, y) in enumerate(zip(of, to)):
            if x.shape != y.shape or x.ndim != first.ndim:
                raise ValueError(f"dst[{k}] has the shape {y.shape} and src[{k}] {x.shape}; expected one of {first.ndim} axes")
            same_elements(y, x, f"dst[{k}]")
            same_elements(x, first, f"src[{k}]")
        strides = [[], []]
        for views, name, all_strides in ((of, "src", strides[0]), (to, "dst", strides[1])):
            for k, view in enumerate(views):
                all_strides += whole_strides(view, f"{name}[{k}]")
        addresses = [numbers("Q", [view.address or 0 for view in views]) for views in (of, to)]
        extents = numbers("q", [extent for view in of for extent in view.shape])
        args = (first.itemsize if of else 1, first.ndim if of else 0, len(of), extents, addresses[0],
                numbers("q", strides[0]), addresses[1], numbers("q", strides[1]))  # fmt: skip
        self._run("gpumem_copy_boxes", stream, args, (*of, *to))

    def _copy_parts(self, src, dst, offsets, extents, stream):
        """The case of copy_boxes() with two arrays."""
        views = operand(self, src, "src", stream), operand(self, dst, "dst", stream, True)
        same_elements(views[1], views[0], "dst")
        axes = max(view.ndim for view in views)
        for view, name in zip(views, ("src", "dst")):
            whole_strides(view, name)
            if view.ndim not in (1, axes):
                raise ValueError(f"{name} has {view.ndim} axes; expected 1 or {axes}, as the other array")
            if view.ndim != axes:
                contiguous(view, name)
        tables = [self._table(extents, "extents", axes)]
        for view, values, name in zip(views, offsets, ("src_offsets", "dst_offsets")):
            tables.append(None if values is None else self._table(values, name, view.ndim))
        counts = {count for _, count in filter(None, tables) if count != 1}
        if len(counts) > 1:
            raise ValueError(f"extents and offsets have {' and '.join(map(str, sorted(counts)))} rows; expected as many")
        count = min(counts, default=1)
        tables = [table and (table[0] if table[1] == count else numbers("q", memoryview(table[0]).cast("B").cast("q").tolist() * count))
                  for table in tables]
        boxes = raw.View((count, axes), int(Dtype.I64), address=tables[0], owner=tables[0])
        if stream is not None:
            stream_handle(stream)  # raises if it is not a stream
        raw.copy_parts(self, stream, *views, *tables[1:], boxes)

    def _table(self, values, name, columns):
        """Integers of i64 on the host, row by row, and the number of rows."""
        if isinstance(values, list | tuple):
            nested = bool(values) and hasattr(values[0], "__iter__")
            lines = [integers(row, name, "rows of integers") for row in values] if nested else [integers(values, name, "integers")]
            shape = (len(lines), len(lines[0])) if nested else (len(values),) if values else (0, columns)
            if any(len(line) != len(lines[0]) for line in lines):
                raise ValueError(f"{name} has rows of different lengths")
            view = numbers("q", [number for line in lines for number in line])
        else:
            view = operand(self, values, name)
            shape = view.shape
        if not 0 <= view.dtype_code <= Dtype.U64 or (view.kind_code == Kind.DEVICE and view.device != DEVICE_HOST):
            raise TypeError(f"{name} has elements of {described(view)} in {Kind(view.kind_code).name.lower()} memory; expected integers "
                            "in memory of the host")
        single = len(shape) == 1 and columns > 1
        if len(shape) > 2 or (shape[-1:] != (columns,) and not (len(shape) == 1 and columns == 1)):
            raise ValueError(f"{name} has the shape {shape}; expected a row of {columns} integers for each box, or a single row")
        contiguous(view, name)
        return view if view.dtype_code == Dtype.I64 else operand(self, self.convert(view, "i64"), name), 1 if single else shape[0]

    def gather(self, src, index, out=None, *, stream=None, status=None):
        """Row i of the result is row index[i] of src. The index is an array of i32, u32, i64 or u64, with one axis.

        An index out of range raises IndexError, and nothing is written.
        """
        done = raw.quick_gather(self, stream, src, index, out, status)
        if done is not None:
            return done
        of, by = operand(self, src, "src", stream), operand(self, index, "index", stream)
        src_rows, row_bytes, src_pitch = rows(of, "src")
        n = indices(by, "index")
        out, to = self._moved(out, src, of, (n, *of.shape[1:]), stream)
        if row_bytes == 0:
            return out
        args = (row_bytes, of, src_rows, src_pitch, by.dtype_code, by, n, to, rows(to, "out")[2])
        self._run("gpumem_gather", stream, args, (of, by, to, status), (self._status(status),))
        return out

    def scatter(self, src, index, dst, *, stream=None, status=None):
        """Writes row i of src to row index[i] of dst. An index out of range raises IndexError, and nothing is written."""
        done = raw.quick_scatter(self, stream, src, index, dst, status)
        if done is not None:
            return done
        of, by = operand(self, src, "src", stream), operand(self, index, "index", stream)
        to = operand(self, dst, "dst", stream, write=True)
        src_rows, row_bytes, src_pitch = rows(of, "src")
        dst_rows, dst_bytes, dst_pitch = rows(to, "dst")
        same_elements(to, of, "dst")
        if dst_bytes != row_bytes or indices(by, "index") != src_rows:
            raise ValueError(f"src has {src_rows} rows of {row_bytes} bytes, index {by.size} numbers, dst rows of {dst_bytes}")
        if row_bytes == 0:
            return dst
        args = (row_bytes, of, src_pitch, by.dtype_code, by, src_rows, to, dst_rows, dst_pitch)
        self._run("gpumem_scatter", stream, args, (of, by, to, status), (self._status(status),))
        return dst

    def select(self, src, mask, out=None, *, kept=None, stream=None):
        """The rows of src whose element of mask is not 0, in their order, as src[mask] in NumPy.

        The mask is an array of bool, u8 or i8 with one axis. Without a stream, the result has these rows and no others. In
        `out` they take the first ones, and more than it has room for raise IndexError. With a stream, the result is all of `out`,
        by default as many rows as src, and kept, an array of one i64, receives their number.
        """
        done = raw.quick_select(self, stream, src, mask, out, kept)
        if done is not None:
            return done
        of, keeps = operand(self, src, "src", stream), operand(self, mask, "mask", stream)
        n, row_bytes, src_pitch = rows(of, "src")
        if flags(keeps, "mask") != n:
            raise ValueError(f"mask has {keeps.size} elements; expected {n}, the rows of src")
        if out is None:
            room = n if stream is not None else self.count(mask)
            out = self._room(src, of, (room, *of.shape[1:]), of.dtype_code, stream)
        to = operand(self, out, "out", stream, write=True)
        same_elements(to, of)
        room, to_bytes, dst_pitch = rows(to, "out")
        if to_bytes != row_bytes:
            raise ValueError(f"out has rows of {to_bytes} bytes; expected {row_bytes}")
        if row_bytes == 0:  # the rows are only counted
            found = self._selected("gpumem_select_places", (keeps, n, int(Dtype.I64), None, 0), (keeps,), out, room, kept, stream)
            return out if stream is not None else found
        args = (row_bytes, of, src_pitch, keeps, n, to, room, dst_pitch)
        return self._selected("gpumem_select", args, (of, keeps, to), out, room, kept, stream)

    def select_places(self, mask, out=None, *, dtype="i64", kept=None, stream=None):
        """The places of the elements of mask that are not 0, in ascending order, as numpy.flatnonzero(mask).

        `dtype` is i32, u32, i64 or u64. Everything else is as for select().
        """
        done = raw.quick_select_places(self, stream, mask, dtype_code(dtype), out, kept)
        if done is not None:
            return done
        keeps = operand(self, mask, "mask", stream)
        n = flags(keeps, "mask")
        if out is None:
            out = self._room(mask, keeps, (n if stream is not None else self.count(mask),), dtype_code(dtype), stream)
        to = operand(self, out, "out", stream, write=True)
        room = indices(to, "out")
        return self._selected("gpumem_select_places", (keeps, n, to.dtype_code, to, room), (keeps, to), out, room, kept, stream)

    def count(self, mask):
        """The number of elements of mask that are not 0. The mask is as for select()."""
        done = raw.quick_count(self, mask)
        if done is not None:
            return done
        keeps, cell = operand(self, mask, "mask"), raw.Cell()
        raw.gpumem_select_places(self.handle, keeps, flags(keeps, "mask"), int(Dtype.I64), None, 0, cell)
        return cell.i64

    def _selected(self, name, args, operands, out, room, kept, stream):
        if stream is None:
            cell = raw.Cell()
            getattr(raw, name)(self.handle, *args, cell)
            return out if cell.i64 == room else out[: cell.i64]
        if kept is None:
            raise ValueError("kept is None; expected an array of one i64, which receives the number of rows")
        number = operand(self, kept, "kept", stream, write=True)
        if number.dtype_code != Dtype.I64 or number.size != 1:
            raise ValueError(f"kept has {number.size} elements of {element_name(number)}; expected one of i64")
        self._run(name, stream, (*args, number), (*operands, number))
        return out

    # ------------------------------------------------------------------------------------------ elementwise and images

    def axpby(self, alpha, x, beta=0, y=None, out=None, *, stream=None):
        """out = alpha * x + beta * y, of f32 or f64. An operand whose factor is 0 may be None. out may be x or y.

        x and y have one shape, C order and no padding. lincomb() takes other views, and broadcasts.
        """
        done = raw.quick_axpby(self, stream, alpha, x, beta, y, out)
        if done is not None:
            return done
        alpha, beta = real(alpha, "alpha"), real(beta, "beta")
        views = [None if v is None else operand(self, v, name, stream) for v, name in ((x, "x"), (y, "y"))]
        like = next((v for v in views if v is not None), None)
        if like is None and out is None:
            raise ValueError("x, y and out are None")
        if out is None:
            out = self._room(x if x is not None else y, like, like.shape, like.dtype_code, stream)
        to = operand(self, out, "out", stream, True)
        like = like if like is not None else to
        for view, name in zip((*views, to), ("x", "y", "out")):
            if view is None:
                continue
            contiguous(view, name)
            if view.shape != like.shape or view.dtype_code != like.dtype_code:
                raise ValueError(f"{name} has the shape {view.shape} and elements of {element_name(view)}; expected {like.shape} "
                                 f"and {element_name(like)}")
        name = "gpumem_axpby_" + self._float_name(like)
        self._run(name, stream, (alpha, views[0], beta, views[1], to, like.size), (*views, to))
        return out

    def lincomb(self, terms, out=None, *, stream=None):
        """out = the sum of factor * x over 1 to 16 pairs (factor, x), of f32 or f64.

        Operands are broadcast as in NumPy. Views of one array make a stencil. A factor is a number, an array of one f64, or a
        tuple (number, numerator, denominator) of a number and two such arrays, where None counts as 1. The work reads these
        arrays when it runs, so they can be the results of earlier calls on the same stream.
        """
        done = raw.quick_lincomb(self, stream, terms, out)
        if done is not None:
            return done
        arrays, names, views, factors, given, above_and_below = self._terms(terms, stream)
        name = "gpumem_lincomb_at_" if given else "gpumem_lincomb_"
        out, to, rank, extents, strides, name = self._over_views(name, arrays, views, names, out, stream)
        factors = numbers("f" if name.endswith("f32") else "d", factors)
        args = (rank, extents, len(views), factors, *(above_and_below if given else ()), pointers(views), joined(strides[:-1]), to,
                numbers("q", strides[-1]))  # fmt: skip
        self._run(name, stream, args, (*views, *given, to))
        return out

    def lincomb_dot(self, terms, dots, out=None, results=None, *, stream=None):
        """lincomb(), and the dot products of out with 1 to 3 arrays, in one pass over memory. Returns out and the results.

        An entry of dots is an array, which is broadcast, or None for out itself. The results are a list of numbers. With a
        stream or `results`, they are an array of f64, which can have factors of the next call on the same stream.
        """
        done = raw.quick_lincomb_dot(self, stream, terms, dots, out, results)
        if done is not None:
            return done
        if not isinstance(dots, list | tuple):
            raise unfit("dots", dots, "a list of arrays, or None for out")
        arrays, names, views, factors, given, above_and_below = self._terms(terms, stream)
        w = [None if x is None else operand(self, x, f"dots[{k}]", stream) for k, x in enumerate(dots)]
        others = [(x, view, f"dots[{k}]") for k, (x, view) in enumerate(zip(dots, w)) if view is not None]
        all_arrays, all_views = arrays + [x for x, _, _ in others], views + [view for _, view, _ in others]
        out, to, rank, extents, strides, name = self._over_views(
            "gpumem_lincomb_dot_", all_arrays, all_views, names + [name for _, _, name in others], out, stream)  # fmt: skip
        own = iter(strides[len(views):-1])
        w_strides = [strides[-1] if view is None else next(own) for view in w]
        found = None
        if stream is None and results is None:
            found = array.array("d", bytes(8 * len(w)))
            to_results = raw.view(found)
        else:
            results, to_results = self._out(results, arrays[0], views[0], (len(w),), Dtype.F64, stream)
        factors = numbers("f" if name.endswith("f32") else "d", factors)
        args = (rank, extents, len(views), factors, *above_and_below, pointers(views), joined(strides[:len(views)]), to,
                numbers("q", strides[-1]), len(w), pointers(w), joined(w_strides), to_results)  # fmt: skip
        self._run(name, stream, args, (*all_views, *given, to, to_results))
        return out, found.tolist() if found is not None else results

    def _terms(self, terms, stream):
        """The parts of the terms of lincomb(): the arrays, their names and Views, the numbers of the factors, the Views of numerators
        and denominators, and their addresses as two arguments.
        """
        if not hasattr(terms, "__iter__"):
            raise unfit("terms", terms, "pairs of a factor and an array")
        terms = list(terms)
        if not terms:
            raise ValueError("terms is empty; expected 1 to 16 pairs of a factor and an array")
        for k, term in enumerate(terms):
            if not isinstance(term, list | tuple) or len(term) != 2:
                raise unfit(f"terms[{k}]", term, "a pair of a factor and an array")
            if isinstance(term[1], (int, float)) and not isinstance(term[0], (int, float)):
                raise TypeError(f"terms[{k}] is an array and a number; expected the factor first, and then the array")
        parts = [self._factor(term[0], f"the factor of terms[{k}]", stream) for k, term in enumerate(terms)]
        factors, *in_memory = zip(*parts)
        arrays = [term[1] for term in terms]
        names = [f"x[{k}]" for k in range(len(arrays))]
        views = [operand(self, x, name, stream) for x, name in zip(arrays, names)]
        given = [view for of in in_memory for view in of if view is not None]
        return arrays, names, views, factors, given, [pointers(of) for of in in_memory]

    def _factor(self, value, name, stream):
        """A factor's number, and the Views of its numerator and denominator, or None for 1."""
        if isinstance(value, tuple):
            if len(value) != 3:
                raise unfit(name, value, "a number, an array of one f64, or (number, numerator, denominator)")
            views = [None if v is None else operand(self, v, name, stream) for v in value[1:]]
            for view in views:
                if view is not None and (view.dtype_code != Dtype.F64 or view.size != 1):
                    raise TypeError(f"{name} has {view.size} elements of {element_name(view)}; expected one of f64")
            return 1.0 if value[0] is None else real(value[0], name), *views
        view = operand(self, value, name, stream) if hasattr(value, "__dlpack__") else None
        if view is None or view.dtype_code != Dtype.F64 or view.size != 1:
            return real(value, name), None, None
        return 1.0, view, None

    def multiply(self, x, y, out=None, *, stream=None):
        """out = x * y, element by element, of f32 or f64, broadcast as in NumPy."""
        done = raw.quick_multiply(self, stream, x, y, out)
        if done is not None:
            return done
        views = [operand(self, x, "x", stream), operand(self, y, "y", stream)]
        out, to, rank, extents, strides, name = self._over_views("gpumem_multiply_", (x, y), views, ("x", "y"), out, stream)
        of_x, of_y, of_out = (numbers("q", own) for own in strides)
        self._run(name, stream, (rank, extents, views[0], of_x, views[1], of_y, to, of_out), (*views, to))
        return out

    def _over_views(self, name, operands, views, names, out, stream):
        """Prepares an operation that broadcasts its operands.

        Returns the result, its View, the smallest number of axes for all views, their extents, the strides of each view with
        the result's last, and the name of the function.
        """
        name += self._float_name(views[0])
        if out is None:
            first = first_with_axes(views)
            out = self._room(operands[first], views[first], broadcast_shape(views), views[0].dtype_code, stream)
        to = operand(self, out, "out", stream, True)
        for view, operand_name in zip((*views, to), (*names, "out")):
            if view.dtype_code != views[0].dtype_code:
                raise TypeError(f"{operand_name} has elements of {element_name(view)}; expected {element_name(views[0])}")
        axes = collapse(to.shape, *(broadcast(view, operand_name, to.shape) for view, operand_name in zip(views, names)),
                        broadcast(to, "out", to.shape))  # fmt: skip
        extents, *strides = zip(*axes) if axes else ((),) * (len(views) + 2)
        return out, to, len(axes), numbers("q", extents), strides, name

    def convert(self, src, dtype=None, out=None, *, stream=None):
        """Converts elements to another type. out may be src if both types have the same size."""
        if out is None and dtype is None:
            raise TypeError("expected a dtype, or out")
        code = dtype_code(dtype) if out is None else -1
        done = raw.quick_convert(self, stream, src, code, out)
        if done is not None:
            return done
        of = operand(self, src, "src", stream)
        if out is None:
            reverse = -1 if is_fortran(of) else 1
            out = self._room(src, of, of.shape[::reverse], code, stream)
            out = out.T if reverse == -1 else out
        to = operand(self, out, "out", stream, True)
        n = of_one_order(of, to)
        self._run("gpumem_convert", stream, (typed(of, "src"), of, typed(to, "out"), to, n), (of, to))
        return out

    def sort(self, keys, out=None, *, descending=False, order=None, stream=None):
        """The keys in ascending or descending order. out may be keys. An array `order` also gets their positions.

        Several axes: the keys along the last one. The sort is stable. NaNs count as greater than every number.
        """
        done = raw.quick_sort(self, stream, keys, bool(descending), out, order, -1, None, None)
        if done is not None:
            return done
        of = self._keys(keys, stream)
        out, to = self._moved(out, keys, of, of.shape, stream)
        by = None if order is None else operand(self, order, "order", stream, True)
        self._sort(keys, of, to, order, by, "order", descending, stream)
        return out

    def argsort(self, keys, out=None, *, descending=False, dtype="i64", stream=None):
        """The positions of the keys in ascending or descending order, of type i32, u32, i64 or u64. Axes are as for sort()."""
        code = dtype_code(dtype)
        if code not in POSITIONS:
            raise TypeError(f"dtype is {NAMES[code]}; expected i32, u32, i64 or u64")
        done = raw.quick_sort(self, stream, keys, bool(descending), None, out, code, None, None)
        if done is not None:
            return done
        of = self._keys(keys, stream)
        if out is None:
            out = self._room(keys, of, of.shape, code, stream)
        self._sort(keys, of, None, out, operand(self, out, "out", stream, True), "out", descending, stream)
        return out

    def sort_segments(self, keys, offsets, out=None, *, descending=False, order=None, status=None, stream=None):
        """Sorts each keys[offsets[s]:offsets[s + 1]] alone. out may be keys. Without out, it begins as a copy of the keys.

        keys have one axis. The offsets are integers, in device memory i64. An array `order` gets the positions in keys. Offsets that are not in order,
        or exceed the keys, raise IndexError, and nothing is written.
        """
        done = raw.quick_sort(self, stream, keys, bool(descending), out, order, -1, offsets, status)
        if done is not None:
            return done
        of, (ends, _) = self._keys(keys, stream), self._offsets(offsets, stream)
        vector(of, "keys", "sort(), which takes several axes")
        given = out is not None
        out, to = self._moved(out, keys, of, of.shape, stream)
        if not given:
            self.copy(out, keys, stream=stream)
        by = None if order is None else operand(self, order, "order", stream, True)
        self._sorted(of, to, by, "order", descending, ends, (self._status(status),), status, stream)
        return out

    def _keys(self, keys, stream):
        of = operand(self, keys, "keys", stream)
        if len(of.shape) == 0:
            raise ValueError("keys have 0 axes; expected 1 or more")
        contiguous(of, "keys")
        return of

    def _sort(self, keys, of, to, order, by, name, descending, stream):
        """Sorts along the last axis. Rows are segments, and their positions begin at 0 again."""
        length = of.shape[-1]
        if len(of.shape) == 1 or of.size == 0:
            return self._sorted(of, to, by, name, descending, None, (), None, stream)
        ends = self._room(keys, of, (of.size // length + 1,), int(Dtype.I64), stream)
        self.fill(ends, length, stream=stream)
        self.scan(ends, exclusive=True, out=ends, stream=stream)
        self._sorted(of, to, by, name, descending, operand(self, ends, "offsets", stream), (None,), None, stream)
        if by is not None:
            self.map("remainder", order, length, order, stream=stream)

    def _sorted(self, of, to, by, name, descending, ends, tail, status, stream):
        if to is not None:
            contiguous(to, "out")
        if by is not None and by.shape != of.shape:
            raise ValueError(f"{name} has the shape {by.shape}; expected {of.shape}")
        if by is not None:
            indices(by, name) if len(by.shape) == 1 else contiguous(by, name)
        segments = () if ends is None else (ends, ends.size - 1)
        args = (typed(of, "keys"), of, of.size, *segments, int(bool(descending)), to, by, Dtype.I64 if by is None else by.dtype_code)
        self._run("gpumem_sort" if ends is None else "gpumem_sort_segments", stream, args, (of, to, by, ends, status), tail)

    def resize(self, src, size=None, filter="bilinear", out=None, *, stream=None):
        """Resizes an image of u8, u16 or f32 with axes (rows, columns) or (rows, columns, channels) to `size`, (rows, columns).

        A list of such images, of any sizes, or an array with the axes (images, rows, columns, channels) gives an array whose
        first axis counts the images. Give images without channels an axis of one: src[..., None].
        """
        if isinstance(src, list | tuple):
            return self._resize_batch(list(src), size, filter, out, stream)
        done = raw.quick_resize(self, stream, filter_code(filter), src, size, out)
        if done is not None:
            return done
        of = operand(self, src, "src", stream)
        if of.ndim == 4:
            return self._resize_batch(src, size, filter, out, stream)
        if out is None:
            out = self._room(src, of, (*self._size(size), *of.shape[2:]), of.dtype_code, stream)
            size = None
        to = operand(self, out, "out", stream, True)
        if size is not None and to.shape[:2] != integers(size, "size", "two integers, rows and columns"):
            raise ValueError(f"out has the shape {to.shape}; expected the requested size")
        n_rows, cols, channels, pitch = image(of, "src")
        to_rows, to_cols, to_channels, to_pitch = image(to, "out")
        if to_channels != channels or to.dtype_code != of.dtype_code:
            raise ValueError(f"out has {to_channels} channels of {element_name(to)}; expected {channels} of {element_name(of)}")
        args = (filter_code(filter), typed(of, "src"), channels, of, n_rows, cols, pitch, to, to_rows, to_cols, to_pitch)
        self._run("gpumem_resize_2d", stream, args, (of, to))
        return out

    def _size(self, size):
        if size is None:
            raise TypeError("expected a size (rows, columns), or out")
        size = integers(size, "size", "two integers, rows and columns")
        if len(size) != 2 or min(size) < 0:
            raise ValueError(f"size is {size}; expected rows and columns")
        return size

    def _resize_batch(self, src, size, filter, out, stream):
        """The case of resize() with many images: a list, or an array of four axes."""
        listed = isinstance(src, list)
        if listed and not src:
            raise ValueError("src is empty; expected an image or more")
        names = [f"src[{k}]" for k in range(len(src))] if listed else ["src"]
        views = [operand(self, x, name, stream) for x, name in zip(src if listed else [src], names)]
        of = views[0]
        shapes = [image(view, name, batch=not listed) for view, name in zip(views, names)]
        addresses = [view.address or 0 for view in views]
        if not listed:
            addresses = [addresses[0] + k * of.strides[0] for k in range(of.shape[0])]
            shapes *= len(addresses)
        if out is None:
            shape = (len(addresses), *self._size(size), *(of.shape[2:] if listed else of.shape[3:]))
            out = self._room(src[0] if listed else src, of, shape, of.dtype_code, stream)
            size = None
        to = operand(self, out, "out", stream, True)
        if to.ndim < 3 or to.shape[0] != len(addresses) or (size is not None and to.shape[1:3] != self._size(size)):
            raise ValueError(f"out has the shape {to.shape}; expected {len(addresses)} images of the requested size")
        to_rows, to_cols, channels, to_pitch = image(to, "out", batch=True)
        for view, name in zip((*views, to), (*names, "out")):
            own = image(view, name, batch=view is to or not listed)[2]
            if own != channels or view.dtype_code != of.dtype_code:
                raise ValueError(f"{name} has {own} channels of {element_name(view)}; expected {channels} of {element_name(of)}")
        rows, cols, pitches = (numbers("q", [shape[i] for shape in shapes]) for i in (0, 1, 3))
        args = (filter_code(filter), typed(of, "src"), channels, len(addresses), numbers("Q", addresses), rows, cols, pitches,
                to, to_rows, to_cols, to_pitch, to.strides[0])  # fmt: skip
        self._run("gpumem_resize_2d_batch", stream, args, (*views, to))
        return out
