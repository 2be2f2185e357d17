/* The cyclic E-step: exact minimisation over the codes of one unit after the other.
 *
 * With all other units fixed, (n/2) O of unit j is P_jj/2 |mu_j - t_j|^2 + constant with
 * t_j = mu_j - (mu P - Q)_j / P_jj, so that the minimum over a feasible set is the nearest feasible
 * point to t_j: rectify, and scale to mean square 1. There is no step size, and O never rises.
 *
 * Where P differs from sample to sample, the largest P_jj of all stands for each: O of the unit is
 * then below such a quadratic that touches it at the codes at hand, and falls at least as far.
 *
 * mu P of some units comes from one matrix product; to that of a unit the changes of those before
 * it are added, which lie where their residuals were. Cost of a sweep: 2 n l^2, nearly all in the
 * product, and of few units in reading codes and changes from memory.
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
    bool marks;    /* the largest change of each sample's codes is wanted */
    bool far;      /* the step is long */
    int64_t unit;  /* at hand, from 0 */
    double factor; /* of the unit before: what its row is multiplied by */
};

static int64_t samples_of(const struct sweep *s, int64_t slice) {
    return s->work->slices.first[slice + 1] - s->work->slices.first[slice];
}

/* The samples of a task in a row. */
static void *row_of(const struct sweep *s, rb_dense rows, int64_t row, int64_t slice) {
    int64_t first = s->work->slices.first[slice];
    return rb_dense_part(rows, row, 1, first, samples_of(s, slice)).data;
}

/* What the residual of unit j is divided by. */
static double bend(const struct sweep *s, int64_t j) {
    double p = rfn_curvature(s->problem, j), tau = s->work->pulls[j];
    return s->far ? fmax((p + tau) / LONG - tau, p / LONGEST) : p;
}

/* The changes of the units before it, by each sample's own P. */
static void add_own_changes(const struct sweep *s, int64_t unit, int64_t slice) {
    rb_dense rows = s->work->residual;
    int64_t j = s->units[unit], first = s->work->slices.first[slice];
    int64_t end = first + samples_of(s, slice);
    for (int64_t i = first; i < end; i++) {
        double sum = rb_dense_get(rows, unit, i);
        for (int64_t k = 0; k < unit; k++) {
            double change = rb_dense_get(rows, k, i);
            if (change != 0)
                sum += change * rfn_curvature_of(s->problem->patterns, i, j, s->units[k]);
        }
        rb_dense_set(rows, unit, i, sum);
    }
}

/* What the product left of unit j becomes mu P - Q of the codes at hand. */
static void renew(const struct sweep *s, int64_t unit, int64_t slice) {
    const struct rb_type_kernels *kernels = &rb_kernels_of(s->ctx)->of[s->codes.type];
    rb_dense rows = s->work->residual;
    int64_t j = s->units[unit], samples = samples_of(s, slice);
    if (s->problem->patterns) {
        add_own_changes(s, unit, slice);
        return;
    }
    void *residual = row_of(s, rows, unit, slice);
    kernels->axpy(samples, -1, row_of(s, s->problem->linear, j, slice), residual);
    double factors[RFN_UNITS_AT_ONCE];
    for (int64_t k = 0; k < unit; k++)
        factors[k] = rb_dense_get(s->problem->hessian, j, s->units[k]);
    kernels->add_rows(samples, unit, factors, row_of(s, rows, 0, slice), rows.ld, residual);
}

/* max(0, t_j) */
static void aim(const struct sweep *s, int64_t unit, int64_t slice) {
    int64_t j = s->units[unit];
    s->work->squares[slice] = rb_kernels_of(s->ctx)->of[s->codes.type].step_row(
        samples_of(s, slice), -1 / bend(s, j), row_of(s, s->codes, j, slice),
        row_of(s, s->work->residual, unit, slice), row_of(s, s->work->aimed, 0, slice));
}

