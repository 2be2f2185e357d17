# check: what it says of planted files, and that the fit it prints runs as printed.
. "$SOURCE/tests/cli/lib/lib.sh"
mkdir bin
ln -s "$RAREBIT" bin/rarebit
cells=$SOURCE/examples/data/pbmc700/expr.tsv.gz

# The command that is printed runs, as it stands, and is kept in `line`.
runs() {
    expect 0 check "$@"
    [ ! -s err ] || fail "$command: stderr is not empty: $(cat err)"
    line=$(sed -n 's/^  \(rarebit fit .*\)/\1/p' out)
    [ -n "$line" ] || fail "$command: no fit: $(cat out)"
    rm -f model.h5 fit.h5
    PATH="$work/bin:$PATH" sh -c "$line -q --iterations 3" 2>err || fail "$line: $(cat err)"
    [ -s model.h5 ] || [ -s fit.h5 ] || fail "$line: no model"
}

fits() {
    case $line in
    *" $1 "*) ;;
    *) fail "$command: '$line' lacks '$1'" ;;
    esac
}

runs "$cells"
tells "logarithms of 1 + counts"
tells "Rows are samples: columns are named like genes ('TNFRSF4')."
fits "fit rfn"
fits "--seed 1"
grep -q '^problem\|^worth' out && fail "$command: $(cat out)"

# 200 of the demo's cells as counts, across, without some values, with one cell twice.
gzip -dc "$cells" | head -n 201 | awk -F '\t' -v OFS='\t' 'NR > 1 {
    least = 0
    for (i = 2; i <= NF; i++) if ($i > 0 && (!least || $i < least)) least = $i
    for (i = 2; i <= NF; i++) $i = int((exp($i) - 1) / (exp(least) - 1) + 0.5)
} { print }' >counts.tsv
across() {
    awk -F '\t' '{ for (i = 1; i <= NF; i++) cell[NR, i] = $i }
        END { for (i = 1; i <= NF; i++) for (r = 1; r <= NR; r++)
            printf "%s%s", cell[r, i], r < NR ? "\t" : "\n" }' "$1"
}
awk -F '\t' -v OFS='\t' 'NR == 41 { kept = $0; sub(/^[^\t]*/, "", kept) }
    NR == 51 { $0 = $1 kept } { print }' counts.tsv >'twice, a cell.tsv'
runs counts.tsv
tells "counts: whole numbers"
fits "--log1p"
fits "--totals median"
across counts.tsv >across.tsv
runs across.tsv
tells "200 samples x 765 features, transposed"
tells "The other findings are of the transposed table."
fits "--transpose"
fits "--log1p"
# Turned by the user: wrong where it lies right.
runs counts.tsv --transpose
tells "200 samples x 765 features, transposed"
case $line in *transpose*) fail "$command: $line" ;; esac
runs across.tsv --transpose
tells "200 samples x 765 features"
grep -q transposed out && fail "$command: transposed: $(cat out)"
fits "--transpose"
runs 'twice, a cell.tsv'
tells "problem          1 sample has the same values as another one"
expect 1 check 'twice, a cell.tsv' --strict
expect 0 check counts.tsv --strict

# One feature, and samples that are all constant: no fit is printed, and nothing is said that is not so.
awk 'BEGIN { print "a"; for (i = 0; i < 50; i++) print i * 7 % 50 / 3 }' >column.csv
expect 0 check column.csv
tells "There is only 1 feature"
grep -q "rarebit fit" out && fail "$command: a fit of one feature: $(cat out)"
awk 'BEGIN { print "a,b,c"; for (i = 0; i < 50; i++) print "1.5,1.5,1.5" }' >constant.csv
expect 0 check constant.csv
grep -q "no two samples are the same" out && fail "$command: $(cat out)"
# Many missing values are integrated out.
awk 'BEGIN { srand(3); print "a,b,c,d,e"; for (i = 0; i < 80; i++) { z = rand() < 0.3; line = ""
    for (k = 0; k < 5; k++) line = line (k ? "," : "") (rand() < 0.2 ? "NA" : 2 * z + rand()); print line } }' >many.csv
runs many.csv
fits "--missing model"

# Reading options are repeated; words that stand for missing values are told, and then taken.
printf 'a;b;c\n' >holes.csv
awk 'BEGIN { srand(1); for (i = 0; i < 60; i++)
    print (i % 9 ? rand() : -999) ";" rand() ";" rand() }' >>holes.csv
expect 0 check holes.csv
tells "it seems to mark missing values"
runs holes.csv --missing-words=-999
tells "of the values are missing"
fits "--missing-words=-999"
fits "--missing mean"
awk 'BEGIN { srand(2); for (i = 0; i < 80; i++) { for (k = 0; k < 20; k++)
    printf "%d%s", rand() < 0.3, k < 19 ? "," : "\n" } }' >bits.csv
runs bits.csv
fits "fit nmf-et"
expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
runs X.npy
runs X.npy --samples 50
tells "50 of 100 samples were examined"
expect 0 convert X.npy -o model.h5 -q
cp model.h5 kept.h5
expect 0 check model.h5
tells "-o fit.h5"
same model.h5 kept.h5

# JSON has the same.
expect 0 check across.tsv --json
[ "$(wc -l <out)" -eq 1 ] || fail "$command: JSON is not one line"
tells '"transposed": true'
tells '"kind": "counts"'
tells '"name": "orientation", "severity": "problem"'
tells '"command": "rarebit fit rfn across.tsv --transpose'
tells '{"option": "log1p", "value": "true"'

# The cost of a fit with so many units: memory within a third of what the fit then takes.
expect 0 simulate biclusters --samples 3000 --features 1000 --seed 1 -o large.npy -q
expect 0 check large.npy -k 7
tells " -k 7"
tells "of memory, and"
tells "for 200 iterations"
expect 0 check large.npy -k 7 --json
holds "$(number seconds <out) > 0 && $(number iterations <out) == 200"
bytes=$(number bytes <out)
if python=$(command -v python3) && ! ldd "$RAREBIT" | grep -q 'lib.san'; then
    peak=$("$python" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
        "$RAREBIT" fit rfn large.npy -k 7 --iterations 12 --seed 1 -o x.h5 -q)
    holds "$bytes > 0.67 * $peak && $bytes < 1.5 * $peak"
fi

# What cannot be read keeps its message; what cannot be fitted is said.
breaks "nothing.csv" check nothing.csv
printf 'a,b\n1,2\n3,n/d\n' >words.csv
breaks "words.csv, row 3, column 2" check words.csv
expect 1 check "$SOURCE/tests/data/model-v1.h5"
says "is a model"
printf '1,2\n1,2\n1,2\n' >same.csv
expect 0 check same.csv
tells "Solve the problems first; no fit is suggested before."
expect 0 check same.csv --json
tells '"command": null'
expect 1 check same.csv --strict
expect 0 check large.npy -k 2000000
tells "more than there is: take fewer units"
expect 0 check same.csv -k 1
tells "no fit is suggested"
refuses "samples is '-1'" check X.npy --samples -1
finish
