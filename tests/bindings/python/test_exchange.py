"""Arrays in the protocols of other libraries: buffers, __array_interface__, __cuda_array_interface__, DLPack."""

import array
import ctypes
import gc
import unittest
import weakref

import gpumem
from exchanged import CHECK, Own, Prototype
from gpumem import Array, Dtype, Kind, raw
from support import host, numpy, raises

CPU, CUDA, CUDA_HOST, MANAGED = (1, 0), (2, 0), (3, 0), (13, 0)


def on_cuda(kind, dtype="f32", shape=(2, 3), **more):
    """An array that claims memory of a CUDA device. Nothing may access it."""
    return Array(shape, int(Dtype[dtype.upper()]), address=0x10000, kind=int(kind), device=0, **more)


class Exporter:
    """An array of another library, only by DLPack, with or without a version."""

    def __init__(self, source, versioned=True, **words):
        self.source, self.versioned, self.words, self.asked = source, versioned, words, None

    def __dlpack_device__(self):
        return self.source.__dlpack_device__()

    def __dlpack__(self, **asked):
        self.asked = asked
        if not self.versioned and "max_version" in asked:
            raise TypeError("unexpected keyword max_version")
        return self.source.__dlpack__(**asked, **self.words)


def capsule_name(capsule):
    function = ctypes.pythonapi.PyCapsule_GetName
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return function(capsule).decode()


def test_buffer():
    with host() as ctx:
        a = ctx.full((2, 3), 7, "i16", "pinned")
        seen = memoryview(a)
        assert seen.shape == (2, 3) and seen.format == "h" and not seen.readonly
        seen[1, 2] = 9
        assert a.tolist() == [[7, 7, 7], [7, 7, 9]]
        b = ctx.zeros(3, "bf16", "pinned")
        with raises(BufferError, "bf16", "u16"):
            memoryview(b)
        with raises(BufferError, "device memory"):
            memoryview(on_cuda(Kind.DEVICE))
        with raises(BufferError, "padding"):
            bytes_of = ctypes.pythonapi.PyObject_GetBuffer
            bytes_of.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
            bytes_of(a[:, ::2], ctypes.create_string_buffer(128), 0)
        assert memoryview(ctx.asarray(b"abc")).readonly


def test_parts_and_shapes():
    with host() as ctx:
        a = ctx.array(array.array("i", range(24))).reshape(2, 3, 4)
        whole = memoryview(a).tolist()
        assert a[1].tolist() == whole[1] and a[-1, 0, 2].item() == 14
        assert a[..., 1].tolist() == [[line[1] for line in plane] for plane in whole]
        assert a[:, ::-1].tolist() == [plane[::-1] for plane in whole]
        assert a[0, None, 5:].shape == (1, 0, 4) and len(a) == 2 and a.T.shape == (4, 3, 2)
        assert a.reshape(-1, 6).shape == (4, 6) and a.reshape((24,)).nbytes == 96
        assert a.view("u8").shape == (2, 3, 16) and a.view("f32").dtype == "f32"
        for key in ((0, 0, 0, 0), 2, (..., ...)):
            with raises(IndexError):
                a[key]
        with raises(ValueError, "24 elements"):
            a.reshape(5, 5)
        with raises(ValueError, "padding"):
            a[:, ::2].reshape(-1)
        with raises(ValueError, "can't be seen"):
            a[:, :, :3].view("f64")
        with raises(ValueError, "24 elements"):
            a.item()
        with raises(TypeError, "no length"):
            len(a[0, 0, 0])
        assert "i32 (2, 3, 4) in device memory" in repr(a)


def test_parts_of_a_class():
    class Named(Array):
        def __init__(self, *args, **words):
            self.name = "x"

    with host() as ctx:
        for of in ctx.array(array.array("d", [1, 2, 3, 4])), Array((4,), int(Dtype.F64)):
            x = Named((2, 2), int(Dtype.F64), address=of.address, owner=of)
            for part in x[1], x[:, 0], x[...], x.T, x.view("i64"):
                assert type(part) is Array and part.owner is x
                assert part[:1].owner is x and type(part[:1]) is Array
            assert of[1:].owner is (of.owner or of) and of[1:][1:].owner is (of.owner or of)


