# nmf and kmeans against scikit-learn's, from the same start: the errors agree.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py scipy sklearn
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
RAREBIT_BLAS_CORE='' OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" -B \
    "$SOURCE/tests/differential/factors.py" "$RAREBIT" "$work"
