"""Arrays of bool. Every operation that moves data and every protocol accepts them. Operations on numbers refuse them and name another call."""

import array
import os
import tempfile

import gpumem
from gpumem import raw
from support import host, numpy, raises, refused
from test_descriptions import Capsule, Interface
from test_exchange import Exporter

BYTES = bytearray(b"\1\0\0\1\1\0\1\1\0\0\0\1")  # 3 x 4
ROWS = [[bool(b) for b in BYTES[4 * row : 4 * row + 4]] for row in range(3)]
KINDS = "device", "pinned", "managed"


def here():
    return raw.view(BYTES).address


class OfOthers:
    """Returns a new capsule per request."""

    def __init__(self, versioned):
        self.versioned = versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **asked):
        return Capsule(here(), (3, 4), versioned=self.versioned, code=6, bits=8).capsule


def sources(ctx):
    """The same array in the protocol of each library."""
    said = {"shape": (3, 4), "data": (here(), False), "version": 3}
    yield from (memoryview(BYTES).cast("?", (3, 4)), ctx.asarray(BYTES).view("bool").reshape(3, 4))
    yield from (OfOthers(versioned) for versioned in (False, True))
    yield from (Interface({**said, "typestr": typestr}, False) for typestr in ("|b1", "<b1", "b1"))
    yield Exporter(ctx.asarray(BYTES).view(bool).reshape(3, 4))
    yield from (ctx.array(memoryview(BYTES).cast("?", (3, 4)), kind) for kind in KINDS)


def test_bools_are_taken_and_moved():
    index = array.array("i", [2, 0])
    with host() as ctx, ctx.Stream() as s:
        for x in sources(ctx):
            seen = ctx.asarray(x)
            assert (seen.dtype, seen.format, seen.itemsize, seen.shape) == ("bool", "?", 1, (3, 4)) and "bool (3, 4)" in repr(seen)
            for kind in KINDS:
                assert ctx.array(x, kind).dtype == "bool" and ctx.array(x, kind).tolist() == ROWS
            for stream in (None, s):
                turned, ordered = ctx.transpose(x, stream=stream), ctx.permute(x, (1, 0), stream=stream)
                rows, into = ctx.gather(x, index, stream=stream), ctx.zeros((3, 4), "bool", stream=stream)
                scattered, copy = ctx.full((3, 4), True, "bool", stream=stream), ctx.empty((3, 4), bool, "pinned")
                ctx.scatter(rows, index, into, stream=stream)
                ctx.scatter(x, array.array("q", [1, 2, 0]), scattered, stream=stream)
                ctx.copy(copy, x, stream=stream)
                s.synchronize()
                assert turned.tolist() == ordered.tolist() == [list(column) for column in zip(*ROWS)]
                assert rows.tolist() == [ROWS[2], ROWS[0]] and into.tolist() == [ROWS[0], [False] * 4, ROWS[2]]
                assert scattered.tolist() == [ROWS[2], ROWS[0], ROWS[1]] and copy.tolist() == ROWS
                assert {a.dtype for a in (turned, ordered, rows, into, scattered, copy)} == {"bool"}


def test_bools_are_handed_over():
    with host() as ctx:
        for x in sources(ctx):
            for seen in ctx.asarray(x), ctx.gather(x, array.array("i", [0, 1, 2])), ctx.array(x, "pinned"):
                assert memoryview(seen).format == "?" and memoryview(seen).tolist() == ROWS
                assert seen.__array_interface__["typestr"] == "|b1"
                for asked in {}, {"max_version": (1, 0)}, {"copy": True}:
                    back = ctx.asarray(raw.dlpack_import(seen.__dlpack__(**asked)))
                    assert back.dtype == "bool" and back.tolist() == ROWS
    there = gpumem.Array((2,), -1, address=4096, kind=int(gpumem.Kind.DEVICE), device=0, itemsize=1, format="?")
    assert there.__cuda_array_interface__["typestr"] == "|b1"


def test_one_bool():
    with host() as ctx:
        yes, no = ctx.full((), True, "bool"), ctx.zeros(1, "bool")
        assert yes.item() is True and no.item() is False and yes and not no and yes == True and no == 0  # noqa: E712
        assert int(yes) == 1 and float(no) == 0.0 and yes != no and ["a", "b"][yes] == "b"
        for word in bool, "bool", "?", "|b1":
            assert ctx.empty(3, word).dtype == "bool" and ctx.array(b"\1\0").view(word).tolist() == [True, False]
        bits = ctx.array(b"\1\0\1\1\1\1\1\1").view("bool")
        assert bits.view("u1").tolist() == bits.view("u8").tolist() == [1, 0, 1, 1, 1, 1, 1, 1] and bits.view("i32").size == 2
        with raises(ValueError, "can't be seen as bool"):
            ctx.zeros((2, 2), "i16").T.view("bool")


