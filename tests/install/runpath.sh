# Nothing that is built or installed looks for libraries in the folder from which it is started: it has full names, or
# $ORIGIN, and $ORIGIN alone once it is installed. What is packed for Python and R has tests of its own.
set -eu
. "$SOURCE/tests/lib/runpath.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CMAKE" --install "$BUILD" --prefix "$work/prefix" >"$work/log" || { cat "$work/log" >&2; exit 1; }

objects() {
    find "$1" -name CMakeFiles -prune -o -name page-modules -prune -o -type f \( -name '*.so*' -o -perm -u+x \) -print |
        while read -r file; do
            readelf -d "$file" 2>/dev/null | grep -q NEEDED && echo "$file"
        done
}
# shellcheck disable=SC2046 # no folder of these has a space
{
    check_runpath '/*' $(objects "$BUILD")
    check_runpath '$ORIGIN' $(objects "$work/prefix")
    check_runpath '$ORIGIN' "$BUILD"/librarebit*.so # these are packed, too
}
[ "$(objects "$work/prefix" | wc -l)" -ge 3 ]
readelf -d "$(find "$work/prefix" -name librarebit-io.so)" | grep -q 'PATH.*\[$ORIGIN\]'
