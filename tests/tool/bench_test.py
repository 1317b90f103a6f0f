#!/usr/bin/env python3
"""Runs each form of `gpumem bench` with small sizes, interrupts it at a terminal, and compares its results.

usage: bench_test.py PATH_OF_GPUMEM
"""

import csv
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import xml.etree.ElementTree

TOOL = ""
WRONG = os.environ.get("GPUMEM_TEST_WRONG")  # a library that spoils the results of transposes
NVTX = os.environ.get("GPUMEM_TEST_NVTX")  # a library that replaces a profiler
QUICK = ("bench", "all", "--quick", "--device", "host")
KEYS = ["group", "label", "problem", "variant", "chosen_by", "timer", "bytes", "samples", "median_us", "q1_us", "q3_us", "gbs",
        "of_ceiling", "block_cycles", "verified", "skipped"]


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *args, expect=0):
        done = subprocess.run([TOOL, *map(str, args)], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, expect, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout if expect == 0 else done.stderr

    def check_row(self, row):
        self.assertEqual(list(row), KEYS)
        if row["skipped"] is not None:
            self.assertEqual([row[key] for key in ("bytes", "samples", "median_us")], [None, None, None])
            return
        self.assertIs(row["verified"], True, row)
        self.assertGreater(row["samples"], 0)
        self.assertLessEqual(row["q1_us"], row["median_us"])
        self.assertLessEqual(row["median_us"], row["q3_us"])
        if row["bytes"]:
            self.assertAlmostEqual(row["gbs"], row["bytes"] / row["median_us"] / 1e3, delta=1e-4 * row["gbs"])

    def test_all_of_it_as_json(self):
        run = json.loads(self.run_tool(*QUICK, "--json"))
        self.assertEqual((run["schema"], run["program"], run["interrupted"], run["quick"]), ("gpumem.bench/1", "gpumem", False, True))
        self.assertTrue(run["device"]["name"].startswith("host: "))
        self.assertIsNone(run["ceilings"]["copy"])  # measuring takes longer than all of a quick run
        for row in run["rows"]:
            self.check_row(row)
        measured = {row["group"] for row in run["rows"] if row["skipped"] is None}
        self.assertEqual(measured, {"transfer to the device", "transfer from the device", "copy", "fill", "reduce", "transpose",
                                    "permute", "alloc and free"})
        reasons = [row["skipped"] for row in run["rows"] if row["group"].startswith("managed")]
        self.assertTrue(reasons and all("CUDA" in reason for reason in reasons))

    def test_csv_has_the_numbers_of_the_json(self):
        rows = list(csv.DictReader(io.StringIO(self.run_tool(*QUICK, "--csv"))))
        self.assertEqual(list(rows[0]), KEYS)
        transpose = next(row for row in rows if row["label"] == "elements of 4 B")
        self.assertEqual(transpose["problem"], "transpose bytes=4 rows=512 cols=512 src=device dst=device")
        self.assertEqual((transpose["bytes"], transpose["verified"]), (str(2 * 4 * 512 * 512), "true"))
        self.assertGreater(float(transpose["median_us"]), 0)

    def test_the_picture_and_the_page_need_nothing_else(self):
        picture, page = self.folder / "x.svg", self.folder / "x.html"
        text = self.run_tool("bench", "transpose", "--quick", "--device", "host", "--plot", picture, "--report", page)
        rate = re.search(r"elements of 4 B +[\d.]+ .?s +([\d.]+ GB/s)", text)[1]
        self.assertIn(rate, picture.read_text())
        self.assertIn(rate, page.read_text())
        xml.etree.ElementTree.parse(picture)
        for file in (picture, page):
            self.assertIn("prefers-color-scheme:dark", file.read_text())
            self.assertNotRegex(file.read_text().replace("http://www.w3.org/2000/svg", ""), r"<script|https?:|url\(|@import|src=\"")

    def test_a_ladder_has_every_variant_that_fits(self):
        text = self.run_tool("bench", "ladder", "transpose", "bytes=4 rows=300 cols=200", "--quick", "--device", "host")
        self.assertRegex(text, r"(?m)^transpose bytes=4 rows=300 cols=200 src=device dst=device$")
        self.assertRegex(text, r"(?m)^  host_tiled \* .* GB/s .*#+$")
        self.assertRegex(text, r"(?m)^  host_serial .*#$")
        self.assertIn("more do not fit here", text)
        whole = self.run_tool("bench", "ladder", "transpose bytes=4 rows=30 cols=20 dst=src", "--quick", "--device", "host")
        self.assertRegex(whole, r"(?m)^transpose bytes=4 rows=30 cols=20 src=device dst=src$")
        self.run_tool("bench", "ladder", "reduce", "reduce dtype=i32 op=sum n=99", "--quick", "--device", "host")
        for name in ("reduce", "copy", "access"):
            self.assertIn("all verified", self.run_tool("bench", "ladder", name, "--quick", "--device", "host"))

    def test_a_line_of_every_family(self):
        lines = ["reduce_segments dtype=f32 op=min n=1000 segments=7 x=pinned offsets=pinned",
                 "gather row_bytes=12 n=100 src_rows=50 index_type=i64", "select row_bytes=12 n=100",
                 "select of=places index_type=i32 n=100", "scatter row_bytes=12 n=50 dst_rows=100 index_type=u32",
                 "resize filter=bilinear dtype=f32 src_rows=20 src_cols=30 dst_rows=33 dst_cols=11",
                 "resize filter=nearest dtype=u8 channels=3 src_rows=20 src_cols=30 dst_rows=33 dst_cols=11 batches=3",
                 "convert from=f64 to=f16 n=1000", "scan dtype=f32 op=sum n=1000 exclusive=1",
                 "scan dtype=i8 op=sum extents=10x20x5 axis=1 x_strides=1,10,200", "scan dtype=f32 op=max n=1000 result_type=f32 segments=7 result=x",
                 "arithmetic op=multiply dtype=f32 extents=20x30", "axpby dtype=f64 n=999 y=none",
                 "copy bytes=1000 rows=7 src_pitch=1001 src=mixed dst=managed",
                 "copy_boxes bytes=8 count=9 extents=3x4x5 dst_strides=40,8,1", "fill bytes=8 n=100 dst_misaligned=3",
                 "transpose bytes=16 rows=30 cols=20 dst=src", "permute bytes=2 extents=3x4x5x6 order=3,1,0,2"]
        for line in lines:
            with self.subTest(line):
                (row,) = json.loads(self.run_tool("bench", line, "--quick", "--device", "host", "--json"))["rows"]
                self.check_row(row)
                self.assertTrue(row["problem"].startswith(line.split()[0]))

    @unittest.skipIf(not WRONG, "no library that spoils results: it is not built with sanitizers")
    def test_a_wrong_result_is_seen(self):
        environment = {**os.environ, "LD_PRELOAD": WRONG}
        done = subprocess.run([TOOL, "bench", "transpose", "--quick", "--device", "host"], capture_output=True, text=True, timeout=240, env=environment)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.count("  WRONG\n"), 9, done.stdout)
        self.assertIn("9 WRONG", done.stdout)
        environment["GPUMEM_TUNNING"] = "x"
        environment["CUDA_VISIBLE_DEVICES"] = ""  # the library that spoils writes from the host
        done = subprocess.run([TOOL, "doctor"], capture_output=True, text=True, timeout=240, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^fail  operations on the host: 'transpose bytes=4 .* gives other bits")
        self.assertIn("GPUMEM_TUNNING=x is set, and nothing of gpumem reads it: is it misspelt?", done.stdout)

    @unittest.skipIf(not NVTX, "no CUDA backend, or no headers of NVTX")
    def test_launches_are_ranges_for_a_profiler(self):
        done = subprocess.run([TOOL, "bench", "fill bytes=16 n=1000", "--quick", "--samples", "1"], capture_output=True, text=True, timeout=240,
                              env={**os.environ, "NVTX_INJECTION64_PATH": NVTX})
        self.assertEqual(done.returncode, 0, done.stderr)
        if "host: " in done.stdout:
            self.skipTest("no device")
        ranges = [line for line in done.stderr.splitlines() if line.startswith("nvtx ")]
        self.assertIn("nvtx gpumem 3 vec16", ranges)
        self.assertEqual(ranges.count("nvtx gpumem end"), len(ranges) / 2)

    def test_a_share_of_the_ceiling_is_one_or_said_to_be_left_out(self):
        cache = json.loads(self.run_tool("devices", "--json"))["devices"][-1]["l2_bytes"] or 64 << 20
        small = f"fill bytes=1 n={1 << 20}"
        text = self.run_tool("bench", small, "--samples", "1", "--device", "host")
        self.assertRegex(text, r"(?m)^without a share of the ceiling: rows of up to .*B, which caches may hold in part$")
        if cache > 128 << 20:
            self.skipTest("a cache that a test's memory does not leave")
        (row,) = json.loads(self.run_tool("bench", f"fill bytes=1 n={2 * cache + 1}", "--samples", "1", "--device", "host", "--json"))["rows"]
        self.assertGreater(row["of_ceiling"], 0)

    def test_the_device_that_is_best(self):
        text = self.run_tool("bench", "ladder", "reduce", "dtype=i32 op=sum n=3000", "--quick", "--samples", "2")
        self.assertIn("all verified", text)

    def test_mistakes_are_one_sentence_that_names_the_word(self):
        for status, word, args in [(2, "nothing", ("nothing",)), (2, "steps", ("ladder", "steps")), (2, "trans", ("trans rows=3",)),
                                   (2, "many", ("copy", "--samples", "many")), (2, "--report", ("copy", "--report", "")), (2, "same file", ("copy", "--plot", "x", "--report", "x")), (2, "WHAT", ()), (2, "--csv", ("copy", "--csv", "--json")),
                                   (2, "few", ("transpose bytes=4 rows=few cols=3",)),
                                   (1, "src_rows", ("gather row_bytes=4 n=9 src_rows=0 index_type=i64",)), (1, "device 7", ("copy bytes=8 src=device:7",))]:
            with self.subTest(args=args):
                error = self.run_tool("bench", *args, "--device", "host", expect=status)
                self.assertIn(word, error)
                self.assertNotIn("terminate", error)
        self.assertIn("/dev/full", self.run_tool("bench", "copy", "--quick", "--device", "host", "--report", "/dev/full", expect=1))

    def test_a_page_that_can_not_be_written_is_told_before_anything_is_measured(self):
        done = subprocess.run([TOOL, "bench", "copy", "--device", "host", "--report", self.folder / "none" / "x.html"], capture_output=True, text=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none/x.html", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_page_into_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.run_tool("bench", "permute", "--quick", "--device", "host", "--report", pipe)
        self.assertIn(b"</html>", os.read(reader, 1 << 16))

    def test_where_nothing_is_measured_nothing_is_verified(self):
        text = self.run_tool("bench", "managed", "--quick", "--device", "host")
        self.assertIn("nothing measured, 9 skipped", text)
        self.assertNotIn("verified", text)

    @unittest.skipIf(not WRONG, "sanitizers take the addresses themselves")
    def test_rows_without_memory_are_skipped(self):
        # With some of these limits, the arrays of the bandwidth test leave less than a thread's stack of 8 MiB.
        for limit in (288 << 20, *range(144 << 20, 180 << 20, 6 << 20)):

            def little_memory(limit=limit):
                os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:2])
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

            done = subprocess.run([TOOL, "bench", "copy", "--device", "host", "--samples", "1", "--json"], capture_output=True, text=True,
                                  timeout=240, preexec_fn=little_memory)
            self.assertEqual(done.returncode, 0, f"{limit}: {done.stderr}")
            skipped = [row["skipped"] for row in json.loads(done.stdout)["rows"] if row["skipped"]]
            self.assertTrue(skipped and all("bytes" in reason for reason in skipped), done.stdout)

    # ------------------------------------------------------------------------------------------------- at a terminal

    def at_a_terminal(self, *args, until, columns=80, **environment):
        """Presses Ctrl-C after the terminal shows `until`. Returns the exit status and the text of the terminal."""
        try:
            pid, terminal = pty.fork()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal on this machine: {error}")
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            os.environ.update({"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment})
            os.execv(TOOL, [TOOL, *args])
        shown, pressed = b"", False
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
            if until is not None and until in shown and not pressed:
                os.write(terminal, b"\x03")
                pressed = True
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def test_progress_stays_within_the_line(self):
        line = "reduce dtype=f32 op=sum n=1000 stride=2 x=device"
        status, shown = self.at_a_terminal("tune", line, "--budget", "0.01", "--device", "host", until=None, columns=40)
        self.assertEqual(status, 0, shown)
        self.assertIn("\r\033[K[1/1] reduce dtype=f32 op=sum n=1000 st\r\033[K", shown)

    def test_a_dumb_terminal_gets_no_escapes(self):
        status, shown = self.at_a_terminal("bench", "transpose", "--quick", "--device", "host", until=None, TERM="dumb")
        self.assertEqual(status, 0, shown)
        self.assertIn("all verified", shown)
        self.assertNotIn("\033", shown)

    def test_a_terminal_without_colours_gets_none(self):
        status, shown = self.at_a_terminal("bench", "transpose", "--quick", "--device", "host", until=None, TERM="vt100")
        self.assertEqual(status, 0, shown)
        self.assertNotIn("\033[3", shown)

    def test_an_interrupted_run_tells_what_it_has(self):
        status, shown = self.at_a_terminal("bench", "transpose", "--device", "host", until=b"[2/")
        self.assertEqual(status, 130, shown)
        self.assertIn("INTERRUPTED", shown)
        self.assertIn("elements of 1 B", shown)
        self.assertIn("\033[36m#", shown)

    def test_progress_is_for_terminals_and_colour_can_be_declined(self):
        status, shown = self.at_a_terminal("bench", "transpose", "--quick", "--device", "host", until=None, NO_COLOR="1")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"\[5/9, \d+ s left\] transpose: ")
        self.assertNotIn("\033[36m", shown)
        done = subprocess.run([TOOL, "bench", "transpose", "--quick", "--device", "host"], capture_output=True, text=True, timeout=240)
        self.assertEqual(re.sub(r"GPUMEM_EMULATION_SEED=\d+\n", "", done.stderr), "")

    # ------------------------------------------------------------------------------------------------------- compare

    def results(self, name, times, **changes):
        rows = [{**dict.fromkeys(KEYS), "group": "g", "label": label, "median_us": t, "q1_us": 0.99 * t, "q3_us": 1.01 * t,
                 "samples": 21, "verified": True, **changes} for label, t in times.items()]
        return self.write(name, {"rows": rows})

    def write(self, name, run):
        path = self.folder / name
        path.write_text(json.dumps({"schema": "gpumem.bench/1", **run}))
        return path

    def compare(self, before, after, expect=0):
        done = subprocess.run([TOOL, "compare", before, after, "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, expect, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["schema"], "gpumem.compare/1")
        return {row["label"]: row["verdict"] for row in report["rows"]}

    def test_compare_tells_what_is_slower(self):
        before = self.results("a.json", {"x": 100, "y": 100, "z": 100})
        after = self.results("b.json", {"x": 104, "y": 107, "z": 80})
        self.assertEqual(self.compare(before, after, expect=1), {"x": "", "y": "slower", "z": "faster"})
        scattered = self.results("c.json", {"x": 100, "y": 107, "z": 100}, q1_us=90)
        self.assertEqual(self.compare(before, scattered), {"x": "", "y": "unclear", "z": ""})
        self.assertIn("0 of them slower, 0 faster; 1 apart, but unclear: they scatter or have few samples\n", self.run_tool("compare", before, scattered))
        text = self.run_tool("compare", before, before)
        self.assertIn("0 of them slower, 0 faster\n", text)
        self.assertRegex(text, r"^ +before +after +ratio\n")
        self.assertNotRegex(text, r"(?m) $")

    def test_compare_tells_nothing_from_few_samples(self):
        before, after = self.results("a.json", {"x": 100}), self.results("b.json", {"x": 200}, samples=5)
        self.assertEqual(self.compare(before, after), {"x": "unclear"})
        self.assertEqual(self.compare(after, before), {"x": "unclear"})
        remark = "1 row has fewer than 10 samples, as of --quick: too few to be called slower or faster\n"
        self.assertTrue(self.run_tool("compare", before, after).endswith(remark))
        long_before, long_after = (self.results(f"{t}.json", {"x": t}, samples=5) for t in (200e3, 300e3))
        self.assertEqual(self.compare(long_before, long_after, expect=1), {"x": "slower"})

    def test_compare_tells_rows_that_only_one_run_has(self):
        few, more = self.results("few.json", {"x": 100}), self.results("more.json", {"x": 100, "y": 100})
        self.assertEqual(self.compare(more, few, expect=1), {"x": "", "y": "missing"})
        self.assertEqual(self.compare(few, more), {"x": "", "y": "new"})
        self.assertEqual(self.compare(self.results("chosen.json", {"x *": 100, "y": 100}), more), {"x": "", "y": ""})
        self.assertRegex(self.run_tool("compare", few, more), r"1 row in both, 0 of them slower, 0 faster; 1 new in \S+more.json\n$")

    def test_compare_tells_what_was_skipped_and_why(self):
        before, after = self.results("a.json", {"x": 100}), self.results("b.json", {"x": 100}, skipped="no room")
        self.assertEqual(self.compare(before, after, expect=1), {"x": "missing"})
        self.assertEqual(self.compare(self.results("c.json", {"x": 1, "y": 1}), self.results("d.json", {"y": 1}), expect=1), {"x": "missing", "y": ""})
        done = subprocess.run([TOOL, "compare", before, after], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, re.sub(r"GPUMEM_EMULATION_SEED=\d+\n", "", done.stderr)), (1, ""))
        self.assertRegex(done.stdout, r"(?m)^g: x .*  missing: no room$")
        done = subprocess.run([TOOL, "compare", before, after, "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(done.stdout)["rows"][0]["skipped"], "no room")

    def test_compare_sees_other_problems_and_variants(self):
        before = self.results("a.json", {"x": 100}, problem="fill bytes=4 n=9", bytes=36, variant="v")
        for changes in ({"problem": "fill bytes=4 n=8", "bytes": 36}, {"problem": "fill bytes=4 n=9", "bytes": 32}):
            after = self.results("b.json", {"x": 200}, variant="v", **changes)
            self.assertEqual(self.compare(before, after, expect=1), {"x": "unlike"})
        after = self.results("b.json", {"x": 100}, problem="fill bytes=4 n=9", bytes=36, variant="w")
        self.assertTrue(self.run_tool("compare", before, after).endswith("\n1 row ran by another variant than before\n"))

    def test_compare_remarks_on_what_is_not_alike(self):
        run = json.loads(self.results("a.json", {"x": 1}).read_text())
        before = self.write("a.json", {**run, "quick": False, "interrupted": False, "device": {"name": "A", "driver": "1"}, "host": {"cpu": "c", "threads": 2}})
        after = self.write("b.json", {**run, "quick": True, "interrupted": True, "device": {"name": "B", "driver": "1"}, "host": {"cpu": "c", "threads": 4}})
        self.assertEqual(self.run_tool("compare", before, after).splitlines()[-4:],
                         [f"{after} was interrupted", "quick: false before, true after", 'device/name: "A" before, "B" after', "host/threads: 2 before, 4 after"])
        self.assertEqual(len(json.loads(self.run_tool("compare", before, after, "--json"))["remarks"]), 4)
        self.assertEqual(json.loads(self.run_tool("compare", before, before, "--json"))["remarks"], [])

    def test_compare_takes_what_bench_writes(self):
        path = self.folder / "run.json"
        path.write_text(self.run_tool("bench", "permute", "--quick", "--device", "host", "--json"))
        self.assertIn("5 rows in both, 0 of them slower, 0 faster", self.run_tool("compare", path, path))

    def test_compare_refuses_what_is_no_result(self):
        good = self.results("good.json", {"x": 1})
        other, wrong = self.results("other.json", {"y": 1}), self.results("wrong.json", {"x": 1}, verified=False)
        for name, text in {"text.json": "gpumem", "other_schema.json": "{}", "number.json": '{"schema": 1}', "rows.json": '{"schema": "gpumem.bench/1", "rows": [1]}'}.items():
            (self.folder / name).write_text(text)
        (self.folder / "folder.json").mkdir()
        for median, sentence in (("1", "is of the type string; expected number"), (0, "is 0; expected more than 0")):
            path = self.results("median.json", {"x": 1}, median_us=median)
            self.assertIn(f"median.json: row 1: 'median_us' {sentence}\n", self.run_tool("compare", good, path, expect=1))
        twice = self.write("twice.json", {"rows": 2 * json.loads(good.read_text())["rows"]})
        self.assertIn("twice.json: 'x' is there twice", self.run_tool("compare", good, twice, expect=1))
        self.write("later.json", {"schema": "gpumem.bench/2", "rows": []})
        self.assertIn('"gpumem.bench/2", expected "gpumem.bench/1"', self.run_tool("compare", good, self.folder / "later.json", expect=1))
        (self.folder / "empty.json").write_text("")
        self.assertIn("empty.json: it is empty", self.run_tool("compare", good, self.folder / "empty.json", expect=1))
        for name in ("text.json", "other_schema.json", "number.json", "rows.json", "missing.json", "folder.json", other.name, wrong.name):
            with self.subTest(name):
                self.assertIn(name, self.run_tool("compare", good, self.folder / name, expect=1))
        self.assertIn("AFTER", self.run_tool("compare", good, expect=2))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = os.path.abspath(sys.argv.pop())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
