"""Kinds of NumPy arrays: masked, of subclasses, in Fortran order, and without elements. Also the cost of passing them."""

import array
import re
import sys
import tempfile

import gpumem
from support import host, numpy, raises
from test_operations import random_view


class Slow:
    """An array without a buffer, which needs the general path."""

    def __init__(self, x):
        self.x, self.__array_interface__ = x, x.__array_interface__


def test_masks_are_refused():
    np = numpy()
    for masked in np.ma.masked_equal([1, 2, -9999], -9999), np.ma.array([1.0, 2.0]):
        with host() as ctx:
            uses = (ctx.reduce, ctx.argreduce, ctx.nrm2, ctx.array, ctx.asarray, lambda x: ctx.dot(x, x), lambda x: ctx.fill(x, 1),
                    lambda x: ctx.copy(np.empty_like(x.data), x), lambda x: ctx.multiply(x, x), lambda x: ctx.axpby(1, x),
                    lambda x: ctx.lincomb([(1, x)]), lambda x: ctx.transpose(x[None]), lambda x: ctx.reduce(x, axis=0))  # fmt: skip
            for use in uses:
                with raises(TypeError, "masked array", ".filled(value)", ".compressed()"):
                    use(masked)
            assert ctx.reduce(masked.compressed()) == masked.sum()


def test_subclasses_give_plain_arrays():
    np = numpy()
    x = np.arange(6.0).reshape(2, 3)
    with tempfile.TemporaryFile() as file, host() as ctx:
        mapped = np.memmap(file, "f8", "w+", shape=(2, 3))
        mapped[:] = x
        for like in mapped, x.view(np.matrix), x.view(type("Mine", (np.ndarray,), {})), x.view(np.recarray):
            for found, expected in ((ctx.transpose(like), x.T), (ctx.reduce(like, axis=1), x.sum(axis=1)), (ctx.multiply(like, like), x * x),
                                    (ctx.gather(like, np.array([1])), x[[1]]), (ctx.convert(like, "i32"), x)):  # fmt: skip
                assert type(found) is np.ndarray and np.array_equal(found, expected), (type(like), found)


def test_results_are_allocated_by_numpy():
    """NumPy has large pages for large results."""
    np = numpy()
    x = np.ones((4, 4))
    with host() as ctx:
        for call in (lambda a: ctx.transpose(a), lambda a: ctx.multiply(a, a), lambda a: ctx.axpby(2, a), lambda a: ctx.lincomb([(1, a)]),
                     lambda a: ctx.convert(a, "f32"), lambda a: ctx.permute(a, (1, 0)), lambda a: ctx.reduce(a, axis=0),
                     lambda a: ctx.gather(a, np.array([0])), lambda a: ctx.transpose(a.astype(">f8"))):  # fmt: skip
            assert call(x).flags.owndata


def test_the_order_of_fortran():
    np = numpy()
    x = np.asfortranarray(np.random.default_rng(5).integers(-9, 9, (5, 7)) / 4)
    cube = x.reshape(5, 7, 1, order="F").transpose(1, 2, 0)
    with host() as ctx:
        for op, expected in (("max", x.max()), ("min", x.min()), ("max_abs", abs(x).max()), ("min_max", (x.min(), x.max()))):
            assert ctx.reduce(x, op) == expected and ctx.reduce(ctx.asarray(x), op) == expected and ctx.reduce(cube, op) == expected
        assert ctx.reduce((4 * x).astype("i4", order="F"), "sum_squares") == (16 * x * x).sum()
        for call in (ctx.reduce, ctx.nrm2, ctx.argreduce, lambda a: ctx.reduce(a, "sum_abs"), lambda a: ctx.dot(a, a)):
            assert call(x) == call(np.ascontiguousarray(x))
        assert ctx.reduce(x.T) == ctx.reduce(np.ravel(x, "K")) == x.sum()
        assert np.array_equal(ctx.transpose(x), x.T) and np.array_equal(ctx.transpose(x[:, ::2]), x[:, ::2].T)
        into = np.empty((7, 5), order="F")
        assert ctx.transpose(np.ascontiguousarray(x), into) is into and np.array_equal(into, x.T)
        batch = np.arange(24).reshape(2, 3, 4)[:, :, ::2]
        assert np.array_equal(ctx.transpose(batch), batch.swapaxes(1, 2))
        found = ctx.convert(x, "f32")
        assert found.flags.f_contiguous and found.dtype == np.float32 and np.array_equal(found, x)
        assert np.array_equal(ctx.convert(ctx.asarray(x), "f32").numpy(), x)
        with raises(ValueError, "src has the shape", "padding"):
            ctx.convert(x, out=np.empty((5, 7)))


