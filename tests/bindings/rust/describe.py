#!/usr/bin/env python3
"""Prints the parts of the Rust binding with the header's names, for bindings/check.

They are the functions that the crate gpumem calls and the constants of gpumem-sys. gpumem-sys tests its layouts of structs itself.

usage: describe.py BINDINGS_RUST
"""

import json
import pathlib
import re
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    source = "".join(file.read_text(encoding="utf-8") for file in folder.glob("gpumem/src/*.rs"))
    code = re.sub(r"//.*", "", source)
    bindings = (folder / "gpumem-sys/src/bindings.rs").read_text(encoding="utf-8")
    there = set(re.findall(r"pub (gpumem_\w+): unsafe extern", bindings))
    called = set(re.findall(r"\.(gpumem_\w+)|\b(gpumem_\w+)\(", code))
    functions = [{"name": name} for name in sorted({a or b for a, b in called} & there)]
    constants = [{"name": name, "value": int(value)} for name, value in re.findall(r"pub const (\w+): \w+ = (-?\d+);", bindings)]
    json.dump({"functions": functions, "constants": constants}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
