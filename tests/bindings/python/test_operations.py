"""Compares every operation on the host backend with plain Python."""

import array
import itertools
import math
import os
import random

import gpumem
from support import host, numpy, raises

INTEGERS = {"b": "i8", "B": "u8", "h": "i16", "H": "u16", "i": "i32", "I": "u32", "q": "i64", "Q": "u64"}


def test_reduce_without_numpy():
    x = array.array("i", [3, -1, 4, -1, 5])
    with host() as ctx:
        assert ctx.reduce(x) == 10
        assert ctx.reduce(x, "min_max") == (-1, 5)
        assert ctx.reduce(x, gpumem.Op.SUM_SQUARES) == 52
        assert ctx.reduce(x, op="max_abs") == 5
        assert ctx.reduce(memoryview(x)[::2]) == 12
        assert ctx.reduce(b"") == 0


def test_reduce_of_every_type():
    generator = random.Random(7)
    with host() as ctx:
        for letter, name in INTEGERS.items():
            x = array.array(letter, [generator.randrange(0, 100) for _ in range(1000)])
            assert ctx.reduce(x) == sum(x) and ctx.asarray(x).dtype == name
            assert ctx.argreduce(x, "max") == (max(x), x.index(max(x)))
            most = max(map(abs, x))
            assert ctx.argreduce(x, "max_abs") == (most, list(map(abs, x)).index(most))
        for letter in "fd":
            x = array.array(letter, [generator.randrange(-8, 9) / 4 for _ in range(1000)])
            assert ctx.reduce(x) == sum(x)
            assert ctx.reduce(x, "sum_cubes") == sum(v**3 for v in x)
            gaps = array.array(letter, [math.nan, 2, -1, math.nan, 0.5])
            assert [ctx.reduce(gaps, op + "_valid") for op in ("sum", "count", "min", "max")] == [1.5, 3, -1, 2]
            assert ctx.argreduce(gaps, "min_valid") == (-1, 2) and ctx.argreduce(gaps, "max_valid") == (2, 1)


def test_half_and_bf16():
    with host() as ctx:
        for dtype in ("f16", "bf16"):
            x = ctx.full(10, 1.5, dtype)
            assert ctx.reduce(x) == 15 and x.tolist() == [1.5] * 10 and x.dtype == dtype
        assert ctx.full(1, 1 + 2**-8, "bf16").item() == 1  # a tie, to even
        assert ctx.full(1, 1 + 3 * 2**-8, "bf16").item() == 1 + 2**-6
        assert ctx.full(1, math.nan, "bf16").view("u16").item() == 0x7FC0


def test_reduce_errors():
    with host() as ctx:
        with raises(gpumem.Empty, "n"):
            ctx.reduce(b"", "min")
        with raises(OverflowError):
            ctx.reduce(array.array("q", [2**62, 2**62]))
        assert ctx.reduce(array.array("q", [2**62, -2]), "prod") == -(2**63) and ctx.reduce(array.array("d"), "prod") == 1.0
        with raises(OverflowError):
            ctx.reduce(array.array("q", [2**62, 2]), gpumem.Op.PROD)
        with raises(ValueError, "not a valid operation", "sum_abs"):
            ctx.reduce(b"1", "median")
        with raises(TypeError, "expected an array"):
            ctx.reduce([1, 2, 3])
        with raises(TypeError):
            ctx.reduce(b"1", nothing=1)
        with raises(gpumem.Unsupported):
            ctx.reduce(b"1", "sum_compensated")
    with raises(Exception):
        ctx.reduce(b"1")  # the context is closed


def test_reduce_axis():
    np = numpy()
    m = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    with host() as ctx:
        for x in (m[0], m, m[0, ::2], m[0, :, :3], np.asfortranarray(m[0]), m[:1], m[:, ::2], m[:, :, :3], m[0, :, ::2],
                  np.lib.stride_tricks.sliding_window_view(m[0, 0], 2)):
            for axis in range(-x.ndim, x.ndim):
                found = ctx.reduce(x, axis=axis)
                assert np.array_equal(found, x.sum(axis=axis)) and found.dtype == np.int64, (x.shape, axis)
        repeated = np.broadcast_to(m[0, :, None], (3, 5, 4))
        for axis in (0, 2):
            assert np.array_equal(ctx.reduce(repeated, axis=axis), repeated.sum(axis=axis))
        assert ctx.reduce(m[0], "min_max", axis=1).tolist() == [[0, 3], [4, 7], [8, 11]]
        out = np.empty(4)
        assert ctx.reduce(m[0].astype("f4"), axis=0, out=out) is out and out.tolist() == [12, 15, 18, 21]
        with raises(ValueError, "expected 4 of f64"):
            ctx.reduce(m[0].astype("f4"), axis=0, out=np.empty(3))
        with raises(ValueError, "negative stride"):
            ctx.reduce(m[0, ::-1], axis=1)
        assert np.array_equal(ctx.reduce(m[:, ::2, ::2], axis=0), m[:, ::2, ::2].sum(0))
        with raises(ValueError, "axis is 2"):
            ctx.reduce(m[0], axis=2)
        try:
            ctx.reduce(np.array([[1, 2], [2**62, 2**62]]), axis=1)
            raise AssertionError("the second sum does not fit")
        except gpumem.Overflow as error:
            assert error.result.tolist() == [3, 0]


def test_reduce_axes():
    np = numpy()
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    with host() as ctx:
        for y in (x, x[:, ::2, :, 1:], x.transpose(2, 0, 3, 1), np.broadcast_to(x[:1], (3, 3, 4, 5)), x[:, :0]):
            for axis in ((), (0,), (1, -1), (0, 2), (-1, 0, 2), (0, 1, 2, 3), 2, None):
                for keepdims in (False, True):
                    if axis is None and not keepdims:
                        continue
                    expected = y.sum(axis=axis, keepdims=keepdims, dtype="f8")
                    found = ctx.reduce(y, axis=axis, keepdims=keepdims)
                    assert found.shape == expected.shape and found.dtype == np.float64 and np.array_equal(found, expected), (y.shape, axis)
                    short = ctx.reduce(y, axis=axis, keepdims=keepdims, dtype="f4")
                    assert short.dtype == np.float32 and np.array_equal(short, expected.astype("f4"))
        pairs = ctx.reduce(x, "min_max", axis=(0, 3))
        assert pairs.dtype == np.float64 and np.array_equal(pairs, np.stack([x.min((0, 3)), x.max((0, 3))], -1))
        out = np.empty((3, 4), np.float32)
        assert ctx.reduce(x, "max", axis=(0, 3), dtype="f4", out=out) is out and np.array_equal(out, x.max((0, 3)))
        assert ctx.reduce(x, dtype="f4").shape == () and ctx.reduce(x, dtype="f4") == x.sum()
        with ctx.Stream() as s:
            word = ctx.empty(1, "i32", "pinned")
            later = ctx.reduce(x, axis=(0, 2), dtype="f32", status=word, stream=s)
        assert np.array_equal(np.asarray(later), x.sum((0, 2))) and word.item() == 0
        with raises(ValueError, "axis is -5; expected -4 to 3"):
            ctx.reduce(x, axis=(0, -5))
        with raises(ValueError, "axis is (1, -3)", "each axis once"):
            ctx.reduce(x, axis=(1, -3))
        with raises(TypeError, "axis is (0, 1.5)", "a tuple of integers"):
            ctx.reduce(x, axis=(0, 1.5))
        with raises(ValueError, "negative stride"):
            ctx.reduce(x[::-1], axis=(0, 2))
        with raises(ValueError, "dtype is"):
            ctx.reduce(x, axis=(0, 2), dtype="f2")
        try:
            ctx.reduce(np.full((2, 3, 2), 2**62), axis=(0, 2))
            raise AssertionError("the sums do not fit")
        except gpumem.Overflow as error:
            assert error.result.tolist() == [0, 0, 0]


