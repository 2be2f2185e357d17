# A disk that fails or is full: each command of the tool, with each of its reads and each of its writes
# failing once, one run a fault. Then the exit code is 1, stderr is one sentence, what stood at the output's
# place is unchanged, and nothing else is left. Or the fault did not matter: exit code 0, and the output
# has the same bytes as without it.
set -eu
. "$SOURCE/tests/lib/skip.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/in" "$work/in/cells" "$work/out" "$work/log"
cd "$work"
one_fault=$BUILD/tests/fault

# Hundreds of runs, whose time goes into starting the tool: it need not start anew for the best BLAS.
export RAREBIT_BLAS_CORE= OPENBLAS_NUM_THREADS=1

# ---- input, small: a fault is met once for each read ----

"$RAREBIT" simulate biclusters -q --dataset D1 --samples 12 --features 8 --seed 1 -o in/x.npy \
    --truth in/truth.json
for format in tsv csv.gz h5 h5ad; do
    "$RAREBIT" convert -q in/x.npy -o in/x.$format
done
"$RAREBIT" fit rfn -q in/x.tsv -k 2 --preset paper --iterations 3 --seed 1 -o model.h5
"$RAREBIT" fit rfn -q in/x.tsv -k 2 --preset paper --iterations 4 --seed 1 -o other.h5
"$RAREBIT" simulate bars -q --size 2 --samples 12 --seed 1 -o in/bars.npy --truth in/fields.npy
"$RAREBIT" fit nmf-et -q in/bars.npy -k 4 --iterations 3 --seed 1 -o bars.h5

# Three genes in two cells, as Matrix Market and in a folder of 10x; named samples and their classes.
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n' >in/x.mtx
cp in/x.mtx in/cells/matrix.mtx
printf 'AAA\nCCC\n' >in/cells/barcodes.tsv
printf 'g1\tone\ng2\ttwo\ng3\tthree\n' >in/cells/features.tsv
awk 'BEGIN { OFS = "\t"; print "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8" }
    { print "s" NR, $0 }' in/x.tsv >in/named.tsv
awk 'BEGIN { print "sample\tclass"; for (i = 1; i <= 12; i++) print "s" i "\t" (i % 2 ? "a" : "b") }' \
    >in/labels.tsv
printf 'a\nb\na\nb\na\nb\na\nb\na\nb\na\nb\n' >in/classes.txt
printf 'one\tna\tf1\tf2\tf3\ntwo\tna\tf4\tf5\n' >in/sets.gmt
awk 'BEGIN { print "sample\tage\tsite"; for (i = 1; i <= 12; i++) print "s" i "\t" i * 5 % 12 "\t" (i % 2 ? "a" : "b") }' \
    >in/covariates.tsv
"$RAREBIT" fit rfn -q in/named.tsv -k 2 --preset paper --iterations 3 --seed 1 -o named.h5
"$RAREBIT" fit pca -q in/named.tsv -k 2 -o pca.h5
# Pictures of 3 x 2 pixels, and two of them in one IDX file.
printf 'P5 3 2 255\nabcdef' >in/x.pgm
printf '\000\000\010\003\000\000\000\002\000\000\000\002\000\000\000\003abcdefghijkl' >in/x.idx
{
    printf '\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\003\000\000'
    printf '\000\002\010\000\000\000\000\270\037\071\306\000\000\000\020\111\104\101\124\170\234\143'
    printf '\140\140\144\142\340\342\346\001\000\000\130\000\045\163\022\245\107\000\000\000\000\111'
    printf '\105\116\104\256\102\140\202'
} >in/x.png
"$RAREBIT" patches -q in/x.pgm --size 1x2 --count 4 --seed 1 -o in/p.npy
"$RAREBIT" fit linca -q in/p.npy -k 2 --iterations 3 --seed 1 -o patches.h5
"$RAREBIT" finetune none -q in/x.npy --labels in/classes.txt --layers 2 --epochs 1 --seed 1 -o net.h5
# A sound of four values.
{
    printf 'RIFF\050\000\000\000WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\100\037\000\000'
    printf '\001\000\010\000data\004\000\000\000abcd'
} >in/x.wav

"$one_fault" read 1 "$work" "$RAREBIT" version >/dev/null || status=$?
[ "${status:-0}" != 77 ] || skip "this kernel cannot let calls fail (seccomp's user notification)"

# ---- one run ----

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
            [ -e good.npy ] || "$RAREBIT" encode -q good in/x.npy -o good.npy
            cmp -s codes.npy good.npy
            ;;
        *) cmp -s "$1" good ;;
    esac
}

