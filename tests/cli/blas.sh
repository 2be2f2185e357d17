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
    "$RAREBIT" fit rfn X.npy --iterations 100000000 --parameter-tolerance 0 --threads 1 --log-json log -o m.h5 -q &
    fit=$!
    for _ in $(seq 200); do
        [ -s log ] && break
        sleep 0.1
    done
    threads=$(ls "/proc/$fit/task" | wc -l)
    kill "$fit"
    wait "$fit"
    [ $? = 143 ] || fail "the fit did not go on until it was stopped"
    [ "$threads" = 1 ] || fail "$threads threads compute"
fi

# Where they find no memory the tool ends all the same. Stacks are small, for many cores have many; sanitizers need
# more than such a limit.
limit=$((150000 + 600 * $(getconf _NPROCESSORS_ONLN)))
limited() {
    ulimit -s 512 && ulimit -v $limit && timeout -s KILL 20 "$RAREBIT" "$@" >out 2>err
}
if (OPENBLAS_NUM_THREADS=1 && export OPENBLAS_NUM_THREADS && limited version); then
    (limited fit rfn X.npy --threads 1 -o none.h5 -q)
    [ $? = 1 ] || fail "a fit whose BLAS finds no memory"
    command="a fit under a limit"
    says "out of memory"
fi
finish
