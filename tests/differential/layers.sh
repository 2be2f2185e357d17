# Layers that are exported, in PyTorch and by the ONNX checker, and back.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy h5py torch onnx
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
OPENBLAS_NUM_THREADS=1 "$python" -B "$SOURCE/tests/differential/layers.py" "$RAREBIT" "$work"
