# Consensus: what fits have in common, by the models or in one command; stability in every output.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --features 200 --seed 4 -o X.npy --truth truth.json -q
few="-k 12 --preset biclustering --iterations 60"

# shellcheck disable=SC2086 # words
{
    # In one command, the same for any number of threads.
    expect 0 fit rfn X.npy $few --restarts 6 --consensus --seed 1 --threads 2 -o model.h5
    says "units of 6 models, with a stability of at least"
    says "next: rarebit modules model.h5"
    expect 0 fit rfn X.npy $few --restarts 6 --consensus --seed 1 --threads 1 -o one.h5 -q
    expect 0 encode model.h5 X.npy -o two.tsv -q
    expect 0 encode one.h5 X.npy -o one.tsv -q
    same one.tsv two.tsv

    # A journal is gone on from, and goes when all is done; of other options it is refused.
    expect 0 fit rfn X.npy $few --restarts 6 --consensus --seed 1 --checkpoint c.part -o again.h5 -q
    [ ! -e c.part ] || fail "$command: left its checkpoint behind"
    expect 0 encode again.h5 X.npy -o again.tsv -q
    same one.tsv again.tsv
    refuses "needs --seed" fit rfn X.npy $few --consensus --checkpoint c.part -o m.h5 -q

    for seed in 1 2 3; do
        expect 0 fit rfn X.npy $few --restarts 1 --seed $seed -o m$seed.h5 -q
    done
}

# Fits of the same noise agree, too: it is said that its units are no modules.
awk 'BEGIN { srand(3)
    for (i = 1; i <= 80; i++) {
        for (k = 1; k <= 60; k++) printf "%g\t", exp(1.5 * (rand() + rand() + rand() + rand() - 2))
        print rand() } }' >noise.tsv
expect 0 fit rfn noise.tsv -k 8 --consensus --seed 1 -o noise.h5
says "units are no modules (spare or background)"
expect 0 modules noise.h5 noise.tsv -q
grep -q "(spare)" out || fail "$command: $(cat out)"

# A single fit of noise of many features has no module either.
awk 'BEGIN { srand(3); for (i = 1; i <= 100; i++) { for (k = 1; k <= 2000; k++)
    printf "%.3f%s", rand() + rand() + rand() + rand(), k < 2000 ? "\t" : "\n" } }' >wide.tsv
expect 0 fit rfn wide.tsv -k 10 --seed 1 -o wide.h5 -q
expect 0 modules wide.h5 wide.tsv -o wide.gmt
says "0 modules, and"

# Of models that are there, with codes and without.
expect 0 consensus m1.h5 m2.h5 m3.h5 --data X.npy -o merged.h5
says "units of 3 models"
kept=$(sed -n 's/ units of 3 models.*//p' err)
[ "$kept" -lt 12 ] || fail "$command: $kept units; the next line tests nothing"
grep -q "all units of the fits" err && fail "$command: $kept of 12 units are not all: $(cat err)"
expect 0 consensus m1.h5 m2.h5 m3.h5 --stability 0.3 -o loadings.h5 -q
expect 0 consensus m1.h5 m2.h5 m3.h5 --representative mean --refit 5 --data X.npy -o refit.h5 -q
expect 0 info refit.h5 --json
tells '"iterations": 5, "status"'
refuses "at least two models" consensus m1.h5 -o no.h5 -q
refuses "without --data" consensus m1.h5 m2.h5 --refit 3 -o no.h5 -q
refuses "does nothing without --data" consensus m1.h5 m2.h5 --transpose -o no.h5 -q
refuses "does nothing without --consensus" fit rfn X.npy --stability 0.5 -o no.h5 -q
refuses "--init cannot be used with --consensus" fit rfn X.npy --consensus --init m1.h5 -o no.h5 -q
refuses "needs at least two fits" fit rfn X.npy --consensus --restarts 1 -o no.h5 -q
refuses "max-time cannot be used" fit rfn X.npy --consensus --max-time 5s -o no.h5 -q
[ ! -e no.h5 ] || fail "a model was written all the same"

# Before any fit is made; and every fit alike is said once.
breaks "refit is 3" fit pca X.npy -k 3 --consensus --refit 3 --restarts 2 --seed 1 -o no.h5 -q
expect 0 fit pca X.npy -k 3 --consensus --restarts 4 --seed 1 -o pca.h5 -q
[ "$(grep -c "are the same" err)" = 1 ] || fail "$command: $(cat err)"

# Ctrl-C: what the fits that are done have in common is written, and the exit status is that of the
# signal; the checkpoint stays.
command="fit --consensus and Ctrl-C"
"$RAREBIT" fit rfn X.npy -k 12 --preset biclustering --restarts 100000 --consensus --seed 1 \
    --stability 0.3 --checkpoint part.ck -o part.h5 >out 2>err &
pid=$!
tries=0
until [ "$(cat part.ck 2>/dev/null | wc -c)" -gt 100000 ] || [ $tries -gt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] || fail "$command: exit $got: $(cat err)"
says "the consensus of these was written"
exists part.h5
exists part.ck
expect 0 info part.h5 --json
tells '"status": "stopped"'
expect 0 modules part.h5 X.npy -o part.tsv -q

# Models without batch effects: the covariates are those of the samples.
awk 'BEGIN { print "batch"; for (i = 0; i < 100; i++) print i % 2 ? "a" : "b" }' >batch.tsv
for seed in 1 2; do
    expect 0 fit rfn X.npy -k 4 --iterations 20 --regress batch --covariates batch.tsv --seed $seed -o b$seed.h5 -q
done
expect 0 consensus b1.h5 b2.h5 --data X.npy --covariates batch.tsv --stability 0.1 -o b.h5 -q
expect 0 consensus b1.h5 b1.h5 -o b.h5
says "all units of the fits were kept"
refuses "does nothing without --data" consensus b1.h5 b2.h5 --covariates batch.tsv -o no.h5 -q

# Stability goes where the units go, and nowhere else.
expect 0 info merged.h5
tells "stability"
expect 0 info merged.h5 --json
tells '"stability": ['
expect 0 modules merged.h5 X.npy -q
grep -q "^unit .* stability" out || fail "$command: no column: $(head -n 1 out)"
expect 0 modules merged.h5 X.npy -o modules.tsv -q
head -n 1 modules.tsv | grep -q "weight	stability	score	role$" || fail "no column: $(head -n 1 modules.tsv)"
awk -F '\t' 'NR > 1 && !($8 > 0.6 && $8 <= 1)' modules.tsv | grep -q . && fail "stabilities in modules.tsv"
expect 0 modules merged.h5 X.npy -o modules.json -q
grep -q '"stability":' modules.json || fail "modules.json has no stability"
expect 0 modules merged.h5 X.npy --truth modules.json --json -q
[ "$(number relevance <out)" = 1 ] || fail "modules do not agree with themselves: $(cat out)"
expect 0 convert X.npy -o cells.h5ad -q
expect 0 encode merged.h5 cells.h5ad -o cells.h5ad -q
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    /usr/bin/python3 -c 'import h5py
values = h5py.File("cells.h5ad")["uns/rfn/stability"][:]
assert values.ndim == 1 and len(values) > 0 and values.min() > 0.6' || fail "no stability in AnnData"
fi
expect 0 modules m1.h5 X.npy -o plain.tsv -q
head -n 1 plain.tsv | grep -q stability && fail "a single fit has no stability"
expect 0 plot modules merged.h5 X.npy -o modules.svg -q
grep -q . modules.svg || fail "no picture"
finish
