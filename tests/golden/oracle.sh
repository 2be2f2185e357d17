# The golden cases follow from their inputs: a plain program computes them anew (oracle.py), and notices
# one number that is not theirs. Without numpy there is nothing to do.
set -eu
for python in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
        trap 'rm -rf "$work"' EXIT
        "$python" -B "$SOURCE/tests/golden/oracle.py" "$SOURCE/tests/golden"
        mkdir "$work/rfn"
        sed 's/"eta": 0.1/"eta": 0.1000001/' "$SOURCE/tests/golden/rfn/g_n7m5l3_rms_eta0.1_xi0_it1.json" \
            >"$work/rfn/other.json"
        if "$python" -B "$SOURCE/tests/golden/oracle.py" "$work" >"$work/out"; then
            echo "another learning rate gave the same numbers" >&2
            exit 1
        fi
        exit 0
    fi
done
echo "no python3 with numpy: the golden cases are not computed anew" >&2
exit 77
