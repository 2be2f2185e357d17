# The worked example of blood cells has the figures of its page; one that moves, is missing, or is not on
# the page makes an example fail, and figures of other methods may be left out only as a whole.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
RAREBIT_PEERS=no sh "$SOURCE/examples/pages/run.sh" "$work/out" cells >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    failed=1
}
[ -s "$work/out/cells/codes.png" ]

mkdir -p "$work/tree/examples/pages" "$work/tree/docs/start/examples"
cp "$SOURCE"/examples/pages/*.sh "$work/tree/examples/pages"
printf 'figure\tvalue\ttolerance\tfrom\narea\t0.90\t0.01\trarebit\nother\t0.50\t0.01\tpeers\n' \
    >"$work/tree/docs/start/examples/made.tsv"
echo 'The area is 0.90, that of others 0.50.' >"$work/tree/docs/start/examples/made.md"

# ends STATUS MESSAGE LINE...: an example of these lines
ends() {
    wanted=$1 message=$2 got=0
    shift 2
    printf '%s\n' '. "$(dirname "$0")/lib.sh"' "$@" finish >"$work/tree/examples/pages/made.sh"
    sh "$work/tree/examples/pages/run.sh" "$work/made" made >"$work/log" 2>&1 || got=$?
    [ $got -eq "$wanted" ] && grep -qF "$message" "$work/log" && return
    echo "exit $got instead of $wanted, or no '$message': $(cat "$work/log")" >&2
    failed=1
}
ends 0 "every figure is that of" "figure area 0.905" "figure other 0.5"
ends 0 "every figure is that of" "figure area 0.90" "compared=no"
ends 1 "area: 0.88, but 0.90 +- 0.01 on the page" "figure area 0.88" "figure other 0.5"
ends 1 "other: not measured" "figure area 0.90"
ends 1 "area: not measured" "compared=no"
ends 1 "third: 1: not in the table" "figure area 0.90" "figure other 0.5" "figure third 1"
echo 'The area is good, that of others 0.50.' >"$work/tree/docs/start/examples/made.md"
ends 1 "area 0.90 is not on the page" "figure area 0.90" "figure other 0.5"
exit $failed
