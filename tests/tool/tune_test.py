#!/usr/bin/env python3
"""Runs `gpumem tune` on operation descriptors and on the profile of a program.

usage: tune_test.py PATH_OF_GPUMEM
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
LINE = "reduce dtype=f32 op=sum n=20000"
WHOLE = LINE + " x=device"
UNKNOWN = ("candidates", "table", "table_us", "winner", "winner_us", "ratio", "spread", "reason")  # of a line that failed
BRIEFLY = ("--budget", "0.05", "--device", "host")


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *args, expect=0, **environment):
        done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=240, env={**os.environ, **environment})
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout if expect == 0 else done.stderr

    def test_a_line(self):
        report = json.loads(self.run_tool("tune", LINE, *BRIEFLY, "--json"))
        (row,) = report["rows"]
        self.assertEqual((row["problem"], row["table"], report["device"]["id"]), (WHOLE, "host_vector", "host"))
        self.assertGreater(row["candidates"], 0)
        self.assertGreater(row["table_us"], 0)
        self.assertTrue(row["reason"])
        text = self.run_tool("tune", LINE, *BRIEFLY)
        self.assertIn(WHOLE, text)
        self.assertRegex(text, r"adopted: |the table's choice stays: ")

    def test_lines_that_the_shell_has_divided(self):
        rows = json.loads(self.run_tool("tune", *LINE.split(), "fill bytes=4 n=1000", "copy", "bytes=100", *BRIEFLY, "--json"))["rows"]
        self.assertEqual([row["problem"] for row in rows], [WHOLE, "fill bytes=4 n=1000 dst=device", "copy bytes=100 src=device dst=device"])

    def test_empty_segments_and_rows_that_meet(self):
        for op in ("min", "max", "min_max"):
            line = f"reduce_segments dtype=f32 op={op} n=10 segments=20"
            (row,) = json.loads(self.run_tool("tune", line, *BRIEFLY, "--json"))["rows"]
            self.assertEqual((row["failed"], row["skipped"]), (None, None))
            self.assertIn("all verified", self.run_tool("bench", line, "--quick", "--device", "host"))
        line = "scatter row_bytes=12 n=100 dst_rows=50 index_type=u32"
        sentence = "line: 100 rows go to 50; expected at most as many, since which of two stays is not defined"
        self.assertIn(sentence, self.run_tool("bench", line, "--device", "host", expect=1))
        done = subprocess.run([TOOL, "tune", line, *BRIEFLY], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"  FAILED: {sentence}\n", done.stdout)

    def test_a_file_is_kept_and_taken(self):
        file = self.folder / "tuned"
        rows = json.loads(self.run_tool("tune", LINE, "copy bytes=1000000", *BRIEFLY, "--out", file, "--json"))["rows"]
        before = file.read_text()
        for row in rows:
            self.assertEqual(row["adopted"], f"\t{row['problem']}\t{row['winner']}\t" in before and row["winner"] != row["table"])
        self.run_tool("devices", GPUMEM_TUNING=str(file))
        self.run_tool("tune", "fill bytes=4 n=1000", *BRIEFLY, "--out", file)
        for line in before.splitlines():
            if not line.startswith("#") and "reduce" in line:
                self.assertIn(line, file.read_text())

    def test_the_problems_of_a_profile(self):
        self.run_tool("bench", LINE, "--quick", "--device", "host", GPUMEM_PROFILE=str(self.folder / "run.json"))
        profiles = [path for path in self.folder.glob("run.json.*") if "reduce" in path.read_text()]
        rows = json.loads(self.run_tool("tune", "--profile", profiles[0], *BRIEFLY, "--json"))["rows"]
        problems = [row["problem"] for row in rows]
        self.assertTrue(any(problem.startswith(LINE) for problem in problems), problems)
        self.assertEqual(len(problems), len(set(problems)))

    def test_a_line_that_fails_is_marked_and_the_rest_goes_on(self):
        huge = "reduce dtype=f32 op=sum n=1000000000000000 x=device"
        profile = self.folder / "run.json"
        rows = [{"problem": line, "variant": "host_vector"} for line in ("sing n=3", WHOLE)]
        profile.write_text(json.dumps({"schema": "gpumem.profile/1", "rows": rows}))
        for problems, args in ((huge, WHOLE), (huge, LINE)), (("sing n=3", WHOLE), ("--profile", profile)):
            with self.subTest(args=args):
                file = self.folder / "tuned"
                command = [TOOL, "tune", *map(str, args), *BRIEFLY, "--out", str(file)]
                done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 1, done.stderr)
                failed, right = json.loads(done.stdout)["rows"]
                self.assertEqual((failed["problem"], failed["adopted"], right["problem"]), (problems[0], False, problems[1]))
                self.assertEqual(list(failed), list(right))
                self.assertTrue(failed["failed"])
                self.assertEqual([failed[key] for key in UNKNOWN], [None] * len(UNKNOWN))
                self.assertIsNone(right["failed"])
                self.assertTrue(done.stderr.endswith("gpumem: 1 problem failed, of 2\n"), done.stderr)
                self.assertTrue(file.exists())
                done = subprocess.run(command, capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{problems[0]}\n  FAILED: ", done.stdout)
                self.assertRegex(done.stdout, r"adopted: |the table's choice stays: ")

    def test_what_is_refused(self):
        text = self.folder / "text"
        text.write_text("nothing")
        for status, word, args in [(2, "LINE", ()), (2, "LINE", (LINE, "--profile", text)), (2, "sing", ("sing n=3",)), (2, "much", (LINE, "--budget", "much")),
                                   (2, "'0'", (LINE, "--budget", "0")), (2, "'nan'", (LINE, "--budget", "nan")), (2, "--out", (LINE, "--out", "")),
                                   (2, "few", ("reduce dtype=f32 op=sum n=few",)), (1, str(text), ("--profile", text)),
                                   (1, "missing", ("--profile", self.folder / "missing"))]:
            with self.subTest(args=args):
                error = self.run_tool("tune", *args, "--device", "host", expect=status)
                self.assertIn(word, error)
                self.assertLess(len(error), 300)

    def test_a_file_of_something_else_is_left_alone(self):
        for content in (b"notes\n", b"{}", bytes(range(256))):
            file = self.folder / "notes"
            file.write_bytes(content)
            self.assertIn("notes", self.run_tool("tune", LINE, *BRIEFLY, "--out", file, expect=1))
            self.assertEqual(file.read_bytes(), content)

    def test_a_mistake_in_the_last_line_is_told_first(self):
        done = subprocess.run([TOOL, "tune", LINE, "copy bytes=few", *BRIEFLY], capture_output=True, text=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("'copy bytes=few': line: bytes is 'few'", done.stderr)

    def test_a_file_that_can_not_be_written_is_told_before_anything_is_measured(self):
        link = self.folder / "link"
        link.symlink_to("none")
        for out, word in ((self.folder / "none" / "tuned", "none/tuned"), (link, "symbolic link"), (self.folder, str(self.folder))):
            done = subprocess.run([TOOL, "tune", LINE, *BRIEFLY, "--out", out], capture_output=True, text=True, timeout=240)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(word, done.stderr)

    def profile(self, *rows):
        path = self.folder / "rows.json"
        path.write_text(json.dumps({"schema": "gpumem.profile/1", "rows": rows}))
        return path

    def test_a_row_of_another_device_is_skipped(self):
        path = self.profile(*({"problem": line, "variant": "x"} for line in ("copy bytes=8 src=device:1 dst=device", WHOLE)))
        skipped, tuned = json.loads(self.run_tool("tune", "--profile", path, *BRIEFLY, "--json"))["rows"]
        self.assertIn("device 1", skipped["skipped"])
        self.assertIsNone(skipped["failed"])
        self.assertIsNone(tuned["skipped"])
        self.assertIn("2 problems: ", self.run_tool("tune", "--profile", path, *BRIEFLY))

    def test_a_row_that_is_not_as_it_should_be_is_named(self):
        good = {"problem": WHOLE, "variant": "x"}
        for row, words in (({"problem": 3, "variant": "x"}, "row 2: 'problem' is of the type number; expected string"),
                           ({"problem": WHOLE}, "row 2 has no 'variant'"), (7, "row 2 is of the type number; expected object")):
            self.assertIn(f"rows.json: {words}\n", self.run_tool("tune", "--profile", self.profile(good, row), expect=1))
        (self.folder / "rows.json").write_text('{"schema": "gpumem.profile/1", "rows": {}}')
        self.assertIn("rows.json: it has no list of rows", self.run_tool("tune", "--profile", self.folder / "rows.json", expect=1))

    def test_a_problem_with_nothing_to_do(self):
        text = self.run_tool("tune", "reduce dtype=f32 op=sum n=0", *BRIEFLY)
        self.assertEqual(text.splitlines()[1:], ["  the table's choice stays: there is nothing to do"])
        (row,) = json.loads(self.run_tool("tune", "reduce dtype=f32 op=sum n=0", *BRIEFLY, "--json"))["rows"]
        known = {"candidates": 0, "reason": "there is nothing to do"}
        self.assertEqual({key: row[key] for key in UNKNOWN}, {**dict.fromkeys(UNKNOWN), **known})

    def test_a_choice_that_goes_is_told(self):
        devices = json.loads(self.run_tool("devices", "--json"))["devices"]
        key = "host:" + re.sub(r"[^!-~]", "_", devices[-1]["name"]) + f":0:0:{devices[-1]['multiprocessors']}:0"
        file = self.folder / "tuned"
        lines = (f"{key}\t{WHOLE}\thost_serial\t{revision}\t1.20\n" for revision in range(1, 20))
        adopted = "# gpumem tuning\n" + "".join(lines)
        for form in (["--json"], []):
            file.write_text(adopted)
            text = self.run_tool("tune", LINE, *BRIEFLY, "--out", file, *form)
            if form:
                self.assertTrue(json.loads(text)["rows"][0]["dropped"], text)
            else:
                self.assertIn("the earlier tuned choice is dropped; the table's choice is back: ", text)

    def test_lines_are_shown_in_their_shortest_form(self):
        text = self.run_tool("tune", "reduce x=device stride=1 n=0 op=sum dtype=f32 form=plain", *BRIEFLY)
        self.assertEqual(text.splitlines()[0], "reduce dtype=f32 op=sum n=0 x=device")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
