#!/usr/bin/env bash
# Configuring by hand finds the CUDA compiler that scripts/setup chose, and ends with what is built for which GPUs.
#
# usage: configure.sh BUILD_DIR SOURCE_DIR    exits 77 if scripts/setup has not run or chose no compiler
set -euo pipefail
# shellcheck source=tests/package/lib.sh
source "$2/tests/package/lib.sh"

shopt -s extglob
unset CUDACXX GPUMEM_PRESET
# shellcheck disable=SC1091
if [ -e "$source/build/toolchain/env" ]; then source "$source/build/toolchain/env"; fi
chosen=${CUDACXX:-}
[ -n "$chosen" ] || { echo 'scripts/setup chose no CUDA compiler here'; exit 77; }

# The block at the end of configuring, with options. nvcc is not on PATH.
configured() {
  env -u CUDACXX PATH=/usr/sbin:/usr/bin:/sbin:/bin cmake --preset user -S "${tree:-$source}" -B "$scratch/${tree:+tree-}build" "$@" >"$scratch/log" 2>&1 || cat "$scratch/log"
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

# A tree whose scripts/setup chose no compiler, and later fetched one.
tree=$scratch/tree
mkdir -p "$tree/build/toolchain"
ln -s "$source"/!(build) "$tree"
echo 'export GPUMEM_PRESET=host' >"$tree/build/toolchain/env"
said=$(configured)
expect 'NO, because nvcc was not found'
expect 'run scripts/setup'
ln -s "$(dirname "$(dirname "$chosen")")" "$tree/build/toolchain/cuda"
said=$(configured)
expect ": $tree/build/toolchain/cuda/bin/nvcc"
nvidia-smi -L >/dev/null 2>&1 || expect 'sm_90 only, because nvidia-smi finds no GPU'
