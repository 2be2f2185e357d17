# The demo finds the modules of the textbook: natural killer, B, monocyte, dendritic and T cells, and
# writes what it says.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$SOURCE/examples/demo.sh" "$work/demo" >"$work/log" 2>"$work/err" || { cat "$work/err" >&2; exit 1; }

expect() {
    grep -Eq "^ +[0-9]+  .*$1" "$work/log" && return
    echo "no module with $1:" >&2
    cat "$work/log" >&2
    exit 1
}
expect 'CLIC3 .*CD56\+ NK'
expect 'MS4A1 .*CD19\+ B'
expect 'LST1 .*CD14\+ Monocyte'
expect 'FCER1A .*Dendritic'
expect 'CD3D .*(CD4|CD8)\+'

for file in $(sed -n 's/^  \([^ ]*demo\/[a-z.0-9]*\) .*/\1/p' "$work/log"); do
    [ -s "$file" ] || { echo "$file was not written" >&2; exit 1; }
done
[ "$(ls "$work/demo" | wc -l)" = "$(grep -c "^  $work/demo/" "$work/log")" ]
