#!/usr/bin/env python3
"""Proves that check_includes.py finds violations and accepts permitted includes."""

import pathlib
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def found(self, files):
        surroundings = dict.fromkeys(["src/backend/backend.hpp", "src/backend/host/pool.hpp", "kernels/limits.hpp", "src/dist/dist.hpp", "src/api/guard.hpp",
                                      "src/ops/ops.hpp", "src/select/select.hpp", "src/context/context.hpp", "src/memory/arena.hpp", "src/base/error.hpp",
                                      "kernels/copy/copy.cuh"], "")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**surroundings, **files}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_includes.violations(root))

    def test_allows_the_one_direction(self):
        files = {
            "include/gpumem.h": "#include <stdint.h>\n",
            "src/context/context.hpp": '#include "backend/backend.hpp"\n#include "memory/arena.hpp"\n// the CUDA backend calls dlopen\n',
            "src/select/variants.cpp": '#include "kernels/limits.hpp"\n#include "base/error.hpp"\n',
            "src/api/context.cpp": '#include "context/context.hpp"\n#include <gpumem.h>\n',
            "src/dist/dist.cpp": '#include "dist/dist.hpp"\n#include "context/context.hpp"\n#include "ops/ops.hpp"\n',
            "src/ops/copy/copy.cpp": '#include "select/select.hpp"\n#include "memory/arena.hpp"\n',
            "src/backend/cuda/runtime.cpp": '#include <cuda_runtime.h>\n#include "../backend.hpp"\n',
            "kernels/copy/copy.cu": "#include <cuda/std/cstdint>\n",
        }
        self.assertEqual(self.found(files), [])

    def test_finds_each_include_of_a_folder_above(self):
        header = {"api": "guard", "dist": "dist", "ops": "ops", "select": "select", "context": "context", "memory": "arena", "base": "error"}
        layers = [layer for layer in check_includes.LAYERS if layer in header]
        for height, above in enumerate(layers):
            for below in layers[height + 1:]:
                with self.subTest(above=above, below=below):
                    name = f"src/{below}/part.cpp"
                    found = self.found({name: f'#include "{above}/{header[above]}.hpp"\n'})
                    self.assertEqual(len(found), 1, found)
                    self.assertTrue(found[0].startswith(f"{name}:1: "), found)

    def test_finds_a_folder_without_a_place(self):
        found = self.found({"src/extras/part.cpp": ""})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("src/extras:1: "), found)

    def test_choosing_sees_no_context_and_no_memory(self):
        for header in ("context/context.hpp", "memory/arena.hpp"):
            self.assertEqual(len(self.found({"src/select/part.cpp": f'#include "{header}"\n'})), 1)

    def test_finds_each_violation_with_its_line(self):
        cases = [
            ("include/gpumem.h", "#include <stddef.h>\n"),
            ("src/api/memory.cpp", '#include "backend/backend.hpp"\n'),
            ("src/api/memory.cpp", '#include "../backend/host/pool.hpp"\n'),
            ("src/memory/memory.cpp", '#include "backend/host/pool.hpp"\n'),
            ("src/memory/memory.cpp", "#include <cuda_runtime.h>\n"),
            ("src/memory/memory.cpp", '#include "dist/dist.hpp"\n'),
            ("src/dist/dist.hpp", '#include "api/guard.hpp"\n'),
            ("src/memory/memory.cpp", "#  include <cuda_fp16.h>\n"),
            ("src/memory/memory.cpp", 'void *library = dlopen("libcuda.so.1", 0);\n'),
            ("src/backend/backend.hpp", "#include <cuda_runtime.h>\n"),
            ("src/memory/memory.cpp", '#include "kernels/copy/copy.cuh"\n'),
            ("src/backend/cuda/copy.cpp", '#include "backend/host/pool.hpp"\n'),
            ("src/backend/host/copy.cpp", "#include <cuda_runtime.h>\n"),
            ("kernels/copy/copy.cu", '#include "backend/backend.hpp"\n'),
            ("tools/main.cpp", '#include "../src/backend/backend.hpp"\n'),
        ]
        for name, line in cases:
            with self.subTest(name=name, line=line):
                found = self.found({name: "\n" + line})
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(f"{name}:2: "), found)


if __name__ == "__main__":
    unittest.main()
