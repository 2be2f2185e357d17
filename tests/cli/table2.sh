# The page of Table 2: what the validation samples chose is what is tested, and a second time nothing
# is done again.
. "$SOURCE/tests/cli/lib/lib.sh"
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3 || true)
[ "$python" ] || { echo "no python3: the test is left out"; finished=1; [ "${CI:-}" = true ] && exit 1; exit 77; }

command="table2.py"
table2() {
    "$python" "$SOURCE/bench/table2.py" "$RAREBIT" --quick --units 8 --sets rect --threads 1 "$@" >out 2>err
}
table2 --starts rfn,random --results kept || fail "$command: $(cat err)"
tells "| rect | 2.15±0.13 | 4.71±0.19 | 2.60±0.14 | 2.41±0.13 | 1.99±0.12 | 0.63±0.06(1) | "
tells "| rect | random | 1 | rate="
cp out first
for start in rfn random; do
    rate=$(sed -n 's/.*"error_rate": *\([0-9.]*\).*/\1/p' kept/rect-$start-1.json)
    tells "$(echo "$rate" | awk '{ printf "%.2f (", 100 * $1 }')"
done
touch -d '2000-01-01' kept/*
table2 --starts rfn,random --results kept || fail "$command: $(cat err)"
cmp -s first out || fail "the second page is another one"
[ -z "$(find kept -type f -newermt 2001-01-01)" ] || fail "what was there is done again: $(find kept -type f -newermt 2001-01-01)"
table2 --sets bogus 2>err && fail "a set that is none is taken"
says "none of rect, convex"
table2 --sets basic && fail "digits come from nowhere"
says "need the folder of MNIST's files"
finish
