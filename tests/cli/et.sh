# fit linca, nmf-et, mca: bars are found, as the truth says; results of the model.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate bars --style max --noise 2 --samples 400 --seed 3 -o Y.npy --truth fields.npy -q
expect 0 fit mca Y.npy -k 10 --candidates 5 --max-active 3 --prior 0.2 --sigma 2 \
    --temperature 13:1.05 --iterations 100 --seed 1 -o m.h5
silent
cp err report
says "sigma 2, prior 0.2 (2 causes per sample)"
next=$(sed -n 's/.*next: rarebit //p' err)
[ -n "$next" ] || fail "$command: names no next command"
# shellcheck disable=SC2086 # words
expect 0 $next -q
expect 0 evaluate m.h5 Y.npy -q
likelihood=$(sed -n 's/^log likelihood *\([^ ]*\) .*/\1/p' out)
grep -q "; log likelihood $likelihood\$" report || fail "the fit said: $(cat report), not $likelihood"
expect 0 evaluate m.h5 Y.npy --truth fields.npy --json
for key in causes causes_found mean_absolute_error log_likelihood mean_squared_error; do
    tells "\"$key\": "
done
[ "$(number causes <out)" = 10 ] || fail "causes: $(cat out)"
[ "$(number causes_found <out)" = 10 ] || fail "causes found: $(cat out)"
holds "$(number mean_absolute_error <out) < 0.3"
holds "$(number mean_squared_error <out) < 6 && $(number mean_squared_error <out) > 2"
expect 0 evaluate m.h5 Y.npy --truth fields.npy
tells "causes found"
expect 0 encode m.h5 Y.npy -o codes.npy -q
expect 0 info codes.npy --json
tells '"samples": 400, "features": 10'
expect 0 reconstruct m.h5 Y.npy -o rebuilt.npy -q
expect 0 info rebuilt.npy --json
tells '"samples": 400, "features": 25'

# What is rebuilt is what evaluate measures, whatever the number of threads.
expect 0 evaluate m.h5 Y.npy --json -q
error=$(number mean_squared_error <out)
expect 0 convert Y.npy -o Y.tsv -q
expect 0 reconstruct m.h5 Y.tsv -o rebuilt.tsv -q
mean=$(paste Y.tsv rebuilt.tsv | awk -F '\t' '{ for (k = 1; k <= NF / 2; k++) {
    sum += ($k - $(k + NF / 2)) ^ 2; count++ } }
    END { printf "%.12g", count == 10000 ? sum / count : -1 }')
holds "$mean - $error < 1e-4 && $error - $mean < 1e-4"
for threads in 2 3; do
    expect 0 reconstruct m.h5 Y.npy --threads $threads -o threads.npy -q
    same rebuilt.npy threads.npy
done

for key in causes_used quality truncation candidate_hits; do
    expect 0 evaluate m.h5 Y.npy --json -q
    tells "\"$key\": "
done
holds "$(number quality <out) > 0.5 && $(number quality <out) <= 1"
holds "$(number candidate_hits <out) > 0.5 && $(number candidate_hits <out) <= 1"

# The most probable states: as many lines as samples; their mean log evidence is the log-likelihood.
expect 0 encode m.h5 Y.npy -o codes.npy --map states.tsv -q
[ "$(wc -l <states.tsv)" -eq 400 ] || fail "states.tsv has not 400 lines"
expect 0 evaluate m.h5 Y.npy --json -q
sum=$(awk '{ sum += $1 } END { printf "%.12g", sum / NR }' states.tsv)
holds "$sum - ($(number log_likelihood <out)) < 1e-6 && ($(number log_likelihood <out)) - ($sum) < 1e-6"
awk '{ for (k = 2; k <= NF; k++) if ($k < 0 || $k > 9 || (k > 2 && $k <= $(k - 1))) exit 1
       if (NF > 4) exit 1 }' states.tsv || fail "states.tsv: causes out of range or order"

