# Shared by the other scripts. Sourced by bash. Sets `root` and changes to it.
# shellcheck shell=bash
shopt -s extglob

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Is version $1 at least $2?
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

# The beginning of ninja's lines about its steps.
ninja_steps='[[]+([0-9])/*'

# Prints its input, but lines that match a pattern only every 15 seconds. After 30 silent seconds, it names the running step.
show_progress() {
  local steps=$1 line part='' shown=$SECONDS latest='' outcome
  while true; do
    outcome=0
    IFS= read -r -t 30 line || outcome=$?
    part+=$line
    if [ "$outcome" -gt 128 ]; then
      say "still running after $((SECONDS - shown)) s: ${latest:-$part}"
    elif [ "$outcome" -ne 0 ]; then
      [ -z "$part" ] || printf '%s\n' "$part"
      return
    else
      latest=$part part=''
      # shellcheck disable=SC2053 # a pattern
      if [[ $latest == $steps ]] && [ $((SECONDS - shown)) -lt 15 ]; then continue; fi
      printf '%s\n' "$latest"
      shown=$SECONDS
    fi
  done
}

# Runs scripts/setup and reads its results: GPUMEM_PRESET, CUDACXX, GPUMEM_TESTS.
set_up() {
  "$root/scripts/setup"
  # shellcheck disable=SC1091
  source "$root/build/toolchain/env"
}

# Configures a preset in build/<preset> and builds it. Arguments after the preset are cmake's options, or targets to build
# instead of all. Shows the log only if it fails.
build_preset() {
  local preset=$1 log=$root/build/$1.configure.log options=() targets=() word
  shift
  for word in "$@"; do
    if [[ $word == -D* ]]; then options+=("$word"); else targets+=("$word"); fi
  done
  if [ "${#targets[@]}" -gt 0 ]; then targets=(--target "${targets[@]}"); fi
  mkdir -p "$root/build"
  say "building build/$preset"
  if ! cmake --preset "$preset" -DGPUMEM_TESTS="$GPUMEM_TESTS" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  sed -n 's/^-- gpumem | /  /p' "$log"
  if [ -t 1 ]; then
    cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}"
  else
    cmake --build "build/$preset" --parallel "$(nproc)" "${targets[@]}" 2>&1 | show_progress "$ninja_steps"
    return "${PIPESTATUS[0]}"
  fi
}
