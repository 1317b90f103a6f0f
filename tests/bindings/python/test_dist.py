"""Arrays over several participants, on the host backend: layouts, memory, and lifetimes of objects."""

import array
import ctypes
import gc
import json
import random
import threading
import weakref

import gpumem
from support import host, numpy, raises, run_python

SLABS = gpumem.DistLayout((4, 6), [(slice(0, 2), slice(None)), ((2, 0), (4, 6))], "i32")
TURNED = gpumem.DistLayout((6, 4), [(slice(0, 3), slice(0, 4)), (slice(-3, None), slice(4))], "i32", members=[1, 0])


def numbers(letter, values):
    return array.array(letter, values)


def random_numbers(count, seed=7):
    generator = random.Random(seed)
    return numbers("d", [generator.uniform(-1, 1) * 2 ** generator.randrange(-30, 30) for _ in range(count)])


def test_a_matrix_becomes_its_transpose():
    whole = numbers("i", range(24))
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        plan = dist.plan_redistribute(SLABS, TURNED, (1, 0))
        parts = [ctx.array(whole[:12]), whole[12:]]  # memory of a context, and of another library
        to = [numbers("i", [0] * 12) for _ in range(2)]
        plan.execute(parts, to)
        assert list(to[1]) + list(to[0]) == [6 * row + col for col in range(6) for row in range(4)]
        assert "redistribute, process 0 of 1" in plan.explain()
        assert json.loads(plan.explain("json"))["schema"] == "gpumem.dist/1"
        info = dist.query()
        assert (info.rank, info.size, info.members, info.all_members, info.status) == (0, 1, 2, 2, gpumem.Status.OK)


def test_streams():
    whole = numbers("i", range(24))
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        streams = ctx.Stream(), ctx.Stream()
        to = [ctx.zeros(12, "i32") for _ in range(2)]
        plan = dist.plan_redistribute(SLABS, TURNED, (1, 0))
        plan.execute([ctx.array(whole[:12]), ctx.array(whole[12:])], to, streams=streams)
        kept, plan = weakref.ref(plan), None
        assert kept() is not None  # until the streams have passed it
        for stream in streams:
            stream.synchronize()
        assert kept() is None
        assert to[1].tolist() + to[0].tolist() == [6 * row + col for col in range(6) for row in range(4)]
        plan = dist.plan_redistribute(TURNED, SLABS, (1, 0))
        with raises(ValueError, "1 streams", "2"):
            plan.execute(to, to, streams=streams[:1])
        with host() as other, raises(gpumem.InvalidArgument, "streams[1] belongs to another context"):
            plan.execute(to, to, streams=[streams[0], other.Stream()])


def test_elements_that_are_only_moved():
    np = numpy()
    halves = gpumem.DistLayout([4], [slice(0, 2), slice(2, 4)], element_bytes=16)
    all_of_it = gpumem.DistLayout([4], [slice(None)], element_bytes=16, members=[1])
    x, to = np.arange(4) + 1j, np.zeros(4, complex)
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        dist.plan_redistribute(halves, all_of_it).execute([x[:2], x[2:]], [None, to])
        assert (x == to).all()
        with raises(TypeError, "element_bytes"):
            dist.plan_reduce(halves).reduce([x[:2], x[2:]])


def test_a_halo_goes_round_the_ends_and_corners():
    np = numpy()
    layout = gpumem.DistLayout((4, 3), [np.s_[0:2, :], np.s_[2:4, :]], "f32", offsets=[6, 6], strides=[(5, 1)] * 2)
    assert layout.size(1) == 14  # without the ghosts
    whole = np.arange(12, dtype="f4").reshape(4, 3)
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        x = [np.full((4, 5), -1, "f4") for _ in range(2)]
        for mine, rows in zip(x, (whole[:2], whole[2:])):
            mine[1:-1, 1:-1] = rows
        dist.plan_halo(layout, (1, 1), (1, 1), (True, True)).execute(x)
        wrapped = np.pad(whole, 1, mode="wrap")
        assert (x[0] == wrapped[:4]).all() and (x[1] == wrapped[2:]).all()

        x[0][0] = x[1][0] = -1
        plan = dist.plan_halo(layout, (1, 0), (1, 0), (False, False))
        plan.execute(x, streams=[ctx.stream, ctx.stream])
        ctx.synchronize()
        assert (x[0][0] == -1).all() and (x[1][0, 1:-1] == whole[1]).all()
        with raises(ValueError, "src[1] is read-only"):
            plan.execute([x[0], memoryview(x[1]).toreadonly()])
        with raises(ValueError, "src[1] has 19 elements; expected 20"):
            dist.plan_halo(layout, (1, 1), (1, 1), (1, 1)).execute([x[0], x[1].ravel()[:19]])


