"""Contexts, memory, streams, events, callbacks, threads, fork, and how the library is found."""

import array
import gc
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import weakref

import gpumem
from support import host, numpy, raises, run_python


def test_device():
    with gpumem.Context() as ctx:
        assert ctx.device.backend in (gpumem.Backend.HOST, gpumem.Backend.CUDA) and ctx.device.reason
        assert ctx.status == gpumem.Status.OK
    assert gpumem.device_query("host").device == gpumem.DEVICE_HOST
    assert gpumem.device_count() >= 0 and gpumem.version() >= (0, 1, 0)
    with raises(ValueError, "'moon'"):
        gpumem.Context("moon")
    with raises(gpumem.Error):
        gpumem.Context(4711)
    with raises(TypeError, "has no option thread_count"):
        gpumem.Context("host", thread_count=1)
    with gpumem.Context("host", host_threads=1) as ctx:
        assert ctx.device.multiprocessors == 1


def test_errors_are_exceptions():
    for status in gpumem.Status:
        if status:
            kind = getattr(gpumem, "".join(word.capitalize() for word in status.name.split("_")))
            assert issubclass(kind, gpumem.Error) and kind.status == status
    assert issubclass(gpumem.OutOfMemory, MemoryError)
    with host() as ctx, raises(MemoryError, "bytes"):
        ctx.empty(1 << 50, "u8", "pinned")


def test_memory_outlives_its_context():
    with host() as ctx:
        a = ctx.full(1000, 3, "i32", "pinned")
        core = weakref.ref(ctx.core)
    del ctx
    gc.collect()
    assert memoryview(a)[999] == 3 and core() is not None
    del a
    gc.collect()
    assert core() is None


def flags_of_mapping(address):
    """The mapping of this address: the letters of VmFlags in proc(5)."""
    inside = False
    with open("/proc/self/smaps", encoding="utf-8") as maps:
        for line in maps:
            if inside and line.startswith("VmFlags:"):
                return line.split()[1:]
            bounds = line.split()[0].split("-")
            if len(bounds) == 2:
                inside = int(bounds[0], 16) <= address < int(bounds[1], 16)
    raise AssertionError(f"{address:#x} is not mapped")


def test_large_arrays_have_large_pages():
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"):
        raise unittest.SkipTest("this system has no transparent large pages")
    with host() as ctx:
        a = ctx.empty(1 << 26, "u8", "pageable")
        assert "hg" in flags_of_mapping(a.address + (1 << 25))


def test_memory_is_freed():
    with host() as ctx:
        for kind in ("device", "pinned", "managed"):
            a = ctx.empty((10, 10), "f64", kind)
            part = a[2:4, ::3]
            del a
            assert getattr(ctx.memory_stats(), f"{kind}_blocks") == 1 and part.kind.name.lower() == kind
            del part
            gc.collect()
            assert getattr(ctx.memory_stats(), f"{kind}_blocks") == 0
        s = ctx.Stream()
        b = ctx.empty(100, "f32", stream=s, alignment=4096)
        assert b.address % 4096 == 0
        ctx.fill(b, 1, stream=s)
        ctx.used_on(b, ctx.Stream())
        del b, s
        gc.collect()
        assert ctx.memory_stats().device_blocks == 0
        assert ctx.empty(0).size == 0 and ctx.empty((3, 0)).tolist() == [[], [], []]


def test_enqueued_work_keeps_its_operands():
    with host() as ctx:
        s = ctx.Stream()
        alive = []
        for _ in range(300):
            x = ctx.full(1000, 1.0, "f64", "pinned")
            alive.append(weakref.ref(x))
            ctx.reduce(x, stream=s)
            del x
        assert sum(ref() is not None for ref in alive[-8:]) == 8
        s.synchronize()
        gc.collect()
        assert not any(ref() for ref in alive)
        for _ in range(300):
            ctx.reduce(ctx.full(10, 1.0), stream=ctx.stream)
        assert len(ctx.stream.kept) < 300
        ctx.synchronize()
        assert not ctx.stream.kept and not ctx.stream.chunks


