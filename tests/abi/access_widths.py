#!/usr/bin/env python3
"""The machine code of the copy kernels scalar, vec2 and vec4 loads and stores words of 32, 64 and 128 bits.

usage: access_widths.py CUOBJDUMP LIBRARY
Exits 77 with the reason on standard output if nothing can be checked.
"""

import re
import shutil
import subprocess
import sys

# The word of each kernel as its mangled name has it, and the width of its accesses in an instruction's name ("" for 32 bits).
KERNELS = {"scalar": ("words_kernelIj", ""), "vec2": ("words_kernelI5uint2", "64"), "vec4": ("words_kernelI5uint4", "128")}
WIDTHS = {"", "64", "128"}


def accesses(listing):
    """For each architecture and kernel, how many global loads and stores of each width it has."""
    found = {}
    architecture = kernel = None
    for line in listing:
        if match := re.match(r"\s*(?:arch = |code for )(sm_\w+)", line):
            architecture, kernel = match.group(1), None
        elif match := re.match(r"\s*Function : (\S+)", line):
            kernel = next((name for name, (word, _) in KERNELS.items() if word in match.group(1)), None)
            if kernel is not None:
                found[architecture, kernel] = {}
        elif kernel is not None and (match := re.search(r"\b(LDG|STG)((?:\.\w+)*)", line)):
            modifiers = match.group(2).split(".")
            if {"U8", "S8", "U16", "S16"} & set(modifiers):
                continue  # of the bytes after the last word
            width = next((w for w in modifiers if w in {"64", "128"}), "")
            counts = found[architecture, kernel]
            counts[match.group(1), width] = counts.get((match.group(1), width), 0) + 1
    return found


def main():
    cuobjdump, library = sys.argv[1:]
    if shutil.which(cuobjdump) is None:
        print("there is no cuobjdump")
        return 77
    dump = subprocess.Popen([cuobjdump, "-sass", library], stdout=subprocess.PIPE, text=True)
    found = accesses(dump.stdout)
    if dump.wait() != 0:
        sys.exit(f"{cuobjdump} -sass {library} failed with {dump.returncode}")
    mistakes = [f"{kernel} is not in {library}" for kernel in KERNELS if kernel not in {k for _, k in found}]
    for (architecture, kernel), counts in sorted(found.items()):
        width = KERNELS[kernel][1]
        for instruction in ("LDG", "STG"):
            shown = {w or "32": counts.get((instruction, w), 0) for w in sorted(WIDTHS)}
            print(f"{architecture} {kernel:7} {instruction} {shown}")
            if counts.get((instruction, width), 0) == 0:
                mistakes.append(f"{architecture}: {kernel} has no {instruction} of {width or 32} bits")
            if any(counts.get((instruction, other), 0) for other in WIDTHS - {width}):
                mistakes.append(f"{architecture}: {kernel} has {instruction}s of other widths than {width or 32} bits")
    if mistakes:
        sys.exit("\n".join(mistakes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