def test_argreduce_axis():
    np = numpy()
    rng = np.random.default_rng(31)
    with host() as ctx:
        x = rng.integers(-5, 5, (3, 4, 7))
        for y in (x, x[0], x[:, ::2], np.asfortranarray(x), x.transpose(1, 0, 2), x.astype("f4"), x[0, 0]):
            for axis in range(-y.ndim, y.ndim):
                for op, value, index in (("min", y.min(axis), y.argmin(axis)), ("max", y.max(axis), y.argmax(axis))):
                    values, indices = ctx.argreduce(y, op, axis=axis)
                    assert np.array_equal(values, value) and np.array_equal(indices, index), (y.shape, op, axis)
        values, indices = ctx.argreduce(np.array([[1, -3, 3], [np.nan, 0, np.nan]]), "max_abs", axis=1)
        assert values[0] == 3 and np.isnan(values[1]) and indices.tolist() == [1, 0]
        out = np.empty(7, np.int64), np.empty(7, np.int64)
        assert ctx.argreduce(x[0], axis=0, out=out) == out and np.array_equal(out[1], x[0].argmin(0))
        with ctx.Stream() as s:
            word = ctx.empty(1, "i32", "pinned")
            values, indices = ctx.argreduce(x, "max", axis=2, status=word, stream=s)
        assert np.array_equal(indices, x.argmax(2)) and np.array_equal(values, x.max(2)) and word.item() == 0
        with raises(ValueError, "expected 7 of i64"):
            ctx.argreduce(x[0], axis=0, out=(out[0], np.empty(6, np.int64)))
        with raises(ValueError, "status", "axis"):
            ctx.argreduce(x[0], status=word)
        with raises(gpumem.Empty):
            ctx.argreduce(np.empty((3, 0)), axis=1)
        try:
            ctx.argreduce(np.array([[-(2**63), 1], [5, -6]]), "max_abs", axis=1)
            raise AssertionError("the first magnitude does not fit")
        except gpumem.Overflow as error:
            assert [part.tolist() for part in error.result] == [[0, 6], [0, 1]]


def test_reduce_axis_of_any_order():
    np = numpy()
    rng = np.random.default_rng(29)
    with host() as ctx:
        for shape in ((3, 4, 5), (3, 1, 5), (2, 3, 4, 5), (2, 3, 1, 4, 2), (2, 0, 3)):
            x = rng.integers(-99, 99, shape)
            for order in itertools.permutations(range(len(shape))):
                y = x.transpose(order)
                for axis in range(-y.ndim, y.ndim):
                    for found in (ctx.reduce(y, axis=axis), ctx.reduce(ctx.asarray(y), axis=axis).numpy()):
                        assert np.array_equal(found, y.sum(axis=axis)), (y.shape, y.strides, axis)
        x = np.asfortranarray(rng.standard_normal((3, 4, 5)))
        assert np.array_equal(ctx.reduce(x, "min_max", axis=1), np.stack([x.min(1), x.max(1)], -1))
        out = np.empty((3, 5), order="F")
        assert ctx.reduce(x, "max", axis=1, out=out) is out and np.array_equal(out, x.max(1))
        with ctx.Stream() as s:
            later = ctx.reduce(x, "min", axis=-1, stream=s)
        assert np.array_equal(later, x.min(-1))
        for out in (np.empty((3, 5)), np.empty(15)):
            with raises(ValueError, "out has the shape", "expected (3, 5)", "(1, 0) from the widest"):
                ctx.reduce(x, axis=1, out=out)


def test_reduce_segments():
    x = array.array("d", [1, 2, 3, 4, 5])
    with host() as ctx:
        found = ctx.reduce_segments(x, array.array("q", [0, 2, 2, 5]))
        assert found.tolist() == [3, 0, 12]
        try:
            ctx.reduce_segments(x, array.array("q", [0, 0, 5]), "max")
            raise AssertionError("an empty segment has no maximum")
        except gpumem.Empty as error:
            assert error.result.tolist() == [0, 5]
        with raises(ValueError, "offsets has elements of f64"):
            ctx.reduce_segments(x, array.array("d", [0, 5]))


def test_reduce_by_index():
    x, index = array.array("f", [1, 2, 4, 8]), array.array("i", [2, 0, 2, 0])
    with host() as ctx:
        assert ctx.reduce_by_index(x, index, 4).tolist() == [10, 0, 5, 0]
        assert ctx.reduce_by_index(None, index, 3).tolist() == [2, 0, 2]
        assert ctx.reduce_by_index(None, index, 3, stream=ctx.stream).tolist() == [2, 0, 2]
        try:
            ctx.reduce_by_index(x, index, 3, "min_max")
            raise AssertionError("an empty bin has no minimum")
        except gpumem.Empty as error:
            assert error.result.tolist() == [[2, 8], [0, 0], [1, 4]]
        with raises(IndexError, "index[0] is 2", "bins = 2"):
            ctx.reduce_by_index(x, index, 2)
        with raises(ValueError, "x has 4 elements, index 1"):
            ctx.reduce_by_index(x, array.array("i", [0]), 2)
        with raises(ValueError, "op is MAX"):
            ctx.reduce_by_index(None, index, 3, "max")
        rows, at = memoryview(x).cast("B").cast("f", (2, 2)), array.array("q", [2, 0])
        assert ctx.reduce_by_index(rows, at, 3).tolist() == [[4, 8], [0, 0], [1, 2]]
        assert ctx.reduce_by_index(rows, array.array("q", [0, 0]), 1, "min_max").tolist() == [[[1, 4], [2, 8]]]
        with raises(ValueError, "x has 2 rows, index 4 numbers"):
            ctx.reduce_by_index(rows, index, 3)


def test_scan():
    x = array.array("i", [3, 1, 4])
    with host() as ctx:
        assert ctx.scan(x).tolist() == [3, 4, 8]
        assert ctx.scan(x, "prod", exclusive=True).tolist() == [1, 3, 3]
        assert ctx.scan(x, "max", dtype="i32").tolist() == [3, 3, 4]
        assert ctx.scan(x, out=x) is x and x.tolist() == [3, 4, 8]
        with raises(gpumem.Overflow):
            ctx.scan(array.array("b", [100, 100]), dtype="i8")
        with raises(ValueError, "out has 2 elements"):
            ctx.scan(x, out=array.array("q", [0, 0]))


