# An outside project links against what is installed: through CMake and pkg-config, to the shared and
# the static libraries, to the core alone and with files and plots. The tree is moved after installing:
# nothing in it knows where it was.
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

cat >rarebit.c <<'END'
#include <rarebit/rarebit.h>
#include <stdio.h>
int main(void) {
    rb_context *context;
    if (rb_context_new(&context)) { return 1; }
    rb_context_free(context);
    return puts(rb_version()) < 0;
}
END
sed 's|^#include <stdio.h>|#include <rarebit/io.h>\n&|; s|rb_context_free|rb_io_use(context);\n    rb_io_hdf5();\n    &|' rarebit.c >rarebit-io.c
sed 's|^#include <stdio.h>|#include <rarebit/plot.h>\n&|; s|rb_context_free|rb_plot_group();\n    &|' rarebit-io.c >rarebit-plot.c
sed 's|^#include <stdio.h>|#include <rarebit/deep.h>\n&|; s|rb_context_free|rb_nets_use(context);\n    &|' rarebit-io.c >rarebit-nets.c
sed 's|^#include <stdio.h>|#include <rarebit/patches.h>\n&|; s|rb_context_free|rb_patches_group();\n    &|' rarebit-io.c >rarebit-media.c

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

export PKG_CONFIG_PATH="$libdir/pkgconfig"
for name in rarebit rarebit-io rarebit-plot rarebit-nets rarebit-media; do
    for kind in shared static; do
        target=rarebit::$name
        [ $kind = shared ] || target=rarebit::${name}_static
        mkdir -p $name/$kind
        cat >$name/$kind/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(outside C)
find_package($name ${version%.*} REQUIRED COMPONENTS $kind)
add_executable(outside ../../$name.c)
target_link_libraries(outside $target)
END
        {
            "$CMAKE" -S $name/$kind -B $name/$kind/build -DCMAKE_PREFIX_PATH="$prefix" \
                -DCMAKE_C_COMPILER="$CC" && "$CMAKE" --build $name/$kind/build
        } >log 2>&1 || { cat log >&2; exit 1; }
        check "find_package($name), $kind" $name/$kind/build/outside $kind
    done

    [ "$(pkg-config --modversion $name)" = "$version" ]
    flags=$(pkg-config --cflags $name | sed 's/ *$//')
    case $flags in
        "-I$prefix/include" | "-I$libdir/pkgconfig/"*"/include") ;;
        *)
            echo "pkg-config --cflags $name: '$flags': the headers need no others" >&2
            exit 1
            ;;
    esac
    # shellcheck disable=SC2046
    "$CC" $name.c -o by_pc $(pkg-config --cflags --libs $name) -Wl,-rpath,"$libdir"
    check "pkg-config $name" ./by_pc shared
    # shellcheck disable=SC2046
    "$CC" $name.c -o by_pc_static $(pkg-config --cflags $name) \
        $(pkg-config --static --libs $name | sed 's/-l\(rarebit[a-z-]*\)/-l:lib\1.a/g')
    check "pkg-config --static $name" ./by_pc_static static
done

# The core stands alone: installed by itself, and without a name that begins with HDF5's.
"$CMAKE" --install "$BUILD" --prefix "$work/alone" --component core >log
[ -z "$(find alone ! -type d ! -name 'librarebit.so.*' ! -name LICENSE)" ] # what a program needs to run
"$CMAKE" --install "$BUILD" --prefix "$work/alone" --component core-dev >log
[ -z "$(find alone -name '*rarebit-io*' -o -name io.h -o -name plot.h)" ]
"$CC" rarebit.c -o alone/outside -Ialone/include -L"$(dirname "$(find alone -name librarebit.so)")" -lrarebit

# Where no shared library is installed, the names are of the static ones.
find "$prefix" -name '*Shared*.cmake' -delete
"$CMAKE" -S rarebit-io/shared -B only -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" >log 2>&1 &&
    "$CMAKE" --build only >log 2>&1 || { cat log >&2; exit 1; }
check "find_package(rarebit-io) without shared libraries" only/outside static

if [ -n "${RAREBIT:-}" ]; then
    "$prefix/bin/rarebit" version | grep -qF "$version"
fi

# What was installed is removed, with its folders; what else is there stays, as do the folders of everybody.
find "$prefix" ! -type d >manifest
: >"$prefix/lib/other.a"
"$CMAKE" -DMANIFEST=manifest "-DSHARED=bin|lib|include|share|share/man" -P "$SOURCE/cmake/Uninstall.cmake"
left=$(cd "$prefix" && find . | sort | xargs)
[ "$left" = ". ./bin ./include ./lib ./lib/other.a ./share ./share/man" ] || { echo "uninstalling left $left" >&2; exit 1; }
