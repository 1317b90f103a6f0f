#!/usr/bin/env bash
# Installs a build into a scratch prefix, then builds and runs programs of C, C++ and Fortran against it, found by CMake's
# find_package and by pkg-config. Exits 77 (skipped) when pkg-config is not there, after the rest has passed.
#
# usage: run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)/tests/package/consumer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

# Runs a command, and shows what it said only if it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 && return
  cat "$scratch/log"
  return 1
}

quietly cmake --install "$build" --prefix "$prefix"
if [ -x "$prefix/bin/gpumem" ]; then "$prefix/bin/gpumem" --version; fi

echo 'by find_package:'
quietly cmake -G Ninja -S "$source" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/cmake"
"$scratch/cmake/consumer"
"$scratch/cmake/consumer_cpp"
if [ -x "$scratch/cmake/consumer_fortran" ]; then "$scratch/cmake/consumer_fortran"; else echo 'there is no Fortran compiler'; fi

echo 'under valgrind, with the suppressions that are installed:'
if command -v valgrind >/dev/null; then
  suppressions=$(find "$prefix" -name gpumem.supp)
  GPUMEM_DEVICE=host quietly valgrind --error-exitcode=9 --suppressions="$suppressions" "$scratch/cmake/consumer"
else
  echo 'valgrind is not installed'
fi

echo 'by pkg-config:'
if ! command -v pkg-config >/dev/null; then
  echo 'pkg-config is not installed'
  exit 77
fi
description=$(find "$prefix" -name gpumem.pc)
[ -n "$description" ] || { echo 'gpumem.pc was not installed'; exit 1; }
export PKG_CONFIG_PATH=${description%/*}
read -r -a flags <<<"$(pkg-config --cflags --libs gpumem)"
flags+=(-Wl,-rpath,"$(pkg-config --variable=libdir gpumem)")
"${CC:-cc}" -o "$scratch/consumer" "$source/consumer.c" "${flags[@]}"
"$scratch/consumer"
"${CXX:-c++}" -std=c++17 -o "$scratch/consumer_cpp" "$source/consumer.cpp" "${flags[@]}"
"$scratch/consumer_cpp"
if command -v gfortran >/dev/null; then
  (cd "$scratch" && gfortran -o consumer_fortran "$prefix/share/gpumem/fortran/gpumem.f90" "$source/consumer.f90" "${flags[@]}")
  "$scratch/consumer_fortran"
fi
