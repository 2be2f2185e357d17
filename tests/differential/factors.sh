# nmf and kmeans against scikit-learn's, from the same start: the errors agree. Without scikit-learn there is
# nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy, h5py, scipy, sklearn' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" -B \
            "$SOURCE/tests/differential/factors.py" "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with scikit-learn: nmf and kmeans are not compared" >&2
exit 77