/* `factor` times this becomes the codes, and what changed lies where their residual was. */
static void settle(const struct sweep *s, int64_t unit, double factor, int64_t slice) {
    rb_kernels_of(s->ctx)->of[s->codes.type].settle_row(
        samples_of(s, slice), factor, row_of(s, s->work->aimed, 0, slice),
        row_of(s, s->codes, s->units[unit], slice), row_of(s, s->work->residual, unit, slice),
        s->marks ? row_of(s, s->work->changes, 0, slice) : NULL);
}

/* Rectified set: samples do not know of each other. */
static void all_units(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct sweep *s = arg;
    for (int64_t unit = 0; unit < s->count; unit++) {
        renew(s, unit, slice);
        aim(s, unit, slice);
        settle(s, unit, 1, slice);
    }
}

/* Normalised set: the scale of a unit needs all samples, then comes the next unit. */
static void next_unit(void *arg, int64_t slice, int worker) {
    (void)worker;
    const struct sweep *s = arg;
    if (s->unit > 0) settle(s, s->unit - 1, s->factor, slice);
    if (s->unit == s->count) return;
    renew(s, s->unit, slice);
    aim(s, s->unit, slice);
}

/* The sum of squares of the row at hand over all samples. */
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

static void aim_again(void *arg, int64_t slice, int worker) {
    const struct sweep *s = arg;
    (void)worker;
    aim(s, s->unit, slice);
}

/* The sum of squares; where the step is so long that O might rise, of the one to the minimum. */
static double squares_of_lower(struct sweep *s) {
    const rfn_slices *slices = &s->work->slices;
    int64_t j = s->units[s->unit];
    double squares = squares_of(s), b = bend(s, j), beyond = rfn_curvature(s->problem, j) - b;
    if (!(b * sqrt(squares / (double)slices->all) < 2 * beyond)) return squares;
    s->far = false;
    rb_parallel(s->ctx, slices->count, aim_again, s);
    return squares_of(s);
}

/* What the row at hand is to be multiplied by. */
static double scale_of(struct sweep *s) {
    int64_t j = s->units[s->unit];
    double n = (double)s->work->slices.all, squares = squares_of_lower(s), b = bend(s, j);
    s->work->alive[j] = squares > 0;
    s->work->pulls[j] = (sqrt(squares / n) - 1) * b;
    if (squares > 0 || isnan(squares)) return sqrt(n / squares);
    rfn_take_largest(s->ctx, &s->work->slices, -1 / b, rb_dense_rows(s->codes, j, 1),
                     rb_dense_row(s->work->residual, s->unit), s->work->aimed);
    return 1;
}

/* The units of this turn in order, and their number. Dead ones have no code to improve. */
static int64_t choose_order(const struct sweep *s, int64_t turn) {
    rb_draws draws = {.stream = {.purpose = RB_RANDOM_SWEEP, .restart = (uint32_t)turn}};
    int64_t l = s->codes.rows, *order = s->work->order, count = 0;
    if (turn == 0)
        memcpy(order, s->work->units, (size_t)l * sizeof *order);
    else
        rb_draw_order(&draws, l, order);
    for (int64_t i = 0; i < l; i++)
        if (!rfn_clears_dead(s->problem, order[i], s->codes)) order[count++] = order[i];
    return count;
}

void rfn_cyclic(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t turn,
                bool marks, rfn_work *work) {
    int64_t slices = work->slices.count;
    struct sweep s = {.ctx = ctx,
                      .problem = problem,
                      .work = work,
                      .codes = codes,
                      .marks = marks,
                      .far = turn > 0};
    int64_t l = choose_order(&s, turn);
    if (marks) rb_dense_zero(work->changes);
    for (int64_t first = 0; first < l && !rb_stops_alone(ctx); first += s.count) {
        s.units = work->order + first;
        s.count = rfn_units_from(work, l, first);
        rfn_product(ctx, problem, codes, s.units, work,
                    rb_dense_part(work->residual, 0, s.count, 0, codes.cols));
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
}

double rfn_largest_change(rb_context *ctx, rb_dense codes, const rfn_work *work) {
    double change = 0;
    for (int64_t i = 0; i < codes.cols; i++)
        change = fmax(change, rb_dense_get(work->changes, 0, i));
    rb_comm_max(ctx, 1, &change);
    return change;
}
