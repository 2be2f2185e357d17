# Work of two processes of which one is killed: what cli/processes and tests/long/processes.sh share. All must end within
# 10 seconds, and leave nothing.
#
#   kill_one MPI WHICH SECONDS      of a fit the first (0) or second (1) process, that long after the first iteration, or with
#                                   0 at once; the fit goes on from the checkpoint k.ck, if there is one
#   kill_second MPI FILE COMMAND... of another command the second process, once the file is there

# Without -o; of an end that no checkpoint knows.
killed_fit="fit rfn X.npy -k 3 --parameter-tolerance 0 --trace --seed 1 --threads 1"

# kill_with MPI FILE WHICH SECONDS COMMAND...
kill_with() {
    mpi_killed=$1 awaited=$2 which_killed=$3 pause=$4
    shift 4
    "mpirun.$mpi_killed" -n 2 "$RAREBIT" "$@" >killed.out 2>&1 </dev/null &
    launcher=$!
    until [ -s "$awaited" ]; do
        kill -0 $launcher 2>/dev/null || break
        sleep 0.1
    done
    sleep "$pause"
    kill -KILL "$(pgrep -f "^$RAREBIT $*" | sed -n "$((which_killed + 1))p")" || fail "$mpi_killed: no process to kill: $(cat killed.out)"
    began=$(date +%s)
    wait $launcher && fail "$mpi_killed: what was killed went well: $*"
    [ $(($(date +%s) - began)) -le 10 ] || fail "$mpi_killed: ended $(($(date +%s) - began)) s after process $which_killed was killed: $*"
    [ -z "$(pgrep -f "^$RAREBIT $*")" ] || fail "$mpi_killed: a process goes on without process $which_killed: $*"
}

kill_one() {
    rm -rf killed killed.jsonl
    mkdir killed
    # shellcheck disable=SC2086 # words
    kill_with "$1" killed.jsonl "$2" "$3" $killed_fit --iterations 1000000 --checkpoint k.ck --checkpoint-every 5 \
        --log-json killed.jsonl -o "$PWD/killed/m.h5"
    [ -z "$(ls killed)" ] || fail "$1: left $(ls killed)"
    rm -rf killed killed.jsonl
}

kill_second() {
    mpi_killed=$1 awaited=$2
    shift 2
    kill_with "$mpi_killed" "$awaited" 1 0 "$@"
}
