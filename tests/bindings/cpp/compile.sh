#!/usr/bin/env bash
# Compiles the binding's own tests with one compiler as C++17, 20 and 23, each warning an error; each header alone; without
# exceptions and run-time types; and sees the compiler refuse each mistake of refused.cpp, in the words beside it. Exits 77 (skipped) when the compiler is not there.
#
# usage: compile.sh COMPILER SOURCE_DIR
set -euo pipefail
compiler=$1 source=$2
here=$source/tests/bindings/cpp

if ! command -v "$compiler" >/dev/null; then
  echo "$compiler is not installed"
  exit 77
fi
flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor -Werror
  -I"$source/bindings/cpp" -I"$source/include" -I"$source/tests")

for standard in c++17 c++20 c++2b; do
  printf '#include "%s"\n' "$here"/{memory,operations,context,dist}_test.cpp | "$compiler" -std=$standard "${flags[@]}" -I"$here" -x c++ -
  echo "$compiler -std=$standard: clean"
done
for header in "$source"/bindings/cpp/gpumem.hpp "$source"/bindings/cpp/gpumem/*.hpp; do
  case $header in */cuda_memory_resource.hpp) continue ;; esac # it takes CCCL
  echo "#include \"$header\"" | "$compiler" -std=c++17 "${flags[@]}" -fno-exceptions -fno-rtti -x c++ -
done
echo "$compiler: each header alone, without exceptions and run-time types: clean"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
said=$scratch/said
echo '#include <gpumem.hpp>' >"$scratch/binding.hpp" # compiled once for all mistakes
"$compiler" -std=c++17 "${flags[@]/-fsyntax-only/-w}" -x c++-header "$scratch/binding.hpp" -o "$scratch/binding.hpp.gch"
flags+=(-include "$scratch/binding.hpp")
"$compiler" -std=c++17 "${flags[@]}" "$here/refused.cpp"
mistake=1
while grep -q "MISTAKE == $mistake\b" "$here/refused.cpp"; do
  if "$compiler" -std=c++17 "${flags[@]}" -Wno-unused-variable -DMISTAKE=$mistake "$here/refused.cpp" 2>"$said"; then
    echo "$compiler takes mistake $mistake of refused.cpp"
    exit 1
  fi
  sentence=$(sed -n "s/.*MISTAKE == $mistake .*\"\(.*\)\"$/\1/p" "$here/refused.cpp")
  if ! grep -qF "error: ${sentence:+static}" "$said" || ! grep -qF "$sentence" "$said"; then
    echo "$compiler refuses mistake $mistake of refused.cpp in other words than these: $sentence"
    cat "$said"
    exit 1
  fi
  mistake=$((mistake + 1))
done
echo "$compiler refuses all $((mistake - 1)) mistakes"
