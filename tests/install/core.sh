# The core alone, linked to the reference BLAS and LAPACK, or BLIS: it needs no library of ours for files, no call that
# only OpenBLAS has, and fits. (python/package compiles it by itself.)
set -eu
. "$SOURCE/tests/lib/skip.sh"
if pkg-config --exists blas-netlib lapack-netlib 2>/dev/null; then
    blas="blas-netlib;lapack-netlib"
elif [ -n "$(find /usr/lib /usr/lib64 -name libblis.so 2>/dev/null | head -1)" ]; then
    blas="blis;lapack"
else
    need library blas-netlib lapack-netlib
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# ---- configured so: nothing is there that needs more, and its pkg-config file names that BLAS ----

"$CMAKE" -S "$SOURCE" -B build -DRAREBIT_IO=OFF "-DRAREBIT_BLAS=$blas" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -DCMAKE_C_COMPILER="$CC" >log 2>&1 || { cat log >&2; exit 1; }
sed -n 's|^ *"file": "\(.*\)".*|\1|p' build/compile_commands.json >sources
grep -qxF "$SOURCE/src/linalg/blas.c" sources
if grep -E '/src/(io|plot)/|/tool/' sources || grep -E 'BLAS|hdf5|jansson' build/compile_commands.json; then
    echo "more is compiled than what needs a BLAS alone, or otherwise than with another BLAS" >&2
    exit 1
fi
libraries=$(sed -n 's/^Libs.private: //p' build/rarebit.pc)

# ---- so what is compiled already is linked to it ----

# shellcheck disable=SC2086 # words
"$CC" -shared -o librarebit.so -Wl,--no-undefined -Wl,--whole-archive "$BUILD/librarebit.a" \
    -Wl,--no-whole-archive $libraries
if readelf -d librarebit.so | grep -E 'NEEDED' | grep -vE '\[(libblas|liblapack|libblis|libm|libc|libpthread|ld-linux[^]]*)\.so'; then
    echo "the core needs more than a BLAS and the C run-time" >&2
    exit 1
fi
cat >fit.c <<'END'
#include <math.h>
#include <rarebit/rarebit.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    enum { N = 60, M = 12 };
    static double values[N * M];
    rb_context *context;
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_options *options = NULL;
    for (int i = 0; i < N * M; i++) {
        values[i] = sin(i * 0.7) * (1 + i / M % 3) + cos(0.01 * i * i);
    }

    if (rb_context_new(&context)) { return 1; }
    rb_error error = rb_options_new(context, "rfn", &options);
    error = error ? error : rb_options_set_all(context, options, "units=%d", 3);
    error = error ? error : rb_matrix_dense(context, RB_FLOAT64, N, M, values, M, 1, &matrix);
    error = error ? error : rb_source_from_matrix(context, matrix, &source);
    error = error ? error : rb_fit(context, options, source, NULL, &model);
    if (error || !isfinite(*rb_model_array(model, "loadings", NULL, NULL))) {
        fprintf(stderr, "%s\n", rb_context_error(context));
        return 1;
    }
    rb_options_set(context, options, "checkpoint", "checkpoint.h5");
    rb_model_free(model);
    error = rb_fit(context, options, source, NULL, &model);
    printf("BLAS '%s': %s\n", rb_build_info(context, "blas"), rb_context_error(context));
    return error != RB_ERROR_UNSUPPORTED;
}
END
"$CC" -Wall -Wextra -Werror fit.c -I"$SOURCE/include" -o fit -L. -lrarebit -lm
# The loader may find another BLAS by the same name: once what it finds, once the reference itself.
LD_LIBRARY_PATH=$work ./fit
for folder in /usr/lib/*/blas; do
    if [ -d "$folder" ]; then
        LD_LIBRARY_PATH=$work:$folder:${folder%blas}lapack ./fit
    fi
done
