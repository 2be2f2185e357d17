# How many units: the table, its forms, and a study that is interrupted, or shared among machines.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --samples 60 --features 80 --noise 1 --seed 2 -o X.npy -q
study="select rfn X.npy --units 8:11 --restarts 3 --folds 3 --iterations 60"

# shellcheck disable=SC2086
{
    expect 0 $study -o whole.tsv --plot whole.png
    tells "units"
    says "picture in whole.png"
    [ "$(wc -l <whole.tsv)" -eq 5 ] || fail "whole.tsv has $(wc -l <whole.tsv) lines"
    head -1 whole.tsv | grep -q "^units	objective	.*	choice$" || fail "header: $(head -1 whole.tsv)"

    # The method as an option; the same numbers with other threads; for a program.
    expect 0 select X.npy --method rfn --units 8:11 --restarts 3 --folds 3 --iterations 60 -o again.tsv --threads 1
    same whole.tsv again.tsv
    expect 0 $study --json
    /usr/bin/env python3 -c 'import json,sys; d = json.load(open("out")); assert len(d["rows"]) == 4 and d["reason"]' ||
        fail "$(cat out)"

    # Killed again and again.
    for delay in 0.05 0.1 0.15 0.2 0.3 0.4; do
        "$RAREBIT" $study --checkpoint results -o killed.tsv -q >out 2>err &
        pid=$!
        sleep $delay
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    expect 0 $study --checkpoint results -o killed.tsv
    same whole.tsv killed.tsv
    expect 2 select rfn X.npy --units 8:11 --restarts 4 --folds 3 --iterations 60 --checkpoint results
    says "'restarts=3' instead of 'restarts=4'"

    # Shared among three machines.
    for k in 1 2 3; do
        expect 0 $study --part $k/3 --checkpoint part$k
        silent
        says "part done"
    done
    expect 0 merge part1 part2 part3 -o all
    says "24 of 24 results in all"
    expect 0 $study --checkpoint all -o merged.tsv
    same whole.tsv merged.tsv
}
refuses "--part is given, but does nothing without --checkpoint" select rfn X.npy --part 1/3
refuses "must be numbers above 0" select rfn X.npy --units 3:1
breaks "is no file of results" merge X.npy -o all2
refuses "must end in .png or .svg" select rfn X.npy --plot out.gif
finish
