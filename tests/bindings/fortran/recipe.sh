#!/usr/bin/env bash
# Builds and runs the first program of the page by the command that stands there, and then with other options: what an earlier build
# leaves must not be in the way of the next.
#
# usage: recipe.sh PAGE COMPILER GPUMEM_F90 LIBRARY_DIR
set -euo pipefail
page=$1 compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch
mkdir -p "$HOME/gpumem/share/gpumem/fortran" "$HOME/work"
ln -s "$3" "$HOME/gpumem/share/gpumem/fortran/gpumem.f90"
ln -s "$4" "$HOME/gpumem/lib"
cd "$HOME/work"
# shellcheck disable=SC2016 # the page's own marks
sed -n '/^```fortran$/,/^```$/{//!p;/^```$/q}' "$page" >program.f90

gfortran() { "$compiler" "$@"; }
build=$(sed -n '/^    gfortran.*rpath/p' "$page")
for options in '-O2 -J modules' '-g -fcheck=all -J debug' '-O1 -J modules' '-fdefault-integer-8 -fdefault-real-8 -w -J wide'; do
  mkdir -p "${options##* }"
  eval "${build/-O2 -J modules/$options}"
  [ "$(./program)" = $'125000250000.0\nT' ] || { echo "the program does not run: $options"; exit 1; }
  rm program
done
left=$(find . -maxdepth 1 -name '*.mod')
if [ -n "$left" ]; then printf 'left in the folder of the program:\n%s\n' "$left"; exit 1; fi
