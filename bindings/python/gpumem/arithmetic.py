"""Operators, reductions and copies of arrays, as methods of gpumem.Array. The context of the memory does the work."""

import math
import numbers
import operator

from . import _gpumem as raw
from .names import Dtype, Kind
from .words import NAMES, element_of

PROTOCOLS = ("__dlpack__", "__array_interface__", "__cuda_array_interface__")
BITS = ("and", "or", "xor")
LAST_INTEGER = int(Dtype.U64)


def is_integer(x):
    return 0 <= x.dtype_code <= LAST_INTEGER


def as_operand(context, x):
    """A Python number or an Array. NotImplemented if x is neither a real number nor an array."""
    if isinstance(x, (Arithmetic, int, float)):
        return x
    if isinstance(x, numbers.Real):  # of NumPy, which has numbers of other sizes
        return int(x) if isinstance(x, numbers.Integral) else float(x)
    if isinstance(x, raw.View) or any(hasattr(x, name) for name in PROTOCOLS):
        return context.asarray(x)
    return NotImplemented


def of_one_type(op, x, y):
    """The array x, and the array or number y, as elements of one type on which op is defined."""
    element = x.dtype_code
    if element > LAST_INTEGER and (not isinstance(y, Arithmetic) or y.dtype_code == element):
        return x, y
    if is_integer(x) and (op == "divide" or isinstance(y, float)):
        x = x.astype("f64")
        y = y.astype("f64") if isinstance(y, Arithmetic) and is_integer(y) else y
    if isinstance(y, Arithmetic) and (y.dtype_code != x.dtype_code or y.format != x.format):
        raise TypeError(f"the operands have elements of {x.dtype} and {y.dtype}; expected one type: astype() converts an array")
    if x.format != "?" or op not in (*BITS, "equal", "not_equal"):
        return x, y
    if op in BITS and not isinstance(y, Arithmetic | bool):
        raise TypeError(f"an operand is {y!r}; expected a bool, or an array of them, as the other one")
    return x.view("u8"), y.view("u8") if isinstance(y, Arithmetic) else y


def combine(function, op, array, other, reflected=False, out=None):
    """context.function(op, array, other). NotImplemented, so that Python asks the other operand, if that is no array or number."""
    context = array._ready()
    if not isinstance(other, Arithmetic):
        other = as_operand(context, other)
        if other is NotImplemented:
            return other
    if isinstance(other, Arithmetic):
        other._settle()
        if reflected and other.kind != array.kind:  # the result is where the array is
            other = context.array(other, Kind(array.kind))
        if array.memory is None and (other.on_device or not array.on_device):
            context = other._context
    x, y = of_one_type(op, array, other)
    result = getattr(context, function)(op, *((y, x) if reflected else (x, y)), out)
    return result.view("?") if array.format == "?" and out is None and function == "map" else result


def operators(op):
    """x + y, y + x and x += y for the operation `add`, and likewise for others."""

    def forward(self, other):
        return combine("map", op, self, other)

    def reflected(self, other):
        return combine("map", op, self, other, reflected=True)

    def in_place(self, other):
        out = self.view("u8") if self.format == "?" else self
        return self if combine("map", op, self, other, out=out) is not NotImplemented else NotImplemented

    return forward, reflected, in_place


def comparison(op):
    def compare(self, other):
        mask = combine("compare", op, self, other)
        return mask if mask is NotImplemented else mask.view("?")

    return compare


def function_of_one(op):
    def apply(self):
        return self._ready().map(op, self)

    return apply


def refuse_numpy_arguments(dtype, out, function="reduce"):
    """numpy.sum(x) and others pass them as None."""
    if dtype is not None or out is not None:
        raise TypeError(f"dtype= and out= are arguments of Context.{function}()")


