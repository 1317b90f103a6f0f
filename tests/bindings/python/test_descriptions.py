"""Descriptions of memory by DLPack, array interfaces and buffers. A false one is refused before a read. A valid one gives
exactly the described memory."""

import array
import ctypes
import os
import random
import struct

import gpumem
from gpumem import Kind, raw
from support import host, numpy, raises, refused

EXTREMES = (0, 1, 2, 3, 5, 1 << 31, 1 << 32, (1 << 61) + 1, 1 << 62, (1 << 63) - 1)
PLACES = (0, 1, 4096, 1 << 47, 1 << 63, (1 << 64) - 64, (1 << 64) - 1)
REFUSALS = (BufferError, ValueError, TypeError)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Plain(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]  # fmt: skip


def axes(values):
    return None if values is None else (ctypes.c_int64 * max(len(values), 1))(*values)


ALL = []


class Capsule:
    """A capsule with any given description. By default, it describes f64 numbers at `data`."""

    def __init__(self, data, shape=(2, 3), strides=None, versioned=True, name=None, major=1, flags=0, deleter=True, **said):
        ALL.append(self)  # a lender lives as long as its borrowers
        self.deleted = 0
        self.managed = Versioned(major=major, flags=flags) if versioned else Plain()
        self.kept = axes(shape), axes(strides)
        addresses = [None if own is None else ctypes.addressof(own) for own in self.kept]
        facts = {"data": data, "device_type": 1, "ndim": len(shape or ()), "code": 2, "bits": 64, "lanes": 1, "shape": addresses[0],
                 "strides": addresses[1], **said}  # fmt: skip
        self.managed.tensor = Tensor(**facts)
        if deleter:
            self.managed.deleter = DELETER(self.delete)
        self.name = (b"dltensor_versioned" if versioned else b"dltensor") if name is None else name
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(ctypes.addressof(self.managed), self.name, None)

    def delete(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1

    def named(self):
        function = ctypes.pythonapi.PyCapsule_GetName
        function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
        return function(self.capsule)

    def __dlpack_device__(self):
        return self.managed.tensor.device_type, self.managed.tensor.device_id

    def __dlpack__(self, **asked):
        return self.capsule


NUMBERS = array.array("d", range(1, 7))
HERE = NUMBERS.buffer_info()[0]
HUGE = 1 << 62

LIES = {
    "axes below none": ({"ndim": -1}, "-1 axes"),
    "the least number of axes": ({"ndim": -(1 << 31)}, "axes"),
    "nine axes": ({"shape": (1,) * 9}, "9 axes"),
    "many axes": ({"ndim": (1 << 31) - 1}, "axes"),
    "axes without extents": ({"shape": None, "ndim": 2}, "without extents"),
    "a negative extent": ({"shape": (2, -3)}, "shape"),
    "two of them, whose product is right": ({"shape": (-2, -3)}, "shape"),
    "a product past 64 bits": ({"shape": (1 << 33, 1 << 33)}, "shape"),
    "a product that wraps round to 0": ({"shape": (1 << 32, 1 << 32)}, "shape"),
    "too many bytes": ({"shape": (1 << 61,)}, "shape"),
    "no elements, and too many on the other axes": ({"shape": (1 << 40, 1 << 40, 0)}, "shape"),
    "the same, the other way round": ({"shape": (0, 1 << 40, 1 << 40)}, "shape"),
    "a stride that wraps round to 0": ({"strides": (1 << 61, 1)}, "stride"),
    "a stride that wraps round to 8": ({"strides": (3, (1 << 61) + 1)}, "stride"),
    "a negative stride that wraps round": ({"strides": (-(1 << 61) - 1, 1)}, "stride"),
    "strides past the address space": ({"strides": (HUGE >> 3, HUGE >> 3)}, "address space"),
    "strides to before it": ({"strides": (-(1 << 59), 1)}, "address space"),
    "an offset that wraps round": ({"byte_offset": (1 << 64) - 8}, "byte_offset"),
    "the largest offset": ({"byte_offset": (1 << 64) - 1}, "byte_offset"),
    "an offset to the end of the address space": ({"byte_offset": (1 << 64) - HERE - 16}, "address space"),
    "elements at no address": ({"data": None}, "no memory"),
    "elements at an offset from no address": ({"data": None, "byte_offset": HERE}, "no memory"),
    "no lanes": ({"lanes": 0}, "0 bytes"),
    "no bits": ({"bits": 0}, "0 bytes"),
    "one bit": ({"code": 6, "bits": 1}, "1 bits"),
    "half a byte": ({"code": 17, "bits": 4}, "4 bits"),
    "handles": ({"code": 3}, "type 3"),
    "a type of the future": ({"code": 18}, "type 18"),
    "the last type": ({"code": 255}, "type 255"),
    "no device": ({"device_type": 0}, "type 0"),
    "a device of OpenCL": ({"device_type": 4}, "type 4"),
    "a negative type of device": ({"device_type": -1}, "type -1"),
    "a CUDA device below none": ({"device_type": 2, "device_id": -1}, "device -1"),
    "managed memory of one below none": ({"device_type": 13, "device_id": -1}, "device -1"),
    "another name": ({"name": b"tensor"}, "not taken before"),
    "the beginning of a name": ({"name": b"dltensor_"}, "not taken before"),
    "the name of one that is taken": ({"name": b"used_dltensor"}, "not taken before"),
}


def test_capsules_that_lie():
    with host() as ctx:
        for name, (said, words) in LIES.items():
            for versioned in (False, True):
                lie = Capsule(**{"data": HERE, "versioned": versioned, **said})
                for take in (lambda: raw.dlpack_import(lie.capsule), lambda: ctx.asarray(lie), lambda: ctx.reduce(lie)):
                    with refused(*REFUSALS, words=words):
                        take()
                assert lie.named() == lie.name and not lie.deleted, name  # its owner still has it
        for major in 0, 2, (1 << 32) - 1:
            lie = Capsule(HERE, major=major, ndim=-5, shape=None)
            with raises(BufferError, f"DLPack {major}"):
                ctx.asarray(lie)
            assert not lie.deleted


def test_capsules_that_are_odd():
    with host() as ctx:
        for versioned in (False, True):

            def taken(data=HERE, versioned=versioned, **said):
                capsule = Capsule(data, versioned=versioned, **said)
                view = ctx.asarray(capsule)
                assert capsule.named() == b"used_" + capsule.name and not capsule.deleted
                with raises(BufferError, "not taken before"):
                    ctx.asarray(capsule)
                found = view.shape, view.tolist() if view.dtype_code >= 0 else view.dtype
                del view
                assert capsule.deleted == (said.get("deleter", True) is True)
                return found

            assert taken() == ((2, 3), [[1, 2, 3], [4, 5, 6]])
            assert taken(deleter=False) == ((2, 3), [[1, 2, 3], [4, 5, 6]])
            assert taken(shape=(2, 2), strides=(3, -1), byte_offset=16) == ((2, 2), [[3, 2], [6, 5]])
            assert taken(shape=(2, 2), strides=(0, 1)) == ((2, 2), [[1, 2], [1, 2]])
            assert taken(shape=None, byte_offset=8) == ((), 2)
            assert taken(shape=(0, 3), data=None, byte_offset=8) == ((0, 3), [])
            assert taken(shape=(2, 0), strides=(HUGE, HUGE)) == ((2, 0), [[], []])
            assert taken(shape=(1, 2), strides=((1 << 63) - 1, 1)) == ((1, 2), [[1, 2]])
            assert taken(shape=(3,), lanes=2) == ((3,), "16s")
            assert taken(shape=(3,), code=5, bits=128) == ((3,), "16s")
            assert taken(shape=(3,), device_id=-1) == ((3,), [1, 2, 3])  # on the host it says nothing
            assert taken(device_type=3)[0] == (2, 3)
            shifted = bytearray(b"x") + NUMBERS.tobytes()
            data = ctypes.addressof((ctypes.c_char * len(shifted)).from_buffer(shifted)) + 1
            assert taken(data=data) == ((2, 3), [[1, 2, 3], [4, 5, 6]])
            assert ctx.reduce(Capsule(data, versioned=versioned)) == 21  # at any alignment
        for flags, readonly in ((0, False), (1, True), (2, False), (3, True), ((1 << 64) - 2, False)):
            assert ctx.asarray(Capsule(HERE, flags=flags)).readonly == readonly
        with raises(ValueError, "read-only"):
            ctx.fill(Capsule(HERE, flags=1), 0)
        assert NUMBERS[0] == 1


def test_exporters_that_fail():
    class Failing(Capsule):
        def __dlpack__(self, **asked):
            raise self.kind("of its own")

        def __dlpack_device__(self):
            return self.place

    with host() as ctx:
        failing = Failing(HERE)
        failing.place = 1, 0
        for failing.kind in TypeError, ValueError, KeyError, KeyboardInterrupt:
            for use in (ctx.asarray, ctx.reduce, ctx.nrm2):
                with refused(failing.kind, words="of its own"):
                    use(failing)
        for failing.place in None, 1, (), (1,), (1, 0, 0), "host", ("cpu", 0):
            with raises(BufferError, "x.__dlpack_device__() gives", "expected the type of a device"):
                ctx.reduce(failing)

        class NoCapsule(Failing):
            place = 1, 0

            def __dlpack__(self, **asked):
                return self.answer

        failing = NoCapsule(HERE)
        for failing.answer in None, 5, b"dltensor", failing:
            with raises(BufferError, "expected a DLPack capsule"):
                ctx.asarray(failing)


def is_sound(address, itemsize, shape, strides):
    """Whether all elements are between addresses 1 and 2**64, and an int64 can count their bytes. Uses unbounded integers."""
    whole = itemsize
    for extent in shape:
        whole *= max(extent, 1)
    if min(shape, default=0) < 0 or whole >= 1 << 63:
        return False
    if 0 in shape:
        return True
    reach = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    first, last = address + sum(r for r in reach if r < 0), address + sum(r for r in reach if r > 0) + itemsize
    return address != 0 and first >= 0 and last < 1 << 64 and all(-(1 << 63) <= r < 1 << 63 for r in reach)


def tight(itemsize, shape):
    strides = []
    for extent in reversed(shape):
        strides.insert(0, itemsize)
        itemsize *= max(extent, 1)
    return tuple(strides)


class Interface:
    def __init__(self, interface, cuda):
        setattr(self, "__cuda_array_interface__" if cuda else "__array_interface__", interface)


def test_what_is_taken_is_what_was_described():
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)  # shown where it fails
    rng, taken, ways = random.Random(seed), 0, ("plain", "versioned", "host", "cuda", "view")

    def number():
        return rng.choice(EXTREMES) * rng.choice((1, 1, 1, -1)) + rng.choice((0, 0, 0, 1, -1))

    with host() as ctx:
        for _ in range(4000):
            way, itemsize = rng.choice(ways), rng.choice((1, 2, 4, 8))
            rank = rng.choice((0, 1, 1, 2, 2, 3, 8))
            shape = tuple(number() if rng.random() < 0.4 else rng.randrange(4) for _ in range(rank))
            strides = None if rng.random() < 0.3 else tuple(number() if rng.random() < 0.6 else itemsize for _ in range(rank))
            address, offset = rng.choice(PLACES), rng.choice((0, 0, 8, (1 << 64) - 1)) if way in ("plain", "versioned") else 0
            inside = all(-(1 << 63) <= n < 1 << 63 for n in (*shape, *(strides or ())))
            if not inside:
                continue
            in_bytes = tight(itemsize, shape) if strides is None else strides
            if way in ("plain", "versioned"):
                in_bytes = in_bytes if strides is None else tuple(s * itemsize for s in strides)
                source = Capsule(address, shape, strides, way == "versioned", byte_offset=offset, code=1, bits=8 * itemsize)
                call = lambda: ctx.asarray(source)  # noqa: E731
            elif way == "view":
                call = lambda: raw.View(shape, {1: 1, 2: 3, 4: 5, 8: 7}[itemsize], address=address, strides=strides)  # noqa: E731
            else:
                source = Interface({"shape": shape, "typestr": f"<u{itemsize}", "data": (address, False), "strides": strides, "version": 3},
                                   way == "cuda")  # fmt: skip
                call = lambda: ctx.asarray(source)  # noqa: E731
            where = address + offset if address else 0
            expected = is_sound(where, itemsize, shape, in_bytes)
            if way in ("plain", "versioned") and where >= 1 << 64:
                expected = False
            said = seed, way, address, offset, itemsize, shape, strides
            try:
                view = call()
            except REFUSALS as error:
                assert not expected, (said, error)
                continue
            assert expected, said
            taken += 1
            assert (view.address, view.shape, view.itemsize) == (where, shape, itemsize), said
            for axis, extent in enumerate(shape):
                assert extent <= 1 or 0 in shape or view.strides[axis] == in_bytes[axis], said
    assert 400 < taken < 3000, taken


