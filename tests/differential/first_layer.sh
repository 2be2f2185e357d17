# The augmentation of the example of first layers, beside numpy.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy torch
"$python" -B "$SOURCE/tests/differential/first_layer.py" "$SOURCE"
