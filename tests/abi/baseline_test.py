#!/usr/bin/env python3
"""Proves that tests/abi/baseline.py reports each kind of change to the header, and accepts permitted additions."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import baseline  # noqa: E402

TEXT = baseline.BASELINE.read_text(encoding="utf-8")

# Text to replace, its replacement, and a part of the error message.
BREAKS = [
    ("  GPUMEM_EMPTY = 5,\n", "", "constant GPUMEM_EMPTY is gone"),
    ("GPUMEM_EMPTY = 5", "GPUMEM_EMPTY = 55", "constant GPUMEM_EMPTY was"),
    ("typedef int32_t gpumem_axis", "typedef int64_t gpumem_axis", "type gpumem_axis was"),
    ("typedef struct gpumem_event gpumem_event;\n", "", "handle gpumem_event is gone"),
    ("(*gpumem_task_fn)(void* task_state, ", "(*gpumem_task_fn)(", "callback gpumem_task_fn was"),
    ("gpumem_free(gpumem_ctx* ctx, void* p)", "gpumem_free(gpumem_ctx* ctx, const void* p)", "function gpumem_free was"),
    ("gpumem_free(gpumem_ctx* ctx, void* p)", "gpumem_release(gpumem_ctx* ctx, void* p)", "function gpumem_free is gone"),
    ("  int32_t ours;\n", "", "gpumem_pointer_info: ours was"),
    ("  int32_t ours;\n", "  int64_t ours;\n", "gpumem_pointer_info: ours was"),
    ("  const void* base;\n", "", "gpumem_pointer_info lost base"),
]
ADDITIONS = [
    ("GPUMEM_EMPTY = 5,\n", "GPUMEM_EMPTY = 5,\n  GPUMEM_NEW = 77,\n"),
    ("  const void* base;\n", "  const void* base;\n  int64_t more;\n"),
    ("#endif", "GPUMEM_API gpumem_status gpumem_new(gpumem_ctx* ctx);\n#endif"),
]


class Baseline(unittest.TestCase):
    def changes(self, new, old=TEXT):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("old", "new")]
            for path, text in zip(paths, (old, new)):
                path.write_text(text, encoding="utf-8")
            return list(baseline.changes(*map(baseline.read, paths)))

    def test_breaks_are_seen(self):
        for before, after, sentence in BREAKS:
            with self.subTest(sentence):
                self.assertIn(before, TEXT)
                found = self.changes(TEXT.replace(before, after, 1))
                self.assertTrue(any(sentence in each for each in found), found)

    def test_additions_are_no_changes(self):
        for before, after in ADDITIONS:
            with self.subTest(after):
                self.assertIn(before, TEXT)
                self.assertEqual(self.changes(TEXT.replace(before, after, 1)), [])

    def test_padding_stays_padding(self):
        padded = TEXT.replace("  const void* base;\n", "  const void* base;\n  int32_t last;\n", 1)
        found = self.changes(padded.replace("  int32_t last;\n", "  int32_t last;\n  int32_t more;\n", 1), padded)
        self.assertTrue(any("more lies in what was padding" in each for each in found), found)

    def test_the_baseline_is_what_it_is_read_as(self):
        self.assertEqual(baseline.text(baseline.read(baseline.BASELINE)), TEXT)


if __name__ == "__main__":
    unittest.main()
