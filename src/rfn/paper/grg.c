/* The generalized reduced gradient (Abadie, Carpentier 1969; Clevert et al. 2015, S9.4.1, eqs. 166
 * and 167): the equality of each unit is solved for its largest code,
 *     mu_*j = sqrt(n - sum over the others of mu_ij^2),
 * and put into the objective. The others have the gradient g_ij - g_*j mu_ij / mu_*j and the convex
 * set mu_ij >= 0, sum mu_ij^2 <= n, onto which a step is projected: rectify, and scale where the
 * sum is above n. The paper solves for the code of sample 1, which may be 0: then the gradient is
 * infinite. The step begins with 1 / e_max and is halved. O falls for short steps, unless the codes
 * are stationary.
 */
#include "paper.h"

#include <math.h>

static void reduce_unit(void *arg, int64_t j, int worker) {
    const rfn_search *s = arg;
    int64_t n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *gradient = rb_dense_row(s->gradient, j);
    void *next = rb_dense_row(s->next, j);
    if (rfn_clears_dead(s->problem, j, s->next)) return;
    int64_t solved = rfn_largest(s->ctx, &s->work->slices, 0, rb_dense_rows(s->codes, j, 1), code);
    double ratio = rb_get(type, gradient, solved) / rb_get(type, code, solved), squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = rb_get(type, code, i), slope = rb_get(type, gradient, i) - ratio * x;
        double y = i == solved ? 0 : fmax(0, x - s->lambda * slope);
        rb_put(type, next, i, y);
        squares += y * y;
    }
    double scale = squares > (double)n ? sqrt((double)n / squares) : 1;
    for (int64_t i = 0; scale < 1 && i < n; i++)
        rb_put(type, next, i, scale * rb_get(type, next, i));
    rb_put(type, next, solved, sqrt(fmax(0, (double)n - squares)));
}

static bool reduce(rfn_search *s, double step) {
    s->lambda = step;
    rb_parallel(s->ctx, s->codes.rows, reduce_unit, s);
    return rfn_search_measure(s);
}

bool rfn_try_grg(rfn_search *s) {
    return s->problem->normalized ? rfn_search_halve(s, reduce, 1 / s->e_max, RFN_TRIES, s->spares)
                                  : rfn_try_gradient(s);
}
