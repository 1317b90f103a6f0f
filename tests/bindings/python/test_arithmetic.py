"""The operators and methods of arrays that compute, compared with those of NumPy."""

import array
import operator
import unittest

import gpumem
from support import host, numpy, raises

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)
COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt)
BITS = (operator.and_, operator.or_, operator.xor)
IN_PLACE = (operator.iadd, operator.isub, operator.imul)
# Pairs of shapes that are broadcast, also without elements and without axes.
PAIRS = (((), ()), ((5,), (5,)), ((4, 5), (5,)), ((5,), (4, 5)), ((3, 1, 5), (4, 1)), ((4, 5), ()), ((0,), (0,)), ((3, 0), (1,)), ((2, 0), (2, 1)))


def random_array(np, random, shape, dtype):
    if dtype == "?":
        return random.random(shape) < 0.5
    low = 1 if dtype.startswith("u") else -9
    return random.integers(low, 99, shape).astype(dtype)


def forms(x):
    """The same elements with other strides, as a function of NumPy's arrays and of gpumem's."""
    yield lambda a: a
    if x.ndim:
        yield lambda a: a[::2]
        yield lambda a: a.T
        yield lambda a: a[1:, ...][None]
    if x.ndim and x.shape[-1]:
        yield lambda a: a[..., -1]


def same(found, expected, types=True):
    """Fails unless an array or a number has NumPy's elements, shape and type."""
    import numpy as np

    if not isinstance(found, gpumem.Array):
        assert np.ndim(expected) == 0 and (found == expected or (found != found and expected != expected)), (found, expected)
        return
    seen = found.numpy()
    assert seen.shape == expected.shape and np.array_equal(seen, expected, equal_nan=expected.dtype.kind == "f"), (seen, expected)
    assert not types or seen.dtype == expected.dtype, (seen.dtype, expected.dtype)


def cases():
    np = numpy()
    return np, np.random.default_rng(7)


def test_operators_on_two_arrays():
    np, random = cases()
    with host() as ctx:
        for dtype in (*TYPES, "?"):
            for shapes in PAIRS:
                x, y = (random_array(np, random, shape, dtype) for shape in shapes)
                if dtype != "?":
                    y = np.where(y == 0, np.ones((), dtype), y)
                a, b = ctx.array(x), ctx.array(y)
                functions = COMPARISONS[2:4] + BITS if dtype == "?" else COMPARISONS + ARITHMETIC + (() if dtype[0] == "f" else BITS)
                for function in functions:
                    if function is operator.truediv and dtype[0] != "f":
                        same(function(a, b), x.astype("f8") / y.astype("f8"))
                        continue
                    with np.errstate(over="ignore"):
                        expected = np.asarray(function(x, y))
                    found = function(a, b)
                    assert type(found) is gpumem.Array and found.kind == a.kind
                    same(found, expected)
                    same(function(a, y), expected)  # with an array of another library, on either side
                    if np.ndim(x):
                        same(function(x, b), expected)


def test_operators_on_views():
    np, random = cases()
    with host() as ctx:
        for dtype in "i4", "f4", "f8", "u1":
            x = random_array(np, random, (4, 6), dtype)
            y = np.where(x == 0, np.ones((), dtype), x)
            a, b = ctx.array(x), ctx.array(y)
            for form in forms(x):
                for function in (operator.add, operator.mul, operator.lt, operator.truediv):
                    same(function(form(a), form(b)), function(form(x), form(y)).astype("f8" if dtype == "u1" and function is operator.truediv
                                                                                       else function(form(x), form(y)).dtype))  # fmt: skip
            with raises(ValueError, "negative"):
                a[::-1] + a


