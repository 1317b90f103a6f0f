#!/usr/bin/env python3
"""Runs `gpumem doctor`, `gpumem ceiling` and `gpumem reduce`.

usage: machine_test.py PATH_OF_GPUMEM
"""

import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL = ""


def npy(descr, shape, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def bits(value):
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


class Machine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *args, expect=0, **environment):
        done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=280, env={**os.environ, **environment})
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout if expect == 0 else done.stderr

    def test_the_doctor_finds_nothing_that_fails(self):
        report = json.loads(self.run_tool("doctor", "--json"))
        self.assertEqual(report["schema"], "gpumem.doctor/1")
        findings = report["findings"]
        verdicts = {finding["check"]: finding["verdict"] for finding in findings}
        self.assertEqual(verdicts["operations on the host"], "ok")
        self.assertIn("driver", verdicts)
        self.assertIn("memlock", verdicts)
        self.assertTrue(all(finding["text"] for finding in findings))

    def test_the_doctor_sees_the_environment(self):
        text = self.run_tool("doctor", GPUMEM_DEVICE="host")
        self.assertIn("warn  environment: GPUMEM_DEVICE=host", text)
        self.assertRegex(text, r"(?m)^ok    operations on the host: \d+ problems")

    def test_the_doctor_knows_the_variables_of_the_documents(self):
        page = pathlib.Path(__file__).parents[2] / "docs/environment.md"
        names = re.findall(r"(?m)^\| `(GPUMEM_\w+)`", page.read_text(encoding="utf-8"))
        self.assertGreater(len(names), 8)
        paths = {"GPUMEM_TRACE", "GPUMEM_PROFILE", "GPUMEM_TUNING", "GPUMEM_LIBRARY"}  # files, which contexts write or read
        values = {"GPUMEM_DEVICE": "host", "GPUMEM_HOST_SIMD": "base", "GPUMEM_DEBUG": "0"}
        known = {name: values.get(name, "x") for name in names if name not in paths}
        text = self.run_tool("doctor", **known)
        for name, value in known.items():
            self.assertNotIn(f"{name}={value} is set, and nothing", text)

    def test_the_doctor_goes_on_where_no_device_can_be_had(self):
        findings = json.loads(self.doctor_that_fails("--json", GPUMEM_DEVICE="99"))["findings"]
        verdicts = {finding["check"]: finding["verdict"] for finding in findings}
        self.assertEqual((verdicts["driver"], verdicts["operations on the host"]), ("fail", "ok"))

    def test_the_doctor_tells_a_forced_variant_once(self):
        text = self.doctor_that_fails(GPUMEM_VARIANT_REDUCE="single_tile")
        self.assertEqual(len(re.findall("operations on the host: .*single_tile of reduce, forced by the environment, does not fit", text)), 1, text)

    def test_the_doctor_says_what_became_of_a_tuning_file(self):
        tuned = self.folder / "tuned"
        tuned.write_text("# gpumem tuning\n")
        text = self.run_tool("doctor", GPUMEM_TUNING=str(tuned))
        self.assertIn(f"ok    tuning: GPUMEM_TUNING={tuned}: lines taken: 0, skipped: 0\n", text)
        self.assertNotIn("environment: GPUMEM_TUNING", text)
        tuned.write_text("nowhere\tfill bytes=4 n=9 dst=device\tvec16\t2\t1.5\n")
        self.assertRegex(self.run_tool("doctor", GPUMEM_TUNING=str(tuned)), r"warn  tuning: .*: lines taken: 0, skipped: 1; the last: .* it is of another device: nowhere")
        tuned.write_text("int main(void) { return 0; }\n")
        self.assertIn("fail  tuning: ", self.doctor_that_fails(GPUMEM_TUNING=str(tuned)))

    def doctor_that_fails(self, *args, **environment):
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", **environment}
        done = subprocess.run([TOOL, "doctor", *args], capture_output=True, text=True, timeout=280, env=environment)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn("gpumem: ", done.stderr)
        return done.stdout

    def test_ceilings(self):
        self.assertRegex(self.run_tool("ceiling", "--device", "host"), r"read +[\d.]+ GB/s")
        found = json.loads(self.run_tool("ceiling", "--device", "host", "--json"))
        for kind in ("read", "write", "copy"):
            self.assertGreater(found["bytes_per_s"][kind], 0)
        self.assertIsNone(found["bytes_per_s"]["to_device"])

    def test_what_is_not_known_of_a_device_is_null(self):
        report = json.loads(self.run_tool("devices", "--json"))
        host = report["devices"][-1]
        unknown = ("compute_major", "compute_minor", "driver_version", "bandwidth_bytes_per_s", "reason_code", "reason")
        self.assertEqual([host[key] for key in unknown], [None] * len(unknown))
        self.assertGreater(host["memory_bytes"], 0)
        self.assertTrue(report["default"]["reason"])

    def reduce(self, name, data, *args):
        path = self.folder / name
        path.write_bytes(data)
        report = json.loads(self.run_tool("reduce", path, "--json", *args))
        self.assertEqual(report["schema"], "gpumem.reduce/1")
        return report

    def test_reductions_of_every_type(self):
        codes = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f2": "e", "f4": "f", "f8": "d"}
        values = [3, 1, 4, 1, 5, 9, 2, 6]
        for descr, code in codes.items():
            for order in "<>":
                data = npy(order + descr, (2, 4), struct.pack(f"{order}8{code}", *values))
                with self.subTest(descr=descr, order=order):
                    found = self.reduce("x.npy", data)
                    (result,) = found["results"]
                    self.assertEqual((float(result["decimal"]), found["n"]), (31, 8))
                    self.assertEqual(result["bits"], bits(31.0) if descr[0] == "f" else "0x000000000000001f")

    def test_the_bits_of_a_sum(self):
        values = [0.1 * i for i in range(1000)]
        data = npy("<f8", (1000,), struct.pack("<1000d", *values))
        host = self.reduce("x.npy", data, "--device", "host")["results"]
        self.assertEqual(host, self.reduce("x.npy", data)["results"])
        (compensated,) = self.reduce("x.npy", data, "--op", "sum_compensated")["results"]
        self.assertEqual(compensated["bits"], bits(math.fsum(values)))
        self.assertEqual([r["bits"] for r in self.reduce("x.npy", data, "--op", "min_max")["results"]], [bits(0.0), bits(values[-1])])
        negative = npy("<i4", (2,), struct.pack("<2i", -5, 3))
        self.assertEqual(self.reduce("n.npy", negative, "--op", "prod")["results"][0]["decimal"], "-15")
        self.assertEqual(self.reduce("n.npy", negative)["results"], [{"decimal": "-2", "bits": "0xfffffffffffffffe"}])

    def test_what_is_refused(self):
        good, empty, text = self.folder / "good.npy", self.folder / "empty.npy", self.folder / "text.npy"
        good.write_bytes(npy("<i4", (2,), bytes(8)))
        empty.write_bytes(npy("<i4", (0,), b""))
        text.write_bytes(npy("<U4", (2,), bytes(32)))
        self.assertIn("'middle'", self.run_tool("reduce", good, "--op", "middle", expect=2))
        there_are = ("expected one of sum, min, max, sum_abs, sum_squares, sum_cubes, max_abs, min_max, sum_compensated, prod, "
                     "sum_valid, count_valid, min_valid, max_valid, sum_order_free, nrm2_order_free\n")
        for op in ("dot", "SUM"):
            self.assertIn(f"'{op}' is not a reduction; {there_are}", self.run_tool("reduce", good, "--op", op, expect=2))
        self.assertIn("EMPTY", self.run_tool("reduce", empty, "--op", "min", expect=1))
        self.assertIn("<U4", self.run_tool("reduce", text, expect=1))
        self.assertIn("missing.npy", self.run_tool("reduce", self.folder / "missing.npy", expect=1))
        self.assertIn("compensated", self.run_tool("reduce", good, "--op", "sum_compensated", expect=1))
        self.assertEqual(self.run_tool("reduce", empty).split()[0], "0")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
