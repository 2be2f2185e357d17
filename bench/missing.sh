#!/usr/bin/env bash
# Planted modules with 30 % of the values missing, taken away at random: the consensus score of the
# default fit to all values, to those that are left (--missing model), and with the others filled
# by the mean of their feature (--missing mean). FABIA's generator, so many sets.
#
#     bench/missing.sh build/rarebit [SETS [SHARE [UNITS]]]
set -euo pipefail
rarebit=$1 sets=${2:-10} share=${3:-0.3} units=${4:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

score() { # DATA HOW: of a fit
    "$rarebit" fit rfn "$folder/$1.tsv" -k "$units" --seed 1 --missing "$2" -o "$folder/m.h5" -q \
        2>/dev/null
    "$rarebit" modules "$folder/m.h5" "$folder/$1.tsv" --best 10 --truth "$folder/truth.json" \
        --json -q 2>/dev/null | sed -n 's/.*"consensus_score": \([0-9.e-]*\).*/\1/p'
}

echo "set complete model mean"
for ((set = 1; set <= sets; set++)); do
    "$rarebit" simulate biclusters --generator fabia --seed "$set" -o "$folder/whole.tsv" \
        --truth "$folder/truth.json" -q 2>/dev/null
    awk -v share="$share" -v seed="$set" 'BEGIN { FS = OFS = "\t"; srand(seed) }
        NR > 1 { for (k = 2; k <= NF; k++) if (rand() < share) $k = "NA" } 1' \
        "$folder/whole.tsv" >"$folder/holes.tsv"
    echo "$set $(score whole refuse) $(score holes model) $(score holes mean)"
done | awk '{ print; for (c = 2; c <= 4; c++) sum[c] += $c; n++ }
    END { printf "mean %.4f %.4f %.4f of %d sets\n", sum[2] / n, sum[3] / n, sum[4] / n, n }'
