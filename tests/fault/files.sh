# A disk that fails or is full: each command of the tool, with each of its reads and each of its writes
# failing once, one run a fault. Then the exit code is 1, stderr is one sentence, what stood at the output's
# place is unchanged, and nothing else is left. Or the fault did not matter: exit code 0, and the output
# has the same bytes as without it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" "$work/out"
cd "$work"
one_fault=$BUILD/tests/fault

# Input, small: a fault is met once for each of thousands of runs.
"$RAREBIT" simulate biclusters -q --dataset D1 --samples 12 --features 8 --seed 1 -o in/x.npy
for format in tsv csv.gz h5 h5ad; do
    "$RAREBIT" convert -q in/x.npy -o in/x.$format
done
"$RAREBIT" fit rfn -q in/x.tsv -k 2 --iterations 3 --seed 1 -o in/model.h5

"$one_fault" read 1 "$work" "$RAREBIT" version >/dev/null || status=$?
if [ "${status:-0}" = 77 ]; then
    echo "this kernel cannot let calls fail (seccomp's user notification)" >&2
    exit 77
fi

complain() {
    echo "fault at $(cat name) in: rarebit $command" >&2
    echo "$1" >&2
    sed 's/^/  | /' stderr >&2
    exit 1
}

# A model holds the seconds of its iterations: two are the same when they encode alike.
same_output() {
    case $1 in
        */model.h5)
            "$RAREBIT" encode -q "$1" in/x.npy -o codes.npy
            "$RAREBIT" encode -q good in/x.npy -o good.npy
            cmp -s codes.npy good.npy
            ;;
        *) cmp -s "$1" good ;;
    esac
}

# One run. $1: read or write, $2: which one, $3: the output, $4: what stands there before, or "".
# Returns 1 when there were fewer calls than that.
attempt() {
    rm -rf out/* name
    [ -z "$4" ] || echo "$4" >"$3"
    status=0
    # shellcheck disable=SC2086
    "$one_fault" "$1" "$2" "$work/" timeout 60 "$RAREBIT" $command 3>name >stdout 2>stderr || status=$?
    if [ ! -s name ]; then
        [ "$status" = 0 ] || complain "no fault, but exit code $status"
        return 1
    fi
    if [ "$status" = 0 ]; then
        [ ! -s stderr ] || complain "exit code 0, but not silent"
        same_output "$3" || complain "exit code 0, but another output"
        return 0
    fi
    [ "$status" = 1 ] || complain "exit code $status"
    [ "$(wc -l <stderr)" = 1 ] || complain "stderr is not one line"
    grep -q '^rarebit: .' stderr || complain "stderr is not a sentence of ours"
    if [ -z "$4" ]; then
        [ -z "$(ls -A out)" ] || complain "left behind: $(ls -A out)"
    else
        [ "$(ls -A out)" = "$(basename "$3")" ] || complain "in the folder: $(ls -A out)"
        [ "$(cat "$3")" = "$4" ] || complain "the old file was changed"
    fi
}

# Every fault of a command; its output is the last word.
each_fault() {
    command=$*
    for last in "$@"; do :; done
    "$RAREBIT" "$@"
    cp "$last" good
    for fault in "read precious" "write precious" "write "; do
        n=1
        while attempt "${fault% *}" $n "$last" "${fault#* }"; do
            n=$((n + 1))
        done
        echo "${fault% *} $((n - 1)): rarebit $command"
    done
    [ $n -gt 4 ] || complain "fewer writes than to open, write and rename"
}

for format in npy tsv csv.gz h5 h5ad; do
    each_fault convert -q "$work/in/x.$format" -o "$work/out/x.npy"
done
for format in tsv csv.gz h5 h5ad; do
    each_fault convert -q "$work/in/x.npy" -o "$work/out/x.$format"
done
each_fault fit rfn -q "$work/in/x.tsv" -k 2 --iterations 3 --seed 1 -o "$work/out/model.h5"
each_fault fit rfn -q "$work/in/x.h5" -k 2 --iterations 3 --seed 1 -o "$work/out/model.h5"
each_fault encode -q "$work/in/model.h5" "$work/in/x.tsv" -o "$work/out/codes.npy"
each_fault encode -q "$work/in/model.h5" "$work/in/x.h5ad" -o "$work/out/codes.h5ad"
each_fault reconstruct -q "$work/in/model.h5" "$work/in/x.csv.gz" -o "$work/out/again.tsv"
each_fault modules -q "$work/in/model.h5" "$work/in/x.tsv" -o "$work/out/modules.tsv"
each_fault plot history -q "$work/in/model.h5" -o "$work/out/history.png"
each_fault plot codes -q "$work/in/model.h5" "$work/in/x.tsv" -o "$work/out/codes.svg"
each_fault simulate biclusters -q --dataset D1 --samples 12 --features 8 --seed 1 -o "$work/out/x.npy"