def test_reductions_of_views():
    """The order is that of the indices, so the bits are those of a copy without padding."""
    np = numpy()
    random = np.random.default_rng(6)
    whole = random.standard_normal((9, 12, 14))
    with host() as ctx:
        for view in (whole[1:-1, 1:-1, 1:-1], whole.T, whole.swapaxes(0, 1)[:, 2:, ::3], np.broadcast_to(whole[0, 0], (5, 14)),
                     np.lib.stride_tricks.sliding_window_view(whole[0, 0], 3), whole[1:-1].astype("f4")[:, :, 1:], (100 * whole).astype("i4")[:, 1:]):
            packed = view.copy(order="C")
            for a in (view, ctx.asarray(view)):
                for op in ("sum", "prod", "min", "max_abs", "sum_squares", "min_max"):
                    if view.dtype != np.int32 or op != "prod":
                        assert ctx.reduce(a, op) == ctx.reduce(packed, op), (view.strides, op)
                value, index = ctx.argreduce(a, "max")
                assert (value, index) == (packed.max(), packed.argmax())
                if view.dtype != np.int32:
                    assert ctx.dot(a, a) == ctx.dot(packed, packed) == ctx.dot(a, packed) == ctx.dot(packed.ravel(), a)
                    assert ctx.nrm2(a) == ctx.nrm2(packed)
        out = np.zeros(1)
        with ctx.Stream() as stream:
            ctx.reduce(whole[:, 1:, 1:], out=out, stream=stream)
        assert out[0] == ctx.reduce(whole[:, 1:, 1:])
        assert ctx.reduce(np.broadcast_to(np.float32(2), (3, 4))) == 24
        for call in (ctx.reduce, ctx.nrm2, ctx.argreduce, lambda a: ctx.dot(a, whole)):
            with raises(ValueError, "negative stride", "numpy.ascontiguousarray(x)"):
                call(whole[:, ::-1])
        with raises(ValueError, "y has the shape", "expected the shape"):
            ctx.dot(whole[1:, 1:, 1:], whole[1:, 1:, 1:].swapaxes(1, 2))


def test_no_elements():
    np = numpy()
    with host() as ctx:
        for shape in (3, 0), (0, 3), (0, 0), (2, 0, 3), (0, 2, 3), (2, 3, 0):
            x = np.zeros(shape)
            for a in (x, np.lib.stride_tricks.as_strided(x, strides=(0,) * x.ndim), ctx.array(x), ctx.asarray(Slow(x))):
                for axis in range(len(shape)):
                    found = ctx.reduce(a, axis=axis)
                    assert found.shape == x.sum(axis=axis).shape and not np.asarray(found).any()
                    if shape[axis] == 0 and found.size:
                        with raises(gpumem.Empty):
                            ctx.reduce(a, "min", axis=axis)
                    elif shape[axis]:
                        assert ctx.reduce(a, "min", axis=axis).shape == found.shape
                assert ctx.transpose(a).shape == x.swapaxes(-1, -2).shape and ctx.reduce(a) == 0
                assert ctx.convert(a, "f32").shape == ctx.lincomb([(1, a)]).shape == ctx.multiply(a, a).shape == shape
                ctx.copy(a, x)
                ctx.fill(a, 1)
        assert ctx.reduce(np.ones((4, 5))[:, 5:5], axis=1).tolist() == [0, 0, 0, 0]


def test_element_types():
    np = numpy()
    with host() as ctx:
        for dtype, name in ((float, "f64"), (int, "i64"), ("f4", "f32"), ("f8", "f64"), ("<f4", "f32"), ("<i8", "i64"), ("|u1", "u8"),
                            (np.float32, "f32"), (np.dtype("i2"), "i16"), (np.longlong, "i64"), ("i8", "i8"), ("double", "f64"),
                            (gpumem.Dtype.BF16, "bf16"), ("bfloat16", "bf16"), ("int32", "i32"), ("u1", "u8"), ("i1", "i8"),
                            (bool, "bool"), (np.bool_, "bool"), (np.dtype("?"), "bool"), ("bool", "bool"), ("|b1", "bool")):  # fmt: skip
            assert ctx.empty(1, dtype).dtype == name, dtype
        for dtype in "i4", "u2", ">f4", np.dtype(">f4"), complex, "f16e", None, "<V2":
            with raises(ValueError, "not an element type"):
                ctx.empty(1, dtype)
        with raises(ValueError, "a ndarray is not an element type"):
            ctx.convert(np.ones(3), np.ones(3))


