# bench et: the experiments are listed with their settings, run in parallel, and give the same numbers for
# any number of threads.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 bench et --list
tells "nmf-noisy: section 4.1.1 of the paper, 50 of 50 trials"
tells "--temperature 23:1.05"
[ "$(grep -c ' of the paper, ' out)" = 9 ] || fail "not nine experiments: $(cat out)"
expect 0 bench et --experiment nmf-noisy --trials 3 --restarts 1 --threads 1
cp out one
expect 0 bench et --experiment nmf-noisy --trials 3 --restarts 1 --threads 2
cmp -s one out || fail "threads change the result: $(cat one out)"
tells "nmf-noisy"
tells "/3 "
expect 0 bench et --experiment linca-noiseless --trials 2 --as-printed
tells "linca-noiseless"
refuses "no experiment 'bars'" bench et --experiment bars
finish