def test_scan_axis():
    np = numpy()
    x = np.random.default_rng(5).integers(-9, 9, (4, 3, 5), dtype=np.int32)
    with host() as ctx:
        for m in (x, x[0], x[:, :, 1:4], x.transpose(2, 0, 1), np.asfortranarray(x), x[:0], np.broadcast_to(x[0], x.shape)):
            for axis in range(-m.ndim, m.ndim):
                found = ctx.scan(m, axis=axis)
                assert found.shape == m.shape and found.dtype == np.int64 and (found == np.cumsum(m, axis=axis)).all()
                assert (ctx.scan(m, "max", axis=axis, dtype="i32") == np.maximum.accumulate(m, axis=axis)).all()
        before = ctx.scan(x, axis=0, exclusive=True)
        assert (before == np.cumsum(x, axis=0) - x).all()
        out = np.full((8, 3, 10), 7)
        assert ctx.scan(x, axis=1, out=out[::2, :, ::2]).base is out and (out[::2, :, ::2] == np.cumsum(x, axis=1)).all()
        assert (out[1::2] == 7).all() and (out[:, :, 1::2] == 7).all()
        wanted = np.cumsum(x, axis=2, dtype=np.int32)
        assert ctx.scan(x, axis=2, out=x) is x and (x == wanted).all()
        stream = ctx.stream
        status = ctx.empty((), "i32", "pinned")
        sums = ctx.scan(x, axis=0, status=status, stream=stream)
        stream.synchronize()
        assert status.tolist() == gpumem.Status.OK and (np.asarray(sums) == np.cumsum(x, axis=0)).all()
        with raises(ValueError, "axis is 3"):
            ctx.scan(x, axis=3)
        with raises(TypeError, "expected one integer"):
            ctx.scan(x, axis=(0, 1))
        with raises(ValueError, "out has the shape (4, 5, 3)", "expected (4, 3, 5)"):
            ctx.scan(x, axis=0, out=np.empty((4, 5, 3)), dtype="i64")
        with raises(ValueError, "negative stride"):
            ctx.scan(x[::-1], axis=0)
        try:
            ctx.scan(np.array([[1, 2], [100, 100]], np.int8), axis=1, dtype="i8")
            raise AssertionError("200 does not fit i8")
        except gpumem.Overflow as error:
            assert "of a line" in str(error) and error.result[0].tolist() == [1, 3] and error.result[1, 0] == 100


def test_scan_segments():
    x, ends = array.array("i", [3, 1, 4, 1, 5]), array.array("q", [0, 2, 2, 4])
    with host() as ctx:
        out = array.array("q", [9] * 5)
        assert ctx.scan_segments(x, ends, out=out) is out and out.tolist() == [3, 4, 4, 5, 9]
        assert ctx.scan_segments(x, array.array("q", [0, 3, 5]), "max", exclusive=True, dtype="i32").tolist()[1:3] == [3, 3]
        try:
            ctx.scan_segments(x, array.array("q", [0, 2, 6, 5]), out=out)
            raise AssertionError("x has 5 elements")
        except gpumem.OutOfRange as error:
            assert "offsets[2] is 6" in str(error) and error.result is out and out.tolist() == [3, 4, 4, 5, 9]
        with raises(ValueError, "offsets is empty"):
            ctx.scan_segments(x, array.array("q"))
        with raises(ValueError, "offsets has elements of f64"):
            ctx.scan_segments(x, array.array("d", [0, 5]))
        with raises(ValueError, "out has 3 elements"):
            ctx.scan_segments(x, ends, out=array.array("q", [0] * 3))


def test_dot_and_norm():
    x, y = array.array("f", [3, 4, 0]), array.array("f", [1, 2, 9])
    with host() as ctx:
        assert ctx.dot(x, y) == 11 and ctx.nrm2(x) == 5
        assert ctx.dot(x, y, order_free=True) == 11 and ctx.reduce(x, "nrm2_order_free") == 5
        assert ctx.nrm2(array.array("d", [3e200, 4e200])) == math.hypot(3e200, 4e200)
        with raises(ValueError, "expected the same"):
            ctx.dot(x, array.array("d", y))
        with raises(TypeError, "expected f32 or f64"):
            ctx.nrm2(b"123")


def test_transpose():
    np = numpy()
    m = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    with host() as ctx:
        for x in (m[0], m, m[:, :2], m[:, :, 1:3], m[0].astype(">i2"), m[0].astype("c16")):
            found = ctx.transpose(x, np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype))
            assert np.array_equal(found, np.swapaxes(x, -1, -2))
        assert np.array_equal(ctx.transpose(m), np.swapaxes(m, 1, 2))
        square = np.arange(9.0).reshape(3, 3)
        expected = square.T.copy()
        ctx.transpose(square, square)
        assert np.array_equal(square, expected)
        d = ctx.array(m[0])
        assert np.array_equal(ctx.transpose(d, d), m[0].T)
        with raises(ValueError, "expected (4, 3)"):
            ctx.transpose(m[0], np.empty((3, 4), np.int16))
        with raises(ValueError, "negative"):
            ctx.transpose(m[0, ::-1])


def test_permute():
    np = numpy()
    x = np.arange(120, dtype=np.uint8).reshape(2, 3, 4, 5)
    with host() as ctx:
        for order in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 3, 1, 2)):
            assert np.array_equal(ctx.permute(x, order), x.transpose(order))
        repeated = np.broadcast_to(np.arange(3), (4, 3))  # a stride of zero
        assert np.array_equal(ctx.permute(repeated, (1, 0)), repeated.T)
        dst = np.zeros((5, 8), np.uint8)
        ctx.permute(x[0, 0], (1, 0), dst[:, ::2])
        assert np.array_equal(dst[:, ::2], x[0, 0].T) and not dst[:, 1::2].any()
        with raises(ValueError, "negative stride"):
            ctx.permute(x[::-1], (0, 1, 2, 3))
        with raises(gpumem.InvalidArgument):
            ctx.permute(x[0, 0], (0, 0), np.empty((4, 4), np.uint8))


def test_gather_and_scatter():
    np = numpy()
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    index = np.array([3, 1, 1], np.uint32)
    with host() as ctx:
        assert np.array_equal(ctx.gather(table, index), table[index])
        dst = np.zeros((5, 3), np.float32)
        ctx.scatter(table[:2], np.array([4, 0]), dst)
        assert np.array_equal(dst[[4, 0]], table[:2]) and not dst[1:4].any()
        before = dst.copy()
        with raises(IndexError, "index[1] is 7"):
            ctx.gather(table, np.array([0, 7]), dst[:2])
        assert np.array_equal(dst, before)
        with raises(ValueError, "expected (3, 3)"):
            ctx.gather(table, index, dst)


def test_copy_boxes():
    field = array.array("i", range(20))
    packed = array.array("i", [-1] * 7)
    of, to = memoryview(field).cast("B").cast("i", (4, 5)), memoryview(packed)
    with host() as ctx:
        whole, line = ctx.asarray(of), ctx.asarray(to)
        ctx.copy_boxes([whole[1:3, 1], whole[3, 2:5]], [line[:2], line[3:6]])
        assert list(packed) == [6, 11, -1, 17, 18, 19, -1]
        ctx.copy_boxes([], [])
        with raises(ValueError, "src has 1 arrays and dst 0"):
            ctx.copy_boxes([whole], [])
        with raises(ValueError, "dst[1] has the shape (3,)"):
            ctx.copy_boxes([line[:2], line[2:4]], [whole[0, :2], whole[0, :3]])
        with raises(TypeError, "src[1]"):
            ctx.copy_boxes([line[:2], array.array("d", [1, 2])], [whole[0, :2], array.array("d", [1, 2])])
        with raises(gpumem.Error, "dst[0] is src[0]"):
            ctx.copy_boxes([line], [line])


