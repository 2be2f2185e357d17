# modules and plot: files by suffix, agreement with the truth, pictures.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D7 --seed 1 -o X.npy --truth truth.json -q
expect 0 fit rfn X.npy -k 10 --preset paper --iterations 100 --seed 1 -o model.h5 -q

expect 0 modules model.h5 X.npy --best 5
tells "information"
grep -q '^unit  *information' out || fail "modules: units do not come first: $(head -n 1 out)"
says "rule nonzero, since no code is negative"
[ "$(wc -l <out)" -eq 6 ] || fail "$command: not five modules: $(cat out)"
expect 0 modules model.h5 X.npy -o modules.tsv --best 5
silent
says "5 modules in modules.tsv"
exists modules.tsv
expect 0 modules model.h5 X.npy -o modules.json --best 5 -q
grep -q '"modules"' modules.json || fail "modules.json is none"
expect 0 modules model.h5 X.npy -o modules.gmt --best 5 -q
[ "$(wc -l <modules.gmt)" -ge 5 ] || fail "modules.gmt has fewer than five lines"
expect 0 modules model.h5 X.npy -o modules.txt --format gmt --best 5 -q
same modules.txt modules.gmt
expect 0 modules model.h5 X.npy --json --best 5 -q
lines() { # the last one names the command
    sed '$d' "$1" >"$1.lines"
}
tail -n 1 out | grep -q '^"provenance":{.*}}$' || fail "$command: $(tail -n 1 out)"
lines out
lines modules.json
same out.lines modules.json.lines
head -n 1 out | grep -qF '{"rule":"nonzero","modules":[' || fail "JSON has no rule: $(head -n 1 out)"
for rule in nonzero fabia test top:10 mass:0.9; do
    expect 0 modules model.h5 X.npy --rule $rule -o "rule.tsv" -q
    exists rule.tsv
done
refuses "give --rule test" modules model.h5 X.npy --rule fabia --level 0.2 -q
refuses "give --rule fabia" modules model.h5 X.npy --rule test --sample-threshold 0.8 -q
refuses "level" modules model.h5 X.npy --rule test --level 0.6 -q
expect 0 modules model.h5 X.npy --rule test --threads 1 -o one.tsv -q
expect 0 modules model.h5 X.npy --rule test --threads 3 -o three.tsv -q
same one.tsv three.tsv
expect 0 modules model.h5 X.npy --rule test --level 0.01 -o strict.tsv -q
[ "$(wc -l <strict.tsv)" -lt "$(wc -l <one.tsv)" ] || fail "a smaller level admits as much"
refuses "rule 'active' needs codes that are probabilities" modules model.h5 X.npy --rule active -q
# The rule follows the model: sparse loadings take the test, also through the preset; a threshold the
# rule that has it, and so do few features.
for options in "--sparse-loadings 1.5" "--preset biclustering"; do
    # shellcheck disable=SC2086 # words
    expect 0 fit rfn X.npy -k 4 $options --iterations 60 --restarts 1 --seed 1 -o sparse.h5 -q
    expect 0 modules sparse.h5 X.npy -o sparse.json
    says "rule test, since the loadings are sparse"
    expect 0 modules sparse.h5 X.npy -o test.json --rule test -q
    lines sparse.json
    lines test.json
    same sparse.json.lines test.json.lines
    expect 0 modules sparse.h5 X.npy --truth truth.json --json -q
    tells '"rule": "test"'
    expect 0 modules sparse.h5 X.npy --sample-threshold 0.6 -o threshold.json
    says "rule fabia, since the loadings are sparse and a threshold is given"
done
expect 0 simulate biclusters --features 24 --seed 1 -o few.npy -q
expect 0 fit rfn few.npy -k 4 --iterations 20 --seed 1 -o few.h5 -q
expect 0 modules few.h5 few.npy -o few.json
says "rule fabia, since the loadings are sparse and there are few features"
expect 0 simulate biclusters --features 25 --seed 1 -o enough.npy -q
expect 0 fit rfn enough.npy -k 4 --iterations 20 --seed 1 -o enough.h5 -q
expect 0 modules enough.h5 enough.npy -o enough.json
says "rule test, since the loadings are sparse"
expect 0 modules model.h5 X.npy --rule top:3 --json --best 1 -q
refuses "most" modules model.h5 X.npy --rule most -q

