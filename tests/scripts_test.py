#!/usr/bin/env python3
"""Tests what scripts/test prints: the summary of skipped and failed tests, and the progress of a builder.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Summary(unittest.TestCase):
    def summary(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "checks.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
            done = subprocess.run([ROOT / "scripts/summarize", folder], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()

    def test_one_line_per_reason(self):
        rows = [("a", "passed", ""), *((f"b{i}", "skipped", f"no GPU: error {i}") for i in range(30)), ("c", "skipped", "no Fortran")]
        code, lines = self.summary(rows)
        self.assertEqual(code, 0)
        self.assertEqual(lines, ["", "skipped    30  no GPU: error 0", "skipped     1  no Fortran (c)", "1 passed, 0 failed, 31 skipped"])

    def test_each_failed_test_has_a_line(self):
        code, lines = self.summary([("a", "passed", ""), ("b", "failed", ""), ("c", "failed", "")])
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["", "FAILED   b", "FAILED   c", "1 passed, 2 failed, 0 skipped"])

    def test_nothing_passed_is_a_failure(self):
        self.assertEqual(self.summary([("a", "skipped", "no GPU")])[0], 1)


class Progress(unittest.TestCase):
    def shown(self, text, steps='"$ninja_steps"'):
        script = f'source "{ROOT}/scripts/lib.sh"; show_progress {steps}'
        return subprocess.run(["bash", "-c", script], input=text, capture_output=True, text=True, check=True).stdout

    def test_messages_pass_and_steps_are_thinned(self):
        steps = "".join(f"[{i}/90] Building\n" for i in range(1, 91))
        self.assertEqual(self.shown(steps + "x.cpp:1: error: y\n[1]\nlast"), "x.cpp:1: error: y\n[1]\nlast\n")
        self.assertEqual(self.shown("Get: a\nerror\n", "'Get: *'"), "error\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
