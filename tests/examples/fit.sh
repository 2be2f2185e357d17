# examples/fit.c compiles without a warning, links to the shared library, and finds the units asked for;
# what it cannot read, it says in a sentence.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" "$SOURCE/examples/fit.c" \
    -L"$BUILD" -lrarebit-io -lrarebit -Wl,-rpath,"$BUILD" -o "$work/fit"
"$work/fit" "$SOURCE/examples/data/pbmc700/expr.tsv.gz" 4 >"$work/out"
[ "$(grep -c '^unit [0-3]: [0-9]* samples; up: [A-Z].*; down:' "$work/out")" = 4 ]
status=0
"$work/fit" "$work/none.tsv" 2>"$work/err" || status=$?
[ $status = 1 ]
grep -q "^fit: .*none.tsv" "$work/err"

status=0
"$work/fit" "$SOURCE/examples/data/pbmc700/expr.tsv.gz" abc 2>"$work/err" || status=$?
[ $status = 2 ]
grep -qx "fit: UNITS is 'abc', but must be a whole number" "$work/err"