# They are text, in a file of their own.
refuses "would write to the same file" encode m.h5 Y.npy -o one.tsv --map one.tsv
refuses "cannot both go to standard output" encode m.h5 Y.npy -o - --map -
refuses "would overwrite 'Y.npy'" encode m.h5 Y.npy -o codes.npy --map Y.npy
refuses "written as text" encode m.h5 Y.npy -o codes.tsv --map map.npy
[ ! -e one.tsv ] && [ ! -e map.npy ] || fail "a refused map was written"
# A file that stands at the place of the states stays when the command fails, wherever it does.
echo precious >precious.tsv
cp precious.tsv kept.tsv
head -c 100 Y.npy >cut.npy
for input in nosuch.npy cut.npy; do
    expect 1 encode m.h5 $input -o failed.npy --map precious.tsv -q
    same precious.tsv kept.tsv
done
expect 2 encode m.h5 Y.npy -o failed.unknown --map precious.tsv -q
same precious.tsv kept.tsv
[ -z "$(ls failed.* .*.tmp 2>/dev/null)" ] || fail "$command: left $(ls -a)"
expect 0 encode m.h5 Y.npy -o codes2.npy --map precious.tsv -q
same precious.tsv states.tsv
same codes2.npy codes.npy

# Pictures of a traced fit.
expect 0 fit mca Y.npy -k 10 --prior 0.2 --sigma 2 --temperature 13:1.05 --iterations 30 --trace \
    --seed 1 -o traced.h5 -q
for picture in "fields --shape 5x5" quality; do
    name=${picture%% *}
    for suffix in png svg; do
        # shellcheck disable=SC2086 # words
        expect 0 plot $picture traced.h5 -o "$name.$suffix" -q
        [ -s "$name.$suffix" ] || fail "no picture of $name"
    done
done
# Without a trace the final fields are drawn, which is said; the quality is known of traced fits alone.
expect 0 plot fields m.h5 --shape 5x5 -o final.png
says "only the final fields are drawn"
[ -s final.png ] || fail "no picture of the final fields"
breaks "fit again with --trace, and with at most 20 units" plot quality m.h5 -o none.png
expect 0 fit rfn Y.npy -k 2 --iterations 2 -o rectified.h5 -q
breaks "fits of method 'rfn' keep no fields of their iterations" \
    plot fields rectified.h5 --shape 5x5 -o none.png
refuses "has no option --shape" plot quality traced.h5 --shape 5x5 -o none.png
refuses "has no option --labels" plot fields traced.h5 --shape 5x5 --labels l.tsv -o none.png
expect 0 plot evidence m.h5 Y.npy -o evidence.svg -q
[ -s evidence.svg ] || fail "no picture of evidence"
grep -q 'path\|glyph' evidence.svg || fail "evidence.svg is empty"
expect 0 simulate bars --style max --noise 2 --samples 400 --seed 3 -o again.npy \
    --states states.npy -q
same Y.npy again.npy
expect 0 plot evidence m.h5 Y.npy --true-causes states.npy -o causes.svg -q
[ "$(wc -c <causes.svg)" -gt "$(wc -c <evidence.svg)" ] || fail "causes.svg has no point a sample"
breaks "a whole number where a cause was active" plot evidence m.h5 Y.npy --true-causes Y.npy -o none.png -q
# The cut of the fit is drawn for as many samples as it had: a path in a colour of its own.
cut='rgb(80'
grep -q "$cut" evidence.svg || fail "evidence.svg lacks the cut: $(grep -o 'rgb([^)]*' evidence.svg | sort -u)"
expect 0 simulate bars --style max --noise 2 --samples 1200 --seed 4 -o other.npy -q
expect 0 plot evidence m.h5 other.npy -o other.svg -q
! grep -q "$cut" other.svg || fail "the cut of the fit is drawn into other data"
breaks "are of 10 samples, but there are 400" \
    plot evidence m.h5 Y.npy --true-causes fields.npy -o none.png -q
