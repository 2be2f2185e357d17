# ./run experiments: the experiments are listed with their settings; those on bars run in parallel and give the same
# numbers for any number of threads.
. "$SOURCE/tests/cli/lib/lib.sh"
[ -x "$BUILD/bench/experiments" ] || skip "the benchmarks were not built"
tool=$RAREBIT
RAREBIT=$BUILD/bench/experiments

# Messages are the program's own.
one_line() {
    grep -q '^experiments: ' err || fail "$command: stderr does not begin with 'experiments: ': $(cat err)"
}

expect 0 --list
tells "nmf-noisy: section 4.1.1 of the paper, 50 of 50 trials"
expect 0 --list --experiment overlap-400 --as-printed
tells "--temperature 23:1.05"
expect 0 --list --experiment overlap-400
grep -q -e "--temperature" out && fail "the temperature is given: $(cat out)"
expect 0 --list
tells "mnist: section 4.1.2 of the paper"
tells "sound: section 4.3.2, figure 11 of the paper"
tells "scaling: appendix C"
[ "$(grep -c '^[a-z0-9-]*: .* of the paper' out)" = 34 ] || fail "not 34 experiments: $(cat out)"
expect 0 --list --experiment claims
tells "nmf-slow: section 4.1.1 of the paper, 50 of 50 trials found all bars"
tells "--temperature 15:1 "
tells "mca-exact: section 5.3 of the paper, the same"
tells "with candidates=10 max-active=10 cut-factor=1e9"
tells "footnote 1"
tells "counts with these means"
[ "$(grep -c '^[a-z0-9-]*: .* of the paper' out)" = 19 ] || fail "not nineteen claims: $(cat out)"
# An exact E-step has all states of all bars, with preselection they are fewer; counts have no sigma.
expect 0 --experiment nmf-exact --trials 1 --with iterations=40
grep -q ' 1[.]0000$' out || fail "exact, and not every state of every bar: $(cat out)"
expect 0 --experiment nmf-poisson --trials 1 --with iterations=4
grep -q "^nmf-poisson  .*/1  .* high " out || fail "no counts: $(cat out)"
refuses "--picture does nothing for nmf-poisson" --experiment nmf-poisson --picture none.png
expect 0 --experiment patches-50 --list
tells "--temperature 0=4,0.05=4,0.4=1.05"
[ "$(wc -l <out)" = 3 ] || fail "more than one experiment: $(cat out)"
expect 0 --experiment nmf-noisy --trials 3 --restarts 1 --threads 1
cp out one
expect 0 --experiment nmf-noisy --trials 3 --restarts 1 --threads 2
cmp -s one out || fail "threads change the result: $(cat one out)"
tells "nmf-noisy"
tells "/3 "
expect 0 --experiment linca-noiseless --trials 2 --as-printed --singletons yes
tells "linca-noiseless"
expect 0 --experiment nmf-noisy --trials 1 --with "iterations=10 max-active=2" --list
tells "with iterations=10 max-active=2"
"$RAREBIT" --experiment nmf-noisy --trials 1 --with "iterationz=10" >out 2>err && fail "iterationz is an option"
grep -q "^experiments: .*iterationz" err || fail "iterationz is not named: $(cat err)"
expect 0 --experiment nmf-noisy --as-printed --singletons yes --negative reflect --list
tells "--restarts 1 --as-printed --singletons yes --negative reflect"
refuses "--negative does nothing" --experiment linca-noisy --negative reflect

# A picture changes no number, is refused where it would show nothing, and is whole or not there.
expect 0 --experiment nmf-noiseless --trials 2 --restarts 1
cp out plain
expect 0 --experiment nmf-noiseless --trials 2 --restarts 1 --picture trials.png
head -n 2 out | cmp -s plain - || fail "the picture changes the result: $(cat plain out)"
exists trials.png
# Without noise the true fields are found, and so is their likelihood.
grep -q 'less that of the true parameters   all found: -*0\.000$' out || fail "not the truth's: $(cat out)"
expect 0 --experiment overlap-400 --trials 1 --restarts 1 --with iterations=4 --picture trials.svg
grep -q '</svg>' trials.svg || fail "the picture is not whole"
"$RAREBIT" --experiment linca-noisy --trials 1 --with "iterations=-2" --picture none.png >out 2>err &&
    fail "iterations below 0"
[ ! -e none.png ] || fail "a picture without a result"
refuses "--picture does nothing for mca-values" --experiment mca-values --picture none.png
refuses "must end in .png or .svg" --experiment mca-noisy --picture none.jpg

# On data of one's own, small and for a few iterations: the settings are the paper's.
"$tool" simulate bars --style max --noise 0 --size 5 --samples 60 --seed 1 -o Y.npy -q
expect 0 --experiment mnist --data Y.npy --iterations 20 --trials 2 --picture mnist.png
tells "mean squared errors of 60 images"
[ "$(grep -c '%$' out)" = 3 ] || fail "not two seeds and their mean: $(cat out)"
exists mnist.png
expect 0 --experiment mnist-settings --data Y.npy --trials 1
[ "$(grep -c '%$' out)" = 26 ] || fail "not all settings that 60 images allow: $(cat out)"
tells "plain NMF: by divergence"
awk 'BEGIN { print "P2 211 211 255"; for (i = 0; i < 44521; i++) print (i * i) % 251 }' >a.pgm
expect 0 --experiment patches-50 --data a.pgm --iterations 2 --picture patches.png
tells "patches-50: 40000 samples x 100 features, 50 causes, 2 iterations"
exists patches.png
mkdir sounds
for letters in abcdefghijklm zyxwvutsrqpon; do
    {
        printf 'RIFF\304\001\000\000WAVEfmt \020\000\000\000\001\000\001\000\100\037\000\000\100\037\000\000'
        printf '\001\000\010\000data\240\001\000\000'
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
            printf '%s%s' $letters AZBYCXDWEVFUG
        done
    } >sounds/$letters.wav
done
expect 0 --experiment sound --data sounds --iterations 2 --picture sound.png
tells "sound: 434 samples x 200 features, 200 causes, 2 iterations"
exists sound.png
expect 0 --experiment sound --data sounds/abcdefghijklm.wav --iterations 2
tells "sound: 217 samples"
expect 0 --experiment sound-400 --data sounds --iterations 2
tells "sound-400: 434 samples x 200 features, 400 causes, 2 iterations"
expect 0 --experiment sound-400 --list
tells "100000 of the samples, evenly spread"
tells "--trim-silence"
refuses "experiment 'mnist' needs --data" --experiment mnist
refuses "would write over 'a.pgm'" --experiment patches-50 --data a.pgm --picture a.pgm
breaks "a.pgm: not a recording" --experiment sound --data a.pgm
for option in "--iterations 5" "--data Y.npy"; do
    # shellcheck disable=SC2086 # words
    refuses "does nothing for mca-noisy" --experiment mca-noisy --trials 1 $option
    # shellcheck disable=SC2086 # words
    refuses "does nothing for experiments on bars" --trials 1 $option
done
refuses "does nothing for experiments on bars" --trials 1 --picture x.png
refuses "--restarts does nothing for mnist" --experiment mnist --data Y.npy --restarts 2
refuses "--trials does nothing for scaling" --experiment scaling --trials 2
refuses "no experiment 'bars'" --experiment bars
refuses "must end in .png or .svg" --experiment scaling --picture out.jpg
refuses "'--trails' is no option" --trails 3
refuses "--trials needs N" --trials many
finish
