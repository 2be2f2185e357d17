# Codecs and libraries are optional: CMake takes what is there and says what it leaves out, and so does the tool where
# a user needs it. Of the build tree only what differs is compiled and linked anew.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    cat "$work/log" >&2
    echo "$1" >&2
    exit 1
}

# ---- configuring, on a machine without liblzf ----

mkdir "$work/pc"
for folder in $(pkg-config --variable pc_path pkg-config | tr ':' ' '); do
    for file in "$folder"/*.pc; do
        [ ! -f "$file" ] || ln -sf "$file" "$work/pc"
    done
done
rm "$work/pc/liblzf.pc"
configure() {
    PKG_CONFIG_LIBDIR=$work/pc "$CMAKE" -S "$SOURCE" -B "$work/build" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >"$work/log" 2>&1
}
configure -DRAREBIT_PNG=OFF -DRAREBIT_NETS=OFF -DRAREBIT_MEDIA=OFF -DRAREBIT_PLOT=OFF || fail "not configured"
grep -q 'built without libpng, liblzf, librarebit-plot, librarebit-nets, librarebit-media;' "$work/log" ||
    fail "CMake does not say what it leaves out"
sources=$(sed -n 's|^ *"file": "\(.*\)".*|\1|p' "$work/build/compile_commands.json")
for file in src/io/without/png.c src/io/without/lzf.c tool/without/nets.c tool/without/media.c tool/without/plot.c; do
    echo "$sources" | grep -qxF "$SOURCE/$file" || fail "$file is not compiled"
done
if echo "$sources" | grep -E '/src/(io/(png|lzf)|(nets|media|plot)/.*)\.c$|/tool/(plot|stack|patches)\.c$|/tests/'; then
    fail "what is left out is compiled"
fi
if configure -DRAREBIT_LZF=ON || ! grep -q 'Not found: liblzf' "$work/log"; then
    fail "-DRAREBIT_LZF=ON is taken where there is no liblzf"
fi

# ---- two tools: without codecs, and without libraries too ----

cd "$work"
: >log
for file in src/io/without/png.c src/io/without/lzf.c src/media/without/sndfile.c tool/without/nets.c \
    tool/without/media.c tool/without/plot.c; do
    # shellcheck disable=SC2046 # words
    "$CC" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Werror -fPIE -I"$SOURCE/include" -I"$SOURCE/src" \
        $(pkg-config --cflags openblas hdf5 jansson) -c "$SOURCE/$file" -o "$(basename "$file" .c).o"
done
objects=$(find "$BUILD/CMakeFiles/rarebit.dir" -name '*.o' | while read -r object; do
    source=${object#"$BUILD/CMakeFiles/rarebit.dir"}
    case $source in
        /tool/*) [ -f "$SOURCE${source%.o}" ] || continue ;; # of a file that is gone
    esac
    echo "$object"
done)
kept=$(echo "$objects" | grep -vE '/tool/(plot|export|finetune|predict|stack|denoise|patches|segments)\.c\.o$')
libraries="$BUILD/librarebit-io.a $BUILD/librarebit.a $(pkg-config --libs openblas hdf5 zlib jansson) -lm -lpthread"
# shellcheck disable=SC2086 # words
{
    "$CC" $objects png.o lzf.o sndfile.o "$BUILD/librarebit-plot.a" "$BUILD/librarebit-nets.a" \
        "$BUILD/librarebit-media.a" $libraries $(pkg-config --libs cairo) -o plain
    "$CC" $kept png.o lzf.o nets.o media.o plot.o $libraries -o small
}

# says TOOL "WORDS OF THE MESSAGE" ARGUMENT...: fails, and says so in one line
says() {
    tool=$1 words=$2
    shift 2
    if "./$tool" "$@" >out 2>log || [ "$(wc -l <log)" != 1 ] || ! grep -qF "$words" log; then
        fail "$tool $*: not '$words'"
    fi
}

"$RAREBIT" simulate bars -q --size 3 --samples 60 --seed 1 -o x.npy
"$RAREBIT" fit rfn -q x.npy -k 3 --iterations 5 --seed 1 -o m.h5
"$RAREBIT" plot history -q m.h5 -o image.png
says plain 'this rarebit was built without libpng; convert' info image.png
says plain 'this rarebit was built without liblzf; repack' info "$SOURCE/tests/data/hdf5/lzf.h5ad"
says plain 'this rarebit was built without libsndfile' segments a.wav -o y.npy
./plain version >log
grep -qE '^codecs +no libpng, no liblzf, no libsndfile, cairo [0-9.]+$' log || fail "version without codecs"

./small fit rfn -q x.npy -k 3 --iterations 5 --seed 1 -o again.h5 2>log || fail "the small tool does not fit"
./small info again.h5 >/dev/null 2>log || fail "the small tool does not read its model"
says small 'this rarebit was built without librarebit-plot (cairo), which' plot history m.h5 -o y.png
says small 'this rarebit was built without librarebit-nets, which' stack x.npy -k 3 -o y.h5
says small "this rarebit was built without librarebit-nets, which 'dae' needs" fit dae x.npy -k 3 -o y.h5
says small 'this rarebit was built without librarebit-media, which' patches image.png -o y.npy
./small version --json >log
grep -q '"cairo": null' log || fail "version --json of the small tool"
./small help >log
if grep -E '^ +(plot|stack|patches|segments|denoise|predict)\b' log; then
    fail "help lists what the small tool has not"
fi