refuses "would overwrite" plot evidence m.h5 Y.npy --true-causes states.npy -o states.npy

# All methods, from the data alone.
for method in linca nmf-et; do
    style=linear
    [ "$method" = linca ] && style=signed
    expect 0 simulate bars --style $style --noise 2 --samples 400 --seed 3 -o Y.npy \
        --truth fields.npy -q
    expect 0 fit $method Y.npy -k 10 --seed 1 -o m.h5 -q
    expect 0 evaluate m.h5 Y.npy --truth fields.npy --json
    [ "$(number causes_found <out)" = 10 ] || fail "$method: causes found: $(cat out)"
done

# Where values are missing, they are left out if that is asked for: all bars are found all the same,
# and what is rebuilt has all values.
for method in linca nmf-et mca; do
    style=linear
    [ "$method" = linca ] && style=signed
    [ "$method" = mca ] && style=max
    expect 0 simulate bars --style $style --noise 2 --samples 400 --seed 3 -o whole.tsv \
        --truth fields.npy -q
    awk 'BEGIN { FS = OFS = "\t"; srand(5) }
         NR > 1 { for (k = 2; k <= NF; k++) if (rand() < 0.15) $k = "NA" } 1' whole.tsv >Y.tsv
    breaks "--missing model" fit $method Y.tsv -k 10 --seed 1 -o none.h5 -q
    says "is missing (NaN)"
    expect 0 fit $method Y.tsv -k 10 --seed 1 --missing omit --iterations 100 -o m.h5
    says "missing values are left out"
    expect 0 evaluate m.h5 Y.tsv --truth fields.npy --json -q
    [ "$(number causes_found <out)" = 10 ] || fail "$method: causes found: $(cat out)"
    holds "$(number mean_squared_error <out) < 7"
    expect 0 reconstruct m.h5 Y.tsv -o rebuilt.npy -q
    expect 0 info rebuilt.npy --json
    tells '"missing": 0'
done
# A model of whole data is told for each use.
expect 0 fit mca whole.tsv -k 10 --seed 1 --iterations 50 -o m.h5 -q
for command in "encode -o codes.npy" "reconstruct -o rebuilt.npy" "evaluate --json"; do
    # shellcheck disable=SC2086 # words
    set -- $command
    name=$1
    shift
    breaks "is missing (NaN)" "$name" m.h5 Y.tsv "$@" -q
    expect 0 "$name" m.h5 Y.tsv "$@" --missing omit -q
done
expect 0 fit mca Y.tsv --init m.h5 -k 10 --missing omit --iterations 5 -o again.h5 -q
expect 0 fit rfn whole.tsv -k 3 --iterations 5 -o rfn.h5 -q

# More than there are: clipped, with a warning. More states than anybody can look at: refused before
# memory is asked for.
expect 0 fit mca Y.npy -k 3 --candidates 6 --iterations 2 -o m.h5 -q
says "warning: --candidates is 6, but there are only 3 units"
expect 0 fit mca Y.npy -k 2 --iterations 2 -o m.h5 -q
[ ! -s err ] || fail "a default was warned about: $(cat err)"
refuses "60 candidates with up to 30 active are more than" \
    fit mca Y.npy -k 100 --candidates 60 --max-active 30 -o none.h5 -q

# Samples with more causes than usual: looked at again where that is asked for.
expect 0 simulate bars --style max --noise 1 --probability 0.35 --samples 300 --seed 3 -o many.npy -q
for limit in 3 6; do
    expect 0 fit mca many.npy -k 10 --sigma 1 --prior 0.35 --max-active 3 --max-active-limit $limit \
        --cut-factor 1e9 --iterations 50 --seed 1 -o m$limit.h5 -q
    expect 0 evaluate m$limit.h5 many.npy --json -q
    quality=$(number quality <out)
    expect 0 encode m$limit.h5 many.npy -o codes.npy --map states$limit.tsv -q
    holds "$(awk 'NF - 1 > most { most = NF - 1 } END { print most }' states$limit.tsv) == $limit"
    [ $limit = 3 ] && before=$quality
