# The golden cases of several values follow from their inputs: values.py computes them anew, and notices
# one number that is not theirs. Without numpy there is nothing to do.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        "$python" -B "$SOURCE/tests/golden/values.py" "$SOURCE/tests/golden"
        mkdir "$work/values"
        sed 's/"sigma": 0.8/"sigma": 0.8000001/' "$SOURCE/tests/golden/values/linca_gaussian_0_T1.json" \
            >"$work/values/other.json"
        if "$python" -B "$SOURCE/tests/golden/values.py" "$work" >"$work/out"; then
            echo "another sigma gave the same numbers" >&2
            exit 1
        fi
        exit 0
    fi
done
echo "no python3 with numpy: the golden cases are not computed anew" >&2
exit 77
