# --regress takes the effects of covariates out of the data, in a fit and in whatever uses the model.
. "$SOURCE/tests/cli/lib/lib.sh"

# 24 samples in two batches; batch B is shifted in the first features; genes by name.
awk 'BEGIN { srand(1); print "sample\tG1\tG2\tG3\tG4\tG5\tG6"
    for (i = 0; i < 24; i++) {
        line = "s" i; b = i % 2
        for (k = 1; k <= 6; k++) line = line "\t" (rand() + (k > 3 && i % 3 == 0) * 2 + b * (k < 4) * 3)
        print line } }' >data.tsv
awk 'BEGIN { srand(2); print "sample\tbatch\tage\tplate"
    for (i = 23; i >= 0; i--) print "s" i "\t" (i % 2 ? "B" : "A") "\t" 30 + int(rand() * 40) "\t" i % 3 }' >covariates.tsv

fit="fit rfn data.tsv -k 3 --iterations 30 --seed 1 -q"
expect 0 $fit --covariates covariates.tsv --regress batch,age -o model.h5
expect 0 info model.h5
tells "batch:groups,age:numbers"
expect 0 encode model.h5 data.tsv --covariates covariates.tsv -o codes.tsv -q
# Names, not places, say whose covariates they are: the table is in another order.
head -1 covariates.tsv >sorted.tsv
tail -n +2 covariates.tsv | sort -V >>sorted.tsv
expect 0 encode model.h5 data.tsv --covariates sorted.tsv -o same.tsv -q
cmp -s codes.tsv same.tsv || fail "the order of the covariates changed the codes"
tr '\t' , <covariates.tsv >covariates.csv
expect 0 encode model.h5 data.tsv --covariates covariates.csv -o same.tsv -q
cmp -s codes.tsv same.tsv || fail "commas changed the codes"
expect 0 reconstruct model.h5 data.tsv --covariates covariates.tsv -o rebuilt.tsv -q
# The effect is added back: G1 of batch B is higher by about 3.
high=$(awk 'NR > 1 { sum[NR % 2] += $2; n[NR % 2]++ } END { d = sum[1] / n[1] - sum[0] / n[0]; print d < 0 ? -d : d }' rebuilt.tsv)
holds "$high > 2.5 && $high < 3.5"
expect 0 evaluate model.h5 data.tsv --covariates covariates.tsv --json -q
expect 0 modules model.h5 data.tsv --covariates covariates.tsv -o modules.tsv -q
expect 0 $fit --init model.h5 --covariates covariates.tsv -o further.h5
# Any number of threads: the same bits; and batches of samples go with their covariates.
expect 0 $fit --covariates covariates.tsv --regress batch,age --threads 3 -o three.h5
expect 0 encode three.h5 data.tsv --covariates covariates.tsv -o same.tsv -q
cmp -s codes.tsv same.tsv || fail "threads changed the codes"
expect 0 $fit --estep newton --batch-size 8 --covariates covariates.tsv --regress batch -o batches.h5

# Numbers that may be labels are remarked on; and can be said to be groups.
expect 0 fit rfn data.tsv -k 2 --iterations 5 --seed 1 --covariates covariates.tsv --regress plate -o plate.h5
says "plate is treated as a number, with 3 different values; if these are labels, write plate:groups"
expect 0 $fit --covariates covariates.tsv --regress plate:groups -o plate.h5
expect 0 encode plate.h5 data.tsv --covariates covariates.tsv -o plates.tsv -q

# A table without names of samples goes by position.
cut -f2- sorted.tsv >unnamed.tsv
expect 0 encode model.h5 data.tsv --covariates unnamed.tsv -o same.tsv
says "the rows of unnamed.tsv are taken by position"
cmp -s codes.tsv same.tsv || fail "positions changed the codes"

