/* What E-steps that try candidates share: the double projection of S9.5.3, eq. 209, and how much a
 * candidate changes O. */
#include "paper.h"

#include <math.h>

void rfn_search_begin(rb_context *ctx, rfn_search *s) {
    s->ctx = ctx;
    rb_dense_copy(s->problem->linear, s->gradient);
    rb_gemm_parallel(ctx, 1, s->problem->hessian, RB_PLAIN, s->codes, RB_PLAIN, -1, s->gradient);
    s->toward_means = false;
}

static void move_unit(void *arg, int64_t j, int worker) {
    const rfn_search *s = arg;
    bool normalized = s->problem->normalized;
    rb_dense code = rb_dense_rows(s->codes, j, 1), next = rb_dense_rows(s->next, j, 1);
    if (rfn_clears_dead(s->problem, j, s->next)) return;
    rfn_feasible(s->ctx, &s->work->slices, normalized, s->lambda, code, rb_dense_row(s->along, j),
                 next.data);
    if (s->gamma < 1) {
        for (int64_t i = 0; i < next.cols; i++) {
            double move = rb_get(next.type, next.data, i) - rb_get(code.type, code.data, i);
            rb_put(next.type, next.data, i, move);
        }
        rfn_feasible(s->ctx, &s->work->slices, normalized, s->gamma, code, next.data, next.data);
    }
}

void rfn_search_move(rfn_search *s, rb_dense direction, double lambda, double gamma) {
    s->along = direction;
    s->lambda = lambda;
    s->gamma = gamma;
    rb_parallel(s->ctx, s->codes.rows, move_unit, s);
}

/* (n/2) (O(next) - O(mu)) = 1/2 <next - mu, (next P - Q) + (mu P - Q)>: a sum of small terms, which
 * the difference of two large numbers would not be. */
static void measure_unit(void *arg, int64_t unit, int worker) {
    rfn_search *s = arg;
    int64_t j = s->first + unit, n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j), *next = rb_dense_row(s->next, j);
    const void *after = rb_dense_row(s->work->residual, unit),
               *before = rb_dense_row(s->gradient, j);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (rb_get(type, next, i) - rb_get(type, code, i)) *
               (rb_get(type, after, i) + rb_get(type, before, i));
    s->sums[0][unit] = sum / 2;
}

bool rfn_search_measure(rfn_search *s) {
    int64_t l = s->codes.rows;
    s->change = 0;
    for (s->first = 0; s->first < l && !rb_asked_to_stop(s->ctx); s->first += s->work->at_once) {
        int64_t count = rfn_units_from(s->work, l, s->first);
        rfn_residual(s->ctx, s->problem, s->next, s->work->units + s->first, s->work,
                     rb_dense_rows(s->work->residual, 0, count));
        rb_parallel(s->ctx, count, measure_unit, s);
        for (int64_t unit = 0; unit < count; unit++)
            s->change += s->sums[0][unit];
    }
    return s->change < s->bar;
}

bool rfn_search_try(rfn_search *s, rb_dense direction, double lambda, double gamma) {
    rfn_search_move(s, direction, lambda, gamma);
    return rfn_search_measure(s);
}

bool rfn_search_along(rfn_search *s, double lambda) {
    return rfn_search_try(s, s->direction, lambda, 1);
}

/* Will no step below `at_step` be better than the bar? By the parabola through 0 and the changes at
 * twice the step and at the step. NaN: no step was tried before. */
static bool is_hopeless(double at_twice, double at_step, double bar) {
    double slope = (4 * at_step - at_twice) / 2, curvature = (at_twice - 2 * at_step) / 2;
    return slope >= 0 || (curvature > 0 && -slope * slope / (4 * curvature) > bar);
}

bool rfn_search_halve(rfn_search *s, bool (*try)(rfn_search *search, double step), double step,
                      int tries, bool gives_up) {
    double before = NAN;
    for (int t = 0; t < tries && step > 0; t++, step /= 2) {
        if (try(s, step)) return true;
        if (gives_up && is_hopeless(before, s->change, s->bar)) return false;
        before = s->change;
    }
    return false;
}

static double squared_step(const rfn_search *s) {
    double sum = 0;
    for (int64_t j = 0; j < s->codes.rows; j++) {
        const void *code = rb_dense_row(s->codes, j), *next = rb_dense_row(s->next, j);
        for (int64_t i = 0; i < s->codes.cols; i++)
            sum += pow(rb_get(s->codes.type, next, i) - rb_get(s->codes.type, code, i), 2);
    }
    return sum;
}

bool rfn_search_gradient(rfn_search *s, double beta) {
    const double alpha = 1e-4; /* eq. 199 */
    s->bar = 0;
    for (double lambda = 1; lambda * s->e_max > 0.999 && !rb_asked_to_stop(s->ctx);
         lambda *= beta) {
        s->tries++;
        if (rfn_search_try(s, s->gradient, -lambda, 1) &&
            s->change <= -alpha / lambda * squared_step(s))
            return true;
    }
    return rfn_try_gradient(s);
}

bool rfn_try_gradient(rfn_search *s) {
    return rfn_search_try(s, s->gradient, -0.999 / s->e_max, 1);
}
