#!/usr/bin/env bash
# The library may need nothing but the C and C++ runtime, and must be known by its own name.
#
# usage: needed.sh LIBRARY
set -euo pipefail
library=$1
allowed='^(libc\.so\.6|libm\.so\.6|libstdc\+\+\.so\.6|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1)$'
soname=libgpumem.so.0

dynamic=$(LC_ALL=C readelf -d "$library")
mapfile -t needed < <(sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' <<<"$dynamic")
[ "${#needed[@]}" -gt 0 ] || { echo "$library: readelf shows nothing that it needs"; exit 1; }
printf 'needs %s\n' "${needed[@]}"
if printf '%s\n' "${needed[@]}" | grep -Ev "$allowed"; then
  echo 'is none of libc, libm, libstdc++, libgcc_s and ld-linux'
  exit 1
fi
if ! grep -q "(SONAME).*\[$soname\]" <<<"$dynamic"; then
  echo "its SONAME is not $soname:"
  grep SONAME <<<"$dynamic" || true
  exit 1
fi
if grep -E '\((RPATH|RUNPATH)\)' <<<"$dynamic"; then
  echo 'a library must not say where others are'
  exit 1
fi
if grep -q TEXTREL <<<"$dynamic"; then
  echo 'its code is relocated at run time'
  exit 1
fi
