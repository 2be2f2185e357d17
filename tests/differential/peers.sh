# Methods of others against scikit-learn: pca, ica. Without it there is nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import h5py, sklearn' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/peers.py" \
            "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with h5py and scikit-learn: methods are not compared" >&2
exit 77
