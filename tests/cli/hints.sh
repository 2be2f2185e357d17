# A hint stands where there is doubt, and each sentence once.
. "$SOURCE/tests/cli/lib/lib.sh"

once() {
    [ "$(grep -cF -e "$1" err)" -eq 1 ] || fail "$command: not once '$1': $(cat err)"
}
unsaid() {
    grep -qF -e "$1" err && fail "$command: stderr has '$1': $(cat err)"
}
hint="rows are samples; if they are features,"

# 12 samples x 5 features with names, and the same without, transposed, and square.
awk 'BEGIN { srand(1); print "\ta\tb\tc\td\te"
    for (i = 0; i < 12; i++) { printf "s%d", i
        for (j = 0; j < 5; j++) printf "\t%.3f", rand() + 9 * (i < 4); print "" } }' >named.tsv
sed 1d named.tsv | cut -f 2- >plain.tsv
awk -F '\t' '{ for (j = 1; j <= NF; j++) cell[NR, j] = $j }
    END { for (j = 1; j <= NF; j++) for (i = 1; i <= NR; i++)
        printf "%s%s", cell[i, j], i < NR ? "\t" : "\n" }' named.tsv >turned.tsv
head -n 5 plain.tsv >square.tsv
cut -f 1-4 named.tsv >fewer.tsv

# A table alone may lie either way, unless the user has said how.
expect 0 fit rfn named.tsv -k 2 --iterations 3 --seed 1 -o m.h5
once "$hint"
once "next: rarebit"
[ "$(tail -n 1 err | grep -c "next: rarebit")" -eq 1 ] || fail "$command: the next command is not last"
expect 0 fit rfn named.tsv -k 2 --preset paper --iterations 30 --tolerance 1e-9 --seed 1 -o m.h5
says "the objective still changed"
[ "$(tail -n 1 err | grep -c "next: rarebit")" -eq 1 ] || fail "$command: the next command is not last"
for said in --transpose --no-transpose; do
    expect 0 fit rfn turned.tsv $said -k 2 --iterations 3 --seed 1 -o turned.h5
    unsaid "$hint"
done
expect 0 fit rfn plain.tsv -k 2 --iterations 3 --seed 1 -o plain.h5

# With a model its names, or the number of its features, tell.
for use in "encode m.h5 named.tsv -o c.tsv" "evaluate m.h5 named.tsv" "modules m.h5 named.tsv" \
    "reconstruct m.h5 named.tsv -o c.tsv" "plot codes m.h5 named.tsv -o c.png" \
    "encode m.h5 turned.tsv --transpose -o c.tsv" "evaluate plain.h5 plain.tsv"; do
    # shellcheck disable=SC2086 # words
    expect 0 $use
    unsaid "--transpose"
done
expect 0 encode plain.h5 square.tsv -o c.tsv
once "$hint"
expect 1 encode m.h5 turned.tsv -o c.tsv
once "is the file transposed?"

# What two passes over the data find is said once.
for use in "modules m.h5 fewer.tsv" "plot codes m.h5 fewer.tsv -o c.png" \
    "encode m.h5 fewer.tsv -o c.tsv" "evaluate m.h5 fewer.tsv"; do
    # shellcheck disable=SC2086 # words
    expect 0 $use
    once "2 of the model's 5 features are not in the data"
done

# Counts as they are; not 8-bit pictures with a white pixel, nor grades, nor what is scaled already, nor fractions.
awk 'BEGIN { srand(2); for (i = 0; i < 20; i++) for (j = 0; j < 6; j++)
    printf "%d%s", exp(8 * rand()), j < 5 ? "\t" : "\n" }' >counts.tsv
awk '{ for (j = 1; j <= NF; j++) printf "%d%s", $j % 256, j < NF ? "\t" : "\n" }' counts.tsv >bytes.tsv
awk '{ for (j = 1; j <= NF; j++) printf "%.1f%s", $j + .5, j < NF ? "\t" : "\n" }' counts.tsv >halves.tsv
expect 0 fit rfn counts.tsv -k 2 --iterations 3 --restarts 2 --seed 1 -o m.h5
once "use --totals median --log1p"
for most in 20 60 255; do
    awk -v most=$most 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 6; j++)
        printf "%d%s", i + j == 9 ? most : (i * j) % 3, j < 5 ? "\t" : "\n" }' >to$most.tsv
done
expect 0 fit rfn to60.tsv -k 2 --iterations 3 --seed 1 -o m.h5
once "use --totals median --log1p"
for use in "counts.tsv --totals median --log1p" "counts.tsv --log1p" bytes.tsv halves.tsv to20.tsv to255.tsv; do
    # shellcheck disable=SC2086 # words
    expect 0 fit rfn $use -k 2 --iterations 3 --seed 1 -o m.h5
    unsaid "--totals median"
done

