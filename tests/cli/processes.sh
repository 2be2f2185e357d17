# Several processes, by each MPI that is there: the model of one process, said and written once.
. "$SOURCE/tests/cli/lib/lib.sh"
. "$SOURCE/tests/cli/lib/killed.sh"

expect 0 simulate biclusters --samples 17000 --features 12 --seed 1 -o X.npy -q

# Processes that cannot reach each other do not each do the same: a copy of the tool has no librarebit-mpi beside it.
mkdir alone
cp "$RAREBIT" alone/rarebit
for of in OMPI_COMM_WORLD_SIZE=4:OMPI_COMM_WORLD_RANK: PMI_SIZE=4:PMI_RANK: SLURM_STEP_NUM_TASKS=4:SLURM_PROCID:; do
    for rank in 0 1; do
        if env "${of%%:*}" "$(echo "${of#*:}" | tr -d :)=$rank" alone/rarebit fit rfn X.npy -k 2 -o m.h5 2>err$rank; then
            fail "four processes fitted alone"
        fi
    done
    [ ! -s err1 ] || fail "said it twice"
    case $of in
        SLURM*) grep -q "4 processes that cannot reach each other; give it --mpi=pmix" err0 || fail "$(cat err0)" ;;
        *) grep -q "4 processes were started, which need librarebit-mpi-" err0 || fail "$(cat err0)" ;;
    esac
done
[ ! -e m.h5 ] || fail "wrote m.h5"
alone/rarebit version | grep -q 'processes *no librarebit-mpi' || fail "version tells of a librarebit-mpi"

for mpi in openmpi mpich; do
    [ -f "$BUILD/librarebit-mpi-$mpi.so" ] || skip "built without librarebit-mpi-$mpi" libopenmpi-dev libmpich-dev
    command -v mpirun.$mpi >/dev/null || skip "no mpirun.$mpi" openmpi-bin mpich
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
expect 0 version
tells "Open MPI, MPICH"

# started MPI COMMAND...: the status of two processes; what they say goes into out.
started() {
    run_by=$1
    shift
    "mpirun.$run_by" -n 2 "$RAREBIT" "$@" >out 2>&1 </dev/null
}

expect 0 fit rfn X.npy -k 3 --iterations 8 --seed 1 -o one.h5
expect 0 encode one.h5 X.npy -o one.npy
expect 0 convert X.npy -o X.tsv -q
# Of three blocks of samples.
expect 0 simulate biclusters --samples 3000 --features 1500 --seed 2 -o W.npy -q
expect 0 simulate biclusters --samples 700 --features 1500 --seed 3 -o W2.npy -q
expect 0 fit rfn W.npy -k 3 --iterations 4 --seed 1 --estep newton -o wide.h5
# With a missing value near the end, in the rows of the second of two processes.
cp X.npy Xbad.npy
cp W.npy Wbad.npy
printf '\0\0\0\0\0\0\370\177' | dd of=Xbad.npy bs=8 seek=$((16 + 16990 * 12 + 3)) conv=notrunc 2>/dev/null
printf '\0\0\0\0\0\0\370\177' | dd of=Wbad.npy bs=8 seek=$((16 + 2990 * 1500 + 3)) conv=notrunc 2>/dev/null
# What each process would read whole is refused above a size.
printf '%%%%MatrixMarket matrix coordinate integer general\n' >large.mtx
seq -s ' ' 400 >large.txt
truncate -s 101M large.mtx large.txt
{
    printf '%%%%MatrixMarket matrix coordinate integer general\n'
    yes % | head -c 10000000
    printf '2 2 1\n1 1 1\n'
} >small.mtx
cp large.txt smaller.txt
truncate -s 95M smaller.txt
# used_by FOLDER COMMAND: what a model and many fits give, in files and on stdout.
used_by() {
    mkdir use
    for words in "encode wide.h5 W.npy -o use/codes.npy" "encode wide.h5 W.npy -o -" \
        "reconstruct wide.h5 W.npy -o use/rebuilt.npy" "modules wide.h5 W.npy -o use/modules.json" \
        "evaluate one.h5 X.npy --json" "evaluate one.h5 X.tsv --json" "evaluate wide.h5 W.npy --details" \
        "modules one.h5 X.npy --permutations 4 --seed 1 --json" "report wide.h5 W.npy -o use/report.html" \
        "select pca X.npy --units 1:3 --restarts 3 --seed 1 --json" \
        "fit rfn X.npy -k 3 --iterations 8 --seed 1 --consensus --restarts 3 -o use/consensus.h5" \
        "encode use/consensus.h5 X.npy -o use/common.npy" "encode wide.h5 W.npy W2.npy -o use/two.npy" \
        "evaluate wide.h5 W.npy W2.npy --json"; do
        # shellcheck disable=SC2086 # words
        $2 $words >>use/said 2>err || fail "$words: $(cat err)"
    done
    rm use/consensus.h5 # with the seconds of its fits
    mv use "$1"
}
used_by one "$RAREBIT"

