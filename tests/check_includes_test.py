#!/usr/bin/env python3
"""Proves that check_includes.py finds what it is there to find, and passes what is allowed."""

import pathlib
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def found(self, files):
        surroundings = dict.fromkeys(["src/backend/backend.hpp", "src/backend/host/pool.hpp", "kernels/limits.hpp", "src/dist/dist.hpp", "src/api/guard.hpp",
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
            "src/context/context.hpp": '#include "backend/backend.hpp"\n// the CUDA backend calls dlopen\n',
            "src/select/variants.cpp": '#include "kernels/limits.hpp"\n',
            "src/api/context.cpp": '#include "context/context.hpp"\n#include <gpumem.h>\n',
            "src/dist/dist.cpp": '#include "dist/dist.hpp"\n#include "context/context.hpp"\n',
            "src/backend/cuda/runtime.cpp": '#include <cuda_runtime.h>\n#include "../backend.hpp"\n',
            "kernels/copy/copy.cu": "#include <cuda/std/cstdint>\n",
        }
        self.assertEqual(self.found(files), [])

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
