"""Elementwise functions, comparisons, linear combinations and conversions, as methods of a context."""

import array
import reprlib
from collections import namedtuple

from . import _gpumem as raw
from .calls import PAGEABLE, Calls, joined, numbers, pointers
from .core import PINNED
from .errors import Capturing
from .layout import (broadcast, broadcast_shape, collapse, contiguous, described, element_name, first_with_axes, is_fortran, of_one_order,
                     operand, same_elements, typed)
from .names import Dtype, MapOp
from .streams import stream_handle
from .words import FORMATS, SIZES, compare_code, dtype_code, map_code, pattern_of, real, unfit

MOST_SINGLES = 256  # of one stream
Element = namedtuple("Element", "dtype_code itemsize format")


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


class Elementwise(Calls):
    """A base class of Operations."""

    def map(self, op, x, y=None, out=None, *, stream=None, status=None):
        """out = op(x) or op(x, y), element by element, broadcast as in NumPy. The names of op are those of gpumem.MapOp.

        One of x and y may be a number, which takes the type of the other. Integers wrap. Their quotients are truncated toward 0, and a division of one by 0 raises IndexError after it has written 0.
        """
        code = map_code(op)
        if (y is None) == (code >= MapOp.ADD):
            expected = "an array or a number, because {} has two operands" if y is None else "None, because {} has one operand; out= takes the result"
            raise TypeError(f"y is {reprlib.repr(y)}; expected {expected.format(MapOp(code).name.lower())}")
        if (done := raw.quick_map(self, stream, code, x, y, out, status)) is not None:
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
        if (done := raw.quick_compare(self, stream, code, x, y, out)) is not None:
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
        if (done := raw.quick_where(self, stream, mask, x, y, out)) is not None:
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
        if (done := raw.quick_convert_scaled(self, stream, src, code, scale, offset, nan_value, out)) is not None:
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

    def axpby(self, alpha, x, beta=0, y=None, out=None, *, stream=None):
        """out = alpha * x + beta * y, of f32 or f64. An operand whose factor is 0 may be None. out may be x or y.

        x and y have one shape, C order and no padding. lincomb() takes other views, and broadcasts.
        """
        if (done := raw.quick_axpby(self, stream, alpha, x, beta, y, out)) is not None:
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
        if (done := raw.quick_lincomb(self, stream, terms, out)) is not None:
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
        if (done := raw.quick_lincomb_dot(self, stream, terms, dots, out, results)) is not None:
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
            if type(term[1]) in (bool, int, float) and not isinstance(term[0], (int, float)):  # a scalar of NumPy is an array
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
        if (done := raw.quick_multiply(self, stream, x, y, out)) is not None:
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
        if (done := raw.quick_convert(self, stream, src, code, out)) is not None:
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
