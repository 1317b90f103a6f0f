#!/usr/bin/env bash
# Installs a build into a scratch prefix, uses it from C, C++, Fortran (by gfortran and fpm) and Python, and uninstalls it.
#
# usage: installed.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
# shellcheck source=tests/package/lib.sh
source "$2/tests/package/lib.sh"
prefix=$scratch/prefix

# What the program of `uninstall` knows of an earlier installation is kept.
manifest=$build/install_manifest.txt
if [ -e "$manifest" ]; then mv "$manifest" "$scratch/manifest"; fi
put_back() {
  if [ -e "$scratch/manifest" ]; then mv "$scratch/manifest" "$manifest"; fi
  rm -rf "$scratch"
}
trap put_back EXIT

quietly cmake --install "$build" --prefix "$prefix"
if [ -x "$prefix/bin/gpumem" ]; then "$prefix/bin/gpumem" --version; fi
echo 'what is linked into it:'
"${PYTHON:-python3}" "$source/tests/package/sbom.py" "$prefix/share/gpumem/gpumem.spdx.json" "$(find "$prefix" -name 'libgpumem.so.0')"
echo 'by find_package:'
use_by_cmake "$prefix"
echo 'under valgrind, with the suppressions that are installed:'
if command -v valgrind >/dev/null; then
  suppressions=$(find "$prefix" -name gpumem.supp)
  GPUMEM_DEVICE=host quietly valgrind --error-exitcode=9 --suppressions="$suppressions" "$scratch/cmake/consumer"
else
  echo 'valgrind is not installed'
fi
echo 'by pkg-config:'
use_by_pkg_config "$prefix"
echo 'by fpm:'
use_by_fpm "$prefix"
package=$(find "$prefix" -name _gpumem.abi3.so)
if [ -n "$package" ]; then use_by_python "${PYTHON:-python3}" "$(dirname "$package")/.."; fi

quietly cmake --build "$build" --target uninstall
left=$(find "$prefix" -type f -o -type l -o -path '*gpumem*')
if [ -n "$left" ]; then
  printf 'not uninstalled:\n%s\n' "$left"
  exit 1
fi