def test_interfaces_that_lie():
    honest = {"shape": (2, 3), "typestr": "<f8", "data": (HERE, False), "version": 3}
    lies = [({key: None}, "") for key in ("shape", "typestr", "data")]
    lies += [({"typestr": typestr}, "typestr") for typestr in ("", "f", "<f", "8", "|t3", "<f8"[::-1], b"<f8", 8, ("<f8",), "ffff", "<f" + "9" * 20)]
    lies += [({"typestr": typestr}, "Python objects") for typestr in ("|O", "|O8", "O8")]
    lies += [({"typestr": "|V16", "descr": [("a", "<i8"), ("b", "|O")]}, "Python objects")]
    lies += [({"typestr": typestr}, "0 bytes") for typestr in ("|V0", "|S0", "<U0", "<f0")]
    lies += [({"data": data}, "address") for data in ((HERE,), (HERE, False, 1), (None, False), ("1", False), (1.5, False), [HERE, False], HERE)]
    lies += [({"data": (0, False)}, "no memory"), ({"data": (-8, False)}, "address space"), ({"data": (1 << 64, False)}, "address")]
    lies += [({"shape": shape}, "shape") for shape in (6, (2.0, 3), "23", (1 << 64,), (-2, -3), (1 << 32, 1 << 32), (2, None))]
    lies += [({"strides": strides}, "strides") for strides in (8, (8,), (24, 8, 1), (8.0, 8), (1 << 63, 8), (1 << 62, 1 << 62))]
    lies += [({"mask": True}, "mask")]
    with host() as ctx:
        for cuda in (False, True):
            for said, words in lies:
                source = Interface({**honest, **said}, cuda)
                for use in (ctx.asarray, ctx.nrm2):
                    with refused(*REFUSALS, OverflowError, words=words):
                        use(source)
            for interface in None, 5, [], honest.keys():
                with raises((TypeError, BufferError)):
                    ctx.asarray(Interface(interface, cuda))
        seen = ctx.asarray(Interface({**honest, "shape": [3, 2], "strides": [16, 8]}, False))
        assert seen.tolist() == [[1, 2], [3, 4], [5, 6]]
        for typestr, dtype in (("<f8", "f64"), ("=f8", "f64"), ("|f8", "f64"), ("f8", "f64"), (">f8", ">d"), ("<c8", "Zf"), (">c16", ">Zd"),
                               ("<M8[ns]", "8s"), ("|V2", "2s"), ("<U2", "8s"), ("|S5", "5s"), ("|u1", "u8"), (">u1", "u8"), ("<b1", "bool")):  # fmt: skip
            assert ctx.asarray(Interface({**honest, "typestr": typestr, "shape": (1,)}, False)).dtype == dtype, typestr


