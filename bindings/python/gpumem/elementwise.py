"""Elementwise functions, comparisons, selections and scaled conversions, as methods of a context."""

import array
import reprlib
from collections import namedtuple

from . import _gpumem as raw
from .core import PINNED
from .errors import Capturing
from .layout import broadcast, broadcast_shape, collapse, described, element_name, first_with_axes, operand, same_elements, typed
from .names import Dtype, Kind, MapOp
from .streams import stream_handle
from .words import FORMATS, SIZES, compare_code, dtype_code, map_code, pattern_of, real

PAGEABLE = int(Kind.PAGEABLE)
MOST_SINGLES = 256  # of one stream
Element = namedtuple("Element", "dtype_code itemsize format")


def numbers(letter, values):
    return raw.view(array.array(letter, values))


def is_capturing(stream):
    """True if a graph captures the stream. What it writes is then there only after the graph has run."""
    try:
        stream.done
    except Capturing:
        return True
    return False


def is_number(x):
    return isinstance(x, int | float)


def mask_of(context, x, name, stream, write=False):
    view = operand(context, x, name, stream, write)
    if view.dtype_code != Dtype.U8 and view.format != "?":
        raise TypeError(f"{name} has elements of {described(view)}; expected u8 or bool")
    return view


class Elementwise(raw.Base):
    """The base class of Operations."""

    def map(self, op, x, y=None, out=None, *, stream=None, status=None):
        """out = op(x) or op(x, y), element by element, broadcast as in NumPy. The names of op are those of gpumem.MapOp.

        One of x and y may be a number, which takes the type of the other. Integers wrap. Their quotients are truncated toward 0, and a division of one by 0 raises IndexError after it has written 0.
        """
        code = map_code(op)
        if (y is None) == (code >= MapOp.ADD):
            expected = "an array or a number, because {} has two operands" if y is None else "None, because {} has one operand; out= takes the result"
            raise TypeError(f"y is {reprlib.repr(y)}; expected {expected.format(MapOp(code).name.lower())}")
        done = raw.quick_map(self, stream, code, x, y, out, status)
        if done is not None:
            return done
        x, like, views = self._views((x, y) if code >= MapOp.ADD else (x,), stream)
        element = typed(views[0], "x")
        out, to, rank, extents, strides = self._mapped(x, like, views, ("x", "y"), out, "out", element, stream)
        for view, name in zip((*views[1:], to), (*("y",) * (len(views) - 1), "out")):
            if view.dtype_code != element:
                raise TypeError(f"{name} has elements of {element_name(view)}; expected {element_name(views[0])}")
        second = (views[1], strides[1]) if len(views) > 1 else (None, None)
        args = (code, element, rank, extents, views[0], strides[0], *second, to, strides[-1])
        self._run("gpumem_map", stream, args, (*views, to, status), (self._status(status),))
        return out

    def compare(self, op, x, y, out=None, *, stream=None):
        """A mask of u8: 1 where the comparison holds, else 0. op is a name of gpumem.CompareOp, such as "less".

        One of x and y may be a number, which takes the type of the other.
        """
        code = compare_code(op)
        done = raw.quick_compare(self, stream, code, x, y, out)
        if done is not None:
            return done
        x, like, views = self._views((x, y), stream)
        if views[0].dtype_code != views[1].dtype_code:
            raise TypeError(f"y has elements of {element_name(views[1])}; expected {element_name(views[0])}")
        out, to, rank, extents, strides = self._mapped(x, like, views, ("x", "y"), out, "out", Dtype.U8, stream)
        to = mask_of(self, out, "out", stream, True)
        args = (code, typed(views[0], "x"), rank, extents, views[0], strides[0], views[1], strides[1], to, strides[2])
        self._run("gpumem_compare", stream, args, (*views, to))
        return out

    def where(self, mask, x, y, out=None, *, stream=None):
        """The elements of x where the mask, of u8 or bool, is not 0, and else those of y. Broadcast as in NumPy.

        One of x and y may be a number, which takes the type of the other.
        """
        done = raw.quick_where(self, stream, mask, x, y, out)
        if done is not None:
            return done
        x, like, of_arrays = self._views((x, y), stream)
        views = [mask_of(self, mask, "mask", stream), *of_arrays]
        same_elements(views[2], views[1], "y")
        out, to, rank, extents, strides = self._mapped(x, like, views, ("mask", "x", "y"), out, "out", views[1].dtype_code, stream)
        same_elements(to, views[1])
        pairs = (part for view, own in zip((*views, to), strides) for part in (view, own))
        self._run("gpumem_where", stream, (views[1].itemsize, rank, extents, *pairs), (*views, to))
        return out

    def convert_scaled(self, src, dtype=None, scale=None, offset=None, nan_value=0, out=None, *, stream=None):
        """(src + offset) * scale as another type, rounded as by convert(). A NaN in src becomes nan_value. No other value becomes NaN: see where().

        scale and offset are numbers, or arrays of f64 that are broadcast to the shape of src.
        """
        if out is None and dtype is None:
            raise TypeError("expected a dtype, or out")
        code = dtype_code(dtype) if out is None else -1
        done = raw.quick_convert_scaled(self, stream, src, code, scale, offset, nan_value, out)
        if done is not None:
            return done
        given = [(v, name) for v, name in zip((src, scale, offset), ("src", "scale", "offset")) if v is not None]
        views = [operand(self, src, "src", stream)]
        for v, name in given[1:]:
            views.append(self._single(v, Dtype.F64, views[0].kind_code, stream) if is_number(v) else operand(self, v, name, stream))
        for view, (_, name) in zip(views[1:], given[1:]):
            if view.dtype_code != Dtype.F64:
                raise TypeError(f"{name} has elements of {described(view)}; expected f64")
        names = [name for _, name in given]
        out, to, rank, extents, strides = self._mapped(src, views[0], views, names, out, "out", code, stream)
        by_name = {name: (view, own) for name, view, own in zip(names, views, strides)}
        absent = (None, None)
        args = (rank, extents, typed(views[0], "src"), *by_name["src"], *by_name.get("scale", absent), *by_name.get("offset", absent),
                real(nan_value, "nan_value"), typed(to, "out"), to, strides[-1])  # fmt: skip
        self._run("gpumem_convert_scaled", stream, args, (*views, to))
        return out

    def _views(self, operands, stream):
        """The operand that the result is like, its View, and the View of each operand. A number becomes one element of its type."""
        views = [None if is_number(v) else operand(self, v, name, stream) for v, name in zip(operands, ("x", "y"))]
        first = first_with_axes(views)
        if first is None:
            raise TypeError("x and y are numbers; expected at least one array" if len(views) > 1 else "x is a number; expected an array")
        like = views[first]
        element = (like.dtype_code, like.kind_code, stream, like.itemsize, like.format)
        return operands[first], like, [view if view is not None else self._single(v, *element) for view, v in zip(views, operands)]

    def _single(self, number, dtype, kind, stream, itemsize=0, format=""):
        """One element, in memory that work on arrays of this kind can read. The stream keeps it for later calls."""
        element = Element(dtype, SIZES[dtype] if dtype >= 0 else itemsize, FORMATS[dtype] if dtype >= 0 else format)
        kind = PINNED if kind == PAGEABLE and stream is not None else kind
        pattern = pattern_of(element, number)
        owner = self.stream if stream is None else stream
        stream_handle(owner)  # raises if it is not a stream
        key = (kind, int(dtype), element.format if dtype < 0 else "", pattern, stream is None)  # as in quick.c
        single = owner._singles.get(key)
        if single is None:
            single = self.core.allocate((), dtype, kind, itemsize=itemsize, format=format)
            self.fill(single, pattern, stream=stream)
            if len(owner._singles) < MOST_SINGLES and not is_capturing(owner):
                owner._singles[key] = single
        return single

    def _mapped(self, x, like, views, names, out, out_name, code, stream):
        """The result, its View, the smallest number of axes for all views, their extents, and the strides of each view and the result."""
        if out is None:
            out = self._room(x, like, broadcast_shape(views), code, stream)
        to = operand(self, out, out_name, stream, True)
        axes = collapse(to.shape, *(broadcast(view, name, to.shape) for view, name in zip(views, names)),
                        broadcast(to, out_name, to.shape))  # fmt: skip
        extents, *strides = zip(*axes) if axes else ((),) * (len(views) + 2)
        return out, to, len(axes), numbers("q", extents), [numbers("q", own) for own in strides]
