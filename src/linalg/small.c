/* Small systems of equations, one after the other on the calling thread (LAPACK). */
#include "linalg.h"

/* LAPACK, which stores by columns: its upper triangle is our lower one, and a right side is one of
 * our rows. */
void dposv_(const char *uplo, const int *n, const int *sides, double *a, const int *lda, double *b,
            const int *ldb, int *info, size_t length);

bool rb_solve_small(int64_t size, double *a, int64_t count, double *b) {
    int n = (int)size, sides = (int)count, info = 0;
    if (n > 0 && sides > 0) {
        int entered = rb_blas_enter();
        dposv_("U", &n, &sides, a, &n, b, &n, &info, 1);
        rb_blas_leave(entered);
    }
    return info == 0;
}
