#!/usr/bin/env bash
# What abidiff sees between the baseline and the header, in libraries of nothing but their functions: it reads types from debug
# information, which the library that is shipped has none of. tests/abi/symbols.py holds that one's symbols against the header.
#
# usage: abidiff.sh HEADER    exits 77 where abidiff is not installed
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
command -v abidiff >/dev/null || { echo 'abidiff (abigail-tools) is not installed'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Makes <name>.so of the functions of a header.
library_of() {
  "$here/baseline.py" --stubs "$2" >"$scratch/$1.c"
  "${CC:-cc}" -g -fPIC -shared -o "$scratch/$1.so" "$scratch/$1.c"
}
library_of baseline "$here/baseline.txt"
library_of header "$1"
abidiff "$scratch/baseline.so" "$scratch/header.so"

"$here/baseline.py" --shorter >"$scratch/shorter.txt"
library_of shorter "$scratch/shorter.txt"
if abidiff "$scratch/baseline.so" "$scratch/shorter.so" >/dev/null; then
  echo 'abidiff sees no difference between structs of different lengths'
  exit 1
fi