def test_array_interface():
    np = numpy()
    with host() as ctx:
        a = ctx.full((2, 3), 1, "f32", "pinned")
        assert a.__array_interface__ == {"shape": (2, 3), "typestr": "<f4", "data": (a.address, False), "strides": None,
                                         "version": 3}  # fmt: skip
        assert a[:, 1:].__array_interface__["strides"] == (12, 4)

        class Interface:
            __array_interface__ = np.arange(4, dtype=np.uint16)[::2].__array_interface__

        Interface.kept = array.array("H", [3, 9, 4])
        Interface.__array_interface__ = dict(Interface.__array_interface__, data=(Interface.kept.buffer_info()[0], False))
        assert ctx.reduce(Interface()) == 7
        Interface.__array_interface__.update(shape=[2], strides=[4])  # lists, as some have them
        assert ctx.reduce(Interface()) == 7
        with raises(TypeError, "tuple"):
            raw.View((2,), 0, strides=[1])
        for shape in (-2, -3), (1 << 62, 1 << 62):  # products that become small by overflow
            Interface.__array_interface__.update(shape=shape, strides=None)
            with raises(ValueError, "the shape"):
                ctx.reduce(Interface())
        for data in None, bytes(8):
            Interface.__array_interface__["data"] = data
            with raises(BufferError, "no address"):
                ctx.reduce(Interface())
        Interface.__array_interface__["mask"] = 1
        with raises(BufferError, "mask"):
            ctx.reduce(Interface())
    assert not hasattr(on_cuda(Kind.DEVICE), "__array_interface__")
    assert not hasattr(a, "__cuda_array_interface__")


def test_bf16_of_numpy():
    np = numpy()
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        import unittest

        raise unittest.SkipTest("ml_dtypes is not installed") from None
    with host() as ctx:
        x = np.array([1, 2.5, 3], bfloat16)
        assert ctx.reduce(x) == 6.5 and ctx.array(x).dtype == "bf16"
        assert np.array_equal(ctx.transpose(x.reshape(1, 3)), x.reshape(3, 1)) and ctx.transpose(x.reshape(1, 3)).dtype == bfloat16


def test_what_only_numpy_has():
    np = numpy()
    with host() as ctx:
        times = np.array([["2020-01-01", "2021-01-01"]], "datetime64[D]")
        assert np.array_equal(ctx.transpose(times), times.T) and ctx.transpose(times).dtype == times.dtype
        moved = np.zeros_like(times)
        ctx.copy(moved, times)
        assert np.array_equal(moved, times)
        assert ctx.asarray(times[0, 0]).nbytes == 8  # whose buffer has no strides
        for dtype in object, [("a", "i4"), ("b", object)]:
            with raises(TypeError, "Python objects"):
                ctx.copy(np.zeros(3, dtype), np.zeros(3, dtype))
        bf16 = ctx.convert(np.array([1.5, 3.14]), "bf16")  # no type of NumPy
        assert bf16.dtype == "bf16" and bf16.tolist() == [1.5, 3.140625] and ctx.convert(bf16, "f64").tolist() == bf16.tolist()


def test_dlpack_of_numpy():
    np = numpy()
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    with host() as ctx:
        for part in (x, x[1:, ::2], x[::-1], x.T):
            seen = ctx.asarray(Exporter(part, versioned=False))
            assert seen.address == part.__array_interface__["data"][0] and np.array_equal(seen.numpy(), part)
        a = ctx.full((2, 3), 5, "f64", "pinned")
        assert np.array_equal(np.from_dlpack(a), np.full((2, 3), 5.0))
        assert np.array_equal(np.from_dlpack(a[:, ::-2]), np.full((2, 2), 5.0))
        assert ctx.asarray(Exporter(x.astype("c8"), versioned=False)).dtype == "8s"


