"""Reductions, scans and searches, as methods of a context."""

from . import _gpumem as raw
from .calls import Calls, numbers
from .errors import Error
from .layout import (axes_of, axis_of, contiguous, element_name, indices, lines, matrix_of_rows, operand, refuse, sequence,
                     strides_over, typed, vector, whole_strides)
from .names import Dtype, Op
from .words import NAMES, RESULTS, arg_code, dtype_code, integer, op_code, scan_code, unfit


def elements_of(view, op=None):
    """How the library reads the elements of x: the suffix of the function's name, and its arguments."""
    found = sequence(view, op)
    if found:
        return "", (view, *found)
    strides = strides_over(view, "x", view.shape)
    return "_view", (view.ndim, numbers("q", view.shape), view, numbers("q", strides))


class Reductions(Calls):
    """A base class of Operations."""

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

    def reduce_segments(self, x, offsets, op="sum", *, out=None, status=None, stream=None):
        """Reduces each x[offsets[s]:offsets[s + 1]] to one number. x has one axis. The offsets are integers, in device memory i64."""
        op = op_code(op)
        if (done := raw.quick_reduce_segments(self, stream, op, x, offsets, out, status)) is not None:
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
        if (done := raw.quick_reduce_by_index(self, stream, op, x, index, bins, out, status)) is not None:
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
        if (done := raw.quick_scan(self, stream, op, x, axis, bool(exclusive), code, out, None, status)) is not None:
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
        if (done := raw.quick_scan(self, stream, op, x, None, bool(exclusive), code, out, offsets, status)) is not None:
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
        if (found := raw.quick_argreduce(self, stream, op, x, axis, out, status)) is not None:
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
        if (found := raw.quick_nrm2(self, stream, x, out)) is not None:
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
