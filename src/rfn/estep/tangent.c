/* The direction of steepest descent along the feasible set: minus the gradient, less its part
 * across the sphere of each unit, and 0 where it would push a code at 0 below. */
#include "estep.h"

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
        double x = rfn_get(type, code, i), move = across * x - rfn_get(type, gradient, i);
        rfn_put(type, direction, i, x > 0 || move > 0 ? move : 0);
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

double rfn_aim_along_tangent(rb_context *ctx, rfn_search *s) {
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
