"""A context: a device, its memory, its streams, and the operations on arrays."""

import os
import struct
import weakref

from . import _gpumem as raw
from .array import DL_CPU, DL_CUDA, Array, expect_callbacks, shape_of
from .core import Core, Handle, Record, read_struct, read_text
from .errors import InvalidHandle
from .layout import collapse, operand, refuse, same_elements
from .names import DEVICE_BEST, DEVICE_CUDA, DEVICE_HOST, STRUCTS, Advice, Dtype, Format, Kind, Status
from .operations import Operations
from .streams import Event, Stream, stream_handle
from .words import codes, element_of, family_code, format_code, integer, kind_code, path_bytes, pattern_of, real

DEVICES = {"host": DEVICE_HOST, "best": DEVICE_BEST, "cuda": DEVICE_CUDA}
advice_code = codes(Advice, "advice")
PROFILE_ENDINGS = {b".csv": Format.CSV, b".json": Format.JSON, b".trace": Format.TRACE}


def device_number(device):
    if isinstance(device, str) and device not in DEVICES:
        raise ValueError(f"{device!r} is not a device; expected a number, or one of {', '.join(DEVICES)}")
    return DEVICES[device] if isinstance(device, str) else integer(device, "device")


def version():
    """(major, minor, patch) of the loaded library."""
    cells = [raw.Cell() for _ in range(3)]
    raw.gpumem_version(*cells)
    return tuple(cell.i32 for cell in cells)


def device_count():
    """The number of CUDA devices that this process can use. 0 without a driver."""
    count = raw.Cell()
    raw.gpumem_device_count(count)
    return count.i32


def device_query(device="best"):
    """Describes a device without creating a context."""
    number = device_number(device)
    return read_struct("gpumem_device_info", lambda p: raw.gpumem_device_query(number, p), raw.gpumem_device_info_init)


def last_problem():
    """The operation descriptor of this thread's last operation, for Context.explain()."""
    return read_text(raw.gpumem_last_problem)


def variants(family):
    """The names of an operation's variants, in the order in which the library tries them."""
    count, code = raw.Cell(), family_code(family)
    raw.gpumem_variant_count(code, count)
    return [raw.gpumem_variant_name(code, index) for index in range(count.i32)]


def filled_options(name, init, options):
    """A struct of options in which these members are set."""
    layout, members = STRUCTS[name]
    size = struct.calcsize(layout)
    room = raw.View((size,), int(Dtype.U8))
    init(room, size)
    values = dict(zip(members, struct.unpack(layout, room)))
    unknown = set(options) - set(members)
    if unknown:
        raise TypeError(f"{name} has no option {', '.join(sorted(unknown))}")
    given = {member: value for member, value in options.items() if value is not None}
    values.update({member: (real if isinstance(values[member], float) else integer)(value, member) for member, value in given.items()})
    try:
        struct.pack_into(layout, room, 0, *values.values())
    except struct.error:
        member = max(given, key=lambda member: abs(values[member]))
        raise OverflowError(f"{member} is {values[member]}; expected fewer bits") from None
    return room


