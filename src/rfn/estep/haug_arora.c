/* The method of Haug and Arora (Applied Optimal Design, 1979; Clevert et al. 2015, S9.4.1): as
 * Rosen's, but the way back to the sphere is along its normal at the point where the step began,
 *     mu_j <- max(0, (1 + beta_j) mu_j + step D_j),   mean square 1,
 * with beta_j by Newton's method. What this keeps of a unit's codes is what the step did not
 * touch: for long steps Rosen's scaling shrinks all of them. O falls for short steps, unless the
 * codes are stationary.
 */
#include "estep.h"

#include <math.h>

enum { MOST_CORRECTIONS = 30 };

struct restoration {
    rb_context *ctx;
    rfn_search *search;
    double step;
};

/* Sum of squares of max(0, (1 + beta) x + step d), and half its slope in beta. */
static double squares_at(const struct restoration *r, int64_t j, double beta, double *slope) {
    const rfn_search *s = r->search;
    const void *code = rb_dense_row(s->codes, j), *direction = rb_dense_row(s->direction, j);
    void *next = rb_dense_row(s->next, j);
    rb_type type = s->codes.type;
    double squares = 0;
    *slope = 0;
    for (int64_t i = 0; i < s->codes.cols; i++) {
        double x = rfn_get(type, code, i);
        double y = fmax(0, (1 + beta) * x + r->step * rfn_get(type, direction, i));
        rfn_put(type, next, i, y);
        squares += y * y;
        *slope += x * y;
    }
    return squares;
}

static void restore_unit(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct restoration *r = arg;
    const rfn_search *s = r->search;
    double n = (double)s->codes.cols, beta = 0, slope;
    double squares = squares_at(r, j, beta, &slope);
    for (int t = 0; t < MOST_CORRECTIONS && fabs(squares / n - 1) > 1e-14 && slope > 0; t++) {
        beta -= (squares - n) / (2 * slope);
        squares = squares_at(r, j, beta, &slope);
    }
    /* What rounding has left, and units whose codes the step had all made 0. */
    void *next = rb_dense_row(s->next, j);
    if (!s->problem->dead || !s->problem->dead[j]) {
        rfn_feasible(r->ctx, true, s->codes.type, s->codes.cols, 0, next, next, next);
    }
}

bool rfn_try_haug_arora(rb_context *ctx, rfn_search *s) {
    double step = rfn_aim_along_tangent(ctx, s);
    for (int t = 0; t <= RFN_HALVINGS && step > 0; t++, step /= 2) {
        if (!s->problem->normalized) {
            if (rfn_search_try(ctx, s, s->direction, step, 1)) {
                return true;
            }
            continue;
        }
        struct restoration r = {ctx, s, step};
        rb_parallel(ctx, s->codes.rows, restore_unit, &r);
        rfn_search_measure(ctx, s);
        if (s->change < s->bar) {
            return true;
        }
    }
    return false;
}
