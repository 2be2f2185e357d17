/* The feasible sets: mu >= 0, and for the normalised one mean square 1 in every unit. The nearest
 * feasible point is that of Theorems 11 and 12 of Clevert et al. 2015 (but for degenerate.c). */
#include "estep.h"

#include <math.h>
#include <string.h>

int64_t rfn_largest(rb_type type, int64_t n, double factor, const void *x, const void *y) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        double value = rfn_get(type, x, i) + factor * rfn_get(type, y, i);
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return best;
}

/* Sums of squares slice by slice, as the cyclic E-step has them. */
static double step(rb_context *ctx, rb_type type, int64_t n, double factor, const void *x,
                   const void *y, void *row) {
    size_t size = rb_type_size(type);
    double squares = 0;
    for (int64_t first = 0; first < n; first += RFN_SLICE) {
        int64_t count = n - first < RFN_SLICE ? n - first : RFN_SLICE;
        size_t at = (size_t)first * size;
        squares += rb_step_row(ctx, type, count, factor, (const char *)x + at, (const char *)y + at,
                               (char *)row + at);
    }
    return squares;
}

bool rfn_feasible(rb_context *ctx, bool normalized, rb_type type, int64_t n, double factor,
                  const void *x, const void *y, void *row) {
    double squares = step(ctx, type, n, factor, x, y, row);
    if (squares == 0) {
        if (normalized) {
            rfn_put(type, row, rfn_largest(type, n, factor, x, y), sqrt((double)n));
        }
        return false;
    }
    double scale = sqrt((double)n / squares);
    for (int64_t i = 0; normalized && i < n; i++) {
        rfn_put(type, row, i, scale * rfn_get(type, row, i));
    }
    return true;
}
