#!/usr/bin/env python3
"""Checks that optional arguments of the Fortran binding have one order in all procedures, so calls can omit their names.

The arguments of some procedures come first, then stat and errmsg, then status or order_free.

usage: optional_arguments.py BINDINGS_FORTRAN
"""

import pathlib
import re
import sys

ORDER = """device options dtype lower low high member scale offset nan_value numerators denominators strides step numbers order sorted descending exclusive periodic dst streams variant file format most_records
    budget_s progress fn user taken skipped fill comm deadline_s workspace_bytes alignment stream stat errmsg status order_free""".split()


def procedures(text):
    """The name of each procedure, its arguments, and its optional arguments."""
    text = re.sub(r"&\s*\n\s*", "", re.sub(r"!.*", "", text))
    for name, arguments, body in re.findall(r"(?:function|subroutine) (\w+)\((.*?)\)(.*?)\n\s*end (?:function|subroutine)", text, re.S):
        declared = re.findall(r"^[^:\n]*\boptional\b[^:\n]*:: (.*)", body, re.M)
        optional = re.findall(r"\w+", re.sub(r"\(.*?\)", "", " ".join(declared)))
        yield name, re.findall(r"\w+", arguments), optional


def mistakes(names, optional):
    if [name for name in names if name in optional] != names[len(names) - len(optional) :]:
        yield "an optional argument stands before one that is not"
    unknown = [name for name in optional if name not in ORDER]
    if unknown:
        yield f"{unknown} are not in the order of {pathlib.Path(__file__).name}"
    elif sorted(optional, key=ORDER.index) != [name for name in names if name in optional]:
        yield f"expected {sorted(optional, key=ORDER.index)}"
    if len(optional) > 1 and ("stat" in optional) != ("errmsg" in optional):
        yield "stat without errmsg, or errmsg without stat"


def main():
    found = wrong = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("gpumem*.f90")):
        if path.stem == "gpumem_c":  # as C has them
            continue
        for name, names, optional in procedures(path.read_text(encoding="utf-8")):
            found += bool(optional)
            for mistake in mistakes(names, optional):
                print(f"{path.name}: {name}({', '.join(names)}): {mistake}")
                wrong += 1
    print(f"{found} procedures with optional arguments, {wrong} of them in another order")
    return 1 if wrong or found < 100 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())
