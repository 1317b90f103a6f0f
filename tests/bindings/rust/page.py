#!/usr/bin/env python3
"""Builds and runs the Rust programs of a page, and compares the output of each with the next block of text.

usage: page.py PAGE BINDINGS_RUST SCRATCH    with cargo on the PATH and GPUMEM_LIBRARY set
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(rust|text)\n(.*?)^```$", re.M | re.S)
MANIFEST = """[package]
name = "page"
version = "0.0.0"
edition = "2021"
[dependencies]
gpumem = {{ path = "{}/gpumem" }}
[workspace]
"""


def main():
    page, crates, scratch = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    programs, expected = [], {}
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "rust":
            programs.append(text)
        else:
            expected[len(programs) - 1] = text
    (scratch / "src/bin").mkdir(parents=True, exist_ok=True)
    (scratch / "Cargo.toml").write_text(MANIFEST.format(crates), encoding="utf-8")
    for number, text in enumerate(programs):
        (scratch / f"src/bin/program{number}.rs").write_text(text, encoding="utf-8")
    wrong = 0
    for number in range(len(programs)):
        done = subprocess.run(["cargo", "run", "--offline", "--quiet", "--bin", f"program{number}"], cwd=scratch,
                              capture_output=True, text=True)  # fmt: skip
        if done.returncode or done.stderr or done.stdout != expected.get(number, ""):
            print(f"program {number}: exit status {done.returncode}\n{done.stderr}printed:\n{done.stdout}")
            wrong += 1
    print(f"{len(programs)} programs, {wrong} of them wrong")
    return 1 if wrong or not programs else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main())
