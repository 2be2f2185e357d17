# Statistics against scipy: tails of distributions, enrichment of sets, classes and covariates, as the tool
# reports them for random data. Without python3 with scipy there is nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy, scipy' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        "$CC" -shared -fPIC -O1 -std=gnu11 -I "$SOURCE/include" -I "$SOURCE/src" \
            "$SOURCE/src/analysis/tails.c" -o "$work/tails.so" -lm
        RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/statistics.py" \
            "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with scipy: statistics are not compared" >&2
exit 77
