"""Arrays that are spread over several contexts, in one process or in many. Participants are called members here.

A plan takes the memory of each member of this process: a list of arrays, with None for a member without a box. For one
member, the array itself will do. An array has no padding and at least DistLayout.size(member) elements. If the member has
one box, an array with the strides of the layout works too.
"""

import math
import threading
from collections import namedtuple
from contextlib import contextmanager, suppress

from . import _gpumem as raw
from .array import end, expect_callbacks
from .calls import numbers
from .context import Context, filled_options
from .core import read_struct, read_text
from .errors import Error, InvalidHandle
from .layout import described, operand, refuse
from .names import Dtype, Format, Op
from .streams import stream_handle
from .words import NAMES, SIZES, arg_code, dtype_code, format_code, integer, integers, op_code, unfit

# The parts of a context that operand() needs.
Member = namedtuple("Member", "core stream")
# The elements [first, end) that boxes need of a member's memory, and the shape and strides if it has exactly one box.
Needed = namedtuple("Needed", "first end shape strides")


class DistLayout:
    """An array of this shape, and the boxes of it that this process has.

    A box is one slice per axis, or (lower, upper). Box i belongs to member i of this process, or to members[i]. It begins
    offsets[i] elements after the start of the member's memory. Its strides in elements are strides[i], by default those of
    a box without padding. dtype is the element type, by default f64. For other types, pass element_bytes instead.
    """

    def __init__(self, shape, boxes=(), dtype=None, *, members=None, offsets=None, strides=None, element_bytes=None):
        self.shape = integers(shape, "shape")
        if dtype is not None and element_bytes is not None:
            raise ValueError("dtype and element_bytes are both given; expected one of them")
        self.dtype = None if element_bytes is not None else dtype_code("f64" if dtype is None else dtype)
        self.element_bytes = SIZES[self.dtype] if element_bytes is None else integer(element_bytes, "element_bytes")
        if not hasattr(boxes, "__iter__"):
            raise unfit("boxes", boxes, "a list of them")
        corners = [self._corners(box) for box in boxes]
        self.lower, self.upper = tuple(lower for lower, _ in corners), tuple(upper for _, upper in corners)
        self.members = integers(range(len(corners)) if members is None else members, "members", "one integer per box")
        self.offsets = integers((0,) * len(corners) if offsets is None else offsets, "offsets", "one integer per box")
        if not hasattr(strides, "__iter__") and strides is not None:
            raise unfit("strides", strides, "a list of those of each box")
        self.strides = tuple(self._tight(*pair) for pair in corners) if strides is None else tuple(integers(own, "strides") for own in strides)
        for name in ("members", "offsets", "strides"):
            if len(getattr(self, name)) != len(corners):
                raise ValueError(f"there are {len(getattr(self, name))} {name}; expected one per box, {len(corners)}")
        for place, own in enumerate(self.strides):
            self._require_axes(own, f"strides[{place}] has")

    def _require_axes(self, values, what):
        if len(values) != len(self.shape):
            raise ValueError(f"{what} {len(values)} values; expected one per axis, {len(self.shape)}")

    def _corners(self, box):
        box = (box,) if isinstance(box, slice) or not hasattr(box, "__iter__") else tuple(box)
        if box and all(isinstance(part, slice) for part in box):
            self._require_axes(box, f"the box {box} has")
            for part in box:
                integers([end for end in (part.start, part.stop, part.step) if end is not None], f"a slice of the box {box}", "integers")
            parts = [range(*part.indices(extent)) for part, extent in zip(box, self.shape)]
            if any(part.step != 1 for part in parts):
                raise ValueError(f"the box {box} has a step; expected slices without")
            if any(end is not None and end > extent for part, extent in zip(box, self.shape) for end in (part.start, part.stop)):
                raise ValueError(f"the box {box} leaves the array, whose shape is {self.shape}")
            return tuple(part.start for part in parts), tuple(max(part.start, part.stop) for part in parts)
        if len(box) != 2 or not all(hasattr(corner, "__len__") for corner in box):
            raise ValueError(f"the box {box} is neither slices, one per axis, nor (lower, upper)")
        lower, upper = (integers(corner, "a corner of a box") for corner in box)
        for corner in (lower, upper):
            self._require_axes(corner, f"a corner of the box {box} has")
        return lower, upper

    @staticmethod
    def _tight(lower, upper):
        extents = [max(after - first, 1) for first, after in zip(lower, upper)]
        return tuple(math.prod(extents[axis + 1 :]) for axis in range(len(extents)))

    def size(self, member):
        """The number of elements that the memory of a member of this process needs."""
        return self._needed(integer(member, "member")).end

    def _needed(self, member, low=None, high=None, periodic=None):
        """The Needed of a member. Ghost cells past the ends of an axis that is not periodic are not written."""
        first = end = 0
        whole = []
        for lower, upper, owner, offset, strides in zip(self.lower, self.upper, self.members, self.offsets, self.strides):
            if owner != member or any(after <= before for before, after in zip(lower, upper)):
                continue
            shape = tuple(after - before for before, after in zip(lower, upper))
            before, behind = low or (0,) * len(shape), high or (0,) * len(shape)
            if low is not None:
                before = [n if p else min(n, at) for n, p, at in zip(low, periodic, lower)]
                behind = [n if p else min(n, extent - at) for n, p, at, extent in zip(high, periodic, upper, self.shape)]
            first = min(first, offset - sum(n * s for n, s in zip(before, strides)))
            end = max(end, offset + 1 + sum((e - 1 + n) * s for e, n, s in zip(shape, behind, strides)))
            whole.append((shape, strides) if offset == 0 and low is None else None)
        only = whole[0] if len(whole) == 1 else None
        return Needed(first, end, *(only or (None, None)))

    def _filled(self):
        """A gpumem_dist_layout, and the arrays that it points to."""
        flat = [numbers("q", [value for own in values for value in own]) for values in (self.lower, self.upper, self.strides)]
        parts = [numbers("q", self.shape), numbers("i", self.members), *flat, numbers("q", self.offsets)]
        addresses = dict(zip(("extents", "members", "lower", "upper", "strides", "offsets"), (part.address for part in parts)))
        sizes = {"element_bytes": self.element_bytes, "rank": len(self.shape), "boxes": len(self.members)}
        return filled_options("gpumem_dist_layout", raw.gpumem_dist_layout_init, {**sizes, **addresses}), parts


