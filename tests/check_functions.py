#!/usr/bin/env python3
"""Checks that a function fits a screen.

usage: check_functions.py SOURCE_ROOT

A function of src or kernels has at most 60 lines, from its opening brace to its closing brace. Prints file:line of each longer
function and exits 1 if there is one.
"""

import re
import sys

import cxx_text
from check_switches import closed

FOLDERS = ("src", "kernels")
MOST_LINES = 60
# The text before the brace of a function: a parameter list with specifiers, or the last initializer of a constructor.
HEAD = re.compile(r"(\)|\})\s*((const|noexcept|override|final|mutable|&&?)\s*|->\s*[\w:<>,*& ]+|requires\b[^;{}]*)*$")


def functions(text):
    """The places of the braces of each function that is not inside another one."""
    at = text.find("{")
    while at >= 0:
        head = text[max(text.rfind(";", 0, at), 0) : at]
        if HEAD.search(head[-300:]):
            end = closed(text, at)
            yield at, end
            at = text.find("{", end)
        else:
            at = text.find("{", at + 1)


def violations(root):
    for place, text in cxx_text.sources(root, FOLDERS):
        for begin, end in functions(text):
            lines = text.count("\n", begin, end) + 1
            if lines > MOST_LINES:
                yield f"{place}:{text.count(chr(10), 0, begin) + 1}: has {lines} lines: split it, at most {MOST_LINES} fit a screen"


if __name__ == "__main__":
    sys.exit(cxx_text.check(violations, __doc__))
