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

<!-- figures rows 2-2 columns 2
echo 7
-->
| row | a |
|---|---|
| of files from elsewhere | 1 |
| made here | 7 |

<!-- figures none: times of
a machine -->
| of the clock | 2 | 3 |
|---|---|---|
| seconds | 4 | 5 |

| of nothing measured | 0 |
|---|---|
| `--rate 0.1` | a step of 0.1 |

| without | a |
|---|---|
| a comment | **5.1 to 6** |
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
tells "3 tables, 8 figures: 0 moved; 1 long tables left out"
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
tells "measurements/page: 4 tables with their commands, 1 of them long; 1 with a reason; 1 without"
figures 1 --missing
[ "$(cat out)" = "docs/measurements/page.md:41: a table of figures without a comment \`<!-- figures ...\`, with its command or the reason why it has none (bench/docs_figures.py)" ] ||
    fail "not the table without a comment: $(cat out)"
figures 2 none
grep -q "'none' is neither" err || fail "an unknown page: $(cat err)"
# The comments of docs are read, and stand above tables.
python3 -B "$SOURCE/bench/docs_figures.py" build --list >out || fail "docs are not read"
tells "prior: 2 tables with their commands, 0 of them long"
stand=$(cat "$SOURCE"/docs/*/*.md | grep -c '^<!-- figures')
[ "$stand" = "$(awk '{ n += $2 + $11 } END { print n }' out)" ] || fail "a comment without a table: $stand stand in docs: $(cat out)"
finish
