#!/usr/bin/env python3
"""Compiles and runs each block of a page in C++ or Fortran, and compares its output with the next block of text.

usage: page.py PAGE cpp|fortran COMPILER ARGUMENT...    the arguments follow the source in the compiler's command

A block of C++ without a main() is the body of one, with a context `ctx`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

MAIN = """#include <gpumem.hpp>
#include <iostream>
#include <vector>
int main() {{
  gpumem::context ctx;
{}}}
"""
SUFFIX = {"cpp": ".cpp", "fortran": ".f90"}


def output_of(language, text, command):
    if language == "cpp" and "int main(" not in text:
        text = MAIN.format(text)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / ("block" + SUFFIX[language])
        source.write_text(text, encoding="utf-8")
        subprocess.run([command[0], source, *command[1:], "-o", "block"], cwd=folder, check=True)
        return subprocess.run([pathlib.Path(folder) / "block"], check=True, capture_output=True, text=True).stdout


def main():
    page, language, *command = sys.argv[1:]
    blocks = re.findall(rf"^```({language}|text)\n(.*?)^```$", pathlib.Path(page).read_text(encoding="utf-8"), re.M | re.S)
    printed, programs, wrong = None, 0, 0
    for kind, text in blocks:
        if kind == language:
            printed, programs = output_of(language, text, command), programs + 1
        elif [line.rstrip() for line in text.splitlines()] != [line.rstrip() for line in printed.splitlines()]:
            print(f"expected:\n{text}printed:\n{printed}")
            wrong += 1
    print(f"{programs} programs, {wrong} of them wrong")
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main())
