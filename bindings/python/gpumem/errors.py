"""One exception class per status, such as gpumem.OutOfRange for GPUMEM_OUT_OF_RANGE."""

from . import _gpumem
from .names import Status

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


def failure(status, sentence):
    kind = CLASSES.get(status, Error)
    exception = kind(sentence or f"status {status}")
    if kind is Error:
        exception.status = status  # a status of a newer library
    return exception


_gpumem.set_failure(failure)
