"""Calls that do their work without Python code, also for tensors by DLPack's C functions."""

import array
import contextlib
import gc
import sys
import unittest
import weakref

import gpumem
from gpumem.calls import room_of_numpy
from exchanged import NEWER, Tensor, capsule_of
from support import host, numpy, raises, refused

GENERAL = {"operand", "of_buffer", "foreign", "from_dlpack", "numbers", "_run", "_room"}  # functions of the general path


def entered(call):
    """The names of the functions of Python that a call enters."""
    names = []
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names


def calls(ctx, of, words):
    """One call of each operation with a fast path, on operands that of() makes."""
    f = {n: of("f", range(12)) for n in "xyzv"}
    n, b, o, d, h = of("i", range(12)), of("B", [1] * 12), of("q", [0] * 12), of("d", [0] * 12), of("d", range(12))
    one, short, place, mask = of("d", [0]), of("f", [0]), of("q", [0]), of("B", [1] * 12)
    state, ends, index, sums, long = of("i", [0]), of("q", [0, 5, 12]), of("I", range(12)), of("d", [0] * 3), of("q", [0] * 12)
    three_ends = of("q", [0, 5, 5, 12])
    x, y, z, v = f.values()
    rows, table, image = as_rows(x), as_rows(z), as_rows(v)
    three, wide, checked = of("q", [2, 0, 1]), as_rows(of("d", [0] * 12)), {"status": state, **words}
    across, places, pair = as_rows(of("f", [0] * 12), (4, 3)), of("q", [0] * 12), of("d", [0, 0])
    yield "fill", lambda: ctx.fill(z, 2, **words)
    yield "copy", lambda: ctx.copy(z, x, **words)
    yield "convert", lambda: ctx.convert(x, out=d, **words)
    yield "axpby", lambda: ctx.axpby(2, x, 3, y, out=z, **words)
    yield "lincomb", lambda: ctx.lincomb([(2, x), (3, y)], out=z, **words)
    yield "lincomb_dot", lambda: ctx.lincomb_dot([(2, x), (3, y)], [None, v], z, pair, **words)
    if not isinstance(one, array.array):
        yield "lincomb", lambda: ctx.lincomb([(2, x), (one, y), ((-1, None, one), v)], out=z, **words)
        yield "lincomb_dot", lambda: ctx.lincomb_dot([(2, x), (one, y), ((-1, one, None), v)], [v, None], z, pair, **words)
    yield "multiply", lambda: ctx.multiply(x, y, out=z, **words)
    yield "map", lambda: ctx.map("add", x, y, out=z, **words)
    yield "map", lambda: ctx.map("floor", x, out=z, **words)
    yield "compare", lambda: ctx.compare("less", x, y, out=b, **words)
    yield "where", lambda: ctx.where(b, x, y, out=z, **words)
    yield "convert_scaled", lambda: ctx.convert_scaled(n, "f32", h, h, out=z, **words)
    yield "scan", lambda: ctx.scan(n, exclusive=True, dtype="i32", out=n, **words)
    yield "scan", lambda: ctx.scan(x, axis=0, dtype="f32", out=z, **words)
    yield "sort", lambda: ctx.sort(x, out=z, order=o, descending=True, **words)
    yield "argsort", lambda: ctx.argsort(x, out=o, **words)
    yield "permute", lambda: ctx.permute(rows, (1, 0), across, **words)
    yield "transpose", lambda: ctx.transpose(rows, across, **words)
    yield "select", lambda: ctx.select(x, mask, out=z, kept=place, **words)
    yield "select_places", lambda: ctx.select_places(mask, places, kept=place, **words)
    yield "reduce", lambda: ctx.reduce(x, out=one, **words)
    yield "reduce", lambda: ctx.reduce(x, "max", axis=0, out=one, **words)
    yield "reduce", lambda: ctx.reduce(x, axis=0, dtype="f32", out=short, **words)
    yield "reduce", lambda: ctx.reduce(x, out=short, **words)
    yield "argreduce", lambda: ctx.argreduce(x, "max", axis=0, out=(one, place), **words)
    yield "dot", lambda: ctx.dot(x, y, out=one, **words)
    yield "nrm2", lambda: ctx.nrm2(x, out=one, **words)
    yield "copy_boxes", lambda: ctx.copy_boxes([x, y], [z, v], **words)
    for more in words, checked:
        yield "gather", lambda more=more: ctx.gather(x, index, out=z, **more)
        yield "gather", lambda more=more: ctx.gather(rows, three, out=table, **more)
        yield "scatter", lambda more=more: ctx.scatter(rows, three, table, **more)
        yield "reduce_by_index", lambda more=more: ctx.reduce_by_index(x, index, 12, out=d, **more)
        yield "reduce_by_index", lambda more=more: ctx.reduce_by_index(rows, three, 3, "max", out=wide, **more)
        yield "reduce_by_index", lambda more=more: ctx.reduce_by_index(None, index, 12, out=long, **more)
        yield "reduce_segments", lambda more=more: ctx.reduce_segments(x, three_ends, out=sums, **more)
        yield "scan_segments", lambda more=more: ctx.scan_segments(x, ends, dtype="f32", out=z, **more)
        yield "sort_segments", lambda more=more: ctx.sort_segments(x, ends, out=z, order=o, **more)
    yield "resize", lambda: ctx.resize(image, out=table, **words)
    yield "reduce", lambda: ctx.reduce(rows, axis=(0, -1), out=one, **words)
    yield "reduce", lambda: ctx.reduce(rows, "max", axis=1, keepdims=True, dtype="f64", out=sums, **words)
    yield "map", lambda: ctx.map("add", x, y, out=z, **checked)
    yield "scan", lambda: ctx.scan(n, dtype="i32", out=n, **checked)
    yield "scan", lambda: ctx.scan(x, axis=0, dtype="f32", out=z, **checked)
    yield "reduce", lambda: ctx.reduce(x, out=one, **checked)
    yield "reduce", lambda: ctx.reduce(x, "max", axis=0, keepdims=False, out=one, **checked)
    yield "argreduce", lambda: ctx.argreduce(x, "max", axis=0, out=(one, place), **checked)
    if not words:
        yield "map", lambda: ctx.map("maximum", 3, y, out=z)
        yield "where", lambda: ctx.where(b, x, 3, out=z)
        yield "convert_scaled", lambda: ctx.convert_scaled(n, "f32", 0.5, 2, out=z)
        yield "reduce", lambda: ctx.reduce(x, "max")
        yield "argreduce", lambda: ctx.argreduce(x)
        yield "count", lambda: ctx.count(mask)
        yield "lincomb_dot", lambda: ctx.lincomb_dot([(2, x), (3, y)], [None, v], z)


