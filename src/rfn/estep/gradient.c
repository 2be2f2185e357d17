/* The gradient E-step: mu <- P(mu - lambda (mu P - Q)), lambda = 0.999 / e_max(P); how near codes
 * are to a stationary point, by the length of such a step; and the multipliers of the normalised
 * units there.
 *
 * On any closed set with an exact projection (n/2) O falls by at least (1/lambda - e_max)/2
 * |step|^2 (Clevert et al. 2015, S9.5.1, eq. 200, has a longer step, which is right for convex sets
 * only: not for the normalised one). Cost: 2 n l^2.
 *
 * At a stationary point (mu P - Q)_ij + tau_j mu_ij >= 0, with equality where mu_ij > 0; with mean
 * square 1 that gives tau_j = mean_i mu_ij (Q - mu P)_ij. With them the problem falls apart into
 * one for each sample: minimise 1/2 mu_i' (P + diag tau) mu_i - Q_i mu_i over mu_i >= 0. If P +
 * diag tau is positive semidefinite the stationary point is the global minimum (Lagrangian
 * sufficiency).
 */
#include "estep.h"

#include <math.h>

struct step {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense codes, next; /* next: of no rows, for a step that is only looked at */
    double length;
    double *multipliers; /* or NULL */
    int64_t first;
    double largest[RFN_UNITS_AT_ONCE], change[RFN_UNITS_AT_ONCE];
};

static void one_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct step *s = arg;
    int64_t j = s->first + unit, n = s->codes.cols;
    rb_dense code = rb_dense_rows(s->codes, j, 1);
    rb_dense next = s->next.rows > 0 ? rb_dense_rows(s->next, j, 1)
                                     : rb_dense_part(s->work->moved, unit, 1, 0, n);
    const void *residual = rb_dense_row(s->work->residual, unit);
    bool dead = rfn_is_dead(s->problem, j);
    s->largest[unit] = s->change[unit] = 0;
    if (s->multipliers) {
        s->multipliers[j] = dead || !s->problem->normalized
                                ? 0
                                : -rb_dot(s->ctx, code.type, n, code.data, residual) / (double)n;
    }
    if (dead) {
        rb_dense_zero(next);
        return;
    }
    rfn_feasible(s->ctx, s->problem->normalized, -s->length, code, residual, next.data);
    for (int64_t i = 0; i < n; i++) {
        double x = rb_get(code.type, code.data, i);
        s->largest[unit] = fmax(s->largest[unit], x);
        s->change[unit] = fmax(s->change[unit], fabs(rb_get(next.type, next.data, i) - x));
    }
}

/* All units; the largest code and the largest change of one. */
static void take(struct step *s, double *largest, double *change) {
    int64_t l = s->codes.rows;
    *largest = *change = 0;
    for (; s->first < l && !rb_asked_to_stop(s->ctx); s->first += RFN_UNITS_AT_ONCE) {
        int64_t count = rfn_units_from(l, s->first);
        rfn_residual(s->ctx, s->problem, s->codes, s->first, count, s->work);
        rb_parallel(s->ctx, count, one_unit, s);
        for (int64_t unit = 0; unit < count; unit++) {
            *largest = fmax(*largest, s->largest[unit]);
            *change = fmax(*change, s->change[unit]);
        }
    }
}

void rfn_gradient(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense *codes,
                  rb_dense *next, rfn_work *work, double *change) {
    struct step s = {ctx, problem, work, *codes, *next, .length = 0.999 / e_max};
    double largest;
    take(&s, &largest, change);
    rfn_swap(codes, next);
}

void rfn_optimality(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense codes,
                    rfn_work *work, double *multipliers, double *residual) {
    struct step s = {ctx, problem, work, codes, .length = 1 / e_max, .multipliers = multipliers};
    double largest, change;
    take(&s, &largest, &change);
    *residual = largest > 0 ? change / largest : 0;
}

void rfn_add_multipliers(rb_dense p, const double *multipliers, const bool *dead, double diagonal) {
    for (int64_t j = 0; j < p.rows; j++)
        rb_dense_set(p, j, j, rb_dense_get(p, j, j) + multipliers[j]);
    for (int64_t j = 0; dead && j < p.rows; j++) {
        for (int64_t k = 0; dead[j] && k < p.rows; k++) {
            rb_dense_set(p, j, k, k == j ? diagonal : 0);
            rb_dense_set(p, k, j, k == j ? diagonal : 0);
        }
    }
}