def test_both_ways_are_one():
    """The extension's own path gives the same bits, results and exceptions as the general path."""
    np = numpy()
    seed = 77
    rng, done = np.random.default_rng(seed), {}

    def outcome(call, x, y):
        try:
            return call(x, y)
        except Exception as error:
            return type(error), re.sub(r"\(.*?\)", "", str(error))  # an axis of one element may have any stride

    with host() as ctx:
        for _ in range(200):
            x = random_view(np, rng, rng.choice(["f4", "f8", "i4"]))
            y = random_view(np, rng, rng.choice(["f4", "f8"])) if rng.random() < 0.5 else x[::-1] if x.ndim and rng.random() < 0.2 else x
            uses = {
                "dot": ctx.dot, "nrm2": lambda a, b: ctx.nrm2(a), "argreduce": lambda a, b: ctx.argreduce(a, "max"),
                "reduce": lambda a, b: ctx.reduce(a, "sum_squares"), "copy": lambda a, b: ctx.copy(np.zeros(y.shape, x.dtype), b),
                "axpby": lambda a, b: np.asarray(ctx.axpby(2, a, -1.5, b)).tolist(), "multiply": lambda a, b: np.asarray(ctx.multiply(a, b)).tolist(),
                "lincomb": lambda a, b: np.asarray(ctx.lincomb([(0.1, a), (3, b), (1, a)])).tolist(),
                "transpose": lambda a, b: np.asarray(ctx.transpose(a)).tolist(),
                "axis": lambda a, b: np.asarray(ctx.reduce(a, "sum_abs", axis=-1)).tolist(),
                "axis 0": lambda a, b: np.asarray(ctx.reduce(a, axis=0)).tolist(),
                "convert": lambda a, b: np.asarray(ctx.convert(a, "i16")).tolist(),
            }  # fmt: skip
            for name, call in uses.items():
                found = outcome(call, x, y)
                assert found == outcome(call, Slow(x), Slow(y)), (seed, name, x.dtype, x.shape, x.strides, y.dtype, y.shape, y.strides)
                done[name] = done.get(name, 0) + (not isinstance(found, tuple) or not isinstance(found[0], type))
    assert min(done.values()) > 10, done


