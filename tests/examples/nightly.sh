# `./run nightly`: a step that fails does not stop those behind it, and the end names it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests" "$work/fuzz"
cp "$SOURCE/tests/nightly.sh" "$work/tests"
cd "$work"
fail() {
    cat out >&2
    echo "$1" >&2
    exit 1
}

touch fuzz/a.c fuzz/b.c
printf 'echo "seconds: $1"\nexit 1\n' >fuzz/run.sh
printf '#!/bin/sh\necho "run: $*"\n' >run
chmod +x run
code=0
sh tests/nightly.sh --fuzz 7 fuzz r_check >out 2>&1 || code=$?
[ $code = 1 ] || fail "the exit status is $code"
grep -qx 'seconds: 210' out || fail "two fuzzers have not 7 minutes together"
grep -qx 'run: r-check' out || fail "a failure stops the next step"
grep -q '^fuzz  *failed, 0 min$' out || fail "no line says that fuzz failed"
grep -q '^r_check  *passed, 0 min$' out || fail "no line says that r_check passed"
[ "$(tail -n 1 out)" = "failed: fuzz" ] || fail "the last line does not list what failed"

sh tests/nightly.sh mutants >out 2>&1 || fail "a step that passes fails"
[ "$(tail -n 1 out)" = "all passed" ] || fail "the last line is not: all passed"
for wrong in "dreams" "--fuzz soon"; do
    code=0
    # shellcheck disable=SC2086 # words
    sh tests/nightly.sh $wrong >out 2>&1 || code=$?
    [ $code = 2 ] || fail "nightly.sh $wrong: exit status $code"
done

# Each step can be asked for, and ./run help names it.
for step in $(sed -n 's/^\([a-z_]*\)() {$/\1/p' "$SOURCE/tests/nightly.sh" | grep -vx build_tests); do
    sed -n "s/^all='\(.*\)'/ \1 /p" "$SOURCE/tests/nightly.sh" | grep -q " $step " || fail "the step $step cannot be asked for"
    (cd "$SOURCE" && ./run help) | grep -qE "[[ ]$step[] ]" || fail "./run help does not name the step $step"
done