def test_streams_and_events():
    with host() as ctx:
        a, b = ctx.Stream(), ctx.Stream()
        x = ctx.zeros(1 << 20, "u8")
        start, end = ctx.Event().record(a), ctx.Event()
        ctx.fill(x, 5, stream=a)
        end.record(a)
        b.wait(end)
        total = ctx.reduce(x, stream=b)
        b.synchronize()
        assert total.item() == 5 << 20 and end.done and a.done and end.seconds_since(start) >= 0
        end.synchronize()
        with raises(gpumem.InvalidArgument):
            ctx.Event().seconds_since(start)
        assert ctx.Event().done
        with raises(gpumem.Unsupported):
            ctx.Stream(native=4096)
        with raises(TypeError, "CUDA stream"):
            ctx.Stream(native="own")
        with raises(gpumem.Unsupported):
            _ = ctx.Stream(native=0).native
        with ctx.Stream() as s:
            ctx.fill(x, 1, stream=s)
        assert s.done


def test_pointers_labels_and_traces():
    with host() as ctx, tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        ctx.memory_trace(trace)
        a = ctx.empty(100, "f32", "pinned")
        ctx.label(a, "a")
        info = ctx.pointer(a[10:])
        assert (info.ours, info.kind, info.offset_bytes, info.size_bytes) == (1, gpumem.Kind.PINNED, 40, 400)
        assert ctx.pointer(a.address).base == a.address
        ctx.memory_trace(None)
        assert trace.read_text().splitlines()[0] == "gpumem-trace 1"
        ctx.memory_trim()
        with raises(gpumem.Unsupported):
            ctx.memory_check()
        mine = bytearray(4096)
        ctx.register(mine)
        assert ctx.pointer(ctx.asarray(mine)).kind == gpumem.Kind.PINNED
        ctx.unregister(mine)
        ctx.warmup()
    with gpumem.Context("host", debug_memory=True) as ctx:
        ctx.memory_check()
    with gpumem.Context("host", strict_host=True) as ctx, raises(gpumem.Unsupported):
        ctx.axpby(1, ctx.zeros(4), 1, ctx.zeros(4, kind="pinned"), stream=ctx.stream)


def test_measuring():
    with host() as ctx, tempfile.TemporaryDirectory() as folder:
        assert ctx.ceiling().read > 0
        ctx.profile_begin(10)
        ctx.reduce(b"123")
        ctx.profile_end()
        row, kinds = ctx.profile()
        assert (row.problem, row.calls, row.bytes) == (gpumem.last_problem(), 1, 3) and row.median_s > 0
        assert kinds.problem == "pageable to pageable"
        file = pathlib.Path(folder) / "profile"
        ctx.profile_write(file, "csv")
        assert row.problem in file.read_text()
        info = ctx.tune("transpose bytes=4 rows=50 cols=60 src=pageable dst=pageable", budget_s=0.01)
        assert info.table in gpumem.variants("transpose") and info.reason
        file = pathlib.Path(folder) / "tuning"
        ctx.tuning_save(file)
        ctx.tuning_clear()
        assert ctx.tuning_load(file) == (info.adopted, 0)
        ctx.tuning_save(os.fsencode(folder) + b"/not \xff UTF-8")
        assert len(os.listdir(os.fsencode(folder))) == len(os.listdir(folder))
        for path, kind in ((None, TypeError), (3, TypeError), (folder + "/a\0b", ValueError)):
            with raises(kind):
                ctx.tuning_save(path)


def test_managed():
    with host() as ctx:
        m = ctx.zeros(1000, "u8", "managed")
        ctx.prefetch(m)
        ctx.prefetch(m, "host", stream=ctx.stream)
        ctx.advise(m, "read_mostly")
        assert ctx.managed(m).host_bytes == 1000
        with raises(ValueError, "not a valid advice"):
            ctx.advise(m, "now")


