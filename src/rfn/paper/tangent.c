/* Steps along the feasible set: Rosen's gradient projection (J. SIAM 9, 1961) and the method of
 * Haug and Arora (Applied Optimal Design, 1979; both Clevert et al. 2015, S9.4.1).
 *
 * The direction is that of steepest descent: minus the gradient, less its part across the sphere of
 * each unit, and 0 where it would push a code at 0 below. The step begins with the least O along it
 * and is halved. O falls for short steps, unless the codes are stationary.
 *
 * Rosen comes back to the sphere along its normal, which for spheres about 0 is a scaling. Codes
 * that a step would make negative become 0: Rosen stops the step at the first of them, of which
 * there are thousands here.
 *
 * Haug and Arora come back along the normal at the point where the step began,
 *     mu_j <- max(0, (1 + beta_j) mu_j + step D_j),   mean square 1,
 * with beta_j by Newton's method. What this keeps of a unit's codes is what the step did not
 * touch: for long steps Rosen's scaling shrinks all of them.
 */
#include "paper.h"

#include <math.h>

static void aim_unit(void *arg, int64_t j, int worker) {
    const rfn_search *s = arg;
    int64_t n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *gradient = rb_dense_row(s->gradient, j);
    void *direction = rb_dense_row(s->direction, j);
    if (rfn_clears_dead(s->problem, j, s->direction)) return;
    double across =
        s->problem->normalized ? rb_dot(s->ctx, type, n, code, gradient) / (double)n : 0;
    for (int64_t i = 0; i < n; i++) {
        double x = rb_get(type, code, i), move = across * x - rb_get(type, gradient, i);
        rb_put(type, direction, i, x > 0 || move > 0 ? move : 0);
    }
}

static void weigh_unit(void *arg, int64_t unit, int worker) {
    rfn_search *s = arg;
    rb_dense d = rb_dense_rows(s->direction, s->first + unit, 1);
    s->sums[0][unit] = rb_dot(s->ctx, d.type, d.cols, d.data, d.data);
    s->sums[1][unit] =
        rb_dot(s->ctx, d.type, d.cols, d.data, rb_dense_row(s->work->residual, unit));
}

/* Returns the step to the least O along the direction. */
static double aim_along_tangent(rfn_search *s) {
    int64_t l = s->codes.rows;
    double squares = 0, curvature = 0;
    rb_parallel(s->ctx, l, aim_unit, s);
    s->toward_means = false;
    for (s->first = 0; s->first < l && !rb_asked_to_stop(s->ctx); s->first += s->work->at_once) {
        int64_t count = rfn_units_from(s->work, l, s->first);
        rb_gemm_parallel(s->ctx, 1, rb_dense_rows(s->problem->hessian, s->first, count), RB_PLAIN,
                         s->direction, RB_PLAIN, 0, rb_dense_rows(s->work->residual, 0, count));
        rb_parallel(s->ctx, count, weigh_unit, s);
        for (int64_t unit = 0; unit < count; unit++) {
            squares += s->sums[0][unit];
            curvature += s->sums[1][unit];
        }
    }
    return curvature > 0 ? squares / curvature : 0;
}

bool rfn_try_rosen(rfn_search *s) {
    return rfn_search_halve(s, rfn_search_along, aim_along_tangent(s), RFN_TRIES, false);
}

/* ---- Haug and Arora ---- */

enum { MAX_CORRECTIONS = 30 };

/* Sum of squares of max(0, (1 + beta) x + step d), and half its slope in beta. */
static double squares_at(const rfn_search *s, int64_t j, double beta, double *slope) {
    const void *code = rb_dense_row(s->codes, j), *direction = rb_dense_row(s->direction, j);
    void *next = rb_dense_row(s->next, j);
    rb_type type = s->codes.type;
    double squares = 0;
    *slope = 0;
    for (int64_t i = 0; i < s->codes.cols; i++) {
        double x = rb_get(type, code, i);
        double y = fmax(0, (1 + beta) * x + s->lambda * rb_get(type, direction, i));
        rb_put(type, next, i, y);
        squares += y * y;
        *slope += x * y;
    }
    return squares;
}

static void restore_unit(void *arg, int64_t j, int worker) {
    const rfn_search *s = arg;
    double n = (double)s->codes.cols, beta = 0, slope, squares = squares_at(s, j, beta, &slope);
    for (int t = 0; t < MAX_CORRECTIONS && fabs(squares / n - 1) > 1e-14 && slope > 0; t++) {
        beta -= (squares - n) / (2 * slope);
        squares = squares_at(s, j, beta, &slope);
    }
    /* What rounding has left, and units whose codes the step had all made 0. */
    rb_dense next = rb_dense_rows(s->next, j, 1);
    if (!rfn_is_dead(s->problem, j))
        rfn_feasible(s->ctx, &s->work->slices, true, 0, next, next.data, next.data);
}

static bool restore(rfn_search *s, double step) {
    s->lambda = step;
    rb_parallel(s->ctx, s->codes.rows, restore_unit, s);
    return rfn_search_measure(s);
}

bool rfn_try_haug_arora(rfn_search *s) {
    return rfn_search_halve(s, s->problem->normalized ? restore : rfn_search_along,
                            aim_along_tangent(s), RFN_TRIES, false);
}
