# examples/noisy_or.c, the model of one's own in docs/howto/new-et-model.md, compiles without a warning and
# finds its three causes: each field is near 0.9 at four features and near 0 elsewhere. The page shows the
# very functions of the example.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" "$SOURCE/examples/noisy_or.c" \
    -L"$BUILD" -lrarebit -Wl,-rpath,"$BUILD" -lm -o "$work/noisy_or"
"$work/noisy_or" >"$work/out"
[ "$(wc -l <"$work/out")" = 3 ]
awk '{
    large = 0
    for (d = 1; d <= NF; d++) {
        if ($d > 0.8 && $d < 0.99) { large++; column[d]++ }
        else if ($d > 0.06) exit 1
    }
    if (NF != 12 || large != 4) exit 1
}
END { for (d = 1; d <= 12; d++) if (column[d] != 1) exit 1 }' "$work/out"
sed -n '/^static void superpose/,/^};/p' "$SOURCE/examples/noisy_or.c" >"$work/example"
sed -n '/^```c/,/^```$/p' "$SOURCE/docs/howto/new-et-model.md" | grep -v '^```' >"$work/page"
head -n "$(wc -l <"$work/example")" "$work/page" | cmp - "$work/example"
