# Each file has a licence that a machine can read (.reuse/dep5), and its text is in LICENSES.
set -eu
. "$SOURCE/tests/lib/skip.sh"
need command reuse
cd "$SOURCE"
cmp LICENSE LICENSES/BSD-3-Clause.txt
git rev-parse >/dev/null 2>&1 || skip "reuse asks git which files are the project's"
report=$(reuse lint 2>&1) || { echo "$report" >&2; exit 1; }
