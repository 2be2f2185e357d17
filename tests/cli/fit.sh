# fit: what it says, what it writes, what it records; and every way in which it can fail.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy
expect 0 fit rfn X.npy -k 5 --iterations 20 --eta 0.1 --normalize sd --seed 1 -o model.h5 \
    --log-json log.jsonl
silent
says "100 samples x 100 features"
says "seed 1"
says "20 iterations"
says "model in model.h5"
exists model.h5
only X.npy model.h5 log.jsonl

# The log: one object an iteration, with the four keys; the objective is finite.
[ "$(wc -l <log.jsonl)" -eq 20 ] || fail "the log has not 20 lines"
lines=$(grep -c '^{"iteration": [0-9]*, "objective": -\{0,1\}[0-9.e+-]*, "estep_objective": [0-9.e+-]*, "seconds": [0-9.e+-]*}$' log.jsonl)
[ "$lines" -eq 20 ] || fail "the log has lines of another form: $(head -n 1 log.jsonl)"
[ "$(tail -n 1 log.jsonl | number iteration)" = 20 ] || fail "the last line is not iteration 20"

# The phases of a fit: a table, or JSON; the model has the same bits, but for its times.
expect 0 fit rfn X.npy -k 5 --iterations 20 --eta 0.1 --normalize sd --seed 1 -o timed.h5 --profile
for phase in reading preprocessing "products of the E-step" M-step "last E-step" "check of codes" storing; do
    says "$phase"
done
expect 0 fit rfn X.npy -k 5 --iterations 20 --seed 1 -o timed.h5 -q --profile --json
tells '"phase": "products of the E-step", "seconds": '
python3 -c 'import json
rows = {row["phase"]: row for row in json.load(open("out"))["phases"]}
# V B and its moments: 20 iterations of 100 x 100, 5 units
assert rows["products of the E-step"]["flops"] >= 20 * 2 * 2 * 100 * 100 * 5, rows
assert rows["reading"]["bytes"] >= 100 * 100 * 4, rows' || fail "the phases are not what a fit does"
refuses "--json does nothing without --profile" fit rfn X.npy -k 5 --json -o no.h5
refuses "--profile cannot be used with --consensus" fit rfn X.npy -k 5 --profile --consensus -o no.h5
rm timed.h5

# What the model records.
expect 0 info model.h5 --json
for text in '"kind": "model"' '"method": "rfn"' '"units": 5' '"features": 100' '"iterations": 20' \
    '"eta": "0.1"' '"normalize": "sd"' '"seed": "1"' '"loadings": [100, 5]'; do
    tells "$text"
done
tells 'rarebit fit rfn X.npy -k 5 --iterations 20 --eta 0.1 --normalize sd --seed 1 -o model.h5'
expect 0 info model.h5
tells "command_line"
[ "$(grep -c '^units ' out)" = 1 ] || fail "$command: units $(grep -c '^units ' out) times"
[ "$(grep -c '^iterations' out)" = 1 ] || fail "$command: $(grep '^iterations' out)"
grep -qx 'iterations  *20 of 20' out || fail "$command: $(grep '^iterations' out)"
head -c 3000 model.h5 >cut.h5
breaks "cut.h5" info cut.h5
[ "$(grep -o 'cut.h5: is not an HDF5' err | wc -l)" = 1 ] || fail "$command: says it twice: $(cat err)"
rm cut.h5

# The same seed gives the same codes; without one, a seed is drawn, said and stored.
expect 0 fit rfn X.npy -k5 --iterations=20 --eta=0.1 --normalize=sd --seed=1 -o again.h5 --quiet
[ ! -s err ] || fail "$command: --quiet says something: $(cat err)"
expect 0 encode model.h5 X.npy -o codes.npy -q
expect 0 encode again.h5 X.npy -o codes2.npy -q
same codes.npy codes2.npy
expect 0 fit rfn X.npy -k 2 --iterations 2 -o drawn.h5
seed=$(sed -n 's/^seed \([0-9]*\)$/\1/p' err)
[ -n "$seed" ] || fail "$command: no seed was said"
expect 0 info drawn.h5 --json
tells "\"seed\": \"$seed\""

# Options anywhere, and "--" ends them.
cp X.npy ./-X.npy
expect 0 fit rfn -k 2 --iterations 2 --seed 1 -o dash.h5 -q -- -X.npy