def test_copy_boxes_of_two_arrays():
    np = numpy()
    random = np.random.default_rng(3)
    x = random.random((5, 6, 7)).astype("f4")
    extents = random.integers(0, 4, (20, 3))
    places = random.integers(0, x.shape - extents + 1)
    parts = [x[tuple(slice(a, a + e) for a, e in zip(*box))] for box in zip(places, extents)]
    packed = np.concatenate([part.ravel() for part in parts])
    with host() as ctx, ctx.Stream() as s:
        for table in np.asarray, lambda rows: rows.astype("i4"), lambda rows: rows.tolist(), lambda rows: ctx.array(rows):
            for words in {}, {"stream": s}:
                out, back = np.zeros_like(packed), np.zeros_like(x)
                ctx.copy_boxes(x, out, src_offsets=table(places), extents=table(extents), **words)
                ctx.copy_boxes(out, back, dst_offsets=table(places), extents=table(extents), **words)
                s.synchronize()
                expected = np.zeros_like(x)
                for box, part in zip(zip(places, extents), parts):
                    expected[tuple(slice(a, a + e) for a, e in zip(*box))] = part
                assert np.array_equal(out, packed) and np.array_equal(back, expected)
        y = np.zeros((4, 4), "f4")
        ctx.copy_boxes(x[0], y, src_offsets=[(0, 0), (3, 4)], dst_offsets=[(2, 2), (0, 0)], extents=(2, 2))  # one row for all boxes
        assert np.array_equal(y[2:, 2:], x[0, :2, :2]) and np.array_equal(y[:2, :2], x[0, 3:5, 4:6]) and np.count_nonzero(y) == 8
        line = np.zeros(6, "f4")
        ctx.copy_boxes(x[0, 0], line, src_offsets=[0, 4], dst_offsets=[4, 0], extents=[2, 3])
        assert np.array_equal(line, np.concatenate([x[0, 0, 4:7], [0], x[0, 0, :2]]))
        out = np.zeros(9, "f4")
        ctx.copy_boxes(x[0], out, src_offsets=[(0, 0), (1, 1)], dst_offsets=[5, 0], extents=(2, 2))
        assert np.array_equal(out, [*x[0, 1:3, 1:3].ravel(), 0, *x[0, :2, :2].ravel()])
        ctx.copy_boxes(x, out, extents=[])
        with raises(IndexError, "box 1 begins at 5 along axis 1 of src and has the extent 2; expected 0 to 6"):
            ctx.copy_boxes(x, out, src_offsets=[(0, 0, 0), (0, 5, 0)], extents=(1, 2, 2))
        with raises(IndexError, "box 1 begins at 8 of dst and has 2 elements; expected 0 to 9"):
            ctx.copy_boxes(x[0], out, dst_offsets=[0, 8], extents=(1, 2))
        with raises(IndexError, "box 0 begins at -1 along axis 0 of src"):
            ctx.copy_boxes(x[0], out, src_offsets=[(-1, 0)], extents=(1, 2))
        with raises(TypeError, "extents is None"):
            ctx.copy_boxes(x, out, src_offsets=[(0, 0, 0)])
        with raises(ValueError, "extents has the shape (2,)", "3 integers"):
            ctx.copy_boxes(x, out, extents=(2, 2))
        with raises(ValueError, "2 and 3 rows"):
            ctx.copy_boxes(x, out, src_offsets=[(0, 0, 0)] * 2, extents=[(1, 1, 1)] * 3)
        with raises(TypeError, "extents has elements of f64"):
            ctx.copy_boxes(x, out, extents=np.ones((2, 3)))
        with raises(ValueError, "src has 3 axes"):
            ctx.copy_boxes(x, np.zeros((2, 2, 2, 2), "f4"), extents=(1, 1, 1, 1))
        with raises(ValueError, "different lengths"):
            ctx.copy_boxes(x, out, extents=[(1, 1, 1), (1, 1)])
        wide = np.zeros(16)
        with raises(ValueError, "dst has the shape (8,) and strides", "elements without padding"):
            ctx.copy_boxes(np.ones((4, 4)), wide[::2], extents=[(2, 2)])
        assert not wide.any()
        with raises(ValueError, "src has a zero stride", "elements without padding"):
            ctx.copy_boxes(np.broadcast_to(np.array([7.0]), (1 << 16,)), np.zeros((256, 256)), extents=(256, 256))
    with raises(gpumem.InvalidHandle, "the context is closed"):
        ctx.copy_boxes(x, out, extents=(1, 1, 1))


def test_one_row_for_all_boxes():
    np = numpy()
    x, places = np.arange(12.0), [0, 4, 8]
    with host() as ctx:
        for extents in [2], (2,), [(2,)], np.array([[2]]), np.array([2], "i4"):
            out = np.zeros(12)
            ctx.copy_boxes(x, out, src_offsets=places, dst_offsets=[[6], [3], [0]], extents=extents)
            assert out.tolist() == [8, 9, 0, 4, 5, 0, 0, 1, 0, 0, 0, 0]
        for extents in (2, 2), [(2, 2)], np.array([[2, 2]], "u2"):
            out = np.zeros(8)
            ctx.copy_boxes(x.reshape(3, 4), out, src_offsets=[(0, 0), (1, 2)], extents=extents)
            assert out.tolist() == [0, 1, 4, 5, 6, 7, 10, 11]
        ctx.copy_boxes(x[:4], out, src_offsets=[1], dst_offsets=[0, 4], extents=[1, 2])
        assert out.tolist() == [1, 1, 4, 5, 1, 2, 10, 11]
        ctx.copy_boxes(x, out, src_offsets=[5], extents=[])
        with raises(ValueError, "2 and 3 rows"):
            ctx.copy_boxes(x, out, src_offsets=places, extents=[2, 2])


def test_rows_without_bytes():
    np = numpy()
    x, mask, index = np.empty((4, 0), "f4"), np.array([True, False, True, True]), np.array([3, 0])
    with host() as ctx, ctx.Stream() as s:
        assert ctx.select(x, mask).shape == (3, 0) and ctx.gather(x, index).shape == (2, 0)
        assert ctx.scatter(x[:2], index, x) is x
        kept = ctx.zeros(1, "i64")
        out = np.empty((4, 0), "f4")
        assert ctx.select(x, mask, out, kept=kept, stream=s) is out
        s.synchronize()
        assert kept.item() == 3


def test_types_of_results():
    """The type of the result follows `out`. f16 is also reduced to f32."""
    np = numpy()
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with host() as ctx, ctx.Stream() as s:
        for words in {}, {"stream": s}:
            for axis in None, 1, (0, 2):
                for given in "f4", "f2":
                    y = x.astype(given)
                    sums = y.sum(axis=axis, dtype="f8")
                    for out in np.empty(sums.shape, "f4"), np.empty(sums.shape, "f8"):
                        assert ctx.reduce(y, axis=axis, out=out, **words) is out
                        s.synchronize()
                        assert np.array_equal(out, sums), (words, axis, given)
                    found = ctx.reduce(y, axis=axis, dtype="f32", **words)
                    s.synchronize()
                    found = np.asarray(found)
                    assert found.dtype == np.float32 and np.array_equal(found, sums)
        pairs = ctx.reduce(x.astype("f2"), "min_max", axis=0, dtype="f32")
        assert np.array_equal(pairs, np.stack([x.min(0), x.max(0)], -1))
        with raises(ValueError, "dtype is i32; expected i64"):
            ctx.reduce(x.astype("i4"), axis=0, out=np.empty((3, 4), "i4"))


def test_messages_in_words_of_python():
    np = numpy()
    x = np.ones((4, 5), "f4")
    with host() as ctx:
        for call, words in ((lambda: ctx.scan(x, "sum_abs"), "'sum_abs' is not a valid operation of scan(); expected one of sum, min, max, prod"),
                            (lambda: ctx.scan(x, dtype="i32"), "dtype is i32; expected f64, or the type of x, f32"),
                            (lambda: ctx.reduce(x, axis=0, dtype="f16"), "dtype is f16; expected f64, or the type of x"),
                            (lambda: ctx.map("remainder", x, 2), "op is remainder and dtype is f32; expected an integer type"),
                            (lambda: ctx.map("divide", x.astype("i4"), 0), "out is complete"),
                            (lambda: ctx.gather(x, np.array([9])), "less than the number of rows of src, 4"),
                            (lambda: ctx.scatter(x[:1], np.array([9]), x.copy()), "less than the number of rows of dst, 4"),
                            (lambda: ctx.select_places(np.ones(4, bool), np.empty(2, "i8")), "out has room for 2; expected room for the 4"),
                            (lambda: ctx.reduce(x[:0], "min"), "x has no elements; expected at least one")):  # fmt: skip
            with raises(Exception, words):
                call()


