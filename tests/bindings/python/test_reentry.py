"""Python code that runs inside a call, the cycle collector, and other interpreters."""

import array
import gc
import pathlib
import sys
import unittest
import weakref

import gpumem
from gpumem import raw
from support import host, numpy, raises, refused, run_python


class Bytes(bytearray):
    pass


class Numbers(array.array):
    pass


class Lender:
    """Memory of an array interface, with the same lifetime."""

    def __init__(self, ended=lambda: None):
        self.memory, self.ended = array.array("d", [1, 2, 3]), ended
        self.__array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (self.memory.buffer_info()[0], False), "version": 3}

    def __del__(self):
        self.ended()


def test_what_keeps_its_own_view_is_collected():
    gone = []
    with host() as ctx:
        for part in (lambda a: a, lambda a: a[1:], lambda a: a.T, lambda a: a.view("u8"), lambda a: [a[0], a[1:].view("i8")], memoryview):
            for make in lambda: Bytes(16), Lender, lambda: Numbers("d", [1, 2]):
                owner = make()
                owner.views = part(ctx.asarray(owner)), raw.view(owner)
                gone.append(weakref.ref(owner))
        owner = Bytes(16)
        owner.views, held = [ctx.asarray(owner)], weakref.ref(owner)
        view = owner.views[0][1:]
        del owner
        gc.collect()
        assert [ref() for ref in gone] == [None] * 18
        assert held() is not None and view.tolist() == [0] * 15  # for holders of a view
        del view
        gc.collect()
        assert held() is None


def test_what_keeps_its_own_view_is_collected_of_numpy():
    np = numpy()
    with host() as ctx:
        gone = []
        for dtype in "f8", "M8[s]", "?":
            mine = np.zeros(4, dtype).view(type("Mine", (np.ndarray,), {}))
            mine.own = ctx.asarray(mine)
            gone.append(weakref.ref(mine))
        del mine
        gc.collect()
        assert [ref() for ref in gone] == [None] * 3


def test_finalizers_run_before_the_memory_goes():
    """This holds for every order in which the collector ends its objects."""
    with host() as ctx:
        seen = []

        class Last:
            def __init__(self, a):
                self.me, self.a, self.part = self, a, a[1:]

            def __del__(self):
                seen.append((ctx.memory_stats().device_blocks, self.part.tolist()))

        for _ in range(3):
            Last(ctx.full(3, 7, "i32"))  # the collector finds older objects first
            gc.collect()
        assert seen == [(1, [7, 7])] * 3 and ctx.memory_stats().device_blocks == 0


def test_lenders_end_behind_the_stream():
    with host() as ctx:
        seen = []

        class User:
            def __init__(self):
                self.me, self.lender, self.s = self, Lender(), ctx.Stream()
                number = id(self.s)
                self.lender.ended = lambda: seen.append(number in ctx.core.users)
                ctx.reduce(self.lender, out=ctx.empty((), "f64"), stream=self.s)

        for _ in range(3):
            User()
            gc.collect()
        assert seen == [False] * 3


EMPTIED = """
import array, gc
import gpumem
from gpumem import raw

terms = []

def empty():
    terms.clear()
    gc.collect()
    return [bytearray(b"\\xff" * 8000) for _ in range(50)]

class Factor:
    def __float__(self):
        self.kept = empty()
        return 1.0

class Whole(int):
    def __float__(self):
        self.kept = empty()
        return 1.0

class Meta(type):
    def __getattr__(self, name):
        Meta.kept = empty()
        raise AttributeError(name)

class Buffer(array.array, metaclass=Meta):
    pass

def numbers(kind=array.array):
    return kind("d", range(1000))

with gpumem.Context("host") as ctx:
    for first in (Factor(), numbers()), (Whole(1), numbers()), (1.0, numbers(Buffer)):
        for call in lambda: raw.quick_lincomb(ctx, None, terms, None), lambda: ctx.lincomb(terms):
            terms[:] = [first, (1.0, numbers()), (1.0, numbers())]
            found = call()
            assert found is None or found[999].item() == 3 * 999, found[999]
print("done")
"""


def test_terms_that_empty_their_list():
    assert run_python(EMPTIED) == "done"


CLOSED = """
import array
import gpumem

class Closing:
    def __float__(self):
        ctx.close()
        return 1.0

    def __hash__(self):
        ctx.close()
        return 1

    __index__ = lambda self: int(float(self))

class Exporting:
    def __init__(self):
        self.x = gpumem.Context("host").array(x)
        self.__dlpack_device__ = self.x.__dlpack_device__

    def __dlpack__(self, **words):
        ctx.close()
        return self.x.__dlpack__(**words)

try:
    import numpy
    boxed = numpy.array(None)
    boxed[()] = Closing()
except ImportError:
    boxed = Closing()

x = array.array("d", [1, 2, 3, 4])
for call in (lambda: ctx.axpby(boxed, x), lambda: ctx.lincomb([(boxed, x)]), lambda: ctx.fill(x, boxed), lambda: ctx.axpby(Closing(), x),
             lambda: ctx.axpby(1, x, Closing(), x), lambda: ctx.lincomb([(Closing(), x)]), lambda: ctx.fill(x, Closing()),
             lambda: ctx.reduce(x, Closing()), lambda: ctx.reduce(x, axis=Closing()), lambda: ctx.reduce(Exporting()), lambda: ctx.array(Exporting()),
             lambda: ctx.zeros(Closing()), lambda: ctx.permute(x, (Closing(),)), lambda: ctx.copy(x, Exporting()), lambda: ctx.memory_trim(Closing())):
    ctx = gpumem.Context("host")
    try:
        call()
    except (gpumem.InvalidHandle, ValueError, TypeError):
        pass
print("done")
"""