def test_numbers():
    np, random = cases()
    with host() as ctx:
        for dtype in TYPES:
            x = random_array(np, random, (3, 4), dtype)
            x[x == 0] = 1
            a = ctx.array(x)
            for function in (*ARITHMETIC, *COMPARISONS):
                for number in (2, 2.5, np.int64(3), np.float64(0.5), True):
                    wide = dtype[0] != "f" and (isinstance(number, float) or function is operator.truediv)
                    plain = number.item() if isinstance(number, np.generic) else number
                    of = x.astype("f8") if wide else x
                    with np.errstate(over="ignore"):
                        same(function(a, number), function(of, plain))
                        same(function(number, a), function(plain, of))
        x = np.array([True, False])
        for function in (*BITS, operator.eq, operator.ne):
            for flag in True, False:
                same(function(ctx.array(x), flag), function(x, flag))
                same(function(flag, ctx.array(x)), function(flag, x))


def test_operators_on_one_array():
    np, random = cases()
    with host() as ctx:
        for dtype in TYPES:
            for shape in (), (5,), (3, 4), (0, 2):
                x = random_array(np, random, shape, dtype)
                for function in (operator.neg, abs) + (() if dtype[0] == "f" else (operator.invert,)):
                    same(function(ctx.array(x)), np.asarray(function(x)))
        x = np.array([[True, False, True]])
        same(~ctx.array(x), ~x)
        same(~ctx.array(x).T, ~x.T)


def test_in_place():
    np, random = cases()
    with host() as ctx:
        for dtype in "i4", "f8", "u2":
            x = random_array(np, random, (4, 6), dtype)
            y = random_array(np, random, (6,), dtype)
            for function in IN_PLACE:
                for other in y, 2:
                    a, b = ctx.array(x), x.copy()
                    part, kept = a[:, ::2], a
                    expected = function(b[:, ::2], other[::2] if other is y else other)
                    assert function(part, ctx.array(other)[::2] if other is y else other) is part
                    same(kept, b)
                    same(part, expected)
        a = ctx.array(np.array([True, False]))
        b = a
        a &= False
        assert a is b and a.tolist() == [False, False]
        a ^= ctx.array(np.array([True, False]))
        assert a is b and a.dtype == "bool" and a.tolist() == [True, False]
        a = ctx.array(np.arange(3))
        for number in 0.5, ctx.zeros(3, "f64"):
            with raises(TypeError):
                a += number
        with raises(TypeError):
            a /= 2
        with raises(ValueError, "(2, 3); expected (3,)"):
            a += ctx.zeros((2, 3), "i64")
        frozen = ctx.asarray(b"abc")
        with raises(ValueError, "out is read-only"):
            frozen += 1


def test_assignment():
    np, random = cases()
    keys = (2, slice(1, 3), (slice(None), slice(None, None, 2)), (..., 1), (1, 2, 3), slice(0, 0), ...)
    with host() as ctx:
        for dtype in "i4", "f8", "?":
            for key in keys:
                x = random_array(np, random, (3, 4, 5), dtype)
                part = x[key]
                for value in (True, *(random_array(np, random, shape, dtype) for shape in (part.shape, part.shape[-1:], ()))):
                    y, b = x.copy(), ctx.array(x)
                    y[key] = b[key] = value
                    same(b, y)
                    b[key] = ctx.array(value) if value is not True else value
                    same(b, y)
                if dtype != "?":
                    x[key] += 1
                    b = ctx.array(y)
                    y[key] += 2
                    b[key] += 2
                    same(b, y)
        a = ctx.zeros((2, 3), "f32")
        for value, kind in ((ctx.zeros(2, "f32"), ValueError), (ctx.zeros(3), TypeError), ([1], TypeError), ("1", TypeError), (1e300, ValueError)):
            with raises(kind):
                a[...] = value
        for index in [0], np.array([0, 1]):
            with raises(TypeError, "gather()", "select()"):
                a[index]
        with raises(ValueError, "read-only"):
            ctx.asarray(b"ab")[0] = 1


def axes_of(shape):
    yield None
    yield from range(-len(shape), len(shape))
    if len(shape) > 1:
        yield (0, 1)
        yield tuple(range(len(shape)))