# Refused: no covariates, an unknown batch, a sample without one, options that do nothing.
expect 2 $fit --regress batch -o none.h5
says "give a table that has them with --covariates"
expect 2 $fit --covariates covariates.tsv -o none.h5
says "--covariates does nothing"
expect 2 $fit --covariates covariates.tsv --regress site -o none.h5
says "covariates.tsv has no column 'site'; its columns are: sample, batch, age, plate"
expect 2 $fit --init model.h5 --regress batch --covariates covariates.tsv -o none.h5
says "cannot be given with a model to start from"
expect 2 encode model.h5 data.tsv -o none.tsv
says "give a table that has them with --covariates"
sed 's/^s5\tB/s5\tC/' covariates.tsv >unknown.tsv
expect 1 encode model.h5 data.tsv --covariates unknown.tsv -o none.tsv
says "sample 5 (s5) has batch 'C', but the model knows only A, B"
grep -v '^s7' covariates.tsv >fewer.tsv
expect 1 encode model.h5 data.tsv --covariates fewer.tsv -o none.tsv
says "sample 7 (s7) has no batch"
printf 's1\tB\n' >>unknown.tsv
expect 1 encode model.h5 data.tsv --covariates unknown.tsv -o none.tsv
says "unknown.tsv, row 26: the row has 2 fields, but row 1 has 4"
expect 2 encode model.h5 data.tsv --covariates covariates.tsv -o covariates.tsv
says "would overwrite"
# What is no covariate: infinite, too large, a 0 byte, the same name twice.
sed 's/^s7\t\([AB]\)\t[0-9]*/s7\t\1\tinf/' covariates.tsv >infinite.tsv
expect 1 $fit --covariates infinite.tsv --regress age -o none.h5
says "infinite.tsv, row 18, column 3: 'inf' of 'age' is infinite; if it names a group, say age:groups"
sed 's/inf/1e300/' infinite.tsv >huge.tsv
expect 2 $fit --covariates huge.tsv --regress age -o none.h5
says "the covariate 'age' of sample 7 (counted from 0) is beyond 1e100"
sed 's/inf/@/' infinite.tsv | tr '@' '\000' >zero.tsv
expect 1 $fit --covariates zero.tsv --regress age -o none.h5
says "zero.tsv, row 18: the line holds a 0 byte"
sed '1s/plate/age/' covariates.tsv >twice.tsv
expect 1 $fit --covariates twice.tsv --regress age -o none.h5
says "twice.tsv, row 1, column 4: a second column is called 'age'"
expect 2 $fit --covariates covariates.tsv --regress age,batch,age -o none.h5
says "column 'age' is asked for twice"
[ ! -e none.h5 ] && [ ! -e none.tsv ] || fail "a refused command has written something"

# Columns of AnnData: of a model's covariates and of those to be tested, from the same file.
obs=$SOURCE/tests/data/hdf5/obs.h5ad
expect 0 fit rfn "$obs" -k 1 --iterations 3 --seed 1 --regress cluster -o cells.h5 -q
expect 0 modules cells.h5 "$obs" --covariates obs:louvain -q
tells "louvain"
expect 0 modules cells.h5 "$obs" --covariates "$obs:louvain" -q
expect 0 encode cells.h5 "$obs" --covariates "$obs" -o cells.tsv -q
expect 0 encode cells.h5 "$obs" --covariates obs: -o own.tsv -q
cmp -s cells.tsv own.tsv || fail "obs: is not the data's own file"
# Pictures of evidences as well.
expect 0 fit nmf-et data.tsv -k 2 --iterations 5 --seed 1 --covariates covariates.tsv --regress batch -o et.h5 -q
expect 0 plot evidence et.h5 data.tsv --covariates covariates.tsv -o evidence.png -q

# A consensus of such fits, and the same fit again: its covariates are not in the model.
expect 0 $fit --covariates covariates.tsv --regress batch,age --consensus --restarts 3 -o consensus.h5
expect 0 rerun model.h5 --covariates covariates.tsv
tells "the same bits"
sed '2s/[AB]/C/' covariates.tsv >others.tsv
expect 1 rerun model.h5 --covariates others.tsv
# Whoever uses the model is told by which option.
for words in "rerun model.h5" "modules model.h5 data.tsv" "evaluate model.h5 data.tsv" "plot codes model.h5 data.tsv -o x.png"; do
    # shellcheck disable=SC2086 # words
    expect 2 $words
    says "--covariates"
done
finish
