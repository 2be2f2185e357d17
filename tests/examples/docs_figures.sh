# ./run docs-figures: a figure of docs that its commands give no longer is printed, one within its spread is not.
. "$SOURCE/tests/cli/lib/lib.sh"
mkdir -p source/docs/measurements source/bench build/bench
cp "$SOURCE/bench/docs_figures.py" source/bench
cat >source/docs/measurements/page.md <<'END'
<!-- figures
printf '1.04 20 0.5\n3 4 -2e-3\n'
-->
| row | a | b | c |
| --- | --- | --- | --- |
| one | 1.0 | 21 | 0.5 |
| two | 3, 4 | | -2e-3 |

<!-- figures columns 3 spread 10 %
echo 109
-->
| row | paper | ours |
|---|---|---|
| `x 7` | 5 | 100 |

<!-- figures long
exit 1
-->
| row | a |
|---|---|
| slow | 1 |

| of the clock | 2 | 3 |
|---|---|---|
| seconds | 4 | 5 |
END
figures() {
    command="docs-figures $*"
    status=$1
    shift
    code=0
    python3 -B source/bench/docs_figures.py build "$@" >out 2>err || code=$?
    [ $code = "$status" ] || fail "exit code $code, not $status: $(cat out err)"
}
figures 0
tells "2 tables, 7 figures: 0 moved; 1 long tables left out"
sed -i 's/^| one | 1.0 | 21/| one | 1.2 | 21/; s/| 5 | 100 |/| 5 | 98 |/' source/docs/measurements/page.md
figures 1 page
tells "docs/measurements/page.md:4: one: 1.2 is now 1.04"
tells "docs/measurements/page.md:12: \`x 7\`: 98 is now 109"
tells "2 moved"
figures 1 --all
tells "its commands end with 1"
sed -i 's/^| two.*/| two | 3 | | |/' source/docs/measurements/page.md
figures 1
tells "two: 1 figures, the commands print 3"
figures 0 --list
tells "page: 3 tables with their commands, 1 of them long; 1 without"
figures 2 none
grep -q "'none' is neither" err || fail "an unknown page: $(cat err)"
# The comments of docs are read, and stand above tables.
python3 -B "$SOURCE/bench/docs_figures.py" build --list >out || fail "docs are not read"
tells "prior: 2 tables with their commands, 0 of them long"
[ "$(cat "$SOURCE"/docs/measurements/*.md | grep -c '^<!-- figures')" = "$(awk '{ n += $2 } END { print n }' out)" ] || fail "a comment without a table: $(cat out)"
finish
