# What the tool makes of OpenBLAS: its kernels, and no thread of its own.
. "$SOURCE/tests/cli/lib/lib.sh"

unset OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS # which tests/run.sh sets
core=$("$RAREBIT" version --json | sed -n 's/.*"blas_kernels": "\([^"]*\)".*/\1/p')
RAREBIT_BLAS_CORE=nonsuch
export RAREBIT_BLAS_CORE
refuses "RAREBIT_BLAS_CORE is 'nonsuch'" version
RAREBIT_BLAS_CORE=$core
expect 0 version
unset RAREBIT_BLAS_CORE

# Threads that nobody would use are gone.
expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
RAREBIT_BLAS_CORE= # as it is: no other start, which would have none
export RAREBIT_BLAS_CORE
if [ -d /proc/self/task ]; then
    "$RAREBIT" fit rfn X.npy --iterations 100000000 --parameter-tolerance 0 --threads 1 -o m.h5 -q &
    fit=$!
    sleep 0.5
    for _ in $(seq 100); do
        threads=$(ls "/proc/$fit/task" | wc -l)
        [ "$threads" = 1 ] && break
        sleep 0.1
    done
    kill "$fit"
    wait "$fit"
    [ "$threads" = 1 ] || fail "$threads threads compute"
fi

# Where they find no memory the tool ends all the same; in small stacks, for many cores have many.
if (ulimit -s 512 && ulimit -v 400000 && "$RAREBIT" version >/dev/null 2>&1); then
    (
        ulimit -s 512
        ulimit -v 150000
        timeout -s KILL 20 "$RAREBIT" fit rfn X.npy --threads 1 -o none.h5 -q 2>err
        [ $? = 1 ] || fail "under a limit: $(cat err)"
        command="a fit under a limit"
        says "out of memory"
        finish
    ) || fail "a limit that leaves the BLAS no memory"
fi
finish
