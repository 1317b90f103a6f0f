"""Describes arrays to the library as sequences, matrices or rows, and refuses strides that it can't take."""

import contextlib
import math
import operator
import reprlib
from itertools import zip_longest

from . import _gpumem as raw
from .array import DL_CPU, Array, from_interface, owner_of
from .names import DEVICE_HOST, Dtype, Kind, Op
from .streams import stream_handle
from .words import NAMES

MOST_CHANNELS = 4  # of an image
ORDER_FREE_OPS = (Op.MIN, Op.MAX, Op.MAX_ABS, Op.MIN_MAX, Op.COUNT_VALID, Op.MIN_VALID, Op.MAX_VALID)


def refuse(view, name, expected):
    """Raises ValueError with the wrong strides or shape, and a remedy."""
    found = f"{name} has the shape {view.shape} and strides of {view.strides} bytes"
    for stride, extent in zip(view.strides, view.shape):
        if extent > 1 and stride <= 0:
            found = f"{name} has a {'negative' if stride else 'zero'} stride ({view.strides} bytes)"
        elif extent > 1 and stride % view.itemsize:
            found = f"{name} has a stride of {stride} bytes, which is not a multiple of the element size, {view.itemsize}"
    walkable = all(s >= 0 and s % view.itemsize == 0 for s, extent in zip(view.strides, view.shape) if extent > 1)
    copied = ", or Context.array() of it," if walkable else ""
    if name.startswith(("dst", "out")):  # writing to a copy would not change the original
        raise ValueError(f"{found}; expected {expected}: write to an array that has them, and copy() from there")
    raise ValueError(f"{found}; expected {expected}: numpy.ascontiguousarray({name}){copied} has them")


def is_swapped(view):
    return view.format[:1] in (">", "!") and view.itemsize > 1


def same_elements(to, of, name="out"):
    """Raises TypeError if both sides of a move have different elements."""
    both_typed = to.dtype_code >= 0 and of.dtype_code >= 0
    if to.itemsize != of.itemsize or (both_typed and to.dtype_code != of.dtype_code) or is_swapped(to) != is_swapped(of):
        raise TypeError(f"{name} has elements of {element_name(to)} and {to.itemsize} bytes, src of {element_name(of)} and "
                        f"{of.itemsize}; expected the same, by convert() or by another view of the memory")


