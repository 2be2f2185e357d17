# The interface of a shared library as text: dump.sh LIBRARY OUT. Public functions and the types that
# their headers show; no places in the source but names of files within it, nothing private.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
abidw --headers-dir "$root/include/rarebit" --drop-private-types \
    --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
    --type-id-style hash "$1" | sed "s|='$root/|='|g" | awk '
        /<elf-symbol .*RAREBIT_PRIVATE/ { next }
        /<function-decl .*RAREBIT_PRIVATE/ { inside = 1 }
        !inside
        /<\/function-decl>/ { inside = 0 }' >"$2"