def test_operands_that_close_the_context():
    assert run_python(CLOSED) == "done"


def test_errors_stand_alone():
    """Only the exception is reported, and it has no context."""
    reported, hook = [], sys.unraisablehook
    sys.unraisablehook = reported.append

    class Unhashable(str):
        __hash__ = None

    class Meta(type):
        def __getattr__(cls, name):
            raise KeyError(name)

    class Odd(array.array, metaclass=Meta):
        pass

    x = array.array("d", [1, 2])
    try:
        with host() as ctx:
            for op in ["sum"], {}, Unhashable("mean"):
                with refused(ValueError, words="not a valid operation"):
                    ctx.reduce(x, op)
            assert ctx.reduce(x, Unhashable("sum").upper().lower()) == 3
            assert ctx.reduce(Odd("d", [1, 2])) == 3
            for call in (lambda: ctx.reduce(5), lambda: ctx.fill(x, "a"), lambda: ctx.fill(x, 10**400), lambda: ctx.axpby(1, x, "b", x), lambda: ctx.lincomb([(None, x)]),
                         lambda: ctx.convert(x, "f5"), lambda: ctx.axpby(1, x, 1, array.array("f", [1, 2])), lambda: ctx.copy(x, array.array("d"))):  # fmt: skip
                with refused(TypeError, ValueError, OverflowError):
                    call()
    finally:
        sys.unraisablehook = hook
    assert not reported, reported


def test_functions_that_swallow_exceptions_are_not_used():
    """From Python 3.13 on, they report exceptions that they discard, in addition to the raised one."""
    binary = pathlib.Path(raw.__file__).read_bytes()
    assert b"\0PyObject_GetAttrString\0" in binary
    for name in b"PyDict_GetItem", b"PyDict_GetItemString", b"PyObject_HasAttr", b"PyObject_HasAttrString", b"PyMapping_HasKey", b"PyMapping_HasKeyString":
        assert b"\0" + name + b"\0" not in binary, name


def test_buffers_that_end_in_python():
    """A buffer that is released during an exception neither sees the exception nor loses it."""
    if sys.version_info < (3, 12):
        raise unittest.SkipTest("classes have buffers from Python 3.12 on")
    released, reported, hook = [], [], sys.unraisablehook

    class Buffer:
        def __init__(self, x):
            self.x = x

        def __buffer__(self, flags):
            return memoryview(self.x)

        def __release_buffer__(self, buffer):
            released.append(len(buffer))
            buffer.release()

    class Index:
        def __index__(self):
            raise LookupError("of its own")

    sys.unraisablehook = reported.append
    try:
        with host() as ctx:
            few, many = Buffer(array.array("d", [1, 2])), Buffer(array.array("d", [1, 2, 3]))
            none, odd = Buffer(array.array("d")), Buffer(b"1234")
            for call, kind in ((lambda: ctx.reduce(none, "max"), gpumem.Empty), (lambda: ctx.dot(few, many), ValueError), (lambda: ctx.copy(few, many), ValueError),
                               (lambda: ctx.fill(odd, 1), ValueError), (lambda: ctx.argreduce(none), gpumem.Empty), (lambda: ctx.transpose(few), ValueError),
                               (lambda: raw.gpumem_reduce(ctx.handle, Index(), 0, raw.view(few), 2, 1, None), LookupError)):  # fmt: skip
                before = len(released)
                with refused(kind):
                    call()
                gc.collect()
                assert len(released) > before
            assert ctx.reduce(many) == 6
    finally:
        sys.unraisablehook = hook
    assert not reported, reported


SUBINTERPRETER = """
import sys
try:
    import _interpreters
    create, run = lambda: _interpreters.create("legacy"), _interpreters.run_string
except ImportError:
    import _xxsubinterpreters
    words = {"isolated": False} if sys.version_info >= (3, 12) else {}
    create, run = lambda: _xxsubinterpreters.create(**words), _xxsubinterpreters.run_string
source = '''
import sys
sys.path[:0] = %r
try:
    import gpumem
    print("imported")
except ImportError as error:
    print("main interpreter" in str(error), flush=True)
''' % sys.path
if sys.argv[1:] == ["before"]:
    import gpumem
run(create(), source)
run(create(), source)
import gpumem
with gpumem.Context("host") as ctx:
    try:
        ctx.gather(bytearray(3), (__import__("array").array("i", [9])))
    except gpumem.OutOfRange as error:
        print(type(error) is gpumem.OutOfRange, isinstance(error, IndexError), flush=True)
print(gpumem.raw.View((3,), 0).size)
"""


def test_other_interpreters_are_refused():
    for order in "before", "behind":
        try:
            done = run_python(f"import sys\nsys.argv[1:] = ['{order}']\n" + SUBINTERPRETER)
        except AssertionError as error:
            if "No module named '_xxsubinterpreters'" in str(error):
                raise unittest.SkipTest("this Python has no module that makes interpreters") from None
            raise
        assert done.split() == ["True"] * 4 + ["3"], (order, done)


def test_registered_arrays_are_kept():
    lender = Lender()
    gone = weakref.ref(lender)
    with host() as ctx:
        ctx.register(lender)
        del lender
        gc.collect()
        assert gone() is not None and all(type(kept) is raw.Keep for kept in ctx.core.registered.values())
        with raises(gpumem.InvalidPointer, "not registered"):
            ctx.unregister(array.array("d", [1]))
    del ctx
    gc.collect()
    assert gone() is None
