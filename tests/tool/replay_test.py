#!/usr/bin/env python3
"""Runs `gpumem replay` on traces of this program, on a trace of the library, and on damaged traces.

usage: replay_test.py PATH_OF_GPUMEM
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
TRACE = """gpumem-trace 1
a 100 7 0x1000 1000 device 256 0x0
a 200 7 0x2000 5000 device 4096 0xaa
u 250 8 0x2000 0xbb
a 300 7 0x3000 1 pinned 256 0x0
a 400 7 0x4000 70000 managed 256 0x0
f 500 8 0x2000 0xbb
f 600 7 0x1000 0x0
a 650 7 0x1000 800 device 256 0x0
t 700 7 0
f 800 7 0x4000 0x0
f 900 7 0x9000 0x0
f 950 7 0x3000 0x0
"""


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *args, expect=0, **environment):
        done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout if expect == 0 else done.stderr

    def write(self, text):
        path = self.folder / "trace"
        path.write_text(text)
        return path

    def test_counts_what_the_trace_has(self):
        report = json.loads(self.run_tool("replay", self.write(TRACE), "--device", "host", "--json"))
        expected = {"schema": "gpumem.replay/1", "events": 12, "streams": 2, "allocations": 5, "frees": 4, "uses": 1, "out_of_memory": 0,
                    "without_allocation": 1, "left": 1, "device_peak_bytes": 6000, "pinned_peak_bytes": 1}
        self.assertEqual({key: report[key] for key in expected}, expected)
        self.assertGreaterEqual(report["device_reserved_peak_bytes"], 6000)
        self.assertEqual(report["device_hits"] + report["device_misses"], 3)
        self.assertGreater(report["seconds"], 0)
        self.assertEqual(report["device"]["id"], "host")

    def test_says_it_in_words(self):
        text = self.run_tool("replay", self.write(TRACE), "--device=host")
        for part in ("12 events on 2 streams", "5 allocations, 4 frees, 1 declared use\n", "still live at the end: 1 allocation\n"):
            self.assertIn(part, text)

    def test_counts_what_can_not_be_had(self):
        trace = f"gpumem-trace 1\na 1 7 0x1000 {2**62} device 256 0x0\nf 2 7 0x1000 0x0\n"
        report = json.loads(self.run_tool("replay", self.write(trace), "--device", "host", "--json"))
        self.assertEqual((report["out_of_memory"], report["without_allocation"], report["left"]), (1, 1, 0))

    def test_takes_what_the_library_writes(self):
        self.run_tool("grid", "--generate", "300x200", "--device", "host", GPUMEM_TRACE=str(self.folder / "of_grid"))
        (trace,) = self.folder.glob("of_grid.*")
        report = json.loads(self.run_tool("replay", trace, "--device", "host", "--json"))
        self.assertGreater(report["allocations"], 0)
        self.assertEqual(report["frees"] + report["left"], report["allocations"])
        self.assertEqual((report["without_allocation"], report["left"]), (0, 0))

    def test_names_the_line_that_is_no_event(self):
        for line in ("x 1 7 0x1000", "a 1 7 0x1000 12", "a 1 7 0x1000 12 heap 256 0x0", "a 1 7 0x1000 -1 device 256 0x0",
                     "f 1 7 0x1000 0x0 more", "t one 7 1", ""):
            error = self.run_tool("replay", self.write("gpumem-trace 1\nt 1 7 0\n" + line + "\n"), "--device", "host",
                                  expect=1)
            self.assertIn("line 3", error)

    def test_refuses_what_is_no_trace(self):
        self.assertIn("no trace", self.run_tool("replay", self.write("something else\n"), expect=1))
        self.assertIn("no trace", self.run_tool("replay", self.write(""), expect=1))
        self.assertIn("No such file", self.run_tool("replay", self.folder / "missing", expect=1))
        self.assertIn("no trace", self.run_tool("replay", "/dev/zero", expect=1))
        twice = "gpumem-trace 1\n" + 2 * "a 1 7 0x1000 12 device 256 0x0\n"
        self.assertIn("twice", self.run_tool("replay", self.write(twice), "--device", "host", expect=1))
        self.run_tool("replay", expect=2)
        self.run_tool("replay", "--unknown", expect=2)
        self.assertIn("Usage: gpumem replay", self.run_tool("replay", "--help"))


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