done
holds "$quality > $before"
refuses "max-active-limit" fit mca many.npy -k 10 --candidates-limit 7 -o none.h5 -q
refuses "below --max-active" fit mca many.npy -k 10 --max-active-limit 2 -o none.h5 -q

# The log has what a user wants to see of each iteration.
expect 0 fit mca Y.npy -k 10 --prior 0.2 --sigma 2 --temperature 13:1.05 --iterations 30 --seed 1 \
    --log-json log.json -o m.h5 -q
[ "$(wc -l <log.json)" = 30 ] || fail "the log has not a line for each iteration"
for key in temperature samples_used causes_used sigma prior candidate_hits quality truncation \
    log_likelihood free_energy; do
    [ "$(grep -c "\"$key\": " log.json)" = 30 ] || fail "the log lacks $key: $(tail -1 log.json)"
done
head -1 log.json >first && tail -1 log.json >last
holds "$(number temperature <first) == 13 && $(number temperature <last) == 1.05"
holds "$(number samples_used <first) == 400 && $(number samples_used <last) < 400"
holds "$(number causes_used <last) == 10 && $(number truncation <last) > 0"

# evaluate has those of the last iteration: floor(0.9 N A), A the prior mass of states of at most 3 of
# 10 causes. With --cut-factor 1e9 that is all samples, whatever is evaluated.
expect 0 evaluate m.h5 Y.npy --json -q
[ "$(number samples_used <out)" = "$(number samples_used <last)" ] || fail "samples used: $(cat out)"
cut=$(awk 'BEGIN {
    for (c = 1; k <= 3; k++) { A += c * 0.2 ^ k * 0.8 ^ (10 - k); c *= (10 - k) / (k + 1) }
    print int(0.9 * 400 * A) }')
expect 0 fit mca Y.npy -k 10 --prior 0.2 --sigma 2 --iterations 30 --seed 1 -o cut.h5 -q
expect 0 evaluate cut.h5 Y.npy --json -q
[ "$(number samples_used <out)" = "$cut" ] || fail "samples used: $(cat out), not $cut"
expect 0 evaluate cut.h5 Y.npy
tells "samples used"
expect 0 fit mca Y.npy -k 10 --sigma 2 --cut-factor 1e9 --iterations 5 --seed 1 -o whole.h5 -q
expect 0 simulate bars --style max --samples 50 --seed 4 -o few.npy -q
expect 0 evaluate whole.h5 few.npy --json -q
[ "$(number samples_used <out)" = 400 ] || fail "samples used: $(cat out)"
expect 0 evaluate rfn.h5 whole.tsv --json -q
for key in causes_used samples_used quality truncation candidate_hits exact_samples; do
    tells "\"$key\": null" # rfn has none of them
done
expect 0 evaluate rfn.h5 whole.tsv -q
! grep -q 'causes used\|quality\|  -  ' out || fail "rows without a number: $(cat out)"
holds "$(number quality <last) <= 1 && $(number candidate_hits <last) <= 1"

# Courses over the iterations, in one way of writing.
expect 0 fit mca Y.npy -k 10 --temperature 0=13,0.1=13,0.8=1.05 --weight-noise-schedule 0=0.1,0.5=0 \
    --cut-schedule 0=1,0.7=1,0.9=0.8 --iterations 20 --seed 1 -o m.h5 -q
refuses "weight-noise-schedule is '0.1'" \
    fit mca Y.npy -k 10 --weight-noise-schedule 0.1 --iterations 5 -o none.h5 -q
