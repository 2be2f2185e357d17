# Missing values left to the model: fit, encode, evaluate, reconstruct, by a table and by .npy.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --features 200 --samples 100 --seed 1 -o whole.tsv \
    --truth truth.json -q
awk 'BEGIN { FS = OFS = "\t"; srand(5) }
     NR > 1 { for (k = 2; k <= NF; k++) if (rand() < 0.3 && NR % 10) $k = "NA" } 1' whole.tsv >Y.tsv

# What does not say what to do with them is told of all ways.
breaks "or use --missing model where" fit rfn Y.tsv -k 10 --seed 1 -o none.h5 -q
for estep in auto newton; do
    expect 0 fit rfn Y.tsv -k 10 --seed 1 --estep $estep --missing model -o m.h5
    says "missing values are left out"
    expect 0 fit rfn Y.tsv -k 10 --seed 1 --estep $estep --missing omit -o omit.h5 -q
    for use in encode reconstruct; do
        expect 0 $use m.h5 Y.tsv -o a.npy -q
        expect 0 $use omit.h5 Y.tsv -o b.npy -q
        cmp a.npy b.npy || fail "$use: omit is not model"
    done
    expect 0 info a.npy --json
    tells '"missing": 0'
    expect 0 evaluate m.h5 Y.tsv --json -q
    holds "$(number log_likelihood <out) > $(number objective <out)"
    tells '"mean_squared_error"'
    expect 0 encode m.h5 Y.tsv --threads 1 -o a.npy -q
    expect 0 encode m.h5 Y.tsv --threads 3 -o b.npy -q
    cmp a.npy b.npy || fail "$estep: the threads change codes"
done

# The same fit from a file of another kind.
expect 0 convert Y.tsv -o Y.npy -q
expect 0 fit rfn Y.npy -k 10 --seed 1 --missing model --precision float64 -o a.h5 -q
expect 0 fit rfn Y.tsv -k 10 --seed 1 --missing model --precision float64 -o b.h5 -q
expect 0 encode a.h5 Y.npy -o a.npy -q
expect 0 encode b.h5 Y.tsv -o b.npy -q
cmp a.npy b.npy || fail "codes depend on the kind of file"

# The modules are those of all values, mostly.
expect 0 modules m.h5 Y.tsv --best 10 --truth truth.json --json -q
holds "$(number consensus_score <out) > 0.3"

# A model of whole data does without values where it is told to.
expect 0 fit rfn whole.tsv -k 10 --seed 1 -o whole.h5 -q
for use in "encode -o codes.npy" "reconstruct -o rebuilt.npy" "evaluate --json"; do
    # shellcheck disable=SC2086 # words
    set -- $use
    name=$1
    shift
    breaks "leave it out with --missing model" "$name" whole.h5 Y.tsv "$@" -q
    expect 0 "$name" whole.h5 Y.tsv "$@" --missing model -q
done
expect 0 fit rfn Y.tsv --init whole.h5 -k 10 --missing model --iterations 5 -o again.h5 -q

# Values that are there stay as they are; those that are missing come from the model.
expect 0 fit rfn whole.tsv -k 10 --seed 1 --precision float64 -o whole.h5 -q
expect 0 reconstruct whole.h5 Y.tsv --missing model -o rebuilt.tsv -q
expect 0 reconstruct whole.h5 Y.tsv --missing model --impute -o imputed.tsv -q
paste Y.tsv rebuilt.tsv imputed.tsv | awk -F '\t' 'NR > 1 { n = NF / 3
    for (k = 2; k <= n; k++) bad += $(2 * n + k) != ($k == "NA" ? $(n + k) : $k) }
    END { exit bad > 0 }' || fail "imputed values"

# What cannot be had.
refuses "a fit in batches cannot have missing" \
    fit rfn Y.tsv -k 3 --missing model --batch-size 20 -o none.h5 -q
expect 0 fit rfn whole.tsv -k 3 --noise full --iterations 5 -o full.h5 -q
breaks "a model with full noise cannot have" encode full.h5 Y.tsv --missing model -o codes.npy -q
[ ! -e none.h5 ] || fail "none.h5 was written"
finish
