# Every method that `rarebit fit` has goes through every command, by the list of the tool itself: a new
# method is in this test once it is in the registry.
. "$SOURCE/tests/cli/lib/lib.sh"

# 36 samples x 24 features, mostly 0 and never below: three modules, and a little everywhere else.
table() {
    awk -v lacking="$1" 'BEGIN {
        for (k = 0; k < 24; k++) printf "\tg%d", k
        print ""
        for (i = 0; i < 36; i++) {
            printf "c%d", i
            for (k = 0; k < 24; k++) {
                state = (state * 69069 + 12345) % 2147483648
                noise = state / 2147483648
                in_module = i % 4 < 3 && int(k / 8) == i % 4 && noise > 0.2
                value = in_module ? 1 + noise + k % 8 / 4 : noise > 0.7 ? noise / 4 : 0
                if (lacking && (5 * i + 3 * k) % 17 < 3) printf "\tNA"
                else printf "\t%.4g", value
            }
            print ""
        }
    }'
}
table 0 >X.tsv
table 1 >M.tsv
awk 'NR > 1 { for (k = 2; k <= NF; k++) if ($k) print NR - 1, k - 1, $k }' X.tsv >entries
{
    echo "%%MatrixMarket matrix coordinate real general"
    echo "36 24 $(wc -l <entries)"
    cat entries
} >X.mtx
awk '{ $6 = NR == 1 ? $6 : 2; print }' OFS='\t' X.tsv >constant.tsv
head -6 constant.tsv >wide.tsv
head -2 X.tsv >one.tsv
cut -f 1-2 X.tsv >narrow.tsv
expect 0 convert X.tsv -o X.h5 -q
for _ in 1 2 3 4 5 6 7 8; do tail -n +2 X.tsv | cut -f 2-; done >parts
cat parts parts parts parts parts >many.tsv
expect 0 convert many.tsv -o many.npy -q

# No number that is none is printed, nor one that is infinite.
numbers() {
    ! grep -qiwE -e 'nan|-?inf' out || fail "$command: $(grep -iwE -e 'nan|-?inf' out)"
}

# Works, or says in a sentence why not: never anything else.
works() {
    "$RAREBIT" "$@" >out 2>err
    got=$?
    command="rarebit $*"
    [ $got -le 2 ] || fail "$command: exit $got: $(cat err)"
    [ $got -eq 0 ] || { one_line && silent; }
    numbers
    return $got
}

use() {
    expect 0 evaluate m.h5 "$1"
    numbers
    expect 0 modules m.h5 "$1"
    numbers
}

# The same codes as the first model.
agrees() {
    expect 0 encode "$1" X.tsv -o again.npy -q
    same again.npy first.npy
}

commands() {
    expect 0 info m.h5
    tells "$1"
    numbers
    expect 0 reconstruct m.h5 X.tsv -o rows.npy -q
    expect 0 modules m.h5 X.tsv --permutations 19 --json -q
    tells '"p_family"'
    for picture in codes modules; do
        expect 0 plot $picture m.h5 X.tsv -o picture.png -q
    done
    expect 0 plot filters m.h5 --shape 4x6 -o picture.png -q
    expect 0 plot history m.h5 -o picture.png -q
    expect 0 report m.h5 X.tsv -o page.html -q
    expect 0 compare m.h5 m.h5
    numbers
    expect 0 rerun m.h5
    tells "the same bits"
    expect 0 select "$1" X.tsv --units 2:4 --restarts 2 --folds 2 --iterations 4 --seed 1 -q
    numbers
}

many_fits() {
    expect 0 fit "$1" X.tsv -k 3 --iterations 4 --seed 1 --restarts 3 --consensus --stability 0.01 -o all.h5 -q
    expect 0 encode all.h5 X.tsv -o codes.npy -q
    # On from a model, where the method can.
    if works fit "$1" X.tsv --init m.h5 --iterations 2 --seed 1 -o on.h5 -q; then
        refuses "units is 2, but the model to start from has 3 units" fit "$1" X.tsv --init m.h5 -k 2 -o on.h5 -q
    else
        says "cannot start from a model"
    fi
}

data() {
    for set in wide one narrow; do
        if works fit "$1" $set.tsv -k 3 --iterations 4 --seed 1 -o m.h5 -q; then use $set.tsv; fi
    done
    expect 0 fit "$1" X.mtx -k 3 --iterations 4 --seed 1 --precision float64 -o m.h5 -q
    use X.mtx
    breaks "is missing" fit "$1" M.tsv -k 3 --seed 1 -o none.h5 -q
    expect 0 fit "$1" M.tsv -k 3 --iterations 4 --seed 1 --missing mean -o m.h5 -q
    use M.tsv
    if works fit "$1" M.tsv -k 3 --iterations 4 --seed 1 --missing omit -o m.h5 -q; then
        use M.tsv
    else
        says "needs all values; choose mean or median"
    fi
}

# A fit that has no more time goes on from its checkpoint as if it had had it; Ctrl-C leaves a model.
stopped() {
    fit="fit $1 X.tsv -k 3 --iterations 8 --seed 1 --checkpoint part --checkpoint-every 1 -o part.h5 -q"
    # shellcheck disable=SC2086 # words
    {
        expect 0 $fit --max-time 0.000001s
        expect 0 $fit
    }
    agrees part.h5
    [ ! -e part ] || fail "$command: the checkpoint is there still"
    rm -f stopped.h5 # a signal before the program listens is lost: hence the time
    "$RAREBIT" fit "$1" many.npy -k 8 --iterations 1000000 --max-time 3s --seed 1 -o stopped.h5 -q >out 2>err &
    pid=$!
    sleep 0.1
    kill -INT $pid 2>/dev/null
    wait $pid
    got=$?
    command="fit $1, Ctrl-C"
    case $got in
    0 | 130) # before its first iteration is done there is nothing to write
        if [ -f stopped.h5 ]; then
            expect 0 encode stopped.h5 many.npy -o codes.npy -q
        elif ! grep -q "nothing was written" err; then
            fail "$command: $(cat err)"
        fi
        ;;
    *) fail "$command: exit $got: $(cat err)" ;;
    esac
}

expect 0 help fit
names=$(sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' out)
[ "$(echo "$names" | wc -l)" -ge 15 ] || fail "fit has only $names"
for method in $names; do
    expect 0 help fit "$method"
    tells "fit $method X.npy"
    grep -qE "(fit |\`)$method(\`| |\$)" "$SOURCE"/docs/*/*.md || fail "no page in docs has $method"
    expect 0 fit "$method" X.tsv -k 3 --iterations 8 --seed 1 --threads 1 -o m.h5 -q
    expect 0 encode m.h5 X.tsv -o first.npy -q
    expect 0 fit "$method" X.h5 -k 3 --iterations 8 --seed 1 --threads 3 -o same.h5 -q
    agrees same.h5
    use X.tsv
    commands "$method"
    many_fits "$method"
    stopped "$method"
    data "$method"
done
finish
