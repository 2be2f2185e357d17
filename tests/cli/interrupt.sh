# Signals. Ctrl-C: the model of the iterations done is written and the exit status is 130 (128 and the signal); a second one ends at
# once and leaves nothing.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q

# 128 and the number of the signal.
status_of() {
    case $1 in
    HUP) echo 129 ;;
    INT) echo 130 ;;
    TERM) echo 143 ;;
    esac
}

# Waits until the log has a few lines.
wait_for_log() {
    tries=0
    while [ "$(cat "$1" 2>/dev/null | wc -l)" -lt 3 ] && [ $tries -lt 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}

for signal in INT TERM; do
    command="fit stopped by $signal"
    "$RAREBIT" fit rfn X.npy -k 10 --iterations 1000000000 --parameter-tolerance 0 --seed 1 -o $signal.h5 \
        --log-json $signal.jsonl >out 2>err &
    pid=$!
    wait_for_log $signal.jsonl
    kill -$signal $pid
    wait $pid
    got=$?
    [ $got -eq "$(status_of $signal)" ] || fail "$command: exit $got: $(cat err)"
    says "interrupted after"
    silent
    exists $signal.h5
    done=$(sed -n 's/.*interrupted after \([0-9]*\) iterations.*/\1/p' err)
    lines=$(wc -l <$signal.jsonl)
    [ "$done" -eq "$lines" ] || fail "$command: $done iterations, but $lines lines in the log"
    tail -n 1 $signal.jsonl | grep -q '}$' || fail "$command: the last line of the log is cut"
    expect 0 info $signal.h5 --json
    tells '"status": "stopped"'
    tells "\"iterations\": $done"
    expect 0 encode $signal.h5 X.npy -o $signal.npy -q
done

# Before the first iteration is complete there is no model, and nobody waits for it: in the walk of the
# preprocessing, or in the first E-step. The file is one of zeros but for a few samples.
python3=/usr/bin/python3
if "$python3" -c 'import numpy' 2>/dev/null; then
    "$python3" -c "
import numpy as np
a = np.lib.format.open_memmap('long.npy', 'w+', 'f4', (4000000, 20))
a[::1000] = np.random.default_rng(0).normal(size=(4000, 20)) * 30"
    catches_term() { # on a busy machine a process takes a while until it does
        mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
        [ $((0x${mask:-0} & 0x4000)) -ne 0 ]
    }
    for delay in 0.1 0.4 0.8; do
        command="fit stopped by TERM after $delay s, before its first iteration"
        "$RAREBIT" fit rfn long.npy -k 50 --iterations 3 --seed 1 -o long.h5 --log-json long.jsonl \
            --checkpoint long.ck >out 2>err &
        pid=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            catches_term $pid || sleep 0.1
        done
        sleep $delay
        kill -TERM $pid
        began=$(date +%s%N)
        wait $pid
        got=$?
        waited=$((($(date +%s%N) - began) / 1000000))
        [ $got -eq 143 ] || fail "$command: exit $got instead of 143: $(cat err)"
        [ $waited -lt 3000 ] || fail "$command: it took $waited ms"
        tail -n 1 err | grep -qx "rarebit: interrupted; nothing was written" ||
            fail "$command: $(cat err)"
        only X.npy INT.h5 INT.jsonl INT.npy TERM.h5 TERM.jsonl TERM.npy long.npy
        echo "$command: $waited ms"
    done
    rm long.npy
else
    echo "no numpy: not tried before the first iteration"
fi

# A second signal ends at once; what is there is whole.
command="fit stopped twice"
expect 0 simulate biclusters --samples 1500 --features 1000 --seed 1 -o wide.npy -q
"$RAREBIT" fit rfn wide.npy -k 500 --iterations 1000000 --parameter-tolerance 0 --seed 1 -o twice.h5 \
    --log-json twice.jsonl --checkpoint twice.ck --checkpoint-every 1 >out 2>err &
pid=$!
wait_for_log twice.jsonl
kill -INT $pid
kill -INT $pid 2>/dev/null
wait $pid
got=$?
[ $got -eq 130 ] || fail "$command: exit $got instead of 130: $(cat err)"
if [ -e twice.h5 ]; then
    expect 0 info twice.h5
else
    tail -n 1 err | grep -qx "rarebit: interrupted; the same command resumes from twice.ck" || fail "$command: $(cat err)"
    exists twice.ck
fi
rm -f twice.h5 twice.jsonl twice.ck

# What a checkpoint keeps is named, whether the command ends at once or stops its fits.
keeps() {
    command="$* stopped by TERM"
    rm -f kept
    "$RAREBIT" "$@" --checkpoint kept >out 2>err &
    pid=$!
    tries=0
    until [ "$(wc -c 2>/dev/null <kept)" -gt 2000 ] 2>/dev/null || [ $tries -eq 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -TERM $pid
    wait $pid
    got=$?
    [ $got -eq 143 ] || fail "$command: exit $got: $(cat err)"
    tail -n 1 err | grep -qx "rarebit: interrupted; the same command resumes from kept" || fail "$command: $(cat err)"
    exists kept
    rm kept
}
expect 0 fit rfn X.npy -k 5 --iterations 20 --seed 1 -o m.h5 -q
keeps modules m.h5 X.npy --permutations 100000 -q
keeps select rfn X.npy --units 2:9 --restarts 30 --iterations 200 --seed 1 -q
# Permutations that are done count; where none is, nothing is written, and how to keep them is named.
stops() {
    wait=$1
    shift
    command="$* stopped by INT after $wait s"
    : >err # not of the command before
    "$RAREBIT" "$@" >out 2>err &
    pid=$!
    until grep -q "tested is" err || ! kill -0 $pid; do sleep 0.05; done
    sleep "$wait"
    kill -INT $pid
    wait $pid
    got=$?
    [ $got -eq 130 ] || fail "$command: exit $got: $(cat err)"
    if grep -q "stopped after [0-9]* of 100000 permutations: the p-values are of these" err; then return 0; fi
    tail -n 1 err | grep -qx "rarebit: interrupted; nothing was written, and with --checkpoint FILE the same command would resume" ||
        fail "$command: $(cat err)"
    return 1
}
permutes() {
    for wait in 0.2 1 5 20; do
        stops $wait "$@" --permutations 100000 && return
    done
    fail "$command: $(cat err)"
}
permutes modules m.h5 X.npy
grep -q '^unit .* family-wise' out || fail "$command: no p-values: $(cat out)"
permutes report m.h5 X.npy -o page.html
grep -q "of 100000 permutations" page.html || fail "the page does not say how many permutations it is of"
rm page.html
permutes modules m.h5 X.npy --significant 0.00002
grep -q "these permutations are too few for --significant 2e-05, which takes 49999: all modules are kept" err ||
    fail "$command: $(cat err)"
grep -q '^unit .* family-wise' out || fail "$command: no p-values: $(cat out)"
rm m.h5

# Every other command ends at once and leaves nothing, wherever it writes.
stopped() {
    signal=$1
    shift
    command="$* stopped by $signal"
    mkdir temporary
    TMPDIR=temporary "$RAREBIT" "$@" >out 2>err &
    pid=$!
    until [ -n "$(find . -name '*.tmp' -size +0 -o -path './temporary/rarebit-*' -name 'output.*')" ]; do
        kill -0 $pid 2>/dev/null || break
    done
    kill -$signal $pid
    wait $pid
    got=$?
    [ $got -eq "$(status_of "$signal")" ] || fail "$command: exit $got: $(cat err)"
    tail -n 1 err | grep -qx "rarebit: interrupted; nothing was written" || fail "$command: $(cat err)"
    rmdir temporary || fail "$command: left $(ls -R temporary)"
    only X.npy INT.h5 INT.jsonl INT.npy TERM.h5 TERM.jsonl TERM.npy wide.npy m.h5 et.h5 tall.npy states.tsv
}
expect 0 fit rfn wide.npy -k 2 --iterations 1 --seed 1 -o m.h5 -q
for signal in INT TERM HUP; do
    stopped $signal convert wide.npy -o b.tsv.gz
done
stopped INT convert wide.npy -o -
expect 0 simulate biclusters --samples 40000 --features 60 --seed 1 -o tall.npy -q # codes that take a while to write
expect 0 fit nmf-et tall.npy -k 2 --candidates 2 --iterations 1 --seed 1 -o et.h5 -q
echo precious >states.tsv
for signal in INT TERM; do
    stopped $signal encode et.h5 tall.npy -o codes.tsv.gz --map states.tsv
    [ "$(cat states.tsv)" = precious ] || fail "$command: the old states are gone"
done
rm et.h5 tall.npy states.tsv
stopped INT reconstruct m.h5 wide.npy -o b.tsv.gz
stopped INT simulate biclusters --samples 1500 --features 1000 --seed 1 -o b.tsv.gz
stopped INT patches wide.npy --size 30x30 --count 2000 -o b.tsv.gz

# So does a command whose reader has gone away.
mkdir temporary
command="convert | head"
TMPDIR=temporary "$RAREBIT" convert wide.npy -o - -q 2>err | head -n 1 >out
[ ! -s err ] || fail "$command: $(cat err)"
rmdir temporary || fail "$command: left $(ls -R temporary)"

# A file that may not grow further is a failure like a full disk.
command="convert under a limit"
for name in b.tsv b.h5 b.npy b.h5ad b.tsv.gz; do
    (
        ulimit -f 8
        exec "$RAREBIT" convert wide.npy -o $name >out 2>err
    )
    got=$?
    [ $got -eq 1 ] || fail "$command: $name: exit $got instead of 1: $(cat err)"
    one_line
    says "$name"
    says "File too large"
done
rm -f wide.npy m.h5
only X.npy INT.h5 INT.jsonl INT.npy TERM.h5 TERM.jsonl TERM.npy
finish