def test_dlpack_versions_and_flags():
    with host() as ctx:
        a = ctx.full(3, 2, "i32", "pinned")
        assert capsule_name(a.__dlpack__()) == capsule_name(a.__dlpack__(max_version=(0, 8))) == "dltensor"
        capsule = a.__dlpack__(max_version=(1, 1))
        assert capsule_name(capsule) == "dltensor_versioned"
        seen = raw.dlpack_import(capsule)
        assert capsule_name(capsule) == "used_dltensor_versioned" and not seen.readonly
        with raises(BufferError, "not taken before"):
            raw.dlpack_import(capsule)
        with raises(BufferError):
            raw.dlpack_import("a tensor")
        frozen = ctx.asarray(b"abc")
        assert ctx.asarray(Exporter(frozen)).readonly
        with raises(BufferError, "read-only"):
            frozen.__dlpack__()
        copy = raw.dlpack_import(frozen.__dlpack__(copy=True))
        assert copy.address != frozen.address and bytes(copy) == b"abc" and not copy.readonly
        assert ctx.asarray(Exporter(a, copy=True)).address != a.address
        assert ctx.asarray(Exporter(a, copy=False)).address == a.address
        b = ctx.full(2, 1.5, "bf16", "pinned")
        assert ctx.asarray(Exporter(b)).dtype == "bf16" and ctx.asarray(Exporter(b, copy=True)).tolist() == [1.5, 1.5]
        exporter = Exporter(a, versioned=False)
        assert ctx.asarray(exporter).tolist() == [2, 2, 2] and exporter.asked == {}
        numbers = ctx.asarray(array.array("h", [1, 2, 3, 4])).view("u8")
        odd = raw.View((2,), int(Dtype.I16), address=numbers, strides=(3,), owner=numbers)
        with raises(BufferError, "not a multiple"):
            raw.dlpack_export(odd, 1, 0, 1, 0)
        with raises(BufferError, "no type in DLPack"):
            raw.dlpack_export(raw.View((1,), -1, address=numbers, itemsize=8, format="8s"), 1, 0, 1, 0)


def test_dlpack_devices():
    device, managed, pinned = (on_cuda(kind) for kind in (Kind.DEVICE, Kind.MANAGED, Kind.PINNED))
    assert [a.__dlpack_device__() for a in (device, managed, pinned)] == [CUDA, CUDA, CPU]
    # Callers that know these types may request them by name.
    for a, devices in ((device, [CUDA]), (managed, [CUDA, MANAGED, CPU]), (pinned, [CPU, CUDA_HOST])):
        for asked in (CPU, CUDA, CUDA_HOST, MANAGED):
            if asked in devices:
                seen = raw.dlpack_import(a.__dlpack__(dl_device=asked, max_version=(1, 0), copy=False))
                assert seen.address == a.address
                assert seen.device == (gpumem.DEVICE_HOST if asked in (CPU, CUDA_HOST) else 0)
            else:
                with raises(BufferError):
                    a.__dlpack__(dl_device=asked, copy=False)
    with host() as ctx:
        for kind in ("device", "pinned", "managed"):  # host memory with another name
            assert ctx.zeros(1, "u8", kind).__dlpack_device__() == CPU


def test_lifetimes():
    with host() as ctx:
        a = ctx.full(3, 2, "i32", "pinned")
        alive = weakref.ref(a)
        capsule = a.__dlpack__(max_version=(1, 0))
        del a
        gc.collect()
        assert alive() is not None
        seen = raw.dlpack_import(capsule)
        del capsule
        assert memoryview(seen).tolist() == [2, 2, 2] and alive() is not None
        del seen
        gc.collect()
        assert alive() is None
        unused = ctx.zeros(1).__dlpack__()
        del unused
        assert ctx.memory_stats().device_blocks == 0


def test_table_of_c_functions():
    own = Own(Array)
    assert own.version == (1, 3) and own.tensor_from_object is None
    stream = ctypes.c_void_p(1)
    assert own.stream(2, 0, stream) == 0 and stream.value is None
    with host() as ctx, ctx.Stream() as s:
        a = ctx.array(array.array("i", range(12))).reshape(3, 4)
        ctx.fill(a[0], 7, stream=s)
        alive = weakref.ref(a)
        for part in a, a[:, ::2], a[:0], a[1, 2], ctx.asarray(b"abc"), ctx.full(2, True, "bool"), ctx.full(2, 1, "bf16"):
            capsule = CHECK.PyCapsule_New(own.lend(part), b"dltensor_versioned", None)
            seen = raw.dlpack_import(capsule)
            assert (seen.shape, seen.strides, seen.readonly, seen.format) == (part.shape, part.strides, part.readonly, part.format)
            back = own.take(own.lend(part))
            assert type(back) is Array and (back.address, back.shape, back.dtype) == (part.address, part.shape, part.dtype)
            assert back.tolist() == part.tolist()
        assert a[0].tolist() == [7] * 4
        managed = own.lend(a)
        del a, part, seen, back, capsule
        gc.collect()
        assert alive() is not None
        assert (own.take(managed) + 1).tolist()[0] == [8] * 4
        gc.collect()
        assert alive() is None
        with raises(BufferError, "not a multiple"):
            own.lend(raw.part(Array((2,), int(Dtype.I16), address=ctx.zeros(9, "u8"), strides=(3,)), slice(None)))
        with raises(TypeError, "gpumem.Array"):
            own.lend("a")


