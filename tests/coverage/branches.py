#!/usr/bin/env python3
"""Checks which branches of src/ the tests take, among the branches of the host build.

usage: branches.py LLVM_COV PROFILE_HOST PROFILE_EMULATED

Each profile is in build/coverage-<build>, with the programs of its build. A branch is one outcome of one condition of the source. All
instances of a template and all instruction sets count together. clang does not count edges of exceptions. Tests on the emulated
device count too, because the host backend has no device memory. left.txt must list every other branch, with the reason.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ('tests/unit/unit_tests', 'tests/fault/gpumem_cuda_fault_test', 'tests/fault/gpumem_during_capture_test', 'tests/emulation/gpumem_granules_test', 'tests/emulation/emulation_test')


def branches(llvm_cov, build, profile):
    """{(file, line, column, last line, last column): [times true, times false]}"""
    binaries = [build / 'libgpumem.so'] + [build / name for name in PROGRAMS if (build / name).exists()]
    command = [llvm_cov, 'export', f'-instr-profile={profile}', binaries[0]] + [word for binary in binaries[1:] for word in ('-object', binary)]
    exported = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    counts = collections.defaultdict(lambda: [0, 0])
    for function in exported['data'][0]['functions']:
        for line, column, last_line, last_column, true, false, file, *_ in function['branches']:
            name = os.path.relpath(os.path.normpath(function['filenames'][file]), ROOT)
            if not name.startswith('src/'):
                continue
            count = counts[name, line, column, last_line, last_column]
            count[0] += true
            count[1] += false
    return counts


def text_of(place):
    name, line, column, last_line, last_column = place
    lines = (ROOT / name).read_text().split('\n')[line - 1:last_line]
    lines[-1] = lines[-1][:last_column - 1]
    lines[0] = lines[0][column - 1:]
    return ' '.join(' '.join(lines).split())


def explained():
    """The lines of left.txt, below a line "# why": {"file: condition"}."""
    lines = (ROOT / 'tests/coverage/left.txt').read_text().splitlines()
    return {line for line in lines if line and not line.startswith('#')}


def main():
    llvm_cov, of_host, of_emulated = sys.argv[1:]
    host = branches(llvm_cov, ROOT / 'build/coverage-host', of_host)
    emulated = branches(llvm_cov, ROOT / 'build/coverage-emulated', of_emulated)
    alone = sum(bool(count) for counts in host.values() for count in counts)
    left = []
    for place, counts in sorted(host.items()):
        missed = [not (count or other) for count, other in zip(counts, emulated.get(place, (0, 0)))]
        if any(missed):
            left.append((place, missed))
    both = 2 * len(host) - sum(sum(missed) for _, missed in left)
    known = explained()
    unknown = 0
    for place, missed in left:
        line = f'{place[0]}: {text_of(place)}'
        if line not in known:
            unknown += 1
            print(f'{place[0]}:{place[1]}: {"neither" if all(missed) else "never true" if missed[0] else "never false"}: {text_of(place)}')
    for line in sorted(known - {f'{place[0]}: {text_of(place)}' for place, _ in left}):
        print(f'left.txt: is taken, or is gone: {line}')
    share = both / (2 * len(host))
    print(f'{2 * len(host)} branches; {alone / (2 * len(host)):.2%} taken by the tests of the host, {share:.2%} with those of the emulated device; '
          f'{len(left)} conditions left, {unknown} of them not in left.txt')
    return 0 if share >= 0.95 and unknown == 0 else 1


if __name__ == '__main__':
    sys.exit(main())
