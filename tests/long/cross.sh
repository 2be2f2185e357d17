# The core compiles without a warning for arm64 and for musl, and what needs no BLAS runs there, arm64 under qemu: planted data
# are drawn, and differ from those of this machine by rounding alone. SOURCE is the source tree, JOBS a number of compilers.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE"
# shellcheck disable=SC2046 # words
blas=$(pkg-config --cflags-only-I openblas | sed 's/-I/-idirafter/g')

# core COMPILER: its objects and the program, linked without a BLAS.
core() {
    mkdir "$work/$1"
    {
        git ls-files 'src/*.c' | grep -vE '^src/(io|plot|nets|media|cl|mpi)/|/isa/' | sed 's/$/ -DPLAIN/'
        printf '%s -DRB_ISA=ref\n' src/linalg/isa/kernels_isa.c src/et/isa/et_kernels.c
    } | xargs -P "${JOBS:-1}" -L 1 sh -c '
        to=$0 compiler=$1 blas=$2
        $compiler -std=gnu11 -O1 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Wshadow -Wstrict-prototypes -Wno-missing-field-initializers -Werror \
            -Iinclude -Isrc $blas "$4" -c "$3" -o "$to/$(echo "$3" | tr / _).o" || exit 255' "$work/$1" "$1" "$blas"
    "$1" -std=gnu11 -Iinclude tests/long/cross.c "$work/$1"/*.o -static -Wl,--unresolved-symbols=ignore-all -lm -lpthread \
        -o "$work/$1/draw" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}

here=
for target in "cc " "musl-gcc " "aarch64-linux-gnu-gcc qemu-aarch64"; do
    core "${target%% *}"
    # shellcheck disable=SC2086 # words
    drawn=$(${target#* } "$work/${target%% *}/draw")
    echo "${target%% *}: $drawn"
    [ "${here:=$drawn}" = "$drawn" ] || { echo "other data than here" >&2; exit 1; }
done
