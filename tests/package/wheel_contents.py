#!/usr/bin/env python3
"""Compares a wheel's RECORD with its files, and its tag with the system libraries that objdump finds.

usage: wheel_contents.py WHEEL
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

EXPECTED = ["gpumem/libgpumem.so.0", "gpumem/_gpumem.abi3.so", "gpumem/py.typed", "licenses/LICENSE", "licenses/NOTICE"]


def record_faults(wheel):
    record = next(name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
    listed = dict(line.split(",", 1) for line in wheel.read(record).decode().splitlines())
    for name in wheel.namelist():
        data = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        if name != record and listed.get(name) != f"sha256={digest},{len(data)}":
            yield f"RECORD has {listed.get(name)} of {name}"
    yield from (f"RECORD names {name}, which is not there" for name in listed.keys() - set(wheel.namelist()))
    yield from (f"{name} is missing" for name in EXPECTED if not any(each.endswith(name) for each in listed))


def newest_glibc(library):
    said = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    return max(tuple(int(part) for part in version.split(".")) for version in re.findall(r"\(GLIBC_([\d.]+)\)", said))


def tag_faults(path, wheel):
    match = re.search(r"-cp311-abi3-manylinux_(\d+)_(\d+)_\w+\.whl$", path)
    if not match:
        yield f"{path} has no tag of a manylinux"
        return
    tag = int(match[1]), int(match[2])
    with tempfile.TemporaryDirectory() as scratch:
        for name in (name for name in wheel.namelist() if ".so" in name):
            newest = newest_glibc(wheel.extract(name, scratch))
            print(f"{name} takes glibc {newest[0]}.{newest[1]}")
            if newest[:2] > tag:
                yield f"{name} takes glibc {newest}, newer than the tag {tag}"


def main():
    path = sys.argv[1]
    with zipfile.ZipFile(path) as wheel:
        faults = [*record_faults(wheel), *tag_faults(pathlib.Path(path).name, wheel)]
    print("\n".join(faults) or "the wheel is what it says")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
