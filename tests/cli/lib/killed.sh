# A fit by two processes of which one is killed: what cli/processes and tests/long/processes.sh share.
#
#   kill_one MPI WHICH SECONDS   kills the first (0) or second (1) process that long after the first iteration, or with
#                                0 at once; the fit goes on from the checkpoint k.ck, if there is one. All must end
#                                within 10 seconds, and leave no model.

# Without -o; of an end that no checkpoint knows.
killed_fit="fit rfn X.npy -k 3 --parameter-tolerance 0 --trace --seed 1 --threads 1"

# The processes of the tool that work on killed/m.h5.
processes_killed() {
    pgrep -f "^$RAREBIT $killed_fit.*-o $PWD/killed/m.h5"
}

kill_one() {
    rm -rf killed killed.jsonl
    mkdir killed
    # shellcheck disable=SC2086 # words
    "mpirun.$1" -n 2 "$RAREBIT" $killed_fit --iterations 1000000 --checkpoint k.ck --checkpoint-every 5 \
        --log-json killed.jsonl -o "$PWD/killed/m.h5" >killed.out 2>&1 </dev/null &
    launcher=$!
    until [ -s killed.jsonl ]; do
        kill -0 $launcher 2>/dev/null || break
        sleep 0.1
    done
    sleep "$3"
    kill -KILL "$(processes_killed | sed -n "$(($2 + 1))p")" || fail "$1: no process to kill: $(cat killed.out)"
    began=$(date +%s)
    wait $launcher && fail "$1: a killed fit went well"
    [ $(($(date +%s) - began)) -le 10 ] || fail "$1: ended $(($(date +%s) - began)) s after process $2 was killed"
    [ -z "$(processes_killed)" ] || fail "$1: a process goes on without process $2"
    [ -z "$(ls killed)" ] || fail "$1: left $(ls killed)"
    rm -rf killed killed.jsonl
}
