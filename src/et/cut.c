/* The data cut: the samples of largest log evidence, of equals those of lower index. */
#include "fit.h"

#include <string.h>

/* The value that `rank` others of v are larger than or equal to, were they sorted from the largest:
 * quickselect with the middle as pivot, so that the result does not depend on chance. */
static double select_largest(double *v, int64_t n, int64_t rank) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] > pivot) {
                i++;
            }
            while (v[j] < pivot) {
                j--;
            }
            if (i <= j) {
                double swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (rank <= j) {
            high = j;
        } else if (rank >= i) {
            low = i;
        } else {
            break;
        }
    }
    return v[rank];
}

et_cut et_cut_find(const double *evidence, int64_t n, int64_t count, double *work) {
    memcpy(work, evidence, (size_t)n * sizeof *work);
    et_cut cut = {select_largest(work, n, count - 1), -1};
    int64_t equal = count;
    for (int64_t i = 0; i < n; i++) {
        equal -= evidence[i] > cut.least;
    }
    for (int64_t i = 0; equal > 0; i++) {
        if (evidence[i] == cut.least) {
            cut.last = i;
            equal--;
        }
    }
    return cut;
}
