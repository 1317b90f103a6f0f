#!/usr/bin/env python3
"""Checks that the compiler sees which cases of a switch are missing.

usage: check_switches.py SOURCE_ROOT

A switch over an enumeration of the project has no default, so -Wswitch names it when the enumeration grows. Otherwise a new operation
or type could run the code of another one. The numbers of gpumem.h are int32_t, so a switch over them casts to the enumeration
that declares them: switch (static_cast<decltype(GPUMEM_SUM)>(op)). A default is permitted only if every label is a number, a
character or a CUDA name. Prints file:line of each violation and exits 1 if there is one.
"""

import re
import sys

import cxx_text

FOLDERS = ("src", "kernels", "bindings", "tools", "bench", "tests")
SWITCH = re.compile(r"\bswitch\s*\(")
LABEL = re.compile(r"\bcase\s+(.+?)\s*(?<!:):(?!:)|\b(default)\s*:", re.DOTALL)
FOREIGN = re.compile(r"[-\d'].*|cuda\w+|CUDA_\w+|CU_\w+|nccl\w+")
CAST = re.compile(r"static_cast<decltype\(GPUMEM_\w+\)>\(")


def closed(text, at):
    """The place after the bracket that closes the one at `at`."""
    pair = {"(": ")", "{": "}"}
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == text[at]) - (text[end] == pair[text[at]])
        if depth == 0:
            return end + 1
    return len(text)


def violations(root):
    for place, text in cxx_text.sources(root, FOLDERS):
        # Inner switches come first and are removed from the text, so each label belongs to its own switch.
        for found in reversed(list(SWITCH.finditer(text))):
            head = closed(text, found.end() - 1)
            opening = text.index("{", head)
            end = closed(text, opening)
            labels = [label or default for label, default in LABEL.findall(text[opening:end])]
            where = f"{place}:{text.count(chr(10), 0, found.start()) + 1}"
            cases = [label for label in labels if label != "default"]
            if "default" in labels and (not cases or not all(FOREIGN.fullmatch(label) for label in cases)):
                yield f"{where}: has a default: list the cases, so that the compiler names the switch when there is one more"
            if any(label.startswith("GPUMEM_") for label in cases) and not CAST.match(text[found.end() : head]):
                yield f"{where}: is over an int32_t: cast to the enumeration, so that the compiler sees which cases are missing"
            text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]) + text[end:]


if __name__ == "__main__":
    sys.exit(cxx_text.check(violations, __doc__))
