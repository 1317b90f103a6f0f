#!/usr/bin/env bash
# Compiles the public header with one compiler as every standard of one language, each warning an error: alone, and with
# a table of every function. A standard that the compiler does not know yet is named and left out. Exits 77 (skipped)
# when the compiler is not there.
#
# usage: compile.sh COMPILER c|c++ INCLUDE_DIR
set -euo pipefail
compiler=$1 language=$2 include=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v "$compiler" >/dev/null; then
  echo "$compiler is not installed"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wwrite-strings
  -Wredundant-decls -Werror)
if [ "$language" = c ]; then
  standards=(c99 c11 c17 c2x)
  warnings+=(-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
else
  standards=(c++11 c++14 c++17 c++20 c++23)
  warnings+=(-Wold-style-cast -Wzero-as-null-pointer-constant -Wnon-virtual-dtor)
fi
if "$compiler" --version | grep -q clang; then
  # All there is, but for what forbids the standard's own features or asks for older ones.
  warnings+=(-Weverything -Wno-unsafe-buffer-usage -Wno-unknown-warning-option -Wno-c++98-compat -Wno-c++98-compat-pedantic
    -Wno-pre-c2x-compat -Wno-c99-compat -Wno-declaration-after-statement -Wno-unused-macros)
fi

printf '#include "gpumem.h"\n' >"$scratch/alone"
: >"$scratch/empty"
compiled=0
for standard in "${standards[@]}"; do
  if ! "$compiler" -std="$standard" -fsyntax-only -x "$language" "$scratch/empty" 2>"$scratch/log"; then
    if [ "$standard" = c++23 ] && "$compiler" -std=c++2b -fsyntax-only -x "$language" "$scratch/empty" 2>/dev/null; then
      standard=c++2b
    else
      echo "$compiler does not know -std=$standard"
      continue
    fi
  fi
  for source in "$scratch/alone" "$here/every_function.c"; do
    "$compiler" -std="$standard" "${warnings[@]}" -fsyntax-only -I"$include" -x "$language" "$source"
  done
  echo "$compiler -std=$standard: clean"
  compiled=$((compiled + 1))
done
[ "$compiled" -ge 3 ] || { echo "only $compiled standards were compiled"; exit 1; }
