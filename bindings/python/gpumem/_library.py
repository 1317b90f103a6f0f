"""Finds and opens libgpumem.so: GPUMEM_LIBRARY if it is set, else in the package's folder, else by the loader."""

import os
import pathlib

from . import _gpumem

SONAME = "libgpumem.so.0"


def candidates():
    named = os.environ.get("GPUMEM_LIBRARY")
    if named:
        return [named]
    beside = [pathlib.Path(__file__).parent / name for name in (SONAME, "libgpumem.so")]
    return [str(file) for file in beside if file.exists()] + [SONAME]


def load():
    """Opens the first candidate that works, and returns its name. Raises ImportError with all reasons if none does."""
    reasons = []
    for name in candidates():
        try:
            _gpumem.load_library(name)
            return name
        except OSError as error:
            reasons.append(str(error))
    raise ImportError("libgpumem.so can't be opened: %s. Set GPUMEM_LIBRARY to its path." % "; ".join(reasons))


path = load()