class Context(Operations):
    """A device and everything on it. The end of `with` waits for the work and closes the context."""

    def __init__(self, device="best", *, log=None, parallel_for=None, **options):
        """Creates a context on a device: "best", "cuda", "host" or the number of a CUDA device.

        "best" is your current CUDA device, else the first one, else the host.
        Any thread may call log(level, message).
        parallel_for(tasks, task) must call task(i) once for each i below tasks, on any threads. The library runs missing tasks.
        Other options are the members of gpumem_ctx_options by name, such as host_threads, stream_host_data or debug_memory.
        """
        raw.log_callback([None], log)  # raises TypeError before the context exists
        function, user = raw.parallel_for_callback(parallel_for)
        if parallel_for is not None:
            expect_callbacks()
        options.update(device=device_number(device), parallel_for=function, parallel_for_user=user)
        handle = raw.gpumem_ctx_create(filled_options("gpumem_ctx_options", raw.gpumem_ctx_options_init, options))
        self._begin(Core(handle, parallel_for, follows_legacy=not options.get("non_blocking_stream")))
        if log is not None:
            self.set_log(log)

    def _begin(self, core):
        self._core, self.handle = core, Handle(core)
        core.context = weakref.ref(self)
        self._stream = Stream.own(core)

    @classmethod
    def process_wide(cls, device=0):
        """The process-wide context of a device, which never ends. The allocators for PyTorch and CuPy use its memory."""
        context = cls.__new__(cls)
        context._begin(Core(raw.gpumem_shared_ctx(device_number(device)), shared=True))
        return context

    def close(self):
        """Waits for the work and closes the context.

        The device is released after the last array, stream and event of the context, and after pending calls of other threads.
        """
        stream, core = self._stream, self._core  # another thread may close it now
        if stream is not None and core is not None:
            raw.gpumem_ctx_synchronize(core.handle)
            stream.synchronize()
            self._core = self._stream = self.handle = None

    @property
    def core(self):
        return self._open(self._core)

    @property
    def stream(self):
        """The context's own stream."""
        return self._open(self._stream)

    @staticmethod
    def _open(part):
        if part is None:
            raise InvalidHandle("the context is closed")
        return part

    def __enter__(self):
        self.core  # raises if the context is closed
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def device(self):
        """Describes the device, with the reason why it was chosen."""
        return self.core.device_info()

    @property
    def status(self):
        """Status.OK, or the device fault that broke the context."""
        try:
            raw.gpumem_ctx_status(self.handle)
            return Status.OK
        except Exception as error:
            return error.status

    def synchronize(self):
        """Waits for the work on all streams."""
        raw.gpumem_ctx_synchronize(self.handle)
        self.stream.synchronize()

    def set_log(self, log):
        """Calls log(level, message) for messages of the context. None ends that."""
        self.core.set_log(log)

    def warmup(self):
        """Does in advance what the first operations would do: it loads kernels and starts threads."""
        raw.gpumem_ctx_warmup(self.handle)

    def Stream(self, native=None):
        """A new stream. `native` is a CUDA stream to borrow: a number, or an object of PyTorch or CuPy."""
        return Stream(self, native)

    def Event(self):
        """An event, which marks a position in a stream."""
        return Event(self)

    # --------------------------------------------------------------------------------------------------------- memory

    def _empty(self, shape, dtype="f64", kind="device", *, stream=None, alignment=256):
        dtype, itemsize, form = element_of(dtype)
        shape, kind = shape_of(shape), kind_code(kind)
        alignment = alignment if type(alignment) is int else integer(alignment, "alignment")
        return (self._core or self.core).allocate(shape, dtype, kind, stream, alignment, itemsize, form)

    def full(self, shape, value, dtype="f64", kind="device", *, stream=None):
        """An array whose elements all have this value."""
        array = self.empty(shape, dtype, kind, stream=stream)
        self.fill(array, value, stream=stream)
        return array

    def zeros(self, shape, dtype="f64", kind="device", *, stream=None):
        """An array of zeros."""
        return self.full(shape, 0, dtype, kind, stream=stream)

    def array(self, x, kind="device", *, stream=None):
        """A copy of an array of any library, without padding."""
        view = operand(self, x, "x", stream)
        copy = self.core.allocate(view.shape, view.dtype_code, kind_code(kind), itemsize=view.itemsize, format=view.format)
        self.copy(copy, view, stream=stream)
        return copy

    def asarray(self, x):
        """A gpumem.Array of the same memory as an array of another library.

        The context's own stream waits for that library's pending work on the array.
        """
        view = operand(self, x, "x")
        if isinstance(view, Array):
            return view
        return Array(view.shape, view.dtype_code, address=view, strides=view.strides, readonly=view.readonly,
                     kind=view.kind_code, device=view.device, owner=view, itemsize=view.itemsize, format=view.format)

    def used_on(self, array, stream):
        """Declares that a stream uses device memory. The memory is then freed after that stream's work."""
        memory = array.memory if isinstance(array, Array) else None
        if memory is None:
            raise TypeError(f"array is a {type(array).__name__}; expected a gpumem.Array in device memory of this context")
        raw.gpumem_memory_used_on(self.handle, memory.address, stream_handle(stream))
        memory.used_on(stream)

    def label(self, array, label):
        """Names an allocation in the reports of debug mode and of live memory."""
        raw.gpumem_memory_label(self.handle, array if isinstance(array, int) else operand(self, array, "array"), label)

    def register(self, x):
        """Pins the memory of an array until unregister(), so that copies run at full speed."""
        view = operand(self, x, "x", write=True)
        raw.gpumem_host_register(self.handle, view, view.size * view.itemsize)
        self.core.registered[view.address] = raw.Keep(view)

    def unregister(self, x):
        """Ends register() for the memory of x."""
        view = operand(self, x, "x")
        raw.gpumem_host_unregister(self.handle, view)
        del self.core.registered[view.address]

    def pointer(self, x):
        """Describes the memory of an array or at an address."""
        address = x if isinstance(x, int) else operand(self, x, "x")
        return read_struct("gpumem_pointer_info", lambda p: raw.gpumem_pointer_query(self.handle, address, p),
                           raw.gpumem_pointer_info_init)

    def memory_stats(self):
        """Counts and bytes of the context's memory, as attributes."""
        return read_struct("gpumem_memory_stats_info", lambda p: raw.gpumem_memory_stats(self.handle, p),
                           raw.gpumem_memory_stats_init)

    def memory_trim(self, keep_bytes=0):
        """Returns free memory of the pools to the system, except keep_bytes of it."""
        keep_bytes = integer(keep_bytes, "keep_bytes")
        raw.gpumem_memory_trim(self.handle, keep_bytes)

    def memory_check(self):
        """In debug mode, raises Corrupted if a write went past an allocation or into freed memory."""
        raw.gpumem_memory_check(self.handle)

    def memory_trace(self, path):
        """Starts writing all allocations and frees to a file. None stops it."""
        raw.gpumem_memory_trace(self.handle, None if path is None else path_bytes(path))

    def ceiling(self):
        """Measured peak bandwidth of device memory, and of PCIe or NVLink, in bytes per second. The first call measures it."""
        return read_struct("gpumem_ceiling_info", lambda p: raw.gpumem_ceiling(self.handle, p),
                           raw.gpumem_ceiling_info_init)

    def profile_begin(self, most_records=1 << 14):
        """Starts recording calls, with the time of their work."""
        most_records = integer(most_records, "most_records")
        raw.gpumem_profile_begin(self.handle, most_records)

    def profile_end(self):
        """Ends profile_begin()."""
        raw.gpumem_profile_end(self.handle)

    def profile(self):
        """The recorded calls: one row per problem and variant, the longest time first, then one per pair of memory kinds."""
        layout, members = STRUCTS["gpumem_profile_row"]
        size, count = struct.calcsize(layout), raw.Cell()
        raw.gpumem_profile_report(self.handle, None, 0, count)
        cap = count.i64
        room = raw.View((max(cap, 1) * size,), int(Dtype.U8))
        raw.gpumem_profile_row_init(room, size)
        raw.gpumem_profile_report(self.handle, room, cap, count)
        there = min(cap, count.i64)  # fewer if another thread restarted the profile
        rows = struct.iter_unpack(layout, memoryview(room)[: there * size])
        return [Record(members[1:], row[1:]) for row in rows]

    def profile_write(self, path, format=None):
        """Writes the profile to a file. The ending .csv, .json or .trace selects the format. Others give a text table."""
        path = path_bytes(path)
        format = PROFILE_ENDINGS.get(os.path.splitext(path)[1], Format.TEXT) if format is None else format
        raw.gpumem_profile_write(self.handle, format_code(format), path)

    def tune(self, line=None, budget_s=2.0):
        """Measures the variants for an operation descriptor, by default this thread's last one, and selects the fastest."""
        line = last_problem() if line is None else line
        if not isinstance(line, str):
            raise TypeError(f"line is a {type(line).__name__}; expected an operation descriptor")
        options = filled_options("gpumem_tune_options", raw.gpumem_tune_options_init, {"budget_s": budget_s})
        return read_struct("gpumem_tune_info", lambda p: raw.gpumem_tune(self.handle, line, options, p),
                           raw.gpumem_tune_info_init)

    def tuning_load(self, path):
        """Loads a tuning file. Returns the numbers of used and skipped lines."""
        taken, skipped = raw.Cell(), raw.Cell()
        raw.gpumem_tuning_load(self.handle, path_bytes(path), taken, skipped)
        return taken.i64, skipped.i64

    def tuning_save(self, path):
        """Writes the tuned variants to a file, which tuning_load() reads."""
        raw.gpumem_tuning_save(self.handle, path_bytes(path))

    def tuning_clear(self):
        """Forgets the tuned variants."""
        raw.gpumem_tuning_clear(self.handle)

    # -------------------------------------------------------------------------------------------------------- managed

    def prefetch(self, x, device=None, *, stream=None):
        """Moves managed memory to a device: "host" or a number. The default is the context's device."""
        view = operand(self, x, "x", stream)
        where = self.core.device if device is None else device_number(device)
        self._run("gpumem_managed_prefetch", stream, (view, view.size * view.itemsize, where), (view,))

    def advise(self, x, advice, device=None):
        """Advises the driver where managed memory is used."""
        view = operand(self, x, "x")
        where = self.core.device if device is None else device_number(device)
        raw.gpumem_managed_advise(self.handle, view, view.size * view.itemsize, advice_code(advice), where)

    def managed(self, x):
        """The current location of managed memory, and the advice given for it."""
        view = operand(self, x, "x")
        bytes_ = view.size * view.itemsize
        return read_struct("gpumem_managed_info", lambda p: raw.gpumem_managed_query(self.handle, view, bytes_, p),
                           raw.gpumem_managed_info_init)

    # ------------------------------------------------------------------------------------------------------- movement

    def copy(self, dst, src, *, stream=None):
        """Copies src to dst. Both have the same shape and element type, any kinds of memory, and any strides of 0 or more."""
        if raw.quick_copy(self, stream, dst, src) is not None:
            return
        to, of = operand(self, dst, "dst", stream, write=True), operand(self, src, "src", stream)
        if to.shape != of.shape:
            raise ValueError(f"dst has the shape {to.shape}, src {of.shape}; expected the same, because copy() does not broadcast")
        same_elements(to, of, "dst")
        if to.size == 0:
            return
        axes = collapse(to.shape, to.strides, of.strides)
        whole = not axes or axes[-1][1:] == (to.itemsize, to.itemsize)
        if not whole or len(axes) > 3:
            return self._permute(to, of, tuple(range(to.ndim)), stream)
        row = (axes.pop()[0] if axes else 1) * to.itemsize
        pitches = [a for axis in axes for a in axis[1:]]
        if not axes:
            self._run("gpumem_copy", stream, (to, of, row), (to, of))
        elif len(axes) == 1 and min(pitches) >= row:
            self._run("gpumem_copy_2d", stream, (to, pitches[0], of, pitches[1], row, axes[0][0]), (to, of))
        elif len(axes) == 2 and min(pitches) >= row:
            args = (to, pitches[2], pitches[0], of, pitches[3], pitches[1], row, axes[1][0], axes[0][0])
            self._run("gpumem_copy_3d", stream, args, (to, of))
        else:
            self._permute(to, of, tuple(range(to.ndim)), stream)

    def fill(self, dst, value, *, stream=None):
        """Sets every element of dst to `value`, which is a number or the bytes of an element."""
        if raw.quick_fill(self, stream, dst, value) is not None:
            return
        to = operand(self, dst, "dst", stream, write=True)
        pattern = raw.view(pattern_of(to, value))
        axes = collapse(to.shape, to.strides) if to.size else []
        if not axes or (len(axes) == 1 and axes[0][1] == to.itemsize):
            self._run("gpumem_fill", stream, (to, pattern, to.itemsize, to.size), (to,))
        elif len(axes) <= 2 and (len(axes) == 1 or axes[1][1] == to.itemsize) and axes[0][1] >= to.itemsize:
            cols = axes[1][0] if len(axes) == 2 else 1
            self._run("gpumem_fill_2d", stream, (to, axes[0][1], pattern, to.itemsize, cols, axes[0][0]), (to,))
        else:
            refuse(to, "dst", "rows without padding, one after the other")

    # ------------------------------------------------------------------------------------------------------- variants

    def force(self, family, name):
        """Overrides the choice of variants for an operation. None ends the override."""
        raw.gpumem_variant_force(self.handle, family_code(family), name)

    def explain(self, line=None, format=Format.TEXT):
        """Explains where an operation would run, with which variant, and why. By default this thread's last operation."""
        line = last_problem() if line is None else line
        return read_text(lambda *room: raw.gpumem_explain(self.handle, line, format_code(format), *room))


process_wide = {}  # contexts for arrays in memory of other libraries, by process and device


def process_context(device):
    key = os.getpid(), device
    return process_wide.get(key) or process_wide.setdefault(key, Context.process_wide(device))


def context_of(array):
    """The context of an array's memory, or another one for the same memory if that is closed."""
    memory = array.memory
    if memory is None:
        return process_context(array.device)
    context = memory.core.context()
    if context is None or context._core is None:
        context = Context.__new__(Context)
        context._begin(memory.core)
    return context


def new_like(shape, dtype, itemsize, form, place, device):
    """An array for a library that asks by DLPack: on the host, or in memory of the process-wide context of a CUDA device."""
    if place not in (DL_CPU, DL_CUDA):
        raise BufferError(f"the prototype is on a device of DLPack type {place}; expected the host or CUDA")
    if place == DL_CPU:
        return Array(shape, dtype, itemsize=itemsize, format=form)
    return process_context(device).core.allocate(shape, dtype, int(Kind.DEVICE), itemsize=itemsize, format=form)


Array._context = property(context_of)
Array.__dlpack_c_exchange_api__ = raw.exchange_table(new_like)