def test_variants_and_explanations():
    names = gpumem.variants("transpose")
    assert "host_serial" in gpumem.variants("reduce") and len(names) == len(set(names))
    with host() as ctx:
        ctx.force("reduce", "host_serial")
        ctx.reduce(b"123")
        assert "host_serial" in ctx.explain()
        assert gpumem.last_problem().startswith("reduce dtype=u8")
        ctx.force("reduce", None)
        assert ctx.explain("reduce dtype=f32 op=sum n=1000 x=pageable", "json").startswith("{")
        with raises(gpumem.NotFound):
            ctx.force("reduce", "fastest")


def test_log_from_any_thread():
    messages = []
    ctx = gpumem.Context("host", log=lambda level, text: messages.append((level, text)))
    gpumem.raw.gpumem_alloc_pinned(ctx.handle, 100)  # it is never freed
    ctx.close()
    del ctx
    gc.collect()
    assert any("100 bytes" in text for _, text in messages), messages


def test_log_that_raises():
    hooked = []
    sys.unraisablehook, before = hooked.append, sys.unraisablehook
    try:
        ctx = gpumem.Context("host")
        ctx.set_log(lambda level, text: 1 / 0)
        gpumem.raw.gpumem_alloc_pinned(ctx.handle, 100)
        ctx.close()
        del ctx
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert hooked and hooked[0].exc_type is ZeroDivisionError


def with_pool(pool, n=1 << 22):
    with gpumem.Context("host", parallel_for=pool, host_threads=4) as ctx:
        x = ctx.full(n, 3, "i32")
        return ctx.reduce(x) == 3 * n


def test_parallel_for():
    from concurrent.futures import ThreadPoolExecutor

    used = set()

    def on_threads(tasks, task):
        def run(index):
            used.add(threading.get_ident())
            task(index)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(run, range(tasks)))

    assert with_pool(on_threads)
    assert used and threading.get_ident() not in used


def test_parallel_for_that_fails():
    """The work is still done, each task once."""
    faults = []

    def careless(tasks, task):
        for index in (0, 0, -1, tasks):
            try:
                task(index)
            except (RuntimeError, IndexError) as error:
                faults.append(type(error).__name__)
        careless.task = task
        raise KeyError("lost")

    sys.unraisablehook, before = (lambda report: faults.append(report.exc_type.__name__)), sys.unraisablehook
    try:
        assert with_pool(careless)
    finally:
        sys.unraisablehook = before
    assert {"RuntimeError", "IndexError", "KeyError"} <= set(faults)
    with raises(RuntimeError, "over"):
        careless.task(0)


