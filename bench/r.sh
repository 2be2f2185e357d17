#!/bin/sh
# ./run r-bench: builds the R package against the build folder $1 and runs bench/r.R, $2 rounds (11).
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
sh r/build.sh --folder "$work"
mkdir "$work/library"
export RAREBIT_LIBRARY="$build" RAREBIT_INCLUDE="$PWD/include"
(cd "$work" && R CMD INSTALL --no-docs --no-test-load --library=library rarebit >log 2>&1) ||
    { cat "$work/log" >&2; exit 1; }
RAREBIT_BENCH_C=$work/bench.so
"${CC:-cc}" -O2 -shared -fPIC -Iinclude bench/r.c -L"$build" -Wl,-rpath,"$build" -lrarebit -o "$RAREBIT_BENCH_C"
export RAREBIT_BENCH_C R_LIBS="$work/library" OPENBLAS_NUM_THREADS=1
Rscript --vanilla bench/r.R "${2:-11}"