def test_interfaces_that_lie_are_not_waited_for():
    """All other facts are checked before the stream of another library is used."""
    with host() as ctx:
        with raises(BufferError, "typestr"):
            ctx.asarray(Interface({"shape": (1,), "typestr": "x", "data": (HERE, False), "version": 3, "stream": 1 << 40}, True))


def test_buffers():
    class Nothing(ctypes.Structure):
        pass

    with host() as ctx:
        for of_none in (Nothing * 3)(), memoryview((Nothing * 3)()):
            for use in (ctx.asarray, ctx.array, ctx.reduce, lambda x: ctx.permute(x, (0,)), lambda x: ctx.gather(x, array.array("i", [0])),
                        lambda x: ctx.copy(x, x), lambda x: ctx.fill(x, b"")):  # fmt: skip
                with raises(TypeError, "0 bytes"):
                    use(of_none)
        objects = (ctypes.py_object * 3)(1, 2, 3)
        for of_objects in objects, memoryview(objects):
            for use in (ctx.asarray, ctx.array, lambda x: ctx.copy(x, x)):
                with raises(TypeError, "Python objects"):
                    use(of_objects)

        class Named(ctypes.Structure):  # its format has the letter only in a name
            _fields_ = [("On", ctypes.c_int32)]

        assert ctx.asarray((Named * 2)()).itemsize == 4
        a = ctx.asarray(array.array("d", [1, 2]))
        made = gpumem.Array((4,), int(gpumem.Dtype.I32))
        assert made.owner is None  # nothing can resize its memory
        with raises(ValueError, "address"):
            gpumem.Array((2,), 0, strides=(100,))
        for itemsize in 0, -8:
            with raises(TypeError, "0 bytes"):
                raw.View((2,), -1, address=a, itemsize=itemsize)


