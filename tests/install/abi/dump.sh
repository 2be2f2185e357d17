# The interface of a shared library as text: dump.sh LIBRARY OUT. Public functions and the types that
# their headers show; no places in the source, nothing private.
set -eu
here=$(dirname "$0")
abidw --headers-dir "$(cd "$here/../../../include/rarebit" && pwd)" --drop-private-types \
    --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
    --type-id-style hash "$1" | awk '
        /<elf-symbol .*RAREBIT_PRIVATE/ { next }
        /<function-decl .*RAREBIT_PRIVATE/ { inside = 1 }
        !inside
        /<\/function-decl>/ { inside = 0 }' >"$2"
