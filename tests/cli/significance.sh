# modules --permutations: columns, what stays, parts.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --generator fabia --samples 60 --features 120 --noise 3 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 6 --iterations 80 --seed 1 -o m.h5 -q
expect 0 modules m.h5 X.npy --permutations 19 -q
grep -q '^unit  *information  *score  *p  *family-wise  *permuted  *FDR  *samples' out || fail "no columns: $(head -n 1 out)"
[ "$(awk 'NR == 2 { print $5 }' out)" = 0.0500 ] || fail "the first is not significant: $(cat out)"
expect 0 modules m.h5 X.npy --permutations 19
says "tested is whether a module is more than independent features (permuted) and more than correlated"
says "Not tested is whether samples depend on each other"
expect 0 modules m.h5 X.npy --permutations 19 --threads 3 -o all.tsv -q
expect 0 modules m.h5 X.npy --permutations 19 --threads 1 -o one.tsv -q
same all.tsv one.tsv
[ "$(head -n 1 all.tsv | cut -f 8-)" = "p	p_family	p_permuted	fdr	score	role" ] || fail "$(head -n 1 all.tsv)"
[ "$(awk -F '\t' 'NF != 13' all.tsv | wc -l)" -eq 0 ] || fail "columns differ: $(head -n 2 all.tsv)"
expect 0 modules m.h5 X.npy --permutations 19 --json -q
tells '"p_family":0.05'
tells '"tested":"tested is whether a module is more'
expect 0 modules m.h5 X.npy -o plain.tsv -q
[ "$(head -n 1 plain.tsv)" = "module	unit	information	kind	name	index	weight	score	role" ] || fail "plain.tsv"

# With other questions as well.
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 3 ? "a" : "b" }' >classes.txt
expect 0 modules m.h5 X.npy --permutations 19 --labels classes.txt -q
grep -q '^unit  *information  *score  *p  *family-wise' out || fail "no p-values beside classes: $(head -n 1 out)"
grep -q '^unit .* class$' out || fail "no classes: $(cat out)"
expect 0 modules m.h5 X.npy --permutations 19 --labels classes.txt --json -q
tells '"significance": [{"module": 0'

# Beside stability: both columns, and a sentence that says whether they agree.
for seed in 2 3; do
    expect 0 fit rfn X.npy -k 6 --iterations 80 --seed $seed -o m$seed.h5 -q
done
expect 0 consensus m.h5 m2.h5 m3.h5 --data X.npy --stability 0.2 -o c.h5 -q
breaks "a consensus of models that were there before" modules c.h5 X.npy --permutations 19 -q
expect 0 fit rfn X.npy -k 6 --iterations 40 --restarts 3 --consensus --stability 0.2 --seed 1 -o own.h5 -q
expect 0 modules own.h5 X.npy --permutations 19 --significant 0.05
says "modules have a family-wise p-value"
expect 0 modules c.h5 X.npy --permutations 19 --null encode
grep -q '^unit .* family-wise .* stability' out || fail "no columns: $(head -n 1 out)"
says "stability"
expect 0 modules c.h5 X.npy --permutations 1 --null encode # nothing is significant
says "a stability of 0.2 or more, but a family-wise p-value above 0.05: most fits find it"

# Only what is significant goes into any file.
expect 0 modules m.h5 X.npy --permutations 19 --significant 0.05 -o some.gmt
says "modules have a family-wise p-value of at most 0.05"
kept=$(awk -F '\t' 'NR > 1 && $9 <= 0.05 && $13 == "module" { print $2 }' all.tsv | sort -u | wc -l)
says "$kept modules in some.gmt"

# By the false discovery rate 19 permutations may tell of several units together alone.
expect 0 modules m.h5 X.npy --permutations 19 --significant 0.05 --error-rate fdr
says "of the 6 living units together; for a single one use --permutations 119"

# Parts for several machines, and the whole.
expect 0 modules m.h5 X.npy --permutations 19 --checkpoint j --part 1/2 -o part.tsv
says "this part is complete; the modules are"
[ ! -e part.tsv ] || fail "a part wrote modules"
expect 0 modules m.h5 X.npy --permutations 19 --checkpoint j --part 2/2 -o part.tsv -q
same all.tsv part.tsv

# The same of data with missing values.
awk 'BEGIN { srand(5); print "a,b,c,d,e,f"; for (i = 0; i < 60; i++) { z = rand() < 0.3; line = ""
    for (k = 0; k < 6; k++) line = line (k ? "," : "") (rand() < 0.15 ? "NA" : (k < 3) * 3 * z + rand()); print line } }' >holes.csv
expect 0 fit rfn holes.csv -k 2 --missing model --iterations 20 --seed 1 -o holes.h5 -q
expect 0 modules holes.h5 holes.csv --permutations 9 -o whole.tsv -q
expect 0 modules holes.h5 holes.csv --permutations 9 --checkpoint h --part 1/2 -o parts.tsv -q
expect 0 modules holes.h5 holes.csv --permutations 9 --checkpoint h --part 2/2 -o parts.tsv -q
same whole.tsv parts.tsv

# Where samples cannot be rotated, a sentence says what is tested then.
awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) { line = ""
    for (k = 0; k < 10; k++) line = line (k ? "," : "") int(6 * rand()); print line } }' >counts.csv
expect 0 fit nmf counts.csv -k 2 --iterations 20 --seed 1 -o nmf.h5 -q
expect 0 modules nmf.h5 counts.csv --permutations 3
says "the data are neither centred nor below 0, so that samples are not rotated: tested is only"

# Whole blocks: of one size, of all samples.
awk 'BEGIN { for (i = 0; i < 60; i++) print "family" int(i / 3) }' >families.txt
expect 0 modules m.h5 X.npy --permutations 19 --blocks families.txt -o blocks.tsv
says "blocks of samples permuted) and more than correlated normal ones (blocks rotated)"
! cmp -s all.tsv blocks.tsv || fail "blocks change nothing"
expect 0 modules m.h5 X.npy --permutations 19 --blocks families.txt --threads 3 -o again.tsv -q
same blocks.tsv again.tsv
awk 'BEGIN { for (i = 0; i < 60; i++) print i < 40 ? "a" : i < 50 ? "b" : i < 55 ? "c" : "d" }' >uneven.txt
breaks "block 'a' has 40 samples" modules m.h5 X.npy --permutations 19 --blocks uneven.txt -q
breaks "blocks need at least 4" modules m.h5 X.npy --permutations 19 --blocks classes.txt -q
refuses "--blocks does nothing without --permutations" modules m.h5 X.npy --blocks families.txt -q

refuses "--permutations" modules m.h5 X.npy --null encode -q
refuses "--significant is 0.05, but the smallest" modules m.h5 X.npy --permutations 10 --significant 0.05 -q
refuses "--permutations 19 or more" modules m.h5 X.npy --permutations 10 --significant 0.05 -q
refuses "without --checkpoint" modules m.h5 X.npy --permutations 10 --part 1/2 -q
expect 0 simulate biclusters --generator fabia --samples 60 --features 120 --seed 2 -o Y.npy -q
refuses "give --null encode" modules m.h5 Y.npy --permutations 10 -q
expect 0 modules m.h5 Y.npy --permutations 19 --null encode -q
finish
