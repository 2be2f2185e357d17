/* Ends with 32 where BLAS and LAPACK take integers of 32 bits. One that takes 64 sees both words of
 * `n`, and thus a number below 0 (or far too large, where the first word is the higher one). */
double ddot_(const int *n, const double *x, const int *dx, const double *y, const int *dy);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

int main(void) {
    const int n[2] = {1, -1}, one[2] = {1, 0};
    double three[1] = {3}, four[1] = {4};
    int info[2] = {0, 0};
    if (ddot_(n, three, one, three, one) != 9) return 64;
    dpotrf_("L", n, four, one, info);
    return four[0] == 2 ? 32 : 64;
}
