#!/usr/bin/env bash
# compute-sanitizer sees the bounds of each block, though many lie in one allocation of the driver's.
# usage: overrun_test.sh PROBE
set -u
probe=$1
skip=77

checker=$(command -v compute-sanitizer) || { echo "compute-sanitizer is not installed"; exit $skip; }

# run HOW: the probe under memcheck; 9 is memcheck's status for an error.
run() { "$checker" --tool memcheck --report-api-errors no --error-exitcode 9 "$probe" "$1" 2>&1; }

out=$(run sound)
status=$?
echo "$out"
if [ $status != 0 ]; then
  "$probe" sound || { echo "there is no GPU"; exit $skip; }
  "$checker" --tool memcheck true || { echo "compute-sanitizer does not work on this machine"; exit $skip; }
  echo "a sound program was called wrong, or does not run under the tool"
  exit 1
fi
for how in past freed; do
  out=$(run $how)
  status=$?
  echo "$out"
  case $status:$out in
    9:*"Invalid __global__ write"*) ;;
    *) echo "a write $how a block was not seen"; exit 1 ;;
  esac
done
