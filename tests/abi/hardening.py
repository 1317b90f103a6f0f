#!/usr/bin/env python3
"""Checks the hardening of the library and the command in their ELF files, and that they import no forbidden C function.

usage: hardening.py LIBRARY [--cuda] [--program=PROGRAM]
--cuda: the library contains the CUDA runtime, which is not compiled here.
"""

import argparse
import platform
import re
import subprocess

# Their results depend on the program's locale.
BY_LOCALE = {"toupper", "tolower", "isalpha", "isalnum", "isdigit", "isspace", "isupper", "islower", "isprint", "ispunct",
             "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold", "atoi", "atol", "atof", "strcoll",
             "strerror", "strerror_r", "__xpg_strerror_r", "setlocale", "localeconv", "strftime", "__isoc99_sscanf"}
# A command that calls none of these stays in the C locale, even if its libraries use locales.
SETS_LOCALE = {"setlocale", "newlocale", "uselocale", "_ZNSt6locale6globalERKS_", "_ZNSt6localeC1EPKc"}
UNSAFE_ENVIRONMENT = {"getenv"}
MOST_TLS = {False: 4096, True: 12288}
ENDBR64 = b"\xf3\x0f\x1e\xfa"


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


class Elf:
    def __init__(self, path):
        self.path = path
        self.dynamic = readelf("-d", path)
        self.shares_cxx = "libstdc++" in self.dynamic  # else libstdc++ is inside, with its dependencies
        self.segments = [line.split() for line in readelf("-l", path).splitlines() if re.match(r"\s+[A-Z_]+\s+0x", line)]
        symbols = [line.split() for line in readelf("--dyn-syms", path).splitlines() if re.match(r"\s*\d+:", line)]
        symbols = [fields for fields in symbols if len(fields) > 7]
        self.imports = {fields[7].split("@")[0] for fields in symbols if fields[6] == "UND"}
        self.exports = {fields[7]: int(fields[1], 16) for fields in symbols if fields[6] not in ("UND", "ABS")}

    def segment(self, name):
        return next((fields for fields in self.segments if fields[0] == name), None)

    def bytes_at(self, address, count):
        for kind, offset, start, _, size, *_ in self.segments:
            if kind == "LOAD" and int(start, 16) <= address < int(start, 16) + int(size, 16):
                with open(self.path, "rb") as file:
                    file.seek(int(offset, 16) + address - int(start, 16))
                    return file.read(count)
        return b""


def faults_of_both(elf):
    if elf.segment("GNU_RELRO") is None:
        yield "no part of its data becomes read-only (-z relro)"
    if not re.search(r"\(FLAGS_1\).*\bNOW\b|\(FLAGS\).*\bBIND_NOW\b", elf.dynamic):
        yield "its table of functions stays writable (-z now)"
    stack = elf.segment("GNU_STACK")
    if stack is None or "E" in stack[6]:
        yield "its stack can be executed"
    if any(fields[0] == "LOAD" and {"W", "E"} <= set("".join(fields[6:-1])) for fields in elf.segments):
        yield "some of it can be both written and executed"
    if "TEXTREL" in elf.dynamic:
        yield "its code is relocated at run time"
    if "__stack_chk_fail" not in elf.imports:
        yield "its stack frames are not protected (-fstack-protector-strong)"
    if not any(re.fullmatch(r"__\w+_chk", name) for name in elf.imports):
        yield "its calls of the C library are not fortified (-D_FORTIFY_SOURCE)"


def faults_of_library(elf, cuda):
    if re.search(r"\((RPATH|RUNPATH)\)", elf.dynamic):
        yield "it says where other libraries are"
    for name in elf.exports:
        if not re.fullmatch(r"gpumem_\w+@@GPUMEM_\d+(\.\d+)*", name):
            yield f"exports {name}, which is no gpumem_* of a version"
    if platform.machine() == "x86_64":
        for name, address in elf.exports.items():
            if elf.bytes_at(address, 4) != ENDBR64:
                yield f"{name} is no place for an indirect jump (-fcf-protection)"
    tls = elf.segment("TLS")
    if tls is not None and elf.shares_cxx and int(tls[5], 16) > MOST_TLS[cuda]:
        yield f"{int(tls[5], 16)} bytes of each thread are its own; expected at most {MOST_TLS[cuda]}"
    if not cuda:
        for name in sorted(elf.imports & (BY_LOCALE | UNSAFE_ENVIRONMENT)):
            yield f"calls {name}()"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--program")
    arguments = parser.parse_args()
    library = Elf(arguments.library)
    faults = [(library, fault) for fault in [*faults_of_both(library), *faults_of_library(library, arguments.cuda)]]
    if arguments.program:
        program = Elf(arguments.program)
        faults += [(program, fault) for fault in faults_of_both(program)]
        faults += [(program, f"calls {name}()") for name in sorted(program.imports & SETS_LOCALE) if program.shares_cxx]
        if "DYN" not in readelf("-h", arguments.program):
            faults.append((program, "it is not position independent"))
    for elf, fault in faults:
        print(f"{elf.path}: {fault}")
    print(f"{len(library.exports)} functions, {len(faults)} faults")
    return 1 if faults or not library.exports else 0


if __name__ == "__main__":
    raise SystemExit(main())
