# modules --gmt, --labels, --covariates: planted sets and groups are found, tables and JSON say the same,
# and what is wrong is told before anything is written.
. "$SOURCE/tests/cli/lib/lib.sh"

# 60 samples x 80 genes: g1 .. g10 are high in the samples of class T, g11 .. g20 low; the rest is noise.
awk 'BEGIN { OFS = "\t"; line = "sample"
    for (k = 1; k <= 80; k++) line = line OFS "g" k
    print line
    for (i = 1; i <= 60; i++) { line = "s" i
        for (k = 1; k <= 80; k++) {
            x = (i * 37 + k * 101 + i * k * 13) % 97 / 97
            on = i <= 20 ? 2 + i / 10 : 0
            line = line OFS x + (k <= 10 ? on : k <= 20 ? -on : 0)
        }
        print line } }' >x.tsv
awk 'BEGIN { OFS = "\t"; print "sample", "class"; for (i = 1; i <= 60; i++) print "s" i, i <= 20 ? "T" : "B" }' >labels.tsv
awk 'BEGIN { OFS = "\t"; print "sample", "dose", "age", "batch", "id"
    for (i = 60; i >= 1; i--) print "s" i, i <= 20 ? i : 0, i % 7 ? i * 29 % 31 : "NA", i <= 20 ? 1 : 2 + i % 2, "p" i }' >covariates.tsv
set_of() { # name, first, last
    awk -v name="$1" -v first="$2" -v last="$3" 'BEGIN { line = name "\tna"
        for (k = first; k <= last; k++) line = line "\tg" k; print line }'
}
{ set_of UP 1 10; set_of DOWN 11 20; set_of OTHER 40 50; set_of FEW 1 3; } >sets.gmt
{ set_of MIXED 6 30; set_of MANY 1 79; } | gzip >more.gmt.gz
expect 0 fit rfn x.tsv -k 2 --seed 1 -o m.h5 -q

# The planted sets come first, with their signs; the set of other genes does not.
expect 0 modules m.h5 x.tsv --gmt sets.gmt
says "3 of 4 sets tested, against 80 features in use; left out are 1 with fewer of them than 5, 0 with more than 500"
unit=$(awk '$2 == "up" && $9 == "UP" { print $1 }' out) # the other unit may be its opposite
grep -Eq "^$unit +up +10 +10 .* UP +g" out || fail "UP is not found: $(cat out)"
grep -Eq "^$unit +down +10 +10 .* DOWN +g" out || fail "DOWN is not found: $(cat out)"
grep -Eq "^$unit +rank +10 .* 1\.000 .* UP$" out || fail "no ranks: $(cat out)"
! grep -q OTHER out || fail "OTHER is found: $(cat out)"
# Any number of files; sizes.
expect 0 modules m.h5 x.tsv --best 1 --gmt sets.gmt,more.gmt.gz --gmt-max 30 --gmt-min 3
says "5 of 6 sets tested, against 80 features in use; left out are 0 with fewer of them than 3, 1 with more than 30"
tells MIXED
# The file has every set with a feature in common; JSON the same rows.
expect 0 modules m.h5 x.tsv --gmt sets.gmt --gmt-output sets.tsv
silent
exists sets.tsv
[ "$(head -n 1 sets.tsv | cut -f 1-7 | tr '\t' ' ')" = "module unit set test set_size size overlap" ] ||
    fail "sets.tsv: $(head -n 1 sets.tsv)"
expect 0 modules m.h5 x.tsv --gmt sets.gmt --gmt-output sets.json --json -q
[ "$(grep -c '"module"' sets.json)" = "$(($(wc -l <sets.tsv) - 1))" ] || fail "rows: $(cat sets.json)"
tells '"overlap_tests": '
tells "$(sed -n '2s/,$//p' sets.json)"
expect 0 modules m.h5 x.tsv --gmt sets.gmt --gmt-output - -q
same out sets.tsv
awk -F '\t' -v unit="$unit" '$2 == unit && $3 == "UP" && $4 == "up" { found = $13 < 0.01 && $15 ~ /^g[0-9]+(;g[0-9]+)+$/ }
    END { exit !found }' sets.tsv || fail "no small FDR, or no genes: $(cat sets.tsv)"

# The same set twice, its features in another order, counts once; of the same name, but others, twice.
set_of UP 1 10 | awk -F '\t' -v OFS='\t' '{ last = $12; $12 = $3; $3 = last; print }' >again.gmt
set_of UP 2 11 >other.gmt
expect 0 modules m.h5 x.tsv --gmt sets.gmt,again.gmt --gmt-output once.tsv
says "1 of the sets is given more than once, and tested once"
same once.tsv sets.tsv
expect 0 modules m.h5 x.tsv --gmt sets.gmt,other.gmt,again.gmt --gmt-output twice.tsv
says "4 of 6 sets tested"

