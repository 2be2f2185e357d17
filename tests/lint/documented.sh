# Every public function is documented: a comment stands above it, or above the group of declarations
# without an empty line that it belongs to.
set -eu
cd "$SOURCE"
awk '
    FNR == 1 { described = 0 }
    /^$/ { described = 0 }
    /\*\/$/ { described = 1 }
    /^RB_API/ && !described { printf "%s:%d: no comment: %s\n", FILENAME, FNR, $0; wrong = 1 }
    END { exit wrong }
' include/rarebit/*.h >&2
