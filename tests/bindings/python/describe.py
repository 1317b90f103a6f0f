#!/usr/bin/env python3
"""Prints the parts of the Python binding with the header's names, for bindings/check.

They are functions of gpumem.raw, functions that the package calls, constants with their values, and layouts of structs.

usage: describe.py FOLDER_OF_THE_PACKAGE
"""

import enum
import json
import pathlib
import re
import struct
import sys

PREFIXES = {"Status": "", "Backend": "BACKEND_", "Dtype": "", "Op": "", "Axis": "AXIS_", "Kind": "MEMORY_",
            "Advice": "ADVISE_", "Family": "FAMILY_", "Filter": "FILTER_", "MapOp": "MAP_", "CompareOp": "", "Format": "FORMAT_", "LogLevel": "LOG_"}

OF_EXTENSION = {"gpumem_alloc_async", "gpumem_alloc_device", "gpumem_alloc_managed", "gpumem_alloc_pinned", "gpumem_last_error", "gpumem_reduce"}


def called(folder, source):
    """Functions that the package calls: raw.NAME, and "NAME" with its _async form, for _run(). A name that ends in _ or
    {of_type} is completed by f32 or f64, and {form} is empty or _view. The extension itself calls OF_EXTENSION."""
    source = source.replace("{of_type}", "")
    names = set(re.findall(r"raw\.(gpumem_\w+)", source))
    composed = [stem + form + end for stem, end in re.findall(r'f"(gpumem_\w+)\{form\}(\w*)"', source) for form in ("", "_view")]
    for name in composed + re.findall(r'"(gpumem_\w+)"', source):
        stems = [name + dtype for dtype in ("f32", "f64")] if name.endswith("_") else [name]
        names.update(form for stem in stems for form in (stem, stem + "_async"))
    return names | OF_EXTENSION


def members(layout, names):
    letters = re.findall(r"\d*[a-zA-Z]", layout)
    for place, (letter, name) in enumerate(zip(letters, names, strict=True)):
        size = struct.calcsize("@" + letter)
        offset = struct.calcsize("@" + "".join(letters[: place + 1])) - size
        yield {"name": name, "offset": offset, "size": size}


def main():
    sys.path.insert(0, sys.argv[1])
    import gpumem.names
    from gpumem import raw

    folder = pathlib.Path(gpumem.__file__).parent
    source = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py") if file.name != "names.py")
    functions = [{"name": name} for name in sorted(called(folder, source)) if hasattr(raw, name)]
    constants = [{"name": "GPUMEM_" + name, "value": value} for name, value in vars(gpumem.names).items()
                 if name.isupper() and isinstance(value, int)]  # fmt: skip
    for name, prefix in PREFIXES.items():
        members_of = getattr(gpumem, name)
        assert issubclass(members_of, enum.IntEnum)
        constants += [{"name": f"GPUMEM_{prefix}{member.name}", "value": int(member)} for member in members_of]
    structs = [{"name": name, "size": struct.calcsize(layout), "members": list(members(layout, names))}
               for name, (layout, names) in gpumem.names.STRUCTS.items()]  # fmt: skip
    json.dump({"functions": functions, "constants": constants, "structs": structs}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