# `--best` shows fewer modules, but the family of the tests is the same: so are their rows.
expect 0 modules m.h5 x.tsv --best 1 --gmt sets.gmt --gmt-output best.tsv -q
awk -F '\t' 'NR == 1 || $1 == 0' sets.tsv >first.tsv
same best.tsv first.tsv
expect 0 modules m.h5 x.tsv --labels labels.tsv --json -q
sed -n 's/.*"classes": \[\({[^}]*}\).*/\1/p' out >first.json
expect 0 modules m.h5 x.tsv --best 1 --labels labels.tsv --json -q
sed -n 's/.*"classes": \[\({[^}]*}\).*/\1/p' out >best.json
[ -s best.json ] && [ "$(grep -o '"class":' best.json | wc -l)" = 1 ] || fail "$command: $(cat out)"
same best.json first.json

# Names that do not match are told; none at all is an error.
sed 's/g\([0-9]\)/ENSG\1/g' sets.gmt >ids.gmt
breaks "no name in the sets is one of the model's 80 features: the first feature is 'g1', the first name in the sets 'ENSG1'" \
    modules m.h5 x.tsv --gmt ids.gmt -q
printf 'g1\tg2\tg3\n' | sed 's/^/SOME\tna\t/' >few.gmt
cat ids.gmt >>few.gmt
expect 0 modules m.h5 x.tsv --gmt few.gmt --gmt-min 3
says "warning: only 3 of the model's 80 features are in a set"
breaks "no set is tested: 4 have fewer than 12 of the features in use" modules m.h5 x.tsv --gmt sets.gmt --gmt-min 12 -q
printf 'T\nB\n' >labels.txt
breaks "labels.txt, row 1: the line has one column" modules m.h5 x.tsv --gmt labels.txt -q
breaks "cannot read not-there.gmt" modules m.h5 x.tsv --gmt sets.gmt,not-there.gmt -q
expect 0 convert x.tsv -o x.npy -q
expect 0 fit rfn x.npy -k 2 --seed 1 --iterations 5 -o nameless.h5 -q
breaks "the model has no feature names" modules nameless.h5 x.npy --gmt sets.gmt -q

# Classes: the table per module has the AUC, and every unit and class is in the file.
expect 0 modules m.h5 x.tsv --labels labels.tsv
grep -Eq "^$unit +[0-9]+ +20 .* 1\.0000 .* T$" out || fail "no AUC in a module: $(cat out)"
grep -Eq "^$unit +20 +1\.0000 +20 .* T$" out || fail "no best unit: $(cat out)"
expect 0 modules m.h5 x.tsv --labels labels.tsv --labels-output classes.tsv -q
silent
[ "$(wc -l <classes.tsv)" = 5 ] || fail "not two units x two classes: $(cat classes.tsv)"
expect 0 modules m.h5 x.tsv --labels labels.tsv --json -q
tells '"unit_classes": [{"unit": 0, "class": "B", "class_size": 40, "auc": '

# One class alone has nothing to be told from: that is said, and nothing is tested or listed.
awk 'BEGIN { OFS = "\t" } NR > 1 { $2 = "T" } 1' labels.tsv >one.tsv
expect 0 modules m.h5 x.tsv --labels one.tsv
says "warning: all 60 labelled samples are of one class, 'T': there is nothing to test"
[ ! -s out ] || fail "$command lists: $(cat out)"
expect 0 modules m.h5 x.tsv --labels one.tsv --json -q
tells '"labelled_samples": 60, "classes": [], "best_units": [], "unit_classes": []'
expect 0 report m.h5 x.tsv --labels one.tsv -o one.html -q
! grep -q '"classes": *{"file"' one.html || fail "the page lists classes"
# What is shown as 0 has no sign: with this class the logarithm of a p-value is -0.04.
awk 'BEGIN { OFS = "\t" } NR > 1 { i = NR - 1; $2 = i <= 3 || (i > 20 && i <= 31) ? "T" : "B" } 1' labels.tsv >weak.tsv
expect 0 modules m.h5 x.tsv --labels weak.tsv --json -q
tells '"log10_p_value_adjusted": -0.039'
expect 0 modules m.h5 x.tsv --labels weak.tsv -q
! grep -q -e '-0\.0 ' out || fail "0 has a sign: $(cat out)"

# Covariates: numbers, groups, and numbers that are groups.
expect 0 modules m.h5 x.tsv --covariates covariates.tsv
says "column 'id' of covariates.tsv is left out: every value is unique"
says "column 'batch' of covariates.tsv has 3 different whole numbers"
grep -Eq "^dose +rho +$unit " out || fail "dose: $(cat out)"
grep -Eq "^age .* 52$" out || fail "missing ages are not left out: $(cat out)"
expect 0 modules m.h5 x.tsv --covariates covariates.tsv --covariate-groups batch --covariates-output c.tsv -q
silent
awk -F '\t' -v unit="$unit" '$1 == unit && $2 == "batch" { found = $3 == "kruskal_wallis_h" && $5 == 3 && $9 < 0.01 && $11 > 0.5 }
    END { exit !found }' c.tsv || fail "the batch is not found: $(cat c.tsv)"
