#!/bin/sh
# Gene modules of blood cells, from the file to the picture: demo.sh [FOLDER]
# The tool is $RAREBIT, or the rarebit of the path. Everything is written into FOLDER.
set -eu
here=$(dirname "$0")
rarebit=${RAREBIT:-rarebit}
out=${1:-rarebit-demo}
cells=$here/data/pbmc700/expr.tsv.gz
types=$here/data/pbmc700/labels.tsv
mkdir -p "$out"

# Shows a command of the tool and runs it.
show() {
    echo
    echo "\$ rarebit $*"
    "$rarebit" "$@"
}

echo "700 blood cells x 765 genes; their cell types are known, but the fit does not see them."
show check "$cells"
show fit rfn "$cells" -k 11 --seed 1 -o "$out/model.h5"
show encode "$out/model.h5" "$cells" -q -o "$out/codes.tsv"
show modules "$out/model.h5" "$cells" -q -o "$out/modules.tsv"
show modules "$out/model.h5" "$cells" -q --labels "$types" >"$out/types.txt"
cat "$out/types.txt"
show plot modules "$out/model.h5" "$cells" -q --labels "$types" \
    -o "$out/modules.png"
show plot codes "$out/model.h5" "$cells" -q --labels "$types" -o "$out/codes.png"
show report "$out/model.h5" "$cells" -q --labels "$types" --title "700 blood cells" \
    -o "$out/report.html"

echo
echo "What was found. A unit stands for a set of cells and the genes that are up or down in them together;"
echo "beside it the known cell type that is most enriched among these cells."
echo
tab=$(printf '\t')
# The first of the two tables, which an empty line ends, as far as units are modules.
sed -e '1,/^unit/d' -e '/^$/,$d' -e '/^[0-9]* (/d' "$out/types.txt" >"$out/types.rows"

# The first genes of a unit whose weight has the sign: genes UNIT SIGN COUNT
genes() {
    awk -F "$tab" -v unit="$1" -v sign="$2" -v most="$3" '
        $2 == unit && $4 == "feature" && sign * $7 > 0 && n++ < most { printf "%s ", $5 }' "$out/modules.tsv"
}

printf '%s  %-33s%-17s%s\n' unit up down 'cells, and their type'
while read -r unit size both _ _ _ _ type; do
    told=
    [ "$type" = - ] || told=", $both of the $(cut -f 2 "$types" | grep -cxF "$type") $type"
    printf '  %2s  %-33s%-17s%3d%s\n' "$unit" "$(genes "$unit" 1 4)" "$(genes "$unit" -1 2)" \
        "$size" "$told"
done <"$out/types.rows"
rm "$out/types.rows"

zeros=$(awk -F "$tab" 'NR > 1 { for (i = 2; i <= NF; i++) { n++; zero += $i == 0 } }
    END { printf "%.0f", 100 * zero / n }' "$out/codes.tsv")
cat <<END

Each cell is now described by 11 numbers instead of 765, and $zeros % of them are zero.

Written:
  $out/report.html   all of this on one page: open it in a browser first
  $out/modules.png   genes and cells, ordered by module
  $out/codes.png     which units are active in which cell type
  $out/modules.tsv   genes and cells of each module, with weights
  $out/codes.tsv     the 11 numbers of each cell
  $out/types.txt     modules against cell types, and the unit that marks each type best
  $out/model.h5      the model: encodes new cells with 'rarebit encode'
END