# Against the truth; what is compared with itself agrees in full.
expect 0 modules model.h5 X.npy --best 10 --truth truth.json --json
score=$(number consensus_score <out)
holds "$score >= 0 && $score <= 1"
[ "$(number modules <out)" = 10 ] || fail "modules: $(cat out)"
[ "$(number true_modules <out)" = 20 ] || fail "true modules: $(cat out)"
tells '"overlaps": ['
expect 0 modules model.h5 X.npy --best 5 --truth modules.json --json
[ "$(number consensus_score <out)" = 1 ] || fail "modules do not agree with themselves: $(cat out)"
tells '"overlaps": [1, 1, 1, 1, 1]'
expect 0 modules model.h5 X.npy --best 5 --truth modules.json
tells "consensus score  1"

breaks "missing.json" modules model.h5 X.npy --truth missing.json --json -q
echo '{"modules": [' >cut.json
breaks "cut.json" modules model.h5 X.npy --truth cut.json --json -q
breaks "there is no folder" modules model.h5 X.npy -o nowhere/m.tsv -q

# A truth of other data is refused, whether it has more samples or more features.
echo '{"modules": [{"samples": [0, 100], "features": [1]}]}' >large.json
breaks "module 0 of the truth holds sample 100" modules model.h5 X.npy --truth large.json -q
echo '{"modules": [{"samples": [0], "features": [100]}]}' >large.json
breaks "module 0 of the truth holds feature 100" modules model.h5 X.npy --truth large.json -q

# A unit is called by its number, whatever data it is looked at in: the sets of half the samples have
# the names of those of all.
expect 0 convert X.npy -o X.tsv -q
head -n 51 X.tsv >half.tsv
expect 0 modules model.h5 X.tsv -o all.gmt -q
expect 0 modules model.h5 half.tsv -o half.gmt -q
units='^unit[0-9]*_\(up\|down\)	rank [0-9]*, information'
! grep -v "$units" all.gmt || fail "all.gmt: sets without a unit"
[ "$(cut -f 2 all.gmt)" != "$(cut -f 2 half.gmt)" ] || fail "both data have the same ranks: no test"
for unit in 0 1 2 3; do
    for name in all half; do # the first features of a set are the same ones
        grep "^unit${unit}_up	" $name.gmt | cut -f 3-5 | tr '\t' '\n' | sort >$name.set
    done
    [ "$(comm -12 all.set half.set | wc -l)" -ge 2 ] || fail "unit $unit is another one in half.gmt"
done

# One number for one thing: unit and column are the same in the table and in every file, and
# the column is that of the data, also where the model uses a selection of them.
awk 'BEGIN { for (i = 0; i < 60; i++) { line = "";
    for (k = 0; k < 30; k++) {
        wide = k == 7 || k == 11 || k == 23;
        line = line (k ? "\t" : "") (wide && i % 3 == 0 ? (k == 23 ? -9 : 9) + i / 60 : (i * 7 + k * 5) % 11 / 10)
    }
    print line } }' >plain.tsv
expect 0 fit rfn plain.tsv -k 1 --top-variance 3 --seed 1 -o few.h5 -q
expect 0 modules few.h5 plain.tsv -q --rule top:5
grep -Eq '^0 +[0-9.]+ .* (7 11|11 7) +23$' out || fail "modules: not the columns of the data: $(cat out)"
expect 0 modules few.h5 plain.tsv -q --rule top:5 -o few.tsv
[ "$(awk '$4 == "feature" { print $1, $2, $5, $6 }' few.tsv | sort | tr '\n' ' ')" = \
    "0 0 11 11 0 0 23 23 0 0 7 7 " ] || fail "few.tsv: $(grep feature few.tsv)"
expect 0 modules few.h5 plain.tsv -q --rule top:5 -o few.gmt
grep -Eq '^unit0_down	rank 0, .*	23$' few.gmt || fail "few.gmt: $(cat few.gmt)"
expect 0 modules few.h5 plain.tsv -q --rule top:5 --json
[ "$(sed -n 's/.*"features":\[\([0-9,]*\).*/\1/p' out | tr , '\n' | sort | tr '\n' ' ')" = "11 23 7 " ] ||
    fail "JSON: $(cat out)"
