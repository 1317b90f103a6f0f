#!/usr/bin/env python3
"""Checks that the tables of docs/guide.md name the variants of the library: each one, and no other.

usage: variants.py LIBRARY    prints each missing or outdated name, and exits 1 if there is one
"""

import ctypes
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GUIDE = ROOT / "docs/guide.md"
FAMILY = re.compile(r"^  GPUMEM_FAMILY_(\w+) = (\d+)", re.M)
NAME = re.compile(r"`(\w+?)(\*?)`")
# Described in sections of their own.
LADDER = {"neighbored", "neighbored_packed", "interleaved", "unroll2", "unroll8_warp", "unroll8_complete", "strided", "coalesced"}
OF_ALL = {"host_parallel", "host_serial"}  # the last row of the last table


def variants(library, family):
    count, name = ctypes.c_int32(), ctypes.c_char_p()
    library.gpumem_variant_count(family, ctypes.byref(count))
    for index in range(count.value):
        library.gpumem_variant_name(family, index, ctypes.byref(name))
        yield name.value.decode()


def documented(text):
    """The names in the tables, by operation."""
    section = text.split("### The variants of each operation")[1].split("\n## ")[0]
    names, operations, of_table = {}, [], []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            operations = []
        elif not operations:
            of_table = [name for name, _ in NAME.findall(cells[0])]
            operations = of_table or ["?"]
        elif not cells[0].startswith("---"):
            if not of_table and cells[0]:
                operations = [name for name, _ in NAME.findall(cells[0]) if not name.startswith("gpumem_")]
            for operation in operations:
                names.setdefault(operation, set()).update(name for name, star in NAME.findall(cells[0 if of_table else 1]) if not star)
    return names


def main():
    library = ctypes.CDLL(sys.argv[1])
    text = GUIDE.read_text(encoding="utf-8")
    tables, wrong = documented(text), 0
    in_place = {name for name, _ in NAME.findall(text) if name.startswith(("in_place_", "host_in_place_"))}
    known = {}
    for name, number in FAMILY.findall((ROOT / "include/gpumem.h").read_text(encoding="utf-8")):
        known[name.lower()] = set(variants(library, int(number)))
    for operation, real in known.items():
        named = tables.get(operation, set())
        partners = [other for other, names in tables.items() if names == named]  # of one table
        elsewhere = OF_ALL | (LADDER if operation == "reduce" else in_place if operation == "transpose" else set())
        for variant in sorted(real - named - elsewhere):
            print(f"{GUIDE}: {operation} has the variant {variant}, which is not in a table")
            wrong += 1
        for variant in sorted(named - set().union(*(known.get(other, set()) for other in partners))):
            print(f"{GUIDE}: {operation} has no variant {variant}")
            wrong += 1
    print(f"{len(known)} operations, {wrong} wrong names")
    return 1 if wrong or not known else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
