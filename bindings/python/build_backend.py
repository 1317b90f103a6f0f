#!/usr/bin/env python3
"""Makes a wheel of the Python package with the library inside. This is a PEP 517 back end.

`pip install bindings/python` builds the library first. CMAKE_ARGS has options for CMake. With
`--config-settings build-dir=build/user`, it uses this build. The folder is relative to the folder of the pip command.

usage: build_backend.py BUILD_FOLDER OUTPUT_FOLDER    prints the wheel's name
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The symbol versions of glibc, libstdc++ and libgcc that each tag guarantees. Source: auditwheel, manylinux-policy.json.
MANYLINUX = {
    "2_17": {"GLIBC": "2.17", "GLIBCXX": "3.4.19", "CXXABI": "1.3.7", "GCC": "4.8.0"},
    "2_28": {"GLIBC": "2.28", "GLIBCXX": "3.4.24", "CXXABI": "1.3.11", "GCC": "7.0.0"},
    "2_31": {"GLIBC": "2.31", "GLIBCXX": "3.4.28", "CXXABI": "1.3.12", "GCC": "7.0.0"},
    "2_34": {"GLIBC": "2.34", "GLIBCXX": "3.4.29", "CXXABI": "1.3.13", "GCC": "7.0.0"},
    "2_35": {"GLIBC": "2.35", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"},
    "2_36": {"GLIBC": "2.36", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"},
    "2_38": {"GLIBC": "2.38", "GLIBCXX": "3.4.30", "CXXABI": "1.3.13", "GCC": "12.0.0"},
    "2_39": {"GLIBC": "2.39", "GLIBCXX": "3.4.33", "CXXABI": "1.3.15", "GCC": "14.0.0"},
}
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1"}


def numbers(version):
    return [int(part) for part in version.split(".")]


def needs(library):
    """The newest version of each kind of symbol that a library needs. Raises RuntimeError if it needs an uncommon library."""
    said = subprocess.run(["readelf", "-dVW", library], check=True, capture_output=True, text=True).stdout
    others = set(re.findall(r"\(NEEDED\).*\[(.+)\]", said)) - EVERYWHERE
    others = {name for name in others if not name.startswith("ld-linux")}
    if others:
        raise RuntimeError(f"{library} needs {', '.join(sorted(others))}, which some systems do not have")
    newest = {}
    for kind, version in re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)", said):
        newest[kind] = max(version, newest.get(kind, "0"), key=numbers)
    return newest


def platform_tag(libraries):
    """The oldest manylinux that has all symbols that the libraries need."""
    newest = [needs(library) for library in libraries]
    for tag, offered in MANYLINUX.items():
        if all(numbers(version) <= numbers(offered[kind]) for one in newest for kind, version in one.items()):
            return f"manylinux_{tag}_{platform.machine()}"
    raise RuntimeError(f"no manylinux tag provides all of {newest}")


def cache(build, name):
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(rf"^{name}:\w+=(.*)$", text, re.M)[1]


def built():
    """Builds the library for this Python, with the CUDA backend if a CUDA compiler is found."""
    build = ROOT / "build" / "wheel"
    left_out = [f"-DGPUMEM_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES", "TOOLS")]
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DGPUMEM_RELEASE_ARCHITECTURES=ON",
                    f"-DPython3_EXECUTABLE={sys.executable}", *left_out, *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)  # fmt: skip
    subprocess.run(["cmake", "--build", build], check=True)
    return build


def given_build(folder):
    """Resolves the caller's build folder, because pip runs this in the package's own folder."""
    build = pathlib.Path(os.readlink(f"/proc/{os.getppid()}/cwd"), folder)
    if not (build / "CMakeCache.txt").is_file():
        raise FileNotFoundError(f"build-dir={folder}: {build} is not a build folder: it has no CMakeCache.txt")
    return build


def contents(build, scratch):
    """The installed files and the library, by their names in the wheel, and the platform tag."""
    for component in ("library", "python"):
        subprocess.run(["cmake", "--install", build, "--strip", "--prefix", scratch, "--component", component],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    package = scratch / cache(build, "GPUMEM_PYTHON_DIR") / "gpumem"
    files = {f"gpumem/{file.name}": file.read_bytes() for file in sorted(package.iterdir())}
    library = scratch / cache(build, "CMAKE_INSTALL_LIBDIR") / "libgpumem.so.0"
    files[f"gpumem/{library.name}"] = library.read_bytes()
    return files, platform_tag([library, package / "_gpumem.abi3.so"])


def metadata(version):
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\nSummary: {project['description']}\n"
            f"License: Apache-2.0\nRequires-Python: {project['requires-python']}\n")  # fmt: skip


def write(path, files, record):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        lines = []
        for name, data in files.items():
            wheel.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # without the time, so that the same files make the same wheel
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
        wheel.writestr(zipfile.ZipInfo(record), "\n".join([*lines, f"{record},,", ""]))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-dir")
    build = given_build(given) if given else built()
    version = cache(build, "CMAKE_PROJECT_VERSION")
    info = f"gpumem-{version}.dist-info"
    with tempfile.TemporaryDirectory() as scratch:
        files, system = contents(build, pathlib.Path(scratch))
    tag = f"cp311-abi3-{system}"
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gpumem\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    for notice in ("LICENSE", "NOTICE"):
        files[f"{info}/licenses/{notice}"] = (ROOT / notice).read_bytes()
    name = f"gpumem-{version}-{tag}.whl"
    write(pathlib.Path(wheel_directory) / name, files, f"{info}/RECORD")
    return name


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print(build_wheel(sys.argv[2], {"build-dir": os.path.abspath(sys.argv[1])}))
