# Methods whose codes have signs, pca and ica, go through every command.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 --samples 60 --features 30 -o X.npy -q
for method in pca ica; do
    expect 0 help fit $method
    expect 0 fit $method X.npy -k 4 --seed 1 -o m.h5
    says "converged"
    expect 0 info m.h5
    grep -q "model of method $method" out || fail "info names no $method: $(cat out)"
    grep -q "^solver  *exact" out || fail "info does not tell the solver: $(cat out)"
    expect 0 encode m.h5 X.npy -o codes.tsv -q
    [ "$(wc -l <codes.tsv)" -eq 61 ] || fail "codes.tsv has not 61 lines"
    grep -q -- "	-" codes.tsv || fail "codes of $method have no signs"
    expect 0 convert X.npy -o X.h5ad -q
    expect 0 encode m.h5 X.h5ad -o with.h5ad -q
    expect 0 reconstruct m.h5 X.npy -o rows.npy -q
    expect 0 evaluate m.h5 X.npy --json -q
    for key in dead_units log_likelihood mean_squared_error variance_explained; do
        tells "\"$key\": "
    done
    expect 0 modules m.h5 X.npy
    says "rule test, since codes have signs"
    grep -q "down: below 0" out || fail "no loadings below 0: $(cat out)"
    expect 0 plot codes m.h5 X.npy -o codes.png -q
    expect 0 plot modules m.h5 X.npy -o modules.png -q
    expect 0 plot history m.h5 -o history.png -q
    expect 0 report m.h5 X.npy -o report.html -q
    expect 0 rerun m.h5
    grep -q "the same bits" out || fail "rerun of $method: $(cat out)"
    expect 0 select $method X.npy --units 2,4 --restarts 1 --folds 2 --seed 1 -q
    expect 0 fit $method X.npy -k 3 --restarts 3 --consensus --seed 1 -o all.h5 -q
    expect 0 encode all.h5 X.npy -o codes.tsv -q
    expect 0 compare m.h5 m.h5
done

# What auto is on these data has no use for it.
expect 0 fit pca X.npy -k 2 --iterations 5 --seed 1 -o p.h5 -q
says "warning: --iterations does nothing with --solver exact, which is used"
expect 0 rerun p.h5
expect 0 fit pca X.npy -k 2 --seed 1 -o p.h5 -q
[ ! -s err ] || fail "warned without cause: $(cat err)"

refuses "have at most 30 directions" fit pca X.npy -k 31 -o m.h5 -q
breaks "cannot start from a model" fit ica X.npy -k 4 --init m.h5 -o n.h5 -q
finish