def test_a_halo_has_two_sides_and_ends():
    # The first participant has no room before its rows, because nothing is written there.
    layout = gpumem.DistLayout((4, 2), [slices(0, 2), slices(2, 4)], "i32", offsets=[0, 2])
    x = [numbers("i", [0, 1, 10, 11]), numbers("i", [-1, -1, 20, 21, 30, 31])]
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        dist.plan_halo(layout, (1, 0), (0, 0), (0, 0)).execute(x)
        assert list(x[0]) == [0, 1, 10, 11] and list(x[1]) == [10, 11, 20, 21, 30, 31]


def test_reductions_have_the_bits_of_the_whole():
    rows, cols = 300, 41
    x, other = random_numbers(rows * cols), random_numbers(rows * cols, 8)
    cuts = [0, 101, 102, rows]
    layout = gpumem.DistLayout((rows, cols), [slices(a, b) for a, b in zip(cuts, cuts[1:])])
    parts = [x[a * cols : b * cols] for a, b in zip(cuts, cuts[1:])]
    with host() as ctx, gpumem.Dist([ctx, host(), ctx]) as dist:
        plan = dist.plan_reduce(layout)
        for op in ("sum", "sum_squares", "sum_compensated", "max_abs", "min_max", "prod"):
            assert plan.reduce(parts, op) == ctx.reduce(x, op), op
        assert plan.argreduce(parts, "max") == ctx.argreduce(x, "max")
        others = [other[a * cols : b * cols] for a, b in zip(cuts, cuts[1:])]
        assert plan.dot(parts, others) == ctx.dot(x, other)
        assert plan.dot(parts, others, order_free=True) == ctx.dot(x, other, order_free=True)
        assert plan.nrm2(parts) == ctx.nrm2(x)
        counts = dist.plan_reduce(gpumem.DistLayout([4], [slice(None)], "u8", members=[2]))
        assert counts.reduce([None, None, b"\xff\1\2\3"]) == 261


def slices(first, end):
    return (slice(first, end), slice(None))


def test_a_part_of_an_array_with_the_strides_of_the_layout():
    np = numpy()
    x = random_numbers(40)
    matrix = np.array(x).reshape(5, 8)
    layout = gpumem.DistLayout((5, 8), [np.s_[:, :3], np.s_[:, 3:]], strides=[(8, 1)] * 2)
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        plan = dist.plan_reduce(layout)
        assert plan.reduce([matrix[:, :3], matrix[:, 3:]]) == ctx.reduce(x)
        assert plan.reduce([matrix, matrix.ravel()[3:]]) == ctx.reduce(x)
        with raises(ValueError, "x[0]", "padding", "strides of its box"):
            plan.reduce([matrix[:, 1:3], matrix[:, 3:]])
        with raises(ValueError, "x[1]", "strides"):
            plan.reduce([matrix, matrix.T])


