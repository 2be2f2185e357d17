# dae and rbm against numpy and scikit-learn.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py sklearn
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/networks.py" "$RAREBIT" "$work"