def test_many_threads_on_one_context():
    with host() as ctx:
        wrong = []

        def work(k):
            x = array.array("i", range(k, k + 1000))
            for _ in range(200):
                if ctx.reduce(x) != sum(x):
                    wrong.append(k)
                try:
                    ctx.reduce(b"", "min")
                except gpumem.Empty as error:
                    if "sum" in str(error):
                        wrong.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_call_lets_other_threads_run():
    with gpumem.Context("host", host_threads=1) as ctx:
        x, ticks, stop = ctx.zeros(1 << 26, "u8"), [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                time.sleep(0.0001)

        thread = threading.Thread(target=tick)
        thread.start()
        deadline = time.monotonic() + 20
        try:
            while True:
                before = len(ticks)
                ctx.reduce(x, "sum_cubes")
                if len(ticks) > before + 1:
                    break
                assert time.monotonic() < deadline, "no other thread ran during a call"
        finally:
            stop.set()
            thread.join()


def test_fork():
    if not hasattr(os, "fork"):
        raise unittest.SkipTest("this system has no fork")
    print(run_python("""
import gpumem, os
ctx = gpumem.Context("host", log=print)
a, s, e = ctx.full(10, 1, "i32", "pinned"), ctx.Stream(), ctx.Event()
ctx.reduce(a, stream=s)
child = os.fork()
if child == 0:
    try:
        ctx.reduce(a)
        os._exit(1)
    except gpumem.Forked:
        pass
    del a, s, e, ctx
    with gpumem.Context("host") as own:
        os._exit(0 if own.reduce(b"12") == 99 else 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
s.synchronize()
assert ctx.reduce(a) == 10
"""))


def test_fork_while_threads_call_the_library():
    if not hasattr(os, "fork"):
        raise unittest.SkipTest("this system has no fork")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        raise unittest.SkipTest("the address sanitizer's allocator may be locked in a forked child")
    run_python("""
import array, gpumem, multiprocessing, signal, threading
x = array.array("i", [1] * 100000)
ctx = gpumem.Context("host", host_threads=2)
stop = threading.Event()

def load():
    while not stop.is_set():
        with gpumem.Context("host", host_threads=2) as own:
            for _ in range(5):
                own.empty(1 << 31, "u8", "pinned")  # never touched; the larger it is, the longer a lock is held for it

def child():
    signal.alarm(30)
    try:
        ctx.reduce(x)
        raise SystemExit(1)
    except gpumem.Forked:
        pass
    with gpumem.Context("host", host_threads=2) as own:
        assert own.reduce(own.full(1000, 2, "i32")) == 2000 and own.reduce(x) == 100000

threads = [threading.Thread(target=load) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for _ in range(40):
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0, process.exitcode
finally:
    stop.set()
    for thread in threads:
        thread.join()
""")


def test_end_of_the_interpreter():
    assert run_python("""
import gpumem
ctx = gpumem.Context("host", log=print)
a, s = ctx.full(1 << 20, 1, "i32"), ctx.Stream()
r = ctx.reduce(a, stream=s)
print("end")
""").startswith("end")


def test_a_context_ends_with_the_last_that_needs_it():
    """This also holds if Python collects a cycle of objects and ends the context first."""
    told = []
    ctx = gpumem.Context("host", log=lambda level, text: told.append(text))
    core, handle = ctx.core, int(ctx.handle)
    s, e, a = ctx.Stream(), ctx.Event(), ctx.full(1000, 1, "i32")
    ctx.close()
    core.__del__()  # as the collector does
    total = gpumem.raw.View((1,), int(gpumem.Dtype.I64))
    gpumem.raw.gpumem_reduce_i32_async(handle, gpumem.Op.SUM, a, 1000, 1, total, None, s.handle)
    s.synchronize()
    assert memoryview(total)[0] == 1000
    del a, e
    gpumem.raw.gpumem_ctx_status(handle)
    del s
    with raises(gpumem.InvalidHandle):
        gpumem.raw.gpumem_ctx_status(handle)
    assert told == []


def test_views_of_views_are_no_chain():
    """Freeing a chain of views would recurse as deep as the chain."""
    with host() as ctx:
        for x in ctx.zeros((3, 3)), gpumem.Array((3, 3), gpumem.Dtype.F64):
            owner, turned = x if x.owner is None else x.owner, ctx.transpose(x, x)
            for view in x[1:][1:], x.T.T, x.reshape(9).view("u8").reshape(24, 3), ctx.transpose(turned, turned):
                assert view.owner is owner and view.memory is x.memory


def test_memory_that_is_not_there():
    done = run_python("""
import os, gpumem
os.dup2(1, 2)
try:
    gpumem.raw.View((1 << 50,), 0)
except MemoryError:
    print("MemoryError")
""", ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1")
    assert done.splitlines()[-1] == "MemoryError" and "SystemError" not in done, done


def test_a_native_stream_has_a_number():
    with host() as ctx, raises(ValueError, "native is -1"):  # in DLPack, no stream
        ctx.Stream(native=-1)


def test_what_can_not_be_owned_is_not_made():
    with host() as ctx, unittest.mock.patch.object(gpumem.raw, "gpumem_event_create") as create:
        with unittest.mock.patch.object(gpumem.array.Owned, "_needs", side_effect=RecursionError):
            with raises(RecursionError):
                ctx.Event()
        assert not create.called


def test_a_context_that_is_closed_during_empty():
    class Closing(str):
        def __hash__(self):
            ctx.close()
            return super().__hash__()

    ctx = gpumem.Context("host")
    with raises(gpumem.InvalidHandle, "closed"):
        ctx.empty(10, Closing("f32"))


def test_objects_are_not_copied():
    import copy
    import pickle

    with host() as ctx:
        for owned in (ctx, ctx.stream, ctx.Stream(), ctx.Event(), ctx.zeros(1), ctx.zeros(1).memory, ctx.core, ctx.handle):
            for way in (copy.copy, copy.deepcopy, pickle.dumps):
                with raises(TypeError, "pickle"):
                    way(owned)
    error = pickle.loads(pickle.dumps(gpumem.Empty("said")))
    assert type(error) is gpumem.Empty and str(error) == "said"


def test_shapes():
    with host() as ctx:

        class Three:
            def __index__(self):
                return 3

        assert ctx.empty(Three()).shape == (3,) and ctx.empty((2, Three())).shape == (2, 3)
        assert ctx.empty(6).reshape(2, Three()).shape == (2, 3) and ctx.empty(6).reshape(Three(), -1).shape == (3, 2)
        for shape in (1 << 32, 1 << 32), (1 << 60,), (-1,):
            with raises(ValueError, "the shape"):
                ctx.empty(shape)
        a = ctx.empty((2, 3))
        with raises(TypeError):
            a[array.array("i", [0])]
        assert a[..., 0].shape == (2,) and a[None].shape == (1, 2, 3)


def test_without_numpy():
    assert run_python("""
import sys
sys.modules["numpy"] = None
import gpumem, array
with gpumem.Context("host") as ctx:
    x = ctx.array(array.array("f", [1, 2, 3]))
    print(ctx.reduce(x), ctx.axpby(2, x).tolist())
""") == "6.0 [2.0, 4.0, 6.0]"


def test_imported_anew():
    assert run_python("""
import sys, gpumem
del sys.modules["gpumem"]
import gpumem as again
print(again is not gpumem, again.Context("host").reduce(gpumem.Context("host").full(3, 1, "i32")))
""") == "True 3"


def test_finding_the_library():
    where = "import gpumem; print(gpumem.library_path)"
    assert run_python(where, GPUMEM_LIBRARY=os.path.realpath(loaded())) == os.path.realpath(loaded())
    with unittest.mock.patch.dict(os.environ, GPUMEM_LIBRARY=""):
        empty = gpumem._library.candidates()
        del os.environ["GPUMEM_LIBRARY"]
        assert empty == gpumem._library.candidates()
    failing = "try:\n import gpumem\nexcept ImportError as error:\n print(error)"
    assert "GPUMEM_LIBRARY" in run_python(failing, GPUMEM_LIBRARY="/nowhere/libgpumem.so")
    assert "gpumem_version" in run_python(failing, GPUMEM_LIBRARY="libc.so.6")


def loaded():
    """The path of the library that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "libgpumem.so" in line)


def test_process_wide_context():
    ctx = gpumem.Context.process_wide("host")
    assert ctx.reduce(b"12") == 99
    ctx.close()
    assert gpumem.Context.process_wide("host").reduce(b"1") == 49


def test_asarray_of_numpy():
    np = numpy()
    x = np.arange(6.0).reshape(2, 3)
    with host() as ctx:
        a = ctx.asarray(x)
        a.numpy()[0, 0] = 7
        assert x[0, 0] == 7 and ctx.asarray(a) is a
