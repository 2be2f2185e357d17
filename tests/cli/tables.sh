# Tables of samples by pipe: --labels, --covariates and --regress take what another program writes.
. "$SOURCE/tests/cli/lib/lib.sh"

awk 'BEGIN { srand(3); print "id\tA\tB\tC"; for (i = 0; i < 24; i++) print "s" i "\t" rand() "\t" rand() "\t" rand() }' >x.tsv
awk 'BEGIN { srand(4); print "id\tclass\tage"; for (i = 0; i < 24; i++) print "s" i "\t" (i % 3 ? "T" : "S") "\t" 20 + int(rand() * 50) }' >samples.tsv
expect 0 fit rfn x.tsv -k 2 --iterations 3 --seed 1 --covariates samples.tsv --regress class -o r.h5 -q
expect 0 fit rfn x.tsv -k 2 --iterations 3 --seed 1 -o m.h5 -q

# The same output as from a file, once through a pipe.
piped() { # words, with TABLE for the table
    words=$*
    "$RAREBIT" $(echo "$words" | sed 's/TABLE/samples.tsv/g') >file.out 2>err || fail "$words: $(cat err)"
    for pipe in /dev/stdin /dev/fd/3; do
        gzip -c samples.tsv >samples.gz
        for packed in samples.tsv samples.gz; do
            command="rarebit $words"
            if [ $pipe = /dev/stdin ]; then
                cat $packed | "$RAREBIT" $(echo "$words" | sed "s|TABLE|$pipe|g") >pipe.out 2>err
            else
                mkfifo fifo
                cat $packed >fifo &
                "$RAREBIT" $(echo "$words" | sed "s|TABLE|$pipe|g") 3<fifo >pipe.out 2>err
                rm fifo
            fi || fail "$command by $pipe: $(cat err)"
            same pipe.out file.out
        done
    done
}
piped modules m.h5 x.tsv --labels TABLE -q
piped modules m.h5 x.tsv --labels TABLE:class --covariates TABLE:age,class -q
piped modules m.h5 x.tsv --covariates TABLE -q
piped modules r.h5 x.tsv --covariates TABLE --labels TABLE -q
piped encode r.h5 x.tsv --covariates TABLE -q -o -
piped fit rfn x.tsv -k 2 --iterations 3 --seed 1 --covariates TABLE --regress class,age -o again.h5 -q
finish
