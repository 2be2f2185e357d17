/* How near codes are to a stationary point, and the multipliers of the normalised units there.
 *
 * At a stationary point (mu P - Q)_ij + tau_j mu_ij >= 0, with equality where mu_ij > 0; with mean
 * square 1 that gives tau_j = mean_i mu_ij (Q - mu P)_ij. With them the problem falls apart into
 * one for each sample: minimise 1/2 mu_i' (P + diag tau) mu_i - Q_i mu_i over mu_i >= 0. If P +
 * diag tau is positive semidefinite the stationary point is the global minimum (Lagrangian
 * sufficiency).
 */
#include "estep.h"

#include <math.h>

struct look {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense codes;
    int64_t first;
    double e_max;
    double *multipliers;
    double largest[RFN_UNITS_AT_ONCE], distance[RFN_UNITS_AT_ONCE];
};

static double largest_difference(rb_type type, int64_t n, const void *x, const void *y) {
    double max = 0;
    for (int64_t i = 0; i < n; i++) {
        max = fmax(max, fabs(rb_get(type, x, i) - rb_get(type, y, i)));
    }
    return max;
}

static void one_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct look *s = arg;
    int64_t j = s->first + unit, n = s->codes.cols;
    rb_type type = s->codes.type;
    const void *code = rb_dense_row(s->codes, j);
    const void *residual = rb_dense_row(s->work->residual, unit);
    void *moved = rb_dense_row(s->work->moved, unit);
    s->multipliers[j] = 0;
    s->largest[unit] = s->distance[unit] = 0;
    if (s->problem->dead && s->problem->dead[j]) {
        return;
    }
    if (s->problem->normalized) {
        s->multipliers[j] = -rb_dot(s->ctx, type, n, code, residual) / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        s->largest[unit] = fmax(s->largest[unit], rb_get(type, code, i));
    }
    rfn_feasible(s->ctx, s->problem->normalized, type, n, -1 / s->e_max, code, residual, moved);
    s->distance[unit] = largest_difference(type, n, code, moved);
}

void rfn_optimality(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense codes,
                    rfn_work *work, double *multipliers, double *residual) {
    int64_t l = codes.rows;
    struct look s = {ctx, problem, work, codes, 0, e_max, multipliers, {0}, {0}};
    double largest = 0, distance = 0;
    for (int64_t count; s.first < l && !rb_asked_to_stop(ctx); s.first += count) {
        count = l - s.first < RFN_UNITS_AT_ONCE ? l - s.first : RFN_UNITS_AT_ONCE;
        rfn_residual(ctx, problem, codes, s.first, count, work);
        rb_parallel(ctx, count, one_unit, &s);
        for (int64_t unit = 0; unit < count; unit++) {
            largest = fmax(largest, s.largest[unit]);
            distance = fmax(distance, s.distance[unit]);
        }
    }
    *residual = largest > 0 ? distance / largest : 0;
}

void rfn_add_multipliers(rb_dense p, const double *multipliers, const bool *dead, double diagonal) {
    for (int64_t j = 0; j < p.rows; j++) {
        rb_dense_set(p, j, j, rb_dense_get(p, j, j) + multipliers[j]);
    }
    for (int64_t j = 0; dead && j < p.rows; j++) {
        for (int64_t k = 0; dead[j] && k < p.rows; k++) {
            rb_dense_set(p, j, k, k == j ? diagonal : 0);
            rb_dense_set(p, k, j, k == j ? diagonal : 0);
        }
    }
}
