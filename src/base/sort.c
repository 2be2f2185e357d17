/* Numbers in ascending order, and their quantiles. */
#include "base.h"

#include <math.h>
#include <stdlib.h>

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rb_sort_numbers(double *values, int64_t count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare_numbers);
}

static int compare_integers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void rb_sort_integers(int64_t *values, int64_t count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare_integers);
}

double rb_quantile_of(const double *sorted, int64_t count, double share) {
    if (count < 1) return NAN;
    double at = share * (double)(count - 1);
    int64_t below = (int64_t)at;
    double part = at - (double)below;
    return below + 1 < count ? sorted[below] + part * (sorted[below + 1] - sorted[below])
                             : sorted[count - 1];
}
