"""The part of a context that its objects share. The handle lives as long as any of them."""

import atexit
import os
import struct
import threading
import time

from . import _gpumem as raw
from .array import LEGACY_STREAM, Array, end, expect_callbacks
from .names import DEVICE_HOST, STRUCTS, Backend, Dtype, Kind
from .streams import stream_handle
from .words import SIZES

DEVICE, PINNED, PAGEABLE = int(Kind.DEVICE), int(Kind.PINNED), int(Kind.PAGEABLE)
CALLBACKS_END_S = 10  # the end of the interpreter waits as long for running callbacks
lasting = []  # callbacks of contexts that could not be destroyed
shared_logs = {}  # logs of the process-wide contexts, which never end, by handle

raw.open_callbacks()
os.register_at_fork(after_in_child=raw.open_callbacks)


@atexit.register
def end_callbacks():
    """Closes the callbacks, because no thread of the library may enter an interpreter that has ended."""
    deadline = time.monotonic() + CALLBACKS_END_S
    while raw.close_callbacks() and time.monotonic() < deadline:
        time.sleep(0.001)


class Record:
    """The members of a struct of the library as attributes."""

    def __init__(self, names, values):
        for name, value in zip(names, values):
            if isinstance(value, bytes):
                value = value.split(b"\0")[0].decode(errors="replace")
            setattr(self, name, value)

    def __repr__(self):
        return "<gpumem %s>" % ", ".join(f"{name}={value!r}" for name, value in vars(self).items())


def read_struct(name, call, init):
    """The struct of the header that call(pointer) fills."""
    layout, members = STRUCTS[name]
    size = struct.calcsize(layout)
    room = raw.View((size,), int(Dtype.U8))
    init(room, size)
    call(room)
    return Record(members[1:], struct.unpack(layout, room)[1:])


def read_text(call):
    """The text that call(buf, cap, needed) writes."""
    needed = raw.Cell()
    call(None, 0, needed)
    room = raw.View((needed.i64,), int(Dtype.U8))
    call(room, needed.i64, None)
    return bytes(memoryview(room)).split(b"\0")[0].decode()


class Handle(int):
    """The address of a gpumem_ctx. As an argument of a call, it keeps the context if another thread closes it."""

    def __new__(cls, core):
        handle = super().__new__(cls, core.handle)
        handle.core = core
        return handle

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")


class Core:
    """A gpumem_ctx. It is destroyed with the last object or call that needs it."""

    __slots__ = ("handle", "cuda", "device", "log", "parallel_for", "legacy", "pid", "shared", "follows_legacy", "registered", "users", "over", "lock", "context", "__weakref__")

    def __init__(self, handle, parallel_for=None, shared=False, follows_legacy=True):
        self.handle, self.shared = handle, shared
        self.follows_legacy = follows_legacy  # the context's own stream waits for the legacy default stream by itself
        self.users, self.over = set(), False  # ids of live streams and events; memory keeps the core
        self.legacy, self.pid = None, os.getpid()
        self.lock = threading.RLock()  # re-entrant: the collector may free memory while the thread holds it
        self.registered = {}  # owners of the program's registered memory, by address
        self.parallel_for = parallel_for
        self.log = shared_logs.setdefault(handle, [None]) if shared else [None]  # the library holds this list
        info = self.device_info()
        self.cuda = info.backend == Backend.CUDA
        self.device = info.device if self.cuda else DEVICE_HOST

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    def set_log(self, log):
        if log is not None:
            expect_callbacks()
        raw.gpumem_ctx_set_log(self.handle, *raw.log_callback(self.log, log))

    def __del__(self, end=end):
        self.over = True
        end(self._end)

    def release(self, user):
        """A stream or an event has ended. This may run after __del__() if Python collects them together."""
        self.users.discard(id(user))
        if self.over:
            self._end()

    def _end(self, destroy=raw.gpumem_ctx_destroy, destroy_stream=raw.gpumem_stream_destroy, lasting=lasting):
        if not self.over or self.users or self.is_forked():
            return
        with self.lock:
            legacy, self.legacy = self.legacy, None
            handle, self.handle = self.handle, None
        if legacy is not None:
            destroy_stream(legacy)
        if handle is None or self.shared:
            return
        try:
            destroy(handle)
        except BaseException:
            lasting.append((self.log, self.parallel_for))  # the context still exists and calls them
            raise

    def is_forked(self, getpid=os.getpid):
        return getpid() != self.pid

    def device_info(self):
        return read_struct("gpumem_device_info", lambda p: raw.gpumem_ctx_device(self.handle, p), raw.gpumem_device_info_init)

    # --------------------------------------------------------------------------------------------------------- memory

    def allocate(self, shape, dtype, kind, stream=None, alignment=256, itemsize=0, format=""):
        """An Array of new memory. Elements without a dtype code need itemsize and format."""
        bytes_ = SIZES[dtype] if dtype >= 0 else itemsize
        for extent in shape:
            if extent < 0:
                raise ValueError(f"the shape {shape} has a negative extent")
            bytes_ *= extent
        if bytes_ >= 1 << 63:
            raise ValueError(f"the shape {shape} takes {bytes_} bytes; expected fewer than 2**63")
        if stream is not None and kind != DEVICE:
            raise ValueError("only device memory is allocated on a stream")
        if kind == PAGEABLE:
            return Array(shape, dtype, itemsize=itemsize, format=format)
        if stream is not None:
            stream_handle(stream)  # raises TypeError
        return raw.allocate(self, shape, dtype, itemsize, format, kind, stream, alignment)

    # --------------------------------------------------------------------------- order with streams of other libraries

    def legacy_stream(self):
        with self.lock:
            if self.legacy is None:
                self.legacy = raw.gpumem_stream_wrap(self.handle, None)
            return self.legacy

    def follow(self, first, then):
        """Later work on `then` waits for earlier work on `first`."""
        event = raw.gpumem_event_create(self.handle)
        try:
            raw.gpumem_event_record(self.handle, event, first)
            raw.gpumem_stream_wait_event(self.handle, then, event)
        finally:
            raw.gpumem_event_destroy(event)

    def with_native(self, native, use):
        """Calls use(stream) with a wrapped CUDA stream. Numbers are those of DLPack and __cuda_array_interface__."""
        if native == LEGACY_STREAM:
            return use(self.legacy_stream())
        stream = raw.gpumem_stream_wrap(self.handle, native)
        try:
            return use(stream)
        finally:
            raw.gpumem_stream_destroy(stream)

    def order_native_after(self, memory, native):
        """Makes the CUDA stream wait for the work on the memory. If that fails, the host waits."""
        try:
            for stream in memory.running():
                self.with_native(native, lambda wrapped: self.follow(stream.handle, wrapped))
        except Exception:
            memory.synchronize()

    def stream_of(self, memory):
        """The stream for __cuda_array_interface__, after all work on the memory. None if no work is running."""
        if not memory.running():
            return None
        try:
            last, *others = memory.running()
            for stream in others:
                self.follow(stream.handle, last.handle)
            return last.native
        except Exception:
            memory.synchronize()
            return None

    def order_after_native(self, stream, native):
        """Makes the stream (None: the context's own) wait for the CUDA stream."""
        self.with_native(native, lambda wrapped: self.follow(wrapped, stream.handle if stream else None))