def as_rows(x, shape=(3, 4)):
    """A view of twelve elements as rows."""
    if isinstance(x, Tensor):
        return Tensor(x.x.reshape(shape))
    return x.reshape(shape) if isinstance(x, gpumem.Array) else memoryview(x).cast("B").cast(x.typecode, shape)


def kinds(ctx):
    """What makes operands of a type code and numbers, by name."""
    yield "buffer", array.array
    yield "array", lambda code, numbers: ctx.array(array.array(code, numbers))
    yield "tensor", lambda code, numbers: Tensor(ctx.array(array.array(code, numbers)))


def test_no_python_code():
    with host() as ctx, ctx.Stream() as s:
        for kind, of in kinds(ctx):
            for words in {}, {"stream": s}:
                for name, call in calls(ctx, of, words):
                    call()
                    s.synchronize()  # else a chunk of operands may end in the next call
                    left = GENERAL.intersection(entered(call))
                    assert not left, (kind, words, name, left)


def test_tensors_are_taken_once():
    with host() as ctx, ctx.Stream() as s:
        x = Tensor(ctx.array(array.array("f", [1, 2, 3])))
        z = Tensor(ctx.zeros(3, "f32"))
        assert ctx.reduce(x) == 6 and (x.taken, x.exported) == (1, 0)
        assert ctx.map("add", x, 1, out=z) is z and z.x.tolist() == [2, 3, 4]
        assert ctx.where(ctx.array(array.array("B", [0, 1, 0])), x, z, out=z, stream=s) is z
        s.synchronize()
        assert z.x.tolist() == [2, 2, 4] and x.exported == z.exported == 0 and Tensor.asked == 0
        made = ctx.map("negate", x)
        assert type(made) is gpumem.Array and made.tolist() == [-1, -2, -3]
        assert ctx.gather(x, ctx.array(array.array("q", [2, 0]))).tolist() == [3, 1] and x.exported == 0
        assert ctx.asarray(x).address == x.x.address


