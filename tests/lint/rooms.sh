# Rooms include only downward, and of another room only its face, src/<room>/<room>.h. Tool, benchmarks
# and examples use the public headers alone, but for bench/inside, which looks at parts of the library.
set -eu
cd "$SOURCE"

floor_of() {
    case $1 in
        base) echo 1 ;;
        linalg) echo 2 ;;
        data) echo 3 ;;
        io) echo 4 ;;
        model) echo 5 ;;
        em) echo 6 ;;
        rfn | et | compare | analysis) echo 7 ;;
        *) echo 0 ;;
    esac
}

wrong() {
    echo "$1: includes \"$2\": $3" >&2
    touch "$failed"
}

failed=$(mktemp -u)
for folder in src/*/; do
    room=$(basename "$folder")
    [ "$(floor_of "$room")" -gt 0 ] || wrong "$folder" "" "tests/lint/rooms.sh knows no such room"
    grep -rn '^#include "' "$folder" | sed 's/:[0-9]*:#include "/ /; s/".*//' |
        while read -r file include; do
            other=${include%%/*}
            if [ "$other" = "$include" ]; then
                [ -f "$(dirname "$file")/$include" ] || wrong "$file" "$include" "not beside it"
            elif [ "$other" != "$room" ]; then
                [ "$(floor_of "$other")" -gt 0 ] || wrong "$file" "$include" "no such room"
                [ "$(floor_of "$other")" -lt "$(floor_of "$room")" ] ||
                    wrong "$file" "$include" "$other does not stand below $room"
                [ "$include" = "$other/$other.h" ] || wrong "$file" "$include" "private to $other"
            fi
        done
done

for folder in tool bench examples; do
    [ -d $folder ] || continue
    grep -rn --include='*.[ch]' --exclude-dir=inside '^#include "' $folder | sed 's/:[0-9]*:#include "/ /; s/".*//' |
        while read -r file include; do
            [ -f "$(dirname "$file")/$include" ] || wrong "$file" "$include" "not a public header"
        done
done

if [ -e "$failed" ]; then
    rm "$failed"
    exit 1
fi