def address_of(transport):
    if isinstance(transport, int):
        if transport == 0:
            raise ValueError("transport is the address 0; expected that of a gpumem_dist_transport, or None for this process alone")
        return transport
    view = raw.view(getattr(transport, "contents", transport))
    if view is None or view.size * view.itemsize <= SIZES[Dtype.I64]:  # too small for its first member, struct_size
        raise TypeError(f"transport is a {type(transport).__name__}; expected a communicator of mpi4py, or a gpumem_dist_transport: a structure of "
                        "ctypes, a pointer to it, or its address")
    return view.address


class Owner:
    """The owner of a handle, which ends when it is closed and no thread uses it in a call."""

    _what = ""

    def _begin(self):
        self.handle, self.over, self.calls = None, False, 0
        self.lock = threading.RLock()  # re-entrant: the collector may end one while the thread holds it

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def __del__(self, end=end):
        if hasattr(self, "lock"):
            end(self.close)

    def __enter__(self):
        self._require_open()
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Closes the handle. It ends after pending calls of other threads."""
        self.over = True
        self._end()

    def _require_open(self):
        if self.over:
            raise InvalidHandle(f"the {self._what} is closed")

    @contextmanager
    def _call(self):
        with self.lock:
            self._require_open()
            self.calls += 1
        try:
            yield self.handle
        finally:
            with self.lock:
                self.calls -= 1
            self._end()

    def _taken(self):
        """Takes the handle once it is closed and unused, else None."""
        with self.lock:
            if not self.over or self.calls:
                return None
            handle, self.handle = self.handle, None
            return handle


@contextmanager
def told(refused, *arguments):
    """Checks of a call that all processes make. If they raise, the library refuses the call without operands, and tells the other processes."""
    try:
        yield
    except Exception:
        with suppress(Error):
            refused(*arguments)
        raise


class Dist(Owner):
    """Joins contexts, with one member per context. A context may appear several times.

    `transport` connects to other processes, and the Dist takes it over. It is a communicator of mpi4py, or a filled
    gpumem_dist_transport: a structure of ctypes, a pointer to it, or its address. Its functions run in the thread of each
    call. The Dist ends with its last plan. If you pass an address, keep the memory until then. The end of `with` closes it.
    """

    _what = "dist"

    def __init__(self, contexts, transport=None, *, deadline_s=60.0, mpi_library=None):
        if not hasattr(contexts, "__iter__"):
            raise unfit("contexts", contexts, "a list of gpumem.Contexts")
        contexts = list(contexts)
        for place, context in enumerate(contexts):
            if not isinstance(context, Context):
                raise unfit(f"contexts[{place}]", context, "a gpumem.Context")
        self.members = [Member(context.core, context.stream) for context in contexts]
        self.plans = {}  # live plans by id: None, or the plan itself once nothing else refers to it
        self.ending = threading.RLock()  # close() waits for a thread that ends it, because the caller may free the transport afterwards
        self._begin()
        handles = numbers("Q", [member.core.handle for member in self.members])
        options = {"contexts": handles.address, "members": len(self.members), "deadline_s": deadline_s}
        table = transport
        if hasattr(transport, "py2f"):
            from .mpi import mpi_transport

            table = mpi_transport(transport, mpi_library)
        elif transport is not None:
            expect_callbacks()
            table = raw.transport_callbacks(address_of(transport)) or transport
        if table is not None:
            options["transport"] = address_of(table)
        self.transport = transport, table  # the library calls their functions until the end
        self.handle = raw.gpumem_dist_create(filled_options("gpumem_dist_options", raw.gpumem_dist_options_init, options))
        for member in self.members:
            member.core.users.add(id(self))

    def _is_forked(self):
        return any(member.core.is_forked() for member in self.members[:1])

    def _end(self, destroy=raw.gpumem_dist_destroy):
        if not self.over or self.calls or self._is_forked():
            return
        for plan in list(self.plans.values()):
            if plan is not None:
                plan._destroy()
        with self.ending:
            handle = None if self.plans else self._taken()
            if handle is None:
                return
            try:
                destroy(handle)
            finally:
                members, self.members, self.transport = self.members, [], None
                for member in members:
                    member.core.release(self)

    def query(self):
        """Describes the Dist: rank, size, first_member, members, all_members, status and staged_pairs."""
        with self._call() as handle:
            return read_struct("gpumem_dist_info", lambda p: raw.gpumem_dist_query(handle, p), raw.gpumem_dist_info_init)

    def abort(self):
        """Makes pending and later calls of this process raise PeerLost. You may call it from any thread."""
        with self._call() as handle:
            raw.gpumem_dist_abort(handle)

    def plan_redistribute(self, src, dst, order=None, *, workspace_bytes=None):
        """A plan that moves an array from one layout to another. Axis d of dst is axis order[d] of src."""
        with self._call() as handle:
            with self._told(handle):
                for layout, name in ((src, "src"), (dst, "dst")):
                    self._require_layout(layout, name)
                if order is not None:
                    order = integers(order, "order")
                    src._require_axes(order, "order has")
                (of, _of_kept), (to, _to_kept) = src._filled(), dst._filled()
                axes = None if order is None else numbers("i", order)
                options = self._plan_options(workspace_bytes)
            plan = raw.gpumem_dist_plan_redistribute(handle, of, to, axes, options)
            return DistPlan(self, plan, src, self._needed(src), self._needed(dst))

    def plan_halo(self, layout, low, high, periodic, *, workspace_bytes=None):
        """A plan that fills low[d] elements before each box along axis d and high[d] after it. periodic[d] wraps the axis."""
        names = "low", "high", "periodic"
        with self._call() as handle:
            with self._told(handle):
                self._require_layout(layout, "layout")
                around = [integers(values, name) for values, name in zip((low, high, periodic), names)]
                for values, name in zip(around, names):
                    layout._require_axes(values, f"{name} has")
                raw_layout, _kept = layout._filled()
                values = numbers("q", around[0]), numbers("q", around[1]), numbers("i", around[2])
                options = self._plan_options(workspace_bytes)
            plan = raw.gpumem_dist_plan_halo(handle, raw_layout, *values, options)
            return DistPlan(self, plan, layout, self._needed(layout, *around))

    def plan_reduce(self, layout, *, workspace_bytes=None):
        """A plan that reduces the sequence of the array's elements, the last axis fastest."""
        with self._call() as handle:
            with self._told(handle):
                self._require_layout(layout, "layout")
                raw_layout, _kept = layout._filled()
                options = self._plan_options(workspace_bytes)
            plan = raw.gpumem_dist_plan_reduce(handle, raw_layout, options)
            return DistPlan(self, plan, layout, self._needed(layout))

    @staticmethod
    def _told(handle):
        return told(raw.gpumem_dist_plan_reduce, handle, None, None)

    @staticmethod
    def _require_layout(layout, name):
        if not isinstance(layout, DistLayout):
            raise unfit(name, layout, "a gpumem.DistLayout")

    @staticmethod
    def _plan_options(workspace_bytes):
        options = {"workspace_bytes": workspace_bytes}
        return filled_options("gpumem_dist_plan_options", raw.gpumem_dist_plan_options_init, options)

    def _needed(self, layout, *ghosts):
        return [layout._needed(member, *ghosts) for member in range(len(self.members))]


