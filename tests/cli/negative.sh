# Values below 0 are explained by no cause of nmf-et and mca: a fit and the use of a model say so,
# once, with the first one's place. What noise around 0 may be is no warning.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { srand(1); for (i = 0; i < 60; i++) for (j = 0; j < 4; j++)
    printf "%.3f%s", rand() + 0.1, j < 3 ? "\t" : "\n" }' >positive.tsv
awk -F '\t' -v OFS='\t' '{ for (j = 1; j <= NF; j++) $j -= 0.6; print }' positive.tsv >centred.tsv
awk -F '\t' -v OFS='\t' 'NR == 8 { $3 = -0.05 } 1' positive.tsv >one.tsv
# Where the first one is, in the order of the samples.
place=$(awk -F '\t' '{ for (j = 1; j <= NF; j++) if ($j < 0) { printf "sample %d, feature %d", NR - 1, j - 1; exit } }' centred.tsv)
count=$(awk -F '\t' '{ for (j = 1; j <= NF; j++) n += $j < 0 } END { print n }' centred.tsv)

# shellcheck disable=SC2120
below() {
    [ "$(grep -c "values are below 0" err)" -eq "$1" ] || fail "$command: not said $1 times: $(cat err)"
}

for method in nmf-et mca; do
    expect 0 fit $method centred.tsv --no-transpose -k 2 --iterations 3 --restarts 2 --seed 1 -o m.h5 -q
    below 1
    one_line
    says "warning: $count of 240 values are below 0"
    says "the first in $place (counted from 0): $method can explain none of them"
    says "fit rfn or linca"
    for use in "encode m.h5 centred.tsv -o c.tsv" "evaluate m.h5 centred.tsv" \
        "reconstruct m.h5 centred.tsv -o r.tsv"; do
        # shellcheck disable=SC2086 # words
        expect 0 $use -q
        below 1
    done
    # Asked for by the user.
    expect 0 fit $method positive.tsv --centre mean -k 2 --iterations 3 --seed 1 -o m.h5 -q
    says "leave --centre out"
    expect 0 fit $method one.tsv -k 2 --iterations 3 --seed 1 -o m.h5
    says "1 of 240 values are below 0"
    says "in sample 7, feature 2 (counted from 0): $method takes them for noise"
    grep -q warning err && fail "$command: warns: $(cat err)"
    expect 0 fit $method positive.tsv -k 2 --iterations 3 --seed 1 -o m.h5
    below 0
    breaks "is below 0, but Poisson noise is for counts" \
        fit $method one.tsv --noise poisson -k 2 --iterations 3 --seed 1 -o p.h5 -q
    says "sample 7, feature 2 (counted from 0)"
    # A model of counts refuses them too, dense and sparse.
    expect 0 fit $method positive.tsv --noise poisson -k 2 --iterations 3 --seed 1 -o p.h5 -q
    awk -F '\t' 'BEGIN { print "%%MatrixMarket matrix coordinate real general"; print "60 4 240" }
        { for (j = 1; j <= NF; j++) print NR, j, $j }' one.tsv >one.mtx
    for data in one.tsv one.mtx; do
        breaks "sample 7, feature 2 (counted from 0): -0.05 is below 0" encode p.h5 $data -o c.tsv -q
        breaks "is below 0, but Poisson noise is for counts" evaluate p.h5 $data -q
    done
done
expect 0 fit linca centred.tsv -k 2 --iterations 3 --seed 1 -o m.h5
below 0
expect 0 fit rfn centred.tsv -k 2 --iterations 3 --seed 1 -o m.h5
below 0
finish
