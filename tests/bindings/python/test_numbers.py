"""An array of one element as a number."""

import array
import math
import operator

import gpumem
from support import host, numpy, raises


def test_one_element_is_a_number():
    with host() as ctx:
        digits = ctx.array(array.array("B", b"12"))  # its bytes are text with a number
        assert int(digits[0]) == 49 and float(digits[1]) == 50.0 and bool(digits[0]) and complex(digits[0]) == 49
        many = ctx.array(array.array("q", b"12345678"))
        assert int(many[0]) == operator.index(many[0]) == int.from_bytes(b"12345678", "little")
        x = ctx.full((1, 1), -2.25, "f64", "pinned")
        assert float(x) == -2.25 and int(x) == -2 and round(x, 1) == round(-2.25, 1) and f"{x:.3f}" == "-2.250"
        assert f"{x}" == repr(x) and math.sqrt(ctx.full((), 9, "bf16")) == 3
        assert not ctx.zeros(()) and bool(ctx.zeros(1, "f16")) is False
        assert [5, 6, 7][ctx.full((), 1, "u8")] == 6 and ctx.zeros(ctx.full((), 3, "i32")).shape == (3,)


def test_several_elements_are_none():
    with host() as ctx:
        for several in ctx.zeros(3), ctx.zeros((0, 2)), ctx.zeros((2, 2), "i32"):
            for use in (int, float, complex, bool, operator.index, round, "{:.2f}".format, lambda x: bool(x == 0)):
                with raises(TypeError):
                    use(several)
            with raises(TypeError, "elements is not a number", "tolist()"):
                float(several)
        with raises(TypeError):
            operator.index(ctx.zeros(()))
        with raises(TypeError, "without axes"):
            operator.index(ctx.zeros(1, "i32"))


def test_comparisons():
    with host() as ctx, ctx.Stream() as s:
        total = ctx.reduce(ctx.zeros(1 << 20), stream=s)
        assert total == 0 and 0 == total and not total != 0 and total <= 0 and total < 1.5  # after the work on it
        assert ctx.reduce(ctx.full(10, 1.5), stream=s) > 14 and total == ctx.zeros(()) and total == total
        assert total != None and total != "0"  # noqa: E711
        with raises(TypeError, "not supported"):
            _ = total < "1"
        with raises(TypeError, "unhashable"):
            hash(total)


def test_comparison_with_numpy():
    np = numpy()
    with host() as ctx:
        total = ctx.full((), 3, "f64", "pinned")
        assert total == np.float32(3) and np.float64(3) == total and total < np.int8(4)
        assert (total == np.array([3.0, 4])).tolist() == [True, False]
        assert ctx.zeros(np.array([2, 3])).shape == (2, 3)
