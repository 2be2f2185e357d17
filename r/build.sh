#!/bin/sh
# Makes the source of the R package: what stands in r/rarebit, the demo's cells, and the core of the library,
# which is compiled where no librarebit is installed. git keeps no copy of these.
#
#   sh r/build.sh FOLDER            the tarball, FOLDER/rarebit_x.y.z.tar.gz, in the place of an older one
#   sh r/build.sh --folder FOLDER   the unpacked source, FOLDER/rarebit, which must not be there
set -eu
die() {
    echo "$0: $*" >&2
    exit 1
}
here=$(cd "$(dirname "$0")/.." && pwd)
only_folder=
if [ "${1:-}" = --folder ]; then
    only_folder=yes
    shift
fi
if [ $# -ne 1 ]; then
    echo "usage: sh r/build.sh [--folder] FOLDER" >&2
    exit 2
fi
mkdir -p "$1"
to=$(cd "$1" && pwd)

# Does anything have this name, be it a link that leads nowhere?
stands() { [ -e "$1" ] || [ -L "$1" ]; }

refuse_folder() {
    ! stands "$to/rarebit" || die "$to/rarebit is there already; move it, or name another folder"
}

[ -z "$only_folder" ] || refuse_folder

# All is made in a folder of its own beside the result, which then takes its place by one renaming.
work=$(mktemp -d "$to/.rarebit-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
source=$work/rarebit
cp -R "$here/r/rarebit" "$source"
mkdir -p "$source/inst/extdata" "$source/src/core/include/rarebit"
cp "$here/examples/data/pbmc700/expr.tsv.gz" "$source/inst/extdata/cells.tsv.gz"
cp "$here/examples/data/pbmc700/labels.tsv" "$source/inst/extdata/labels.tsv"

# ---- the core and nets: without the rooms of other libraries, which CMake lists, and their headers; but that of
# librarebit-cl, which is loaded where it is found ----

core=$source/src/core
cp "$here"/include/rarebit/*.h "$core/include/rarebit"
lists=$here/cmake/Libraries.cmake
rooms=$(sed -n 's/^list(FILTER RAREBIT_core_SOURCES EXCLUDE REGEX "src.(\[a-z\]+.isa|\(.*\)).")$/\1/p' "$lists" | tr '|' '\n' | grep -vx nets)
for room in $(echo "$rooms" | grep -vx cl); do
    for header in $(sed -n "s/^set(RAREBIT_${room}_HEADERS \(.*\))/\1/p" "$lists"); do
        rm "$core/include/rarebit/$header.h"
    done
done
(cd "$here" && find src -name '*.[ch]' -o -name '*.inc') | grep -vE "^src/($(echo "$rooms" | tr '\n' '|')nets/files)/" | while read -r file; do
    mkdir -p "$core/$(dirname "$file")"
    cp "$here/$file" "$core/$file"
done

# R CMD build leaves out folders that are called check.
mv "$core/src/check" "$core/src/checking"
grep -rl '^#include "check/' "$core/src" | while read -r file; do
    sed 's|^#include "check/|#include "checking/|' "$file" >"$work/file"
    mv "$work/file" "$file"
done

# As cmake/Kernels.cmake does it, by pragmas where the compiler knows them.
kernels() {
    cat <<END
/* The kernels for $1. */
#ifndef __clang__
#pragma GCC optimize("O3", "no-math-errno")
$2
#endif
#define RB_ISA $1
#include "$3"
END
}
for path in linalg/isa/kernels_isa.c et/isa/et_kernels.c; do
    name=$(basename "$path" .c)
    kernels ref "" "$path" >"$core/src/${name}_ref.c"
    kernels avx2 '#pragma GCC target("avx2,fma")' "$path" >"$core/src/${name}_avx2.c"
    kernels avx512 '#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma,prefer-vector-width=512")' \
        "$path" >"$core/src/${name}_avx512.c"
done

if [ "$only_folder" ]; then
    refuse_folder
    mv "$source" "$to/rarebit"
    exit
fi
cd "$work"
R CMD build --no-manual rarebit
tarball=$(ls rarebit_*.tar.gz)
if [ "${SOURCE_DATE_EPOCH:-}" ]; then # R writes who packed it, and when
    rm -rf rarebit
    tar -xf "$tarball"
    sed -i "s/^Packaged: .*/Packaged: $(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S') UTC; rarebit/" rarebit/DESCRIPTION
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --format=gnu \
        -cf - rarebit | gzip -9n >"$tarball"
fi
stands "$to/$tarball" && { [ ! -f "$to/$tarball" ] || [ -L "$to/$tarball" ]; } &&
    die "$to/$tarball is no tarball; move it, or name another folder"
mv -f "$tarball" "$to/$tarball"
