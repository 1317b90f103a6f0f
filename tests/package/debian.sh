#!/usr/bin/env bash
# Makes the Debian packages of a build, looks at what is in them, and uses them, unpacked into a folder, from C, C++, Fortran and
# Python. tests/package/clean_debian installs them, and asks lintian.
#
# usage: debian.sh BUILD_DIR SOURCE_DIR    exits 77 where there is no dpkg-dev
set -euo pipefail
# shellcheck source=tests/package/lib.sh
source "$2/tests/package/lib.sh"
command -v dpkg-shlibdeps >/dev/null || { echo 'dpkg-shlibdeps (dpkg-dev) is not installed'; exit 77; }
packages=$scratch/packages root=$scratch/root
mkdir "$packages" "$root"
(cd "$scratch" && quietly cpack --config "$build/CPackConfig.cmake" -B "$packages")

fault() {
  echo "$*"
  exit 1
}

# Of a package: a pattern that each of its files matches, and files that are in it, beside its documents.
contents() {
  local name=$1 pattern=$2 deb files file
  shift 2
  deb=$(echo "$packages/${name}"_*.deb)
  files=$(dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { print $6 }')
  if grep -vE "^\./usr/(share/doc/$name/|$pattern)" <<<"$files"; then fault "$name has these files, which it should not"; fi
  for file in "$@" copyright changelog.gz changelog.Debian.gz; do
    grep -qE "/${file//./\\.}$" <<<"$files" || fault "$name has no $file: $files"
  done
  dpkg-deb -x "$deb" "$root"
  echo "$(stat -c %s "$deb") $deb"
}
# One field of a package's description, which must have a word.
field() {
  local said
  said=$(dpkg-deb -f "$packages/$1"_*.deb "$2")
  [[ $said == *"$3"* ]] || fault "$1: $2 is '$said', without $3"
}

libdir='lib/([a-z0-9_]*-linux-gnu/)?'
contents libgpumem0 "${libdir}libgpumem\.so\.0" libgpumem.so.0
contents libgpumem-dev "include/|${libdir}(libgpumem\.(a|so)$|cmake/|pkgconfig/)|share/gpumem/(gpumem\.(supp|spdx\.json)$|mpi/)" \
  gpumem.h gpumem.hpp gpumem_mpi.h gpumem_mpi.c libgpumem.a libgpumem.so gpumemConfig.cmake gpumem.pc gpumem.spdx.json
contents libgpumem-fortran-dev 'share/gpumem/fortran/' gpumem.f90 fpm.toml
field libgpumem0 Depends 'libc6 (>='
if readelf -d "$build/libgpumem.so" | grep -q libstdc++; then field libgpumem0 Depends 'libstdc++6 (>='; fi
field libgpumem-dev Depends 'libgpumem0 (= '
field libgpumem-fortran-dev Depends 'libgpumem-dev (= '
if [ -x "$build/bin/gpumem" ]; then
  manual=()
  if command -v help2man >/dev/null; then manual=(man1/gpumem.1.gz man1/gpumem-grid.1.gz); fi
  contents gpumem '(bin/gpumem$|share/man/man1/gpumem)' bin/gpumem "${manual[@]}"
  field gpumem Depends 'libgpumem0 (= '
fi
control=$scratch/control
dpkg-deb -e "$packages"/libgpumem0_*.deb "$control"
for file in shlibs symbols triggers; do [ -s "$control/$file" ] || fault "libgpumem0 has no $file"; done
# Without GPU code it is small: the package, or where there is such code, what would be in the package.
small=$(echo "$packages"/libgpumem0_*.deb)
if has_cuda; then
  strip -o "$scratch/small" "$(readlink -f "$build/libgpumem_without_cuda.so")"
  xz "$scratch/small" # as CPACK_DEBIAN_COMPRESSION_TYPE
  small=$scratch/small.xz
fi
[ "$(stat -c %s "$small")" -lt $((2048 * 1024)) ] || fault "$small takes $(stat -c %s "$small") bytes; expected less than 2 MiB"

LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libgpumem.so.0')") # in place of ldconfig
export LD_LIBRARY_PATH
use_by_cmake "$root/usr"
use_by_pkg_config "$root/usr"
if [ -x "$root/usr/bin/gpumem" ]; then "$root/usr/bin/gpumem" --version; fi
for kind in openmpi mpich; do
  if compgen -G "$packages/libgpumem-mpi-${kind}0_*.deb" >/dev/null; then
    contents "libgpumem-mpi-${kind}0" "${libdir}libgpumem_mpi_$kind\.so\.0" "libgpumem_mpi_$kind.so.0"
    field "libgpumem-mpi-${kind}0" Depends "lib$kind"
  fi
done
if compgen -G "$packages/python3-gpumem_*.deb" >/dev/null; then
  contents python3-gpumem lib/python3/dist-packages/gpumem/ __init__.py _gpumem.abi3.so
  field python3-gpumem Depends 'python3 (>= '
  use_by_python "${PYTHON:-python3}" "$root/usr/lib/python3/dist-packages"
fi
