# What the worked examples share: NAME.sh sources it, makes the figures and pictures of
# docs/start/examples/NAME.md in the folder $1, and ends with `finish`, which fails when a figure is further
# from docs/start/examples/NAME.tsv than its tolerance, or the page does not have it. $2 is the folder of
# the data sets that can neither be part of the project nor be fetched.
#
#   given FILE                  path of a file in that folder; without it the example ends with 77
#   show ARGUMENT...            runs the tool and shows its command
#   figure NAME VALUE           a figure of the page
#   areas MODEL DATA LABELS     mean over classes of the area under the ROC curve of the best unit
#   seeds DATA LABELS OPTION... the same, mean over fits with the seeds 1 to 5
#   peers DATA LABELS UNITS     figures of other methods (peers.py); RAREBIT_PEERS=no: none of them
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$0" .sh)
page=$here/../../docs/start/examples/$name.md
wanted=$here/../../docs/start/examples/$name.tsv
rarebit=${RAREBIT:-rarebit}
out=${1:?the folder to write into}
data_sets=${2:+$(cd "$2" && pwd)}
compared=yes
mkdir -p "$out"
cd "$out"
: >figures.tsv

given() {
    [ -n "$data_sets" ] && [ -e "$data_sets/$1" ] || {
        echo "$name needs $1 in the folder of --data: docs/start/examples/$name.md tells how to make it" >&2
        return 77
    }
    echo "$data_sets/$1"
}

show() {
    echo
    echo "\$ rarebit $*"
    "$rarebit" "$@"
}

figure() {
    printf '%s\t%s\n' "$1" "$2" | tee -a figures.tsv
}

areas() {
    "$rarebit" modules "$1" "$2" --labels "$3" --json -q |
        sed 's/.*"best_units": \[//; s/\].*//' | tr '{' '\n' |
        sed -n 's/.*"auc": \([0-9.]*\).*/\1/p' | awk '{ sum += $1 } END { printf "%.3f", sum / NR }'
}

seeds() {
    data=$1 labels=$2
    shift 2
    for seed in 1 2 3 4 5; do
        "$rarebit" fit rfn "$data" "$@" --seed $seed -o seed.h5 -q
        areas seed.h5 "$data" "$labels"
        echo
    done | awk '{ sum += $1 } END { printf "%.3f", sum / NR }'
}

# A figure that the tool prints on a line of `evaluate`: evaluated MODEL DATA "variance explained"
evaluated() {
    "$rarebit" evaluate "$1" "$2" -q | sed -n "s/^$3  *\([-0-9.e]*\).*/\1/p" | awk '{ printf "%.3f", $1 }'
}

python() {
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import sklearn, scipy' 2>/dev/null && "$python" "$@" && return
    done
    return 1
}

has_python() {
    for python in /usr/bin/python3 python3; do
        "$python" -c 'import sklearn, scipy' 2>/dev/null && return
    done
    return 1
}

peers() {
    if [ "${RAREBIT_PEERS:-yes}" = no ] || ! has_python; then
        echo "other methods are left out: they need python3 with sklearn, and RAREBIT_PEERS not to be no"
        compared=no
        return
    fi
    echo
    echo "The same with other methods:"
    python "$here/peers.py" "$@" >peers.tsv
    tee -a figures.tsv <peers.tsv
}

finish() {
    awk -F '\t' -v compared=$compared -v page="$page" '
        FILENAME == ARGV[1] { got[$1] = $2; next }
        FILENAME == ARGV[2] { text = text $0 "\n"; next }
        FNR == 1 { next }
        { known[$1] = 1 }
        !index(text, $2) { print page ": " $1 " " $2 " is not on the page"; bad = 1 }
        !($1 in got) && compared == "no" && $4 == "peers" { next }
        !($1 in got) { print $1 ": not measured"; bad = 1; next }
        got[$1] - $2 > $3 + 1e-9 || $2 - got[$1] > $3 + 1e-9 {
            print $1 ": " got[$1] ", but " $2 " +- " $3 " on the page"; bad = 1
        }
        END {
            for (figure in got) if (!(figure in known)) { print figure ": " got[figure] ": not in the table"; bad = 1 }
            exit bad
        }' figures.tsv "$page" "$wanted" >&2 || { echo "$name: figures have moved" >&2; exit 1; }
    echo
    echo "$name: every figure is that of docs/start/examples/$name.md; pictures are in $out"
}
