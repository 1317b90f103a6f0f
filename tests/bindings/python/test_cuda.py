"""Tests on a CUDA device, real or emulated, without another library: memory of arrays, and the order of streams."""

import array
import gc
import unittest

import gpumem
from gpumem import Kind
from support import numpy, raises


def cuda(**options):
    try:
        return gpumem.Context("cuda", **options)
    except gpumem.Error as error:
        raise unittest.SkipTest(f"no CUDA context: {error}") from None


class OfOthers:
    """An array of another library, passed by DLPack or the CUDA array interface."""

    def __init__(self, x, interface=None):
        self.x, self.asked = x, None
        if interface:
            self.__cuda_array_interface__ = interface
        else:
            self.__dlpack_device__ = x.__dlpack_device__
            self.__dlpack__ = self.export

    def export(self, **asked):
        self.asked = asked
        return self.x.__dlpack__(**asked)


def test_where_results_lie():
    with cuda() as ctx:
        number = ctx.device.device
        d, p, m = (ctx.full((20, 30), 0.5, "f32", kind) for kind in ("device", "pinned", "managed"))
        assert [x.device for x in (d, p, m)] == [number, gpumem.DEVICE_HOST, number]
        assert [x.on_device for x in (d, p, m)] == [True, False, False]
        for x in (d, p, m):
            assert ctx.reduce(x) == 300 and ctx.transpose(x).kind == x.kind and ctx.reduce(x, axis=1).tolist() == [15] * 20
        assert d.tolist() == p.tolist() and d[3:5].to_host().kind == Kind.PAGEABLE
        assert memoryview(m)[19, 29] == 0.5 and d[1, 2].item() == 0.5
        with raises(BufferError, "device memory"):
            memoryview(d)
        assert d[:, ::2].to_host().shape == (20, 15) and d[:2, ::15].tolist() == [[0.5, 0.5]] * 2
        x = array.array("d", range(100))
        assert ctx.reduce(x) == 4950 and ctx.axpby(2, x).kind == Kind.PAGEABLE
        assert ctx.axpby(2.0, x, stream=ctx.stream).kind == Kind.PINNED
        ctx.synchronize()
        assert ctx.array(x).tolist() == list(x)


def test_exported():
    with cuda() as ctx:
        number = ctx.device.device
        d, m = ctx.full(3, 2, "i32"), ctx.full(3, 2, "i32", "managed")
        assert d.__dlpack_device__() == m.__dlpack_device__() == (2, number)
        there = gpumem.raw.dlpack_import(d.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
        assert memoryview(there).tolist() == [2, 2, 2] and there.address != d.address
        with raises(BufferError, "without a copy"):
            d.__dlpack__(dl_device=(1, 0), copy=False)
        copy = gpumem.raw.dlpack_import(d.__dlpack__(copy=True))
        assert copy.address != d.address and ctx.reduce(copy) == 6
        assert ctx.asarray(OfOthers(d)).tolist() == [2, 2, 2]
        interface = d.__cuda_array_interface__
        assert interface["stream"] is None and interface["data"] == (d.address, False)
        assert not hasattr(d, "__array_interface__")
        del there, copy, d, m
        gc.collect()  # frees the exception above, whose frames hold d
        assert ctx.memory_stats().device_blocks == 0


def test_order_of_streams():
    with cuda() as ctx:
        s, a = ctx.Stream(), ctx.zeros(1 << 16, "i32")
        for value in (1, 2, 3):
            ctx.fill(a, value, stream=s)
            other = OfOthers(a)
            assert ctx.reduce(other) == value << 16
            assert other.asked == {"max_version": (1, 0), "stream": ctx.stream.native}
            ctx.fill(a, -value, stream=s)
            assert a.__cuda_array_interface__["stream"] == s.native
            assert ctx.reduce(OfOthers(a, a.__cuda_array_interface__)) == -value << 16
            ctx.fill(a, value, stream=s)
            with cuda(non_blocking_stream=True) as apart:
                assert apart.reduce(OfOthers(a)) == value << 16
            ctx.fill(a, 7, stream=s)
            a.__dlpack__(stream=2)  # the per-thread stream, which can't wait: the host did
            assert ctx.reduce(a) == 7 << 16
            assert a.tolist()[-1] == 7
        legacy = ctx.Stream(native=0)
        assert legacy.native == 1
        total = ctx.reduce(OfOthers(a), stream=legacy)
        legacy.synchronize()
        assert total.item() == 7 << 16
        with raises(TypeError, "CUDA stream"):
            ctx.Stream(native="legacy")
        with raises(TypeError, "stream is 's'"):
            ctx.reduce(OfOthers(a), stream="s")


def test_arrays_of_numpy():
    np = numpy()
    x = np.arange(12.0).reshape(3, 4)
    with cuda() as ctx:
        assert np.array_equal(ctx.array(x.T).numpy(), x.T) and np.array_equal(ctx.transpose(x), x.T)
        d = ctx.array(x)
        out = np.zeros((4, 3))
        ctx.transpose(d, out)
        assert np.array_equal(out, x.T)
        ctx.copy(d[:, 1:3], x[:, :2])
        assert np.array_equal(d.numpy()[:, 1:3], x[:, :2])


def test_bools_on_the_device():
    rows = [[True, False, False], [True, True, False]]
    with cuda() as ctx, ctx.Stream() as s:
        for kind in Kind.DEVICE, Kind.PINNED, Kind.MANAGED:
            x = ctx.array(memoryview(bytes([1, 0, 0, 1, 1, 0])).cast("B").cast("?", (2, 3)), kind)
            for stream in (None, s):
                turned, picked = ctx.transpose(x, stream=stream), ctx.gather(x, ctx.array(array.array("i", [1, 0]), kind), stream=stream)
                s.synchronize()
                assert turned.kind == kind and turned.dtype == "bool" and turned.tolist() == [list(column) for column in zip(*rows)]
                assert picked.tolist() == rows[::-1] and ctx.reduce(x.view("u1")) == 3
            back = ctx.asarray(OfOthers(x))
            assert back.dtype == "bool" and back.tolist() == rows
            if kind != Kind.PINNED:
                assert x.__cuda_array_interface__["typestr"] == "|b1"
                assert ctx.asarray(OfOthers(x, x.__cuda_array_interface__)).tolist() == rows
            with raises(TypeError, '.view("u1")'):
                ctx.reduce(x)
