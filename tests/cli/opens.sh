# Every input file, data, model or table of samples, is opened once by a command, whatever looks at it.
. "$SOURCE/tests/cli/lib/lib.sh"

need command strace
strace -o trace true 2>/dev/null || skip "strace cannot trace here"

opens_once() {
    command="rarebit $*"
    # A sanitizer cannot look for leaks of what is traced.
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" \
        strace -f -o trace -e trace=open,openat "$RAREBIT" "$@" >out 2>err || fail "$command: $(cat err)"
    for file in in.$suffix m.h5 r.h5 classes.tsv covariates.csv.gz list.txt numbers.npy obs.h5ad a.h5 b.h5; do
        case " $* " in
        *" $file "* | *" $file:"*)
            count=$(grep -c "\"$file\"" trace)
            [ "$count" -eq 1 ] || fail "$command: opens $file $count times"
            ;;
        esac
    done
}

expect 0 simulate biclusters --samples 40 --features 20 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 2 --iterations 2 --seed 1 -o m.h5 -q
for suffix in npy tsv.gz csv h5 h5ad; do
    expect 0 convert X.npy -o in.$suffix -q
    opens_once fit rfn in.$suffix -k 2 --iterations 2 --seed 1 -o x.h5 -q
    opens_once encode m.h5 in.$suffix -o codes.npy -q
    opens_once reconstruct m.h5 in.$suffix -o rebuilt.npy -q
    opens_once evaluate m.h5 in.$suffix -q
    opens_once modules m.h5 in.$suffix -q
    opens_once report m.h5 in.$suffix -o page.html -q
    opens_once convert in.$suffix -o other.tsv -q
done

# Tables of samples, however many options name one, and whatever is asked of it.
suffix=tsv
obs=$SOURCE/tests/data/hdf5/obs.h5ad
awk 'BEGIN { srand(3); print "id\tA\tB\tC"; for (i = 0; i < 24; i++) {
    x = 9 * (i < 6); print "s" i "\t" rand() + x "\t" rand() + x / 2 "\t" rand() } }' >in.tsv
awk 'BEGIN { print "id\tclass\tbatch"; for (i = 0; i < 24; i++) print "s" i "\t" (i % 3 ? "T" : "S") "\t" (i % 2 ? "b" : "c") }' >classes.tsv
tr '\t' , <classes.tsv | gzip >covariates.csv.gz
cut -f 2 classes.tsv >list.txt
awk 'BEGIN { print "y"; for (i = 0; i < 24; i++) print i % 2 }' >numbers.csv
expect 0 convert numbers.csv -o numbers.npy -q
expect 0 fit rfn in.tsv -k 2 --iterations 3 --seed 1 -o m.h5 -q
for table in classes.tsv covariates.csv.gz:class list.txt numbers.npy; do
    opens_once modules m.h5 in.tsv --labels "$table" -q
    opens_once report m.h5 in.tsv --labels "$table" -o page.html -q
    opens_once plot codes m.h5 in.tsv --labels "$table" -o plot.png -q
    opens_once plot unit m.h5 in.tsv --unit 0 --labels "$table" -o plot.png -q
    opens_once finetune none in.tsv --labels "$table" --layers 2 --epochs 1 --seed 1 -o x.h5 -q
    opens_once evaluate x.h5 in.tsv --labels "$table" -q
done
opens_once fit pca in.tsv -k 1 --covariates covariates.csv.gz --regress batch -o x.h5 -q
mv x.h5 r.h5
opens_once encode r.h5 in.tsv --covariates covariates.csv.gz -o codes.npy -q
for words in codes "unit --unit 0" modules; do
    # shellcheck disable=SC2086 # words
    opens_once plot $words r.h5 in.tsv --covariates covariates.csv.gz:batch --labels covariates.csv.gz:class -o plot.png -q
done
cp in.tsv a.tsv
cp in.tsv b.tsv
opens_once compare r.h5 a.tsv b.tsv --covariates covariates.csv.gz -q
expect 0 convert in.tsv -o a.h5 -q
cp a.h5 b.h5
opens_once compare m.h5 a.h5 b.h5 -q
opens_once rerun r.h5 in.tsv --covariates covariates.csv.gz -q
for words in modules "report -o page.html"; do
    opens_once $words r.h5 in.tsv --covariates covariates.csv.gz:class --labels covariates.csv.gz:batch -q
done
cp "$obs" obs.h5ad
opens_once fit rfn obs.h5ad -k 1 --iterations 3 --seed 1 --regress cluster -o x.h5 -q
mv x.h5 r.h5
for words in modules "report -o page.html"; do
    opens_once $words r.h5 obs.h5ad --covariates obs:batch,type --labels obs:louvain -q
    opens_once $words r.h5 obs.h5ad --covariates obs.h5ad:batch,type --labels obs.h5ad:louvain -q
done
finish
