# Which method: the table, its forms, what it refuses, and an interruption.
. "$SOURCE/tests/cli/lib/lib.sh"

unwrapped() {
    tr '\n' ' ' <out | grep -qF -e "$1" || fail "$command: stdout lacks '$1': $(cat out)"
}
expect 0 simulate biclusters --generator fabia --samples 60 --features 80 --noise 1 --seed 2 -o X.npy -q
awk 'BEGIN { print "class"; for (i = 0; i < 60; i++) print (i < 25 ? "a" : i < 58 ? "b" : "") }' >classes.tsv

quick="methods X.npy --methods pca,rfn,nmf,kmeans -k 5 --folds 3 --seeds 2"

# shellcheck disable=SC2086 # words
{
    expect 0 $quick
    head -1 out | grep -q "^method  *held out  *+-  *entries  *+-  *match  *+-  *modules  *seconds$" ||
        fail "header: $(head -1 out)"
    unwrapped "Left out: nmf: "
    unwrapped "use --centre none"
    tells "To predict values that are left out take "
    ! grep -q "Slow methods" out || fail "$command: $(cat out)"

    expect 0 $quick --labels classes.tsv -o t.tsv
    silent
    says "3 methods in t.tsv"
    head -1 t.tsv | grep -q "^method	held_out_error	held_out_se	.*	modules	auc	auc_se	seconds$" || fail "header: $(head -1 t.tsv)"
    [ "$(cut -f1 t.tsv | tr '\n' ' ')" = "method pca rfn kmeans " ] || fail "rows: $(cat t.tsv)"

    # The same numbers with other threads, but for the time.
    expect 0 $quick --labels classes.tsv -o again.tsv --threads 1 -q
    cut -f1-10 t.tsv >a
    cut -f1-10 again.tsv >b
    same a b

    expect 0 $quick --labels classes.tsv --json -q
    /usr/bin/env python3 -c '
import json, sys
d = json.load(open("out"))
assert [row["method"] for row in d["rows"]] == ["pca", "rfn", "kmeans"] and "Left out: nmf: " in d["summary"]
assert "To mark the classes take" in d["summary"] and d["provenance"], d' || fail "$(cat out)"
    expect 0 $quick -o t.json -q
    /usr/bin/env python3 -c '
import json
d = json.load(open("t.json"))
assert len(d["rows"]) == 3 and "--centre none" in d["summary"], d' || fail "$(cat t.json)"
}

# Every method that takes the data; slow ones where they are named.
expect 0 methods X.npy -k 2 --folds 2 --seeds 1
[ "$(grep -c '^[a-z-]*  *[0-9].* [0-9.]*$' out)" -eq 11 ] || fail "$command: $(cat out)"
unwrapped "Slow methods were not tried: linca, nmf-et, mca, ssc."
expect 0 methods X.npy --methods linca,mca,pca -k 2 --folds 2 --seeds 1
unwrapped "Left out: mca: explains no values below 0."
grep -q "^linca  *[0-9]" out || fail "$command: $(cat out)"
# Without folds there is no error; where all values are above 0, nmf comes along.
expect 0 simulate cells --samples 60 --features 80 --seed 1 -o N.npy -q
expect 0 methods N.npy --log1p --methods nmf,pca -k 3 --folds 0
! grep -q "held out\|Left out" out || fail "$command: $(cat out)"
tells "For units that recur take "

refuses "--methods has 'nothing', which is no method" methods X.npy --methods pca,nothing -q
refuses "cannot write 't.txt': its suffix must be .tsv or .json" methods X.npy -o t.txt
refuses "--folds is 61, but must be 0 or from 2 to the 60 samples" methods X.npy --methods pca --folds 61 -q
breaks "--units is 500" methods X.npy --methods pca -k 500 -q
breaks "cannot read missing.tsv" methods X.npy --labels missing.tsv -q
echo "1	NA	2
3	4	5
2	2	1" >gap.tsv
breaks "--missing mean" methods gap.tsv --methods pca -k 1 --folds 0 -q
rm -f t.tsv
# Interrupted: nothing is left.
command="methods stopped by TERM"
"$RAREBIT" methods X.npy --seeds 100000 -o t.tsv -q >out 2>err &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
got=$?
[ $got -eq 143 ] || fail "$command: exit $got: $(cat err)"
says "nothing was written"
[ ! -e t.tsv ] || fail "t.tsv is there"
finish
