/* Non-negative least squares of one sample by an active set, where sweeps would take too long: that
 * of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23; here for G and q instead
 * of the matrix of least squares).
 *
 * Sweeps approach the minimum slowly where G is ill-conditioned. But they soon know which units are
 * positive; then the minimum is the solution of a linear system in these. The method corrects the
 * set: units that would become negative leave it on the way to the solution, and the unit of the
 * steepest descent enters it, until there is none. Each step lowers the objective, in float64
 * whatever the type of G.
 */
#include "linalg.h"

#include <math.h>

/* A support of so many units takes 32 MB; codes with more are left as they are. */
enum { MAX_POSITIVE = 2048 };

rb_active *rb_active_take(rb_scratch *scratch, int64_t units) {
    int64_t max = rb_smaller(units, MAX_POSITIVE), workers = rb_context_threads(scratch->ctx);
    rb_active *active = rb_take(scratch, workers, sizeof *active);
    for (rb_active *a = active; !scratch->err && a < active + workers; a++) {
        a->max = max;
        a->x = rb_take(scratch, units, sizeof *a->x);
        a->linear = rb_take(scratch, units, sizeof *a->linear);
        a->matrix = rb_take(scratch, max, (size_t)max * sizeof *a->matrix);
        a->target = rb_take(scratch, max, sizeof *a->target);
        a->support = rb_take(scratch, max, sizeof *a->support);
    }
    return active;
}

/* The positive units and the one that enters, in order; false when they are too many. */
static bool list_support(rb_active *a, int64_t units, int64_t enters) {
    a->count = 0;
    for (int64_t j = 0; j < units; j++) {
        if (a->x[j] > 0 || j == enters) {
            if (a->count == a->max) return false;
            a->support[a->count++] = j;
        }
    }
    return true;
}

/* The minimum over the units of the support; false: G is not positive definite there. */
static bool aim(rb_dense gram, const rb_active *a) {
    int64_t n = a->count;
    for (int64_t i = 0; i < n; i++) {
        const void *row = rb_dense_row(gram, a->support[i]);
        for (int64_t k = 0; k <= i; k++)
            a->matrix[i * n + k] = rb_get(gram.type, row, a->support[k]);
        a->target[i] = a->linear[a->support[i]];
    }
    return rb_solve_small(n, a->matrix, 1, a->target);
}

/* Towards that as far as all stay at or above 0; units that come to 0 leave. Was it all the way? */
static bool approach(rb_active *a) {
    double step = 1;
    int64_t first = -1, left = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double x = a->x[a->support[i]];
        if (a->target[i] <= 0 && x <= step * (x - a->target[i])) {
            step = x > 0 ? x / (x - a->target[i]) : 0;
            first = i;
        }
    }
    for (int64_t i = 0; i < a->count; i++) {
        int64_t j = a->support[i];
        a->x[j] += step * (a->target[i] - a->x[j]);
        if (i == first || a->x[j] <= 0)
            a->x[j] = 0;
        else
            a->support[left++] = j;
    }
    a->count = left;
    return first < 0;
}

/* The unit at 0 that lowers the objective most, for its length, beyond rounding; or -1. */
static int64_t steepest(rb_dense gram, const rb_active *a) {
    int64_t best = -1;
    double most = 0;
    for (int64_t j = 0; j < gram.rows; j++) {
        const void *row = rb_dense_row(gram, j);
        double sum = a->linear[j], size = fabs(sum), own = rb_get(gram.type, row, j);
        if (a->x[j] > 0 || !(own > 0)) continue;
        for (int64_t k = 0; k < a->count; k++) {
            double term = rb_get(gram.type, row, a->support[k]) * a->x[a->support[k]];
            sum -= term;
            size += fabs(term);
        }
        if (sum > 1e-12 * size && sum / sqrt(own) > most) {
            most = sum / sqrt(own);
            best = j;
        }
    }
    return best;
}

void rb_active_solve(rb_dense gram, rb_active *a) {
    int64_t enters = -1;
    /* Each turn a unit leaves or enters: more turns than this are a circle of rounding. */
    for (int64_t turn = 0; turn < 3 * gram.rows; turn++) {
        if (!list_support(a, gram.rows, enters) || !aim(gram, a)) return;
        bool arrives = approach(a);
        enters = arrives ? steepest(gram, a) : -1;
        if (arrives && enters < 0) return;
    }
}
