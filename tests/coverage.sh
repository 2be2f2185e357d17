# Which lines and branches of src/ the tests run, for each of its rooms: coverage.sh BUILD, a folder that was built with
# -DRAREBIT_COVERAGE=ON. A branch is one way of a conditional jump that the compiler makes.
set -eu
build=$1
find "$build" -name '*.gcda' -delete
status=0
# Not cli/interrupt, which limits the size of files, the counts among them.
sh tests/run.sh "$build" --test-output-size-failed 2000 -R '^(unit|property|golden|cli)/' -E '^cli/interrupt$' >"$build/coverage.log" || status=$?
[ $status = 0 ] || cat "$build/coverage.log"
gcovr --root . --filter 'src/' --object-directory "$build" --csv "$build/coverage.csv" "$build" >"$build/gcovr.log" 2>&1 || {
    cat "$build/gcovr.log" >&2
    exit 1
}
awk -F, -v OFS='\t' '
    function percent(part, all) { return all ? sprintf("%.1f", 100 * part / all) : "-" }
    function row(room) {
        print room, lines[room], percent(covered[room], lines[room]), branches[room],
            percent(taken[room], branches[room])
    }
    function add(room) {
        lines[room] += $column["line_total"]
        covered[room] += $column["line_covered"]
        branches[room] += $column["branch_total"]
        taken[room] += $column["branch_covered"]
    }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; print "room", "lines", "% run", "branches", "% taken"; next }
    {
        n = split($1, path, "/")
        room = n > 2 ? path[1] "/" path[2] : $1
        if (!(room in lines)) order[++rooms] = room
        add(room)
        add("src")
    }
    END { for (i = 1; i <= rooms; i++) row(order[i]); row("src") }' "$build/coverage.csv"
exit $status
