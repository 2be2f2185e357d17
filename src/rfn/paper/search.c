/* What E-steps that try candidates share: the double projection of S9.5.3, eq. 209, and how much a
 * candidate changes O. */
#include "paper.h"

#include <string.h>

struct rows {
    rb_context *ctx;
    rfn_search *search;
    rb_dense direction;
    double lambda, gamma;
    int64_t first;
    double changes[RFN_UNITS_AT_ONCE];
};

void rfn_search_begin(rb_context *ctx, rfn_search *s) {
    rb_dense_copy(s->problem->linear, s->gradient);
    rb_gemm_parallel(ctx, 1, s->problem->hessian, RB_PLAIN, s->codes, RB_PLAIN, -1, s->gradient);
    s->toward = RFN_NOWHERE;
}

static bool is_dead(const rfn_search *s, int64_t unit) {
    return s->problem->dead && s->problem->dead[unit];
}

static void move_unit(void *arg, int64_t j, int worker) {
    (void)worker;
    const struct rows *r = arg;
    const rfn_search *s = r->search;
    int64_t n = s->codes.cols;
    rb_type type = s->codes.type;
    bool normalized = s->problem->normalized;
    const void *code = rb_dense_row(s->codes, j);
    void *next = rb_dense_row(s->next, j);
    if (is_dead(s, j)) {
        memset(next, 0, (size_t)n * rb_type_size(type));
        return;
    }
    rfn_feasible(r->ctx, normalized, type, n, r->lambda, code, rb_dense_row(r->direction, j), next);
    for (int64_t i = 0; r->gamma < 1 && i < n; i++) {
        rb_put(type, next, i, rb_get(type, next, i) - rb_get(type, code, i));
    }
    if (r->gamma < 1) {
        rfn_feasible(r->ctx, normalized, type, n, r->gamma, code, next, next);
    }
}

/* (n/2) (O(next) - O(mu)) = 1/2 <next - mu, (next P - Q) + (mu P - Q)>: a sum of small terms, which
 * the difference of two large numbers would not be. */
static void measure_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct rows *r = arg;
    const rfn_search *s = r->search;
    int64_t j = r->first + unit, n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *next = rb_dense_row(s->next, j);
    void *moved = rb_dense_row(s->work->moved, unit);
    for (int64_t i = 0; i < n; i++) {
        rb_put(type, moved, i, rb_get(type, next, i) - rb_get(type, code, i));
    }
    r->changes[unit] = (rb_dot(r->ctx, type, n, moved, rb_dense_row(s->work->residual, unit)) +
                        rb_dot(r->ctx, type, n, moved, rb_dense_row(s->gradient, j))) /
                       2;
}

void rfn_search_measure(rb_context *ctx, rfn_search *s) {
    int64_t l = s->codes.rows;
    struct rows rows = {.ctx = ctx, .search = s};
    s->change = 0;
    for (int64_t count; rows.first < l && !rb_asked_to_stop(ctx); rows.first += count) {
        count = l - rows.first < RFN_UNITS_AT_ONCE ? l - rows.first : RFN_UNITS_AT_ONCE;
        rfn_residual(ctx, s->problem, s->next, rows.first, count, s->work);
        rb_parallel(ctx, count, measure_unit, &rows);
        for (int64_t unit = 0; unit < count; unit++) {
            s->change += rows.changes[unit];
        }
    }
}

void rfn_search_move(rb_context *ctx, rfn_search *s, rb_dense direction, double lambda,
                     double gamma) {
    struct rows rows = {
        .ctx = ctx, .search = s, .direction = direction, .lambda = lambda, .gamma = gamma};
    rb_parallel(ctx, s->codes.rows, move_unit, &rows);
}

bool rfn_search_try(rb_context *ctx, rfn_search *s, rb_dense direction, double lambda,
                    double gamma) {
    rfn_search_move(ctx, s, direction, lambda, gamma);
    rfn_search_measure(ctx, s);
    return s->change < s->bar;
}

bool rfn_search_is_hopeless(double at_twice, double at_step, double bar) {
    double slope = (4 * at_step - at_twice) / 2, curvature = (at_twice - 2 * at_step) / 2;
    return slope >= 0 || (curvature > 0 && -slope * slope / (4 * curvature) > bar);
}

bool rfn_try_gradient(rb_context *ctx, rfn_search *s) {
    return rfn_search_try(ctx, s, s->gradient, -0.999 / s->e_max, 1);
}
