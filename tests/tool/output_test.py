#!/usr/bin/env python3
"""What the `gpumem` command does where its output can't be written, or is cut short: it says so, and the old file stays.

usage: output_test.py PATH_OF_GPUMEM
"""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = ""
GENERATE = ("grid", "--generate", "64x48", "--device", "host")
TRACE = "gpumem-trace 1\na 1 1 0x1000 64 pinned 256 0x0\nf 2 1 0x1000 0x0\n"


# What goes beyond is a signal; ignored, it is an error as of a full disk.
def limit_files_to_1_kib(action):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    signal.signal(signal.SIGXFSZ, action)


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

    def test_a_full_disk_leaves_the_old_file(self):
        out = self.folder / "out.npy"
        out.write_text("old")
        self.expect_failure(self.run_tool(*GENERATE, "--out", out, preexec_fn=lambda: limit_files_to_1_kib(signal.SIG_IGN)),
                            "out.npy: writing")
        self.assertEqual(out.read_text(), "old")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["out.npy", "trace"])

    def test_the_place_of_the_output(self):
        for place in (self.folder / "none" / "out.npy", "/dev/full", self.folder):
            with self.subTest(place):
                self.expect_failure(self.run_tool(*GENERATE, "--out", place), str(place))
        huge = ("grid", "--generate", "1000000000x1000000000", "--device", "host")
        self.expect_failure(self.run_tool(*huge, "--out", self.folder / "none" / "out.npy"), "none")  # before the memory is asked for
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

    # What is tried at first stays empty.
    def is_written(self, name):
        try:
            return any(path.stat().st_size > 0 for path in self.folder.glob(name + "*"))
        except FileNotFoundError:
            return False

    def test_a_killed_run_leaves_the_old_file(self):
        out = self.folder / "out.npy"
        out.write_text("old")
        done = self.run_tool(*GENERATE, "--out", out, preexec_fn=lambda: limit_files_to_1_kib(signal.SIG_DFL))
        self.assertEqual(done.returncode, -signal.SIGXFSZ)
        self.assertEqual(out.read_text(), "old")

    def test_a_run_that_is_ended_leaves_nothing_beside(self):
        for end in (signal.SIGINT, signal.SIGTERM):
            for _ in range(20):  # until it is met while it writes
                out = self.folder / "ended.npy"
                out.unlink(missing_ok=True)
                run = subprocess.Popen([TOOL, "grid", "--generate", "1500x2000", "--device", "host", "--out", out],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                while run.poll() is None and not self.is_written("ended.npy"):
                    pass
                run.send_signal(end)
                if run.wait(timeout=120) == -end:
                    break
            self.assertEqual(run.returncode, -end)
            self.assertEqual([path.name for path in self.folder.iterdir()], ["trace"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TOOL = sys.argv.pop()
    unittest.main()
