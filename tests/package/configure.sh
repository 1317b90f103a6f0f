#!/usr/bin/env bash
# Configuring by hand finds the CUDA compiler that scripts/setup chose, and ends with what is built for which GPUs.
#
# usage: configure.sh BUILD_DIR SOURCE_DIR    exits 77 if scripts/setup has not run or chose no compiler
set -euo pipefail
# shellcheck source=tests/package/lib.sh
source "$2/tests/package/lib.sh"

unset CUDACXX GPUMEM_PRESET
# shellcheck disable=SC1091
if [ -e "$source/build/toolchain/env" ]; then source "$source/build/toolchain/env"; fi
chosen=${CUDACXX:-}
[ -n "$chosen" ] || { echo 'scripts/setup chose no CUDA compiler here'; exit 77; }

# The block at the end of configuring, with options. nvcc is not on PATH.
configured() {
  env -u CUDACXX PATH=/usr/sbin:/usr/bin:/sbin:/bin cmake --preset user -S "$source" -B "$scratch/build" "$@" >"$scratch/log" 2>&1 || cat "$scratch/log"
  sed -n 's/^-- gpumem | //p' "$scratch/log"
}
expect() {
  grep -qF -- "$1" <<<"$said" || { printf 'expected "%s" in:\n%s\n' "$1" "$said"; exit 1; }
}

said=$(configured -DGPUMEM_CUDA=OFF)
expect 'no, because GPUMEM_CUDA=OFF'
said=$(configured -DGPUMEM_CUDA=AUTO)
expect ": $chosen"
expect 'for GPUs'
said=$(configured -DCMAKE_CUDA_ARCHITECTURES=80-real)
expect 'sm_80 only'