def test_bools_are_filled():
    with host() as ctx:
        for kind in (*KINDS, "pageable"):
            a = ctx.zeros((2, 3), "bool", kind)
            for value in True, 1, 1.0, b"\1", ctx.full((), 1, "u8"):
                ctx.fill(a[:, :2], value)
                assert a.tolist() == [[True, True, False]] * 2
                ctx.fill(a, False)
                assert a.tolist() == [[False] * 3] * 2
            for value in 2, -1, 0.5, "True", None, [True], float("nan"), b"\1\1", ctx.zeros(2):
                with refused(ValueError, words="the value"):
                    ctx.fill(a, value)
        assert ctx.full(2, 0, bool).tolist() == [False, False]


def test_bools_are_no_numbers():
    with host() as ctx:
        x = ctx.asarray(BYTES).view("bool")
        m, floats = x.reshape(3, 4), ctx.zeros(12)
        for use in (ctx.reduce, ctx.argreduce, ctx.nrm2, lambda a: ctx.reduce(a, axis=0), lambda a: ctx.dot(a, a), lambda a: ctx.axpby(1, a),
                    lambda a: ctx.lincomb([(1, a)]), lambda a: ctx.multiply(a, a), lambda a: ctx.convert(a, "f32"), lambda a: ctx.convert(floats, out=a),
                    lambda a: ctx.reduce_segments(a, array.array("q", [0, 12])), lambda a: ctx.resize(m, (1, 1)),
                    lambda a: ctx.scan(a, axis=0), lambda a: ctx.scan_segments(a, array.array("q", [0, 12]))):  # fmt: skip
            with refused(TypeError, words='.view("u1")'):
                use(x)
        for use in lambda d: ctx.convert(floats, d), lambda d: gpumem.DistLayout((12,), [slice(0, 12)], d):
            for word in bool, "bool":
                with raises(ValueError, "bool can only be moved", '.view("u1")'):
                    use(word)
        assert ctx.reduce(x.view("u1")) == 6 and ctx.convert(x.view("u1"), "f32").tolist() == [float(b) for b in BYTES]
        with raises(ValueError, "index has elements", "numpy.flatnonzero()"):
            ctx.gather(floats, x)


def test_bools_over_members():
    layout = [gpumem.DistLayout((12,), [slice(0, 5), slice(5, 12)], element_bytes=1), gpumem.DistLayout((12,), [slice(0, 9), slice(9, 12)], element_bytes=1)]
    with host() as ctx, gpumem.Dist([ctx, ctx]) as dist:
        x, into = ctx.asarray(BYTES).view("bool"), ctx.zeros(12, "bool")
        dist.plan_redistribute(*layout).execute([x[:5], x[5:]], [into[:9], into[9:]])
        assert into.tolist() == x.tolist()
        with refused(TypeError, words='.view("u1")'):
            dist.plan_reduce(gpumem.DistLayout((12,), [slice(0, 5), slice(5, 12)], "u8")).reduce([x[:5], x[5:]])


def test_bools_of_numpy():
    np = numpy()
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder, host() as ctx:
        stored = rng.random((5, 6)) < 0.5
        path = os.path.join(folder, "mask.npy")
        np.save(path, stored)
        for x in stored, np.load(path), np.load(path, mmap_mode="r"), np.asfortranarray(stored), rng.random((10, 12))[::2, ::2] < 0.5:
            index = np.array([4, 0, 2])
            for found, expected in ((ctx.transpose(x), x.T), (ctx.permute(x, (1, 0)), x.T), (ctx.array(x).numpy(), x), (ctx.asarray(x).numpy(), x),
                                    (ctx.gather(x.copy(), index), x[index]), (np.asarray(Interface(ctx.array(x).__array_interface__, False)), x)):  # fmt: skip
                assert type(found) is np.ndarray and found.dtype == bool and np.array_equal(found, expected)
            into = np.zeros((5, 6), bool)
            ctx.copy(into, x)
            assert np.array_equal(into, x)
            ctx.fill(into, np.True_)
            assert into.all()
            ctx.scatter(x[:3].copy(), index, into)
            assert np.array_equal(into[index], x[:3]) and ctx.reduce(ctx.array(x).view("u1")) == x.sum() == ctx.reduce(x.copy().view("u1"))
            if np.lib.NumpyVersion(np.__version__) >= "1.25.0":  # which has bool in DLPack
                back = np.from_dlpack(ctx.array(x))
                assert back.dtype == bool and np.array_equal(back, x)
            np.save(path, ctx.array(x).numpy())
            assert np.array_equal(np.load(path), x)
            path = os.path.join(folder, "other.npy")
        for word in np.bool_, np.dtype("?"), np.dtype(bool):
            assert ctx.zeros(2, word).dtype == "bool"

