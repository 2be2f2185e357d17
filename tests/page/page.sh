# The page of `rarebit report` in a browser: what a reader sees, clicks, types and saves, with the
# keyboard, in the dark, on a phone, and by the rules of axe-core. It needs node, npm, a
# Chromium and the packages in package.json.
set -eu
. "$SOURCE/tests/lib/skip.sh"
. "$SOURCE/tests/page/lib/browser.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
cells=$SOURCE/examples/data/pbmc700
"$RAREBIT" fit rfn "$cells/expr.tsv.gz" -k 11 --seed 1 -o cells.h5 -q
"$RAREBIT" report cells.h5 "$cells/expr.tsv.gz" --rule fabia --labels "$cells/labels.tsv" \
    --title "700 blood cells" -o cells.html -q
# The page of the demo, for the documents' picture of it.
[ -z "${PAGE_PICTURES:-}" ] || "$RAREBIT" report cells.h5 "$cells/expr.tsv.gz" \
    --labels "$cells/labels.tsv" --title "700 blood cells" -o demo.html -q
# The same with all that can be asked for: a set of each module's features, covariates by chance and
# not, numbers of units.
"$RAREBIT" modules cells.h5 "$cells/expr.tsv.gz" --rule fabia -o modules.gmt -q
awk 'BEGIN { FS = OFS = "\t" } NF > 11 { print "like " $1, "", $3, $4, $5, $6, $7, $8, $9, $10 }' \
    modules.gmt >sets.gmt
awk 'BEGIN { FS = OFS = "\t"; print "cell", "number", "lymphoid" }
    NR > 1 { print $1, NR * 7919 % 83, $2 ~ /CD4|CD8|CD19|NK/ ? "yes" : "no" }' "$cells/labels.tsv" >covariates.tsv
"$RAREBIT" select rfn "$cells/expr.tsv.gz" --units 2,5,8 --restarts 2 --folds 2 --iterations 60 --seed 1 \
    -o select.tsv -q >chosen
"$RAREBIT" fit rfn "$cells/expr.tsv.gz" -k 11 --seed 2 --iterations 150 -o other.h5 -q
"$RAREBIT" consensus cells.h5 other.h5 -o consensus.h5 -q
"$RAREBIT" report consensus.h5 "$cells/expr.tsv.gz" --rule fabia -o consensus.html -q
"$RAREBIT" report cells.h5 "$cells/expr.tsv.gz" --rule fabia --labels "$cells/labels.tsv" --gmt sets.gmt \
    --covariates covariates.tsv --select select.tsv --permutations 40 --null encode \
    --seed 1 -o all.html -q
"$RAREBIT" modules cells.h5 "$cells/expr.tsv.gz" --rule fabia -o modules.tsv -q

# Names that are HTML and script; values that are missing; a model with a warning and one unit.
"$RAREBIT" simulate biclusters --dataset D1 --seed 1 --samples 60 --features 40 -o X.npy -q
"$RAREBIT" convert X.npy -o X.tsv -q
awk 'BEGIN { FS = OFS = "\t"; printf "name"
        for (i = 1; i <= 40; i++) printf "\t</script><img src=x onerror=hacked=1>%d", i; print "" }
    { print "<script>hacked=1</script>" NR, $0 }' X.tsv >hostile.tsv
awk 'BEGIN { FS = OFS = "\t"; print "name", "class" }
    NR > 1 { print $1, NR % 3 ? "<b onclick=hacked=1>" : "__proto__" }' hostile.tsv >classes.tsv
"$RAREBIT" fit rfn hostile.tsv -k 1 --seed 1 -o hostile.h5 -q 2>/dev/null
"$RAREBIT" report hostile.h5 hostile.tsv --labels classes.tsv --title '<script>hacked=1</script>' \
    -o hostile.html -q 2>/dev/null

# Four modules, each high in some samples and low in others; three strong ones, that centring mirrors.
sh "$SOURCE/tests/cli/lib/planted.sh" both >both.tsv
"$RAREBIT" fit ica both.tsv -k 6 --seed 1 -o sides.h5 -q
"$RAREBIT" report sides.h5 both.tsv -o sides.html -q
"$RAREBIT" modules sides.h5 both.tsv -o sides.gmt -q
sh "$SOURCE/tests/cli/lib/planted.sh" strong >strong.tsv
"$RAREBIT" fit rfn strong.tsv -k 10 --seed 1 --centre mean -o mirror.h5 -q
"$RAREBIT" report mirror.h5 strong.tsv -o mirror.html -q
tail -n +37 strong.tsv >noise.tsv # of samples that are in no module
"$RAREBIT" fit rfn noise.tsv -k 10 --seed 1 -o noise.h5 -q
"$RAREBIT" report noise.h5 noise.tsv -o noise.html -q

# 20 modules of 5000 samples, with names and classes.
"$RAREBIT" simulate biclusters --dataset D1 --samples 5000 --features 2000 --seed 1 -o big.npy -q
"$RAREBIT" fit rfn big.npy -k 20 --estep newton --iterations 20 --seed 1 -o big.h5 -q
awk 'BEGIN { for (i = 0; i < 5000; i++) print "class " i % 12 }' >big.txt
"$RAREBIT" report big.h5 big.npy --labels big.txt -o big.html -q 2>/dev/null

NODE_PATH=$modules/node_modules node "$SOURCE/tests/page/page.js" "$browser" "$work" \
    ${PAGE_PICTURES:+"$PAGE_PICTURES"}
