#!/usr/bin/env python3
"""Compares the header with the baseline, tests/abi/baseline.txt: the interface that programs were built against.

The baseline has one declaration per line. They may not change. New declarations are added by --update. docs/abi.md has the rules.

usage: baseline.py              prints changed and missing declarations; exits 1 if there is one
       baseline.py --update     adds new declarations
       baseline.py --update --break    accepts changed declarations too
       baseline.py --shorter    prints the baseline as an older version: its structs have half of their members
       baseline.py --stubs H    prints a definition of each function of a header, for abidiff
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "bindings"))
sys.dont_write_bytecode = True
import header  # noqa: E402

BASELINE = HERE / "baseline.txt"
OPENING = """/* Written by tests/abi/baseline.py --update: what programs were built against. */
#ifndef GPUMEM_H
#define GPUMEM_H
#include <stdint.h>
#define GPUMEM_API
"""


def read(path):
    """The model of a header, without the version, which every release changes."""
    model = header.read(path)
    model["constants"] = [one for one in model["constants"] if not one["name"].startswith("GPUMEM_VERSION_")]
    return model


def parameters(one):
    return ", ".join(f"{each['type']} {each['name']}" for each in one["parameters"]) or "void"


def enum_lines(model, of):
    constants = [one for one in model["constants"] if one["type"] == of]
    if constants:
        yield "enum {"
        yield from (f"  {one['name']} = {one['value']}," for one in constants)
        yield "};"


def lines(model):
    for name, target in model["types"].items():
        yield f"typedef {target} {name};"
        yield from enum_lines(model, name)
    yield from enum_lines(model, None)
    yield from (f"typedef struct {name} {name};" for name in model["handles"])
    for one in model["callbacks"]:
        yield f"typedef {one['returns']} (*{one['name']})({parameters(one)});"
    for struct in model["structs"]:
        yield f"typedef struct {struct['name']} {{"
        for member in struct["members"]:
            yield f"  {member['type']} {member['name']}" + (f"[{member['count']}];" if member["count"] else ";")
        yield f"}} {struct['name']};"
    for one in model["functions"]:
        yield f"GPUMEM_API {one['returns']} {one['name']}({parameters(one)});"


def text(model):
    return OPENING + "\n".join(lines(model)) + "\n#endif\n"


def signatures(model, kind):
    return {one["name"]: (one["returns"], [each["type"] for each in one["parameters"]]) for one in model[kind]}


def struct_changes(old, new):
    """Changes of a struct except appended members, because programs were compiled with its offsets."""
    before, after = old["members"], new["members"]
    for was, now in zip(before, after):
        if was != now:
            yield f"{old['name']}: {was['name']} was {was}, and in its place is {now}"
    if len(after) < len(before):
        yield f"{old['name']} lost {', '.join(each['name'] for each in before[len(after) :])}"
    for member in after[len(before) :]:
        if member["offset"] < old["size"]:
            yield f"{old['name']}: {member['name']} lies in what was padding, which an older program never set"


def changes(old, new):
    """Declarations of the old model that are missing or different in the new one."""
    for what, was, now in (
        ("constant", *({one["name"]: (one["value"], one["type"]) for one in each["constants"]} for each in (old, new))),
        ("type", old["types"], new["types"]),
        ("handle", dict.fromkeys(old["handles"]), dict.fromkeys(new["handles"])),
        *((kind[:-1], signatures(old, kind), signatures(new, kind)) for kind in ("callbacks", "functions")),
    ):
        for name, meaning in was.items():
            if name not in now:
                yield f"{what} {name} is gone"
            elif now[name] != meaning:
                yield f"{what} {name} was {meaning} and is {now[name]}"
    structs = {one["name"]: one for one in new["structs"]}
    for struct in old["structs"]:
        if struct["name"] not in structs:
            yield f"struct {struct['name']} is gone"
        else:
            yield from struct_changes(struct, structs[struct["name"]])


def shorter(model):
    """A model whose structs end after half of their members, or after the next member that no padding follows."""
    for struct in model["structs"]:
        members = struct["members"]
        keep = len(members) // 2
        while (members[keep - 1]["offset"] + members[keep - 1]["size"]) % struct["alignment"]:
            keep += 1
        del members[keep:]
    return model


def stubs(path):
    yield f'#include "{pathlib.Path(path).resolve()}"'
    for one in header.read(path)["functions"]:
        yield f"{one['returns']} {one['name']}({parameters(one)}) {{ {'' if one['returns'] == 'void' else 'return 0; '}}}"


def main(options):
    if options == ["--shorter"]:
        print(text(shorter(read(BASELINE))), end="")
    elif options[:1] == ["--stubs"] and len(options) == 2:
        print("\n".join(stubs(options[1])))
    elif options in ([], ["--update"], ["--update", "--break"]):
        new = read(header.HEADER)
        broken = list(changes(read(BASELINE), new)) if BASELINE.exists() else []
        print("".join(f"{each}\n" for each in broken), end="")
        if "--update" in options and (not broken or "--break" in options):
            BASELINE.write_text(text(new), encoding="utf-8")
        elif broken:
            return 1
        elif BASELINE.read_text(encoding="utf-8") != text(new):
            print("the header has more than tests/abi/baseline.txt: tests/abi/baseline.py --update adds it")
            return 1
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