refuses "at most 1" fit mca Y.npy -k 10 --cut-schedule 0=1,0.7=2 --iterations 5 -o none.h5 -q
refuses "both given" fit mca Y.npy -k 10 --cut-schedule 0=1 --cut-factor 1 -o none.h5 -q
refuses "both given" \
    fit mca Y.npy -k 10 --weight-noise-schedule 0=0 --weight-noise 1 -o none.h5 -q

# A model of another family: the same answer from whoever asks.
for what in "plot evidence rfn.h5 whole.tsv" "plot quality rfn.h5" "plot fields rfn.h5 --shape 5x5"; do
    # shellcheck disable=SC2086 # words
    breaks "" $what -o none.png -q
done

# A module is a cause: the samples that more likely have it than not, and the pixels of its bar.
for method in linca nmf-et mca; do
    style=linear
    [ "$method" = linca ] && style=signed
    [ "$method" = mca ] && style=max
    expect 0 simulate bars --style $style --noise 1 --samples 400 --seed 3 -o bars.npy \
        --truth fields.npy -q
    expect 0 fit $method bars.npy -k 10 --seed 1 -o bars.h5
    says "next: rarebit modules bars.h5 bars.npy -o modules.tsv"
    expect 0 modules bars.h5 bars.npy -o bars.tsv
    says "rule active, since codes are probabilities of binary causes"
    awk -F '\t' '
        NR > 1 && $4 == "feature" { count[$2]++; row[$2, int($6 / 5)] = 1; column[$2, $6 % 5] = 1 }
        END { for (u = 0; u < 10; u++) {
                  rows = columns = 0
                  for (i = 0; i < 5; i++) { rows += (u, i) in row; columns += (u, i) in column }
                  if (count[u] != 5 || (rows != 1 && columns != 1)) exit 1 } }' bars.tsv ||
        fail "$method: modules that are no bars: $(grep feature bars.tsv)"
    expect 0 encode bars.h5 bars.npy -o codes.tsv -q
    active=$(awk 'NR > 1 { for (u = 1; u <= NF; u++) n += $u > 0.5 } END { print n }' codes.tsv)
    [ "$(grep -c '	sample	' bars.tsv)" = "$active" ] || fail "$method: not $active samples in modules"
    expect 0 plot modules bars.h5 bars.npy -o bars.png -q
done
refuses "nothing for a model of mca" encode m.h5 Y.npy --estep-tolerance 1e-3 -o codes.npy -q

# What no fit of the method can have is not offered.
for method in mca linca nmf-et; do
    for option in "batch-size 10" keep-order "accelerate squarem"; do
        # shellcheck disable=SC2086 # words
        refuses "has no option --${option%% *}" fit $method Y.npy -k 3 --$option -o none.h5
    done
    expect 0 help fit $method --all
    ! grep -q 'batch-size\|1e+150\|default true' out || fail "$command: $(cat out)"
done

refuses "not negative" fit linca Y.npy -k 10 --selection bound -o m.h5 -q
refuses "temperature" fit mca Y.npy -k 10 --temperature 1:13 -o m.h5 -q
refuses "init-mean" fit mca Y.npy -k 10 --init-mean 3 -o m.h5 -q

# What would do nothing is refused.
refuses "learn-prior" fit mca Y.npy -k 10 --count 2 --learn-prior -o none.h5 -q
refuses "prior does nothing" fit mca Y.npy -k 10 --count 2 --prior 0.2 -o none.h5 -q
refuses "max-active does nothing" fit mca Y.npy -k 10 --count 2 --max-active 4 -o none.h5 -q
refuses "candidates does nothing" fit mca Y.npy -k 10 --exact --candidates 5 -o none.h5 -q
refuses "singletons does nothing" fit mca Y.npy -k 10 --exact --singletons yes -o none.h5 -q
refuses "selection does nothing" fit mca Y.npy -k 10 --exact --selection bound -o none.h5 -q
for option in "--sigma 2" --learn-sigma; do
    # shellcheck disable=SC2086 # words
    refuses "has no sigma" fit mca Y.npy -k 10 --noise poisson $option -o none.h5 -q