def test_select():
    np = numpy()
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    with host() as ctx:
        for mask in np.array([True, False, True, True]), np.array([1, 0, 255, 7], np.uint8), np.array([-1, 0, 1, 1], np.int8):
            assert np.array_equal(ctx.select(table, mask), table[mask != 0])
            assert ctx.select_places(mask).tolist() == [0, 2, 3] and ctx.count(mask) == 3
            assert ctx.select_places(mask, dtype="u32").dtype == np.uint32
        out = np.full((4, 3), -1, np.float32)
        kept = ctx.select(table, mask, out)
        assert kept.base is out and np.array_equal(kept, table[[0, 2, 3]]) and (out[3] == -1).all()
        with raises(IndexError, "out has room for 2", "3"):
            ctx.select(table, mask, out[:2])
        with raises(ValueError, "mask has 3 elements"):
            ctx.select(table, mask[:3])
        with raises(ValueError, "expected bool"):
            ctx.select(table, np.zeros(4))
        with raises(ValueError, "rows of 8 bytes"):
            ctx.select(table, mask, np.zeros((4, 2), np.float32))
        with ctx.Stream() as s:
            number = ctx.zeros((), "i64", "pinned")
            x, on = ctx.array(table, "device"), ctx.array(mask, "device")
            rows = ctx.select(x, on, kept=number, stream=s)
            s.synchronize()
            assert number.item() == 3 and np.array_equal(rows.numpy()[:3], table[[0, 2, 3]])
            with raises(ValueError, "kept is None"):
                ctx.select_places(on, stream=s)


def test_axpby():
    np = numpy()
    x, y = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    with host() as ctx:
        assert ctx.axpby(2, x, 1, y).tolist() == [12, 24, 36]
        assert ctx.axpby(3, x).tolist() == [3, 6, 9]
        ctx.axpby(-1, x, 1, y, y)
        assert y.tolist() == [9, 18, 27]
        ctx.axpby(0, None, 0, None, out=y)
        assert y.tolist() == [0, 0, 0]
        with raises(ValueError, "without padding"):
            ctx.axpby(1, np.zeros(6, np.float32)[::2], 1, y)
        with raises(ValueError, "y has the shape (2,)", "expected (3,)"):
            ctx.axpby(1, x, 1, y[:2])
        with raises(ValueError, "y has the shape (3, 2)", "expected (2, 3)"):
            ctx.axpby(1, np.ones((2, 3)), 1, np.ones((3, 2)))
        frozen = y.copy()
        frozen.flags.writeable = False
        with raises(ValueError, "read-only"):
            ctx.axpby(1, x, 1, y, frozen)


def test_lincomb_dot():
    np = numpy()
    u = np.arange(30.0).reshape(5, 6)
    with host() as ctx:
        out, sums = ctx.lincomb_dot([(2, u), (-1, u[:1])], [None, u, u[:, :1]])
        wanted = 2 * u - u[0]
        assert np.array_equal(out, wanted) and sums == [np.sum(wanted * wanted), np.sum(wanted * u), np.sum(wanted * u[:, :1])]
        inner, results, v = u[1:-1, 1:-1], np.zeros(2), np.arange(12.0).reshape(3, 4)
        wanted = inner * 3
        found, sums = ctx.lincomb_dot([((1, np.array([6.0]), np.array([2.0])), inner)], [None, v], inner, results)
        assert found is inner and sums is results and np.array_equal(inner, wanted)
        assert results.tolist() == [np.sum(wanted * wanted), np.sum(wanted * v)]
        x = np.float32([1, 2])
        with ctx.Stream() as s:
            first, rho = ctx.lincomb_dot([(3, x)], [x], stream=s)
            second, sums = ctx.lincomb_dot([((1, rho, None), x)], (None,), stream=s)  # reads rho when it runs
            s.synchronize()
        assert np.asarray(rho).tolist() == [15] and np.asarray(second).tolist() == [15, 30] and np.asarray(sums).tolist() == [1125]
        with raises(gpumem.InvalidArgument, "dots is 4"):
            ctx.lincomb_dot([(1, x)], [x] * 4)
        with raises(TypeError, "dots"):
            ctx.lincomb_dot([(1, x)], x)
        with raises(TypeError, "expected f32"):
            ctx.lincomb_dot([(1, x)], [u])
        with raises(ValueError, "out has 1 elements of f64; expected 2"):
            ctx.lincomb_dot([(1, x)], [x, None], results=np.zeros(1))


def test_lincomb():
    np = numpy()
    u = np.arange(30.0).reshape(5, 6) ** 2
    v = np.full((5, 6), -1.0)
    with host() as ctx:
        inner = v[1:-1, 1:-1]
        assert ctx.lincomb([(0.5, u[1:-1, 1:-1]), (0.25, u[:-2, 1:-1]), (-2, u[1:-1, 2:])], out=inner) is inner
        assert np.array_equal(inner, 0.5 * u[1:-1, 1:-1] + 0.25 * u[:-2, 1:-1] - 2 * u[1:-1, 2:])
        assert np.all(v[0] == -1) and np.all(v[:, [0, 5]] == -1)
        row, column = u[:1], u[:, :1].astype(np.float64)
        assert np.array_equal(ctx.lincomb([(1, row), (2, column)]), row + 2 * column)
        assert np.array_equal(ctx.lincomb([(1, u), (1, np.broadcast_to(u[0], u.shape))]), u + u[0])
        assert ctx.lincomb([(2, np.float32([[[[1]], [[2]]]]))]).tolist() == [[[[2]], [[4]]]]  # four axes, and only one has several elements
        assert ctx.lincomb([(2, np.zeros((0, 3)))]).shape == (0, 3)
        six, four = np.array([6.0]), np.array(4.0)
        x = np.float32([1, 2])
        assert ctx.lincomb([(six, x)]).tolist() == [6, 12]
        assert ctx.lincomb([((2, six, four), x), (1, x)]).tolist() == [4, 8]
        assert ctx.lincomb([((None, None, four), x)]).tolist() == [0.25, 0.5]
        assert ctx.lincomb([(np.float32([3]), x), (np.array(2), x)]).tolist() == [5, 10]  # numbers of other types are converted
        assert ctx.lincomb([(1, np.float64(x)), (six, np.float64(2))]).tolist() == [13, 14]  # a scalar of NumPy is an array
        rho = np.zeros(1)
        with ctx.Stream() as s:
            ctx.fill(rho, 5.0, stream=s)
            scaled = ctx.lincomb([(rho, x)], stream=s)  # reads rho when it runs
            s.synchronize()
        assert np.asarray(scaled).tolist() == [5, 10]
        with raises(TypeError, "expected one of f64"):
            ctx.lincomb([((1, np.zeros(2), None), x)])
        with raises(TypeError, "denominator"):
            ctx.lincomb([((1, six), x)])
        with raises(gpumem.InvalidArgument, "numerators[0]"):
            ctx.lincomb([(u[0, :1], u)], out=u)
        ctx.lincomb([(3, u), (0, v)], out=u)
        assert u[0, 1] == 3
        with raises(ValueError, "broadcast"):
            ctx.lincomb([(1, u), (1, u[:, :4])])
        with raises(ValueError, "negative"):
            ctx.lincomb([(1, u[::-1])])
        with raises(TypeError, "expected f64"):
            ctx.lincomb([(1, u), (1, u.astype(np.float32))])
        with raises(TypeError, "expected f32 or f64"):
            ctx.lincomb([(1, u.astype(np.int32))])
        with raises(gpumem.InvalidArgument):
            ctx.lincomb([(1, u[1:])], out=u[:-1])
        with raises(ValueError, "read-only"):
            ctx.lincomb([(1, u)], out=np.broadcast_to(u[0], u.shape))


