# encode, reconstruct, evaluate: names travel, formats follow suffixes, numbers agree.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 --samples 30 --features 20 -o X.npy
expect 0 fit rfn X.npy -k 4 --centre mean --iterations 50 --seed 1 -o model.h5 -q

expect 0 encode model.h5 X.npy -o codes.tsv
silent
says "30 samples x 20 features"
says "30 samples x 4 columns in codes.tsv"
grep -q "unit0	unit1	unit2	unit3" codes.tsv || fail "codes.tsv has no names of units"
[ "$(wc -l <codes.tsv)" -eq 31 ] || fail "codes.tsv has not 31 lines"
expect 0 encode model.h5 X.npy -o codes.npy -q
expect 0 info codes.npy --json
tells '"samples": 30, "features": 4'
expect 0 encode model.h5 X.npy -o codes.h5 -q
expect 0 info codes.h5 --json
tells '"samples": 30, "features": 4'

# What cannot be written to standard output is told, and nothing is announced.
if [ -w /dev/full ]; then
    command="encode -o - >/dev/full"
    "$RAREBIT" encode model.h5 X.npy -o - >/dev/full 2>err
    [ $? -eq 1 ] || fail "$command: $(cat err)"
    says "cannot write to standard output: No space left on device"
    ! grep -q "columns in" err || fail "$command: $(cat err)"
fi

# The codes are what evaluate counts: the share of zeros.
expect 0 info codes.npy --json
nonzeros=$(number nonzeros <out)
expect 0 evaluate model.h5 X.npy --json -q
share=$(number sparseness <out)
holds "$share - (1 - $nonzeros / 120) < 1e-12 && (1 - $nonzeros / 120) - $share < 1e-12"
for key in samples features units dead_units sparseness reconstruction_error covariance_error \
    objective log_likelihood estep_objective energy divergence; do
    tells "\"$key\": "
done
# F = log likelihood - O / 2 = - E - KL
holds "($(number objective <out)) - ($(number log_likelihood <out)) + ($(number estep_objective <out)) / 2 < 1e-6"
holds "($(number objective <out)) + ($(number energy <out)) + ($(number divergence <out)) < 1e-6"
holds "($(number objective <out)) + ($(number energy <out)) + ($(number divergence <out)) > -1e-6"
share=$(number variance_explained <out)
holds "$share > 0 && $share < 1"
expect 0 evaluate model.h5 X.npy
tells "variance explained"
tells "sparseness"
tells "reconstruction error"

# reconstruct gives the shape of the data, with the features' names.
expect 0 reconstruct model.h5 X.npy -o rebuilt.npy -q
expect 0 info rebuilt.npy --json
tells '"samples": 30, "features": 20'

# Names of samples and features go in and come out.
{
    printf 'cell\tACT1\tTUB2\tHIS3\n'
    for i in 1 2 3 4 5 6 7 8; do
        printf 's%s\t%s\t%s.5\t%s\n' $i $((i * i % 7)) $((i % 3)) $((9 - i))
    done
} >genes.tsv
expect 0 fit rfn genes.tsv -k 2 --iterations 20 --seed 1 -o genes.h5
says "8 samples x 3 features (rows are samples; if they are features, use --transpose)"
expect 0 encode genes.h5 genes.tsv -o named.tsv -q
grep -q '^s8	' named.tsv || fail "the names of samples are lost: $(cat named.tsv)"
expect 0 reconstruct genes.h5 genes.tsv -o named.tsv -q
grep -q 'ACT1	TUB2	HIS3' named.tsv || fail "the names of features are lost: $(cat named.tsv)"

