# A skipped test prints what it needs, and is a failure where CI=true; ./run setup installs all that tests ask for.
set -eu
status=0
say() {
    echo "$*" >&2
    status=1
}

cd "$SOURCE"
if grep -nE 'exit\(?[ ]*77' -r tests --include='*.sh' --include='*.py' | grep -v '^tests/lint/skips.sh'; then
    say "these skip without tests/lib/skip.sh"
fi
if grep -nE '(^|[^_a-z])skip\(\)' -r tests --include='*.c' --include='*.h' | grep -v '^tests/skip.h'; then
    say "these skip without tests/skip.h"
fi
asked=$(grep -rhoE '(need|have) (command|file|library|python|r) [^;&|"$]*' tests --include='*.sh'
    grep -rhoE '^need_python [^;&|"$]*' tests --include='*.sh' | sed 's/^need_python/need python/')
[ "$(echo "$asked" | wc -l)" -gt 10 ]
echo "$asked" | sort -u | {
    while read -r _ words; do
        # shellcheck disable=SC2086
        sh run lacking $words >/dev/null || exit 1
    done
} || say "./run setup does not install what tests ask for"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# wants STATUS LINE COMMAND...: how a test with the programs in $work/bin ends
wants() {
    wanted=$1 line=$2 got=0
    shift 2
    PATH=$work/bin:$PATH "$@" >"$work/out" 2>&1 || got=$?
    if [ $got -ne "$wanted" ] || ! grep -qE "$line" "$work/out"; then
        say "$*: exit $got instead of $wanted, or no line '$line': $(cat "$work/out")"
    fi
}
mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/strace"
cp "$work/bin/strace" "$work/bin/python3"
chmod +x "$work/bin/"*
for ci in false true; do
    code=77
    [ $ci = false ] || code=1
    wants $code '^skipped: strace' env CI=$ci sh tests/cli/opens.sh
    wants $code '^skipped: .*h5py' env CI=$ci PYTHON="$work/bin/python3" sh tests/cli/unpacking.sh
    wants $code '^skipped: .*numpy' env CI=$ci PYTHON="$work/bin/python3" sh tests/golden/oracle.sh
done

# The end of ./run test: tests of its own, one of which is skipped in part.
mkdir "$work/build"
cat >"$work/build/CTestTestfile.cmake" <<'END_OF_TESTS'
add_test(whole sh -c "echo 'skipped: no a; needs: a-package'; exit 77")
add_test(part sh -c "echo 'skipped: no b; needs: b-package a-package'")
add_test(silent sh -c "exit 77")
set_tests_properties(whole silent PROPERTIES SKIP_RETURN_CODE 77)
END_OF_TESTS
wants 0 '^2 tests or parts .* skipped; to run them: ./run setup, or apt-get install a-package b-package$' \
    env CI=false sh tests/run.sh "$work/build"
wants 1 '^skipped: no a' env CI=true sh tests/run.sh "$work/build"
wants 1 '^1 tests or parts of tests were skipped$' env CI=true sh tests/run.sh "$work/build" -R silent
echo 'add_test(wrong sh -c "exit 3")' >>"$work/build/CTestTestfile.cmake"
wants 8 '^2 tests or parts' env CI=false sh tests/run.sh "$work/build"
wants 8 'No tests were found' env CI=true sh tests/run.sh "$work/build" -R none
exit $status
