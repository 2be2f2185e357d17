# The core alone, built against the reference BLAS and LAPACK, or BLIS: it needs no library of ours for
# files, no call that only OpenBLAS has, and fits.
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
{
    "$CMAKE" -S "$SOURCE" -B "$work/build" -DRAREBIT_IO=OFF "-DRAREBIT_BLAS=$blas" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER="$CC" &&
        "$CMAKE" --build "$work/build" --parallel 2 &&
        "$CMAKE" --install "$work/build" --prefix "$work/prefix"
} >"$work/log" 2>&1 || { grep -iE -A3 "error|undefined" "$work/log" >&2; exit 1; }
libdir=$(dirname "$(find "$work/prefix" -name librarebit.so)")
if readelf -d "$libdir/librarebit.so" | grep -E 'NEEDED' | grep -vE '\[(libblas|liblapack|libblis|libm|libc|libpthread|ld-linux[^]]*)\.so'; then
    echo "the core needs more than a BLAS and the C run-time" >&2
    exit 1
fi
cat >"$work/fit.c" <<'END'
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
# shellcheck disable=SC2046
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
"$CC" -Wall -Wextra -Werror "$work/fit.c" -o "$work/fit" $(pkg-config --cflags --libs rarebit) -lm
# The loader may find another BLAS by the same name: once what it finds, once the reference itself.
cd "$work"
LD_LIBRARY_PATH=$libdir ./fit
for folder in /usr/lib/*/blas; do
    if [ -d "$folder" ]; then
        LD_LIBRARY_PATH=$libdir:$folder:${folder%blas}lapack ./fit
    fi
done
