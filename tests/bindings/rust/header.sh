#!/usr/bin/env bash
# What is checked in of gpumem-sys is what gpumem.h makes, and the crates have what the header has.
#
# usage: header.sh PYTHON SOURCE_DIR SCRATCH
set -euo pipefail
crates=$2/bindings/rust
"$1" "$crates/generate" "$2/include/gpumem.h" "$3"
for file in gpumem-sys/src/bindings.rs gpumem-sys/tests/layout.rs; do
  diff -u "$crates/$file" "$3/$file" || { echo "run bindings/rust/generate include/gpumem.h"; exit 1; }
done
"$1" "$2/tests/bindings/rust/describe.py" "$crates" | "$1" "$2/bindings/check" - "$crates/left_out.txt"