def test_a_stream_keeps_tensors():
    with host() as ctx:
        s, gate = ctx.Stream(), ctx.array(array.array("f", [1, 2, 3]))
        memory = weakref.ref(gate)
        total = ctx.reduce(Tensor(gate), stream=s)
        del gate
        s.synchronize()
        gc.collect()
        assert total.item() == 6 and memory() is None


def test_tensors_of_other_ways():
    with host() as ctx:
        x = Tensor(ctx.array(array.array("f", [1, 2, 3])))
        x.refuses = True
        assert ctx.reduce(x) == 6 and x.exported > 0
        x = Tensor(ctx.array(array.array("f", [1, 2, 3])))
        x.requires_grad = True
        with raises(BufferError, "gradients"):
            ctx.reduce(x)
        with raises(BufferError, "gradients"):
            ctx.fill(x, 1)
        assert x.taken == 0
        whole = ctx.array(array.array("f", [1, 2, 3]))
        fixed = Tensor(gpumem.Array((3,), whole.dtype_code, address=whole.address, readonly=True, owner=whole))
        assert ctx.reduce(fixed) == 6
        with raises(ValueError, "out is read-only"):
            ctx.map("add", whole, 1, out=fixed)

        class Newer(Tensor):
            __dlpack_c_exchange_api__ = capsule_of(NEWER)

        x = Newer(whole)
        assert ctx.reduce(x) == 6 and (x.taken, x.exported) == (1, 0)
        for k in range(40):  # more types than are known at a time
            x = type(f"Tensor{k}", (Tensor,), {} if k % 2 else {"__dlpack_c_exchange_api__": None})(whole)
            assert ctx.reduce(x) == 6 and (x.taken, x.exported) == (k % 2, 1 - k % 2)
            assert ctx.reduce(Tensor(whole)) == 6


def test_order_of_tensors():
    """Tensors of a device are used after the stream on which their library works, unless it is the same."""
    with cuda() as ctx:
        s, other = ctx.Stream(), ctx.Stream()
        a, z = ctx.zeros(1 << 16, "i32"), ctx.zeros(1 << 16, "i32")
        for value in range(1, 4):
            for words in {}, {"stream": s}:
                Tensor.current = other.native
                ctx.fill(a, value, stream=other)
                with borrowed(a, other) as x:
                    ctx.map("add", x, x, out=z, **words)
                    s.synchronize()
                    assert z.tolist()[::1 << 15] == [2 * value] * 2
                    assert ctx.reduce(x) == value << 16
        Tensor.current, Tensor.asked = s.native, 0
        ctx.map("add", Tensor(a, stream=-1), 1, out=z, stream=s)
        s.synchronize()
        assert Tensor.asked == 1 and z.tolist()[-1] == 4


class Lent:
    """An array of a library without the table, such as CuPy's."""

    def __init__(self, x):
        self.x, self.streams, self.error = x, [], None

    @property
    def __cuda_array_interface__(self):
        return self.x.__cuda_array_interface__

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        error, self.error = self.error, None
        if error:
            raise error
        return self.x.__dlpack__(stream=stream, max_version=max_version)