def test_mistakes_are_refused():
    with raises(ValueError, "members", "one per box, 2"):
        gpumem.DistLayout([4], [slice(2), slice(2, 4)], members=[0])
    with raises(ValueError, "strides[0] has 2 values"):
        gpumem.DistLayout([4], [slice(4)], strides=[(1, 1)])
    for box, word in (((slice(4),), "1 values"), (slice(None, None, 2), "1 values"), (((0, 0), (4,)), "1 values"), ((0, 4, 1), "neither"),
                      ((slice(4), 3), "neither"), ((slice(0, 4, 2), slice(6)), "step")):  # fmt: skip
        with raises(ValueError, word):
            gpumem.DistLayout((4, 6), [box])
    with raises(ValueError, "leaves the array"):
        gpumem.DistLayout((4,), [slice(2), slice(2, 9)])
    with raises(ValueError, "one of them"):
        gpumem.DistLayout((4,), [slice(4)], "f4", element_bytes=8)
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        with raises(gpumem.InvalidArgument, "shares elements with"):
            dist.plan_reduce(gpumem.DistLayout([4], [slice(0, 3), slice(2, 4)]))
        with raises(gpumem.InvalidArgument, "box 0 is of member 2"):
            dist.plan_reduce(gpumem.DistLayout([4], [slice(4)], members=[2]))
        with raises(gpumem.InvalidArgument, "workspace_bytes is 1"):
            dist.plan_reduce(SLABS, workspace_bytes=1)
        with raises(ValueError, "order has 1 values"):
            dist.plan_redistribute(SLABS, SLABS, (0,))
        with raises(gpumem.InvalidArgument, "order[1] is 0"):
            dist.plan_redistribute(SLABS, TURNED, (0, 0))
        with raises(ValueError, "high has 1 values"):
            dist.plan_halo(SLABS, (1, 1), (1,), (0, 0))
        twelve, eleven = numbers("i", range(12)), numbers("i", range(11))
        with raises(ValueError, "src[0] has 11 elements", "reach from -6 to 12; expected 18 elements, and offsets of the boxes that are 6 more"):
            dist.plan_halo(SLABS, (1, 0), (0, 0), (True, False)).execute([eleven, twelve])
        plan = dist.plan_reduce(SLABS)
        for parts, word in ((twelve, "1 parts"), ([twelve, eleven], "x[1] has 11 elements; expected 12"), ([None, twelve], "x[0] is None")):
            with raises(ValueError, word):
                plan.reduce(parts)
        for other in (numbers("f", range(12)), numbers("q", range(12)), memoryview(twelve).cast("B")):
            with raises(TypeError, "x[1] has elements of", "i32"):
                plan.reduce([twelve, other])
        with raises(TypeError, "x[0]"):
            plan.reduce([[1, 2, 3], twelve])
        with raises(gpumem.Unsupported, "dot"):
            plan.dot([twelve, twelve], [twelve, twelve])
        with raises(gpumem.Unsupported, "norm"):
            plan.nrm2([twelve, twelve])
        with raises(gpumem.InvalidArgument, "gpumem_dist_plan_reduce()"):
            plan.execute([twelve, twelve])
        move = dist.plan_redistribute(SLABS, TURNED, (1, 0))
        with raises(TypeError, "expected both"):
            move.execute([twelve, twelve])
        with raises(ValueError, "dst[0] is read-only"):
            move.execute([twelve, twelve], [memoryview(twelve).toreadonly(), twelve])
        assert plan.reduce([twelve, twelve]) == 132  # none of these calls ends it


def test_it_ends_with_the_last_of_its_plans():
    x = numbers("i", [1, 2, 3])
    layout = gpumem.DistLayout([3], [slice(None)], "i32")
    with host() as ctx, gpumem.Dist([ctx]) as dist, dist.plan_reduce(layout) as plan:
        other = dist.plan_reduce(layout)
    assert other.reduce(x) == 6
    with raises(gpumem.InvalidHandle, "closed"):
        plan.reduce(x)
    for call in (dist.query, dist.abort, dist.__enter__, lambda: dist.plan_reduce(layout)):
        with raises(gpumem.InvalidHandle, "closed"):
            call()
    other.close()
    other.close()
    with raises(gpumem.InvalidHandle, "closed"):
        gpumem.Dist([ctx])
    with raises(gpumem.InvalidArgument, "members is 0"):
        gpumem.Dist([])
    with host() as ctx, raises(gpumem.InvalidArgument, "deadline_s"):
        gpumem.Dist([ctx], deadline_s=0)


def test_it_keeps_its_contexts():
    ctx = host()
    core, handle, x = weakref.ref(ctx.core), int(ctx.handle), numbers("i", [1, 2, 3])
    dist = gpumem.Dist([ctx, ctx])
    plan = dist.plan_reduce(gpumem.DistLayout([3], [slice(None)], "i32"))
    ctx.close()
    dist.close()
    assert plan.reduce([x, None]) == 6
    plan.close()
    gc.collect()
    assert core() is None
    with raises(gpumem.InvalidHandle):
        gpumem.raw.gpumem_ctx_status(handle)