class Arithmetic:
    """The base class of Array. A method waits for the work on the array, as item() does, and is complete on return."""

    __slots__ = ()
    __array_priority__ = 1000  # of two operands, NumPy asks this one

    __add__, __radd__, __iadd__ = operators("add")
    __sub__, __rsub__, __isub__ = operators("subtract")
    __mul__, __rmul__, __imul__ = operators("multiply")
    __truediv__, __rtruediv__, __itruediv__ = operators("divide")
    __and__, __rand__, __iand__ = operators("and")
    __or__, __ror__, __ior__ = operators("or")
    __xor__, __rxor__, __ixor__ = operators("xor")
    __lt__, __le__, __gt__, __ge__ = map(comparison, ("less", "less_equal", "greater", "greater_equal"))
    __eq__, __ne__ = map(comparison, ("equal", "not_equal"))
    __neg__, __abs__ = map(function_of_one, ("negate", "absolute"))

    def __invert__(self):
        return self ^ True if self.format == "?" else self._ready().map("not", self)

    def __setitem__(self, key, value):
        """Copies a number or an array of the same type, which is broadcast, to elements."""
        part = self[key]
        context = part._ready()
        value = as_operand(context, value)
        if value is NotImplemented:
            raise TypeError("expected a number or an array as the value of elements")
        if not isinstance(value, Arithmetic):
            if part.contiguous:
                return context.fill(part, value)
            value = context.full((), value, self.dtype, self.kind)
        value._settle()
        value = value._broadcast(part.shape)
        if (value.address, value.strides) != (part.address, part.strides):  # after x[key] += y, they are equal
            context.copy(part, value)

    def _broadcast(self, shape):
        lead = len(shape) - self.ndim
        if lead < 0 or any(own not in (1, extent) for own, extent in zip(self.shape, shape[lead:])):
            raise ValueError(f"the value has the shape {self.shape}; expected {shape}, or one that is broadcast to it")
        strides = (stride if own == extent else 0 for own, extent, stride in zip(self.shape, shape[lead:], self.strides))
        return self._part(self.address, shape, (0,) * lead + tuple(strides))

    def _ready(self):
        """The context, after the work on the array."""
        self._settle()
        return self._context

    def __array__(self, dtype=None, copy=None):
        """NumPy asks for it where it can't read the memory itself."""
        if not self.on_device:
            return self.numpy() if dtype is None else self.numpy().astype(dtype)
        raise TypeError("the array is in device memory, which NumPy can't read: Context.array(x, 'pinned') makes a copy that it can")

    def _reduce(self, op, axis, keepdims, dtype=None):
        x = self.view("u8") if self.format == "?" else self
        return x._ready().reduce(x, op, axis=axis, keepdims=keepdims, dtype=dtype)

    def sum(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """The sum over an axis, several axes as a tuple, or all. Without an axis, a Python number. Sums of integers are i64 or u64."""
        refuse_numpy_arguments(dtype, out)
        narrow = (axis is not None or keepdims) and self.dtype_code in (Dtype.F16, Dtype.BF16, Dtype.F32)
        return self._reduce("sum", axis, keepdims, NAMES[self.dtype_code] if narrow else None)

    def min(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """The minimum. The axis is as for sum(). The type is that of the array."""
        refuse_numpy_arguments(dtype, out)
        return self._extreme("min", axis, keepdims)

    def max(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """The maximum. The axis is as for sum(). The type is that of the array."""
        refuse_numpy_arguments(dtype, out)
        return self._extreme("max", axis, keepdims)

    def _extreme(self, op, axis, keepdims):
        if self.format == "?":
            raise TypeError(f"{op}() of an array of bool: expected any() or all(), or {op}() of its .view(\"u1\")")
        found = self._reduce(op, axis, keepdims)
        return found.astype(self.dtype) if isinstance(found, Arithmetic) and found.dtype_code != self.dtype_code else found

    def mean(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """The sum in f64, divided by the number of elements. The type is that of the array, or f64 for integers and bool."""
        refuse_numpy_arguments(dtype, out)
        total = self._reduce("sum", axis, keepdims)
        count = self._count(axis)
        if not isinstance(total, Arithmetic):
            return total / count if count else math.nan
        mean = total.astype("f64") if is_integer(total) else total
        mean /= float(count)
        return mean.astype(self.dtype) if Dtype.F16 <= self.dtype_code < Dtype.F64 else mean

    def _count(self, axis):
        """The number of elements that are reduced to one."""
        if axis is None:
            return self.size
        return math.prod(self.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))

    def any(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """Whether an element is not 0. The axis is as for sum(). Without an axis, a Python bool."""
        refuse_numpy_arguments(dtype, out)
        return self._true(axis, keepdims) != 0

    def all(self, axis=None, keepdims=False, *, dtype=None, out=None):
        """Whether no element is 0. The axis is as for sum(). Without an axis, a Python bool."""
        refuse_numpy_arguments(dtype, out)
        return self._true(axis, keepdims) == self._count(axis)

    def _true(self, axis, keepdims):
        """The number of elements that are not 0."""
        return (self if self.format == "?" else self != 0).sum(axis, keepdims)

    def argmin(self, axis=None, out=None):
        """The index of the minimum in C order, or its indices along an axis, as i64. A NaN counts as the minimum."""
        refuse_numpy_arguments(None, out, "argreduce")
        return self._index("min", axis)

    def argmax(self, axis=None, out=None):
        """The index of the maximum in C order, or its indices along an axis, as i64. A NaN counts as the maximum."""
        refuse_numpy_arguments(None, out, "argreduce")
        return self._index("max", axis)

    def _index(self, op, axis):
        x = self.view("u8") if self.format == "?" else self
        return x._ready().argreduce(x, op, axis=axis)[1]

    def cumsum(self, axis=None, dtype=None, out=None):
        """The sums of the elements up to each one, along an axis, or in C order as one axis. The types are those of sum()."""
        refuse_numpy_arguments(dtype, out, "scan")
        x = self.view("u8") if self.format == "?" else self
        narrow = NAMES[x.dtype_code] if x.dtype_code in (Dtype.F16, Dtype.BF16, Dtype.F32) else None
        x = x if axis is not None or x.contiguous else x.copy()
        return x._ready().scan(x, "sum", axis=axis, dtype=narrow)

    def clip(self, min=None, max=None, out=None):
        """A copy in which min replaces smaller elements and max larger ones. They are numbers or arrays, or None: no limit."""
        refuse_numpy_arguments(None, out, "map")
        found = self
        for op, limit in ("maximum", min), ("minimum", max):
            if limit is not None:
                found = combine("map", op, found, limit)
            if found is NotImplemented:
                raise TypeError(f"a limit of clip() is {limit!r}; expected a number, an array or None")
        return self.copy() if found is self else found

    def astype(self, dtype):
        """A copy with another type. Numbers lose their fraction in an integer type, and end at its limits."""
        code, _, form = element_of(dtype)
        if form == "?" and self.format != "?":
            return self != 0
        if code == self.dtype_code:
            return self.copy()
        context, x = self._ready(), self.view("u8") if self.format == "?" else self
        if code <= Dtype.U64 and not is_integer(x):
            x = context.map("truncate", x)
        return context.convert(x if x.contiguous else x.copy(), NAMES[code])

    def copy(self):
        """A copy without padding, in the same kind of memory."""
        return self._ready().array(self, self.kind)

    def transpose(self, *axes):
        """A view with the axes in this order, or in reverse order."""
        if len(axes) == 1 and not hasattr(axes[0], "__index__"):
            axes = tuple(axes[0]) if axes[0] is not None else ()
        order = [operator.index(axis) for axis in axes] or range(self.ndim)[::-1]
        if sorted(axis % self.ndim if -self.ndim <= axis < self.ndim else -1 for axis in order) != list(range(self.ndim)):
            raise ValueError(f"axes is {axes}; expected each of the {self.ndim} axes once")
        return self._part(self.address, *(tuple(own[axis] for axis in order) for own in (self.shape, self.strides)))
