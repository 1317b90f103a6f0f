#!/usr/bin/env python3
"""Runs the Python blocks of a page in order, and compares the output of each with the next block of text.

usage: page.py PAGE FOLDER_OF_THE_PACKAGE
"""

import contextlib
import io
import pathlib
import re
import sys

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)


def main():
    sys.path.insert(0, sys.argv[2])
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("NumPy is not installed, which the page's programs use")
        return 77
    names, printed, count, wrong = {}, None, 0, 0
    for language, text in BLOCK.findall(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, sys.argv[1], "exec"), names)
            printed, count = output.getvalue(), count + 1
        elif printed != text:
            print(f"expected:\n{text}printed:\n{printed}")
            wrong += 1
    print(f"{count} programs, {wrong} of them wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main())
