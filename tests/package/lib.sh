# What the tests of installed copies share. Sourced by bash; sets `build`, `source` and `scratch`, a folder that goes with the script.
# shellcheck shell=bash
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
here=$source/tests/package
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs a command, and shows what it said only if it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 && return
  cat "$scratch/log"
  return 1
}

has_cuda() { grep -q '^CMAKE_CUDA_COMPILER:' "$build/CMakeCache.txt"; }

# Builds and runs programs of C, C++, Fortran and Python against the copy below a prefix, found by CMake's find_package.
use_by_cmake() {
  local prefix=$1 work=$scratch/cmake program options=()
  if has_cuda; then # its run-time is part of the static library
    options=(-DCUDAToolkit_ROOT="$(sed -n 's|^CMAKE_CUDA_COMPILER:[A-Z]*=\(.*\)/bin/nvcc$|\1|p' "$build/CMakeCache.txt")")
  fi
  rm -rf "$work"
  quietly cmake -G Ninja -S "$here/consumer" -B "$work" -DCMAKE_PREFIX_PATH="$prefix" "${options[@]}"
  quietly cmake --build "$work"
  for program in "$work"/consumer*; do "$program"; done
  [ -x "$work/consumer_mpi" ] || echo 'there is no MPI'
  if [ ! -x "$work/consumer_fortran" ]; then echo 'there is no Fortran compiler'; return; fi
  quietly cmake -G Ninja -S "$here/consumer/fortran" -B "$work/alone" -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build "$work/alone"
  "$work/alone/consumer_fortran_alone"
}

# The same by pkg-config, with the shared library and with the static one.
use_by_pkg_config() {
  local prefix=$1 flags static
  if ! command -v pkg-config >/dev/null; then echo 'pkg-config is not installed'; return; fi
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name gpumem.pc)")
  export PKG_CONFIG_PATH
  read -r -a flags <<<"$(pkg-config --cflags --libs gpumem)"
  read -r -a static <<<"$(pkg-config --static --cflags --libs gpumem | sed 's/-lgpumem\>/-l:libgpumem.a/')"
  flags+=("-Wl,-rpath,$(pkg-config --variable=libdir gpumem)")
  "${CC:-cc}" -o "$scratch/consumer" "$here/consumer/consumer.c" "${flags[@]}"
  "${CC:-cc}" -o "$scratch/consumer_static" "$here/consumer/consumer.c" "${static[@]}"
  "${CXX:-c++}" -std=c++17 -o "$scratch/consumer_cpp" "$here/consumer/consumer.cpp" "${flags[@]}"
  for program in consumer consumer_static consumer_cpp; do "$scratch/$program"; done
  if readelf -d "$scratch/consumer_static" | grep -q libgpumem; then echo 'the static library was passed over'; return 1; fi
  if command -v gfortran >/dev/null; then
    (cd "$scratch" && mkdir -p modules && gfortran -J modules -o consumer_fortran "$prefix/share/gpumem/fortran/gpumem.f90" "$here/consumer/consumer.f90" "${flags[@]}")
    "$scratch/consumer_fortran"
  fi
}

# By fpm, which takes an absolute path for one below the manifest.
use_by_fpm() {
  local work=$scratch/fpm libdir
  if ! command -v fpm >/dev/null || ! command -v gfortran >/dev/null; then echo 'fpm or gfortran is not installed'; return; fi
  libdir=$(dirname "$(find "$1" -name libgpumem.so)")
  mkdir -p "$work/app"
  cp "$here/consumer/consumer.f90" "$work/app/main.f90"
  printf 'name = "consumer"\ndependencies.gpumem.path = "%s"\n' "$(realpath --relative-to="$work" "$1/share/gpumem/fortran")" >"$work/fpm.toml"
  (cd "$work" && quietly fpm run --link-flag "-L$libdir -Wl,-rpath,$libdir")
}

# By a Python; the folder where its package lies, if it is no place of its own.
use_by_python() {
  local python=$1 folder=${2:-}
  (cd "$scratch" && env -u GPUMEM_LIBRARY PYTHONPATH="$folder" PYTHONDONTWRITEBYTECODE=1 "$python" "$here/consumer/consumer.py")
}
