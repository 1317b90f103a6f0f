#!/usr/bin/env bash
# A program that was compiled with an earlier header runs on the library as it is: with the baseline, and with shorter structs.
#
# usage: older.sh LIBRARY
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
library=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/baseline" "$scratch/shorter"
cp "$here/baseline.txt" "$scratch/baseline/gpumem.h"
"$here/baseline.py" --shorter >"$scratch/shorter/gpumem.h"
for version in baseline shorter; do
  "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$scratch/$version" -o "$scratch/program" "$here/older_program.c" "$library" \
    -Wl,-rpath,"$(dirname "$library")"
  echo -n "$version: "
  "$scratch/program"
done