def test_multiply():
    np = numpy()
    x, y = np.arange(12.0, dtype=np.float32).reshape(3, 4), np.float32([[2], [3], [-1]])
    with host() as ctx, ctx.Stream() as s:
        assert np.array_equal(ctx.multiply(x, y), x * y)
        assert np.array_equal(ctx.multiply(x.T, y[:, 0]), x.T * y[:, 0])
        product, scaled = ctx.multiply(x, x, stream=s), ctx.lincomb([(0.5, x)], stream=s)
        s.synchronize()
        assert np.array_equal(product.numpy(), x * x) and np.array_equal(scaled.numpy(), x / 2)
        assert ctx.multiply(x, x, x) is x and x[0, 3] == 9
        with raises(ValueError, "broadcast"):
            ctx.multiply(x, x, x[:2])


def test_map():
    np = numpy()
    x, y = np.arange(12.0, dtype=np.float32).reshape(3, 4), np.float32([[2], [3], [-1]])
    a, b = np.int16([[7, -7], [9, 1]]), np.int16([2, -2])
    with host() as ctx, ctx.Stream() as s:
        assert np.array_equal(ctx.map("subtract", x, y), x - y)
        assert np.array_equal(ctx.map(gpumem.MapOp.SQUARE_ROOT, x), np.sqrt(x))
        assert ctx.map("maximum", x, y[:, 0:1], x) is x and x[1, 0] == 4
        assert ctx.map("divide", a, b).tolist() == [[3, 3], [4, 0]]
        assert np.array_equal(ctx.map("multiply", x, 3), x * 3) and np.array_equal(ctx.map("subtract", 1, x), 1 - x)
        assert ctx.map("maximum", 1, a).dtype == np.int16
        assert all(type(z) is np.ndarray for z in (ctx.map("subtract", np.float32(1), x), ctx.lincomb([(1, np.float32(1)), (-1, x)]),
                                                   ctx.where(b > 0, np.int16(1), b), ctx.map("negate", np.float32([1]))))
        halves = ctx.map("multiply", x, 0.5, stream=s)
        s.synchronize()
        assert np.array_equal(halves.numpy(), x / 2)
        queued = ctx.map("and", a, a, stream=s)
        s.synchronize()
        assert np.array_equal(queued.numpy(), a)
        with raises(IndexError, "divide"):
            ctx.map("divide", a, np.int16([1, 0]))
        with raises(TypeError, "two operands"):
            ctx.map("add", a)
        with raises(ValueError, "bins is -1", "0 or more"):
            ctx.reduce_by_index(a, a, -1)
        with raises(TypeError, "bins is None"):
            ctx.reduce_by_index(a, np.int32([0, 0]), None)
        with raises(TypeError, "dtype is f32; expected i32"):
            ctx.argsort(a, dtype="f32")
        with raises(TypeError, "terms[0]", "the factor first"):
            ctx.lincomb([(np.float32([1, 2]), 1)])
        with raises(ValueError, "does not broadcast"):
            ctx.copy(np.zeros((2, 3)), np.zeros(3))
        for out in a, "nonsense", 3:
            with raises(TypeError, "y is ", "one operand", "out="):
                ctx.map("negate", a, out)
        with raises(TypeError, "y has elements of f32; expected i16"):
            ctx.map("add", a, x[0, 0:2])
        with raises(ValueError, "0.5 is not a value of i16"):
            ctx.map("add", a, 0.5)
        with raises(TypeError, "x and y are numbers"):
            ctx.map("add", 1, 2)
        with raises(ValueError, "square_root"):
            ctx.map("root", a)


def test_compare_and_where():
    np = numpy()
    x, y = np.float64([[1, np.nan], [3, 4]]), np.float64([2, 4])
    with host() as ctx:
        mask = ctx.compare("less", x, y)
        assert mask.dtype == np.uint8 and np.array_equal(mask, x < y)
        as_bool = np.empty((2, 2), bool)
        assert ctx.compare("not_equal", x, x, as_bool) is as_bool and as_bool.tolist() == [[False, True], [False, False]]
        assert np.array_equal(ctx.where(x < y, x, y), np.where(x < y, x, y))
        assert ctx.where(mask[0], np.int8([1, 2]), np.int8([[3], [4]])).tolist() == [[1, 3], [1, 4]]
        assert np.array_equal(ctx.compare("greater", x, 1), x > 1) and np.array_equal(ctx.compare("greater", 3, x), 3 > x)
        assert np.array_equal(ctx.where(x == x, x, 0), np.nan_to_num(x)) and ctx.where(x > 2, True, x < 2).dtype == bool
        with raises(TypeError, "u8 or bool"):
            ctx.where(x, x, x)


def test_convert_scaled():
    np = numpy()
    counts = np.int16([[0, 100], [200, -300]])
    with host() as ctx:
        assert ctx.convert_scaled(counts, "f32", scale=0.5, offset=2).tolist() == [[1, 51], [101, -149]]
        by_row = ctx.convert_scaled(counts, "i8", scale=np.float64([[1], [0.5]]))
        assert by_row.tolist() == [[0, 100], [100, -128]]
        assert ctx.convert_scaled(np.float32([np.nan, 1]), "u8", nan_value=9).tolist() == [9, 1]
        with raises(TypeError, "f64"):
            ctx.convert_scaled(counts, "f32", scale=np.float32([1]))


def test_convert():
    np = numpy()
    x = np.array([[1.5, -3], [300, np.nan]], np.float32)
    with host() as ctx:
        assert ctx.convert(x, np.int8).tolist() == [[2, -3], [127, 0]]
        assert ctx.convert(x, "f16").dtype == np.float16
        y = np.zeros(4, np.int32)
        assert ctx.convert(x, out=y) is y and y.tolist() == [2, -3, 300, 0]
        with raises(TypeError, "dtype, or out"):
            ctx.convert(x)
        with raises(ValueError, "expected 4"):
            ctx.convert(x, out=y[:3])
        with raises(ValueError, "without padding"):
            ctx.convert(x[:, ::2], "f64")


def test_sort():
    np = numpy()
    x = np.array([3, -1, np.nan, 2, -1], np.float32)
    with host() as ctx:
        assert ctx.sort(x)[:4].tolist() == [-1, -1, 2, 3]
        assert ctx.argsort(x).tolist() == np.argsort(x, kind="stable").tolist() == [1, 4, 3, 0, 2]
        order = np.zeros(5, np.uint32)
        assert ctx.sort(x, descending=True, order=order)[1:].tolist() == [3, 2, -1, -1] and order.tolist() == [2, 0, 3, 1, 4]
        assert ctx.argsort(x, dtype="i32").dtype == np.int32
        y = x[:2].copy()
        assert ctx.sort(y, y) is y and y.tolist() == [-1, 3]
        with raises(ValueError, "axes"):
            ctx.sort(x[0])
        with raises(ValueError, "expected (5,)"):
            ctx.sort(x, order=order[:3])
        with raises(ValueError, "without padding"):
            ctx.argsort(x[::2])


