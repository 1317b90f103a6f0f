#!/usr/bin/env bash
# Makes a wheel of a build through pip, as anybody does, looks at its tag and contents, and uses it in a fresh virtual environment.
# Without a network.
#
# usage: wheel.sh BUILD_DIR SOURCE_DIR    exits 77 where Python has no venv
set -euo pipefail
# shellcheck source=tests/package/lib.sh
source "$2/tests/package/lib.sh"
python=${PYTHON:-python3}
quietly "$python" -m venv "$scratch/venv" || { echo 'this Python makes no virtual environments (python3-venv)'; exit 77; }
pip=("$scratch/venv/bin/pip" --disable-pip-version-check --quiet)

# A relative folder is one of where pip is called, which is not where it runs the back end.
in_its_folder() { (cd "$build/.." && "${pip[@]}" "$@"); }
settings=(--no-index --no-deps --config-settings build-dir="${build##*/}")
quietly in_its_folder wheel "${settings[@]}" --wheel-dir "$scratch" "$source/bindings/python"
wheel=$(echo "$scratch"/gpumem-*.whl)
echo "${wheel##*/}: $(stat -c %s "$wheel") bytes"
[ "$(stat -c %s "$wheel")" -le $((45 * 1024 * 1024)) ] || { echo 'the wheel is larger than 45 MiB'; exit 1; }
"$python" "$here/wheel_contents.py" "$wheel"
quietly "${pip[@]}" install --no-index "$wheel"
use_by_python "$scratch/venv/bin/python"
quietly "${pip[@]}" check
quietly "${pip[@]}" uninstall --yes gpumem
if use_by_python "$scratch/venv/bin/python" 2>/dev/null; then echo 'the wheel was uninstalled, and is still there'; exit 1; fi

quietly in_its_folder install "${settings[@]}" "$source/bindings/python"
use_by_python "$scratch/venv/bin/python"