def pairs_of_arrays(ctx):
    """The same elements as an array of NumPy and as one of gpumem, of all types and of several shapes and strides."""
    np, random = cases()
    for dtype in (*TYPES, "?"):
        for shape in (5,), (3, 4), (2, 3, 4), (), (0,), (0, 3):
            x = random_array(np, random, shape, dtype)
            for form in forms(x):
                yield form(x), form(ctx.array(x))


def test_reductions():
    np = numpy()
    with host() as ctx:
        for x, a in pairs_of_arrays(ctx):
            for axis in axes_of(x.shape):
                for keep in False, True:
                    reductions_of(np, x, a, {"axis": axis, "keepdims": keep})


def reductions_of(np, x, a, words):
    same(a.any(**words), x.any(**words))
    same(a.all(**words), x.all(**words))
    wide = {"?": "u8", "u": "u8", "i": "i8"}.get("?" if x.dtype == bool else x.dtype.kind, "f8")
    sums = np.asarray(x.astype(wide).sum(**words))
    is_number = words["axis"] is None and not words["keepdims"]
    same(a.sum(**words), sums.item() if is_number else sums.astype(x.dtype) if wide == "f8" else sums)
    if x.size:
        means = np.asarray(x.astype("f8").mean(**words))
        same(a.mean(**words), means.item() if is_number else means.astype(x.dtype if wide == "f8" else "f8"))
    if x.dtype == bool:
        with raises(TypeError, "any() or all()"):
            a.max(**words)
    elif x.size:
        same(a.min(**words), np.asarray(x.min(**words)))
        same(a.max(**words), np.asarray(x.max(**words)))
    elif not np.asarray(x.sum(**words)).size == 0:
        with raises(gpumem.Empty):
            a.min(**words)


def test_indices_and_running_sums():
    np = numpy()
    with host() as ctx:
        for x, a in pairs_of_arrays(ctx):
            for axis in (None, *range(-x.ndim, x.ndim)):
                wide = {"b": "u8", "u": "u8", "i": "i8"}.get(x.dtype.kind, "f8")
                sums = x.astype(wide).cumsum(axis)
                same(a.cumsum(axis), sums if wide != "f8" else sums.astype(x.dtype))
                if x.size:
                    same(a.argmin(axis), x.argmin(axis))
                    same(a.argmax(axis), x.argmax(axis))
        nan = ctx.array(np.array([1, np.nan, 0]))
        assert (nan.argmin(), nan.argmax()) == (1, 1) and np.argmax(nan) == 1
        assert np.cumsum(ctx.array(np.array([1.0, 2.0]))).tolist() == [1, 3]
        with raises(gpumem.Empty):
            ctx.zeros((0,), "f32").argmin()
        with raises(gpumem.Overflow):
            ctx.array(np.array([2**62, 2**62])).cumsum()
        with raises(TypeError, "Context.scan()"):
            nan.cumsum(dtype="f4")


def test_limits():
    np, random = cases()
    with host() as ctx:
        for dtype in TYPES:
            x = random_array(np, random, (4, 5), dtype)
            low, high = x[1], random_array(np, random, (4, 1), dtype)
            for form in forms(x):
                y, a = form(x), form(ctx.array(x))
                for limits in (3, 40), (3, None), (None, 40), (40, 3):
                    same(a.clip(*limits), y.clip(*limits))
            same(ctx.array(x).clip(low, high), x.clip(low, high))
            same(ctx.array(x).clip(ctx.array(low), max=ctx.array(high)), x.clip(low, high))
        a = ctx.array(np.array([0.5, np.nan, 3]))
        same(np.clip(a, 1, 2), np.clip(a.numpy(), 1, 2))
        same(ctx.array(np.arange(5)).clip(0.5, 2.5), np.arange(5).clip(0.5, 2.5))
        assert a.clip().address != a.address
        with raises(TypeError, "a limit of clip()"):
            a.clip("1")
        with raises(TypeError, "Context.map()"):
            a.clip(0, out=a)


