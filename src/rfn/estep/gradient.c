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

/* Where the codes of the units at hand go to: beside their residuals, where nobody keeps them. */
static rb_dense next_of(const struct step *s, int64_t count) {
    return s->next.rows > 0
               ? rb_dense_rows(s->next, s->first, count)
               : rb_dense_part(s->work->residual, s->work->at_once / 2, count, 0, s->codes.cols);
}

/* - sum_i mu_ij (mu P - Q)_ij of each group. */
static void correlate_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct step *s = arg;
    const rfn_slices *slices = &s->work->slices;
    rb_dense code = rb_dense_rows(s->codes, s->first + unit, 1);
    rb_dense residual = rb_dense_rows(s->work->residual, unit, 1);
    for (int64_t g = 0; g < slices->groups; g++) {
        int64_t first = slices->bounds[g], n = slices->bounds[g + 1] - first;
        s->work->parts[unit * slices->groups + g] =
            -rb_dot(s->ctx, code.type, n, rb_dense_part(code, 0, 1, first, n).data,
                    rb_dense_part(residual, 0, 1, first, n).data);
    }
}

static void find_multipliers(struct step *s, int64_t count) {
    const rfn_slices *slices = &s->work->slices;
    rb_parallel(s->ctx, count, correlate_unit, s);
    rb_add_groups(s->ctx, count, slices->groups, s->work->parts, s->work->sums);
    for (int64_t unit = 0; unit < count; unit++) {
        bool none = rfn_is_dead(s->problem, s->first + unit) || !s->problem->normalized;
        s->multipliers[s->first + unit] = none ? 0 : s->work->sums[unit] / (double)slices->all;
    }
}

static void look_at_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    struct step *s = arg;
    rb_dense code = rb_dense_rows(s->codes, s->first + unit, 1);
    rb_dense next = rb_dense_rows(next_of(s, 1), unit, 1);
    double largest = 0, change = 0; /* not those of s, which lie beside another thread's */
    bool dead = rfn_is_dead(s->problem, s->first + unit);
    if (dead) rb_dense_zero(next);
    for (int64_t i = 0; !dead && i < code.cols; i++) {
        double x = rb_get(code.type, code.data, i);
        largest = fmax(largest, x);
        change = fmax(change, fabs(rb_get(next.type, next.data, i) - x));
    }
    s->largest[unit] = largest;
    s->change[unit] = change;
}

/* All units; the largest code and the largest change of one. */
static void take(struct step *s, double *largest, double *change) {
    int64_t l = s->codes.rows, at_once = s->work->at_once / (s->next.rows > 0 ? 1 : 2);
    double both[2] = {0};
    for (; s->first < l && !rb_stops_alone(s->ctx); s->first += at_once) {
        int64_t count = rb_smaller(l - s->first, at_once);
        rb_dense residual = rb_dense_part(s->work->residual, 0, count, 0, s->codes.cols);
        rfn_residual(s->ctx, s->problem, s->codes, s->work->units + s->first, s->work, residual);
        if (s->multipliers) find_multipliers(s, count);
        rfn_feasible_units(s->ctx, s->problem->normalized, -s->length,
                           rb_dense_rows(s->codes, s->first, count), residual, next_of(s, count),
                           s->problem->dead ? s->problem->dead + s->first : NULL, s->work);
        rb_parallel(s->ctx, count, look_at_unit, s);
        for (int64_t unit = 0; unit < count; unit++) {
            both[0] = fmax(both[0], s->largest[unit]);
            both[1] = fmax(both[1], s->change[unit]);
        }
    }
    rb_comm_max(s->ctx, 2, both);
    *largest = both[0];
    *change = both[1];
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
