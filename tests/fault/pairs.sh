# A signal at any moment of an `encode --map`: codes and states are both new or both as they were, whatever
# the format of the codes, and nothing else is left.
set -eu
. "$SOURCE/tests/lib/skip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/out"
cd "$work"
export RAREBIT_BLAS_CORE= OPENBLAS_NUM_THREADS=1
"$RAREBIT" simulate bars -q --size 2 --samples 12 --seed 1 -o bars.h5ad
"$RAREBIT" fit nmf-et -q bars.h5ad -k 4 --iterations 3 --seed 1 -o model.h5

status=0
failed=0
for codes in codes.tsv codes.h5ad; do
    for n in $(seq 1 400); do
        rm -rf out fault
        mkdir out
        echo old >out/$codes
        echo old >out/states.tsv
        status=0
        "$BUILD/tests/fault" signal "$n" "$work/out" "$RAREBIT" encode -q --threads 2 model.h5 bars.h5ad \
            -o out/$codes --map out/states.tsv 3>fault 2>err || status=$?
        [ $status != 77 ] || skip "this kernel cannot stop calls (seccomp's user notification)"
        new=0
        for file in out/$codes out/states.tsv; do
            [ "$(head -c 3 $file)" = old ] || new=$((new + 1))
        done
        if [ ! -s fault ]; then
            [ $status = 0 ] && [ $new = 2 ] || failed=1
            break
        fi
        if [ $status != 143 ] || [ $new = 1 ] || [ "$(ls -A out | wc -l)" != 2 ] ||
            { [ $new = 2 ] && grep -q "nothing was written" err; }; then
            echo "$codes, signal at call $n ($(cat fault)): exit $status, $new of 2 files are new: $(cat err)"
            ls -A out
            failed=1
        fi
    done
    echo "$codes: signals at $((n - 1)) calls"
    [ "$n" -gt 3 ] || failed=1
done
exit $failed