def test_reductions_of_no_elements_and_of_nan():
    np = numpy()
    with host() as ctx:
        empty = ctx.zeros((0, 3), "f32")
        assert empty.mean() != empty.mean() and empty.sum() == 0 and not empty.any() and empty.all()
        same(empty.mean(axis=0), np.full(3, np.nan, "f4"))
        x = np.array([[1, np.nan], [0, 0]])
        for name in ("sum", "min", "max", "mean", "any", "all"):
            same(getattr(ctx.array(x), name)(axis=1), getattr(x, name)(axis=1))
        for axis in 2, -3, (0, 0):
            with raises(ValueError, "axis"):
                ctx.array(x).mean(axis)
        for words in {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}:
            with raises(ValueError, "axis"):
                ctx.zeros((), "f32").sum(**words)


def test_types():
    np, random = cases()
    with host() as ctx:
        for of in (*TYPES, "?"):
            for to in (*TYPES, "?"):
                for shape in (3, 4), (), (0, 2):
                    x = abs(random_array(np, random, shape, of))  # NumPy wraps numbers that do not fit
                    for form in forms(x):
                        same(form(ctx.array(x)).astype(np.dtype(to)), form(x).astype(to))
        x = np.array([-1.75, 1.75, 2.5])
        assert ctx.array(x).astype("i32").tolist() == [-1, 1, 2] and ctx.array(x).astype("u8").tolist() == [0, 1, 2]
        assert ctx.array(x).astype("bf16").astype("f64").tolist() == x.tolist()
        assert ctx.array(x).astype(bool).tolist() == [True] * 3
        a = ctx.array(x)
        assert a.astype("f64").address != a.address


def test_views_and_copies():
    np = numpy()
    x = np.arange(24).reshape(2, 3, 4)
    with host() as ctx:
        a = ctx.array(x)
        for axes in (), (None,), (1, 0, 2), ((2, 0, 1),), (-1, 0, 1), ([0, 1, 2],):
            same(a.transpose(*axes), x.transpose(*axes))
            assert a.transpose(*axes).address == a.address
        same(a.T, x.T)
        for axes in (0, 1), (0, 0, 1), (0, 1, 3), (0, 1, 2, 3):
            with raises(ValueError, "each of the 3 axes once"):
                a.transpose(*axes)
        for kind in "pageable", "pinned", "managed", "device":
            for part in (a[:, ::2], a.T, a[0, 0, 0], a[:0]):
                copy = ctx.array(part, kind).copy()
                same(copy, part.numpy())
                assert copy.kind.name.lower() == kind and copy.contiguous
        same(a[:, ::2].copy().reshape(-1), x[:, ::2].reshape(-1))
        with raises(ValueError, "copy()"):
            a[:, ::2].reshape(-1)


def test_memory_of_other_libraries():
    np = numpy()
    x = np.arange(4.0)
    with host() as ctx:
        view, a = ctx.asarray(x), ctx.array(x)
        same(view + view, x + x)
        view += 1
        assert x.tolist() == [1, 2, 3, 4] and (view + a).kind == view.kind and (a + view).kind == a.kind
        assert type(np.sqrt(ctx.array(x, "pinned"))) is np.ndarray  # functions of NumPy still take arrays that the host can read
        near = ctx.array(x)  # [1, 2, 3, 4], of the context's kind of memory
        assert near.__array__().tolist() == [1, 2, 3, 4] and near.__array__("f4").dtype == np.float32
        assert (x - near).kind == near.kind and (x - near).tolist() == [0, 0, 0, 0] and (1 - near).tolist() == [0, -1, -2, -3]
        assert (np.sum(near), np.mean(near), np.min(near), np.max(near), np.any(near), np.all(near)) == (10, 2.5, 1, 4, True, True)
        assert np.sum(near.reshape(2, 2), axis=0).tolist() == [4, 6]
        with raises(TypeError, "Context.reduce()"):
            np.sum(near, dtype="f4")
        for other in "1", [1, 2], None, 1j, object():
            assert a != other or other == 1j
            with raises(TypeError, "unsupported operand"):
                a + other
        try:
            import torch
        except ImportError:
            return
        same(a + torch.arange(4.0, dtype=torch.float64), np.arange(4.0) * 2)