# A warm start goes on; a tolerance stops.
expect 0 fit rfn X.npy -k 5 --iterations 5 --seed 1 --init model.h5 -o warm.h5
exists warm.h5
awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) { for (k = 0; k < 6; k++) printf "%d ", 9 * rand(); print "" } }' >depths.tsv
expect 0 fit rfn depths.tsv -k 2 --totals median --iterations 3 --seed 1 -o depths.h5 -q
expect 0 fit rfn depths.tsv -k 2 --totals median --iterations 3 --seed 1 --init depths.h5 -o warm.h5 -q
expect 2 fit rfn depths.tsv -k 2 --totals 7 --init depths.h5 -o none.h5
expect 2 fit rfn X.npy -k 2 --totals median --init model.h5 -o none.h5
rm depths.tsv depths.h5
expect 2 fit rfn X.npy -k 6 --init model.h5 -o none.h5
says "--units is 6, but the model to start from has 5 units"
expect 2 fit rfn X.npy -k 5 --init model.h5 --scale sd -o none.h5
one_line
says "--scale cannot be given with a model to start from"
for option in "--prior-mean -2" "--psi-init 0.2" "--weight-init 1" "--restarts 3"; do
    # shellcheck disable=SC2086
    expect 2 fit rfn X.npy -k 5 --iterations 5 --seed 1 --init model.h5 $option -o none.h5 -q
    one_line
    name=${option%% *}
    says "${name#--} is"
done
expect 0 fit rfn X.npy -k 2 --iterations 500 --tolerance 0.5 --seed 1 -o stop.h5
says "converged"
expect 0 fit rfn X.npy -k 2 --iterations 500 --parameter-tolerance 0.01 --seed 1 -o stop.h5
says "converged: the parameters have converged"
expect 0 fit rfn X.npy -k 2 --iterations 500 --patience 3 --tolerance 0.01 --parameter-tolerance 0 --seed 1 -o stop.h5
says "out of patience"
expect 0 fit rfn X.npy -k 2 --iterations 500 --max-time 1e-9s --seed 1 -o stop.h5
says "1 iterations in"
says "out of time"
expect 0 info stop.h5
tells "out of time"
refuses "--max-time is 'soon', but must be a time, such as 90s" fit rfn X.npy --max-time soon -o no.h5
expect 0 fit rfn X.npy -k 2 --iterations 2 --tolerance 1e-12 --seed 1 -o no.h5
says "warning: the objective still changed"
expect 1 fit rfn X.npy -k 2 --iterations 2 --tolerance 1e-12 --seed 1 -o strict.h5 --strict -q
one_line
exists strict.h5

# A sparseness that is asked for takes the whole recipe, but for what is given.
expect 0 fit rfn X.npy -k 3 --target-sparseness 0.6 --newton-iterations 20 --seed 1 -o sparse.h5 -q
expect 0 info sparse.h5 --json
tells '"preset": "sparse"'
tells '"target-sparseness": "0.6"'
tells '"newton-iterations": "20"'
tells '"steer-iterations": "250"'
tells '"estep": "cyclic"'
tells '"iterations": "850"'
expect 2 fit rfn X.npy -k 3 --preset sparse --prior-mean 1 -o none.h5 -q
one_line
says "requires one --prior-mean for all units, at most 0"

# Noise with covariances.
expect 0 fit rfn X.npy -k 3 --noise full --noise-decay 0.01 --estep cyclic --iterations 20 --seed 1 \
    -o full.h5 -q
expect 0 info full.h5 --json
tells '"noise_covariance"'
expect 0 evaluate full.h5 X.npy --json
expect 2 fit rfn X.npy -k 3 --noise-decay 0.01 -o none.h5 -q
one_line
says "diagonal noise has no covariances"

# The prior: a number, or a file with one for each unit, or a covariance matrix.
printf '%s\n' -0.5 -0.25 0 >xi.tsv
printf '%s\n' '1 0.2 0' '0.2 2 0.1' '0 0.1 0.5' | tr ' ' '\t' >prior.tsv
expect 0 fit rfn X.npy -k 3 --iterations 5 --seed 1 --prior-mean xi.tsv --prior-covariance prior.tsv \
    -o prior.h5 -q
