# What takes too long for the gate (.ci/run), one step after another: ./run nightly [--fuzz MINUTES] [STEP...].
# A step that fails does not stop the others; the end says what each took and which failed.
set -u
minutes=60
if [ "${1:-}" = --fuzz ]; then
    minutes=${2:-}
    case $minutes in
        '' | 0 | *[!0-9]*)
            echo "nightly: --fuzz is '$minutes', but must be a number of minutes" >&2
            exit 2
            ;;
    esac
    shift 2
fi
export CI=true # a skipped test fails
jobs=$(getconf _NPROCESSORS_ONLN)
log=$(mktemp)
summary=$(mktemp)
trap 'rm -f "$log" "$summary"' EXIT
failed=

# build_tests FOLDER OPTION...: builds into FOLDER, or what $target names of it.
target=all
build_tests() {
    folder=$1
    shift
    # shellcheck disable=SC2086 # words
    {
        cmake -S . -B "$folder" "$@" && cmake --build "$folder" --parallel "$jobs" --target $target
    } >"$log" 2>&1 || { cat "$log"; return 1; }
}

# Formatting and all of static analysis.
lint() {
    ./run lint
}

clang() {
    CC=clang CXX=clang++ build_tests build-clang -DRAREBIT_WERROR=ON &&
        sh tests/run.sh build-clang -R '^(unit|property|golden|recovery)/'
}

# Address and undefined behaviour, leaks.
sanitize() {
    build_tests build-sanitize -DRAREBIT_SANITIZE=ON -DRAREBIT_BENCH=OFF &&
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
            sh tests/run.sh build-sanitize -R '^(unit|property|golden|recovery|cli|fault|fuzz)/'
}

# Races: fits, streams, two contexts.
threads() {
    target='test_unit_base test_unit_contexts test_unit_em_fit test_unit_study_jobs'
    build_tests build-tsan -DRAREBIT_TSAN=ON -DRAREBIT_BENCH=OFF &&
        sh tests/run.sh build-tsan -R '^unit/(base|contexts|em_fit|study_jobs)$'
}

# R CMD check with the core that the package brings.
r_check() {
    ./run r-check
}

mutants() {
    ./run mutants --sample 40
}

# Every reader for its share of the time.
fuzz() {
    targets=$(ls fuzz/*.c | wc -l)
    seconds=$((minutes * 60 / targets))
    sh fuzz/run.sh $((seconds > 0 ? seconds : 1))
}

long() {
    ./run build && BUILD=$PWD/build RAREBIT=$PWD/build/rarebit SOURCE=$PWD sh tests/long/limits.sh
}

# Other machines: arm64 under qemu, and musl.
cross() {
    SOURCE=$PWD JOBS=$jobs sh tests/long/cross.sh
}

# Thirty kills, and Slurm.
processes() {
    ./run build && BUILD=$PWD/build RAREBIT=$PWD/build/rarebit SOURCE=$PWD sh tests/long/processes.sh
}

# Packages of the commit: made twice, in other folders, they have the same bytes; an empty Debian takes each.
packages() {
    folder=$(mktemp -d)
    CCACHE_DISABLE=1 ./run dist "$folder/one" && CCACHE_DISABLE=1 TMPDIR=$folder ./run dist "$folder/two" &&
        diff -r "$folder/one" "$folder/two" && ./run dist-check "$folder/one"
    status=$?
    rm -rf "$folder"
    return $status
}

all='lint clang sanitize threads r_check mutants fuzz long cross processes packages'
[ $# -gt 0 ] || set -- $all
for step; do
    case " $all " in
        *" $step "*) ;;
        *)
            echo "nightly: there is no step '$step'; steps: $all" >&2
            exit 2
            ;;
    esac
done
for step; do
    echo "== $step"
    begun=$(date +%s)
    result=passed
    ("$step") </dev/null || result=failed
    [ $result = passed ] || failed="$failed $step"
    printf '%-10s %s, %d min\n' "$step" $result $((($(date +%s) - begun + 30) / 60)) >>"$summary"
done
echo
cat "$summary"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "all passed"
