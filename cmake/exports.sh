# The version script of a shared library: exports.sh OUT NM NODE VERSION HEADER... -- OBJECT... -- USER...
# Public is what the headers promise; private to libraries of the same version, what objects of a library
# above use besides.
set -eu
out=$1 nm=$2 node=$3 version=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mode=headers
for word in "$@"; do
    case $mode$word in
        headers--) mode=own ;;
        own--) mode=users ;;
        *) echo "$word" >>"$work/$mode" ;;
    esac
done
touch "$work/users"

# "RB_API type name(...": the name is what stands before the first parenthesis.
xargs cat <"$work/headers" | grep -v '^#' | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*RB_API [^(]*[ *]\(rb_[a-z0-9_]*\)(.*/\1/p' | sort -u >"$work/public"
xargs "$nm" -g --defined-only <"$work/own" | awk 'NF == 3 { print $3 }' | sort -u >"$work/defined"
{
    [ ! -s "$work/users" ] || xargs "$nm" -u <"$work/users"
} | awk '$1 == "U" { print $2 }' | sort -u | comm -12 - "$work/defined" |
    comm -23 - "$work/public" >"$work/private"
{
    echo "RAREBIT_$node {"
    echo "global:"
    sed 's/$/;/' "$work/public"
    echo "local: *;"
    echo "};"
    if [ -s "$work/private" ]; then
        echo "RAREBIT_PRIVATE_$version {"
        echo "global:"
        sed 's/$/;/' "$work/private"
        echo "};"
    fi
} >"$work/map"
mv "$work/map" "$out"
