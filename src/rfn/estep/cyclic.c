/* The cyclic E-step: exact minimisation over the codes of one unit after the other.
 *
 * With all other units fixed, (n/2) O of unit j is P_jj/2 |mu_j - t_j|^2 + constant with
 * t_j = mu_j - (mu P - Q)_j / P_jj, so that the minimum over a feasible set is the nearest feasible
 * point to t_j: rectify, and scale to mean square 1. There is no step size, and O never rises.
 *
 * Where P differs from sample to sample, the largest P_jj of all stands for each: O of the unit is
 * then below such a quadratic that touches it at the codes at hand, and falls at least as far.
 *
 * Residuals of some units come from one matrix product; within these units each change is passed on
 * to the residuals that follow. Cost of a sweep: 2 n l^2, nearly all in the product.
 *
 * Where codes are to come to rest, each sweep has an order of its own, since that in which the fit
 * swept may take five times as many, and steps go beyond the minimum (successive over-relaxation):
 * with the multiplier tau_j of the unit P_jj + tau_j is how far O bends along the set, and a step
 * of LONG / (P_jj + tau_j) that meets tau_j again is one by (P_jj + tau_j) / LONG - tau_j.
 * With b in place of P_jj it goes to the feasible point nearest to v / b, v = b mu_j - residual,
 * and lowers O wherever |max(0, v)| is at least 2 (P_jj - b) |mu_j|; else it is that to t_j.
 */
#include "estep.h"

#include <math.h>
#include <string.h>

static const double LONG = 1.3, LONGEST = 1.8;

struct sweep {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense codes;
    const int64_t *units; /* those at hand */
    int64_t count;
    bool far;      /* the step is long */
    int64_t unit;  /* whose target is computed next, from 0 */
    double factor; /* of the unit before: what its target is multiplied by */
};

/* The samples of a task, as a part of a row. */
static void *part(const struct sweep *s, void *row, int64_t slice) {
    return (char *)row + s->work->slices.first[slice] * (int64_t)rb_type_size(s->codes.type);
}

static int64_t samples_of(const struct sweep *s, int64_t slice) {
    return s->work->slices.first[slice + 1] - s->work->slices.first[slice];
}

/* What the residual of unit j is divided by. */
static double bend(const struct sweep *s, int64_t j) {
    double p = rfn_curvature(s->problem, j), tau = s->work->pulls[j];
    return s->far ? fmax((p + tau) / LONG - tau, p / LONGEST) : p;
}

/* max(0, t_j) of unit j into the target. */
static void aim(const struct sweep *s, int64_t unit, int64_t slice) {
    int64_t j = s->units[unit];
    rb_type type = s->codes.type;
    void *target = part(s, s->work->target, slice);
    if (rfn_is_dead(s->problem, j)) {
        memset(target, 0, (size_t)samples_of(s, slice) * rb_type_size(type));
        s->work->squares[slice] = 0;
        return;
    }
    s->work->squares[slice] = rb_kernels_of(s->ctx)->of[type].step_row(
        samples_of(s, slice), -1 / bend(s, j), part(s, rb_dense_row(s->codes, j), slice),
        part(s, rb_dense_row(s->work->residual, unit), slice), target);
}

/* The change of unit's codes, in the target, to the residuals of the units that follow: each sample
 * by its own P. */
static void pass_on(const struct sweep *s, int64_t unit, int64_t slice) {
    int64_t j = s->units[unit], first = s->work->slices.first[slice];
    int64_t end = first + samples_of(s, slice);
    rb_type type = s->codes.type;
    for (int64_t i = first; i < end; i++) {
        double change = rb_get(type, s->work->target, i);
        for (int64_t k = unit + 1; change != 0 && k < s->count; k++) {
            double p = rfn_curvature_of(s->problem->patterns, i, s->units[k], j);
            rb_dense residual = s->work->residual;
            rb_dense_set(residual, k, i, rb_dense_get(residual, k, i) + p * change);
        }
    }
}

/* The target becomes the codes; what changed goes into the residuals of the units that follow. */
static void project(const struct sweep *s, int64_t unit, double factor, int64_t slice) {
    int64_t j = s->units[unit], samples = samples_of(s, slice);
    rb_type type = s->codes.type;
    void *target = part(s, s->work->target, slice);
    bool changed = rb_kernels_of(s->ctx)->of[type].settle_row(
        samples, factor, target, part(s, rb_dense_row(s->codes, j), slice),
        part(s, s->work->changes, slice));
    if (changed && s->problem->patterns) pass_on(s, unit, slice);
    for (int64_t k = unit + 1; changed && !s->problem->patterns && k < s->count; k++) {
        rb_axpy(s->ctx, type, samples, rb_dense_get(s->problem->hessian, s->units[k], j), target,
                part(s, rb_dense_row(s->work->residual, k), slice));
    }
}