expect 0 info prior.h5 --json
tells '"prior-mean": "xi.tsv"'
tells '"prior_covariance"'
expect 0 encode prior.h5 X.npy -o codes_prior.npy -q
expect 0 fit rfn X.npy -k 3 --iterations 5 --seed 1 --init prior.h5 -o prior2.h5 -q
expect 2 fit rfn X.npy -k 3 --init prior.h5 --prior-mean xi.tsv -o none.h5 -q
one_line
says "prior-mean is 'xi.tsv', but a fit that starts from a model ignores it"
expect 2 fit rfn X.npy -k 4 --prior-mean xi.tsv -o none.h5 -q
one_line
says "prior-mean is 3 x 1, but must be one number, or one for each of the 4 units"
expect 2 fit rfn X.npy -k 4 --prior-covariance prior.tsv -o none.h5 -q
says "prior-covariance is 3 x 3"
expect 1 fit rfn X.npy -k 3 --prior-mean none.tsv -o none.h5 -q
one_line
says "none.tsv"
expect 2 fit rfn X.npy -k 3 --prior-covariance -1 -o none.h5 -q
says "prior-covariance is '-1', but must be a number above 0, or a file of numbers"
printf '%s\n' '1 9 0' '9 2 0' '0 0 1' | tr ' ' '\t' >indefinite.tsv
refuses "not positive definite" fit rfn X.npy -k 3 --prior-covariance indefinite.tsv -o none.h5 -q
rm indefinite.tsv

# What does nothing without another option is refused, wherever it is given with a value of its own.
refuses "--checkpoint-every does nothing without --checkpoint;" \
    fit rfn X.npy -k 3 --checkpoint-every 5 -o none.h5
refuses "nothing without --dropout;" fit rfn X.npy -k 3 --dropout-place after -o none.h5
refuses "nothing without --activation leaky" fit rfn X.npy -k 3 --activation-slope 0.1 -o none.h5
for steps in "" "--estep cyclic" "--preset sparse"; do
    # shellcheck disable=SC2086 # words
    refuses "nothing without --estep cascade" fit rfn X.npy -k 3 $steps --accept any -o none.h5
done
expect 0 fit rfn X.npy -k 3 --estep cascade --accept any --dropout-place before --iterations 3 \
    -o cascade.h5 -q
expect 0 fit rfn X.npy -k 3 --activation leaky --activation-slope 0.1 --dropout 0.5 \
    --dropout-place after --iterations 3 -o leaky.h5 -q
expect 0 fit rfn X.npy -k 3 --estep newton --iterations 3 -o newton.h5 -q
refuses "nothing for a model of rfn" \
    encode newton.h5 X.npy --estep-tolerance 1e-3 -o codes.npy -q
expect 0 encode cascade.h5 X.npy --estep-tolerance 1e-3 -o codes.npy -q
cp xi.tsv xi.h5
expect 2 fit rfn X.npy -k 3 --prior-mean xi.h5 -o xi.h5 -q
says "would overwrite 'xi.h5'"

