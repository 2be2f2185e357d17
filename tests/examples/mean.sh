# examples/mean.c, a method outside of the library, compiles without a warning against the public headers,
# links to the shared library, and is fitted, saved, loaded and used.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SOURCE/include" "$SOURCE/examples/mean.c" \
    -L"$BUILD" -lrarebit-io -lrarebit -Wl,-rpath,"$BUILD" -lm -o "$work/mean"
"$work/mean" "$work/mean.h5" >"$work/out"
cat >"$work/wanted" <<END
codes: 0.5 1 1.5
mean: 2 4
mean squared error: 0
END
cmp "$work/out" "$work/wanted"

# The page shows the very lines of the example.
sed -n '/^```c/,/^```$/p' "$SOURCE/docs/howto/new-method.md" | grep -v '^```' >"$work/page"
[ "$(wc -l <"$work/page")" -gt 20 ]
grep -Fxvf "$SOURCE/examples/mean.c" "$work/page" && exit 1
exit 0
