# Methods of others against scikit-learn: pca, ica.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py scipy sklearn anndata
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/peers.py" \
    "$RAREBIT" "$work"