def test_arrays_by_the_method():
    with cuda() as ctx, ctx.Stream() as s:
        x, z = Lent(ctx.array(array.array("f", [1, 2, 3]))), Lent(ctx.zeros(3, "f32"))
        for words, native in ({}, ctx.stream.native), ({"stream": s}, s.native):
            names = entered(lambda words=words: ctx.map("add", x, x, out=z, **words))
            s.synchronize()
            assert not GENERAL.intersection(names), names
            assert z.x.tolist() == [2, 4, 6] and x.streams[-2:] == [native, -1]
        assert ctx.asarray(x).address == x.x.address and ctx.reduce(x) == 6
        x.error = BufferError("once")
        assert ctx.reduce(x) == 6  # by the general path
        for words in {}, {"stream": s}:
            x.error = KeyboardInterrupt
            with raises(KeyboardInterrupt):
                ctx.fill(x, 1, **words)
        s.synchronize()
        assert x.x.tolist() == [1, 2, 3]


def test_order_of_tensors_of_another_device():
    """The table tells the stream of the tensor's device, which is no stream of the context's device. So __dlpack__() orders it."""
    if gpumem.device_count() < 2:
        raise unittest.SkipTest("there are fewer than 2 devices: set GPUMEM_EMULATION_DEVICES=2")
    with gpumem.Context(0) as ctx, gpumem.Context(1) as far:
        s, other = ctx.Stream(), far.Stream()
        a, z = far.zeros(1 << 16, "i32"), ctx.zeros(1 << 16, "i32")
        Tensor.current = other.native
        for value in range(1, 4):
            for words in {}, {"stream": s}:
                Tensor.asked = 0
                far.fill(a, value, stream=other)
                x = Tensor(a)
                ctx.copy(z, x, **words)
                s.synchronize()
                assert z.tolist()[::1 << 15] == [value] * 2 and Tensor.asked == 0 and x.exported > 0
                far.reduce(x)
                assert Tensor.asked == 1


def test_negated_tensors():
    class Signed(Tensor):
        negated = True

        def is_neg(self):
            return self.negated

    with host() as ctx, ctx.Stream() as s:
        whole = ctx.array(array.array("f", [1, 2, 3]))
        for table in Signed, type("Plain", (Signed,), {"__dlpack_c_exchange_api__": None}):
            x = table(whole)
            for call in (lambda: ctx.reduce(x), lambda: ctx.map("add", x, 1, stream=s), lambda: ctx.fill(x, 1), lambda: ctx.asarray(x)):
                with raises(BufferError, "negative bit", "resolve_neg()"):
                    call()
            assert (x.taken, x.exported) == (0, 0) and whole.tolist() == [1, 2, 3]
            x.negated = False
            assert ctx.reduce(x) == 6


def test_negated_tensors_of_torch():
    try:
        import torch
    except ImportError:
        raise unittest.SkipTest("PyTorch is not installed") from None
    x = torch.tensor([1 + 2j, 3 + 4j]).conj().imag
    with host() as ctx:
        with raises(BufferError, "x has PyTorch's negative bit", "x.resolve_neg()"):
            ctx.reduce(x)
        assert ctx.reduce(x.resolve_neg()) == -6


def test_structs_that_begin_with_a_bool():
    room = bytearray([1]) * 128
    with host() as ctx, ctx.Stream() as s:
        first = memoryview(room)[:4].cast("?")
        struct = gpumem.Array((4,), -1, itemsize=16, format="?q")
        for x in struct, memoryview(struct):
            for words in {}, {"stream": s}:
                for call in (lambda: ctx.copy(first, x, **words), lambda: ctx.copy_boxes([x], [first], **words),
                             lambda: ctx.copy_boxes([first], [x], **words), lambda: ctx.where(x, first, first, **words),
                             lambda: ctx.select(first, x, **words), lambda: ctx.compare("equal", struct, x, **words)):  # fmt: skip
                    with refused(TypeError, ValueError):
                        call()
        s.synchronize()
        assert room == bytearray([1]) * 128


