#!/usr/bin/env bash
# Compiles refused.F90 without a mistake, then sees the compiler refuse each of its mistakes.
#
# usage: refused.sh COMPILER MODULE_DIR
set -euo pipefail
compiler=$1 modules=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$here/refused.F90

"$compiler" -fsyntax-only -I"$modules" "$source"
mistake=1
while grep -q "MISTAKE == $mistake\b" "$source"; do
  if "$compiler" -fsyntax-only -I"$modules" -DMISTAKE=$mistake "$source" 2>/dev/null; then
    echo "$compiler takes mistake $mistake of refused.F90"
    exit 1
  fi
  mistake=$((mistake + 1))
done
echo "$compiler refuses all $((mistake - 1)) mistakes"
