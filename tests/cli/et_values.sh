# Causes of several values from data to results: bars of three heights are found and their heights too,
# by the three methods; models, codes, states, modules, warm starts; what is refused.
. "$SOURCE/tests/cli/lib/lib.sh"

for case in "nmf-et linear" "linca signed" "mca max"; do
    # shellcheck disable=SC2086 # words
    set -- $case
    expect 0 simulate bars --style "$2" --size 4 --heights 3 --samples 500 --seed 3 -o Y.npy \
        --truth fields.npy --states states.npy -q
    expect 0 fit "$1" Y.npy -k 8 --values 0,1,2,3 --learn-prior --iterations 100 --seed 1 -o m.h5 -q
    expect 0 evaluate m.h5 Y.npy --truth fields.npy --json -q
    [ "$(number causes_found <out)" = 8 ] || fail "$1: found $(number causes_found <out) of 8 bars"
    likelihood=$(number log_likelihood <out)
    holds "$(number quality <out) > 0.5 && $(number quality <out) <= 1"

    # The most probable values: each bar has its own unit; 95 of 100 are those that were drawn.
    expect 0 encode m.h5 Y.npy -o codes.tsv --map map.tsv -q
    sum=$(awk '{ sum += $1 } END { printf "%.12g", sum / NR }' map.tsv)
    holds "$sum - ($likelihood) < 1e-6 && ($likelihood) - ($sum) < 1e-6"
    awk '{ for (k = 2; k <= NF; k++) if ($k !~ /^[0-7]=[123]$/) exit 1 }' map.tsv || fail "map: $(head -3 map.tsv)"
    expect 0 convert states.npy -o states.tsv -q
    active=$(awk '{ for (k = 1; k <= NF; k++) n += $k + 0 != 0 } END { print n }' states.tsv)
    heights=$(awk '{ for (k = 1; k <= NF; k++) n += $k } END { print n }' states.tsv)
    found=$(awk '{ n += NF - 1 } END { print n }' map.tsv)
    sum=$(sed 's/[0-9]=//g' map.tsv | awk '{ for (k = 2; k <= NF; k++) n += $k } END { print n }')
    holds "$found > 0.9 * $active && $found < 1.1 * $active"
    holds "$sum > 0.9 * $heights && $sum < 1.1 * $heights"

    # Codes are means of values; what they rebuild is near the data.
    awk '{ for (k = 1; k <= NF; k++) if (NR > 1 && ($k < 0 || $k > 3.0001)) exit 1 }' codes.tsv ||
        fail "codes: $(head -3 codes.tsv)"
    expect 0 reconstruct m.h5 Y.npy -o rebuilt.npy -q
    expect 0 modules m.h5 Y.npy -o modules.tsv -q
    expect 0 info m.h5
    tells "values                0,1,2,3"
    tells "value_prior"
    expect 0 fit "$1" Y.npy -k 8 --values 0,1,2,3 --init m.h5 --iterations 2 -o warm.h5 -q
    refuses "give the same" fit "$1" Y.npy -k 8 --values 0,1 --init m.h5 -o none.h5 -q
    [ ! -e none.h5 ] || fail "a refused fit left a model"
done

# 0 and 1 are what causes are.
expect 0 fit mca Y.npy -k 8 --iterations 20 --seed 1 -o plain.h5 -q
expect 0 fit mca Y.npy -k 8 --values 0,1 --iterations 20 --seed 1 -o same.h5 -q
for model in plain same; do
    expect 0 encode $model.h5 Y.npy -o $model.tsv -q
done
same plain.tsv same.tsv

# Given priors, of each value, learned for each cause.
expect 0 fit linca Y.npy -k 8 --values=-1,0,2 --value-prior 0.2,0.1 --iterations 5 -o given.h5 -q
expect 0 fit linca Y.npy -k 8 --values=-1,0,2 --prior-per-cause --iterations 5 -o each.h5 -q
expect 0 info each.h5
tells "value_prior           2 x 8"
# One state, or a region; the scalar product.
expect 0 fit nmf-et Y.npy -k 8 --region 0 --selection product --iterations 20 -o one.h5 -q
expect 0 encode one.h5 Y.npy -o one.tsv -q
awk '{ for (k = 1; k <= NF; k++) if (NR > 1 && $k != 0 && $k != 1) exit 1 }' one.tsv || fail "one state has codes between"

refuses "must be at most 17 different numbers that include 0" fit mca Y.npy -k 8 --values 1,2 -o none.h5 -q
refuses "must be at most 17 different numbers that include 0" fit mca Y.npy -k 8 --values 0,1,1 -o none.h5 -q
refuses "must be at most 17 different numbers that include 0" fit mca Y.npy -k 8 --values 0,x -o none.h5 -q
refuses "not negative" fit mca Y.npy -k 8 --values=-1,0,1 -o none.h5 -q
refuses "with a sum below 1" fit mca Y.npy -k 8 --values 0,1,2 --value-prior 0.5,0.6 -o none.h5 -q
refuses "leave one of them out" fit mca Y.npy -k 8 --values 0,1,2 --value-prior 0.1,0.1 --prior 0.2 -o none.h5 -q
refuses "give --prior instead" fit mca Y.npy -k 8 --value-prior 0.2 -o none.h5 -q
[ ! -e none.h5 ] || fail "a refused fit left a model"

finish
