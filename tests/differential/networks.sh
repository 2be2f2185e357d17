# dae and rbm against numpy and scikit-learn. Without python3 with both and h5py there is nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy, h5py, sklearn' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/networks.py" "$RAREBIT" "$work"
        exit 0
    fi
done
echo "no python3 with numpy, h5py and sklearn: networks are not compared" >&2
exit 77