def test_sort_of_rows_and_segments():
    np = numpy()
    x = np.random.default_rng(1).integers(-20, 20, (3, 4, 50)).astype(np.float32)
    with host() as ctx, ctx.Stream() as stream:
        for with_stream in (None, stream):
            order, y = np.zeros(x.shape, np.int32), x.copy()
            assert ctx.sort(y, y, order=order, stream=with_stream) is y
            places = ctx.argsort(x, descending=True, dtype="u32", stream=with_stream)
            stream.synchronize()
            assert (y == np.sort(x)).all() and (order == np.argsort(x, kind="stable")).all()
            assert (np.take_along_axis(x, np.asarray(places).astype(int), -1) == np.sort(x)[..., ::-1]).all()
        assert ctx.sort(x[:, :0]).shape == (3, 0, 50)
        with raises(ValueError, "expected (3, 4, 50)"):
            ctx.argsort(x, np.zeros((12, 50), np.int64))
        keys, ends = np.array([9, 3, 1, 2, 5, 4, 8], np.int16), np.array([1, 4, 4, 6])
        order = np.full(7, 99)
        assert ctx.sort_segments(keys, ends, order=order).tolist() == [9, 1, 2, 3, 4, 5, 8]
        assert order.tolist() == [99, 2, 3, 1, 5, 4, 99]
        status = ctx.empty(1, "i32", "pinned")
        assert ctx.sort_segments(keys, ends, keys, descending=True, status=status, stream=stream) is keys
        stream.synchronize()
        assert keys.tolist() == [9, 3, 2, 1, 5, 4, 8] and status[0] == 0
        with raises(IndexError, "offsets[1] is 8"):
            ctx.sort_segments(keys, np.array([0, 8]))
        with raises(ValueError, "offsets"):
            ctx.sort_segments(keys, ends[:0])


def test_resize():
    np = numpy()
    image = np.arange(16, dtype=np.uint8).reshape(4, 4)
    with host() as ctx:
        assert ctx.resize(image, (2, 2), "nearest").tolist() == [[5, 7], [13, 15]]
        assert np.array_equal(ctx.resize(image, (4, 4)), image)
        colour = np.repeat(image[:, :, None], 3, axis=2)
        assert np.array_equal(ctx.resize(colour, (8, 6))[:, :, 1], ctx.resize(image, (8, 6)))
        part = np.zeros((2, 2), np.uint8)
        ctx.resize(image[1:3, 1:3], out=part)
        assert np.array_equal(part, image[1:3, 1:3])
        with raises(gpumem.Unsupported):
            ctx.resize(image.astype(np.int32), (2, 2))
        with raises(ValueError, "out has the shape (2, 2)", "the requested size"):
            ctx.resize(image, (3, 3), out=part)


def test_offsets_of_other_types():
    np = numpy()
    x, keys = np.arange(7.0), np.array([3.0, 1, 2, 9, 8, 7, 0])
    with host() as ctx, ctx.Stream() as s:
        for dtype in "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8":
            ends = np.array([0, 3, 3, 7], dtype)
            for of in (lambda e: e), ctx.array:
                for words in {}, {"stream": s}:
                    sums, sorted_keys = ctx.reduce_segments(x, of(ends), **words), ctx.sort_segments(keys, of(ends), **words)
                    scans = ctx.scan_segments(x, of(ends), **words)
                    s.synchronize()
                    assert sums.tolist() == [3, 0, 18] and scans.tolist() == [0, 1, 3, 3, 7, 12, 18]
                    assert sorted_keys.tolist() == [1, 2, 3, 0, 7, 8, 9]
        for wrong in np.array([0.0, 7]), np.zeros((2, 2), "i4"):
            with raises(ValueError, "offsets has"):
                ctx.reduce_segments(x, wrong)
        far = gpumem.Array((3,), int(gpumem.Dtype.I32), address=0x10000, kind=int(gpumem.Kind.DEVICE), device=0)
        with raises(ValueError, "offsets has elements of i32 in device memory", 'convert(offsets, "i64")'):
            ctx.reduce_segments(x, far)


def test_resize_of_a_batch_without_channels():
    np = numpy()
    images = np.arange(2 * 8 * 9, dtype=np.uint8).reshape(2, 8, 9)
    with host() as ctx:
        with raises(ValueError, "src has the shape (2, 8, 9) of (rows, columns, channels)", "src[..., None]"):
            ctx.resize(images, (4, 4))
        with raises(ValueError, "out has the shape (2, 8, 9)"):
            ctx.resize(images[0], out=images)
        found = ctx.resize(images[..., None], (4, 4))
        assert found.shape == (2, 4, 4, 1) and np.array_equal(found[1, :, :, 0], ctx.resize(images[1], (4, 4)))


def test_resize_of_many_images():
    np = numpy()
    images = [np.arange(rows * cols * 3, dtype=np.uint8).reshape(rows, cols, 3) for rows, cols in ((4, 5), (9, 2), (1, 1))]
    with host() as ctx:
        together = ctx.resize(images, (6, 7))
        assert together.shape == (3, 6, 7, 3)
        for k, image in enumerate(images):
            assert np.array_equal(together[k], ctx.resize(image, (6, 7)))
        planes = ctx.resize([image[:, :, 1].copy() for image in images], (6, 7), "nearest")
        assert planes.shape == (3, 6, 7) and np.array_equal(planes[0], ctx.resize(images[0], (6, 7), "nearest")[:, :, 1])
        equal = np.arange(2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3)[:, 1:7]
        assert np.array_equal(ctx.resize(equal, (3, 4)), np.stack([ctx.resize(image, (3, 4)) for image in equal]))
        out = np.zeros((5, 6, 7, 3), np.uint8)
        ctx.resize(images, out=out[1:4])
        assert np.array_equal(out[1:4], together) and not out[[0, 4]].any()
        with raises(ValueError, "src is empty"):
            ctx.resize([], (2, 2))
        with raises(ValueError, "out has the shape (5, 6, 7, 3)", "3 images"):
            ctx.resize(images, out=out)
        with raises(ValueError, "src[1] has 3 channels of f32; expected 3 of u8"):
            ctx.resize([images[0], images[1].astype(np.float32)], (2, 2))
        with raises(gpumem.InvalidArgument, "src_rows[1] is 0"):
            ctx.resize([images[0], images[1][:0]], (2, 2))


def test_what_a_call_writes_to_is_looked_at():
    np = numpy()
    with host() as ctx:
        with raises(ValueError, "dst has", "copy() from there"):
            ctx.fill(np.zeros((3, 4)).T, 1)
        for status in (np.zeros(1), np.zeros(4, "u1"), np.zeros(2, "i4")):
            with raises(ValueError, "status has", "one of i32"):
                ctx.reduce(np.ones((2, 3)), axis=0, status=status, stream=ctx.stream)


def test_copy_and_fill():
    np = numpy()
    x = np.arange(210, dtype=np.int32).reshape(5, 6, 7)
    with host() as ctx:
        for part in (np.s_[:], np.s_[1:3], np.s_[:, 2:4], np.s_[:, :, 1:5], np.s_[1:4, 1:3, 2:5], np.s_[:, :, ::3], np.s_[2:3, 1, 3]):
            dst = np.full_like(x, -1)
            ctx.copy(dst[part], x[part])
            expected = np.full_like(x, -1)
            expected[part] = x[part]
            assert np.array_equal(dst, expected), part
        ctx.copy(dst.T, x.T)
        assert np.array_equal(dst, x)
        with raises(ValueError, "dst has the shape"):
            ctx.copy(dst[:2], x)
        ctx.fill(dst, 7)
        assert (dst == 7).all()
        ctx.fill(dst[1, 2:4, 1:3], 9)
        assert (dst[1, 2:4, 1:3] == 9).all() and (dst == 9).sum() == 4
        ctx.fill(dst[0, :, 2], -5)
        assert (dst == -5).sum() == 6
        big = np.zeros(3, "c16")
        ctx.fill(big, np.complex128(1 + 2j).tobytes())
        assert (big == 1 + 2j).all()
        with raises(TypeError, "bytes"):
            ctx.fill(big, 1)
        with raises(ValueError, "8 bytes", "4"):
            ctx.fill(dst, b"12345678")
        for value, dtype in ((300, "u1"), (-1, "u1"), (1.5, "i4"), (1e300, "f4"), (1e6, "f2"), ("a", "f8")):
            with raises(ValueError, repr(value)):
                ctx.fill(np.zeros(2, dtype), value)
        with raises(ValueError, "1e+300 is not a value of bf16"):
            ctx.full(2, 1e300, "bf16")


