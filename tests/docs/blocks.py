#!/usr/bin/env python3
"""Compiles and runs the C blocks of pages, and compares the output of a program with the block of text after it.

usage: blocks.py LIBRARY CUDA_INCLUDE PAGE...    CUDA_INCLUDE: a folder with cuda_runtime_api.h, or ''

If a block defines main(), it is one program. Without #include, it starts with the text before main() of the page's first program. Any other
block is a fragment, and is put into fragment.c in this folder, or into fragment_NAME.c if the fence is ```c NAME. All complete calls
in a page's tables, of the form `gpumem_name(ctx, ...)`, are one more fragment. A fragment is wrong if any call in it fails. C with
CUDA is only compiled, and Python with PyTorch and CuPy only parsed. shell.py runs blocks for a shell. Blocks for CMake must match the
project of tests/package that uses an installed copy. Blocks for CUDA, and those named `excerpt`, are excerpts. The paragraph before them links to their source, and each
run of their lines, between lines "// ...", must be in that file, in this order. Only the indentation may differ.
"""

import ast
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FENCE = re.compile(r"^```(\w+) ?(\w*)\n(.*?)^```$", re.M | re.S)
SOURCE = re.compile(r"\]\(([^)]+\.c(?:u|pp)?)\)")
LEFT_OUT = re.compile(r"^ *// \.\.\.\n", re.M)
CALL = re.compile(r"`(gpumem_\w+\((?:&?ctx|NULL)[^`]*\))`")
COMPILE = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-parameter",
           "-fopenmp", f"-I{ROOT}/include"]


class Wrong(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode or done.stderr:
        raise Wrong(f"exit status {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout


def build_and_run(text, library):
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "block.c", pathlib.Path(folder) / "block"
        source.write_text(text, encoding="utf-8")
        run([*COMPILE, source, "-o", program, library, f"-Wl,-rpath,{library.parent}"])
        return run([program])


def fragment(text, name, library, cuda):
    frame = HERE / (f"fragment_{name}.c" if name else "fragment.c")
    whole = frame.read_text(encoding="utf-8").replace("/* FRAGMENT */", f"\n{text}")
    if name != "cuda":
        build_and_run(whole, library)
    elif cuda:
        run([*COMPILE, f"-I{cuda}", "-fsyntax-only", "-x", "c", "-"], input=whole)


def same_as_the_consumer(block):
    """Lines for CMake must appear in the project that uses an installed copy, except for names."""
    consumer = (HERE.parent / "package/consumer/CMakeLists.txt").read_text(encoding="utf-8")
    for line in re.sub(r" *#.*", "", block).splitlines():
        if line.replace("program", "consumer") not in consumer:
            raise Wrong(f"tests/package/consumer does not have: {line}")


def excerpt(block, before, page):
    def check():
        links = SOURCE.findall(before.rstrip().rsplit("\n\n", 1)[-1])
        if len(links) != 1:
            raise Wrong("the paragraph before an excerpt needs one link to its source file")
        source, at = lines_of((page.parent / links[0]).read_text(encoding="utf-8")), 0
        for run_of_lines in filter(None, map(lines_of, LEFT_OUT.split(block))):
            places = range(at, len(source) - len(run_of_lines) + 1)
            place = next((i for i in places if source[i : i + len(run_of_lines)] == run_of_lines), None)
            if place is None:
                raise Wrong(f"{links[0]} does not have, in this order:\n" + "\n".join(run_of_lines))
            at = place + len(run_of_lines)

    return check


def lines_of(text):
    return [line.strip() for line in text.splitlines()]


def checks(page, library, cuda):
    """For each block of a page: its first line, and a function that checks it."""
    text = page.read_text(encoding="utf-8")
    first, expected, blocks = "", {}, list(FENCE.finditer(text))
    for match, following in zip(blocks, [*blocks[1:], None]):
        if following and following[1] == "text":
            expected[match.start()] = following[3]
    for match in blocks:
        language, name, block = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if language == "cuda" or name == "excerpt":
            yield line, excerpt(block, text[: match.start()], page)
        elif language == "c" and "int main(" in block:
            first = first or block.split("int main(")[0]
            yield line, program(block if "#include" in block else first + block, expected.get(match.start()), library)
        elif language == "c":
            yield line, lambda block=block, name=name: fragment(block, name, library, cuda)
        elif language == "python" and name:
            yield line, lambda block=block: ast.parse(block)
        elif language == "cmake":
            yield line, lambda block=block: same_as_the_consumer(block)
        elif language not in ("sh", "text"):
            yield line, refuse(f"unknown kind of block: {language} {name}")
    outside = FENCE.sub("", text)
    calls = CALL.findall("\n".join(line for line in outside.splitlines() if line.startswith("|")))
    if calls:
        yield 0, lambda: fragment("".join(f"{call};\n" for call in calls), "", library, cuda)
    for stray in re.findall(r"^    .*\bgpumem_\w+\(.*$", outside, re.M):
        yield 0, refuse(f"code outside of a fenced block: {stray.strip()}")


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def program(text, expected, library):
    def check():
        printed = build_and_run(text, library)
        if expected is not None and without_addresses(printed) != without_addresses(expected):
            raise Wrong(f"expected:\n{expected}printed:\n{printed}")

    return check


def refuse(sentence):
    def check():
        raise Wrong(sentence)

    return check


def main():
    library, cuda, *pages = sys.argv[1:]
    library = pathlib.Path(library).resolve()
    work = [(page, *each) for page in pages for each in checks(pathlib.Path(page), library, cuda)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (page, line, _), done in [(each, pool.submit(each[2])) for each in work]:
            try:
                done.result()
            except (Wrong, SyntaxError, OSError) as error:
                print(f"{page}:{line}: {error}")
                wrong += 1
    if not cuda:
        print("the CUDA headers are not installed: blocks that call CUDA were not checked")
    print(f"{len(work)} blocks, {wrong} of them wrong")
    return 1 if wrong or not work else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main())
