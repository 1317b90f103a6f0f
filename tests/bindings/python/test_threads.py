"""Concurrent threads: callbacks, contexts that are closed during calls, and the end of the interpreter.

Each race has a few rounds. GPUMEM_RACE_ROUNDS multiplies them for scripts/trust.
"""

import array
import collections
import gc
import os
import queue
import sys
import tempfile
import threading
import unittest.mock
import weakref

import gpumem
from support import host, raises, run_python

ROUNDS = int(os.environ.get("GPUMEM_RACE_ROUNDS", "1"))
ONES = 1 << 22


def at_once(*works):
    """Runs each function in its own thread, with frequent switches. Fails with their exceptions."""
    faults, interval = [], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def guarded(work):
        try:
            work()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    if faults:
        raise faults[0]


class Pool:
    """Threads that run tasks, all or the last, and a parallel_for that does not wait for them."""

    def __init__(self, only_last, leave):
        self.only_last, self.leave, self.given, self.begun = only_last, leave, queue.SimpleQueue(), threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.serve) for _ in range(3)]
        for thread in self.threads:
            thread.start()

    def serve(self):
        while (given := self.given.get()) is not None:
            task, index = given
            self.begun.release()
            try:
                task(index)
            except RuntimeError:  # the call is over
                pass

    def __call__(self, tasks, task):
        for index in range(tasks - 1):
            if self.only_last:
                task(index)
            else:
                self.given.put((task, index))
        self.given.put((task, tasks - 1))
        self.begun.acquire()
        self.leave()

    def end(self):
        for _ in self.threads:
            self.given.put(None)
        for thread in self.threads:
            thread.join()


def raising():
    raise ConnectionError("the pool is lost")


def test_a_pool_that_returns_early():
    hooked, processors = [], os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})  # so the caller interrupts the thread of the running task
    try:
        for only_last, leave in ((True, lambda: None), (False, raising)):
            pool = Pool(only_last, leave)
            with unittest.mock.patch.object(sys, "unraisablehook", lambda report: hooked.append(report.exc_type)):
                with gpumem.Context("host", parallel_for=pool, host_threads=4) as ctx:
                    ones = ctx.full(ONES, 1, "f64")
                    sums = [ctx.reduce(ones, "sum_compensated") for _ in range(15 * ROUNDS)]
            pool.end()
            assert set(sums) == {ONES}, sums
    finally:
        os.sched_setaffinity(0, processors)
    assert set(hooked) == {ConnectionError}


def test_an_interrupt_in_a_pool():
    """The call raises it after its work is done."""
    assert run_python("""
import array, signal, gpumem
def pool(tasks, task):
    task(0)
    signal.raise_signal(signal.SIGINT)
    print("not reached")
with gpumem.Context("host", parallel_for=pool, host_threads=4) as ctx:
    ones, out = array.array("i", [1]) * (1 << 22), array.array("q", [0])
    try:
        ctx.reduce(ones, out=out)
        print("no interrupt")
    except KeyboardInterrupt:
        print(out[0] == 1 << 22)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
""") == "True"


CALLS = (lambda ctx, x, y: ctx.reduce(x), lambda ctx, x, y: ctx.reduce(x, axis=0), lambda ctx, x, y: ctx.argreduce(x), lambda ctx, x, y: ctx.copy(y, x),
         lambda ctx, x, y: ctx.transpose(x), lambda ctx, x, y: ctx.fill(y, 3), lambda ctx, x, y: ctx.zeros(1000), lambda ctx, x, y: ctx.memory_stats(),
         lambda ctx, x, y: ctx.Stream(), lambda ctx, x, y: ctx.Event().record(), lambda ctx, x, y: ctx.reduce(x, stream=ctx.stream),
         lambda ctx, x, y: ctx.reduce_segments(x.reshape(-1), array.array("q", [0, 7])), lambda ctx, x, y: ctx.set_log(print),
         lambda ctx, x, y: ctx.device, lambda ctx, x, y: ctx.close())  # fmt: skip


