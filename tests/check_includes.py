#!/usr/bin/env python3
"""Checks the direction of includes between folders.

usage: check_includes.py SOURCE_ROOT

The folders of src have one order (LAYERS). Each includes only itself and the folders below it. Kernels include no folder of src.
Prints file:line of each violation and exits 1 if there is one.
"""

import pathlib
import re
import sys

SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r"//.*|/\*.*?\*/|^\s*\*.*")

CUDA = r"cuda|cuda_\w*\.h|cuda.*\.h(pp)?|driver_types\.h|vector_types\.h|cub/.*|thrust/.*|cooperative_groups.*|nccl.*|nv/.*"
ANY_BACKEND = r"src/backend/.*"
SEAM = r"src/backend/((backend|link|implementation)|host/implementations)\.hpp"  # functions that the host's implementations execute
CONSTANTS = r"kernels/(\w+/)?\w+\.hpp"  # plain numbers and parameters that kernels and host agree on
LAYERS = ("api", "dist", "ops", "select", "context", "memory", "backend", "base")  # of src, from the top
ENGINE = tuple(f"src/{layer}" for layer in LAYERS if layer not in ("api", "backend"))

# folder or file, includes that it may not have, exceptions from them, why
INCLUDE_RULES = [
    ("include", r".*", r"stdint\.h", "the public header includes <stdint.h> alone"),
    ("src/api", ANY_BACKEND, None, "api reaches a backend through the operations"),
    ("src/api", r"kernels/.*", None, "api sees no kernel"),
    ("src/api", CUDA, None, "api sees no CUDA"),
    ("src/select", r"src/(context|memory)/.*", None, "choosing is a pure function: it sees no context and no memory"),
    ("src/backend/backend.hpp", CUDA, None, "the seam sees no CUDA"),
    ("src/backend/link.hpp", CUDA, None, "the seam sees no CUDA"),
    ("src/backend/host", r"src/backend/cuda/.*", None, "the backends do not see each other"),
    ("src/backend/host", CUDA, None, "the host backend sees no CUDA"),
    ("src/backend/cuda", r"src/backend/host/.*", None, "the backends do not see each other"),
    ("kernels", r"src/.*", None, "a kernel sees nothing of the library"),
    ("bench", r"(src|kernels)/.*", None, "a benchmark uses the public header and the problems of tools alone"),
    ("tools", r"(src|kernels)/.*", None, "the tool uses the public header alone"),
    ("bindings", r"(src|kernels)/.*", None, "a binding uses the public header alone"),
    ("examples", r"(src|kernels)/.*", None, "an example uses the public header alone"),
]
for height, layer in enumerate(LAYERS[1:], 1):
    above = "|".join(LAYERS[:height])
    INCLUDE_RULES.append((f"src/{layer}", rf"src/({above})/.*", None, "a folder of src includes only those below it: " + " -> ".join(LAYERS)))
for folder in ENGINE:
    INCLUDE_RULES += [
        (folder, ANY_BACKEND, SEAM, "of the backends only the seam is seen"),
        (folder, r"kernels/.*", CONSTANTS, "only a backend sees a kernel"),
        (folder, CUDA, None, "only a backend sees CUDA"),
    ]

# folder, words that it may not contain outside comments, why
WORD_RULES = [
    (folder, re.compile(r"\b(dlopen|dlsym)\b"), "only a backend loads libraries") for folder in ("src/api", *ENGINE)
]


def resolve(root, source, quote, name):
    """The path from the root if the included name is in the tree, else the unchanged name."""
    places = ([source.parent] if quote == '"' else []) + [root / "src", root / "include", root]
    for place in places:
        path = (place / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return name


def violations(root):
    root = root.resolve()
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in LAYERS:
            yield f"src/{folder.name}:1: has no place in the order of the folders: " + " -> ".join(LAYERS)
    folders = {rule[0].split("/")[0] for rule in INCLUDE_RULES}  # not the build folder, because other tests create and remove files there
    for source in sorted(source for folder in folders for source in (root / folder).rglob("*")):
        place = source.relative_to(root).as_posix()
        if source.suffix not in SUFFIXES or not source.is_file():
            continue
        include_rules = [rule for rule in INCLUDE_RULES if (place + "/").startswith(rule[0] + "/")]
        word_rules = [rule for rule in WORD_RULES if place.startswith(rule[0] + "/")]
        if not include_rules and not word_rules:
            continue
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            if include:
                name = resolve(root, source, *include.groups())
                for _, forbidden, excepted, why in include_rules:
                    if re.fullmatch(forbidden, name) and not (excepted and re.fullmatch(excepted, name)):
                        yield f"{place}:{number}: includes {name}: {why}"
                continue
            for _, word, why in word_rules:
                found = word.search(COMMENT.sub("", line))
                if found:
                    yield f"{place}:{number}: uses {found.group()}: {why}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(violations(pathlib.Path(sys.argv[1])))
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
