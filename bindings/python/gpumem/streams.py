"""Streams and events. A stream keeps the operands of its work until the work is done."""

from collections import deque

from . import _gpumem as raw
from .array import Array, Owned, end
from .errors import Capturing, InvalidArgument, NotReady
from .words import unfit

CHUNK = raw.CHUNK  # calls per event

class Event(Owned):
    """A position in a stream."""

    __slots__ = ("core", "handle")

    def __init__(self, context):
        self.handle = None
        self._needs(core_of(context))
        self.handle = raw.gpumem_event_create(self.core.handle)

    def __del__(self, end=end):
        if hasattr(self, "core"):
            end(self._end)

    def _end(self, destroy=raw.gpumem_event_destroy):
        try:
            if not self.core.is_forked():
                destroy(self.handle)
        finally:
            self.core.release(self)

    def record(self, stream=None):
        raw.gpumem_event_record(self.core.handle, self.handle, None if stream is None else stream_handle(stream))
        return self

    def synchronize(self):
        raw.gpumem_event_synchronize(self.handle)

    @property
    def done(self):
        """True if the stream has passed the last record, or if the event was never recorded."""
        try:
            raw.gpumem_event_elapsed(self.handle, self.handle, raw.Cell())
        except NotReady:
            return False
        except InvalidArgument:  # never recorded
            raw.gpumem_event_synchronize(self.handle)
        return True

    def seconds_since(self, start):
        seconds = raw.Cell()
        raw.gpumem_event_elapsed(event_handle(start, "start"), self.handle, seconds)
        return seconds.f64


class Stream(Owned):
    """A queue of work. `native` is a CUDA stream to borrow: a number, or an object of PyTorch or CuPy."""

    __slots__ = ("core", "handle", "borrowed", "kept", "chunks", "_singles", "__weakref__")

    def __init__(self, context, native=None):
        self._begin(core_of(context), None)
        self.borrowed = native is not None
        if self.borrowed:
            number = native_number(native)  # 0 and 1 are the legacy default stream
            if number < 0:
                raise ValueError(f"native is {number}; expected the number of a CUDA stream, 0 or more")
            self.handle = raw.gpumem_stream_wrap(self.core.handle, number if number > 1 else None)
        else:
            self.handle = raw.gpumem_stream_create(self.core.handle)

    def _begin(self, core, handle):
        self._needs(core)
        self.handle, self.borrowed = handle, False
        self.kept, self.chunks = [], deque()
        self._singles = {}  # arrays of one element for operands that are Python numbers

    @classmethod
    def own(cls, core):
        """The context's own stream."""
        stream = cls.__new__(cls)
        stream._begin(core, None)
        return stream

    def __del__(self, end=end):
        if hasattr(self, "core"):
            end(self._end)

    def _end(self):
        try:
            if not self.core.is_forked():
                self._destroy()
        finally:
            self.core.release(self)

    def _destroy(self, destroy=raw.gpumem_stream_destroy, synchronize=raw.gpumem_stream_synchronize):
        try:
            if (self.borrowed or self.handle is None) and (self.kept or self.chunks):
                synchronize(self.core.handle, self.handle)  # destroying such a stream does not wait
        finally:
            handle, self.handle = self.handle, None  # first, because another thread may free memory on this stream
            if handle is not None:
                destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.synchronize()

    def synchronize(self):
        with self.core.lock:
            kept, self.kept = self.kept, []
            chunks, self.chunks = self.chunks, deque()
        try:
            raw.gpumem_stream_synchronize(self.core.handle, self.handle)
        except BaseException:
            self.kept[:0] = kept
            self.chunks.extendleft(reversed(chunks))
            raise

    @property
    def done(self):
        """True if all work on the stream is done."""
        try:
            raw.gpumem_stream_query(self.core.handle, self.handle)
            return True
        except NotReady:
            return False

    @property
    def native(self):
        """The number of the CUDA stream. Only for contexts on a device."""
        return raw.gpumem_stream_native(self.core.handle, self.handle)

    def wait(self, event):
        """Makes later work wait for the event."""
        raw.gpumem_stream_wait_event(self.core.handle, self.handle, event_handle(event, "event"))

    def keep(self, operands):
        """Keeps the operands of a call until the stream has passed the call."""
        raw.keep_on(self, operands)

    def _mark(self):
        """Records an event, which tells when the operands that are kept now may go."""
        with self.core.lock:
            kept, self.kept = self.kept, []  # before the event, because other threads may call keep() now
        try:
            event = Event(self.core).record(self)
        except BaseException as error:
            self.kept[:0] = kept
            if isinstance(error, Capturing):
                return
            raise
        self.chunks.append((event, kept))
        self._drop_passed()

    def _drop_passed(self):
        """Drops finished chunks. Each thread removes a chunk before it queries it, because others may drop chunks too."""
        while self.chunks:
            try:
                chunk = self.chunks.popleft()
            except IndexError:
                return
            passed = False
            try:
                passed = chunk[0].done
            except Capturing:
                pass
            finally:
                if not passed:
                    self.chunks.appendleft(chunk)
            if not passed:
                return


raw.set_types(Stream, Array)


def core_of(context):
    core = getattr(context, "core", context)
    if not hasattr(core, "users"):
        raise unfit("context", context, "a gpumem.Context")
    return core


def event_handle(event, name):
    if not isinstance(event, Event):
        raise unfit(name, event, "a gpumem.Event")
    return event.handle


def stream_handle(stream, name="stream"):
    if not isinstance(stream, Stream):
        raise unfit(name, stream, "a gpumem.Stream; ctx.Stream(native=stream) borrows a stream of CUDA, PyTorch or CuPy")
    return stream.handle


def native_number(stream):
    """The number of a CUDA stream: an integer, or an attribute of a PyTorch (cuda_stream) or CuPy (ptr) stream."""
    if stream is None or isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return getattr(stream, name)
    raise unfit("native", stream, "the number of a CUDA stream, or a stream of PyTorch or CuPy")