def test_interrupts_end_a_call():
    """An interrupt in Python code that a fast path calls is not lost."""
    np = numpy()
    reached = []

    class Interrupted(gpumem.Context):
        def _single(self, *args):
            if not reached:
                reached.append(args)
                raise KeyboardInterrupt
            return super()._single(*args)

        def _room(self, *args):
            reached.append(args)
            return super()._room(*args)

    def interrupt(x, shape, element=None):
        raise kind

    x = np.array([1.0, 2.0])
    with Interrupted("host") as ctx, ctx.Stream() as s:
        with raises(KeyboardInterrupt):
            ctx.map("add", x, 1, stream=s)
        assert ctx.map("add", x, 1, stream=s) is not None
        s.synchronize()
        reached[:] = [None]
        try:
            gpumem.raw.set_room(interrupt)
            kind = KeyboardInterrupt
            for call in lambda: ctx.map("floor", x), lambda: ctx.reduce(x, axis=0, dtype="f32"), lambda: ctx.sort(x):
                with raises(KeyboardInterrupt):
                    call()
            assert reached == [None]
            kind = MemoryError
            assert ctx.map("add", x, x).tolist() == [2, 4] and len(reached) == 2  # the general path makes the array
        finally:
            gpumem.raw.set_room(room_of_numpy)


def cuda():
    try:
        return gpumem.Context("cuda")
    except gpumem.Error as error:
        raise unittest.SkipTest(f"no CUDA context: {error}") from None


@contextlib.contextmanager
def borrowed(a, stream):
    """The array as a tensor of a library that works on the stream, and does not order it in __dlpack__()."""
    yield Tensor(a, stream=-1)


def test_numbers_are_made_once():
    with host() as ctx, ctx.Stream() as s:
        x, z = ctx.array(array.array("f", [1, 2, 3])), ctx.zeros(3, "f32")
        for number, sums in ((1, [2, 3, 4]), (-0.0, [1, 2, 3]), (0.0, [1, 2, 3]), (1.0, [2, 3, 4])):
            ctx.map("add", x, number, out=z, stream=s)
            s.synchronize()
            assert z.tolist() == sums
        assert len(s._singles) == 3
        ctx.map("copy_sign", x, -0.0, out=z, stream=s)
        s.synchronize()
        assert z.tolist() == [-1, -2, -3]
        for k in range(300):
            ctx.map("add", x, k, out=z, stream=s)
        s.synchronize()
        assert z.tolist() == [300, 301, 302] and len(s._singles) <= 256
        with raises(ValueError, "300 is not a value of u8"):
            ctx.map("add", ctx.zeros(3, "u8"), 300, stream=s)
        with raises(TypeError, "stream is 's'"):
            ctx.map("add", x, 1, stream="s")


@contextlib.contextmanager
def general_path():
    """Makes every call take the general path."""
    raw = gpumem.raw
    quick = {name: getattr(raw, name) for name in dir(raw) if name.startswith("quick_")}
    reduce = gpumem.Context.reduce
    try:
        vars(raw).update(dict.fromkeys(quick, lambda *words: None))
        gpumem.Context.reduce = gpumem.Context._reduce
        yield
    finally:
        vars(raw).update(quick)
        del gpumem.Context.reduce
        assert gpumem.Context.reduce is reduce


def outcome(call, s):
    """The result of a call as numbers, or its exception, and the results that it was given."""
    try:
        found = call()
    except Exception as error:
        s.synchronize()
        return type(error), str(error)
    s.synchronize()
    parts = found if isinstance(found, tuple) else (found,)
    return [(type(part), getattr(part, "dtype", None), getattr(part, "shape", None), numbers_of(part)) for part in parts]


