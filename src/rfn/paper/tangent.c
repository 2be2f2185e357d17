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
#include <string.h>

struct tangent {
    rb_context *ctx;
    rfn_search *search;
    int64_t first;
    double squares[RFN_UNITS_AT_ONCE], curvature[RFN_UNITS_AT_ONCE];
};

static void aim_unit(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct tangent *t = arg;
    const rfn_search *s = t->search;
    int64_t n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *gradient = rb_dense_row(s->gradient, j);
    void *direction = rb_dense_row(s->direction, j);
    if (s->problem->dead && s->problem->dead[j]) {
        memset(direction, 0, (size_t)n * rb_type_size(type));
        return;
    }
    double across =
        s->problem->normalized ? rb_dot(t->ctx, type, n, code, gradient) / (double)n : 0;
    for (int64_t i = 0; i < n; i++) {
        double x = rb_get(type, code, i), move = across * x - rb_get(type, gradient, i);
        rb_put(type, direction, i, x > 0 || move > 0 ? move : 0);
    }
}

static void weigh_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct tangent *t = arg;
    const rb_dense direction = t->search->direction;
    const void *row = rb_dense_row(direction, t->first + unit);
    t->squares[unit] = rb_dot(t->ctx, direction.type, direction.cols, row, row);
    t->curvature[unit] = rb_dot(t->ctx, direction.type, direction.cols, row,
                                rb_dense_row(t->search->work->moved, unit));
}

/* Returns the step to the least O along the direction. */
static double aim_along_tangent(rb_context *ctx, rfn_search *s) {
    struct tangent t = {.ctx = ctx, .search = s};
    int64_t l = s->codes.rows;
    double squares = 0, curvature = 0;
    rb_parallel(ctx, l, aim_unit, &t);
    s->toward = RFN_ELSEWHERE;
    for (int64_t count; t.first < l && !rb_asked_to_stop(ctx); t.first += count) {
        count = l - t.first < RFN_UNITS_AT_ONCE ? l - t.first : RFN_UNITS_AT_ONCE;
        rb_gemm_parallel(ctx, 1, rb_dense_rows(s->problem->hessian, t.first, count), RB_PLAIN,
                         s->direction, RB_PLAIN, 0, rb_dense_rows(s->work->moved, 0, count));
        rb_parallel(ctx, count, weigh_unit, &t);
        for (int64_t unit = 0; unit < count; unit++) {
            squares += t.squares[unit];
            curvature += t.curvature[unit];
        }
    }
    return curvature > 0 ? squares / curvature : 0;
}

/* ---- Rosen ---- */

bool rfn_try_rosen(rb_context *ctx, rfn_search *s) {
    double step = aim_along_tangent(ctx, s);
    for (int t = 0; t <= RFN_HALVINGS && step > 0; t++, step /= 2) {
        if (rfn_search_try(ctx, s, s->direction, step, 1)) {
            return true;
        }
    }
    return false;
}

/* ---- Haug and Arora ---- */

enum { MAX_CORRECTIONS = 30 };

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
        double x = rb_get(type, code, i);
        double y = fmax(0, (1 + beta) * x + r->step * rb_get(type, direction, i));
        rb_put(type, next, i, y);
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
    for (int t = 0; t < MAX_CORRECTIONS && fabs(squares / n - 1) > 1e-14 && slope > 0; t++) {
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
    double step = aim_along_tangent(ctx, s);
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