# One line, a sentence of the tool.
one_sentence() {
    line='' more=''
    { read -r line && ! read -r more && [ -z "$more" ]; } <stderr || complain "stderr is not one line"
    case $line in
        'rarebit: '?*) ;;
        *) complain "stderr is not a sentence of ours" ;;
    esac
}

# Nothing is in the folder of the output but what stood there before ($2, or "") at its place ($1).
as_before() {
    for file in out/* out/.[!.]*; do
        [ ! -e "$file" ] || [ -n "$2" ] && [ "$work/$file" = "$1" ] || [ ! -e "$file" ] ||
            complain "left behind: $file"
    done
    if [ -n "$2" ]; then
        read -r content <"$1" && [ "$content" = "$2" ] || complain "the old file was changed"
    fi
}

# $1: read or write, $2: which one, $3: the output, $4: what stands there before, or "", $5: below which
# folder calls fail. Returns 1 when there were fewer calls than that.
attempt() {
    rm -rf out/* out/.[!.]* name
    [ -z "$4" ] || echo "$4" >"$3"
    status=0
    # shellcheck disable=SC2086
    "$one_fault" "$1" "$2" "$5/" "$RAREBIT" $command 3>name >stdout 2>stderr || status=$?
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
    one_sentence
    read -r fault_name <name
    case $fault_name in
        # The log is written beside the model, which is whole without it.
        *"$work/log/"*)
            [ ! -e "$3" ] || [ "$(head -c 8 "$3")" = "$4" ] || same_output "$3" ||
                complain "without its log another model"
            ;;
        *) as_before "$3" "$4" ;;
    esac
}

# Every fault of a command that its first word asks for; its output is the last word, or "stdout".
#   reads    of the data;   all-reads   of the model too;   writes   of the output, onto an old file
#   creates  of the output, where nothing is
each_fault() {
    faults=$1
    shift
    command=$*
    for last in "$@"; do :; done
    "$RAREBIT" "$@" >stdout
    cp "$last" good
    rm -f good.npy
    for fault in $(echo "$faults" | tr ',' ' '); do
        n=1
        case $fault in
            reads) set -- read precious "$work/in" ;;
            all-reads) set -- read precious "$work" ;;
            writes) set -- write precious "$work" ;;
            creates) set -- write '' "$work" ;;
        esac
        while attempt "$1" $n "$last" "$2" "$3"; do
            n=$((n + 1))
        done
        echo "$fault $((n - 1)): rarebit $command"
        [ $n -gt 1 ] || complain "no call of the kind"
        [ "$1" = read ] || [ $n -gt 4 ] || complain "fewer writes than to open, write and rename"
    done
}

# Every read of a command that writes nothing but to stdout.
each_read() {
    command=$*
    "$RAREBIT" "$@" >good
    n=1
    while attempt read $n "$work/stdout" '' "$work/in"; do
        n=$((n + 1))
    done
    [ $n -gt 1 ] || complain "no call of the kind"
    echo "reads $((n - 1)): rarebit $command"
}

# ---- checkpoints: the fit continues without, and they outlive a model that cannot be written ----

mkdir "$work/cp"
command="fit rfn -q $work/in/x.tsv -k 2 --iterations 3 --seed 1 --checkpoint $work/cp/c.h5 \
    --checkpoint-every 2 -o $work/out/model.h5"
# shellcheck disable=SC2086
"$RAREBIT" $command
mv out/model.h5 good
n=1
while :; do
    rm -f out/* name
    status=0
    # shellcheck disable=SC2086
    "$one_fault" write $n "$work/cp/" "$RAREBIT" $command 3>name >stdout 2>stderr || status=$?
    [ "$status" = 0 ] || complain "exit code $status"
    same_output "$work/out/model.h5" || complain "another model"
    [ -z "$(ls -A cp)" ] || complain "left behind: $(ls -A cp)"
    [ -s name ] || break
    [ ! -s stderr ] || one_sentence
    [ ! -s stderr ] || grep -q 'no checkpoint after iteration 2: .*; the fit continues' stderr ||
        complain "no such warning"
    n=$((n + 1))
done
echo "writes $((n - 1)): rarebit $command"
[ $n -gt 4 ] || complain "fewer writes than to open, write and rename"

status=0
# shellcheck disable=SC2086
"$one_fault" write 4 "$work/out/" "$RAREBIT" $command 3>name >stdout 2>stderr || status=$?
[ "$status" = 1 ] && [ -s cp/c.h5 ] || complain "no checkpoint beside a model that failed"
cp cp/c.h5 precious
n=1
while :; do
    rm -f out/* name
    status=0
    # shellcheck disable=SC2086
    "$one_fault" read $n "$work/cp/" "$RAREBIT" $command 3>name >stdout 2>stderr || status=$?
    [ -s name ] || break
    [ "$status" = 1 ] || complain "exit code $status"
    one_sentence
    cmp -s cp/c.h5 precious || complain "the checkpoint was changed"
    [ -z "$(ls -A out)" ] || complain "left behind: $(ls -A out)"
    n=$((n + 1))
done
echo "reads $((n - 1)): rarebit $command"
[ $n -gt 1 ] || complain "no call of the kind"
same_output "$work/out/model.h5" || complain "another model"

# ---- every command, every format ----

model=$work/model.h5
in=$work/in
out=$work/out
for data in x.npy x.tsv x.csv.gz x.h5 x.h5ad x.mtx cells x.idx x.pgm x.png; do
    each_fault reads convert -q "$in/$data" -o "$out/x.npy"
done
for format in npy tsv csv.gz h5 h5ad; do
    each_fault writes,creates convert -q "$in/x.npy" -o "$out/x.$format"
done
each_fault reads,writes,creates fit rfn -q "$in/x.tsv" -k 2 --iterations 3 --seed 1 \
    --log-json "$work/log/log.jsonl" -o "$out/model.h5"
each_fault reads fit rfn -q "$in/x.h5" -k 2 --iterations 3 --seed 1 -o "$out/model.h5"
each_fault all-reads,writes encode -q "$model" "$in/x.tsv" -o "$out/codes.npy"
each_fault reads,writes encode -q "$model" "$in/x.h5ad" -o "$out/codes.h5ad"
each_fault reads,writes,creates encode -q "$work/bars.h5" "$in/bars.npy" -o "$work/log/codes.npy" \
    --map "$out/states.tsv"
each_fault reads,writes reconstruct -q "$model" "$in/x.csv.gz" -o "$out/again.tsv"
each_fault reads modules -q "$model" "$in/x.npy" -o "$out/modules.tsv"
for format in tsv json gmt; do
    each_fault writes modules -q "$model" "$in/x.npy" -o "$out/modules.$format"
done
each_fault reads modules -q "$model" "$in/named.tsv" --labels "$in/labels.tsv" \
    --truth "$in/truth.json" -o "$out/modules.tsv"
each_fault reads,writes report -q "$work/bars.h5" "$in/bars.npy" --labels "$in/classes.txt" \
    -o "$out/page.html"
each_fault reads,writes consensus -q "$model" "$work/other.h5" --data "$in/x.npy" \
    --similarity 0.1 -o "$out/model.h5"
each_fault reads,writes modules -q "$work/named.h5" "$in/named.tsv" --gmt "$in/sets.gmt" --gmt-min 1 \
    --covariates "$in/covariates.tsv" -o "$work/log/modules.tsv" --covariates-output "$work/log/c.tsv" \
    --gmt-output "$out/sets.tsv"
each_read evaluate -q "$work/bars.h5" "$in/bars.npy" --truth "$in/fields.npy" --json
for format in npz onnx; do
    each_fault writes,creates export -q "$work/net.h5" -o "$out/net.$format"
    "$RAREBIT" export -q net.h5 -o "in/net.$format"
done
each_fault reads import -q "$in/net.onnx" --like "$work/net.h5" -o "$out/model.h5"
each_fault all-reads export -q "$work/net.h5" -o "$out/net.npz"
each_fault all-reads import -q "$in/net.npz" --like "$work/net.h5" -o "$out/model.h5"
each_fault reads segments -q "$in/x.wav" --length 2 -o "$out/x.npy"
each_fault reads,writes,creates denoise -q "$work/patches.h5" "$in/x.pgm" --size 1x2 -o "$out/x.png"
each_fault writes plot history -q "$model" -o "$out/history.png"
each_fault reads,writes plot codes -q "$model" "$in/named.tsv" --labels "$in/labels.tsv" \
    -o "$out/codes.svg"
each_fault reads,writes plot unit -q "$model" "$in/named.tsv" --unit 1 --labels "$in/labels.tsv" \
    -o "$out/unit.svg"
each_fault reads plot modules -q "$work/pca.h5" "$in/named.tsv" --labels "$in/labels.tsv" \
    -o "$out/modules.svg"
each_fault writes,creates simulate biclusters -q --dataset D1 --samples 12 --features 8 --seed 1 \
    -o "$out/x.npy"