def test_close_while_others_are_in_a_call():
    with host() as other:
        x, y = other.full((400, 500), 1, "i32"), other.empty((400, 500), "i32")
        for k in range(ROUNDS):
            for call in CALLS:
                ctx, begun = gpumem.Context("host", host_threads=2), threading.Event()
                core = weakref.ref(ctx.core)

                def work(ctx=ctx, call=call, begun=begun):
                    try:
                        for _ in range(1000):
                            call(ctx, x, y)
                            begun.set()
                    except gpumem.InvalidHandle:
                        pass
                    finally:
                        begun.set()

                def close(ctx=ctx, begun=begun):
                    begun.wait()
                    ctx.close()

                at_once(work, work, close)
                del ctx, work, close
                gc.collect()
                assert core() is None, "a call has left a reference"


def test_close_in_the_middle_of_a_call():
    """The running call ends normally, and the context after it."""
    ones, square = array.array("i", [1]) * ONES, memoryview(array.array("i", [1]) * ONES).cast("B").cast("i", (2, ONES // 2))
    moved = array.array("i", [0]) * ONES
    for call, result in ((lambda: ctx.reduce(ones), ONES), (lambda: ctx.reduce(square, axis=1).tolist(), [ONES // 2] * 2),
                         (lambda: ctx.dot(ctx_x, ctx_x), 4.0 * ONES), (lambda: ctx.copy(moved, ones), None)):  # fmt: skip

        def pool(tasks, task):
            vars(ctx).update(_core=None, _stream=None)  # as in another thread's close() after its wait
            ctx.handle = None
            gc.collect()

        ctx_x = memoryview(array.array("f", [2]) * ONES)
        ctx = gpumem.Context("host", parallel_for=pool, host_threads=4)
        core, handle = weakref.ref(ctx.core), int(ctx.handle)
        assert call() == result
        ended = threading.Event()  # the stream went during the callback, so another thread ends it
        gpumem.array.left.put(ended.set)
        assert ended.wait(60)
        assert core() is None
        with raises(gpumem.InvalidHandle):
            gpumem.raw.gpumem_ctx_status(handle)
    assert moved == ones


def with_lines(count):
    """A file with `count` lines that tuning_load() reports to the log."""
    with tempfile.NamedTemporaryFile("w", suffix=".tuning", delete=False) as file:
        file.write("# gpumem tuning\n" + "not a problem\n" * count)
    return file.name


def test_set_log_while_another_thread_sets_it():
    """The library and Python have the same function, in either order."""
    told, ended, set_log, path = [], [], gpumem.raw.gpumem_ctx_set_log, with_lines(1)

    class Log:
        def __init__(self, name):
            self.name = name

        def __call__(self, level, text):
            told.append(self.name)

        def __del__(self):
            ended.append(self.name)

    def slowly(*args):
        set_log(*args)
        with unittest.mock.patch.object(gpumem.raw, "gpumem_ctx_set_log", set_log):
            at_once(lambda: ctx.set_log(Log("second")))

    try:
        with host() as ctx:
            with unittest.mock.patch.object(gpumem.raw, "gpumem_ctx_set_log", slowly):
                ctx.set_log(Log("first"))
            assert ended == ["first"]
            ctx.tuning_load(path)
            assert told == ["second"]
    finally:
        os.unlink(path)


def test_set_log_from_many_threads():
    """Python also keeps the library's function."""
    told, ended = [], set()

    class Log:
        def __init__(self, name):
            self.name = name

        def __call__(self, level, text):
            told.append(self.name)

        def __del__(self):
            ended.add(self.name)

    path, barrier = with_lines(1), threading.Barrier(3)
    try:
        with host() as ctx:

            def exchange(name):
                for k in range(20 * ROUNDS):
                    barrier.wait()
                    ctx.set_log(Log((name, k)))
                    barrier.wait()

            def tell():
                for _ in range(20 * ROUNDS):
                    barrier.wait()
                    ctx.tuning_load(path)
                    barrier.wait()
                    told.clear()
                    ctx.tuning_load(path)
                    assert len(told) == 1 and told[0] not in ended

            at_once(tell, lambda: exchange("a"), lambda: exchange("b"))
    finally:
        os.unlink(path)


def test_the_log_of_the_process_outlives_its_context():
    path, told = with_lines(1), []
    try:
        ctx = gpumem.Context.process_wide("host")
        ctx.set_log(lambda level, text: told.append(text))
        ctx.close()
        del ctx
        gc.collect()
        other = gpumem.Context.process_wide("host")
        other.tuning_load(path)
        assert len(told) == 1
        other.set_log(None)
        other.tuning_load(path)
        assert len(told) == 1
    finally:
        os.unlink(path)


def test_callbacks_of_a_context_that_is_busy():
    """It can't end, so it continues to call them."""
    calls, hooked = [], []

    def begin():
        def pool(tasks, task):
            calls.append(tasks)

        ctx = gpumem.Context("host", parallel_for=pool, host_threads=4)
        return int(ctx.handle), gpumem.raw.gpumem_stream_create(ctx.handle)

    with unittest.mock.patch.object(sys, "unraisablehook", lambda report: hooked.append(report.exc_type)):
        handle, stream = begin()
        gc.collect()
    assert hooked == [gpumem.Busy]
    cell = gpumem.raw.Cell()
    gpumem.raw.gpumem_reduce(handle, gpumem.Dtype.I32, gpumem.Op.SUM, gpumem.raw.view(array.array("i", [1]) * ONES), ONES, 1, cell)
    assert cell.i64 == ONES and calls
    gpumem.raw.gpumem_stream_destroy(stream)
    gpumem.raw.gpumem_ctx_destroy(handle)


def test_a_context_that_its_own_callback_names_is_collected():
    def knot():
        def pool(tasks, task):
            return ctx

        ctx = gpumem.Context("host", parallel_for=pool, log=lambda level, text: ctx)
        return weakref.ref(ctx.core)

    core = knot()
    gc.collect()
    assert core() is None


def test_what_is_let_go_in_a_callback():
    """Otherwise its end would wait for the call that waits for the callback."""
    assert run_python("""
import gc, threading, gpumem
def knot(thing):
    ring = [thing]
    ring.append(ring)
def pool(tasks, task):
    global things
    knot(things)
    things = None
    collector = threading.Thread(target=gc.collect)
    collector.start()
    collector.join()
    for index in range(tasks):
        task(index)
gc.disable()
things = None
ctx = gpumem.Context("host", parallel_for=pool, host_threads=4)
x, stream, out = ctx.full(1 << 22, 1, "i32"), ctx.Stream(), ctx.zeros(1, "i64")
for enqueued in None, stream:
    other = gpumem.Context("host", parallel_for=pool)
    things = ctx.zeros(100, "f64", "pinned"), ctx.zeros(100, "f64", "managed"), ctx.Stream(), ctx.Event().record(), other
    del other
    ctx.reduce(x, out=out, stream=enqueued)
    stream.synchronize()
    print(out.item() == 1 << 22, things)
""") == "True None\nTrue None"


def test_operands_are_kept_while_two_threads_use_a_stream():
    """Objects that another thread keeps meanwhile do not count as older than the event."""
    with host() as ctx:
        stream, meanwhile = ctx.Stream(), object()

        class Event(gpumem.Event):
            def record(self, stream):
                super().record(stream)
                stream.keep((meanwhile,))
                return self

        with unittest.mock.patch.object(gpumem.streams, "Event", Event):
            for k in range(gpumem.streams.CHUNK):
                stream.keep((k,))
        assert (meanwhile,) in [kept.object for kept in stream.kept]
        assert all((meanwhile,) not in [one.object for one in kept] for _, kept in stream.chunks)


def test_two_threads_drop_what_a_stream_has_passed():
    with host() as ctx:
        stream = ctx.Stream()

        class Passed:
            asked = 0

            @property
            def done(self):
                self.asked += 1
                if self.asked == 1:  # another thread requests it too
                    for k in range(gpumem.streams.CHUNK):
                        stream.keep((k,))
                return True

        class Running:
            done = False

        running = Running(), []
        stream.chunks.extend([(Passed(), []), running])
        for k in range(gpumem.streams.CHUNK):
            stream.keep((k,))
        assert running in stream.chunks
        stream.chunks.clear()


def test_a_use_of_an_array_while_another_thread_waits_for_it():
    with host() as ctx:
        x, later = ctx.full(1000, 1, "i32"), ctx.Stream()

        class Stream(gpumem.Stream):
            def synchronize(self):
                super().synchronize()
                ctx.reduce(x, stream=self)
                ctx.reduce(x, stream=later)

        first = Stream(ctx)
        ctx.reduce(x, stream=first)
        x.memory.synchronize()
        assert set(x.memory.running()) == {first, later}


# ------------------------------------------------------------------------------------------------ the end of the interpreter

AT_THE_END = {
    "calls": """
ctx = gpumem.Context("host", host_threads=2)
x = ctx.full(1 << 16, 1, "i32")
def work():
    while True:
        assert ctx.reduce(x) == 1 << 16
        begun.set()
""",
    "parallel_for": """
def pool(tasks, task):
    for index in range(tasks):
        task(index)
    begun.set()
ctx = gpumem.Context("host", parallel_for=pool, host_threads=4)
x = ctx.full(1 << 20, 1, "i32")
def work():
    while True:
        assert ctx.reduce(x) == 1 << 20
""",
    "enqueued": """
def pool(tasks, task):
    for index in range(tasks):
        task(index)
    begun.set()
ctx = gpumem.Context("host", parallel_for=pool, host_threads=4)
x = ctx.full(1 << 20, 1, "i32", "pinned")
def work():
    stream = ctx.Stream()
    while True:
        ctx.fill(x, 7, stream=stream)
        ctx.Event().record(stream).synchronize()
""",
    "log": """
ctx = gpumem.Context("host", log=lambda level, text: begun.set())
def work():
    while True:
        ctx.tuning_load(path)
""",
    "transport": """
import sys, time
from test_dist import Process
process = Process(0, {(a, b): [] for a in (0, 1) for b in (0, 1)}, 2)
table = process.table()
ctx = gpumem.Context("host")
def work():
    begun.set()
    try:
        gpumem.Dist([ctx], table)  # the other process never comes
    except Exception:  # at the end; its report could meet the end of stderr, which aborts Python
        pass
""",
}


def test_the_end_of_the_interpreter_while_threads_are_in_calls():
    path = with_lines(100)
    try:
        for source in AT_THE_END.values():
            for k in range(ROUNDS):
                run_python(f"""
import gpumem, sys, threading, time
sys.path.append({os.path.dirname(__file__)!r})
begun, path = threading.Event(), {path!r}
{source}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep({k % 5} * 0.003)
""")
    finally:
        os.unlink(path)


def test_the_end_of_the_interpreter_while_a_callback_does_not_end():
    sources = """
def forever(*_):
    begun.set()
    while True:
        time.sleep(0.01)
ctx = gpumem.Context("host", parallel_for=forever)
x = gpumem.Context("host").full(1 << 22, 1, "i32")
work = lambda: ctx.reduce(x)
""", """
def forever(*_):
    begun.set()
    while True:
        time.sleep(0.01)
from test_dist import Process
process = Process(0, {(a, b): [] for a in (0, 1) for b in (0, 1)}, 2)
process.test = forever
table, ctx = process.table(), gpumem.Context("host")
work = lambda: gpumem.Dist([ctx], table)
"""
    for source in sources:
        assert run_python(f"""
import gpumem, sys, threading, time
sys.path.append({os.path.dirname(__file__)!r})
begun, gpumem.core.CALLBACKS_END_S = threading.Event(), 0.05
{source}
threading.Thread(target=work, daemon=True).start()
begun.wait()
print("done")
""") == "done"
