# Programs that were built with the last version run on this one, as long as the soname is the same: the
# interface only grows (abigail-tools), and a client that is built against the kept headers does the same
# as with those of today. tests/install/abi/update.sh records a version.
set -eu
. "$SOURCE/tests/lib/skip.sh"
kept=$SOURCE/tests/install/abi/kept
[ -d "$kept" ] || skip "no version is recorded yet (tests/install/abi/update.sh)"
soname() {
    readelf -d "$BUILD/lib$1.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'
}
if ! grep -q "soname='$(soname rarebit)'" "$kept/rarebit.abi"; then
    skip "the recorded version has another soname than $(soname rarebit)"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for form in kept:"$kept/include:$kept/client.c" today:"$SOURCE/include:$SOURCE/examples/fit.c"; do
    name=${form%%:*} paths=${form#*:}
    "$CC" -std=c11 -I"${paths%%:*}" "${paths#*:}" -L"$BUILD" -lrarebit-io -lrarebit \
        -Wl,-rpath,"$BUILD" -o "$work/$name"
    "$work/$name" "$SOURCE/examples/data/pbmc700/expr.tsv.gz" 4 >"$work/$name.out"
done
cmp "$work/kept.out" "$work/today.out"

# The table of a method may grow at its end (grows.suppr), and changes nowhere else.
table() {
    sed -n '/^typedef struct rb_method {/,/^} rb_method;/p' "$1/rarebit/method.h" | "$CC" -E -P - | tr -d ' \n'
}
before=$(table "$kept/include")
case $(table "$SOURCE/include") in
    "${before%\}rb_method;}"*) ;;
    *) echo "the fields of rb_method are others than before" >&2; exit 1 ;;
esac

need command abidiff
for library in rarebit rarebit-io rarebit-plot; do
    sh "$SOURCE/tests/install/abi/dump.sh" "$BUILD/lib$library.so" "$work/$library.abi"
    abidiff --no-added-syms --suppressions "$SOURCE/tests/install/abi/grows.suppr" \
        "$kept/$library.abi" "$work/$library.abi" >"$work/diff" || {
        cat "$work/diff" >&2
        echo "lib$library: a program built with the last version breaks; raise the soname, or take it back" >&2
        exit 1
    }
done
