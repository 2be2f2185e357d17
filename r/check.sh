#!/bin/sh
# R CMD check --as-cran of the package with the core that it brings, without what needs a network or LaTeX;
# any error, warning or note fails. $1: a build folder, whose library the vignette is built with.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
include=$PWD/include
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-check-XXXXXX")
trap 'rm -rf "$work"' EXIT
unset R_LIBS R_LIBS_USER
RAREBIT_LIBRARY=$build RAREBIT_INCLUDE=$include sh r/build.sh "$work" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
. tests/lib/runpath.sh
export _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_CRAN_INCOMING_REMOTE_=FALSE _R_CHECK_SYSTEM_CLOCK_=FALSE
export RAREBIT_LIBRARY=bundled MAKEFLAGS="-j$(getconf _NPROCESSORS_ONLN)"
cd "$work"
R CMD check --as-cran --no-manual rarebit_*.tar.gz >check.log 2>&1 ||
    { cat check.log rarebit.Rcheck/00install.out >&2; exit 1; }
grep -E '^Status:' check.log
grep -q '^Status: OK$' check.log || { cat check.log >&2; exit 1; }
check_runpath '$ORIGIN' rarebit.Rcheck/rarebit/libs/*.so