# The command line is recorded so that a shell reads it back.
expect 0 fit rfn X.npy -k 2 --iterations 2 --seed 1 -o "it's here.h5" -q
expect 0 info "it's here.h5"
tells "-o 'it'\\''s here.h5'"
rm -f ./*.h5 xi.tsv prior.tsv log.jsonl codes*.npy -- ./-X.npy

# More than any machine has is refused before anything is asked for.
breaks "and this machine has" fit rfn X.npy -k 1000000000 -o m.h5 -q
says "more than 1000 TB"
breaks "and this machine has" fit rfn X.npy -k 5000000 -o m.h5 -q

# Failures: one sentence, no model.
breaks "missing.npy" fit rfn missing.npy -o m.h5 -q
breaks "there is no folder 'nowhere'" fit rfn X.npy -o nowhere/m.h5
mkdir folder
breaks "it is a folder" fit rfn X.npy -o folder
rmdir folder
breaks "nowhere/log" fit rfn X.npy -o m.h5 --log-json nowhere/log
breaks "missing.h5" fit rfn X.npy --init missing.h5 -o m.h5 -q
breaks "X.npy" fit rfn X.npy --init X.npy -o m.h5 -q
: >empty.csv
breaks "empty" fit rfn empty.csv -o m.h5 -q
printf '1,2,3\n4,5\n7,8,9\n' >ragged.csv
breaks "ragged.csv" fit rfn ragged.csv -o m.h5 -q
says "row 2"
printf '1,2,3\n4,nan,6\n7,8,9\n' >missing.csv
breaks "missing" fit rfn missing.csv -o m.h5 -q
says "--missing"
expect 0 fit rfn missing.csv --missing mean -k 1 --iterations 2 --seed 1 -o m.h5
says "1 missing"
rm -f m.h5
printf '1,2,3\n4,inf,6\n7,8,9\n' >infinite.csv
expect 1 fit rfn infinite.csv -o m.h5 -q
one_line
printf '1,2,3\n4,five,6\n7,8,9\n' >words.csv
expect 1 fit rfn words.csv -o m.h5 -q
one_line
says "five"
only X.npy empty.csv ragged.csv missing.csv infinite.csv words.csv

# A log that cannot be written is a failure, but the model is not lost.
if [ -c /dev/full ]; then
    expect 1 fit rfn X.npy -k 2 --iterations 3 --seed 1 -o m.h5 --log-json /dev/full -q
    one_line
    exists m.h5
    expect 1 fit rfn X.npy -k 2 --iterations 3 --seed 1 -o m.h5 --log-json /dev/full
    ! grep -q "next: rarebit" err || fail "$command: goes on as if nothing had failed"
fi
# A preset sets what is not given.
expect 0 fit rfn X.npy -k 2 --preset biclustering --iterations 3 --seed 1 -o preset.h5 -q
expect 0 info preset.h5 --json
tells '"sparse-loadings": "1.5"'
tells '"restarts": "3"'
tells '"iterations": "3"'
rm preset.h5

# A log is begun when the data are known to be sound: an old one is not lost before.
echo kept >old.jsonl
printf 'a,b\n1,x\n' >wrong.csv
expect 1 fit rfn wrong.csv -k 1 -o never.h5 --log-json old.jsonl
[ "$(cat old.jsonl)" = kept ] || fail "$command: the old log is gone"
# The same where options are refused; a new one is not left behind, and no seed was used.
rm wrong.csv
for log in old.jsonl new.jsonl; do
    expect 2 fit rfn X.npy -k 5 --estep cyclic --normalize sd -o never.h5 --log-json $log
    says "normalize sd"
    ! grep -q '^seed' err || fail "$command: says the seed of a fit that was refused"
done
[ "$(cat old.jsonl)" = kept ] || fail "$command: the old log is gone"
[ ! -e new.jsonl ] || fail "$command: an empty log is left"
expect 0 fit rfn X.npy -k 2 --iterations 3 --seed 1 -o m.h5 --log-json old.jsonl -q
[ "$(grep -c '^{"iteration": ' old.jsonl)" -eq 3 ] && [ "$(wc -l <old.jsonl)" -eq 3 ] ||
    fail "$command: the log is $(cat old.jsonl)"

# How far the codes of a guaranteed E-step are from the best: said, and the same in info.
expect 0 fit rfn X.npy -k 3 --estep cyclic --iterations 3 --seed 1 -o m.h5
! grep -q "KKT\|certificate\|E-steps" err || fail "$command: shows figures for research"
expect 0 evaluate m.h5 X.npy
! grep -q "KKT\|certificate\|E-step\|energy\|divergence" out || fail "$command: shows figures for research"
expect 0 evaluate m.h5 X.npy --details
tells "KKT residual"
tells "divergence"
expect 0 fit rfn X.npy -k 3 --estep cyclic --iterations 3 --seed 1 -o m.h5 --details
says "KKT residual "
certificate=$(sed -n 's/.*, certificate \([-0-9.e]*\)$/\1/p' err)
expect 0 info m.h5 --json
tells '"certificate": [1, 1]'
value=$(sed 's/.*"values"//' out | number certificate)
holds "($certificate) - ($value) < 1e-2 && ($value) - ($certificate) < 1e-2"
[ -n "$(sed 's/.*"values"//' out | number kkt_residual)" ] || fail "$command: $(cat out)"
expect 0 info m.h5
grep -q '^certificate  *1 x 1: [-0-9.]' out || fail "$command: $(grep certificate out)"
for name in weight-decay-laplace activation-threshold; do
    tells "$name  "
done
expect 0 fit rfn X.npy -k 3 --estep newton --iterations 3 --seed 1 -o m.h5
! grep -q certificate err || fail "$command: newton has none"
says "next: rarebit modules m.h5 X.npy -o modules.tsv"

# More units than samples: moments that rounding leaves indefinite do not end a fit.
expect 0 simulate biclusters --dataset D3 --rest-sd 0.01 --seed 2 -o X.npy
expect 0 fit rfn X.npy -k 150 --preset paper --iterations 870 --normalize sd --seed 2 -o m.h5 -q
finish
