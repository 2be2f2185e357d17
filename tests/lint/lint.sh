# Formatting, the rules of the house, static analysis: `./run lint`. $1: a build folder.
set -u
SOURCE=$(pwd)
export SOURCE
status=0

step() {
    name=$1
    shift
    if "$@"; then
        echo "lint: $name: clean"
    else
        echo "lint: $name: see above"
        status=1
    fi
}

sources=$(git ls-files '*.c' '*.h' '*.inc' 2>/dev/null || find . -path ./build -prune -o -name '*.[ch]' -print)
units=$(echo "$sources" | grep -E '^(\./)?(src|tool|examples)/.*\.c$' | grep -v '/isa/')

for rule in rooms files documented; do
    step $rule sh tests/lint/$rule.sh
done
# shellcheck disable=SC2086
step formatting clang-format --dry-run --Werror $sources
# shellcheck disable=SC2086
step cppcheck cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr -j2 \
    --enable=warning,performance,portability --suppress=missingIncludeSystem \
    --suppress=invalidPointerCast -Iinclude -Isrc $units
cmake -S . -B "$1" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
# shellcheck disable=SC2086
step clang-tidy sh -c 'printf "%s\n" "$@" | xargs -P 2 -n 8 clang-tidy --quiet -p "$0" 2>/dev/null' \
    "$1" $units
exit $status
