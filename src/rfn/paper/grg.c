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
#include <string.h>

struct reduction {
    rb_context *ctx;
    rfn_search *search;
    double step;
};

static void reduce_unit(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct reduction *r = arg;
    const rfn_search *s = r->search;
    int64_t n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *gradient = rb_dense_row(s->gradient, j);
    void *next = rb_dense_row(s->next, j);
    if (s->problem->dead && s->problem->dead[j]) {
        memset(next, 0, (size_t)n * rb_type_size(type));
        return;
    }
    int64_t solved = rfn_largest(type, n, 0, code, code);
    double ratio = rb_get(type, gradient, solved) / rb_get(type, code, solved), squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = rb_get(type, code, i);
        double y = i == solved ? 0 : fmax(0, x - r->step * (rb_get(type, gradient, i) - ratio * x));
        rb_put(type, next, i, y);
        squares += y * y;
    }
    double scale = squares > (double)n ? sqrt((double)n / squares) : 1;
    for (int64_t i = 0; scale < 1 && i < n; i++) {
        rb_put(type, next, i, scale * rb_get(type, next, i));
    }
    rb_put(type, next, solved, sqrt(fmax(0, (double)n - squares)));
}

bool rfn_try_grg(rb_context *ctx, rfn_search *s) {
    if (!s->problem->normalized) {
        return rfn_try_gradient(ctx, s);
    }
    struct reduction r = {ctx, s, 1 / s->e_max};
    double before = NAN;
    for (int t = 0; t <= RFN_HALVINGS; t++, r.step /= 2) {
        rb_parallel(ctx, s->codes.rows, reduce_unit, &r);
        rfn_search_measure(ctx, s);
        if (s->change < s->bar) {
            return true;
        }
        if (s->spares && rfn_search_is_hopeless(before, s->change, s->bar)) {
            return false;
        }
        before = s->change;
    }
    return false;
}
