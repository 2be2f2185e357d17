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

# Samples: check names the option, a fit without some is that of data without them, and later commands take all.
awk 'BEGIN { srand(3); header = "id\ta\tb\tc\td\te\tf"; print header >"some.tsv"; print header >"twice.tsv"
    for (i = 0; i < 40; i++) { m = i < 15
        line[i] = sprintf("%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f", rand() + m, rand() - m, rand(), rand() + m, rand(), rand())
        if (i == 7 || i == 30) line[i] = line[3]
        if (i == 20) line[i] = "0\t0\t0\t0\t0\t0"
        print "s" i "\t" line[i] >"twice.tsv"
        if (i != 7 && i != 30 && i != 20) print "s" i "\t" line[i] >"some.tsv" } }'
awk 'BEGIN { print "sample\tbatch"; for (i = 0; i < 40; i++) print "s" i "\t" (i % 3 ? "a" : "b") }' >batch.tsv
expect 0 check twice.tsv
tr -s ' \n' ' ' <out >told
for words in "--drop-samples duplicates keeps the first of each" "--drop-samples constant leaves them out" "--drop-samples duplicates,constant --seed 1"; do
    grep -q -e "$words" told || fail "check does not say $words: $(cat told)"
done
without=--drop-samples=duplicates,constant
same_codes() { # of fits to all samples and to some
    expect 0 fit rfn twice.tsv -k 2 --seed 1 $without "$@" -o t.h5
    says "the fit leaves out 3 of 40 samples: 1 constant, 2 with the values of an earlier one"
    expect 0 fit rfn some.tsv -k 2 --seed 1 "$@" -o some.h5 -q
    for model in t some; do
        expect 0 encode $model.h5 twice.tsv $table -o $model.codes.tsv -q
    done
    same t.codes.tsv some.codes.tsv
    [ "$(wc -l <t.codes.tsv)" -eq 41 ] || fail "$command: $(wc -l <t.codes.tsv) lines"
}
table=--covariates=batch.tsv
same_codes --regress batch --covariates batch.tsv
expect 0 rerun t.h5 --covariates batch.tsv -q
table=-q
same_codes --consensus --restarts 3
same_codes --batch-size 10
same_codes
expect 0 rerun t.h5 -q
for data in twice some; do
    model=t option=$without
    [ $data = twice ] || model=some option=--drop-samples=none
    expect 0 modules $model.h5 $data.tsv --permutations 19 --json -q
    grep -o '"p[_a-z]*":[0-9.]*' out >$data.p
    expect 0 select rfn $data.tsv --units 2:3 --restarts 3 $option --seed 1 -o $data.select.tsv -q
done
same twice.p some.p
[ "$(cut -f 1-6 twice.select.tsv)" = "$(cut -f 1-6 some.select.tsv)" ] || fail "select: $(cat twice.select.tsv some.select.tsv)"
for data in twice some; do
    option=$without
    [ $data = twice ] || option=--drop-samples=none
    expect 0 methods $data.tsv --methods pca,rfn -k 2 $option -o $data.methods.tsv -q
done
[ "$(cut -f 1-6 twice.methods.tsv)" = "$(cut -f 1-6 some.methods.tsv)" ] || fail "methods: $(cat twice.methods.tsv some.methods.tsv)"
expect 0 modules t.h5 twice.tsv --labels batch.tsv:batch -q
awk 'BEGIN { for (i = 0; i < 40; i++) print "b" int(i / 4) }' >tens.txt
breaks "blocks need all samples" modules t.h5 twice.tsv --permutations 19 --blocks tens.txt -q
expect 0 stack rfn twice.tsv -k 3,2 $without --iterations 5 --seed 1 -o s.h5 -q
printf 'a,b\n1,1\n2,2\n' >flat.csv
expect 1 fit nmf flat.csv -k 1 --drop-samples constant -o x.h5 -q
says "--drop-samples constant leaves none of the 2 samples"

# Equal samples are told of, but not those that are equal by chance or in every third feature, nor where they are left out.
awk 'BEGIN { srand(5); for (i = 0; i < 40; i++) for (k = 1; k <= 150; k++)
    printf "%.3f%s", i == 7 || i == 9 || k % 3 == 1 && (i == 3 || i == 5) ? k / 7 : rand(), k < 150 ? "\t" : "\n" }' >equal.tsv
awk 'BEGIN { srand(5); for (i = 0; i < 40; i++) print rand() < 0.5, rand() < 0.5, rand() < 0.5 }' OFS='\t' >chance.tsv
for words in "fit rfn equal.tsv -k 2 --seed 1 -o c.h5 --consensus --restarts 3" "fit rfn equal.tsv -k 2 --seed 1 -o equal.h5" \
    "modules equal.h5 equal.tsv"; do
    # shellcheck disable=SC2086 # words
    expect 0 $words
    says "1 of 40 samples has the values of an earlier one: \`rarebit check\` names them"
done
no_warning() {
    expect 0 "$@"
    ! grep -q "of an earlier one: " err || fail "$command: $(cat err)"
}
no_warning fit rfn chance.tsv -k 2 --seed 1 -o chance.h5
no_warning modules chance.h5 chance.tsv
no_warning fit rfn equal.tsv -k 2 --seed 1 --drop-samples duplicates -o equal.h5
no_warning modules equal.h5 equal.tsv
finish