class DistPlan(Owner):
    """A plan of Dist.plan_redistribute(), plan_halo() or plan_reduce(). It can run many times, and keeps its Dist."""

    _what = "plan"

    def __init__(self, dist, handle, layout, src, dst=None):
        self._begin()
        self.dist, self.handle = dist, handle
        self.dtype, self.element_bytes = layout.dtype, layout.element_bytes
        self.src, self.dst = src, dst
        dist.plans[id(self)] = None

    def __del__(self, end=end):
        if hasattr(self, "dist") and id(self) in self.dist.plans:
            self.over = True
            self.dist.plans[id(self)] = self
            end(self.close)

    def _end(self):
        if not self.over or self.calls or self.dist._is_forked():
            return
        self._destroy()
        self.dist._end()

    def _destroy(self, destroy=raw.gpumem_dist_plan_destroy):
        with self.dist.ending:
            handle = self._taken()
            if handle is None:
                return
            try:
                destroy(handle)
            finally:
                self.dist.plans.pop(id(self), None)

    def _parts(self, x, name, needed, streams=None, write=False):
        """The Views of each member's memory, and an array of their addresses."""
        parts = x if isinstance(x, list | tuple) else [x]
        if len(parts) != len(needed):
            raise ValueError(f"{name} has {len(parts)} parts; expected one per member, {len(needed)}")
        views = []
        for place, (part, need) in enumerate(zip(parts, needed)):
            stream = streams[place] if streams else None
            view = None if part is None else operand(self.dist.members[place], part, f"{name}[{place}]", stream, write)
            self._require(view, f"{name}[{place}]", need)
            views.append(view)
        return views, numbers("Q", [0 if view is None else view.address for view in views])

    def _require(self, view, name, need):
        if view is None:
            if need.end:
                raise ValueError(f"{name} is None; expected the memory of a member that has a box")
            return
        other = self.dtype is not None and view.dtype_code != self.dtype
        if other or view.itemsize != self.element_bytes:
            expected = f"of {self.element_bytes} bytes" if self.dtype is None else NAMES[self.dtype]
            raise TypeError(f"{name} has elements of {described(view)}; expected those of the layout, {expected}")
        if view.shape == need.shape and all(
                extent == 1 or own == wanted * view.itemsize for extent, own, wanted in zip(view.shape, view.strides, need.strides)):
            return
        if not view.contiguous:
            strided = need.strides is not None
            refuse(view, name, "elements without padding, or the strides of its box in the layout" if strided else
                   "the whole array without padding, of which the layout's offsets and strides give the boxes")  # fmt: skip
        if need.first < 0:
            raise ValueError(f"{name} has {view.size} elements, and its boxes with their halo reach from {need.first} to {need.end}; expected "
                             f"{need.end - need.first} elements, and offsets of the boxes that are {-need.first} more")
        if view.size < need.end:
            raise ValueError(f"{name} has {view.size} elements; expected {need.end}")

    def execute(self, src, dst=None, *, streams=None):
        """Moves src to dst, or without dst fills the halo of src. With `streams`, one per member, it is asynchronous."""
        with self._call() as handle:
            with told(raw.gpumem_dist_execute, handle, None, None):
                of, of_pointers, to, to_pointers = self._operands(src, dst, streams)
                handles = numbers("Q", [stream_handle(stream, f"streams[{place}]") or 0 for place, stream in enumerate(streams or [])])
            if streams is None:
                raw.gpumem_dist_execute(handle, of_pointers, to_pointers)
                return
            raw.gpumem_dist_execute_async(handle, of_pointers, to_pointers, handles)
            for stream, *kept in zip(streams, of, to):
                stream.keep((*kept, self))

    def _operands(self, src, dst, streams):
        if streams is not None and not isinstance(streams, list | tuple):
            raise unfit("streams", streams, "a list of gpumem.Streams, one per member")
        if streams is not None and len(streams) != len(self.src):
            raise ValueError(f"there are {len(streams)} streams; expected one per member, {len(self.src)}")
        if dst is None and self.dst is not None:
            raise TypeError("the plan moves src to dst; expected both")
        of = self._parts(src, "src", self.src, streams, write=dst is None)
        return *of, *((of[0], None) if dst is None else self._parts(dst, "dst", self.dst or self.src, streams, write=True))

    def _typed(self):
        if self.dtype is None:
            raise TypeError("the layout has no element type; expected a dtype instead of element_bytes")
        return self.dtype

    def reduce(self, x, op="sum"):
        """The reduction of all elements: an int, a float, or a pair for "min_max"."""
        with self._call() as handle:
            dtype, op, cell = self._typed(), op_code(op), raw.Cell()
            with told(raw.gpumem_dist_reduce, handle, dtype, op, None, cell):
                _views, pointers = self._parts(x, "x", self.src)
            raw.gpumem_dist_reduce(handle, dtype, op, pointers, cell)
            return (cell.result(dtype, 0), cell.result(dtype, 1)) if op == Op.MIN_MAX else cell.result(dtype, 0)

    def argreduce(self, x, op="min"):
        """The minimum, maximum or largest magnitude ("max_abs"), and its index in the whole array."""
        with self._call() as handle:
            dtype, op, value, index = self._typed(), arg_code(op), raw.Cell(), raw.Cell()
            with told(raw.gpumem_dist_argreduce, handle, dtype, op, None, value, index):
                _views, pointers = self._parts(x, "x", self.src)
            raw.gpumem_dist_argreduce(handle, dtype, op, pointers, value, index)
            return value.result(dtype, 0), index.i64

    def dot(self, x, y, *, order_free=False):
        """The sum of x[i] * y[i], of f32 or f64. If `order_free`, the bits are the same for every order of the elements, and members
        read their boxes where they are."""
        with self._call() as handle:
            dtype, cell = self._typed(), raw.Cell()
            dot = raw.gpumem_dist_dot_order_free if order_free else raw.gpumem_dist_dot
            with told(dot, handle, dtype, None, None, cell):
                (_x, x_pointers), (_y, y_pointers) = self._parts(x, "x", self.src), self._parts(y, "y", self.src)
            dot(handle, dtype, x_pointers, y_pointers, cell)
            return cell.f64

    def nrm2(self, x):
        """The Euclidean norm, of f32 or f64."""
        with self._call() as handle:
            dtype, cell = self._typed(), raw.Cell()
            with told(raw.gpumem_dist_nrm2, handle, dtype, None, cell):
                _views, pointers = self._parts(x, "x", self.src)
            raw.gpumem_dist_nrm2(handle, dtype, pointers, cell)
            return cell.f64

    def explain(self, format=Format.TEXT):
        """Describes the work of this process in the plan, as text or JSON."""
        with self._call() as handle:
            return read_text(lambda *room: raw.gpumem_dist_explain(handle, format_code(format), *room))
