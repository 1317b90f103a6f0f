#!/usr/bin/env bash
# Compiles the first C example of README.md with every warning an error, runs it against the built library, and compares
# what it prints with the block of text behind it.
#
# usage: run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints README.md's first fenced block of a language.
block() { awk -v fence="\`\`\`$1" '$0 == "```" && inside { exit } inside { print } $0 == fence { inside = 1 }' "$source/README.md"; }

block c >"$scratch/example.c"
block text >"$scratch/expected"
[ -s "$scratch/example.c" ] || { echo 'README.md has no C example'; exit 1; }
[ -s "$scratch/expected" ] || { echo 'README.md does not say what its example prints'; exit 1; }
library=$(find "$build" -maxdepth 3 -name libgpumem.so -print -quit)
[ -n "$library" ] || { echo "there is no libgpumem.so in $build"; exit 1; }

"${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$source/include" -o "$scratch/example" "$scratch/example.c" \
  -L"${library%/*}" -lgpumem -Wl,-rpath,"${library%/*}"
"$scratch/example" >"$scratch/printed"
diff -u "$scratch/expected" "$scratch/printed"

# Each function of the header stands in the README's table and in the guide.
missing=0
while read -r function; do
  for page in README.md docs/guide.md; do
    grep -q "\`$function\`" "$source/$page" && continue
    echo "$page does not speak of $function"
    missing=1
  done
done < <(grep -o '\bgpumem_[a-z0-9_]*(' "$source/include/gpumem.h" | tr -d '(' | sort -u)
exit "$missing"
