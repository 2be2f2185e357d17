# How many units: the table, its forms, and a study that is interrupted, or shared among machines.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --samples 60 --features 80 --noise 1 --seed 2 -o X.npy -q
study="select rfn X.npy --units 8:11 --restarts 3 --folds 3 --iterations 60"

# shellcheck disable=SC2086
{
    expect 0 $study -o whole.tsv --plot whole.png
    tells "units"
    says "plot in whole.png"
    [ "$(wc -l <whole.tsv)" -eq 5 ] || fail "whole.tsv has $(wc -l <whole.tsv) lines"
    head -1 whole.tsv | grep -q "^units	stable	objective	.*	choice	data$" || fail "header: $(head -1 whole.tsv)"

    # The same numbers with other threads; for a program.
    expect 0 select rfn X.npy --units 8:11 --restarts 3 --folds 3 --iterations 60 -o again.tsv --threads 1
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
    says "12 of 12 results in all"
    expect 0 $study --checkpoint all -o merged.tsv
    same whole.tsv merged.tsv
}
# The table is of these data alone, and tells what is beyond noise when it is asked for.
expect 0 fit rfn X.npy -k 3 --iterations 30 -o model.h5 -q
expect 0 report model.h5 X.npy --select whole.tsv -o page.html -q
grep -q '"choice"\],"rows"' page.html || fail "page.html has the column of the data"
sed 's/crc32 ./crc32 -/' whole.tsv >other.tsv
rm page.html
expect 1 report model.h5 X.npy --select other.tsv -o page.html -q
says "other.tsv, row 2: the table is of other data: crc32 -"
[ ! -e page.html ] || fail "page.html is there"
expect 0 select rfn X.npy --units 2:3 --restarts 2 --folds 2 --iterations 30 --permutations 19 --checkpoint p
tells "; 2 are beyond noise: a fit with --consensus takes all samples"
expect 0 select rfn X.npy --units 2:3 --restarts 2 --folds 2 --iterations 30 --permutations 19 --checkpoint p -o p.tsv
head -1 p.tsv | grep -q "beyond_noise	choice	data$" || fail "header: $(head -1 p.tsv)"
expect 0 select rfn X.npy --units 2 --restarts 6 --iterations 60 --permutations 19
tells "nothing is stable"
tells "; 2 are beyond noise: a fit with --consensus"
breaks "--permutations cannot be used with --totals" select rfn X.npy --permutations 19 --totals 100
breaks "--permutations cannot be used with --totals" select rfn X.npy --permutations 19 --totals median

# Numbers of options are read from their files.
study="select rfn X.npy --units 2 --restarts 1 --folds 2 --iterations 30 --seed 1"
printf '1\t0.5\n0.5\t1\n' >covariance.tsv
# shellcheck disable=SC2086
{
    expect 0 $study -o plain.tsv
    expect 0 $study --prior-covariance covariance.tsv -o other.tsv
    ! cmp -s plain.tsv other.tsv || fail "prior-covariance changes nothing"
    breaks "cannot read missing.tsv" $study --prior-covariance missing.tsv
    expect 2 $study --prior-mean covariance.tsv
    says "is 2 x 2, but must be one number, or one for each of the 2 units"
}
refuses "--part does nothing without --checkpoint" select rfn X.npy --part 1/3
refuses "must be numbers above 0" select rfn X.npy --units 3:1
for units in 99999999999999999999 9223372036854775806:9223372036854775807; do
    refuses "--units is '922337203685477580" select rfn X.npy --units $units
done
breaks "is not a results file of rarebit" merge X.npy -o all2
refuses "must end in .png or .svg" select rfn X.npy --plot out.gif

# The title of a plot of one fit of each number, which tells of no stability, has 35 characters. The
# axis of units that live has 0 to 3, a digit each.
expect 0 select rfn X.npy --units 2:3 --restarts 1 --folds 0 --iterations 10 --seed 1 --plot none.svg -q
texts=$(grep -o '<use .* y="[^"]*"' none.svg | sed 's/.* y=//' | uniq -c | awk 'NR < 6 { printf "%s ", $1 }')
[ "$texts" = "35 1 1 1 1 " ] || fail "characters of the title and of ticks: $texts"

# The table as JSON is what --json prints.
expect 0 select rfn X.npy --units 2:3 --restarts 1 --folds 2 --iterations 10 --seed 1 -o table.json --json -q
/usr/bin/env python3 -c 'import json; d, f = json.load(open("out")), json.load(open("table.json"))
assert all(of.pop("provenance")["data_checksum"] for of in (d, f)) and d == f and d["rows"][0]["units"] == 2' ||
    fail "$command: $(cat table.json out)"

# Methods without the log-likelihood of single samples are compared by folds; without any nothing is.
for method in pca fa-laplace; do
    expect 0 select $method X.npy --units 2:4 --restarts 1 --folds 3 --seed 1 -o $method.tsv -q
    awk -F '\t' 'NR > 1 && !($5 + 0 < 0 && $6 + 0 >= 0) { exit 1 }' $method.tsv || fail "$method: $(cat $method.tsv)"
done
expect 0 select dae X.npy --units 2:3 --restarts 2 --folds 2 --iterations 3 --seed 1 -q
! grep -q nan out || fail "$command: $(cat out)"

# A start without random numbers is only the first one's: otherwise all would agree.
expect 0 simulate cells --samples 60 --features 80 --seed 1 -o N.npy -q
expect 0 select nmf N.npy --units 8 --restarts 3 --folds 0 --seed 1 --iterations 30 -o n.tsv -q
match=$(awk -F'\t' 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == "match") at = c } NR == 2 { print ($at < 0.95) }' n.tsv)
[ "$match" = 1 ] || fail "nmf: all starts are the same: $(cat n.tsv)"
finish
