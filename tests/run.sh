# Runs the tests of a build folder, then prints what was skipped and how to run it: run.sh BUILD [OPTION OF CTEST...].
# With CI=true a skip is a failure.
set -eu
build=$1
shift
log=$build/Testing/Temporary/LastTest.log
printed=$build/Testing/printed.log
rm -f "$log" "$printed"
mkdir -p "$build/Testing"
status=0
ctest --test-dir "$build" --no-tests=error --output-on-failure -j2 -O "$printed" "$@" || status=$?
[ -f "$log" ] || exit $status

# Each skip prints a line (tests/lib/skip.sh); one without a line is known to ctest alone.
count=$(grep -c '^skipped: ' "$log" || true)
tests=$(grep -c '\*\*\*Skipped ' "$printed" || true)
[ "$count" -ge "$tests" ] || count=$tests
[ "$count" -gt 0 ] || exit $status
packages=$(sed -n 's/^skipped: .*; needs: //p' "$log" | tr ' ' '\n' | sort -u | paste -s -d ' ')
echo
echo "$count tests or parts of tests were skipped${packages:+; to run them: ./run setup, or apt-get install $packages}"
[ "${CI:-}" = true ] || exit $status
grep '^skipped: ' "$log" | sort -u
echo "where CI=true a skip is a failure"
exit 1
