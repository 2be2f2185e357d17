# Progress at a terminal is one line, rewritten, gone at the end; a file gets a line a minute.
. "$SOURCE/tests/cli/lib/lib.sh"

expect 0 simulate biclusters --dataset D1 --seed 1 -o X.npy -q
expect 0 fit rfn X.npy -k 5 --iterations 300 --parameter-tolerance 0 --seed 1 -o m.h5
grep -q "iteration 300 of 300" err && fail "a fit of a second wrote progress into a file"

# Without pseudo-terminals, as in a bare chroot, there is none to test.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    command="fit at a terminal"
    script -qec "'$RAREBIT' fit rfn X.npy -k 5 --iterations 300 --parameter-tolerance 0 --seed 1 -o m.h5" typed \
        >/dev/null 2>&1 </dev/null
    grep -q "iteration 300 of 300" typed || fail "no progress at a terminal: $(cat typed)"
    shown=$(tr '\r' '\n' <typed | grep -c "^iteration ")
    [ "$shown" -lt 300 ] || fail "each of 300 iterations was shown"
    script -qec "'$RAREBIT' fit rfn X.npy -k 5 --iterations 300 --parameter-tolerance 0 --seed 1 -o m.h5 --quiet" typed \
        >/dev/null 2>&1 </dev/null
    grep -q "iteration 300" typed && fail "--quiet shows progress"

    # Long names are cut at a terminal, and only there.
    long=a_name_of_more_than_sixty_letters_that_would_push_all_others_off_the_screen
    awk -v name=$long 'BEGIN { srand(1); print name ",b,c,d"
        for (i = 0; i < 60; i++) { z = rand() < 0.3; print 5 * z + rand() "," 4 * z + rand() "," rand() "," rand() } }' >long.csv
    expect 0 fit rfn long.csv -k 1 --iterations 20 --seed 1 -o long.h5 -q
    expect 0 modules long.h5 long.csv -q
    tells $long
    command="modules at a terminal"
    script -qec "'$RAREBIT' modules long.h5 long.csv -q" typed >/dev/null 2>&1 </dev/null
    grep -q "a_name_of_more_than_\.\.\." typed || fail "$command: $(cat typed)"
    grep -q $long typed && fail "$command: the name is not cut: $(cat typed)"
fi
finish
