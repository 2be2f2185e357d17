# Streams that are closed, links that lead nowhere, and terminals: what is made is whole or not made at all, and no
# message stands in it.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --samples 60 --features 20 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 3 --iterations 20 --seed 1 -o m.h5 -q

# What needs no stream does not miss it.
for streams in '>&-' '2>&-' '<&-' '<&- >&- 2>&-'; do
    expect 0 encode m.h5 X.npy -o codes.tsv
    cp codes.tsv whole.tsv
    rm codes.tsv
    command="encode with $streams"
    eval "\"\$RAREBIT\" encode m.h5 X.npy -o codes.tsv >out 2>err $streams" || fail "$command: exit $?: $(cat err)"
    same codes.tsv whole.tsv
    rm -f second.h5
    command="fit with $streams"
    eval "\"\$RAREBIT\" fit rfn X.npy -k 3 --iterations 20 --seed 1 -o second.h5 >out 2>err $streams" ||
        fail "$command: exit $?: $(cat err)"
    expect 0 rerun second.h5 -q
done

# "-" is the standard output.
expect 0 encode m.h5 X.npy -o -
says "60 samples x 3 columns in standard output"
expect 0 simulate bars --samples 3 --seed 1 -o -
says "3 samples x 25 pixels with 10 bars in standard output; seed 1"
expect 0 simulate biclusters --seed 1 -o -
says "modules in standard output; seed 1"
expect 0 report m.h5 X.npy -o -
! grep -q browser err || fail "$command: $(cat err)"

# A named pipe waits for its reader; Ctrl-C ends that, and so it does where nobody ever reads.
mkfifo fifo
command="encode to a named pipe whose reader comes later"
timeout 60 "$RAREBIT" encode m.h5 X.npy -o fifo >out 2>err &
pid=$!
for _ in $(seq 100); do
    grep -q "waiting for a program that reads fifo" err && break
    sleep 0.1
done
cat fifo >read.tsv
wait $pid || fail "$command: exit $?: $(cat err)"
same read.tsv whole.tsv
for line in 'encode m.h5 X.npy -o fifo' 'fit rfn X.npy -k 3 --iterations 2 --seed 1 -o fifo'; do
    command="$line, which nobody reads"
    : >err # what the command before has said there must not be taken for this one's
    # a shell lets its background commands ignore SIGINT
    env --default-signal=INT "$RAREBIT" $line >out 2>err &
    pid=$!
    for _ in $(seq 100); do
        grep -q "waiting for a program that reads fifo" err && break
        sleep 0.1
    done
    kill -INT $pid
    wait $pid
    got=$?
    [ $got -eq 130 ] || fail "$command: exit $got: $(cat err)"
    says "interrupted; nothing was written"
done
rm fifo

# What does need it fails.
command="encode to a closed stdout"
"$RAREBIT" encode m.h5 X.npy -o - -q 2>err >&- && fail "$command: exit 0"
says "cannot write to standard output"
command="info on a closed stdout"
"$RAREBIT" info m.h5 2>err >&- && fail "$command: exit 0"
says "cannot write to standard output"
"$RAREBIT" encode m.h5 X.npy -o /dev/stdout -q 2>err >&- && fail "encode to /dev/stdout, closed: exit 0"

# A link whose file is not there stays a link.
ln -s nowhere.h5 link.h5
breaks "link.h5: it is a link to a missing file" fit rfn X.npy -k 3 --iterations 2 --seed 1 -o link.h5 -q
[ "$(readlink link.h5)" = nowhere.h5 ] || fail "$command: the link is gone"
rm link.h5
ln -s nowhere.jsonl link.jsonl # a fit that fails would remove the log that it made
breaks "cannot write link.jsonl: it is a link to a missing file" fit rfn X.npy -k 3 --iterations 2 --seed 1 --log-json link.jsonl -o n.h5 -q
[ "$(readlink link.jsonl)" = nowhere.jsonl ] && [ ! -e nowhere.jsonl ] || fail "$command: the link was followed or is gone"
rm link.jsonl

# A terminal gets text alone; a file or a pipe gets anything.
expect 0 modules m.h5 X.npy --permutations 9 --part 1/2 --checkpoint one -q
expect 0 modules m.h5 X.npy --permutations 9 --part 2/2 --checkpoint two -q
expect 0 merge one two -o -
cp out all
expect 0 modules m.h5 X.npy --permutations 9 --checkpoint all -q
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    at_terminal() {
        command="$* at a terminal"
        script -qec "'$RAREBIT' $* -q" typed >/dev/null 2>&1 </dev/null
        got=$?
    }
    for line in 'merge one two -o -' 'fit rfn X.npy -k 3 --iterations 2 --seed 1 -o -' 'encode m.h5 X.npy --format npy -o -'; do
        at_terminal "$line"
        [ $got -eq 2 ] || fail "$command: exit $got: $(cat typed)"
        grep -q "would write binary data to the terminal" typed || fail "$command: $(cat typed)"
        grep -aq 'rarebit-journal\|HDF\|NUMPY' typed && fail "$command: it was written"
    done
    at_terminal encode m.h5 X.npy -o -
    [ $got -eq 0 ] || fail "$command: exit $got: $(cat typed)"
fi
finish
