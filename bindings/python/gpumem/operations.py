"""The operations of a context on arrays of any library.

With `stream`, they are asynchronous, and the stream keeps the operands until it has passed the operation. Otherwise they
are complete on return. Without `out`, the result is in the same kind of memory as the first operand that has axes. It is an
array of NumPy if that operand is one, else a gpumem.Array.
"""

from . import _gpumem as raw
from .array import Array, owner_of
from .calls import numbers
from .elementwise import Elementwise
from .layout import (contiguous, described, element_name, flags, image, indices, leading_dimension, operand, refuse, rows,
                     same_elements, typed, vector, whole_strides)
from .names import DEVICE_HOST, Dtype, Kind
from .reductions import Reductions
from .streams import stream_handle
from .words import NAMES, dtype_code, filter_code, integers

POSITIONS = (Dtype.I32, Dtype.U32, Dtype.I64, Dtype.U64)


class Operations(Elementwise, Reductions):
    """The base class of Context. It adds moves of elements, sorts and images."""

    def transpose(self, src, out=None, *, stream=None):
        """Transposes a matrix, or each matrix of a batch (three axes). out may be src, and the result then has the new shape.

        permute() takes any order of the axes.
        """
        if (done := raw.quick_transpose(self, stream, src, out)) is not None:
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
        if (done := raw.quick_permute(self, stream, src, order, out)) is not None:
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
        if (done := raw.quick_gather(self, stream, src, index, out, status)) is not None:
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
        if (done := raw.quick_scatter(self, stream, src, index, dst, status)) is not None:
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
        if (done := raw.quick_select(self, stream, src, mask, out, kept)) is not None:
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
        if (done := raw.quick_select_places(self, stream, mask, dtype_code(dtype), out, kept)) is not None:
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
        if (done := raw.quick_count(self, mask)) is not None:
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

    def sort(self, keys, out=None, *, descending=False, order=None, stream=None):
        """The keys in ascending or descending order. out may be keys. An array `order` also gets their positions.

        Several axes: the keys along the last one. The sort is stable. NaNs count as greater than every number.
        """
        if (done := raw.quick_sort(self, stream, keys, bool(descending), out, order, -1, None, None)) is not None:
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
        if (done := raw.quick_sort(self, stream, keys, bool(descending), None, out, code, None, None)) is not None:
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
        if (done := raw.quick_sort(self, stream, keys, bool(descending), out, order, -1, offsets, status)) is not None:
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
        if (done := raw.quick_resize(self, stream, filter_code(filter), src, size, out)) is not None:
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
