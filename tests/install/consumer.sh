# An outside project links against what is installed: through CMake and pkg-config, to the shared and
# the static library. The tree is moved after installing: nothing in it knows where it was.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$CMAKE" --install "$BUILD" --prefix "$work/first" >"$work/log" || { cat "$work/log" >&2; exit 1; }
mv "$work/first" "$work/prefix"
prefix=$work/prefix
cd "$work"

libdir=$(dirname "$(find "$prefix" -name librarebit.a)")
so=$(basename "$(readlink -f "$libdir/librarebit.so")")
version=${so#librarebit.so.}

cat >main.c <<'END'
#include <rarebit/rarebit.h>
#include <stdio.h>
int main(void) {
    rb_context *context;
    if (rb_context_new(&context)) { return 1; }
    rb_context_free(context);
    return puts(rb_version()) < 0;
}
END

# $1: what is tried, $2: the program, $3: shared or static
check() {
    if [ "$("$2")" != "$version" ]; then
        echo "$1: printed '$("$2")', not the version $version" >&2
        exit 1
    fi
    linked=static
    if readelf -d "$2" | grep -q 'NEEDED.*librarebit'; then
        linked=shared
    fi
    if [ "$linked" != "$3" ]; then
        echo "$1: linked to the $linked library" >&2
        exit 1
    fi
}

for kind in shared static; do
    target=rarebit::rarebit
    [ $kind = shared ] || target=rarebit::rarebit_static
    mkdir $kind
    cat >$kind/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package(rarebit ${version%.*} REQUIRED COMPONENTS $kind)
add_executable(outside ../main.c)
target_link_libraries(outside $target)
END
    {
        "$CMAKE" -S $kind -B $kind/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" &&
            "$CMAKE" --build $kind/build
    } >log 2>&1 || { cat log >&2; exit 1; }
    check "find_package, $kind" $kind/build/outside $kind
done

export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion rarebit)" = "$version" ]
flags=$(pkg-config --cflags rarebit | sed 's/ *$//')
case $flags in
    "-I$prefix/include" | "-I$libdir/pkgconfig/"*"/include") ;;
    *)
        echo "pkg-config --cflags: '$flags': the headers need no others" >&2
        exit 1
        ;;
esac
# shellcheck disable=SC2046
"$CC" main.c -o by_pc $(pkg-config --cflags --libs rarebit) -Wl,-rpath,"$libdir"
check pkg-config ./by_pc shared
# shellcheck disable=SC2046
"$CC" main.c -o by_pc_static $(pkg-config --cflags rarebit) \
    $(pkg-config --static --libs rarebit | sed 's/-lrarebit/-l:librarebit.a/')
check "pkg-config --static" ./by_pc_static static

if [ -n "${RAREBIT:-}" ]; then
    "$prefix/bin/rarebit" version | grep -qF "$version"
fi

# `./run demo` builds all that is installed.
demo=$(sed -n 's/^ *build --target \(.*\) #.*/ \1 /p' "$SOURCE/run")
for target in $(sed -n 's/^ *install(TARGETS \([a-z_ ]*\) .*/\1/p' "$SOURCE/cmake/Install.cmake") rarebit_manual; do
    case $target$demo in
        rarebit_dependencies* | *" $target "*) ;;
        *) echo "./run demo does not build $target, which is installed" >&2; exit 1 ;;
    esac
done