# The median total is told, and is the number that the model has.
for total in median "$(awk '{ total = 0; for (j = 1; j <= 6; j++) total += $j; print total }' counts.tsv |
    sort -n | awk '{ at[NR] = $1 } END { print (at[10] + at[11]) / 2 }')"; do
    expect 0 fit rfn counts.tsv --totals "$total" --log1p -k 2 --iterations 3 --seed 1 -o "$total.h5"
    [ "$total" != median ] || cp err said
    expect 0 encode "$total.h5" to60.tsv -o "$total.npy" -q
    expect 0 info "$total.h5" --json
    grep -o '"totals": [^,}]*' out >"$total.txt"
done
grep -qx "totals: the median, $total" said || fail "not said: $total: $(cat said)"
same median.txt "$total.txt"
same median.npy "$total.npy"
# A fit that starts from it keeps that number, and says so.
expect 0 fit rfn to60.tsv --init median.h5 --totals median --iterations 3 --seed 1 -o m.h5
once "totals: $total, as the model has it"
expect 2 fit rfn to60.tsv --init median.h5 --totals 0 -o m.h5
once "--totals cannot be given with a model to start from"
# A net sees samples in an order of its own: a value is named by its place in the file.
awk '{ print NR % 2 }' counts.tsv >classes.txt
awk -v OFS='\t' 'NR == 6 { $4 = -999 } 1' counts.tsv >below.tsv
expect 1 finetune median.h5 below.tsv --labels classes.txt --seed 1 -o m.h5
once "sample 5, feature 3 (counted from 0) is below 0, which --totals"
# Of a damaged model every command says what is wrong.
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    damage() {
        head -c -16 "$1" >damaged.h5 # less the checksum
        /usr/bin/python3 -c "import h5py, numpy; file = h5py.File('damaged.h5', 'r+'); $2"
    }
    damage median.h5 'del file["arrays/noise"]'
    expect 1 modules damaged.h5 counts.tsv
    once "the model has no array 'noise'"
    damage median.h5 'del file["arrays/loadings"]'
    expect 1 fit rfn counts.tsv --init damaged.h5 --seed 1 -o m.h5
    once "the model has no array 'loadings'"
    expect 0 finetune none counts.tsv --labels classes.txt --layers 2 --epochs 1 --seed 1 -o net.h5 -q
    damage net.h5 'file["attributes"].attrs["outputs"] = numpy.bytes_("odd")'
    expect 1 predict damaged.h5 counts.tsv -o c.tsv
    once "the outputs of the net are 'odd', but must be"
fi
sed 's/[1-9]/0/g' counts.tsv >zeros.tsv
expect 1 fit rfn zeros.tsv --totals median -k 2 -o m.h5
once "--totals is 'median', but no sample has a finite total above 0"

# A sigmoid is never 0.
expect 0 fit rfn named.tsv -k 5 --activation sigmoid --preset paper --iterations 100 --seed 1 -o m.h5
unsaid "nine in ten"

# An option that a message names can be typed as it stands there.
expect 2 fit rfn named.tsv -k 2 --estep cyclic --batch-size 4 -o m.h5
once "leave out --batch-size or use --estep newton"

# What would do nothing is refused.
expect 2 fit rfn named.tsv -k 2 --eta-every 5 -o m.h5
once "does nothing without --eta-schedule"
expect 2 fit rfn named.tsv -k 2 --moment-decay 0.5 -o m.h5
once "does nothing without --batch-size"
expect 0 fit rfn named.tsv -k 3 --iterations 20 --seed 1 -o m.h5
expect 2 modules m.h5 named.tsv --rule nonzero --sample-threshold 0.2
once "does nothing with the rule nonzero"
expect 2 encode m.h5 named.tsv -o c.tsv --format npy
once "leave --format out or give a name that ends in .npy"


# A model to start from has its number of units.
expect 0 fit rfn named.tsv --init m.h5 --iterations 3 --seed 1 -o on.h5

# Classes without a header, and of some samples.
awk 'NR > 1 { print $1 "\t" (NR % 2 ? "odd" : "even") }' named.tsv >classes.tsv
expect 0 modules m.h5 named.tsv --labels classes.tsv --json -o -
unsaid "has a class for"
head -n 5 classes.tsv >some.tsv
expect 0 modules m.h5 named.tsv --labels some.tsv
once "some.tsv has a class for 5 of the 12 samples"
# A fit that ends before its loadings are sparse says where it ended.
expect 0 fit rfn named.tsv -k 3 --iterations 5 --seed 1 -o short.h5
says "the fit ended after iteration 5, before loadings are shrunk, from iteration 51 on; a longer fit is sparser"
expect 0 fit rfn named.tsv -k 3 --iterations 60 --parameter-tolerance 0 --seed 1 -o short.h5
says "the fit ended after iteration 60, while loadings began to be shrunk, iterations 51 to 100; a longer fit is sparser"
finish
