"""The operations of a context on arrays of any library. With `stream` they are enqueued, and what they use is kept until the
stream has passed them; else they are complete on return.

A result that is not given as `out` or `dst` lies where x or src lies: an array of NumPy for one of NumPy, else one of gpumem.
"""

import array
import math
import sys

from . import _gpumem as raw
from .array import Array
from .errors import Error
from .layout import (broadcast, broadcast_shape, collapse, contiguous, image, lines, matrix, numbers_of, operand, refuse, rows,
                     same_elements, sequence, typed)
from .names import Dtype, Kind, Op
from .words import NAMES, RESULTS, dtype_code, filter_code, op_code

OP_CODES = {word: int(op) for op in Op for word in (op, op.name.lower())}


def numbers(letter, values):
    return raw.view(array.array(letter, values))


raw.set_operations(OP_CODES)


class Operations(raw.Base):
    """What Context inherits."""

    def _run(self, name, stream, args, kept, tail=()):
        """The plain form of a function, or its _async form with what only that takes."""
        if stream is None:
            getattr(raw, name)(self.handle, *args)
        else:
            getattr(raw, name + "_async")(self.handle, *args, *tail, stream.handle)
            stream.keep(kept)

    def _result(self, like, shape, dtype, stream):
        """Room for a result beside an operand. What a stream writes for the host is pinned."""
        kind = Kind(like.kind_code)
        if kind == Kind.PAGEABLE and stream is None:
            return Array(shape, dtype, itemsize=like.itemsize, format=like.format)
        if dtype < 0:
            raise TypeError(f"no room can be made for elements of format '{like.format}' here; give dst")
        return self.core.allocate(shape, dtype, Kind.PINNED if kind == Kind.PAGEABLE else kind)

    @staticmethod
    def _as_given(result, x, stream):
        """An array of NumPy where x is one and the result is complete, and of a type that NumPy has."""
        numpy = sys.modules.get("numpy")
        if stream is not None or numpy is None or type(x) is not numpy.ndarray or result.on_device:
            return result
        is_bf16 = result.dtype_code == Dtype.BF16
        if (result.dtype_code < 0 or (is_bf16 and x.dtype.name == "bfloat16")) and result.contiguous:
            return numpy.ndarray(result.shape, x.dtype, result)  # a buffer has no word for bfloat16, nor for times
        return result if is_bf16 else numpy.asarray(result)

    # --------------------------------------------------------------------------------------------------------- reduce

    def _reduce(self, x, op="sum", *, axis=None, out=None, status=None, stream=None):
        """What reduce(), which Base has, does not do itself."""
        view, op = operand(self, x, "x", stream), op_code(op)
        dtype = typed(view, "x")
        pairs = (2,) if op == Op.MIN_MAX else ()
        if axis is not None:
            return self._reduce_axis(x, view, op, axis, pairs, out, status, stream)
        n, stride = sequence(view, "x")
        if out is None and stream is None:
            cell = raw.Cell()
            raw.gpumem_reduce(self.handle, dtype, op, view, n, stride, cell)
            return (cell.result(dtype, 0), cell.result(dtype, 1)) if pairs else cell.result(dtype, 0)
        result = self._out(out, view, pairs, RESULTS[dtype], stream)
        self._run("gpumem_reduce", stream, (dtype, op, view, n, stride, result), (view, result, status),
                  (self._status(status),))  # fmt: skip
        return out if out is not None else result

    def _out(self, out, like, shape, dtype, stream):
        if out is None:
            return self._result(like, shape, int(dtype), stream)
        result = operand(self, out, "out", stream, write=True)
        if result.dtype_code != dtype or result.size != math.prod(shape):
            raise ValueError(f"out has {result.size} elements of format '{result.format}'; expected {math.prod(shape)} "
                             f"of {NAMES[dtype]}")
        contiguous(result, "out")
        return result

    def _status(self, status):
        return None if status is None else operand(self, status, "status", write=True)

    def _reduce_axis(self, x, view, op, axis, pairs, out, status, stream):
        of_cols, n_rows, cols, ld, batches, batch_stride, shape = lines(view, axis)
        result = self._out(out, view, shape + pairs, RESULTS[view.dtype_code], stream)
        args = (view.dtype_code, op, of_cols, view, n_rows, cols, ld, batches, batch_stride, result)
        return self._several("gpumem_reduce_axis", x, args, (view, result, status), out, status, stream)

    def _several(self, name, x, args, kept, out, status, stream):
        """A reduction to several values. An exception for some of them carries the others."""
        result = out if out is not None else self._as_given(args[-1], x, stream)
        try:
            self._run(name, stream, args, kept, (self._status(status),))
        except Error as error:
            error.result = result
            raise
        return result

    def reduce_segments(self, x, offsets, op="sum", *, out=None, status=None, stream=None):
        """A number for each x[offsets[s]:offsets[s + 1]]; offsets are i64."""
        view, ends = operand(self, x, "x", stream), operand(self, offsets, "offsets", stream)
        op, dtype = op_code(op), typed(view, "x")
        n, segments = contiguous(view, "x"), numbers_of(ends, "offsets") - 1
        if ends.dtype_code != Dtype.I64 or segments < 0:
            raise ValueError(f"offsets has {segments + 1} elements of format '{ends.format}'; expected i64, one or more")
        shape = (segments, 2) if op == Op.MIN_MAX else (segments,)
        result = self._out(out, view, shape, RESULTS[dtype], stream)
        args = (dtype, op, view, n, ends, segments, result)
        return self._several("gpumem_reduce_segments", x, args, (view, ends, result, status), out, status, stream)

    def argreduce(self, x, op="min", *, out=None, stream=None):
        """The minimum, the maximum or the largest magnitude ("max_abs") and its index. With a stream: two arrays, which `out` may give."""
        view, op = operand(self, x, "x", stream), op_code(op)
        dtype, (n, stride) = typed(view, "x"), sequence(view, "x")
        if stream is None and out is None:
            value, index = raw.Cell(), raw.Cell()
            raw.gpumem_argreduce(self.handle, dtype, op, view, n, stride, value, index)
            return value.result(dtype, 0), index.i64
        value, index = out or (None, None)
        value = self._out(value, view, (), RESULTS[dtype], stream)
        index = self._out(index, view, (), Dtype.I64, stream)
        self._run("gpumem_argreduce", stream, (dtype, op, view, n, stride, value, index), (view, value, index))
        return out or (value, index)

    def dot(self, x, y, *, out=None, stream=None):
        """The sum of x[i] * y[i], of f32 or f64."""
        a, b = operand(self, x, "x", stream), operand(self, y, "y", stream)
        (n, x_stride), (m, y_stride) = sequence(a, "x"), sequence(b, "y")
        if n != m or a.dtype_code != b.dtype_code:
            raise ValueError(f"x has {n} elements of format '{a.format}', y {m} of '{b.format}'; expected the same")
        return self._float_result("gpumem_dot_", a, (a, b, n, x_stride, y_stride), out, stream)

    def nrm2(self, x, *, out=None, stream=None):
        """The Euclidean norm, of f32 or f64."""
        view = operand(self, x, "x", stream)
        return self._float_result("gpumem_nrm2_", view, (view, *sequence(view, "x")), out, stream)

    def _float_result(self, name, view, args, out, stream):
        name += self._float_name(view)
        if stream is None and out is None:
            cell = raw.Cell()
            getattr(raw, name)(self.handle, *args, cell)
            return cell.f64
        result = self._out(out, view, (), Dtype.F64, stream)
        self._run(name, stream, (*args, result), (*args[:2], result))
        return out if out is not None else result

    @staticmethod
    def _float_name(view):
        if view.dtype_code not in (Dtype.F32, Dtype.F64):
            raise TypeError(f"x has elements of format '{view.format}'; expected f32 or f64")
        return NAMES[view.dtype_code]

    # ------------------------------------------------------------------------------------------------------ rearrange

    def transpose(self, src, dst=None, *, stream=None):
        """The matrix, or each of a batch of them (three axes), transposed. dst may be src, which then changes its shape."""
        of = operand(self, src, "src", stream)
        n_rows, cols, ld = matrix(of, "src", 3 if of.ndim == 3 else 2)
        shape = (*of.shape[:-2], cols, n_rows)
        in_place = dst is not None and dst is src
        if in_place:
            to = Array(shape, of.dtype_code, address=of, readonly=of.readonly, kind=of.kind_code, device=of.device,
                       owner=of, itemsize=of.itemsize, format=of.format,
                       strides=of.strides if n_rows == cols else None)  # fmt: skip
        else:
            to = self._result(of, shape, of.dtype_code, stream) if dst is None else operand(self, dst, "dst", stream)
        if to.shape != shape or to.readonly:
            raise ValueError(f"dst has the shape {to.shape}; expected {shape}, writable")
        same_elements(to, of)
        to_ld = matrix(to, "dst", of.ndim)[2]
        if of.ndim == 2:
            args, name = (of.itemsize, n_rows, cols, of, ld, to, to_ld), "gpumem_transpose"
        else:
            steps = [view.strides[0] // view.itemsize for view in (of, to)]
            args, name = (of.itemsize, n_rows, cols, of, ld, steps[0], to, to_ld, steps[1], of.shape[0]), "gpumem_transpose_batched"
        self._run(name, stream, args, (of, to))
        return dst if dst is not None and not in_place else self._as_given(to, src, stream)

    def permute(self, src, order, dst=None, *, stream=None):
        """Axis d of the result is axis order[d] of src, as numpy.transpose(src, order), and the elements are moved."""
        of = operand(self, src, "src", stream)
        order = tuple(axis + of.ndim if axis < 0 else axis for axis in order)
        if len(order) != of.ndim or not all(0 <= axis < of.ndim for axis in order):
            raise ValueError(f"order is {order}; expected each of the {of.ndim} axes of src once")
        shape = tuple(of.shape[axis] for axis in order)
        to = self._result(of, shape, of.dtype_code, stream) if dst is None else operand(self, dst, "dst", stream, True)
        if to.shape != shape:
            raise ValueError(f"dst has the shape {to.shape}; expected {shape}")
        same_elements(to, of)
        self._permute(to, of, order, stream)
        return dst if dst is not None else self._as_given(to, src, stream)

    def _permute(self, to, of, order, stream):
        strides = []
        for view, name in ((of, "src"), (to, "dst")):
            if any(s < 0 or s % view.itemsize for s, extent in zip(view.strides, view.shape) if extent > 1):
                refuse(view, name, "strides of whole elements, 0 or more")
            strides.append(numbers("q", [max(stride, 0) // view.itemsize for stride in view.strides]))
        args = (of.itemsize, of.ndim, numbers("q", of.shape), numbers("i", order), of, strides[0], to, strides[1])
        self._run("gpumem_permute", stream, args, (of, to))

    def gather(self, src, index, dst=None, *, stream=None, status=None):
        """Row i of the result is row index[i] of src. IndexError, and nothing is written, for an index without a row."""
        of, by = operand(self, src, "src", stream), operand(self, index, "index", stream)
        src_rows, row_bytes, src_pitch = rows(of, "src")
        n, shape = numbers_of(by, "index"), (by.size, *of.shape[1:])
        to = self._result(of, shape, of.dtype_code, stream) if dst is None else operand(self, dst, "dst", stream, True)
        dst_rows, dst_bytes, dst_pitch = rows(to, "dst")
        same_elements(to, of)
        if (dst_rows, dst_bytes) != (n, row_bytes):
            raise ValueError(f"dst has {dst_rows} rows of {dst_bytes} bytes; expected {n} of {row_bytes}")
        args = (row_bytes, of, src_rows, src_pitch, typed(by, "index"), by, n, to, dst_pitch)
        self._run("gpumem_gather", stream, args, (of, by, to, status), (self._status(status),))
        return dst if dst is not None else self._as_given(to, src, stream)

    def scatter(self, src, index, dst, *, stream=None, status=None):
        """Row index[i] of dst = row i of src. IndexError, and nothing is written, for an index without a row."""
        of, by = operand(self, src, "src", stream), operand(self, index, "index", stream)
        to = operand(self, dst, "dst", stream, write=True)
        src_rows, row_bytes, src_pitch = rows(of, "src")
        dst_rows, dst_bytes, dst_pitch = rows(to, "dst")
        same_elements(to, of)
        if dst_bytes != row_bytes or numbers_of(by, "index") != src_rows:
            raise ValueError(f"src has {src_rows} rows of {row_bytes} bytes, index {by.size} numbers, dst rows of {dst_bytes}")
        args = (row_bytes, of, src_pitch, typed(by, "index"), by, src_rows, to, dst_rows, dst_pitch)
        self._run("gpumem_scatter", stream, args, (of, by, to, status), (self._status(status),))
        return dst

    # ------------------------------------------------------------------------------------------ elementwise and images

    def axpby(self, alpha, x, beta=0, y=None, out=None, *, stream=None):
        """out = alpha * x + beta * y, of f32 or f64. An operand whose factor is 0 may be None; out may be x or y."""
        views = [None if v is None else operand(self, v, name, stream) for v, name in ((x, "x"), (y, "y"))]
        like = next((v for v in views if v is not None), None)
        to = operand(self, out, "out", stream, True) if out is not None else None
        like = like if like is not None else to
        if like is None:
            raise ValueError("x, y and out are None")
        if to is None:
            to = self._result(like, like.shape, like.dtype_code, stream)
        for view, name in zip((*views, to), ("x", "y", "out")):
            if view is None:
                continue
            if contiguous(view, name) != like.size or view.dtype_code != like.dtype_code:
                raise ValueError(f"{name} has {view.size} elements of format '{view.format}'; expected {like.size} "
                                 f"of '{like.format}'")
        name = "gpumem_axpby_" + self._float_name(like)
        self._run(name, stream, (alpha, views[0], beta, views[1], to, like.size), (*views, to))
        return out if out is not None else self._as_given(to, x if x is not None else y, stream)

    def lincomb(self, terms, out=None, *, stream=None):
        """out = the sum of factor * x over pairs (factor, x), 1 to 8 of them, of f32 or f64. Views of one array make a stencil;
        they are broadcast as in NumPy."""
        terms = list(terms)
        if not terms:
            raise ValueError("terms is empty; expected 1 to 8 pairs of a factor and an array")
        factors, arrays = zip(*terms)
        views = [operand(self, x, f"x[{k}]", stream) for k, x in enumerate(arrays)]
        to, rank, extents, strides, name = self._over_views("gpumem_lincomb_", views, out, stream)
        letter, pointers = {"f32": "f", "f64": "d"}[name[-3:]], [view.address or 0 for view in views]
        args = (rank, extents, len(views), numbers(letter, factors), numbers("Q", pointers),
                numbers("q", [s for own in strides[:-1] for s in own]), to, numbers("q", strides[-1]))  # fmt: skip
        self._run(name, stream, args, (*views, to))
        return out if out is not None else self._as_given(to, arrays[0], stream)

    def multiply(self, x, y, out=None, *, stream=None):
        """out = x * y, element by element, of f32 or f64, broadcast as in NumPy."""
        views = [operand(self, x, "x[0]", stream), operand(self, y, "x[1]", stream)]
        to, rank, extents, strides, name = self._over_views("gpumem_multiply_", views, out, stream)
        of_x, of_y, of_out = (numbers("q", own) for own in strides)
        self._run(name, stream, (rank, extents, views[0], of_x, views[1], of_y, to, of_out), (*views, to))
        return out if out is not None else self._as_given(to, x, stream)

    def _over_views(self, name, views, out, stream):
        """The result, the fewest axes that it and the views have together, their extents, each one's strides, the result's last,
        and the function."""
        name += self._float_name(views[0])
        if out is None:
            to = self._result(views[0], broadcast_shape(views), views[0].dtype_code, stream)
        else:
            to = operand(self, out, "out", stream, True)
        for k, view in enumerate((*views, to)):
            if view.dtype_code != views[0].dtype_code:
                raise TypeError(f"operand {k} has elements of format '{view.format}'; expected '{views[0].format}'")
        axes = collapse(to.shape, *(broadcast(view, f"x[{k}]", to.shape) for k, view in enumerate(views)),
                        broadcast(to, "out", to.shape))  # fmt: skip
        extents, *strides = zip(*axes) if axes else ((),) * (len(views) + 2)
        return to, len(axes), numbers("q", extents), strides, name

    def convert(self, src, dtype=None, *, dst=None, stream=None):
        """The elements of src as another type. dst may be src where the sizes of both types are the same."""
        of = operand(self, src, "src", stream)
        if dst is None:
            if dtype is None:
                raise TypeError("expected a dtype, or dst")
            to = self._result(of, of.shape, dtype_code(dtype), stream)
        else:
            to = operand(self, dst, "dst", stream, True)
        n = contiguous(of, "src")
        if contiguous(to, "dst") != n:
            raise ValueError(f"dst has {to.size} elements; expected {n}")
        self._run("gpumem_convert", stream, (typed(of, "src"), of, typed(to, "dst"), to, n), (of, to))
        return dst if dst is not None else self._as_given(to, src, stream)

    def resize(self, src, size=None, filter="bilinear", *, dst=None, stream=None):
        """An image (rows, columns) or (rows, columns, channels) of u8, u16 or f32 in another size (rows, columns)."""
        of = operand(self, src, "src", stream)
        if dst is None:
            if size is None:
                raise TypeError("expected a size (rows, columns), or dst")
            to = self._result(of, (*size, *of.shape[2:]), of.dtype_code, stream)
        else:
            to = operand(self, dst, "dst", stream, True)
        n_rows, cols, channels, pitch = image(of, "src")
        to_rows, to_cols, to_channels, to_pitch = image(to, "dst")
        if to_channels != channels or to.dtype_code != of.dtype_code:
            raise ValueError(f"dst has {to_channels} channels of format '{to.format}'; expected {channels} of '{of.format}'")
        args = (filter_code(filter), typed(of, "src"), channels, of, n_rows, cols, pitch, to, to_rows, to_cols, to_pitch)
        self._run("gpumem_resize_2d", stream, args, (of, to))
        return dst if dst is not None else self._as_given(to, src, stream)
