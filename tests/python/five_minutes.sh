# The page docs/start/examples/python.md is what its script prints, and the README's lines of Python run.
set -eu
. "$SOURCE/tests/python/lib/lib.sh"
need_python numpy scipy sklearn pandas anndata matplotlib
use_tree
MPLCONFIGDIR=$work
export MPLCONFIGDIR
mkdir tree
ln -s "$SOURCE/examples" examples
"$python" -B examples/python/run.py examples/python/five_minutes.py tree/python.md 2>log ||
    { cat log >&2; exit 1; }
diff "$SOURCE/docs/start/examples/python.md" tree/python.md >&2 || {
    echo "the page differs from what the script prints: see examples/python/run.py" >&2
    exit 1
}
for picture in python-1.png python-2.png; do
    [ -s "tree/$picture" ] && [ -s "$SOURCE/docs/start/examples/$picture" ]
done

cp examples/data/pbmc700/expr.tsv.gz cells.tsv.gz
awk '/^```python/ { wanted = 1; next } /^```/ { wanted = 0 } wanted' "$SOURCE/README.md" >readme.py
[ "$(wc -l <readme.py)" -gt 5 ]
"$python" -B readme.py >printed 2>log || { cat log >&2; exit 1; }
grep -q "^3  *250  *63  *CD3D NOSIP CD27" printed || { cat printed >&2; exit 1; }
[ -s modules.png ]