def whole_strides(view, name):
    """The strides in elements. Raises ValueError for those that are negative, or no multiple of an element."""
    if any(s < 0 or s % view.itemsize for s, extent in zip(view.strides, view.shape) if extent > 1):
        refuse(view, name, "strides of whole elements, 0 or more")
    return [max(stride, 0) // view.itemsize for stride in view.strides]


def element_name(view):
    """The element type for a message."""
    return NAMES[view.dtype_code] if view.dtype_code >= 0 else "bool" if view.format == "?" else f"format '{view.format}'"


def described(view):
    """Describes the elements for a message, with the remedy for bool."""
    return "bool, which .view(\"u1\") turns into numbers" if view.format == "?" else element_name(view)


def typed(view, name):
    """The code of the element type. Raises TypeError for elements that can only be moved."""
    if view.dtype_code < 0:
        why = "" if view.format == "?" else ", whose bytes are swapped" if is_swapped(view) else ", which is not an element type of gpumem"
        raise TypeError(f"{name} has elements of {described(view)}{why}; expected one of {', '.join(NAMES)}")
    return view.dtype_code


def with_axes(view, axes):
    """The same elements with the axes in this order."""
    shape, strides = (tuple(own[axis] for axis in axes) for own in (view.shape, view.strides))
    return Array(shape, view.dtype_code, address=view, strides=strides, readonly=view.readonly, kind=view.kind_code,
                 device=view.device, owner=owner_of(view), itemsize=view.itemsize, format=view.format)  # fmt: skip


def in_memory_order(view):
    """The same elements with their axes in the order of the memory, so that Fortran order becomes C order."""
    return with_axes(view, sorted(range(view.ndim), key=lambda axis: -view.strides[axis]))


def sequence(view, op=None):
    """The number of elements and their stride in elements, or None if they are no sequence in the order of their indices.

    Any order will do if the result does not depend on it, as for a maximum.
    """
    stride = view.sequence_stride
    exact = op is not None and (view.dtype_code < Dtype.F16 or op in ORDER_FREE_OPS)
    if stride < 1 and exact:
        stride = in_memory_order(view).sequence_stride
    return (view.size, stride) if stride >= 1 else None


def strides_over(view, name, shape):
    """The strides in elements with which the elements have this shape, in the order of their indices."""
    if view.shape != shape:
        if view.sequence_stride < 1 or view.size != math.prod(shape):
            raise ValueError(f"{name} has the shape {view.shape} and strides of {view.strides} bytes; expected the shape {shape}")
        return [view.sequence_stride * math.prod(shape[axis + 1:]) for axis in range(len(shape))]
    if any(s < 0 or s % view.itemsize for s, extent in zip(view.strides, view.shape) if extent > 1):
        refuse(view, name, "strides of whole elements, 0 or more")
    return [max(stride, 0) // view.itemsize for stride in view.strides]


def contiguous(view, name):
    if not view.contiguous:
        refuse(view, name, "elements without padding")
    return view.size


def is_fortran(view):
    """True if the array has no padding and the first index is the fastest."""
    axes = fuse(view.shape[::-1], view.strides[::-1])
    return not view.contiguous and axes is not None and axes[1] == view.itemsize


def of_one_order(of, to):
    """The number of elements of src and out, which are processed in the same order."""
    if not of.contiguous and of.shape == to.shape and all(
            extent == 1 or s * to.itemsize == t * of.itemsize for extent, s, t in zip(of.shape, of.strides, to.strides)):
        of, to = in_memory_order(of), in_memory_order(to)
    if contiguous(of, "src") != contiguous(to, "out"):
        raise ValueError(f"out has {to.size} elements; expected {of.size}")
    return of.size


def require_vector(view, name, instead=""):
    """`instead`: what to do with other arrays."""
    if view.ndim != 1:
        raise ValueError(f"{name} has {view.ndim} axes; expected 1{f' ({instead})' if instead else ''}")


def numbers_of(view, name, *dtypes):
    """The number of elements of a vector of indices or offsets with one of these types."""
    require_vector(view, name)
    if view.dtype_code not in dtypes:
        expected = " or ".join(NAMES[dtype] for dtype in dtypes)
        mask = "; numpy.flatnonzero() of a mask has its indices" if view.format == "?" else ""
        raise ValueError(f"{name} has elements of {element_name(view)}; expected {expected}{mask}")
    return contiguous(view, name)


def vector(view, name, instead):
    """The number of elements of a vector without padding. `instead`: what to do with other arrays."""
    require_vector(view, name, instead)
    return contiguous(view, name)


def indices(view, name):
    return numbers_of(view, name, Dtype.I32, Dtype.U32, Dtype.I64, Dtype.U64)


def flags(view, name):
    """The number of elements of a mask."""
    require_vector(view, name)
    if view.format != "?" and view.dtype_code not in (Dtype.U8, Dtype.I8):
        raise ValueError(f"{name} has elements of {element_name(view)}; expected bool, u8 or i8")
    return contiguous(view, name)


def first_with_axes(views):
    """The index of the array that the result is like: the first one with axes, else the first one. None stands for a number."""
    arrays = [i for i, view in enumerate(views) if view is not None]
    return next((i for i in arrays if views[i].ndim), arrays[0] if arrays else None)


def fuse(shape, strides):
    """The axes combined into one: its extent and its stride in bytes. None if they can't be combined."""
    if 0 in shape:
        return 0, 0
    extent, stride = 1, 0
    for e, s in zip(reversed(shape), reversed(strides)):
        if e == 1:
            continue
        if extent != 1 and s != stride * extent:
            return None
        if extent == 1:
            stride = s
        extent *= e
    return extent, stride


def elements(view, stride, extent, least=0):
    """The stride in elements. `least` for at most one element. None if it is less than `least` or not a whole number."""
    if extent <= 1:
        return least
    return stride // view.itemsize if stride >= least * view.itemsize and stride % view.itemsize == 0 else None


def leading_dimension(view):
    """The leading dimension of the last two axes. None if a row has padding inside or rows overlap."""
    rows, cols = view.shape[-2:]
    ld = elements(view, view.strides[-2], rows, max(cols, 1))
    return None if ld is None or (cols > 1 and view.strides[-1] != view.itemsize) else max(ld, cols)


def rows(view, name):
    """The number of rows, their bytes and their pitch, for gather and scatter."""
    if view.ndim < 1:
        raise ValueError(f"{name} has no axis to count rows on")
    inner = fuse(view.shape[1:], view.strides[1:])
    row_bytes = inner[0] * view.itemsize if inner else 0
    pitch = view.strides[0] if view.shape[0] > 1 else row_bytes
    if inner is None or (inner[0] > 1 and inner[1] != view.itemsize) or pitch < row_bytes:
        refuse(view, name, "rows without padding, one after the other")
    return view.shape[0], row_bytes, pitch


def matrix_of_rows(view, name):
    """The number of rows, their elements and the leading dimension."""
    count, row_bytes, pitch = rows(view, name)
    if pitch % view.itemsize:
        refuse(view, name, "rows at strides of whole elements")
    return count, row_bytes // view.itemsize, pitch // view.itemsize


def image(view, name, batch=False):
    """The rows, columns, channels and pitch of an image with axes (rows, columns) or (rows, columns, channels).

    With `batch`, the first axis counts images, which all have that layout.
    """
    shape, strides = (view.shape[1:], view.strides[1:]) if batch else (view.shape, view.strides)
    if len(shape) not in (2, 3):
        raise ValueError(f"{name} has {view.ndim} axes; expected {'images, ' if batch else ''}rows and columns, or those and channels")
    channels = shape[2] if len(shape) == 3 else 1
    if channels > MOST_CHANNELS:
        first = "images, " if batch else ""
        raise ValueError(f"{name} has the shape {view.shape} of ({first}rows, columns, channels); expected 1 to {MOST_CHANNELS} channels: a batch of "
                         f"images without channels is {name}[..., None], with the axes (images, rows, columns, 1)")
    inner = fuse(shape[1:], strides[1:])
    pixels = shape[1] * channels
    pitch = strides[0] if shape[0] > 1 else pixels * view.itemsize
    if inner is None or (pixels > 1 and inner[1] != view.itemsize) or pitch < 0:
        refuse(view, name, "interleaved channels, rows without padding")
    return shape[0], shape[1], channels, pitch


def axes_of(view, axis):
    """The axes as numbers from 0: one, those of a tuple, or all if axis is None."""
    try:
        axes = [operator.index(a) for a in (range(view.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,))]
    except TypeError:
        raise TypeError(f"axis is {axis!r}; expected an integer or a tuple of integers") from None
    for a in axes:
        if not -view.ndim <= a < view.ndim:
            raise axis_error(view, a)
    axes = [a % view.ndim for a in axes]
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis is {axis}; expected each axis once")
    return axes


def axis_error(view, axis):
    return ValueError(f"axis is {axis}; expected " + (f"{-view.ndim} to {view.ndim - 1}" if view.ndim else "none, because the array has no axes"))


def axis_of(view, axis):
    """The axis as a number from 0."""
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}; expected one integer") from None
    if not -view.ndim <= axis < view.ndim:
        raise axis_error(view, axis)
    return axis % view.ndim


def lines(view, axis):
    """The arguments of a reduction along an axis, or None if it is not one of rows or columns of matrices.

    Returns 0 (each row) or 1 (each column), rows, cols, ld, batches, batch stride, the shape of the results and `order`.
    Results are written in the order of the memory of x. `order` lists their axes, or is None for the order of the indices.
    """
    axis = axis_of(view, axis)
    shape, strides, size = list(view.shape), list(view.strides), view.itemsize
    extent, stride = shape.pop(axis), strides.pop(axis)
    order = sorted(range(len(shape)), key=lambda a: -strides[a] if strides[a] else -math.inf)  # repeated axes (stride 0) are the outermost
    walked = [a for a in order if shape[a] != 1]
    others = collapse([shape[a] for a in walked], [strides[a] for a in walked]) if view.size else [(math.prod(shape), size)]
    if any(s < 0 or s % size for _, s in others) or (extent > 1 and (stride < 0 or stride % size)):
        refuse(view, "x", "strides of whole elements, 0 or more")
    dense = bool(others) and others[-1][1] == size
    of_cols = extent == 0 or (dense if extent == 1 else stride != size)
    if of_cols:
        row, cols = (extent, stride), others.pop()[0] if dense else 1
    else:
        row, cols = others.pop() if others and others[-1][1] >= extent * size else (1, 0), extent
    batches = others.pop() if others else (1, 0)
    ld, batch_stride = elements(view, row[1], row[0], max(cols, 1)), elements(view, batches[1], batches[0])
    if others or ld is None or batch_stride is None:
        return None
    return int(of_cols), row[0], cols, max(ld, cols), batches[0], batch_stride, tuple(shape), None if walked == sorted(walked) else order


def broadcast_shape(views):
    """The broadcast shape of arrays by the rules of NumPy. broadcast() reports arrays that do not fit."""
    backwards = (reversed(view.shape) for view in views)
    return tuple(next((e for e in own if e != 1), 1) for own in zip_longest(*backwards, fillvalue=1))[::-1]


def broadcast(view, name, shape):
    """The strides, in elements, that give a view this shape. Repeated axes have stride 0."""
    lead = len(shape) - view.ndim
    if lead < 0 or any(own not in (1, extent) for own, extent in zip(view.shape, shape[lead:])):
        raise ValueError(f"{name} has the shape {view.shape}; expected {shape}, or one that is broadcast to it")
    if any(s < 0 or s % view.itemsize for s, extent in zip(view.strides, view.shape) if extent > 1):
        refuse(view, name, "strides of whole elements, 0 or more")
    return (0,) * lead + tuple(s // view.itemsize if e > 1 else 0 for s, e in zip(view.strides, view.shape))


def collapse(shape, *strides):
    """The smallest list of axes for arrays of one shape: [(extent, stride of each array)]."""
    axes = []
    for extent, *own in zip(shape, *strides):
        if extent == 1:
            continue
        if axes and all(outer == inner * extent for outer, inner in zip(axes[-1][1:], own)):
            axes[-1] = (axes[-1][0] * extent, *own)
        else:
            axes.append((extent, *own))
    return axes


# --------------------------------------------------------------------------------------------- arrays of other libraries


def operand(context, x, name, stream=None, write=False):
    """A View of an array of any library. The stream waits for that library's work on the array."""
    view = x if type(x) is Array else raw.operand(context, x, stream)
    if view is None:
        if hasattr(x, "mask") and hasattr(x, "compressed"):
            raise TypeError(f"{name} is a masked array, and an operation does not see its mask; expected {name}.compressed(), "
                            f"{name}.filled(value), or {name}.data for the masked elements too")
        view = of_buffer(x)
        if view is None:
            view = foreign(context, x, name, stream)
        if view.dtype_code < 0 and getattr(getattr(x, "dtype", None), "hasobject", False):
            raise TypeError(f"{name} has elements that are Python objects, which can't be moved")
    if write and view.readonly:
        raise ValueError(f"{name} is read-only")
    return view


def of_buffer(x):
    """A View of an object with a buffer, or None for other objects. Returning None keeps tracebacks free of this exception."""
    try:
        return raw.view(x)
    except (TypeError, ValueError, BufferError) as error:
        if hasattr(x, "__cuda_array_interface__"):  # CuPy has a buffer, but refuses to export device memory
            return None
        interface = getattr(x, "__array_interface__", None) if isinstance(error, ValueError) else None
        if interface is None:
            raise
    return from_interface(x, interface, Kind.PAGEABLE, DEVICE_HOST)  # NumPy's buffers can't describe bfloat16 and times


def foreign(context, x, name, stream):
    if stream is not None:
        stream_handle(stream)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return from_dlpack(context, x, name, stream)
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        view = from_interface(x, interface, Kind.DEVICE, context.core.device)
        if interface.get("stream") is not None:
            context.core.order_after_native(stream, interface["stream"])
        return view
    interface = getattr(x, "__array_interface__", None)
    if interface is None:
        raise TypeError(f"{name} is a {type(x).__name__}; expected an array: of gpumem, or with a buffer, __dlpack__, "
                        "__cuda_array_interface__ or __array_interface__")
    return from_interface(x, interface, Kind.PAGEABLE, DEVICE_HOST)


def from_dlpack(context, x, name, stream):
    is_neg = getattr(x, "is_neg", None)
    if callable(is_neg) and is_neg() is True:  # PyTorch exports the numbers in memory, which have the other sign
        raise BufferError(f"{name} has PyTorch's negative bit, so its elements have the other sign in memory; expected {name}.resolve_neg()")
    device, words, capsule = x.__dlpack_device__(), {}, None
    try:
        place, _ = map(operator.index, device)
    except (TypeError, ValueError):
        raise BufferError(f"{name}.__dlpack_device__() gives {reprlib.repr(device)}; expected the type of a device and its number") from None
    if place != DL_CPU and context.core.cuda:
        # The other library makes this stream wait for its own stream.
        words["stream"] = (stream or context.stream).native
    with contextlib.suppress(TypeError):  # a library without versioned capsules
        capsule = x.__dlpack__(max_version=(1, 0), **words)
    return raw.dlpack_import(x.__dlpack__(**words) if capsule is None else capsule)