def random_view(np, rng, dtype):
    """Views of up to 5 axes in any order, with slices, steps of either sign, and repetition."""
    rank = rng.integers(0, 6)
    x = rng.integers(-9, 9, rng.integers(1, 6, rank)).astype(dtype).transpose(rng.permutation(rank))
    first = [rng.integers(0, extent) for extent in x.shape]
    x = x[(..., *(slice(f, None, rng.choice([1, 1, 2, 3, -1])) if rng.random() < 0.9 else slice(f, f + 1) for f in first))]
    return np.broadcast_to(x, (2, *x.shape)) if rng.random() < 0.1 else x


def test_random_views():
    np = numpy()
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)  # shown where it fails
    rng, done = np.random.default_rng(seed), {}

    def compare(name, call, expected, x):
        try:
            result = call()
        except ValueError as error:
            assert "stride" in str(error) or "axes" in str(error) or "ndim" in str(error), error
            return
        done[name] = done.get(name, 0) + 1
        assert np.array_equal(result, expected), (seed, name, x.dtype, x.shape, x.strides)

    with host() as ctx:
        for _ in range(300):
            x = random_view(np, rng, rng.choice(["i1", "u2", "i4", "f4", "f8", "i8", ">f8"]))
            room, expected = (np.zeros([2 * extent + 1 for extent in x.shape], x.dtype) for _ in range(2))
            part = (..., *(slice(1, None, 2) for _ in x.shape))
            expected[part] = x
            compare("copy", lambda: ctx.copy(room[part], x) or room, expected, x)
            order = rng.permutation(x.ndim).tolist()
            compare("permute", lambda: ctx.permute(x, order), x.transpose(order), x)
            x = x.astype(x.dtype.newbyteorder("=")) if x.dtype.byteorder == ">" else x
            compare("reduce", lambda: ctx.reduce(x, "sum_abs"), np.abs(x.astype("f8")).sum(), x)
            if x.ndim:
                axis = int(rng.integers(-x.ndim, x.ndim))
                compare("axis", lambda: ctx.reduce(x, "max", axis=axis), x.max(axis=axis), x)
                z = x.astype("f8", copy=False)
                compare("multiply", lambda: ctx.multiply(z, z[..., :1]), z * z[..., :1], z)
    assert len(done) == 5 and min(done.values()) > 20, done


def test_elements_stay_what_they_are():
    np = numpy()
    x, index = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1, 0])
    with host() as ctx:
        for dtype in "f4", ">i4", "u4", "i8":
            with raises(TypeError, "expected the same"):
                ctx.copy(np.zeros((2, 3), dtype), x)
            with raises(TypeError, "expected the same"):
                ctx.transpose(x, np.zeros((3, 2), dtype))
            with raises(TypeError, "expected the same"):
                ctx.permute(x, (1, 0), np.zeros((3, 2), dtype))
            with raises(TypeError, "expected the same"):
                ctx.gather(x, index, np.zeros((2, 3), dtype))
            with raises(TypeError, "expected the same"):
                ctx.scatter(x, index, np.zeros((2, 3), dtype))
        mask = np.zeros((2, 3), "u1")
        ctx.copy(mask, x > 2)  # one byte, but not a number
        assert mask.sum() == 3


def test_axes_that_are_missing():
    np = numpy()
    x = np.arange(24.0).reshape(2, 3, 4)
    with host() as ctx:
        assert np.array_equal(ctx.permute(x, (-1, 0, 1)), x.transpose(-1, 0, 1))
        for order in (0, 1), (0, 1, 2, 3), (0, 0, 1), (0, 1, 3), (0, 1, -4):
            with raises(ValueError, "order", "each"):
                ctx.permute(x, order)
        for index in np.array([[0, 1]]), np.array(0):
            with raises(ValueError, "index has"):
                ctx.gather(x, index)
        with raises(ValueError, "terms is empty"):
            ctx.lincomb([])


def test_strides_and_byte_order():
    np = numpy()
    x = np.arange(6, dtype=np.int32)
    with host() as ctx:
        assert ctx.reduce(x[1::2]) == 9
        with raises(ValueError, "negative stride", "numpy.ascontiguousarray(x) has them"):  # a type that Context.array() lacks
            ctx.reduce(x[::-1])
        assert ctx.reduce(np.broadcast_to(x[1:2], 4)) == 4
        assert ctx.reduce(ctx.array(np.broadcast_to(x[1:2], 4))) == 4
        with raises(TypeError, "swapped", "'>i'"):
            ctx.reduce(x.astype(">i4"))
        with raises(TypeError, "not an element type"):
            ctx.reduce(x.astype("c16"))
        swapped = x.astype(">i4")
        dst = np.zeros_like(swapped)
        ctx.copy(dst, swapped)  # bytes move unchanged
        assert np.array_equal(dst, x)
        assert np.array_equal(np.asarray(ctx.asarray(x[::-1])), x[::-1])
        assert np.array_equal(np.asarray(ctx.asarray(swapped)), x)
        packed = np.zeros(4, np.dtype([("a", "u1"), ("b", "<i4")]))["b"]  # 5 bytes apart
        with raises(ValueError, "not a multiple"):
            ctx.reduce(packed)
        with raises(BufferError, "at most 8"):
            ctx.reduce(np.zeros((1,) * 9))


def test_enqueued():
    np = numpy()
    x = np.arange(100000, dtype=np.float64)
    with host() as ctx, ctx.Stream() as s:
        total, word = ctx.reduce(x, stream=s), ctx.empty(1, "i32", "pinned")
        value, index = ctx.argreduce(x, "max", stream=s)
        lines = ctx.reduce(x.reshape(100, 1000), axis=1, stream=s, status=word)
        turned = ctx.transpose(x.reshape(100, 1000).copy(), stream=s)
        square = ctx.axpby(2.0, x, stream=s)
        s.synchronize()
        assert total.item() == x.sum() and (value.item(), index.item()) == (99999.0, 99999) and word.item() == 0
        assert np.allclose(np.asarray(lines), x.reshape(100, 1000).sum(axis=1))
        assert np.array_equal(turned.numpy(), x.reshape(100, 1000).T) and np.array_equal(square.numpy(), 2 * x)
        bad = ctx.gather(x.reshape(100, 1000), np.array([100]), stream=s, status=word)
        s.synchronize()
        assert word.item() == gpumem.Status.OUT_OF_RANGE and bad.shape == (1, 1000)
        out = ctx.empty((), "f64", "pinned")
        assert ctx.dot(x, x, out=out, stream=s) is out
        assert ctx.nrm2(x, out=ctx.empty((), "f64", "pinned"), stream=s) is not None
        s.synchronize()
        assert out.item() == ctx.dot(x, x)
        assert ctx.dot(x, x, order_free=True, out=out, stream=s) is out
        s.synchronize()
        assert out.item() == ctx.dot(x, x, order_free=True)