# New data are matched by name, whatever their order.
awk -F'\t' -v OFS='\t' '{ print $1, $4, $2, $3 }' genes.tsv >turned.tsv
expect 0 encode genes.h5 genes.tsv -o straight.tsv -q
expect 0 encode genes.h5 turned.tsv -o turned-codes.tsv -q
same straight.tsv turned-codes.tsv
# And the other way round the table.
awk -F'\t' -v OFS='\t' '{ for (k = 1; k <= NF; k++) v[NR, k] = $k }
    END { for (k = 1; k <= NF; k++) for (i = 1; i <= NR; i++) printf "%s%s", v[i, k], i < NR ? OFS : "\n" }' \
    genes.tsv >across.tsv
expect 0 encode genes.h5 across.tsv --transpose -o across-codes.tsv
same straight.tsv across-codes.tsv
says "8 samples x 3 features"
grep -q "use --transpose" err && fail "$command: asks for what was said"

# Data with less than a tenth of the features by name are refused, unless that is asked for.
awk -v OFS='\t' 'BEGIN { for (i = 0; i < 9; i++) { for (k = 0; k < 12; k++)
    printf "%s%s", i ? i * (k + 2) % 7 : "f" k, k < 11 ? OFS : "\n" } }' >many.tsv
sed '1s/f\([1-9]\)/g\1/g' many.tsv >few.tsv
expect 0 fit rfn many.tsv -k 2 --iterations 5 --seed 1 -o many.h5 -q
breaks "only 1 of the model's 12 features are in the data by name" encode many.h5 few.tsv -o few-codes.tsv -q
says "or lower --min-shared"
[ ! -e few-codes.tsv ] || fail "$command: wrote codes"
expect 0 encode many.h5 few.tsv --min-shared 0.05 -o few-codes.tsv
says "11 of the model's 12 features are not in the data and are set to their training centre"
rm many.tsv few.tsv many.h5 few-codes.tsv

# A missing value is found by file, sample and feature, and the advice can be taken.
printf 'a,b\n1,2\n2,1\n3,5\n' >whole.csv
printf 'a,b\n1,2\nNA,1\n3,5\n' >holes.csv
expect 0 convert holes.csv -o holes.npy -q
expect 0 fit rfn whole.csv -k 1 --iterations 2 --seed 1 -o refusing.h5 -q
for holes in holes.csv holes.npy; do
    breaks "$holes: sample 1, feature 0" fit rfn $holes -o no.h5 -q
    says "fill it with --missing mean or --missing median"
    breaks "$holes: sample 1, feature 0" encode refusing.h5 $holes -o c.npy -q
    says "fit again with --missing mean or --missing median"
    breaks "$holes: sample 1, feature 0" modules refusing.h5 $holes -q
done
expect 0 fit rfn holes.csv --missing mean -k 1 --iterations 2 --seed 1 -o filling.h5 -q
expect 0 encode filling.h5 holes.npy -o c.npy -q
rm whole.csv holes.csv holes.npy c.npy refusing.h5 filling.h5

# A model and data that were swapped.
breaks "'X.npy' is data (npy), not a model; usage: rarebit encode MODEL DATA" encode X.npy model.h5 -o c.npy
breaks "'X.npy' is data (npy), not a model" evaluate X.npy model.h5
breaks "'model.h5' is a model, not data; usage: rarebit evaluate MODEL DATA" evaluate model.h5 model.h5
breaks "'model.h5' is a model, not data" modules model.h5 model.h5
breaks "'model.h5' is a model, not data" fit rfn model.h5 -o c.h5
expect 0 convert model.h5 --dataset arrays/loadings -o c.npy -q
rm c.npy

# Data on standard output, only when asked.
expect 0 encode model.h5 X.npy -o - -q
same out codes.tsv
expect 0 encode model.h5 X.npy -o - --format npy -q
same out codes.npy
expect 0 encode model.h5 X.npy -o /dev/null -q
[ -c /dev/null ] || fail "/dev/null was replaced"

