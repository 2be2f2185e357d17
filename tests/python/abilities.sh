# docs/reference/abilities.md is what tool, Python and R can do now.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
need_python numpy
use_tree
"$python" -B "$SOURCE/tests/python/lib/abilities.py" "$RAREBIT" "$SOURCE/r/rarebit" >page 2>log ||
    { cat log >&2; exit 1; }
[ "$(grep -c '^| `' page)" -gt 30 ]
diff "$SOURCE/docs/reference/abilities.md" page >&2 || {
    echo "the page differs from what there is: see tests/python/lib/abilities.py" >&2
    exit 1
}
