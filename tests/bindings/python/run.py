#!/usr/bin/env python3
"""Runs the tests of the Python binding, with pytest if it is installed, else by itself.

usage: run.py FOLDER_OF_THE_PACKAGE [--no-pytest] [NAME...]    (names of test_*.py, without .py; default: all)
"""

import importlib
import os
import pathlib
import sys
import traceback
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run_plainly(names):
    """Calls each test_* function of the modules. A test that raises SkipTest is skipped, with its reason."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name in names:
        module = importlib.import_module(name)
        for test in [key for key in vars(module) if key.startswith("test_")]:
            outcome = "passed"
            try:
                getattr(module, test)()
            except unittest.SkipTest as reason:
                outcome = "skipped"
                print(f"{name}.{test} skipped: {reason}")
            except Exception:
                outcome = "failed"
                print(f"{name}.{test} failed:")
                traceback.print_exc()
            counts[outcome] += 1
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    if not counts["passed"]:
        return 1 if counts["failed"] else 77
    return 1 if counts["failed"] else 0


def run_pytest(pytest, names):
    outcome = pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *[str(HERE / f"{name}.py") for name in names]])
    return 0 if outcome == pytest.ExitCode.OK else 1


def main():
    words = [word for word in sys.argv[1:] if word != "--no-pytest"]
    if not words:
        sys.exit(__doc__)
    sys.dont_write_bytecode = True
    sys.path[:0] = [words[0], str(HERE)]
    os.environ["PYTHONPATH"] = words[0]  # for the processes that tests start
    names = words[1:] or sorted(file.stem for file in HERE.glob("test_*.py") if file.stem != "test_gpu")
    try:
        if "--no-pytest" in sys.argv:
            raise ImportError
        import pytest
    except ImportError:
        return run_plainly(names)
    return run_pytest(pytest, names)


if __name__ == "__main__":
    sys.exit(main())