rm -f ./*.tsv ./codes.* rebuilt.npy genes.h5
breaks "missing.h5" encode missing.h5 X.npy -o c.npy
breaks "X.npy" encode X.npy X.npy -o c.npy
breaks "missing.npy" encode model.h5 missing.npy -o c.npy
breaks "there is no folder 'nowhere'" encode model.h5 X.npy -o nowhere/c.npy
expect 0 simulate biclusters --samples 5 --features 7 --seed 1 -o narrow.npy -q
breaks "7" encode model.h5 narrow.npy -o c.npy -q
breaks "7" evaluate model.h5 narrow.npy -q
breaks "7" reconstruct model.h5 narrow.npy -o c.npy -q
only X.npy model.h5 narrow.npy
if [ -c /dev/full ]; then
    expect 1 encode model.h5 X.npy -o /dev/full -q
    one_line
    says "No space left"
    "$RAREBIT" encode model.h5 X.npy -o - -q >/dev/full 2>err && fail "a full disk went unnoticed"
    one_line
    "$RAREBIT" evaluate model.h5 X.npy --json -q >/dev/full 2>err && fail "a full disk went unnoticed"
    one_line
    says "standard output"
fi
only X.npy model.h5 narrow.npy
# What overflows is refused: codes and rebuilt values are never infinite without a word. A figure that
# cannot be computed is left out with one.
awk 'BEGIN { for (i = 0; i < 40; i++) { for (j = 0; j < 10; j++) printf "%s%.6g", j ? "," : "",
    sin(i * 7 + j * j) + (i == 3 && j == 3 ? 1e40 : 0); print "" } }' >huge.csv
expect 0 fit rfn huge.csv -k 3 --iterations 20 --scale sd --seed 1 -o huge.h5 -q
breaks "the rebuilt values of sample" reconstruct huge.h5 huge.csv -o huge.npy -q
says "fit with --precision float64"
[ ! -e huge.npy ] || fail "$command: huge.npy was written"
expect 0 fit rfn huge.csv -k 3 --iterations 20 --scale sd --precision float64 --seed 1 -o huge.h5 -q
expect 0 reconstruct huge.h5 huge.csv -o huge.npy -q
expect 0 info huge.npy --json
holds "$(number max <out) > 1e38"
awk 'BEGIN { for (i = 0; i < 40; i++) { for (j = 0; j < 10; j++) printf "%s%.6ge30", j ? "," : "",
    sin(i * 7 + j * j); print "" } }' >large.csv
sed 's/e30//g' large.csv >plain.csv
expect 0 fit rfn plain.csv -k 3 --iterations 20 --seed 1 -o large.h5 -q
expect 0 evaluate large.h5 large.csv --json -q
tells '"covariance_error": null'
says "metrics are left out: squares of the"

# A pipe is no model, and nobody waits for one who writes to it.
mkfifo pipe.h5
breaks "pipe.h5: it is not a regular file" info pipe.h5
breaks "pipe.h5: it is not a regular file" encode pipe.h5 X.npy -o none.npy
# A level that all features share is told where units follow it, and not where it was taken out.
expect 0 convert X.npy -o X.tsv -q
awk -F '\t' -v OFS='\t' 'NR > 1 { for (i = 2; i <= NF; i++) $i += NR % 5 * 4 } { print }' X.tsv >bright.tsv
expect 0 fit rfn bright.tsv -k 2 --iterations 50 --seed 1 -o bright.h5 -q
expect 0 evaluate bright.h5 bright.tsv
says "the level of the samples (correlation above 0.8 with their means): fit with --centre-samples"
expect 0 report bright.h5 bright.tsv -o bright.html -q
grep -q 'units that follow the level' bright.html || fail "bright.html lacks the check"
grep -q '"warnings":\[[^]]*the level of the samples' bright.html || fail "bright.html lacks the warning"
expect 0 fit rfn bright.tsv -k 2 --centre-samples median --iterations 50 --seed 1 -o level.h5 -q
expect 0 evaluate level.h5 bright.tsv --json
tells '"units_of_level": 0'
! grep -q "level of the samples" err || fail "$command: $(cat err)"
finish