for mpi in openmpi mpich; do
    used_by $mpi "mpirun.$mpi -n 2 $RAREBIT"
    diff -r one $mpi || fail "$mpi: other results than one process has"
    started $mpi fit rfn X.npy -k 3 --iterations 8 --seed 1 --log-json log.jsonl -o $mpi.h5 || fail "$mpi: $(cat out)"
    [ "$(grep -c 'model in' out)" = 1 ] || fail "$mpi: said not once: $(cat out)"
    [ "$(grep -c '"iteration"' log.jsonl)" = 8 ] || fail "$mpi: log of other lines"
    expect 0 encode $mpi.h5 X.npy -o $mpi.npy
    cmp one.npy $mpi.npy || fail "$mpi: other codes than one process has"

    started $mpi fit rfn none.npy -k 3 -o n.h5 && fail "$mpi: fitted nothing"
    [ "$(grep -c 'cannot read none.npy' out)" = 1 ] || fail "$mpi: $(cat out)"
    started $mpi fit rfn X.npy -k 3 --estep cascade -o n.h5 && fail "$mpi: fitted by candidates"
    [ "$(grep -c 'several processes cannot try candidates' out)" = 1 ] || fail "$mpi: $(cat out)"
    started $mpi fit rbm X.npy -k 3 --preset none -o n.h5 && fail "$mpi: fitted rbm"
    [ "$(grep -c "cannot be fitted by several processes" out)" = 1 ] || fail "$mpi: $(cat out)"
    started $mpi fit pca W2.npy -k 1 --seed 1 -o few.h5 || fail "$mpi: $(cat out)"
    [ "$(grep -c '1 of the 2 processes has nothing to do: the samples come in 1 group,' out)" = 1 ] || fail "$mpi: $(cat out)"
    for large in large.mtx large.txt; do
        started $mpi fit rfn $large -k 3 -o n.h5 && fail "$mpi: fitted $large"
        [ "$(grep -c "106 MB, .* rarebit convert $large -o FILE.h5ad" out)" = 1 ] || fail "$mpi: $(cat out)"
    done
    started $mpi fit rfn W2.npy small.mtx smaller.txt -k 3 -o n.h5 && fail "$mpi: fitted large files"
    [ "$(grep -c "smaller.txt and .* 110 MB, .* rarebit convert smaller.txt -o FILE.h5ad" out)" = 1 ] || fail "$mpi: $(cat out)"
    started $mpi check X.npy && fail "$mpi: checked"
    [ "$(grep -c "'check' works in one process" out)" = 1 ] || fail "$mpi: $(cat out)"
    # A value in the rows of the second process: one message, which names both, and what all read alike.
    while read -r who words; do
        # shellcheck disable=SC2086 # words
        started $mpi $words && fail "$mpi: $words went well"
        grep -q "^rarebit: $who, feature 3 " out || fail "$mpi: $words: $(cat out)"
        [ "$(grep -c '^rarebit: ' out)" = 1 ] || fail "$mpi: $words: said not once: $(cat out)"
    done <<END
process.1:.Wbad.npy:.sample.2990 encode wide.h5 Wbad.npy -o n.npy
process.1:.Wbad.npy:.sample.2990 reconstruct wide.h5 Wbad.npy -o n.npy
process.1:.Wbad.npy:.sample.2990 modules wide.h5 Wbad.npy -o n.json
process.1:.Wbad.npy:.sample.2990 report wide.h5 Wbad.npy -o n.html
process.1:.Wbad.npy:.sample.2990 encode wide.h5 W2.npy Wbad.npy -o n.npy
process.1:.Xbad.npy:.sample.16990 evaluate one.h5 Xbad.npy
process.1:.Xbad.npy:.sample.16990 fit rfn Xbad.npy -k 3 -o n.h5
Xbad.npy:.sample.16990 fit rfn Xbad.npy -k 3 --consensus --restarts 2 -o n.h5
Xbad.npy:.sample.16990 select pca Xbad.npy --units 1:2
Wbad.npy:.sample.2990 select pca W2.npy Wbad.npy --units 1:2
END
    # A file that the second process alone does not find.
    "mpirun.$mpi" -n 1 "$RAREBIT" encode wide.h5 W.npy -o n.npy : -n 1 "$RAREBIT" encode wide.h5 none.npy -o n.npy >out 2>&1 &&
        fail "$mpi: encoded by one of two"
    [ "$(grep -c '^rarebit: process 1: cannot read none.npy' out)" = 1 ] || fail "$mpi: $(cat out)"
done

# A disk that is full for one, while the other has a minute's work to do: both end at once, and the reason is said once.
long="select rfn X.npy --units 3 --restarts 600 --iterations 300 --seed 1 --threads 1 --checkpoint j"
began=$(date +%s)
# shellcheck disable=SC2086 # words
OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self mpirun.openmpi -n 1 "$RAREBIT" $long : -n 1 sh -c 'ulimit -f 16; exec "$@"' sh \
    "$RAREBIT" $long >out 2>&1 && fail "a full disk went well"
[ $(($(date +%s) - began)) -le 20 ] || fail "a full disk took $(($(date +%s) - began)) s"
[ "$(grep -c '^rarebit: process 1: cannot write j-1: File too large' out)" = 1 ] || fail "$(cat out)"

# One that is killed ends all, and what there is goes on.
kill_one openmpi 0 0
kill_one mpich 1 0
kill_one openmpi 1 2
[ -s k.ck ] || fail "no checkpoint is left"
rm -f j j-1
# shellcheck disable=SC2086 # words
kill_second mpich j-1 $long
ls n.h5 n.npy 2>/dev/null && fail "wrote what it refused"
finish
