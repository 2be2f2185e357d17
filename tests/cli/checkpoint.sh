# Checkpoints: a fit that is killed again and again ends with the same bits as one that never was.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
long="fit rfn X.npy -k 10 --estep cyclic --restarts 2 --iterations 100 --seed 1"

# All of a log but the seconds.
objectives() {
    sed 's/, "seconds.*//' "$1"
}

# shellcheck disable=SC2086
expect 0 $long --log-json whole.jsonl -o whole.h5 -q
expect 0 encode whole.h5 X.npy -o whole.npy -q
expect 0 reconstruct whole.h5 X.npy -o rows.npy -q
objectives whole.jsonl >whole.log

# Is the model the same one, and is nothing left behind?
compare() {
    expect 0 encode killed.h5 X.npy -o killed.npy -q
    same whole.npy killed.npy
    expect 0 reconstruct killed.h5 X.npy -o killed.npy -q
    same rows.npy killed.npy
    objectives killed.jsonl >killed.log
    same whole.log killed.log
    only X.npy whole.h5 whole.npy whole.jsonl whole.log rows.npy killed.h5 killed.npy \
        killed.jsonl killed.log delays
    rm killed.h5 killed.npy killed.log killed.jsonl
}

# Killed 50 times at random moments of its life; whenever it is done before that, it begins anew.
awk 'BEGIN { srand(7); for (i = 0; i < 2000; i++) print 0.005 + 0.06 * rand() }' >delays
killed=0
finished=0
while [ $killed -lt 50 ] && read -r delay <&3; do
    "$RAREBIT" $long --checkpoint c.h5 --checkpoint-every 2 --log-json killed.jsonl -o killed.h5 \
        -q >out 2>err &
    pid=$!
    sleep "$delay"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    status=$?
    command="killed $killed times"
    if [ $status -eq 137 ]; then
        killed=$((killed + 1))
        rm -f .killed.h5.*.tmp # of the model: its name is new each time
    else
        [ $status -eq 0 ] || fail "$command: exit $status: $(cat err)"
        finished=$((finished + 1))
        compare
    fi
done 3<delays
[ $killed -eq 50 ] || fail "killed only $killed times"
# shellcheck disable=SC2086
expect 0 $long --checkpoint c.h5 --checkpoint-every 2 --log-json killed.jsonl -o killed.h5
[ ! -s out ] || silent
compare
echo "killed $killed times, done $finished times in between"
rm delays

# Ctrl-C writes the model, and a checkpoint to go on from: with the seed that was drawn.
command="fit stopped by INT"
"$RAREBIT" fit rfn X.npy -k 10 --iterations 4000 --parameter-tolerance 0 --checkpoint c.h5 -o stopped.h5 \
    --log-json stopped.jsonl >out 2>err &
pid=$!
until [ "$(cat stopped.jsonl 2>/dev/null | wc -l)" -gt 3 ]; do
    kill -0 $pid 2>/dev/null || break
done
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] || fail "$command: exit $got instead of 130: $(cat err)"
exists stopped.h5
exists c.h5
seed=$(sed -n 's/^seed \([0-9]*\)$/\1/p' err)
expect 0 fit rfn X.npy -k 10 --iterations 4000 --parameter-tolerance 0 --checkpoint c.h5 -o stopped.h5 --log-json stopped.jsonl
says "seed $seed"
says "resuming from the checkpoint c.h5, after iteration "
says " s over all runs; objective "
[ ! -e c.h5 ] || fail "$command: the checkpoint of a fit that is done is still there"
[ "$(wc -l <stopped.jsonl)" -eq 4000 ] || fail "$command: the log has $(wc -l <stopped.jsonl) lines"
expect 0 fit rfn X.npy -k 10 --iterations 4000 --parameter-tolerance 0 --seed "$seed" -o whole.h5 --log-json whole.jsonl -q
expect 0 encode stopped.h5 X.npy -o stopped.npy -q
expect 0 encode whole.h5 X.npy -o whole.npy -q
same stopped.npy whole.npy
rm -f stopped.* whole.*

# One fit at a time: a second one is refused, and harms nothing; killed, the first holds nobody up.
command="two fits with one checkpoint"
twice="fit rfn X.npy -k 10 --iterations 2000000 --parameter-tolerance 0 --seed 1 --checkpoint c.h5 --checkpoint-every 1"
for round in 1 2 3; do
    # shellcheck disable=SC2086
    "$RAREBIT" $twice --log-json one.jsonl -o one.h5 -q >first 2>&1 &
    pid=$!
    until [ -s c.h5 ]; do
        kill -0 $pid 2>/dev/null || break
    done
    # shellcheck disable=SC2086
    breaks "c.h5 is being written by another process" $twice --log-json one.jsonl -o two.h5 -q
    kill -0 $pid || fail "$command: the first one is gone: $(cat first)"
    kill -KILL $pid
    wait $pid 2>/dev/null
    rm -f .one.h5.*.tmp
    # shellcheck disable=SC2086
    expect 0 $twice --log-json one.jsonl --max-time 0.1s -o two.h5 -q
    rm -f c.h5
    only X.npy two.h5 first one.jsonl rows.npy
done
rm -f first one.jsonl two.h5

# A checkpoint of another fit, or damaged: a sentence, and the file stays.
long="fit rfn X.npy -k 3 --iterations 2000000 --parameter-tolerance 0 --seed 1 --checkpoint c.h5 --checkpoint-every 1"
short="fit rfn X.npy -k 3 --iterations 5 --seed 1 --checkpoint c.h5"
# shellcheck disable=SC2086
"$RAREBIT" $long -o m.h5 -q >out 2>err &
pid=$!
until [ -s c.h5 ]; do
    kill -0 $pid 2>/dev/null || break
done
kill -KILL $pid
wait $pid 2>/dev/null
rm -f .m.h5.*.tmp .c.h5.tmp m.h5
exists c.h5
cp c.h5 kept.h5
# shellcheck disable=SC2086
refuses "where iterations is '2000000' instead of '5'" $short -o m.h5 -q
head -c 2000 kept.h5 >c.h5
# shellcheck disable=SC2086
breaks "remove the checkpoint to start anew" $short -o m.h5 -q
says "c.h5"
cp X.npy c.h5
# shellcheck disable=SC2086
breaks "c.h5: is not an HDF5 file" $short -o m.h5 -q
same X.npy c.h5
rm c.h5
refuses "would overwrite" fit rfn X.npy -k 3 --checkpoint X.npy -o m.h5 -q
refuses "would write to the same file" fit rfn X.npy -k 3 --checkpoint m.h5 -o m.h5 -q
refuses "checkpoint-every is 'soon'" fit rfn X.npy -k 3 --checkpoint c.h5 --checkpoint-every soon \
    -o m.h5 -q
breaks "there is no folder 'nowhere'" fit rfn X.npy -k 3 --checkpoint nowhere/c.h5 -o m.h5 -q
only X.npy kept.h5 rows.npy
finish
