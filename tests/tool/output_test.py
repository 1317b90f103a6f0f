#!/usr/bin/env python3
"""Checks that the `gpumem` command reports output that can't be written or is incomplete, and then keeps the old file.

usage: output_test.py PATH_OF_GPUMEM
"""

import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TOOL = ""
GENERATE = ("grid", "--generate", "64x48", "--device", "host")
# All characters that a terminal obeys, except line ends.
OBEYED = "[\0-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]"
TRACE = "gpumem-trace 1\na 1 1 0x1000 64 pinned 256 0x0\nf 2 1 0x1000 0x0\n"


def limit_files_to_1_kib():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


class Output(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        trace = self.folder / "trace"
        trace.write_text(TRACE)
        self.commands = [("--version",), ("--help",), ("devices",), ("devices", "--json"), ("variants",),
                         ("variants", "--json"), GENERATE, (*GENERATE, "--json"), ("grid", "--help"),
                         ("replay", trace, "--device", "host"), ("replay", trace, "--device", "host", "--json")]

    def run_tool(self, *args, **options):
        return subprocess.run([TOOL, *map(str, args)], stderr=subprocess.PIPE, text=True, timeout=120,
                              **{"stdout": subprocess.DEVNULL, **options})

    def expect_failure(self, done, word):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(word, done.stderr)

    def test_a_full_device_is_a_failure(self):
        for command in self.commands:
            with self.subTest(command), open("/dev/full", "wb") as full:
                self.expect_failure(self.run_tool(*command, stdout=full), "standard output")

    def test_a_closed_standard_output_is_a_failure(self):
        for command in self.commands:
            with self.subTest(command):
                self.expect_failure(self.run_tool(*command, preexec_fn=lambda: os.close(1)), "standard output")

    def test_a_file_beyond_its_limit_leaves_the_old_one(self):
        out = self.folder / "out.npy"
        out.write_text("old")
        self.expect_failure(self.run_tool(*GENERATE, "--out", out, preexec_fn=limit_files_to_1_kib), "out.npy: writing")
        self.assertEqual(out.read_text(), "old")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["out.npy", "trace"])

    def test_the_place_of_the_output(self):
        for place in (self.folder / "none" / "out.npy", "/dev/full", self.folder):
            with self.subTest(place):
                self.expect_failure(self.run_tool(*GENERATE, "--out", place), str(place))
        huge = ("grid", "--generate", "1000000000x1000000000", "--device", "host")
        self.expect_failure(self.run_tool(*huge, "--out", self.folder / "none" / "out.npy"), "none")  # before the memory is allocated
        self.assertEqual(self.run_tool(*GENERATE, "--out", "/dev/null").returncode, 0)

    def test_a_file_keeps_its_mode_and_a_link_stays_one(self):
        out = self.folder / "out.npy"
        self.run_tool(*GENERATE, "--out", out, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o640)
        out.chmod(0o604)
        link = self.folder / "link.npy"
        link.symlink_to("out.npy")
        out.write_text("old")
        self.assertEqual(self.run_tool(*GENERATE, "--out", link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertNotEqual(out.read_bytes(), b"old")
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o604)
        out.chmod(0o6751)  # a new file must not be set-user-ID or set-group-ID
        self.assertEqual(self.run_tool(*GENERATE, "--out", out).returncode, 0)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o751)
        (self.folder / "sub").mkdir()
        dangling = self.folder / "dangling.npy"
        dangling.symlink_to("sub/new.npy")
        self.assertEqual(self.run_tool(*GENERATE, "--out", dangling).returncode, 0)
        self.assertTrue(dangling.is_symlink())
        self.assertEqual((self.folder / "sub" / "new.npy").read_bytes(), out.read_bytes())
        loop = self.folder / "loop.npy"
        loop.symlink_to("loop.npy")
        self.expect_failure(self.run_tool(*GENERATE, "--out", loop), "loop.npy: opening it")

    def test_standard_output_by_its_name(self):
        for name in ("/dev/stdout", "/dev/fd/1"):
            out = self.folder / "both.html"
            with self.subTest(name), open(out, "wb") as file:
                done = self.run_tool("bench", "permute", "--quick", "--device", "host", "--report", name, stdout=file)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(out.read_text(), r"(?s)^host: .*all verified\n<!.*</html>\s*$")
            done = self.run_tool("bench", "permute", "--quick", "--device", "host", "--report", name, stdout=subprocess.PIPE)
            self.assertRegex(done.stdout, r"(?s)^host: .*all verified\n<!.*</html>\s*$")

    def test_control_characters_are_shown_as_bytes(self):
        name = self.folder / "a\033]0;b\a\u009bc\n\u00e9.npy"
        sentence = f"gpumem: {self.folder}/a\\x1b]0;b\\x07\\x9bc\\x0a\u00e9.npy: cannot be read: No such file or directory\n"
        said = self.run_tool("grid", name).stderr  # an emulated device first prints its seed
        self.assertTrue(said.endswith(sentence), said)
        self.assertIn("not expected: \\x1b[2J\n", self.run_tool("devices", "\033[2J").stderr)
        self.assertEqual(self.run_tool(*GENERATE, "--out", name).returncode, 0)
        self.assertNotRegex(self.run_tool(*GENERATE, "--out", name, "--json", stdout=subprocess.PIPE).stdout, OBEYED)
        self.assertIn("wrote " + sentence[len("gpumem: "):sentence.index(": cannot")], self.run_tool(*GENERATE, "--out", name, stdout=subprocess.PIPE).stdout)

    def test_nothing_is_printed_that_is_obeyed(self):
        obeyed = "\x7f\u009b\u061c\u200e\u202e\u2029\u2066\t"
        as_shown = "\\x7f\\x9b\\u061c\\u200e\\u202e\\u2029\\u2066\\x09"
        self.assertIn(as_shown, self.run_tool("grid", self.folder / (obeyed + ".npy")).stderr)
        self.assertIn("\\xff\\xe2\\x80", self.run_tool("grid", os.fsdecode(b"\xff\xe2\x80")).stderr)
        self.assertIn("'" + as_shown.removesuffix("\\x09"), self.run_tool("explain", "fill", "bytes=" + obeyed).stderr)
        # The text of a results file is not trusted.
        row = {"group": "g" + obeyed, "label": "l" + obeyed, "skipped": None, "verified": True, "median_us": 1, "q1_us": 1, "q3_us": 1,
               "samples": 20, "problem": "p", "bytes": 1, "variant": "v"}
        runs = []
        for cpu in ("a", "b" + obeyed):
            runs.append(self.folder / f"{cpu[0]}{obeyed}.json")
            missing = {**row, "label": "m" + obeyed, "skipped": "s" + obeyed} if runs[1:] else {**row, "label": "m" + obeyed}
            runs[-1].write_text(json.dumps({"schema": "gpumem.bench/1", "host": {"cpu": cpu}, "rows": [row, missing]}))
        # The words of an operation descriptor may be separated by any blanks.
        line = "fill\rbytes=4\tn=100"
        for command in (("compare", *runs), ("compare", *runs, "--json"), ("bench", line, "--quick", "--device", "host"),
                        ("bench", line, "--quick", "--device", "host", "--csv"), ("bench", line, "--quick", "--device", "host", "--json"),
                        ("bench", line, "--quick", "--device", "host", "--report", "/dev/stdout")):
            with self.subTest(command):
                done = self.run_tool(*command, stdout=subprocess.PIPE, env={**os.environ, "GPUMEM_COMMIT": obeyed})
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotRegex(done.stdout.replace("\r\n", "\n") + done.stderr, OBEYED)

    # A file that was only opened as a test is empty.
    def is_written(self, name):
        try:
            return any(path.stat().st_size > 0 for path in self.folder.glob(name + "*"))
        except FileNotFoundError:
            return False

    def test_a_run_that_is_ended_leaves_nothing_beside(self):
        for end, status in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
            for _ in range(20):  # until it is met while it writes
                out = self.folder / "ended.npy"
                out.unlink(missing_ok=True)
                run = subprocess.Popen([TOOL, "grid", "--generate", "3000x4000", "--device", "host", "--json", "--out", out],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                while run.poll() is None and not self.is_written("ended.npy"):
                    pass
                run.send_signal(end)
                report = run.communicate(timeout=120)[0]
                if run.returncode == status and not out.exists():
                    break
                if out.exists():  # it ended before the signal, or the signal came behind the write
                    self.assertEqual(out.stat().st_size, 128 + 3000 * 4000 * 4)
            self.assertEqual(run.returncode, status)
            self.assertEqual([path.name for path in self.folder.iterdir()], ["trace"])
            if end == signal.SIGINT:
                report = json.loads(report)
                self.assertEqual((report["interrupted"], report["statistics_agree"], report["output"]), (True, True, None))

    def test_two_interrupts_at_once_are_one(self):  # as timeout(1) sends them
        for seconds in (2, 6, 20, 20, 20):  # until it is met behind its start, and the second signal in time
            run = subprocess.Popen([TOOL, "bench", "all", "--device", "host", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            time.sleep(seconds)
            run.send_signal(signal.SIGINT)
            first = time.monotonic()
            time.sleep(0.01)  # signals that are sent at once are one to the system, too
            run.send_signal(signal.SIGINT)
            late = time.monotonic() - first > 0.1
            report = run.communicate(timeout=120)[0]
            if run.returncode != -signal.SIGINT and not late:
                break
        self.assertEqual((run.returncode, json.loads(report)["interrupted"]), (130, True))

    def test_an_interrupt_that_is_ignored_stays_so(self):
        run = subprocess.Popen([TOOL, "tune", "reduce dtype=f32 op=sum n=20000", "--budget", "1", "--device", "host", "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        report = json.loads(run.communicate(timeout=120)[0])
        self.assertEqual((run.returncode, report["interrupted"], len(report["rows"])), (0, False, 1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
