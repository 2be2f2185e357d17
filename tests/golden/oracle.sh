# The golden cases follow from their inputs: a plain program computes them anew (oracle.py), and notices
# one number that is not theirs.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy
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