done
refuses "weight-noise must be" fit mca Y.npy -k 10 --weight-noise -0.5 -o none.h5 -q
refuses "init-sd must be" fit mca Y.npy -k 10 --init-sd -0.5 -o none.h5 -q
refuses "init-mean is outside" fit mca Y.npy -k 10 --init-mean -5 --init-sd 1 -o none.h5 -q
expect 0 fit linca Y.npy -k 10 --init-mean -5 --init-sd 1 --iterations 2 -o m.h5 -q

# As printed but for what is given: another selection gives another fit.
for selection in "" bound joint; do
    expect 0 fit mca Y.npy -k 10 --as-printed ${selection:+--selection $selection} --iterations 20 \
        --seed 1 -o m.h5 -q
    expect 0 evaluate m.h5 Y.npy --json -q
    sed 's/, "provenance": .*//' out >"printed$selection" # which names the command
done
same printed printedbound
! cmp -s printed printedjoint || fail "--selection does nothing beside --as-printed"

# A warm start takes a sigma that is given, and keeps it.
expect 0 fit mca Y.npy -k 10 --sigma 2 --iterations 30 --seed 1 -o m.h5 -q
expect 0 fit mca Y.npy -k 10 --init m.h5 --sigma 4 --iterations 3 --log-json log.json -o warm.h5 -q
[ "$(grep -c '"sigma": 4,' log.json)" = 3 ] || fail "sigma is not 4: $(cat log.json)"

# What was learned is said; so is that a fit had no time to cool.
expect 0 fit mca Y.npy -k 10 --learn-prior --seed 1 --log-json log.json -o m.h5
says "$(tail -1 log.json | awk '{ match($0, /"sigma": [0-9.]*/); sigma = substr($0, RSTART + 9, RLENGTH - 9)
    match($0, /"prior": [0-9.]*/); prior = substr($0, RSTART + 9, RLENGTH - 9)
    printf "sigma %.3g, prior %.3g (%.3g causes per sample)", sigma, prior, 10 * prior }')"
printf '%s\n' 1,2,3 3,1,2 0,4,1 >counts.csv
expect 0 fit mca counts.csv -k 3 --count 2 --noise poisson --iterations 2 --seed 1 -o m.h5
says "exactly 2 causes per sample"
! grep -q sigma err || fail "Poisson noise has no sigma: $(cat err)"
expect 0 fit mca Y.npy -k 10 --iterations 1000000 --max-time 0.2s --seed 1 -o m.h5 -q
says "before the end temperature, 1.05"
one_line

# Samples that no cause explains: table and JSON have the same numbers, 0 and 1 among them.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo 0,0,0,0; done >zero.csv
expect 0 fit mca zero.csv -k 3 --seed 1 -o m.h5 -q
expect 0 evaluate m.h5 zero.csv --details -q
cp out table
expect 0 evaluate m.h5 zero.csv --json -q
[ "$(number causes_used <out)" = 0 ] || fail "causes used: $(cat out)"
for key in causes_used samples_used quality truncation candidate_hits exact_samples; do
    [ "$(sed -n "s/^$(echo $key | tr _ ' ') *\([^ ]*\) .*/\1/p" table)" = "$(number $key <out)" ] ||
        fail "$key differs: $(cat table out)"
done

# All states looked at: rounding takes no divergence below 0 and no quality above 1.
expect 0 fit mca Y.npy -k 5 --exact --iterations 20 --seed 1 --log-json log.json -o m.h5 -q
! grep -q '"truncation": -' log.json || fail "a divergence below 0: $(cat log.json)"
expect 0 evaluate m.h5 Y.npy --json -q
holds "$(number truncation <out) >= 0 && $(number quality <out) <= 1"
finish