def test_zero_bytes_of_numpy():
    np = numpy()
    index = np.array([0])
    for dtype in "V0", "S0", "U0", np.dtype([]), np.dtype([("a", "V0")]):
        x, y = (np.ndarray((2, 3), dtype, buffer=bytearray(8), strides=strides) for strides in ((0, 0), (3, 1)))
        with host() as ctx:
            for of in x, y:
                assert of.itemsize == 0
                for use in (ctx.asarray, ctx.array, ctx.reduce, ctx.argreduce, ctx.transpose, lambda v: ctx.permute(v, (1, 0)), ctx.nrm2,
                            lambda v: ctx.gather(v, index), lambda v: ctx.scatter(v, index, v), lambda v: ctx.copy(v, v), lambda v: ctx.fill(v, b""),
                            lambda v: ctx.reduce(v, axis=0), lambda v: ctx.convert(v, "f32"), lambda v: ctx.resize(v, (1, 1))):  # fmt: skip
                    with raises(TypeError, "0 bytes"):
                        use(of)


def test_objects_of_numpy():
    np = numpy()
    with host() as ctx:
        for x in np.zeros(3, object), np.zeros(3, [("a", "i4"), ("b", object)]), memoryview(np.zeros(3, object)):
            for use in (ctx.asarray, ctx.array, ctx.reduce, lambda v: ctx.gather(v, np.array([0]))):
                with raises(TypeError, "Python objects"):
                    use(x)
        named = np.zeros(3, [("O", "i4"), ("n", "i4")])
        assert ctx.gather(named, np.array([1])).dtype == named.dtype


def test_arrays_of_other_libraries_keep_their_types():
    """Operations that only move elements return their original type, for every protocol."""
    np = numpy()
    with host() as ctx:
        for dtype in "?", "c8", "c16", ">i2", ">f8", ">c8":
            x = np.arange(6).reshape(2, 3).astype(dtype)
            for source in x, Interface(x.__array_interface__, False):
                for seen in ctx.asarray(source), ctx.array(source), ctx.transpose(ctx.transpose(source)):
                    found = np.asarray(seen)
                    assert found.dtype == x.dtype and np.array_equal(found, x), (dtype, found.dtype)
        assert ctx.array(np.array([1 + 2j])).dtype == "Zd"
        with raises(TypeError, "not Python numbers", ".view()"):
            ctx.array(np.array([1 + 2j])).tolist()
        assert struct.pack("d", 1) + struct.pack("d", 2) == bytes(ctx.array(np.array([1 + 2j]), "pinned"))
        assert ctx.array(np.array([1 + 2j])).view("f64").tolist() == [1, 2] and Kind.PINNED == ctx.array(x, "pinned").kind
