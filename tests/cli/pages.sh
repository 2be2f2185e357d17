# Worked examples (examples/pages, docs/start/examples): every page has its script, table and pictures and is
# listed; a figure that moves, or is not on the page, fails; so does a page without its data, when named.
. "$SOURCE/tests/cli/lib/lib.sh"
export RAREBIT_PEERS=no
docs=$SOURCE/docs/start/examples

for table in "$docs"/*.tsv; do
    name=$(basename "$table" .tsv)
    command=$name
    [ -f "$SOURCE/examples/pages/$name.sh" ] || fail "$name has no script"
    grep -qF "($name.md)" "$docs/README.md" || fail "$name is not in docs/start/examples/README.md"
    awk -F '\t' 'FNR == NR { if (FNR > 1) wanted[$2] = $1; next } { text = text $0 "\n" }
        END { for (value in wanted) if (!index(text, value)) print wanted[value] }' \
        "$table" "$docs/$name.md" >lacking
    [ ! -s lacking ] || fail "$name.md lacks figures: $(cat lacking)"
    sed -n 's/.*](\([a-z-]*\.png\)).*/\1/p' "$docs/$name.md" | while read -r picture; do
        [ -s "$docs/$picture" ] || echo "$picture"
    done >lacking
    [ ! -s lacking ] || fail "$name.md lacks pictures: $(cat lacking)"
done

# A page of our own, of one figure.
mkdir -p tree/examples/pages tree/docs/start/examples
cp "$SOURCE/examples/pages/lib.sh" "$SOURCE/examples/pages/run.sh" tree/examples/pages
cat >tree/examples/pages/own.sh <<'END'
. "$(dirname "$0")/lib.sh"
value=$(given value) || exit
figure "answer" "$(cat "$value")"
finish
END
echo "It is 0.50." >tree/docs/start/examples/own.md
printf 'figure\tvalue\ttolerance\tfrom\nanswer\t0.50\t0.02\trarebit\n' >tree/docs/start/examples/own.tsv
mkdir data

run() {
    wanted=$1
    shift
    command="run.sh $*"
    sh tree/examples/pages/run.sh made "$@" >out 2>err
    got=$?
    [ $got -eq "$wanted" ] || fail "$command: exit $got instead of $wanted: $(cat out err)"
}

run 1 own
says "own needs value in the folder of --data"
run 0
tells "left out, for want of data: own"
echo 0.51 >data/value
run 0 --data data own
tells "every figure is that of docs/start/examples/own.md"
echo 0.53 >data/value
run 1 --data data
says "answer: 0.53, but 0.50 +- 0.02 on the page"
says "own: figures have moved"
run 2 other
says "there is no example 'other'"
run 2 --data nowhere
says "there is no folder 'nowhere'"
finish
