# Kernels that are exported from whitened patches, convolved by PyTorch.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py torch
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/kernels.py" "$RAREBIT" "$work"