def numbers_of(x):
    return repr(x.x.tolist() if isinstance(x, Tensor) else x.tolist() if hasattr(x, "tolist") else x)


def any_array(np, random, shape, dtype):
    """An array with numbers of this type, sometimes with padding, in Fortran order, or backwards."""
    x = (random.random([2 * extent for extent in shape]) * 9 - 3).astype(dtype)
    part = tuple(slice(0, extent) for extent in shape)
    forms = [np.ascontiguousarray(x[part])] * 6 + [x[tuple(slice(None, None, 2) for _ in shape)], np.asfortranarray(x[part])]
    return (forms + [x[part][::-1]] if shape else forms)[random.integers(len(forms) + bool(shape))]


def any_call(np, random, ctx, wrap, words):
    """A call of any operation on any operands, which are often refused."""
    pick = lambda *choices: choices[random.integers(len(choices))]  # noqa: E731
    shape = tuple(int(extent) for extent in random.integers(0, 5, pick(0, 1, 1, 2, 3)))
    dtype = pick("f4", "f4", "f8", "i4", "u1", "i8", "f2", "?")
    make = lambda shape, *types: wrap(any_array(np, random, shape, pick(*types)))  # noqa: E731
    x, y = make(shape, dtype), pick(make(shape, dtype), make(shape[1:], dtype), make(shape, "f4"), 2, -0.5, 300)
    out = pick(None, make(shape, dtype), make(shape, dtype, "f8", "u1"), make(shape[1:], dtype))
    mask, axis = make(shape, "?", "u1", "f4"), pick(None, 0, -1, 1, 7)
    short, places = pick(None, make(shape[1:], "f8", "i8", dtype)), pick(None, make(shape, "i8", "u4", "f4"))
    kept, width = make((1,), "i8"), pick(None, "f32", "f64", "i64")
    count, segments = pick(3, 3, *shape[:1]), pick(3, 3, 0, -1)
    index = wrap(random.integers(pick(0, 0, -1), 5, pick(count, count, (2, 2))).astype(pick("i4", "u4", "i8", "u8", "i2")))
    ends = wrap(np.sort(random.integers(0, pick(4, 5), segments + 1)).astype(pick("i8", "i8", "i4", "f8")))
    rows, bins = pick(x, x, None), pick(5, 5, 3, 0, -1, "5")
    # Results that a call need not write have contents: those of a failed call of a stream, and elements in no segment.
    zeros = lambda *shape: wrap(np.zeros(shape, pick(dtype, "f8", "i8", "u8")))  # noqa: E731
    one, order = make((1,), "f8", "f8", "f4"), pick((1, 0), (0, 1), (0,), (-1, 0), (0, 2, 1), (0, 0), [1, 0], (0, 5))
    factor, found = pick(0.5, one, (2, one, None), (None, one, one), (None, None, None), None, (1, 2)), wrap(np.zeros(shape, pick("u4", "i8", "f4")))
    dots = pick([None], [None, x], (y,), [x, None, x], [], None)
    rows_out, bins_out, segments_out = ((out, short, short) if not words else (zeros(count, *shape[1:]), zeros(5, *shape[1:]), zeros(max(segments, 0))))
    checked = pick(words, {**words, "status": make((1,), "i4", "i4", "i8")})
    return pick(
        lambda: ctx.gather(x, index, rows_out, **checked), lambda: ctx.scatter(x, index, pick(out, y), **checked),
        lambda: ctx.reduce_by_index(rows, index, bins, pick("sum", "max", "min_max"), out=bins_out, **checked),
        lambda: ctx.reduce_segments(x, ends, pick("sum", "min_max"), out=segments_out, **checked),
        lambda: ctx.scan_segments(x, ends, "sum", dtype=width, out=zeros(*shape), **checked),
        lambda: ctx.sort_segments(x, ends, out, order=places, **checked),
        lambda: ctx.resize(x, pick(None, (2, 3), (0, 1), (1,), 2), out=out, **words),
        lambda: ctx.map(pick("add", "divide", "maximum", "and"), *pick((x, y), (y, x)), out=out, **checked),
        lambda: ctx.map(pick("floor", "negate", "square_root"), x, out=out, **words),
        lambda: ctx.compare(pick("less", "equal"), *pick((x, y), (y, x)), out=pick(None, mask), **words),
        lambda: ctx.where(mask, *pick((x, y), (y, x)), out=out, **words),
        lambda: ctx.convert_scaled(x, pick("f64", "i32"), pick(None, 0.5, y), pick(None, 1, y), out=out, **words),
        lambda: ctx.scan(x, pick("sum", "max"), axis=axis, exclusive=pick(True, False), dtype=width, out=out, **checked),
        lambda: ctx.sort(x, out, order=places, **words), lambda: ctx.argsort(x, places, dtype=pick("i32", "i64"), **words),
        lambda: ctx.select(x, mask, out, kept=kept, **words),
        lambda: ctx.reduce(x, pick("sum", "max", "min_max"), axis=pick(axis, (0, -1), (0,), (), (1, 1)), keepdims=pick(False, True, 1), dtype=width, out=short, **checked),
        lambda: ctx.argreduce(x, pick("min", "max_abs"), axis=axis, out=short is not None and (short, kept) or None, **checked),
        lambda: ctx.copy_boxes([x, x], [out, make(shape, dtype)], **words), lambda: ctx.copy(x, y, **words), lambda: ctx.fill(x, y, **words),
        lambda: ctx.convert(x, width, out, **words), lambda: ctx.multiply(x, y, out, **words), lambda: ctx.axpby(2, x, 3, y, out, **words),
        lambda: ctx.lincomb([(2, x), (factor, y)], out, **words), lambda: ctx.transpose(x, out, **words), lambda: ctx.dot(x, y, **words),
        lambda: ctx.lincomb_dot([(2, x), (factor, y)], dots, out, pick(None, zeros(len(dots or ()))), **words),
        lambda: ctx.permute(x, order, pick(None, out, make(shape[::-1], dtype)), **words), lambda: ctx.count(mask),
        lambda: ctx.select_places(mask, found if words else places, dtype=pick("i32", "u64"), kept=kept, **words))  # fmt: skip