def test_nothing_is_left_whatever_is_collected_first():
    source = """
import gc, gpumem
def knot():
    ctx = gpumem.Context("host")
    dist = gpumem.Dist([ctx, ctx])
    plan = dist.plan_reduce(gpumem.DistLayout([3], [slice(None)]))
    for one in (dist, plan):
        one.knot = (ctx, dist, plan)
knot()
gc.collect()
kept = gpumem.Dist([gpumem.Context("host")]).plan_reduce(gpumem.DistLayout([3], [slice(None)]))
print("done")
"""
    assert run_python(source) == "done"


def test_in_a_child_it_is_left_alone():
    source = """
import os, gpumem
dist = gpumem.Dist([gpumem.Context("host")])
plan = dist.plan_reduce(gpumem.DistLayout([3], [slice(None)], "i32"))
if os.fork() == 0:
    try:
        plan.reduce(bytearray(12))
    except TypeError:
        pass
    try:
        dist.query()
    except gpumem.Forked:
        del plan, dist
        os._exit(0)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert run_python(source) == "0"


def test_an_abort_sticks():
    with host() as ctx, gpumem.Dist([ctx]) as dist:
        plan = dist.plan_reduce(gpumem.DistLayout([3], [slice(None)], "i32"))
        dist.abort()
        with raises(gpumem.PeerLost):
            plan.reduce(numbers("i", [1, 2, 3]))
        assert dist.query().status == gpumem.Status.PEER_LOST


# ------------------------------------------------------------------------------------------ a transport of the program's own


SEND = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
TEST = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Transport(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("user", ctypes.c_void_p), ("rank", ctypes.c_int32), ("size", ctypes.c_int32),
                ("isend", SEND), ("irecv", SEND), ("test", TEST), ("release", RELEASE)]  # fmt: skip


class Process:
    """One of several threads that act as processes. `wires[a, b]` has the messages from a to b."""

    def __init__(self, rank, wires, size):
        self.rank, self.wires, self.size, self.made, self.released = rank, wires, size, 0, 0
        self.receiving, self.done = {peer: [] for peer in range(size)}, set()

    def table(self):
        return Transport(ctypes.sizeof(Transport), None, self.rank, self.size, SEND(self.isend), SEND(self.irecv), TEST(self.test),
                         RELEASE(self.release))  # fmt: skip

    def begin(self, request):
        self.made += 1
        request[0] = self.made
        return self.made

    def isend(self, _user, p, count, to, request):
        self.wires[self.rank, to].append(ctypes.string_at(p, count))
        self.done.add(self.begin(request))
        return 0

    def irecv(self, _user, p, count, source, request):
        self.receiving[source].append((self.begin(request), p, count))
        return 0

    def test(self, _user, request, done):
        for source, waiting in self.receiving.items():
            while waiting and self.wires[source, self.rank]:
                number, p, count = waiting.pop(0)
                message = self.wires[source, self.rank].pop(0)
                if len(message) > count:
                    return 1
                ctypes.memmove(p, message, len(message))
                self.done.add(number)
        done[0] = request in self.done
        return 0

    def release(self, _user):
        self.released += 1


def in_processes(size, work):
    """Results of work(process, dist) in each of `size` processes, which are threads here."""
    wires = {(a, b): [] for a in range(size) for b in range(size)}
    processes, results = [Process(rank, wires, size) for rank in range(size)], [None] * size

    def run(process):
        table = process.table()
        given = (table, ctypes.pointer(table), ctypes.addressof(table))[process.rank % 3]
        with host() as ctx, gpumem.Dist([ctx], given, deadline_s=30) as dist:
            results[process.rank] = work(process, dist)

    threads = [threading.Thread(target=run, args=(process,)) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [process.released for process in processes] == [1] * size
    return results


def test_processes_over_a_transport():
    x, cuts = random_numbers(5000), [0, 1717, 1718, 5000]

    def work(process, dist):
        first, end = cuts[process.rank : process.rank + 2]
        mine, whole = gpumem.DistLayout([5000], [slice(first, end)]), gpumem.DistLayout([5000], [slice(None)])
        assert dist.query().first_member == process.rank
        all_of_it = numbers("d", [0] * 5000)
        dist.plan_redistribute(mine, whole).execute(x[first:end], all_of_it)
        plan = dist.plan_reduce(mine)
        return all_of_it == x, plan.reduce(x[first:end]), plan.argreduce([x[first:end]], "max_abs")

    with host() as ctx:
        assert in_processes(3, work) == [(True, ctx.reduce(x), ctx.argreduce(x, "max_abs"))] * 3


def test_a_mistake_of_one_process_reaches_the_others():
    def work(process, dist):
        with raises(gpumem.InvalidArgument, "process 1"):
            dist.plan_reduce(gpumem.DistLayout([3 + process.rank], [slice(0, 1)]))
        return True

    assert in_processes(2, work) == [True, True]


def test_what_is_closed_calls_its_transport_no_more():
    """After close(), a table that was given by its address may be freed, even if the plan was released during another context's callback."""
    layout, begun, over = gpumem.DistLayout([3], [slice(None)]), threading.Event(), threading.Event()

    def pool(tasks, task):
        begun.set()
        over.wait(60)

    process = Process(0, {(0, 0): []}, 1)
    table = process.table()
    with host() as ctx, gpumem.Context("host", parallel_for=pool) as other:
        x = ctx.full(1 << 20, 1, "i32")
        waiting = threading.Thread(target=other.reduce, args=(x,))
        waiting.start()
        try:
            assert begun.wait(60)
            gpumem.array.left.put(lambda: over.wait(60))  # the thread that ends it is late
            with gpumem.Dist([ctx], ctypes.addressof(table)) as dist:
                dist.plan_reduce(layout)
                assert len(dist.plans) == 1
            assert process.released == 1
        finally:
            over.set()
            waiting.join()


