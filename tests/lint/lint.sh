# Formatting, the rules of the house, clang's warnings, static analysis: `./run lint`. $1: a build folder; $2: quick, to
# leave out the analyzer of clang-tidy, which takes 9 tenths of the time.
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

# Every file as it is compiled, but by clang's front end alone: from there come its warnings.
clang_warnings() {
    python3 - "$1" <<'END' | xargs -d '\n' -P 2 -n 1 sh -c
import json, re, shlex, sys
for entry in json.load(open(sys.argv[1])):
    words = shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    line = re.sub(r" -(o|M[TF]) \S+| -MD\b", "", shlex.join(words[first:]))
    print(f"cd {shlex.quote(entry['directory'])} && clang -fsyntax-only -Werror {line}")
END
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
step "commands of the compiler" cmake -S . -B "$1" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -Wno-dev --log-level=WARNING
step "clang without warnings" clang_warnings "$1/compile_commands.json"
export CHECKS=
[ "${2:-}" != quick ] || CHECKS='-clang-analyzer-*'
# shellcheck disable=SC2086
step clang-tidy sh -c 'printf "%s\n" "$@" | xargs -P 2 -n 8 clang-tidy --checks="$CHECKS" --quiet -p "$0" 2>/dev/null' \
    "$1" $units
exit $status
