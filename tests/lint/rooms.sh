# Rooms include only downward, and of another room only its face, src/<room>/<room>.h. Tool, benchmarks
# and examples use the public headers alone, but for bench/inside, which looks at parts of the library.
set -eu
cd "$SOURCE"

floor_of() {
    case $1 in
        base | cl | mpi) echo 1 ;;
        linalg) echo 2 ;;
        data) echo 3 ;;
        model) echo 4 ;;
        em) echo 5 ;;
        rfn | et | factors | modules) echo 6 ;;
        check | simulate | study) echo 7 ;;
        io) echo 8 ;;
        plot | nets | media) echo 9 ;;
        *) echo 0 ;;
    esac
}

wrong() {
    echo "$1: includes \"$2\": $3" >&2
    touch "$failed"
}

failed=$(mktemp -u)
# The core knows no file and no picture: floors 1 to 7 are one library, and use the C library and a BLAS.
grep -rnE '^#include <' src --include='*.[ch]' --include='*.inc' |
    grep -vE '^src/(io|plot|nets|media|cl|mpi)/' |
    grep -vE '<(rarebit/|cblas\.h|immintrin\.h|sys/(mman|resource|stat)\.h|(assert|ctype|dirent|dlfcn|errno|fcntl|float|inttypes|limits|locale|math|pthread|sched|signal|std[a-z]+|string|strings|time|unistd|xlocale)\.h)' |
    sed 's/:[0-9]*:#include / /' | while read -r file include; do
    wrong "$file" "$include" "the core needs the C library and a BLAS alone"
done
# shellcheck disable=SC2013 # words
for header in $(sed -n 's/^set(RAREBIT_[a-z]*_HEADERS \(.*\))/\1/p' cmake/Libraries.cmake); do
    grep -ln "rarebit/$header\.h>" src/*/*.[ch] include/rarebit/*.h | grep -vE "^src/(io|plot|nets|media|cl|mpi)/|^include/rarebit/(io|plot|deep|grid|stack|denoise|patches|report|segments|cl|mpi)\.h" |
        while read -r file; do wrong "$file" "rarebit/$header.h" "not of the core"; done
done
for folder in src/*/; do
    room=$(basename "$folder")
    [ "$(floor_of "$room")" -gt 0 ] || wrong "$folder" "" "tests/lint/rooms.sh knows no such room"
    [ "$(head -n 1 "$folder/README.md")" = "# $room: floor $(floor_of "$room")" ] ||
        wrong "$folder/README.md" "" "the first line is not: # $room: floor $(floor_of "$room")"
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