/* Rectified set: samples do not know of each other. */
static void all_units(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct sweep *s = arg;
    for (int64_t unit = 0; unit < s->count; unit++) {
        aim(s, unit, slice);
        project(s, unit, 1, slice);
    }
}

static void aim_again(void *arg, int64_t slice, int worker) {
    const struct sweep *s = arg;
    (void)worker;
    aim(s, s->unit, slice);
}

/* Normalised set: the scale of a unit needs all samples, then comes the next unit. */
static void next_unit(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct sweep *s = arg;
    if (s->unit > 0) project(s, s->unit - 1, s->factor, slice);
    if (s->unit < s->count) aim(s, s->unit, slice);
}

/* The sum of squares of the target over all samples. */
static double squares_of(const struct sweep *s) {
    const rfn_slices *slices = &s->work->slices;
    double squares;
    for (int64_t g = 0; g < slices->groups; g++) {
        s->work->parts[g] = 0;
        for (int64_t slice = slices->of_group[g]; slice < slices->of_group[g + 1]; slice++)
            s->work->parts[g] += s->work->squares[slice];
    }
    rb_add_groups(s->ctx, 1, slices->groups, s->work->parts, &squares);
    return squares;
}

/* The same; where the step is so long that O might rise, of the one to the minimum. */
static double squares_of_lower(struct sweep *s) {
    const rfn_slices *slices = &s->work->slices;
    int64_t j = s->units[s->unit];
    double squares = squares_of(s), b = bend(s, j), beyond = rfn_curvature(s->problem, j) - b;
    if (!(b * sqrt(squares / (double)slices->all) < 2 * beyond)) return squares;
    s->far = false;
    rb_parallel(s->ctx, slices->count, aim_again, s);
    return squares_of(s);
}

/* What the target of the unit is to be multiplied by. */
static double scale_of(struct sweep *s) {
    const rfn_slices *slices = &s->work->slices;
    int64_t j = s->units[s->unit];
    double n = (double)slices->all, squares = squares_of_lower(s), b = bend(s, j);
    s->work->alive[j] = squares > 0;
    s->work->pulls[j] = (sqrt(squares / n) - 1) * b;
    if (squares > 0 || isnan(squares)) return sqrt(n / squares);
    if (!rfn_is_dead(s->problem, j)) {
        int64_t here = rfn_largest(s->ctx, slices, -1 / b, rb_dense_rows(s->codes, j, 1),
                                   rb_dense_row(s->work->residual, s->unit));
        if (here >= 0) rb_put(s->codes.type, s->work->target, here, sqrt(n));
    }
    return 1;
}

/* Of the units in this turn. */
static const int64_t *order_of(rfn_work *work, int64_t l, int64_t turn) {
    rb_draws draws = {.stream = {.purpose = RB_RANDOM_SWEEP, .restart = (uint32_t)turn}};
    if (turn == 0) return work->units;
    rb_draw_order(&draws, l, work->order);
    return work->order;
}

void rfn_cyclic(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t turn,
                rfn_work *work, double *change) {
    int64_t l = codes.rows, slices = work->slices.count;
    const int64_t *order = order_of(work, l, turn);
    struct sweep s = {
        .ctx = ctx, .problem = problem, .work = work, .codes = codes, .far = turn > 0};
    if (codes.cols > 0) memset(work->changes, 0, (size_t)codes.cols * rb_type_size(codes.type));
    for (int64_t first = 0; first < l && !rb_stops_alone(ctx); first += s.count) {
        s.units = order + first;
        s.count = rfn_units_from(work, l, first);
        rfn_residual(ctx, problem, codes, s.units, s.count, work);
        if (!problem->normalized) {
            rb_parallel(ctx, slices, all_units, &s);
            continue;
        }
        for (s.unit = 0; s.unit <= s.count; s.unit++) {
            s.far = turn > 0;
            rb_parallel(ctx, slices, next_unit, &s);
            s.factor = s.unit < s.count ? scale_of(&s) : 1;
        }
    }
    if (!change) return;
    *change = 0;
    for (int64_t i = 0; i < codes.cols; i++)
        *change = fmax(*change, rb_get(codes.type, work->changes, i));
    rb_comm_max(ctx, 1, change);
}
