# compare: units of one model in another, and in another cohort; as a table, TSV and JSON.
. "$SOURCE/tests/cli/lib/lib.sh"

# Two studies of the same two modules (G1-G5, G6-G10) with their genes in other orders.
study() { # SEED REVERSED
    awk -v seed="$1" -v reversed="$2" 'BEGIN { srand(seed); printf "sample"
        for (k = 1; k <= 15; k++) printf "\tG%d", reversed ? 16 - k : k
        print ""
        for (i = 0; i < 60; i++) {
            printf "s%d", i; a = rand() < 0.15; b = rand() < 0.15
            for (k = 1; k <= 15; k++) {
                g = reversed ? 16 - k : k
                printf "\t%g", rand() + rand() - 1 + (g <= 5) * a * 4 + (g > 5 && g <= 10) * b * 4 }
            print "" } }'
}
study 1 0 >one.tsv
study 2 1 >two.tsv
for name in one two; do
    expect 0 fit rfn $name.tsv -k 2 --iterations 80 --seed 1 -o $name.h5 -q
done

expect 0 compare one.h5 two.h5
tells "unit  partner"
says "15 features in common"
says "2 of 2 living units are found in the other model"
says "their loadings have correlations of 0.9"
! grep -q "no replication" err || fail "two studies are said to be one"
expect 0 compare one.h5 two.h5 --json -q --permutations 99
tells '"units_first": 2, "units_second": 2, "features": 15, "permutations": 99, "by_name": true'
tells '"p_value": 0.01'
sed 's/, "provenance": .*//' out >first # which has the command
expect 0 compare one.h5 two.h5 --json -q --permutations 99 --threads 3
sed 's/, "provenance": .*//' out | cmp -s - first || fail "threads changed the comparison"
expect 0 compare one.h5 two.h5 -o units.tsv
says "2 units in units.tsv"
[ "$(head -1 units.tsv)" = "unit	partner	partner_correlation	p_value	p_value_family	q_value	best	best_correlation" ] ||
    fail "units.tsv begins with $(head -1 units.tsv)"
[ "$(wc -l <units.tsv)" -eq 3 ] || fail "units.tsv has not 3 lines"
expect 0 compare one.h5 two.h5 -o units.json -q
grep -q '"partner_correlation": 0.9' units.json || fail "units.json: $(cat units.json)"

# Two fits of the same data replicate nothing.
expect 0 fit rfn one.tsv -k 2 --iterations 80 --seed 2 -o again.h5 -q
expect 0 compare one.h5 again.h5 --permutations 99
says "both models are of the same samples, all or most of them, so that this is no replication"
expect 0 compare one.h5 again.h5 --permutations 99 --json -q
tells '"same_data": true'
{ head -1 one.tsv; tail -n +2 one.tsv | sort -r; } >turned.tsv # in another order
expect 0 fit rfn turned.tsv -k 2 --iterations 80 --seed 2 -o again.h5 -q
expect 0 compare one.h5 again.h5 --permutations 99 --json -q
tells '"same_data": true'
sed -E '3,5d; s/(\.[0-9]{3})[0-9]*/\1/g' one.tsv >fewer.tsv # rounded, and three samples less
expect 0 fit rfn fewer.tsv -k 2 --iterations 80 --seed 2 -o again.h5 -q
expect 0 compare one.h5 again.h5 --permutations 99 --json -q
tells '"same_data": true'
for seed in 3 4 5 6; do
    study $seed 0 >other.tsv
    if [ $seed = 6 ]; then # centres are 50 throughout, as of T-scores
        for name in one other; do
            awk -F '\t' -v OFS='\t' 'NR == FNR { for (i = 2; i <= NF && FNR > 1; i++) sum[i] += $i; n = FNR - 1; next }
                FNR > 1 { for (i = 2; i <= NF; i++) $i = 50 + 10 * ($i - sum[i] / n) } { print }' $name.tsv $name.tsv >scores.tsv
            expect 0 fit rfn scores.tsv -k 2 --iterations 80 --centre mean --seed 2 -o $name.scores.h5 -q
        done
        expect 0 compare one.scores.h5 other.scores.h5 --permutations 99 --json -q
        tells '"same_data": false'
    fi
    expect 0 fit rfn other.tsv -k 2 --iterations 80 --seed 2 -o other.h5 -q
    expect 0 compare one.h5 other.h5 --permutations 99 --json -q
    tells '"same_data": false'
done

expect 0 compare one.h5 one.tsv two.tsv --permutations 99
tells "active A"
says "of 2 living units explain more than independent features in both"
says "their loadings have correlations of"
expect 0 compare one.h5 one.tsv two.tsv --permutations 99 -o cohorts.tsv -q
[ "$(head -1 cohorts.tsv | tr '\t' '\n' | wc -l)" -eq 14 ] || fail "cohorts.tsv: $(head -1 cohorts.tsv)"
expect 0 compare one.h5 one.tsv two.tsv --permutations 19 --json -q
tells '"samples_a": 60, "samples_b": 60, "permutations": 19'

expect 1 compare one.h5 two.tsv
says "'two.tsv' is data (delimited): give a second cohort as well, or a second model instead"
for files in "two.h5 two.tsv" "two.tsv two.h5"; do
    # shellcheck disable=SC2086 # words
    refuses "'two.h5' is a model, not data: two models are compared without data" compare one.h5 $files -q
done
# Of three units the third has no like in a model of two: its partner's p says so.
expect 0 fit rfn one.tsv -k 3 --preset paper --iterations 80 --seed 2 -o three.h5 -q
expect 0 compare three.h5 two.h5 -o three.tsv -q
awk -F'\t' 'NR > 1 && $2 == "NA" { without++; if ($4 != "NA") bad++ }
    END { exit !(without == 1 && !bad) }' three.tsv || fail "a unit without a partner has a p: $(cat three.tsv)"
expect 0 compare two.h5 three.h5
says "1 living unit of the other model without a partner"
expect 0 compare three.h5 two.h5
! grep -q "without a partner" err || fail "no unit is left over: $(cat err)"
expect 2 compare one.h5 two.h5 --transpose
says "--transpose does nothing with two models"
expect 2 compare one.h5 one.tsv two.tsv --signs ignore
says "--signs does nothing with two cohorts"
expect 2 compare one.h5 two.h5 -o units.png
says "its suffix must be .tsv or .json"
expect 2 compare one.h5 two.h5 -o two.h5
says "would overwrite"
expect 2 compare one.h5 two.h5 --permutations 0
says "permutations is '0'"
[ ! -e units.png ] || fail "a refused command has written something"
finish
