# A BLAS or a LAPACK with integers of 64 bits is refused when configuring, one with 32 is taken: stand-ins that have
# two functions, and Debian's OpenBLAS with 64 bits where it is installed.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/blas.c" <<'END'
#include <math.h>
double ddot_(const BLAS_INT *n, const double *x, const BLAS_INT *dx, const double *y, const BLAS_INT *dy) {
    double sum = 0;
    for (BLAS_INT i = 0; i < *n; i++)
        sum += x[i * *dx] * y[i * *dy];
    return sum;
}
void dpotrf_(const char *uplo, const LAPACK_INT *n, double *a, const LAPACK_INT *lda, LAPACK_INT *info) {
    *info = *n < 0 || *lda < 1 || *uplo != 'L';
    if (*info == 0 && *n == 1) a[0] = sqrt(a[0]);
}
END

# configure NAME: with the package of that name; what CMake says is in $work/log.
configure() {
    PKG_CONFIG_PATH="$work:${PKG_CONFIG_PATH-}" "$CMAKE" -S "$SOURCE" -B "$work/build-$1" -DRAREBIT_IO=OFF \
        "-DRAREBIT_BLAS=$1" -DCMAKE_C_COMPILER="$CC" >"$work/log" 2>&1
}

# stand_in NAME BLAS_INT LAPACK_INT
stand_in() {
    "$CC" -shared -fPIC -DBLAS_INT="$2" -DLAPACK_INT="$3" "$work/blas.c" -o "$work/lib$1.so" -lm
    printf 'Name: %s\nDescription: a stand-in\nVersion: 1\nLibs: -L%s -l%s\n' "$1" "$work" "$1" >"$work/$1.pc"
}

# refused NAME
refused() {
    if configure "$1"; then
        echo "$1 is taken, though it takes integers of 64 bits" >&2
        exit 1
    fi
    tr -s ' \n' ' ' <"$work/log" | grep -q "RAREBIT_BLAS is '$1', which takes integers of 64 bits" || {
        cat "$work/log" >&2
        exit 1
    }
}

stand_in whole32 int int
configure whole32 || { cat "$work/log" >&2; exit 1; }
stand_in blas64 'long long' int
refused blas64
stand_in lapack64 int 'long long'
refused lapack64
if pkg-config --exists openblas64; then refused openblas64; fi
