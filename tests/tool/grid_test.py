#!/usr/bin/env python3
"""Runs the `gpumem` command on .npy files of every supported kind, and on damaged ones.

usage: grid_test.py PATH_OF_GPUMEM

This program writes and reads the files only with struct, so the tool does not check itself.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
SEED = int(os.environ.get("GPUMEM_TEST_SEED", "20240611"))
CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i"}
LIMITS = {"i1": (-(2**7), 2**7 - 1), "u1": (0, 2**8 - 1), "i2": (-(2**15), 2**15 - 1), "u2": (0, 2**16 - 1),
          "i4": (-(2**31), 2**31 - 1)}


def npy(header, data, version=1):
    text = header.encode()
    prefix = 10 if version == 1 else 12
    text += b" " * (63 - (prefix + len(text)) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def header(descr, shape, fortran=False):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"


def parse_i4(data):
    """Rows of a version 1 '<i4' file in C order."""
    length = struct.unpack("<H", data[8:10])[0]
    fields = eval(data[10 : 10 + length])  # of a file that the tool has just written
    assert fields["descr"] == "<i4" and not fields["fortran_order"] and (10 + length) % 64 == 0
    rows, cols = fields["shape"]
    values = struct.unpack(f"<{rows * cols}i", data[10 + length :])
    return [list(values[i * cols : (i + 1) * cols]) for i in range(rows)]


class Grid(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.random = random.Random(SEED)

    def run_tool(self, *args, expect=0, **environment):
        done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, expect, f"seed {SEED}: {args}: {done.stdout}{done.stderr}")
        return done.stdout if expect == 0 else done.stderr

    def write(self, data, name="grid.npy"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def check(self, kind, order, shape, fortran, version):
        rows, cols = shape
        grid = [[self.random.randint(*LIMITS[kind]) for _ in range(cols)] for _ in range(rows)]
        stored = [grid[i][j] for j in range(cols) for i in range(rows)] if fortran else [x for row in grid for x in row]
        data = struct.pack(f"{'>' if order == '>' else '<'}{rows * cols}{CODES[kind]}", *stored)
        path = self.write(npy(header(order + kind, shape, fortran), data, version))
        out = self.folder / "out.npy"
        report = json.loads(self.run_tool("grid", path, "--out", out, "--json"))
        flat = [x for row in grid for x in row]
        found = report["statistics"]
        self.assertEqual((found["min"], found["max"], found["sum"]), (min(flat), max(flat), sum(flat)))
        squares = sum(x * x for x in flat)
        if squares < 2**63:
            exact = (len(flat) * squares - sum(flat) ** 2) / len(flat)
            self.assertAlmostEqual(found["roughness"], exact, delta=1e-12 * abs(exact))
        else:
            self.assertIsNone(found["roughness"])
        self.assertTrue(report["statistics_agree"] and report["transposition_agrees"])
        self.assertEqual(parse_i4(out.read_bytes()), [list(column) for column in zip(*grid)])

    def test_every_dtype_order_and_version(self):
        for kind in CODES:
            for order in "|" if kind.endswith("1") else "<>":
                for fortran in (False, True):
                    for version in (1, 2):
                        shape = (self.random.randint(1, 40), self.random.randint(1, 40))
                        with self.subTest(kind=kind, order=order, fortran=fortran, version=version, shape=shape):
                            self.check(kind, order, shape, fortran, version)

    def test_narrow_and_flat_grids(self):
        for shape in [(1, 1), (1, 1000), (1000, 1), (3, 5000)]:
            with self.subTest(shape=shape):
                self.check("i2", "<", shape, False, 1)

    def test_a_roughness_that_leaves_64_bits_is_not_told(self):
        path = self.write(npy(header("<i4", (2, 2)), struct.pack("<4i", *LIMITS["i4"], *LIMITS["i4"])))
        text = self.run_tool("grid", path)
        self.assertRegex(text, r"roughness +not known +1\.84")
        self.assertIn("would leave 64 bits", text)
        self.assertIn("the others agree", text)
        self.assertIn("the two agree", self.run_tool("grid", "--generate", "8x8"))

    def test_text_without_a_terminal_has_no_escapes(self):
        text = self.run_tool("grid", "--generate", "100x200", COLORTERM="truecolor", TERM="xterm-256color")
        self.assertNotIn("\033", text)
        self.assertIn("100 x 200", text)
        self.assertIn("GB/s", text)

    def test_generated_terrain_is_the_same_everywhere(self):
        report = json.loads(self.run_tool("grid", "--generate", "344x403", "--json", "--device", "host"))
        found = report["statistics"]
        self.assertEqual((found["min"], found["max"], found["sum"]), (784, 3280, 315653063))
        other = json.loads(self.run_tool("grid", "--generate", "344x403", "--seed", "1", "--json"))
        self.assertNotEqual(other["statistics"]["sum"], found["sum"])

    def test_damaged_files(self):
        good = npy(header("<i2", (2, 3)), bytes(12))
        cases = {
            "not an .npy file": b"PK\x03\x04 and so on",
            "the header is cut off": good[:40],
            "its header asks for": good[:-1],
            "dtype '<f4' is not supported": npy(header("<f4", (2, 3)), bytes(24)),
            "structured dtypes": npy("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (2,), }", bytes(4)),
            "axes is 3, expected two": npy(header("<i2", (2, 3, 1)), bytes(12)),
            "is too large": npy(header("<i2", (2**62, 2**62)), b""),
            "not a tuple of counts": npy(header("<i2", (-2, 3)), bytes(12)),
            "no 'shape'": npy("{'descr': '<i2', 'fortran_order': False, }", bytes(12)),
        }
        for sentence, data in cases.items():
            with self.subTest(sentence=sentence):
                self.assertIn(sentence, self.run_tool("grid", self.write(data), expect=1))
        self.assertIn("none.npy: cannot be read: No such file", self.run_tool("grid", self.folder / "none.npy", expect=1))
        self.assertIn("cannot be read: Is a directory", self.run_tool("grid", self.folder, expect=1))

    def test_mistakes_in_the_arguments(self):
        for args in [(), ("sing",), ("grid",), ("grid", "--generate", "5"), ("grid", "--generate", "0x5"), ("grid", "--generate", "2147483647x2147483647"),
                     ("grid", "--generate", "4x4", "--device", "gpu"), ("grid", "a.npy", "b.npy"), ("grid", "--out"),
                     ("grid", "a.npy", "--generate", "4x4"), ("grid", "a.npy", "--seed", "1"), ("devices", "--yes"), ("explain",)]:
            with self.subTest(args=args):
                self.assertIn("--help", self.run_tool(*args, expect=2))
        self.assertIn("not expected: --verbos\n", self.run_tool("--verbos", expect=2))
        self.assertIn("not expected: first second\n", self.run_tool("devices", "first", "second", expect=2))


class Listings(unittest.TestCase):
    def output(self, *args):
        return subprocess.run([TOOL, *args], check=True, capture_output=True, text=True, timeout=60).stdout

    def test_devices_end_with_the_host(self):
        report = json.loads(self.output("devices", "--json"))
        self.assertEqual(report["devices"][-1]["id"], "host")
        self.assertTrue(report["default"]["reason"])
        self.assertIn("host", self.output("devices"))

    def test_devices_are_told_where_no_context_can_be_had(self):
        limited = {**os.environ, "GPUMEM_DEVICE": "99"}
        for args in (("devices",), ("devices", "--json")):
            done = subprocess.run([TOOL, *args], capture_output=True, text=True, timeout=60, env=limited)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("creating a context", done.stderr)
            self.assertIn("host", done.stdout)
            if "--json" in args:
                self.assertIsNone(json.loads(done.stdout)["default"])

    def test_every_family_has_variants(self):
        families = json.loads(self.output("variants", "--json"))["families"]
        for name in ("reduce", "transpose", "fill", "axpby"):
            self.assertGreaterEqual(len(families[name]), 2)
            self.assertEqual(len(set(families[name])), len(families[name]))

    def test_a_problem_line_is_explained(self):
        line = "transpose bytes=4 rows=100 cols=200 src=pageable dst=pageable"
        self.assertIn("host_tiled", self.output("explain", "--device", "host", line))
        report = json.loads(self.output("explain", "--device", "host", "--json", line))
        self.assertEqual(report["schema"], "gpumem.explain/1")
        self.assertEqual(report["line"], line)
        self.assertEqual(report["variant"], "host_tiled")
        words = ("transpose", "bytes=4", "rows=100", "cols=200")
        self.assertIn("src=device dst=device", self.output("explain", "--device", "host", *words))
        sums = self.output("explain", "--device", "host", "arithmetic op=lincomb dtype=f32 extents=100 terms=16 dots=3")
        self.assertIn("x15=device z=device w0=device w1=device w2=device", sums)
        refused = subprocess.run([TOOL, "explain", "transpose rows=few"], capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'few'", refused.stderr)

    def test_json_has_a_schema(self):
        for args in (("devices",), ("variants",), ("ceiling", "--device", "host"), ("explain", "fill bytes=4 n=10"), ("grid", "--generate", "8x8"),
                     ("tune", "fill bytes=4 n=0")):
            self.assertEqual(json.loads(self.output(*args, "--json"))["schema"], f"gpumem.{args[0]}/1")

    def test_help(self):
        for args in [("--help",), ("devices", "--help"), ("variants", "--help"), ("explain", "--help"), ("grid", "--help")]:
            self.assertIn("Usage: gpumem", self.output(*args))
        self.assertIn("Usage: gpumem bench [OPTIONS] WHAT\n", self.output("bench", "--help"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
