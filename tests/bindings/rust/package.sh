#!/usr/bin/env bash
# The form of the crates: what they would be published with, rustdoc, clippy and rustfmt. Run in bindings/rust.
set -euo pipefail
for crate in gpumem-sys gpumem; do
  said=$(cd "$crate" && cargo package --list --allow-dirty --offline 2>&1)
  for file in src/lib.rs README.md LICENSE; do
    grep -qxF "$file" <<<"$said" || { echo "$crate is packaged without $file: $said"; exit 1; }
  done
  if grep -qE '^(warning|error)' <<<"$said"; then echo "$said"; exit 1; fi
done
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --check; else echo 'rustfmt is not installed: formatting was not looked at'; fi
RUSTDOCFLAGS='-D warnings' cargo doc --offline --locked --no-deps --quiet
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --offline --locked --all-targets --quiet -- -D warnings
else
  echo 'clippy is not installed'
  exit 77
fi