def test_both_paths():
    """The fast path and the general path have the same results and messages."""
    np = numpy()
    seed = np.random.SeedSequence().entropy % 2**32
    print("seed", seed)
    good = 0
    with host() as ctx, ctx.Stream() as s, np.errstate(all="ignore"):
        for case in range(2000):
            wrap = (lambda x: x, ctx.asarray, lambda x: Tensor(ctx.asarray(x)))[case % 3]
            both = []
            for path in contextlib.nullcontext(), general_path():
                random = np.random.default_rng((seed, case))
                call = any_call(np, random, ctx, wrap, {"stream": s} if case % 4 == 0 else {})
                with path:
                    both.append(outcome(call, s))
            assert both[0] == both[1], (seed, case, both)
            good += isinstance(both[0], list)
    assert good > 300, good


def test_references():
    """No call leaves a reference behind, or takes one too many."""
    with host() as ctx, ctx.Stream() as s:
        for _, of in kinds(ctx):
            for words in {}, {"stream": s}:
                for name, call in calls(ctx, of, words):
                    cells = [cell.cell_contents for cell in call.__closure__]
                    cells += [cell.x for cell in cells if isinstance(cell, Tensor)]
                    call()
                    s.synchronize()
                    before = [sys.getrefcount(cell) for cell in cells]
                    for _ in range(10):
                        call()
                    s.synchronize()
                    after = [sys.getrefcount(cell) for cell in cells]
                    assert all(abs(a - b) <= 1 for a, b in zip(after, before)), (name, words, before, after)
