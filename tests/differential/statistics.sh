# Statistics against scipy: tails of distributions, enrichment of sets, classes and covariates, as the tool
# reports them for random data.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy scipy mpmath
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$CC" -shared -fPIC -O1 -std=gnu11 -I "$SOURCE/include" -I "$SOURCE/src" \
    "$SOURCE/src/modules/tails.c" -o "$work/tails.so" -lm
RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/statistics.py" \
    "$RAREBIT" "$work"