echo "{\"modules\": [{\"samples\": [$(seq -s , 0 3 57)], \"features\": [7, 11, 23]}]}" >columns.json
expect 0 modules few.h5 plain.tsv -q --rule top:20 --truth columns.json --json
holds "$(number consensus_score <out) == 1"
expect 0 reconstruct few.h5 plain.tsv -q -o rebuilt.tsv
[ "$(head -n 1 rebuilt.tsv | tr -d '"')" = "7	11	23" ] || fail "rebuilt.tsv: $(head -n 1 rebuilt.tsv)"
expect 0 plot modules few.h5 plain.tsv -q --rule top:5 -o few.svg

# Pictures.
expect 0 plot history model.h5 -o history.png
silent
says "plot in history.png"
expect 0 plot history model.h5 X.npy -o history.svg -q
expect 0 plot codes model.h5 X.npy -o codes.png -q
expect 0 plot filters model.h5 --shape 10x10 -o filters.png -q
expect 0 plot modules model.h5 X.npy --best 5 -o modules.svg -q
for picture in history codes filters; do
    [ "$(head -c 4 $picture.png | tail -c 3)" = PNG ] || fail "$picture.png is no PNG"
done
grep -q "<svg" history.svg || fail "history.svg is no SVG"
grep -q "<svg" modules.svg || fail "modules.svg is no SVG"
rm -f bad.png
refuses "shape" plot filters model.h5 -o bad.png -q
expect 2 plot filters model.h5 --shape 7x7 -o bad.png -q
one_line
breaks "there is no folder" plot history model.h5 -o nowhere/h.png
[ ! -e bad.png ] || fail "half a picture was left"
# A suffix must say the format, unless --format does.
for name in mods.h5ad mods.csv mods.json.gz mods; do
    refuses "'$name': use the suffix .tsv, .json or .gmt, or give --format" \
        modules model.h5 X.npy -q -o $name
    [ ! -e $name ] || fail "$command: $name was written"
done
expect 0 modules model.h5 X.npy -q -o mods.txt --format tsv
exists mods.txt
expect 0 modules model.h5 X.npy -q -o /dev/null
# Codes with signs are read one side at a time: planted modules are found by the rule that is taken.
expect 0 simulate biclusters --generator constant --seed 901 -o signs.npy --truth signs.json -q
expect 0 fit ica signs.npy -k 10 --seed 1 -o signs.h5 -q
expect 0 modules signs.h5 signs.npy --best 10 --truth signs.json --json -q
tells '"rule": "test"'
holds "$(number consensus_score <out) >= 0.8" # 0.27 with both signs
# The other side of a unit is a module where it stands by itself.
sh "$SOURCE/tests/cli/lib/planted.sh" both >both.tsv
expect 0 fit ica both.tsv -k 6 --seed 1 -o both.h5 -q
expect 0 modules both.h5 both.tsv -q
[ "$(grep -cE '^[0-3]-? ' out)" = 8 ] || fail "not both sides of four units: $(cat out)"
! grep -qE '^[45]- ' out || fail "the other side of noise: $(cat out)"
sed 1d out | awk '{ print $3 }' | sort -c -gr || fail "not ordered by the score: $(cat out)"
expect 0 modules both.h5 both.tsv -o both.gmt -q
grep -q '^unit[0-3]-_up	' both.gmt || fail "both.gmt: $(cut -f 1 both.gmt)"
expect 0 modules both.h5 both.tsv --json -q
[ "$(grep -c '"role":"other side"' out)" = 4 ] || fail "JSON: $(grep -o '"unit":[^s]*' out)"
# What centring leaves of strong modules is background: last, not counted, not significant.
sh "$SOURCE/tests/cli/lib/planted.sh" strong >strong.tsv
expect 0 fit rfn strong.tsv -k 10 --seed 1 --centre mean -o strong.h5 -q
expect 0 modules strong.h5 strong.tsv -o strong.json
says "3 modules, and 1 spare or background in strong.json"
expect 0 modules strong.h5 strong.tsv -q
[ "$(sed 1d out | grep -n '(background)' | cut -d : -f 1 | tr '\n' ' ')" = "4 " ] || fail "$command: $(cat out)"
expect 0 modules strong.h5 strong.tsv --permutations 19 --significant 0.05 -q
[ "$(wc -l <out)" = 4 ] || fail "background is significant: $(cat out)"
expect 0 modules strong.h5 strong.tsv --truth strong.json --json -q
[ "$(number modules <out)" = 3 ] || fail "background is counted: $(cat out)"
expect 0 plot modules strong.h5 strong.tsv -o strong.svg -q
# Of a class that has just the samples of background it is not the name, but the best unit, and said so.
/usr/bin/env python3 -c 'import json; d = json.load(open("strong.json"))
rest = {i for m in d["modules"] if m["role"] == "background" for i in m["samples"]}
print("class", *("rest" if i in rest else "other" for i in range(100)), sep="\n")' >rest.txt
expect 0 modules strong.h5 strong.tsv --labels rest.txt -q
grep -qE '^[0-9]+ \(background\) .* -$' out && grep -qE '^[0-9]+ \(background\) .* rest$' out || fail "$command: $(cat out)"
# By the median there is none; units that tell no more than noise are spare, also by its p-value.
expect 0 fit rfn strong.tsv -k 10 --seed 1 -o median.h5
says "centred by the median, since few values of a feature are equal (0 %)"
expect 0 modules median.h5 strong.tsv --json -q
[ "$(grep -c '"role":"module"' out)" = 3 ] || fail "not three modules: $(grep -o '"role":"[a-z]*"' out)"
[ "$(grep -c '"role":"spare"' out)" -gt 0 ] || fail "none is spare: $(cat out)"
! grep -q '"role":"background"' out || fail "background by the median: $(cat out)"
expect 0 modules median.h5 strong.tsv --permutations 19 --significant 0.05 -q
[ "$(wc -l <out)" = 4 ] || fail "a spare unit is significant: $(cat out)"
# A module has the name of a class that it goes with, and no other.
awk 'BEGIN { print "class"; for (i = 0; i < 100; i++) print i < 12 ? "first" : i % 2 ? "odd" : "even" }' >classes.txt
expect 0 modules strong.h5 strong.tsv --labels classes.txt -q --best 3
[ "$(sed -n '2,4s/.* //p' out | sort | tr '\n' ' ')" = "- - first " ] || fail "$command: $(cat out)"
grep -q '^[0-9]* *12 *12 .* first$' out || fail "$command: $(cat out)"
[ "$(awk '/^best unit/ { second = 1 } second && $NF == "first" { print $4 }' out)" = 12 ] ||
    fail "overlap is another one in the second table: $(cat out)"
# Units with nearly the same codes are one module: the others are spare.
expect 0 simulate biclusters --generator constant --samples 1000 --features 120 --seed 1 -o twins.npy --truth twins.truth.json -q
expect 0 fit rfn twins.npy -k 20 --preset biclustering --iterations 100 --restarts 1 --seed 1 -o twins.h5 -q
expect 0 modules twins.h5 twins.npy --truth twins.truth.json
says "rule test, since the loadings are sparse"
awk '/consensus score/ { exit !($3 > 0.5) }' out || fail "twins cost a module its features: $(cat out)"
# A class that is less than a quarter of a module is not its name, however enriched.
expect 0 modules twins.h5 twins.npy -o twins.tsv -q
unit=$(sed -n '2p' twins.tsv | cut -f 2)
for some in 5:- 3:few; do
    awk -F '\t' -v some="${some%:*}" '$1 == "0" && $4 == "sample" && n++ % some == 0 { few[$6] }
        END { print "class"; for (i = 0; i < 1000; i++) print i in few ? "few" : "rest" }' twins.tsv >classes.txt
    expect 0 modules twins.h5 twins.npy --labels classes.txt -q
    awk -v unit="$unit" -v name="${some#*:}" '$1 == unit && $NF == name && $(NF - 1) < -2 { found = 1 }
        /^$/ { exit } END { exit !found }' out || fail "$command: $(cat out)"
done
finish