def test_both_ways_fill_alike():
    np = numpy()
    with host() as ctx:
        for dtype in "bBhHiIqQefd":
            for value in (0, 1, -1, 127, 128, 255, 256, -128, -129, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64,
                          10**400, 0.0, -0.0, 1.5, 1e39, -1e300, float("inf"), float("nan"), True, np.float32(2), np.int64(3), "a", None):  # fmt: skip
                results = []
                for way in (lambda x: x), Slow:
                    x = np.full(3, 7, dtype)
                    try:
                        ctx.fill(way(x), value)
                    except (TypeError, ValueError) as error:
                        results.append(str(error))
                    results.append(x.tobytes())
                assert results[: len(results) // 2] == results[len(results) // 2 :], (dtype, value, results)


def test_tiny_calls_are_short():
    """Common calls on plain arrays enter only their own Python functions, type lookup and allocation."""
    np = numpy()
    x, m, out = np.ones(16), np.ones((4, 4)), np.empty(16)
    terms = [(2.0, x), (1.0, x)]
    entered = []

    def count(frame, event, _):
        if event == "call":
            entered.append(frame.f_code.co_name)

    with host() as ctx:
        for call in (lambda: ctx.reduce(x), lambda: ctx.reduce(x, "max"), lambda: ctx.argreduce(x, "max"), lambda: ctx.dot(x, x),
                     lambda: ctx.nrm2(x), lambda: ctx.copy(out, x), lambda: ctx.fill(out, 2), lambda: ctx.axpby(2, x, 1, x, out),
                     lambda: ctx.lincomb(terms, out), lambda: ctx.lincomb(terms), lambda: ctx.multiply(x, x), lambda: ctx.transpose(m),
                     lambda: ctx.axpby(2, x), lambda: ctx.reduce(m, axis=0), lambda: ctx.convert(x, "f32")):  # fmt: skip
            del entered[:]
            sys.setprofile(count)
            try:
                call()
            finally:
                sys.setprofile(None)
            assert len(entered) <= 4, entered


def test_no_references_are_lost():
    np = numpy()
    x, m, out, small = np.ones(16), np.ones((4, 4)), np.empty(16), np.empty(3)
    kept = x, m, out, small
    with host() as ctx:
        calls = (lambda: ctx.reduce(x), lambda: ctx.argreduce(x), lambda: ctx.dot(x, x), lambda: ctx.nrm2(x), lambda: ctx.copy(out, x),
                 lambda: ctx.fill(out, 2), lambda: ctx.axpby(2, x, 1, x, out), lambda: ctx.lincomb([(1, x)]), lambda: ctx.multiply(x, x, out),
                 lambda: ctx.transpose(m), lambda: ctx.copy(small, x), lambda: ctx.lincomb([(1, x)], small), lambda: ctx.fill(out, "a"),
                 lambda: ctx.axpby(1, x, 1, small), lambda: ctx.multiply(x, m), lambda: ctx.transpose(m, small), lambda: ctx.dot(x, small),
                 lambda: ctx.reduce(m, axis=1), lambda: ctx.convert(x, "f2"), lambda: ctx.convert(x, "bf16"), lambda: ctx.convert(x, out=small),
                 lambda: ctx.axpby(1, x[1:], 0, None, x[:-1]), lambda: ctx.reduce(x[:0], "max"))  # fmt: skip
        for call in calls:
            before = [sys.getrefcount(a) for a in kept]
            for _ in range(10):
                try:
                    call()
                except (ValueError, TypeError):
                    pass
            assert [sys.getrefcount(a) for a in kept] == before, call.__code__.co_firstlineno


def test_messages_for_mistakes():
    np = numpy()
    x, index = np.ones((3, 4)), np.array([0.0, 1.0])
    with host() as ctx:
        with raises(TypeError, "axis is (0, 1); expected one integer"):
            ctx.argreduce(x, axis=(0, 1))
        with raises(TypeError, "axis is [0, 1]; expected an integer or a tuple of integers"):
            ctx.reduce(x, axis=[0, 1])
        for wrong in index, index.astype("i2"):
            with raises(ValueError, "index has elements of", "i32 or u32 or i64 or u64"):
                ctx.gather(x, wrong)
        with raises(ValueError, "x has 2 axes; expected 1"):
            ctx.reduce_segments(x, np.array([0, 3]))
        with raises(ValueError, "x has 3 rows, index 12 numbers"):
            ctx.reduce_by_index(x, np.zeros(12, "i4"), 3)
        with raises(ValueError, "rows without padding"):
            ctx.reduce_by_index(x.T, np.zeros(4, "i4"), 3)
        with raises(ValueError, "offsets is empty"):
            ctx.reduce_segments(x[0], np.array([], "i8"))
        for use in (lambda: ctx.fill(x, 1, stream=5), lambda: ctx.reduce(x, stream="s"), lambda: ctx.empty(3, stream=5)):
            with raises(TypeError, "expected a gpumem.Stream"):
                use()
        with raises(TypeError, "the shape is 3.0"):
            ctx.zeros(3.0)
        with raises(TypeError, "a ndarray; expected a gpumem.Array"):
            ctx.used_on(x, ctx.stream)
        try:
            ctx.reduce(x, "mean")
        except ValueError as error:
            assert "min_max" in str(error) and "arg_min" not in str(error) and "dot" not in str(error)
        with raises(ValueError, "argreduce", "max_abs"):
            ctx.argreduce(array.array("d", [1]), "sum")


def test_a_closed_context_says_so():
    np = numpy()
    ctx = host()
    ctx.close()
    ctx.close()
    x = np.ones((2, 2))
    for use in (ctx.__enter__, ctx.Stream, ctx.Event, ctx.synchronize, lambda: ctx.reduce(x), lambda: ctx.reduce(x, axis=0), lambda: ctx.fill(x, 1),
                lambda: ctx.copy(x, x), lambda: ctx.transpose(x), lambda: ctx.zeros(3), lambda: ctx.array(x), lambda: ctx.stream, lambda: ctx.handle,
                ctx.memory_stats, lambda: ctx.device, lambda: ctx.set_log(print), lambda: ctx.lincomb([(1, x)])):  # fmt: skip
        with raises(gpumem.InvalidHandle, "the context is closed"):
            use()
