#!/usr/bin/env python3
"""Checks that `gpumem grid` accepts and rejects the same .npy files as NumPy (numpy.lib.format and its tests).

usage: npy_test.py PATH_OF_GPUMEM

The cases are written byte by byte, because NumPy writes few of them. If NumPy is installed, it reads them too.
"""

import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

TOOL = ""
VALUES = (1, -2, 3, 0x0405, -6, 7)
LITTLE = struct.pack("<6h", *VALUES)
BIG = struct.pack(">6h", *VALUES)
NATIVE = struct.pack("=6h", *VALUES)
BYTES = bytes([1, 2, 3, 4, 5, 250])
MAGIC = b"\x93NUMPY"


def npy(header, data=LITTLE, version=(1, 0)):
    text = header.encode("utf-8" if version[0] == 3 else "latin1")
    return MAGIC + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text + data


def fields(descr="'<i2'", order="False", shape="(2, 3)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"


# Name: file, sum of its elements.
TAKEN = {
    "as NumPy writes it": (npy(fields()[:-1] + ", }" + 20 * " " + "\n"), sum(VALUES)),
    "version 2.0": (npy(fields(), version=(2, 0)), sum(VALUES)),
    "version 3.0": (npy(fields(), version=(3, 0)), sum(VALUES)),
    "big endian": (npy(fields("'>i2'"), BIG), sum(VALUES)),
    "= is this machine's order": (npy(fields("'=i2'"), NATIVE), sum(VALUES)),
    "| is this machine's order": (npy(fields("'|i2'"), NATIVE), sum(VALUES)),
    "no order": (npy(fields("'i2'"), NATIVE), sum(VALUES)),
    "a type by its character": (npy(fields("'<h'"), LITTLE), sum(VALUES)),
    "a type by its name": (npy(fields("'int16'"), NATIVE), sum(VALUES)),
    "bytes of any order": (npy(fields("'>u1'"), BYTES), sum(BYTES)),
    "double quotes": (npy(fields().replace("'", '"')), sum(VALUES)),
    "mixed quotes": (npy(fields('"<i2"')), sum(VALUES)),
    "strings of Python 2": (npy(fields("u'<i2'")), sum(VALUES)),
    "integers of Python 2": (npy(fields(shape="(2L, 3L)")), sum(VALUES)),
    "no space": (npy(fields().replace(" ", "")), sum(VALUES)),
    "lines": (npy(fields().replace(", ", ",\n\t ")), sum(VALUES)),
    "a comment": (npy(fields().replace(", 'shape'", ", # the extents\n'shape'")), sum(VALUES)),
    "keys in another order": (npy("{'shape': (2, 3), 'fortran_order': False, 'descr': '<i2'}"), sum(VALUES)),
    "a comma at the end of the shape": (npy(fields(shape="(2, 3,)")), sum(VALUES)),
    "parentheses": (npy(fields("('<i2')", "(False)", "((2, 3))")), sum(VALUES)),
    "the last of two equal keys": (npy("{'descr': '>i2', " + fields()[1:]), sum(VALUES)),
    "the last of two shapes": (npy(fields()[:-1] + ", 'shape': (3, 2)}"), sum(VALUES)),
    "a key's name in another's value": (npy("{'shape': (2, 3), 'descr': '<i2', 'fortran_order': False}"), sum(VALUES)),
    "more data than asked for": (npy(fields(), LITTLE + b"more"), sum(VALUES)),
    "the longest header": (npy(fields().ljust(10000), version=(2, 0)), sum(VALUES)),
    "no rows": (npy(fields(shape="(0, 3)"), b""), None),
    "no columns": (npy(fields(shape="(2, 0)"), b""), None),
    "neither": (npy(fields(shape="(0, 0)", order="True"), b""), None),
}

REFUSED = {
    "nothing": b"",
    "half of the magic": MAGIC[:4],
    "no version": MAGIC,
    "half of a version": MAGIC + b"\x01",
    **{f"magic {magic!r}": magic + npy(fields())[6:]
       for magic in (b"\x92NUMPY", b"\x00NUMPY", b"\x93numpy", b"\x93MATLB")},
    **{f"version {major}.{minor}": MAGIC + bytes((major, minor)) + npy(fields())[8:]
       for major, minor in ((1, 1), (0, 0), (0, 1), (2, 2), (3, 1), (4, 0), (255, 255))},
    "no length": npy(fields())[:8],
    "half of a length": npy(fields())[:9],
    "a header that is cut off": npy(fields())[:30],
    "one byte too few": npy(fields(), LITTLE[:-1]),
    "no data": npy(fields(), b""),
    "a header past NumPy's limit": npy(fields().ljust(10001), version=(2, 0)),
    "a missing key": npy("{'descr': '<i2', 'shape': (2, 3)}"),
    "an extra key": npy(fields()[:-1] + ", 'extrakey': -1}"),
    "a key in a nested dictionary": npy("{'descr': '<i2', 'fortran_order': False, 'x': {'shape': (2, 3)}}"),
    "a nested dictionary for a value": npy(fields("{'descr': '<i2'}")),
    "a key that is no string": npy("{0: 1, " + fields()[1:]),
    "no opening brace": npy(fields()[1:]),
    "no closing brace": npy(fields()[:-1]),
    "no dictionary": npy("('<i2', False, (2, 3))"),
    "an empty header": npy(""),
    "text behind the dictionary": npy(fields() + " x"),
    "two dictionaries": npy(fields() + fields()),
    "no comma": npy(fields().replace("2, 3", "2 3")),
    "two commas": npy(fields().replace("2, 3", "2,, 3")),
    "no colon": npy(fields().replace("'shape':", "'shape'")),
    "a string without an end": npy(fields("'<i2")),
    "quotes of two kinds": npy(fields("'<i2\"")),
    "a shape that is a list": npy(fields(shape="[2, 3]")),
    "a shape that is a number": npy(fields(shape="(6)")),
    "a shape that is a string": npy(fields(shape="'(2, 3)'")),
    "an extent that is none": npy(fields(shape="(2, 3.0)")),
    "an extent below zero": npy(fields(shape="(-2, -3)")),
    "an extent with leading zeros": npy(fields(shape="(02, 3)")),
    "an extent past 64 bits": npy(fields(shape="(2, 18446744073709551619)")),
    "integers of Python 2 in version 3.0": npy(fields(shape="(2L, 3L)"), version=(3, 0)),
    "an order that is a number": npy(fields(order="0")),
    "an order that is a string": npy(fields(order="'False'")),
    "an order of another case": npy(fields(order="false")),
    "an unknown type": npy(fields("'x'")),
    "a type with space": npy(fields("' <i2'")),
    "a name with an order": npy(fields("'<int16'")),
    "an empty type": npy(fields("''")),
    "no type": npy(fields("False")),
}

# Only NumPy accepts these, because the tool reads grids of integers.
BEYOND_THE_TOOL = {
    "floats": npy(fields("'<f2'")),
    "wider integers": npy(fields("'<i8'"), 4 * LITTLE),
    "unsigned 32 bits": npy(fields("'<u4'"), 2 * LITTLE),
    "records": npy(fields("[('a', '<i2')]")),
    "rank 0": npy(fields(shape="()")),
    "rank 1": npy(fields(shape="(6,)")),
    "rank 3": npy(fields(shape="(1, 2, 3)")),
}


class Npy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def grid(self, data):
        path = self.folder / "grid.npy"
        path.write_bytes(data)
        out = self.folder / "out.npy"
        return subprocess.run([TOOL, "grid", path, "--json", "--device", "host", "--out", out], capture_output=True,
                              text=True, timeout=60)

    def test_takes_what_numpy_takes(self):
        for name, (data, total) in TAKEN.items():
            with self.subTest(name):
                done = self.grid(data)
                self.assertEqual(done.returncode, 0, done.stderr)
                statistics = json.loads(done.stdout)["statistics"]
                self.assertEqual(statistics["sum"] if statistics else None, total)

    def test_refuses_what_numpy_refuses(self):
        for name, data in {**REFUSED, **BEYOND_THE_TOOL}.items():
            with self.subTest(name):
                done = self.grid(data)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                # The emulated device names its seed first.
                self.assertRegex(done.stderr, r"\A(GPUMEM_EMULATION_SEED=\d+\n)?gpumem: .*grid\.npy: .+\n\Z")

    def test_bools_are_refused_with_a_way_out(self):
        for descr in "'|b1'", "'?'", "'bool'":
            for command in "grid", "reduce":
                path = self.folder / "mask.npy"
                path.write_bytes(npy(fields(descr), 6 * b"\1"))
                done = subprocess.run([TOOL, command, path, "--device", "host"], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("save .view('u1')", done.stderr)

    def test_an_empty_grid_is_written_transposed(self):
        for order in (False, True):
            done = self.grid(npy(fields(shape="(0, 3)", order=str(order)), b""))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"'shape': (3, 0)", (self.folder / "out.npy").read_bytes())

    @unittest.skipIf(numpy is None, "NumPy is not installed: the cases are held against the tool alone")
    def test_numpy_agrees(self):
        for name, (data, total) in TAKEN.items():
            with self.subTest(name):
                self.assertEqual(numpy.load(io.BytesIO(data)).sum(), total or 0)
        for name, data in REFUSED.items():
            with self.subTest(name):
                self.assertRaises(Exception, numpy.lib.format.read_array, io.BytesIO(data))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
