#!/bin/sh
# Fuzzes every target (or those named) with libFuzzer: fuzz/run.sh [SECONDS [TARGET...]], 60 seconds each.
# New inputs and what breaks a reader go to build/libfuzzer; the corpus is only read.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$source/build/libfuzzer}
seconds=${1:-60}
[ $# -eq 0 ] || shift
mkdir -p "$build"
CC=${CC:-clang} CXX=${CXX:-clang++} cmake -S "$source" -B "$build" -DRAREBIT_FUZZ=ON \
    -DRAREBIT_TESTS=OFF -DRAREBIT_BENCH=OFF >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
if [ $# -eq 0 ]; then
    set -- $(cd "$source/fuzz" && ls -- *.c | sed 's/\.c$//')
fi
failed=0
for target in "$@"; do
    cmake --build "$build" --target "fuzz_$target" >>"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
    mkdir -p "$build/found/$target"
    echo "$target: $seconds seconds"
    if ! "$build/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/found/$target-" \
        "$build/found/$target" "$source/fuzz/corpus/$target" >"$build/found/$target.log" 2>&1; then
        tail -40 "$build/found/$target.log"
        failed=1
    else
        grep -E 'number_of_executed_units|average_exec' "$build/found/$target.log"
    fi
done
exit $failed
