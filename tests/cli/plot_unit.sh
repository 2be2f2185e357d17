# plot unit: a picture of codes and features, with classes and without; what is refused, in words.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { srand(3); print "name\tga\tgb\tgc\tgd\tge"
    for (i = 0; i < 30; i++) { printf "s%d", i
        for (j = 0; j < 5; j++) printf "\t%.4f", rand() + (i % 3 == j ? 4 : 0); print "" } }' >X.tsv
awk 'BEGIN { print "sample\tclass"
    for (i = 0; i < 29; i++) print "s" i "\t" (i % 3 ? "other" : "first") }' >classes.tsv
expect 0 fit rfn X.tsv -k 3 --iterations 20 --seed 1 -o model.h5 -q

if ! "$RAREBIT" plot unit --help >/dev/null 2>&1; then
    finish
    exit
fi
expect 0 plot unit model.h5 X.tsv --unit 2 --labels classes.tsv -o unit.png
says "plot in unit.png"
exists unit.png
mv unit.png first.png
expect 0 plot unit model.h5 X.tsv --unit 2 --labels classes.tsv -o unit.png
cmp -s unit.png first.png || fail "the same input gives another picture"
expect 0 plot unit model.h5 X.tsv --unit 0 --features 2 --title "Few" -o unit.svg -q
exists unit.svg
expect 0 plot unit model.h5 X.tsv --unit 0 --features 60 -o all.svg -q

# A class has the same colour whichever others there are: its place among all classes of the labels decides.
awk 'BEGIN { srand(4); print "name\tga\tgb\tgc\tgd\tge\tgf\tgg\tgh" >"all.tsv"
    for (i = 0; i < 80; i++) { printf "s%d", i >"all.tsv"; print "s" i "\t" substr("abccc", i % 5 + 1, 1) >"three.tsv"
        for (j = 0; j < 8; j++) printf "\t%.4f", rand() + (i % 5 == j % 4 ? 4 : 0) >"all.tsv"; print "" >"all.tsv" } }'
awk 'NR == 1 || NR % 5 != 2' all.tsv >two.tsv # without a
expect 0 fit rfn all.tsv -k 4 --seed 1 -o all.h5 -q
for kind in "unit --unit 1" codes modules; do
    for data in all two; do
        # shellcheck disable=SC2086 # words
        expect 0 plot $kind all.h5 $data.tsv --labels three.tsv -o $data.svg -q
        grep -o 'rgb(0%,42%,68%)\|rgb(90%,60%,5%)\|rgb(0%,58%,44%)' $data.svg | sort -u >$data.colours
    done
    [ "$(wc -l <all.colours)" -eq 3 ] || fail "$kind: $(cat all.colours)"
    grep -v '42%' all.colours >wanted
    cmp -s wanted two.colours || fail "$kind: b and c have other colours without a: $(cat two.colours)"
done
for data in all two; do
    expect 0 report all.h5 $data.tsv --labels three.tsv -o $data.html -q
done
grep -q '"places":\[0,1,2\]' all.html || fail "the page does not say which colours classes have"
grep -q '"places":\[1,2\]' two.html || fail "the page gives classes other colours without a"

refuses "--unit U is missing" plot unit model.h5 X.tsv -o none.png -q
refuses "unit is 3, but the model has 3 units, counted from 0" \
    plot unit model.h5 X.tsv --unit 3 -o none.png -q
refuses "unit" plot unit model.h5 X.tsv --unit -1 -o none.png -q
refuses "unit" plot unit model.h5 X.tsv --unit one -o none.png -q
refuses "features" plot unit model.h5 X.tsv --unit 1 --features 0 -o none.png -q
refuses "must end in .png or .svg: 'none.pdf'" plot unit model.h5 X.tsv --unit 1 -o none.pdf
refuses "no option --shape" plot unit model.h5 X.tsv --unit 1 --shape 5 -o none.png
refuses "DATA is missing" plot unit model.h5 --unit 1 -o none.png
expect 1 plot unit model.h5 X.tsv --unit 1 --labels nothing.tsv -o none.png -q
says "nothing.tsv"
refuses "would overwrite" plot unit model.h5 X.tsv --unit 1 --labels classes.tsv -o X.tsv
[ ! -e none.png ] || fail "a refused picture left a file"
finish
