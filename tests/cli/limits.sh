# Under a limit of memory: data larger than the limit are fitted, and where the limit is too low a sentence
# says so (OpenBLAS would try for ever).
. "$SOURCE/tests/cli/lib/lib.sh"

# Threads that OpenBLAS starts when it is loaded take memory as well, before anything of ours runs.
OPENBLAS_NUM_THREADS=1
export OPENBLAS_NUM_THREADS

if (ulimit -d 170000 && "$RAREBIT" version >/dev/null 2>&1); then
    expect 0 simulate biclusters --samples 30000 --features 1000 --seed 1 -o X.npy -q
    expect 0 convert X.npy -o X.h5 -q
    expect 0 simulate biclusters --dataset D1 --seed 1 -o small.npy -q
    expect 0 fit rfn small.npy -k 3 --iterations 2 --seed 1 -o small.h5 -q
    for data in X.npy X.h5; do
        (
            ulimit -d 230000
            expect 0 fit rfn "$data" -k 3 --iterations 2 --threads 1 --seed 1 -o m.h5 -q
            expect 0 evaluate m.h5 "$data" --threads 1 --json -q
            expect 0 fit rfn "$data" -k 3 --iterations 1 --batch-size 1000 --threads 1 --seed 1 -o m.h5 -q
            finish
        ) || fail "data of 240 MB under a limit of 230 MB"
    done
    # What a fit by expectation truncation keeps of a sample are two numbers; the states of all of
    # these would take 100 MB besides what the BLAS takes.
    expect 0 simulate bars --style max --size 2 --samples 500000 --seed 1 -o bars.npy -q
    (
        ulimit -d 230000
        expect 0 fit mca bars.npy -k 6 --iterations 1 --threads 1 --seed 1 -o m.h5 -q
        expect 0 encode m.h5 bars.npy --threads 1 -o codes.npy -q
        expect 0 evaluate m.h5 bars.npy --threads 1 --json -q
        finish
    ) || fail "the states of half a million samples under a limit of 230 MB"
    (
        ulimit -d 120000
        breaks "out of memory" fit rfn small.npy -k 3 --threads 1 --seed 1 -o none.h5 -q
        breaks "128 MB a thread" encode small.h5 small.npy --threads 1 -o none.npy -q
        finish
    ) || fail "a limit that is too low"
fi
finish
