#!/usr/bin/env python3
"""Compares the model of bindings/header.py with a C compiler's view of the header, and tests bindings/check with faults.

usage: header_test.py    exits 77 if a C compiler is missing
"""

import copy
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINDINGS = pathlib.Path(__file__).resolve().parent.parent.parent / "bindings"
sys.path.insert(0, str(BINDINGS))
sys.dont_write_bytecode = True
import header  # noqa: E402

HEADER = header.HEADER
COMPILER = os.environ.get("CC", "cc")


def load_check():
    loader = importlib.machinery.SourceFileLoader("check", str(BINDINGS / "check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
    loader.exec_module(module)
    return module


check = load_check()


def assertions(model):
    """A C source that compiles only if the compiler sees the header as the model has it."""
    yield f'#include <stddef.h>\n#include "{HEADER}"'
    yield "#define SAME(a, b) _Static_assert((a) == (b), #a)"
    yield from (f"SAME({one['name']}, {one['value']});" for one in model["constants"])
    yield from (f"SAME(({name})-1 < 0, ({target})-1 < 0);" for name, target in model["types"].items())
    for struct in model["structs"]:
        name = struct["name"]
        yield f"SAME(sizeof({name}), {struct['size']}); SAME(_Alignof({name}), {struct['alignment']});"
        for member in struct["members"]:
            pointer = f"(({name} *)0)->{member['name']}"
            yield f"SAME(offsetof({name}, {member['name']}), {member['offset']});"
            yield f"SAME(sizeof {pointer}, {member['size']});"
            element = "" if member["count"] is None else "[0]"
            yield f"_Static_assert(_Generic({pointer}{element}, {member['type']}: 1, default: 0), \"{member['name']}\");"
    for function in model["functions"] + model["callbacks"]:
        types = ", ".join(one["type"] for one in function["parameters"]) or "void"
        target = f"&{function['name']}" if function in model["functions"] else f"({function['name']})0"
        yield f"_Static_assert(_Generic({target}, {function['returns']} (*)({types}): 1, default: 0), \"{function['name']}\");"


class Header(unittest.TestCase):
    def compile(self, source):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.c"
            path.write_text(source, encoding="utf-8")
            return subprocess.run([COMPILER, "-std=c11", "-fsyntax-only", path], capture_output=True, text=True)

    def test_the_compiler_sees_what_the_model_says(self):
        run = self.compile("\n".join(assertions(header.read(HEADER))) + "\n")
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_wrong_model_does_not_compile(self):
        def spoil(change):
            model = header.read(HEADER)
            change(model)
            return self.compile("\n".join(assertions(model)) + "\n").returncode

        self.assertNotEqual(0, spoil(lambda model: model["constants"][5].update(value=77)))
        self.assertNotEqual(0, spoil(lambda model: model["structs"][1]["members"][3].update(offset=4)))
        self.assertNotEqual(0, spoil(lambda model: model["structs"][1]["members"][-1].update(type="int8_t")))
        self.assertNotEqual(0, spoil(lambda model: model["functions"][9]["parameters"][0].update(type="int64_t")))

    def test_nothing_is_passed_over(self):
        lines = HEADER.read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(header.read(HEADER)["functions"]), sum(line.startswith("GPUMEM_API") for line in lines))

    def test_what_the_reader_does_not_know_is_an_error(self):
        for text in ("int gpumem_x(int a);", "enum { GPUMEM_A };", "typedef struct a { wchar_t c; } a;", "typedef int64_t b"):
            with self.assertRaises(header.HeaderError, msg=text), tempfile.NamedTemporaryFile("w", suffix=".h") as file:
                file.write(text)
                file.flush()
                header.read(file.name)


class Check(unittest.TestCase):
    def found(self, change, without=()):
        description = copy.deepcopy(header.read(HEADER))
        change(description)
        return list(check.differences(header.read(HEADER), description, without))

    def test_the_header_is_like_itself(self):
        self.assertEqual([], self.found(lambda description: None))

    def test_each_fault_is_found(self):
        faults = {
            "functions: gpumem_ctx_create is missing": lambda d: d["functions"].pop(
                [one["name"] for one in d["functions"]].index("gpumem_ctx_create")),
            "functions: gpumem_x is not in the header": lambda d: d["functions"].append({"name": "gpumem_x"}),
            "constants GPUMEM_INVALID_ARGUMENT: value is 3, in the header 1": lambda d: d["constants"][4].update(value=3),
            "struct gpumem_ctx_options: 14 members, in the header 15": lambda d: d["structs"][0]["members"].pop(),
            "structs gpumem_ctx_options: size is 64, in the header 80": lambda d: d["structs"][0].update(size=64),
        }  # fmt: skip
        for sentence, change in faults.items():
            self.assertEqual([sentence], self.found(change))
        self.assertEqual(1, len(self.found(lambda d: d["structs"][2]["members"][1].update(offset=12))))
        self.assertEqual(1, len(self.found(lambda d: d["functions"][3]["parameters"][0].update(name="other"))))

    def test_what_is_left_out_is_neither_there_nor_unknown(self):
        self.assertEqual([], self.found(lambda d: d["functions"].pop(0), {"gpumem_version": "why"}))
        self.assertEqual(1, len(self.found(lambda d: None, {"gpumem_version": "why"})))
        self.assertEqual(1, len(self.found(lambda d: None, {"gpumem_gone": "why"})))

    def test_the_structs_of_the_header_itself_are_not_described(self):
        self.assertEqual([], self.found(lambda d: d.pop("structs")))

    def test_reasons_are_read(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("# why\n\ngpumem_a gpumem_b: a reason\nGPUMEM_C: another\n")
            file.flush()
            expected = {"gpumem_a": "a reason", "gpumem_b": "a reason", "GPUMEM_C": "another"}
            self.assertEqual(expected, check.left_out(file.name))
            file.write("gpumem_d without a reason\n")
            file.flush()
            self.assertRaises(SystemExit, check.left_out, file.name)


if __name__ == "__main__":
    if not shutil.which(COMPILER):
        print(f"there is no C compiler called {COMPILER}")
        sys.exit(77)
    unittest.main()
