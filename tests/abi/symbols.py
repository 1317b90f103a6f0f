#!/usr/bin/env python3
"""The header, the version script and the library must list the same functions, and so must the table of the compile check.

usage: symbols.py HEADER VERSION_SCRIPT LIBRARY EVERY_FUNCTION_C
"""

import pathlib
import re
import subprocess
import sys


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def in_header(path):
    text = without_comments(pathlib.Path(path).read_text(encoding="utf-8"))
    return re.findall(r"\bGPUMEM_API\b[^;(]*?\b(gpumem_\w+)\s*\(", text)


def in_version_script(path):
    text = without_comments(pathlib.Path(path).read_text(encoding="utf-8"))
    exported = re.search(r"\bglobal:(.*?)\blocal:\s*\*;", text, flags=re.DOTALL)
    if exported is None:
        sys.exit(f"{path}: no list of globals that ends with local: *")
    names = [name.strip() for name in exported.group(1).split(";") if name.strip()]
    wild = [name for name in names if not re.fullmatch(r"\w+", name)]
    if wild:
        sys.exit(f"{path}: {', '.join(wild)} is not the name of one symbol")
    return names


def in_library(path):
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[1:] for line in listed.splitlines()]
    names = []
    for kind, name in symbols:
        name = name.split("@")[0]
        if kind == "A":  # the version's own name
            continue
        if kind != "T":
            sys.exit(f"{path}: exports {name}, which is no function (nm says {kind})")
        names.append(name)
    return names


def in_table(path):
    text = without_comments(pathlib.Path(path).read_text(encoding="utf-8"))
    table = re.search(r"gpumem_every_function = \{(.*?)\}", text, flags=re.DOTALL)
    return re.findall(r"\w+", table.group(1))


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    lists = {path: read(path) for path, read in zip(sys.argv[1:], (in_header, in_version_script, in_library, in_table))}
    everywhere = set().union(*lists.values())
    wrong = 0
    for path, names in lists.items():
        for name in sorted({name for name in names if names.count(name) > 1}):
            print(f"{path}: lists {name} twice")
            wrong += 1
        for name in sorted(everywhere.difference(names)):
            print(f"{path}: does not list {name}")
            wrong += 1
    print(f"{len(everywhere)} functions, {wrong} differences")
    return 1 if wrong or not everywhere else 0


if __name__ == "__main__":
    sys.exit(main())
