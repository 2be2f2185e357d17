# Effects of covariates that a fit takes out are those that numpy finds, of dense, sparse and incomplete data.
# Without numpy and h5py there is nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/regress.py" "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with numpy: effects of covariates are not compared" >&2
exit 77
