# Ctrl-C: the model of the iterations done is written and the exit status is 130; a second one ends at
# once and leaves nothing.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q

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
    "$RAREBIT" fit rfn X.npy -k 10 --iterations 1000000000 --seed 1 -o $signal.h5 \
        --log-json $signal.jsonl >out 2>err &
    pid=$!
    wait_for_log $signal.jsonl
    kill -$signal $pid
    wait $pid
    got=$?
    [ $got -eq 130 ] || fail "$command: exit $got instead of 130: $(cat err)"
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

# A second signal ends at once; what is there is whole.
command="fit stopped twice"
expect 0 simulate biclusters --samples 1500 --features 1000 --seed 1 -o wide.npy -q
"$RAREBIT" fit rfn wide.npy -k 500 --iterations 1000000 --seed 1 -o twice.h5 \
    --log-json twice.jsonl >out 2>err &
pid=$!
wait_for_log twice.jsonl
kill -INT $pid
kill -INT $pid 2>/dev/null
wait $pid
got=$?
[ $got -eq 130 ] || fail "$command: exit $got instead of 130: $(cat err)"
if [ -e twice.h5 ]; then
    expect 0 info twice.h5
fi
rm -f twice.h5 twice.jsonl wide.npy
only X.npy INT.h5 INT.jsonl INT.npy TERM.h5 TERM.jsonl TERM.npy
finish
