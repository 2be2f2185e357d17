# Runs the tests of a build folder, then prints what was skipped and how to run it: run.sh BUILD [OPTION OF CTEST...].
# With CI=true a skip is a failure.
set -eu
build=$1
shift
log=$build/Testing/Temporary/LastTest.log
printed=$build/Testing/printed.log
rm -f "$log" "$printed"
mkdir -p "$build/Testing"
# The kernels of OpenBLAS that the tool would start anew for, thousands of times, and C programs would not.
if [ -z "${OPENBLAS_CORETYPE:-}" ] && [ -x "$build/rarebit" ] && kernels=$("$build/rarebit" version --json); then
    OPENBLAS_CORETYPE=$(echo "$kernels" | sed -n 's/.*"blas_kernels": "\([^"]*\)".*/\1/p')
    export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS=1
fi
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
