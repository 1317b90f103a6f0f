"""One exception class per status, such as gpumem.OutOfRange for GPUMEM_OUT_OF_RANGE."""

import re

from . import _gpumem
from .names import CompareOp, Dtype, MapOp, Op, Status

# Built-in base classes, so that code that does not know gpumem can catch the exceptions.
BUILTIN = {
    Status.INVALID_ARGUMENT: ValueError,
    Status.INVALID_POINTER: ValueError,
    Status.OUT_OF_RANGE: IndexError,
    Status.EMPTY: ValueError,
    Status.OVERFLOW: OverflowError,
    Status.NOT_FOUND: LookupError,
    Status.OUT_OF_MEMORY: MemoryError,
}


class Error(Exception):
    """A call failed. `status` is the status, and the text is the library's error message."""

    status = Status.INTERNAL
    result = None  # if a reduction lacks some of its values: the array with the others


def class_name(status):
    return "".join(word.capitalize() for word in status.name.split("_"))


CLASSES = {
    status: type(class_name(status), (Error, BUILTIN[status]) if status in BUILTIN else (Error,),
                 {"status": status, "__module__": "gpumem", "__doc__": f"GPUMEM_{status.name}"})
    for status in Status if status
}  # fmt: skip
globals().update({kind.__name__: kind for kind in CLASSES.values()})
__all__ = [kind.__name__ for kind in CLASSES.values()]


NAMES = "|".join(member.name.lower() for members in (Dtype, MapOp, CompareOp) for member in members)
TYPES = {str(int(dtype)): dtype.name.lower() for dtype in Dtype}
# Words of the C interface in the library's messages, and what a program in Python wrote in their place.
IN_PYTHON = [(re.compile(pattern), words) for pattern, words in (
    (r"\bresult_type is (\d+)", lambda found: f"dtype is {TYPES.get(found[1], found[1])}"),
    (rf"\b\d+ \(({NAMES})\)", r"\1"),
    (r" \(\d+ to \d+\)", ""),
    (r"\bop is \d+ \(([^)]*)\)", r"op is \1"),
    (r", or dtype$", ", or the type of x"),
    (r", or the dtype (\w+)$", r", or the type of x, \1"),
    (r"\bless than (src|dst)_rows = (\d+)", r"less than the number of rows of \1, \2"),
    (r"^(?:dst_rows|places_n) is (\d+); expected room", r"out has room for \1; expected room"),
    (r"^n is 0; expected at least one element", "x has no elements; expected at least one"),
    (r"\bz is complete\b", "out is complete"),
    (r"\bGPUMEM_(%s)\b" % "|".join(op.name for op in Op), lambda found: found[1].lower()),
)]  # fmt: skip


def in_python(sentence):
    for pattern, words in IN_PYTHON:
        sentence = pattern.sub(words, sentence)
    return sentence


def failure(status, sentence):
    kind = CLASSES.get(status, Error)
    exception = kind(in_python(sentence) or f"status {status}")
    if kind is Error:
        exception.status = status  # a status of a newer library
    return exception


_gpumem.set_failure(failure)
