# What the tests of the tool share. A test sources it, works in an empty folder of its own, and ends
# with `finish`. RAREBIT is the tool, SOURCE the source tree.
#
#   expect STATUS ARGUMENT...   runs the tool; its streams are in the files out and err
#   says TEXT / tells TEXT      the text is in stderr / in stdout
#   one_line                    stderr is one line that begins with "rarebit: "
set -u
. "$SOURCE/tests/lib/skip.sh"
LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/rarebit-test-XXXXXX")
finished=
trap 'code=$?; rm -rf "$work"; [ "$finished" ] || { echo "the test does not end with finish"; exit 1; }; exit $code' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

expect() {
    wanted=$1
    shift
    command="rarebit $*"
    "$RAREBIT" "$@" >out 2>err
    got=$?
    if [ $got -ne "$wanted" ]; then
        fail "$command: exit $got instead of $wanted; stderr: $(cat err)"
    fi
}

says() {
    grep -qF -e "$1" err || fail "$command: stderr lacks '$1': $(cat err)"
}

tells() {
    grep -qF -e "$1" out || fail "$command: stdout lacks '$1': $(head -c 2000 out)"
}

silent() {
    [ ! -s out ] || fail "$command: stdout should be empty: $(head -c 300 out)"
}

one_line() {
    lines=$(wc -l <err)
    [ "$lines" -eq 1 ] || fail "$command: stderr has $lines lines: $(cat err)"
    grep -q '^rarebit: ' err || fail "$command: stderr does not begin with 'rarebit: ': $(cat err)"
}

# Wrong usage: exit 2, a sentence in one line, nothing on stdout.
refuses() {
    sentence=$1
    shift
    expect 2 "$@"
    one_line
    silent
    says "$sentence"
}

# Failure: exit 1, a sentence in one line, nothing on stdout.
breaks() {
    sentence=$1
    shift
    expect 1 "$@"
    one_line
    silent
    says "$sentence"
}

exists() {
    [ -s "$1" ] || fail "$command: $1 is missing or empty"
}

# Nothing but the named files is in the folder.
only() {
    for file in * .[!.]*; do
        case " $* out err " in
        *" $file "*) ;;
        *) [ ! -e "$file" ] || fail "${command:-}: left '$file' behind" ;;
        esac
    done
}

same() {
    cmp -s "$1" "$2" || fail "$command: $1 and $2 differ"
}

# The number of a key in JSON on stdin.
number() {
    sed -n "s/.*\"$1\": \([-0-9.eE+]*\).*/\1/p" | head -n 1
}

# Holds when the awk condition does: holds "$x > 3"
holds() {
    awk "BEGIN { exit !($1) }" || fail "${command:-}: not $1"
}

finish() {
    finished=yes
    [ $failures -eq 0 ] || echo "$failures failures"
    [ $failures -eq 0 ]
    exit
}
