#!/usr/bin/env python3
"""Compares the bill of materials with the parts of SPDX 2.3 that gpumem uses, and with the library's dependencies.

usage: sbom.py SPDX_FILE LIBRARY
"""

import json
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    sbom = json.load(file)
packages = {package["SPDXID"]: package for package in sbom["packages"]}
links = {(r["relationshipType"], r["relatedSpdxElement"]) for r in sbom["relationships"]}

assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0", sbom["spdxVersion"]
assert re.fullmatch(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}Z", sbom["creationInfo"]["created"]), sbom["creationInfo"]
assert len(packages) == len(sbom["packages"]), "an id stands twice"
for package in packages.values():
    assert package["name"] and package["versionInfo"] and package["downloadLocation"], package
assert {related for _, related in links} == set(packages), "each package has its relationship"

# Each library that the loader needs belongs to one of the two system packages. None is the CUDA runtime.
elf = subprocess.run(["readelf", "-dSW", sys.argv[2]], check=True, text=True, stdout=subprocess.PIPE).stdout
needed = re.findall(r"NEEDED.*\[(.*?)\]", elf)
system = {"libc": ("libc.so", "libm.so", "ld-linux"), "libstdc++": ("libstdc++", "libgcc_s")}
dynamic = [package["name"] for id, package in packages.items() if ("DYNAMIC_LINK", id) in links]
prefixes = tuple(prefix for name in dynamic for prefix in system[name])
assert needed and all(name.startswith(prefixes) for name in needed), f"{needed} are not all of {dynamic}"
assert (".nv_fatbin" in elf) == ("SPDXRef-cudart" in packages), "the CUDA runtime"
print(", ".join(f"{package['name']} {package['versionInfo']}" for package in packages.values()))
