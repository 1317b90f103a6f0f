#!/usr/bin/env python3
"""Reads the declarations of include/gpumem.h into a model, for the bindings' generators and checks.

usage: header.py [HEADER]    prints the model as JSON

    types       {name: type}              the integer types: gpumem_status is an int32_t
    constants   [{name, value, type}]     in the header's order; type is their integer type, or null
    handles     [name]                    opaque structs
    callbacks   [{name, returns, parameters}]
    structs     [{name, size, alignment, members: [{name, type, count, offset, size}]}]
    functions   [{name, returns, parameters: [{name, type}]}]

A type is written as in C, with one space between words and none before a star: "const int64_t*". count is null, except for
a member that is an array. Offsets are valid for all platforms with 64-bit addresses.
"""

import json
import pathlib
import re
import sys

HEADER = pathlib.Path(__file__).resolve().parent.parent / "include" / "gpumem.h"

SIZES = {"char": 1, "int8_t": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "float": 4,
         "int64_t": 8, "uint64_t": 8, "double": 8}  # fmt: skip
POINTER_BYTES = 8

FUNCTION_TYPE = re.compile(r"typedef (.+?)\(\*(\w+)\)\((.*)\)")
FUNCTION = re.compile(r"GPUMEM_API (.+?)(\w+)\((.*)\)")
MEMBER = re.compile(r"(.+?)(\w+)(?:\[(\d+)\])?")


class HeaderError(Exception):
    """The header contains something that this reader does not know."""


def statements(text):
    """The declarations in order, one per line, without comments and directives."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r'\bextern\s+"C"\s*\{(.*)\}', r"\1", text, flags=re.S)
    text = " ".join(text.split())
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1
    if text[begin:].strip():
        raise HeaderError(f"this does not end: {text[begin:].strip()[:80]}")


def type_of(words):
    return re.sub(r"\s*\*\s*", "*", " ".join(words.split()))


def parameters(text):
    if text.strip() in ("", "void"):
        return []
    found = []
    for one in text.split(","):
        match = re.fullmatch(r"(.+?)(\w+)", one.strip())
        if not match:
            raise HeaderError(f"this parameter can't be read: {one.strip()}")
        found.append({"name": match[2], "type": type_of(match[1])})
    return found


def signature(match, name, returns):
    return {"name": match[name], "returns": type_of(match[returns]), "parameters": parameters(match[3])}


class Reader:
    def __init__(self):
        self.model = {"types": {}, "constants": [], "handles": [], "callbacks": [], "structs": [], "functions": []}
        self.last_type = None  # the type of the values in the next anonymous enum

    def size_of(self, name):
        if name.endswith("*") or name in {callback["name"] for callback in self.model["callbacks"]}:
            return POINTER_BYTES
        name = self.model["types"].get(name, name)
        if name not in SIZES:
            raise HeaderError(f"the size of {name} is not known")
        return SIZES[name]

    def enum(self, body):
        for one in filter(None, (part.strip() for part in body.split(","))):
            match = re.fullmatch(r"(\w+)\s*=\s*(-?\d+)", one)
            if not match:
                raise HeaderError(f"this constant can't be read: {one}")
            self.model["constants"].append({"name": match[1], "value": int(match[2]), "type": self.last_type})
        self.last_type = None

    def struct(self, name, body):
        members, end, widest = [], 0, 1
        for one in filter(None, (part.strip() for part in body.split(";"))):
            match = MEMBER.fullmatch(one)
            if not match:
                raise HeaderError(f"this member of {name} can't be read: {one}")
            size, count = self.size_of(type_of(match[1])), int(match[3]) if match[3] else None
            offset = -(-end // size) * size
            members.append({"name": match[2], "type": type_of(match[1]), "count": count,
                            "offset": offset, "size": size * (count or 1)})  # fmt: skip
            end, widest = offset + size * (count or 1), max(widest, size)
        self.model["structs"].append(
            {"name": name, "size": -(-end // widest) * widest, "alignment": widest, "members": members}
        )

    def typedef(self, name, target):
        self.model["types"][name] = target
        self.last_type = name

    def read(self, statement):
        if match := FUNCTION.fullmatch(statement):
            self.model["functions"].append(signature(match, 2, 1))
        elif match := FUNCTION_TYPE.fullmatch(statement):
            self.model["callbacks"].append(signature(match, 2, 1))
        elif match := re.fullmatch(r"enum \{(.*)\}", statement):
            self.enum(match[1])
        elif match := re.fullmatch(r"typedef struct (\w+) \{(.*)\} \1", statement):
            self.struct(match[1], match[2])
        elif match := re.fullmatch(r"typedef struct (\w+) \1", statement):
            self.model["handles"].append(match[1])
        elif match := re.fullmatch(r"typedef (\w+) (\w+)", statement):
            self.typedef(match[2], match[1])
        else:
            raise HeaderError(f"this declaration can't be read: {statement[:120]}")


def read(header=HEADER):
    reader = Reader()
    for statement in statements(pathlib.Path(header).read_text(encoding="utf-8")):
        reader.read(statement)
    return reader.model


if __name__ == "__main__":
    json.dump(read(*sys.argv[1:2]), sys.stdout, indent=1)
    print()