def test_new_tensors_of_the_table():
    own, shape = Own(Array), (ctypes.c_int64 * 2)(3, 4)
    new = own.take(own.allocate(Prototype(None, 1, 0, 2, 2, 64, 1, shape)))
    assert (new.shape, new.dtype, new.device, new.readonly) == ((3, 4), "f64", gpumem.DEVICE_HOST, False)
    assert own.take(own.allocate(Prototype(None, 1, 0, 0, 6, 8, 1, shape))).dtype == "bool"
    shape[0] = -1
    assert own.allocate(Prototype(None, 1, 0, 2, 2, 64, 1, shape))[0] == b"ValueError"
    assert own.allocate(Prototype(None, 1, 0, 2, 3, 64, 1, shape))[0] == b"BufferError"
    kind, text = own.allocate(Prototype(None, 7, 0, 2, 2, 64, 1, shape))
    assert kind == b"BufferError" and b"DLPack type 7" in text


def test_the_table_on_a_device():
    try:
        ctx = gpumem.Context("cuda")
    except gpumem.Error as error:
        raise unittest.SkipTest(f"no CUDA context: {error}") from None
    own, number = Own(Array), ctx.device.device
    with ctx, ctx.Stream() as s:
        kinds = ("device", number, Kind.DEVICE), ("managed", number, Kind.DEVICE), ("pinned", gpumem.DEVICE_HOST, Kind.PAGEABLE)
        for kind, device, of in kinds:  # as for __dlpack__()
            a = ctx.zeros(5, "f32", kind)
            ctx.fill(a, 3, stream=s)
            back = own.take(own.lend(a))
            s.synchronize()
            assert (back.address, back.device, back.kind) == (a.address, device, of) and a.memory.exported is (device == number)
            assert (back + 1).sum() == 20  # in the process-wide context
        new = own.take(own.allocate(Prototype(None, 2, number, 1, 2, 32, 1, (ctypes.c_int64 * 1)(6))))
        ctx.fill(new, 2)
        assert (new.kind, new.device, new.tolist()) == (Kind.DEVICE, number, [2] * 6)


def test_the_table_with_torch():
    try:
        import torch
    except ImportError:
        raise unittest.SkipTest("PyTorch is not installed") from None
    own = Own(Array)
    with host() as ctx:
        a = ctx.array(array.array("f", [1, 2, 3]))
        tensor = torch.from_dlpack(CHECK.PyCapsule_New(own.lend(a), b"dltensor_versioned", None))
        tensor += 1
        assert tensor.data_ptr() == a.address and a.tolist() == [2, 3, 4]
        back = own.take(Own(torch.Tensor).lend(tensor)) if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") else a
        assert back.address == a.address


def test_cuda_array_interface():
    """The interface of an array on a CUDA context. Its context is a stand-in without a GPU."""

    class StandIn:
        handle, cuda, device = 0, True, 0

        def is_forked(self):
            return True  # nothing is freed

        def stream_of(self, memory):
            return 1 if memory.running() else None

    memory = gpumem.array.Memory(StandIn(), 0x10000, int(Kind.DEVICE))
    a = on_cuda(Kind.DEVICE, owner=memory)
    expected = {"shape": (2, 3), "typestr": "<f4", "data": (0x10000, False), "strides": None, "version": 3, "stream": None}
    assert a.__cuda_array_interface__ == expected and memory.exported
    assert a[:, ::2].__cuda_array_interface__["strides"] == (12, 8)
    with host() as ctx:
        memory.used_on(ctx.stream)
        assert a.__cuda_array_interface__["stream"] == 1
        seen = ctx.asarray(type("Foreign", (), {"__cuda_array_interface__": expected})())
        assert (seen.address, seen.kind, seen.shape) == (0x10000, Kind.DEVICE, (2, 3))
