"""Shared by the tests."""

import contextlib
import subprocess
import sys
import unittest

import gpumem


@contextlib.contextmanager
def raises(kind, *words):
    """Fails unless the block raises this exception, with these words in its text."""
    try:
        yield
    except kind as error:
        for word in words:
            assert word in str(error), f"no {word!r} in {error}"
    else:
        raise AssertionError(f"nothing was raised; expected {kind.__name__}")


@contextlib.contextmanager
def refused(*kinds, words=""):
    """Fails unless the block raises one of these exceptions with these words, without a new exception as its context."""
    outer = sys.exc_info()[1]
    try:
        yield
    except kinds as error:
        assert words in str(error), f"no {words!r} in {error}"
        assert error.__context__ is outer or error.__suppress_context__, f"{error.__context__!r} beside {error!r}"
    else:
        raise AssertionError(f"nothing was raised; expected {words!r}")


def numpy():
    try:
        import numpy
    except ImportError:
        raise unittest.SkipTest("NumPy is not installed") from None
    return numpy


def host():
    return gpumem.Context("host")


def run_python(source, **environment):
    """The output of this source in another interpreter. If that fails, the error message has its output."""
    import os

    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.stdout.strip()
