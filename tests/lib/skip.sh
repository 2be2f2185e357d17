# What a test needs and not every machine has. A test sources this; SOURCE is the source tree.
#
#   need KIND NAME...        skips the test where one is missing; kinds and names are those of the table in `run`
#   need_python MODULE...    the same, and sets python to an interpreter that has them all
#   have KIND NAME...        false where one is missing, to skip a part of the test
#   skip REASON [PACKAGE...] skips the test
#
# A skip prints a line, which tests/run.sh collects. A skipped test exits with 77. With CI=true a skip fails.
print_skip() {
    reason=$1
    shift
    echo "skipped: $reason${1:+; needs: $*}"
    [ "${CI:-}" != true ] || leave 1
}

leave() {
    finished=yes # of tests/cli/lib/lib.sh
    exit "$1"
}

skip() {
    print_skip "$@"
    leave 77
}

have() {
    packages=$(sh "$SOURCE/run" lacking "$@") || leave 1
    [ "$packages" ] || return 0
    # shellcheck disable=SC2086 # words
    print_skip "no $*" $packages
    return 1
}

need() {
    have "$@" || leave 77
}

need_python() {
    for python in "${PYTHON:-/usr/bin/python3}" python3; do
        "$python" -c "import $(echo "$*" | sed 's/ /, /g')" 2>/dev/null && return
    done
    need python "$@"
    skip "no python3 has all of $*"
}