expect 0 modules m.h5 x.tsv --covariates covariates.tsv --json -q
tells '"covariates": [{"name": "dose", "missing": 0, "groups": null}, {"name": "age", "missing": 8, "groups": null}'
# Shares of the variance that are shown as 0 have no sign.
awk 'BEGIN { OFS = "\t"; print "sample", "a", "b", "c"
    for (i = 1; i <= 60; i++) print "s" i, (i * i * 15 + 7 * i) % 101, (i * i * 23 + 7 * i) % 101, (i * i * 36 + 7 * i) % 101 }' >chance.tsv
expect 0 modules m.h5 x.tsv --covariates chance.tsv -q
! grep -q -e '-0\.0 ' out || fail "0 has a sign: $(cat out)"
# Some of its columns, by name.
expect 0 modules m.h5 x.tsv --covariates covariates.tsv:batch,dose --covariate-groups batch --covariates-output some.tsv -q
[ "$(cut -f 2 some.tsv | sort -u | tr '\n' ' ')" = "batch covariate dose " ] || fail "$command: $(cat some.tsv)"
for column in batch dose; do
    awk -v c=$column -F '\t' '$2 == c { print $1, $2, $5 }' c.tsv >all.out
    awk -v c=$column -F '\t' '$2 == c { print $1, $2, $5 }' some.tsv >some.out
    same all.out some.out
done
refuses "covariates.tsv has no column 'weight'; its columns are: sample, dose, age, batch, id" \
    modules m.h5 x.tsv --covariates covariates.tsv:batch,weight -q
refuses "would overwrite 'covariates.tsv:batch'" modules m.h5 x.tsv --covariates covariates.tsv:batch --covariates-output covariates.tsv
cut -f 1,4 covariates.tsv >two.tsv
refuses "--covariate-groups names 'plate', but there is no such column in two.tsv" \
    modules m.h5 x.tsv --covariates two.tsv --covariate-groups batch,plate -q
for wrong in "1s/age/dose/ row 1, column 3: a second column is called 'dose'" '1s/age// row 1, column 3: the column has no name' \
    '5s/	/@	/ row 5: the line holds a 0 byte' "s/^s3	3/s3	-inf/ row 59, column 2: '-inf' of 'dose' is infinite; if it names a group, say so with --covariate-groups"; do
    sed "${wrong%% *}" covariates.tsv | tr @ '\000' >bad.tsv
    breaks "${wrong#* }" modules m.h5 x.tsv --covariates bad.tsv -q
done

# All at once, beside the modules.
expect 0 modules m.h5 x.tsv --gmt sets.gmt --labels labels.tsv --covariates covariates.tsv -o all.gmt \
    --gmt-output a.tsv --labels-output b.json --covariates-output c.json -q
silent
same a.tsv sets.tsv
for file in all.gmt a.tsv b.json c.json; do exists $file; done
for file in b.json c.json; do
    grep -q '"rows": \[' $file && grep -q '"provenance": {.*"command_line".*"data_checksum".*"seed"' $file ||
        fail "$file: $(tail -n 1 $file)"
done

# What does nothing is refused, and so are names that say no format; nothing is written where a part fails.
refuses "--gmt-output does nothing without --gmt" modules m.h5 x.tsv --gmt-output e.tsv
refuses "--gmt-min does nothing without --gmt" modules m.h5 x.tsv --gmt-min 3
refuses "--labels-output does nothing without --labels" modules m.h5 x.tsv --labels-output e.tsv
refuses "--covariate-groups does nothing without --covariates" modules m.h5 x.tsv --covariate-groups batch
refuses "'e.csv': its suffix must be .tsv or .json" modules m.h5 x.tsv --gmt sets.gmt --gmt-output e.csv
refuses "would overwrite 'sets.gmt,more.gmt.gz'" modules m.h5 x.tsv --gmt sets.gmt,more.gmt.gz -o sets.gmt
refuses "would overwrite 'covariates.tsv'" modules m.h5 x.tsv --covariates covariates.tsv --covariates-output covariates.tsv
refuses "would write to the same file" modules m.h5 x.tsv --gmt sets.gmt --gmt-output e.tsv -o e.tsv
refuses "--gmt-min is 6, but must be at most --gmt-max, 5" modules m.h5 x.tsv --gmt sets.gmt --gmt-min 6 --gmt-max 5 -q
refuses "x.npy is not an AnnData file and has no columns of observations; give a table that has them" modules m.h5 x.npy --gmt sets.gmt \
    --gmt-output e.tsv --covariates obs:louvain -q
[ ! -e e.tsv ] && [ ! -e e.csv ] || fail "e.tsv or e.csv was written"
refuses "--gmt names no file" modules m.h5 x.tsv --gmt '' -q
finish
