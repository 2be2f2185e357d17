# check names features that a fit can do without and the option that drops them; a model that dropped
# some takes data with all features, in any order, or without the dropped ones.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { srand(3); print "id\ta\tb\tc\td\te\tf\tg";
    for (i = 0; i < 40; i++) { a = rand() + (i < 15); b = rand() - (i < 15)
        printf "s%d\t%.4f\t%.4f\t%.4f\t7\t%.4f\t%.4f\t0\n", i, a, b, a, rand(), b } }' >all.tsv
expect 0 check all.tsv
tr -s ' \n' ' ' <out >told
for words in "'--drop constant' leaves them out" "'--drop duplicates' keeps the first of each" "--drop duplicates,constant --seed 1"; do
    grep -q -e "$(echo "$words" | tr -d "'")" told || fail "check does not say $words: $(cat told)"
done
expect 0 fit rfn all.tsv -k 2 --seed 1 --drop constant,duplicates -o m.h5
says "2 constant features are dropped"
says "2 features have the values of an earlier one"
says "2 units of 3 features"
expect 0 info m.h5
grep -q "^drop  *constant,duplicates" out || fail "info: $(cat out)"
expect 0 encode m.h5 all.tsv -o codes.tsv -q
awk -F '\t' 'BEGIN { OFS = FS } { print $1, $8, $6, $3, $7, $2, $5, $4 }' all.tsv >turned.tsv
cut -f 1,2,3,6 all.tsv >used.tsv
for data in turned used; do
    expect 0 encode m.h5 $data.tsv -o other.tsv -q
    cmp -s codes.tsv other.tsv || fail "the codes of $data.tsv differ"
done
expect 0 rerun m.h5 -q

# The same by position.
cut -f 2- all.tsv | sed 1d >plain.tsv
expect 0 convert plain.tsv -o all.npy -q
expect 0 fit rfn all.npy -k 2 --seed 1 --drop duplicates,constant -o n.h5 -q
expect 0 encode n.h5 all.npy -o other.tsv -q
[ "$(cut -f 2- codes.tsv | sed 1d)" = "$(sed 1d other.tsv)" ] || fail "the codes of all.npy differ"
expect 0 fit rfn all.tsv -k 2 --seed 1 --drop constant -o c.h5
says "2 units of 5 features"
expect 0 stack rfn all.tsv -k 3,2 --drop duplicates,constant --iterations 5 --seed 1 -o s.h5 -q
refuses "must be none, constant, duplicates," fit rfn all.tsv -k 2 --drop some -o x.h5 -q
printf 'a,b\n1,2\n1,2\n1,2\n' >same.csv
expect 1 fit nmf same.csv -k 1 --drop constant -o x.h5 -q
says "leaves none of the 2 features"
finish