def test_close_waits_for_the_end_in_another_thread():
    begun, go = threading.Event(), threading.Event()

    class Slow(Process):
        def release(self, user):
            begun.set()
            go.wait(60)
            super().release(user)

    process = Slow(0, {(0, 0): []}, 1)
    with host() as ctx:
        dist = gpumem.Dist([ctx], process.table())
        other = threading.Thread(target=dist.close)
        other.start()
        assert begun.wait(60)
        threading.Timer(0.05, go.set).start()
        dist.close()
        assert process.released == 1
        other.join()


def test_one_thread_ends_what_is_left():
    assert run_python("""
import sys, threading, gpumem
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=gpumem.array.expect_callbacks) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(thread.name == "gpumem" for thread in threading.enumerate()))
""") == "1"


def test_what_is_no_transport():
    with host() as ctx:
        with raises(TypeError, "transport is a str", "communicator of mpi4py"):
            gpumem.Dist([ctx], "tcp")
        with raises(gpumem.InvalidArgument, "transport", "struct_size is 0"):
            gpumem.Dist([ctx], Transport())
        with raises(ValueError, "the address 0"):
            gpumem.Dist([ctx], 0)


def test_a_layout_is_not_changed():
    layout = gpumem.DistLayout([4], [slice(0, 4)])
    for name in ("members", "lower", "upper", "offsets", "strides"):
        with raises(AttributeError):
            getattr(layout, name).append(0)


def test_what_is_closed_ends_with_the_calls_under_way():
    count = 1 << 22
    layout = gpumem.DistLayout([count], [slice(None)], "i32")
    for _ in range(5):
        x, y = numbers("i", [1]) * count, numbers("i", [0]) * count
        with host() as ctx:
            dist = gpumem.Dist([ctx])
            plan = dist.plan_redistribute(layout, layout)
            begun = threading.Event()

            def work():
                begun.set()
                plan.execute(x, y)

            worker = threading.Thread(target=work)
            worker.start()
            begun.wait()
            while not plan.calls and worker.is_alive():
                pass
            plan.close()
            dist.close()
            worker.join()
            assert x == y and dist.handle is None
            with raises(gpumem.InvalidHandle, "the plan is closed"):
                plan.execute(x, y)
