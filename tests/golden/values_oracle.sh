# The golden cases of several values follow from their inputs: values.py computes them anew, and notices
# one number that is not theirs.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need_python numpy
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