def test_the_context():
    np = numpy()
    ctx = host()
    a = ctx.array(np.arange(3))
    s = ctx.Stream()
    ctx.fill(a, 2, stream=s)
    assert (a + 1).tolist() == [3, 3, 3]  # after the work on it
    del s
    ctx.close()
    assert (a * a).tolist() == [4, 4, 4] and a.sum() == 6  # an array may outlive its context
    del ctx
    assert (a - 1).tolist() == [1, 1, 1]


def test_mistakes():
    with host() as ctx:
        a, b = ctx.zeros(3, "i32"), ctx.zeros(3, "f32")
        with raises(TypeError, "elements of i32 and f32", "astype()"):
            a + b
        with raises(TypeError, "elements of i32 and bool"):
            a == ctx.zeros(3, "bool")  # noqa: B015
        with raises(ValueError, "300 is not a value of u8"):
            ctx.zeros(3, "u8") + 300
        flags = ctx.zeros(3, "bool")
        for use in lambda: flags + flags, lambda: -flags, lambda: flags < flags:
            with raises(TypeError, '.view("u1")'):
                use()
        with raises(TypeError, "expected a bool"):
            flags & 2
        with raises(ValueError, "(3,)", "(2,)"):
            a + ctx.zeros(2, "i32")
        with raises(gpumem.Overflow):
            ctx.full(3, 1 << 62, "i64").sum()
        with raises(TypeError, "any(), all()"):
            bool(a == 0)
        with raises(TypeError):
            a ** 2


def test_repr():
    with host() as ctx:
        assert repr(ctx.full((2, 2), 1.5, "f32")) == "<gpumem.Array f32 (2, 2) in device memory: [[1.5, 1.5], [1.5, 1.5]]>"
        assert repr(ctx.full(9, 3, "i8", "pinned")) == "<gpumem.Array i8 (9,) in pinned memory: [3, 3, 3, 3, 3, 3, ...]>"
        assert repr(ctx.zeros(1000)) == "<gpumem.Array f64 (1000,) in device memory>"
        assert repr(ctx.asarray(array.array("d", [1]))[0]) == "<gpumem.Array f64 () in pageable memory: 1.0>"
        assert repr(gpumem.Array((2,), -1, itemsize=8, format="8s")).endswith("memory>")
        with ctx.Stream() as s:
            x = ctx.zeros(2)
            ctx.fill(x, 1, stream=s)
            assert repr(x) == "<gpumem.Array f64 (2,) in device memory>"  # the stream may still work on it


def test_on_a_device():
    np = numpy()
    try:
        ctx = gpumem.Context("cuda")
    except gpumem.Error as error:
        raise unittest.SkipTest(f"no CUDA context: {error}") from None
    x = np.arange(12, dtype="f4").reshape(3, 4)
    with ctx:
        a = ctx.array(x)
        same((a - a.mean(axis=0)) * 2 + 1, (x - x.mean(axis=0)) * 2 + 1)
        assert (a > 3).sum() == 8 and a[:, ::2].tolist() == x[:, ::2].tolist() and "[[0.0, 1.0" in repr(a)
        assert (a + 1).kind == (x - a).kind == gpumem.Kind.DEVICE and (x - a).tolist() == (0 * x).tolist()
        for use in np.asarray, np.sqrt, lambda device: np.add(x, device, dtype="f8"):
            with raises(TypeError, "NumPy can't read"):
                use(a)
