#!/usr/bin/env bash
# Each function of the header stands in the README's table and in the guide.
#
# usage: functions.sh SOURCE_DIR
set -euo pipefail
missing=0
while read -r function; do
  for page in README.md docs/guide.md; do
    grep -q "\`$function\`" "$1/$page" && continue
    echo "$page does not speak of $function"
    missing=1
  done
done < <(grep -o '\bgpumem_[a-z0-9_]*(' "$1/include/gpumem.h" | tr -d '(' | sort -u)
exit "$missing"
