# The augmentation of the example of first layers. Without python3 with torch there is
# nothing to compare with.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy, torch' 2>/dev/null; then
        "$python" -B "$SOURCE/tests/differential/first_layer.py" "$SOURCE"
        exit 0
    fi
done
[ "${CI:-}" != true ] || { echo "no python3 with numpy and torch" >&2; exit 1; }
echo "no python3 with numpy and torch: the augmentation is not looked at" >&2
exit 77
