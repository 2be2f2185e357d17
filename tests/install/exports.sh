# The shared library exports every function that the headers promise, and nothing else.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "RB_API type name(...": the name is what stands before the first parenthesis.
cat "$SOURCE"/include/rarebit/*.h | grep -v '^#' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*RB_API [^(]*[ *]\(rb_[a-z0-9_]*\)(.*/\1/p' | sort >"$work/promised"
nm -D --defined-only "$BUILD/librarebit.so" | awk '$2 != "A" { print $3 }' | sort >"$work/exported"

[ "$(wc -l <"$work/promised")" -gt 50 ]
if ! diff "$work/promised" "$work/exported" >"$work/diff"; then
    echo "promised by the headers but not exported (<), exported but not promised (>):" >&2
    grep '^[<>]' "$work/diff" >&2
    exit 1
fi
