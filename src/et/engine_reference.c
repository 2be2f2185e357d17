/* The E-step as the paper has it (Luecke, Eggert 2010, sections 3 and 4), state by state and slow:
 * what tests compare the engine of the processor with. Gaussian noise, complete data, few causes;
 * candidates are the best single causes. A state is a set of causes, by its bits. */
#include "fit.h"

#include <math.h>

typedef struct reference {
    et_setup setup;
    const et_pass *pass;
    et_memory memory;
    rb_dense y, wbar; /* 1 x D, float64 */
    double *q;        /* of all 2^H states: energies, then probabilities */
    double single[RB_ET_MAX_EXACT];
    uint32_t candidates;
} reference;

static void reference_close(void *engine) {
    reference *e = engine;
    if (e) {
        et_memory_free(&e->memory);
        rb_free(e);
    }
}

static rb_error reference_open(rb_context *ctx, const rb_problem *problem, const void *options,
                               void **engine) {
    et_setup s = et_setup_of(problem, options);
    *engine = NULL;
    if (!et_gaussian(&s.model) || problem->missing || problem->fit->trace || s.fixed_count ||
        s.widest_active > s.max_active || s.selection != RB_ET_SELECT_JOINT ||
        s.units > RB_ET_MAX_EXACT) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the reference engine takes Gaussian noise, complete data, the usual "
                       "selection and at most %d units",
                       (int)RB_ET_MAX_EXACT);
    }
    reference *e = rb_alloc_zero(ctx, 1, sizeof *e);
    rb_error err = RB_ERROR_MEMORY;
    if (e) {
        e->setup = s;
        e->y = et_take_dense(ctx, &e->memory, RB_FLOAT64, 1, s.n_features);
        e->wbar = et_take_dense(ctx, &e->memory, RB_FLOAT64, 1, s.n_features);
        e->q = et_take(ctx, &e->memory, (int64_t)1 << s.units, 1, sizeof *e->q);
        err = e->memory.err;
    }
    if (err) reference_close(e);
    *engine = err ? NULL : e;
    return err;
}

static rb_error reference_set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    (void)ctx;
    ((reference *)engine)->pass = parameters;
    return RB_OK;
}

/* ---- the posterior of a sample ---- */

/* |y - Wbar(s)|^2, and the prior's part of e(s). */
static double distance(reference *e, uint32_t s, double *prior) {
    const et_parameters *p = e->pass->parameters;
    const rb_et_model *own = &e->setup.model.own;
    const double *y = e->y.data;
    double *wbar = e->wbar.data, sum = 0;
    rb_dense_zero(e->wbar);
    *prior = 0;
    for (int64_t h = 0; h < e->setup.units; h++) {
        if (s >> h & 1) {
            own->superpose(own->user, e->y.cols, wbar, rb_dense_row(p->fields, h), wbar);
            *prior += e->pass->beta_prior * log(p->prior[h] / (1 - p->prior[h]));
        }
    }
    for (int64_t d = 0; d < e->y.cols; d++)
        sum += (y[d] - wbar[d]) * (y[d] - wbar[d]);
    return sum;
}

/* e(s) less |y|^2 */
static double energy(reference *e, uint32_t s) {
    double sigma = e->pass->parameters->sigma, prior;
    double squares = distance(e, s, &prior);
    return prior - e->pass->beta * squares / (2 * sigma * sigma);
}

/* The causes of which one alone explains the sample best; a field of zeros comes last. */
static void select_candidates(reference *e) {
    int64_t units = e->setup.units;
    for (int64_t h = 0; h < units; h++) {
        const double *w = rb_dense_row(e->pass->parameters->fields, h);
        double square = 0;
        for (int64_t d = 0; d < e->y.cols; d++)
            square += w[d] * w[d];
        e->single[h] = square > 0 ? energy(e, UINT32_C(1) << h) : -HUGE_VAL;
    }
    e->candidates = 0;
    for (int64_t h = 0; h < units; h++) {
        int64_t before = 0;
        for (int64_t j = 0; j < units; j++)
            before += e->single[j] > e->single[h] || (j < h && e->single[j] == e->single[h]);
        e->candidates |= before < e->setup.candidates ? UINT32_C(1) << h : 0;
    }
}

static bool is_looked_at(const reference *e, uint32_t s) {
    int size = __builtin_popcount(s);
    return (size <= e->setup.max_active && (s & ~e->candidates) == 0) ||
           (size == 1 && e->setup.singletons);
}

/* Probabilities of all states, and the most probable one; returns the log evidence. */
static double posterior(reference *e, uint32_t *map) {
    const et_parameters *p = e->pass->parameters;
    double variance = p->sigma * p->sigma / e->pass->beta, total = 0;
    double constant = -(double)e->y.cols / 2 * log(2 * M_PI * variance);
    uint32_t states = UINT32_C(1) << e->setup.units;
    *map = 0;
    for (uint32_t s = 0; s < states; s++) {
        e->q[s] = is_looked_at(e, s) ? energy(e, s) : -HUGE_VAL;
        *map = e->q[s] > e->q[*map] ? s : *map;
    }
    double highest = e->q[*map];
    for (uint32_t s = 0; s < states; s++)
        total += e->q[s] = exp(e->q[s] - highest);
    for (uint32_t s = 0; s < states; s++)
        e->q[s] /= total;
    for (int64_t h = 0; h < e->setup.units; h++)
        constant += e->pass->beta_prior * log(1 - p->prior[h]);
    return constant + highest + log(total);
}

/* ---- sums ---- */

/* The share that cause h has of feature d in a state: 1 where fields add up; in MCA (eq. 30) that
 * of W_h in the soft maximum of exponent rho. */
static double share(const reference *e, uint32_t s, int64_t h, int64_t d) {
    double t = 1 / e->pass->beta, rho = t > 1 ? fmin(t / (t - 1), 21) : 21, sum = 0;
    rb_dense w = e->pass->parameters->fields;
    for (int64_t j = 0; j < e->setup.units; j++)
        sum += s >> j & 1 ? pow(rb_dense_get(w, j, d) / rb_dense_get(w, h, d), rho) : 0;
    return e->setup.model.additive ? 1 : pow(sum, 1 / rho - 1);
}

static void add_to(rb_dense sums, int64_t row, int64_t column, double value) {
    if (sums.data) ((double *)rb_dense_row(sums, row))[column] += value;
}

static void add_state(reference *e, uint32_t s, et_sums *sums) {
    const double *y = e->y.data;
    double q = e->q[s], prior;
    sums->residual += q * distance(e, s, &prior);
    sums->active += q * __builtin_popcount(s);
    for (int64_t h = 0; h < e->setup.units; h++) {
        if (!(s >> h & 1)) continue;
        sums->causes[h] += q;
        for (int64_t j = 0; j < e->setup.units; j++)
            add_to(sums->second, h, j, s >> j & 1 ? q : 0);
        for (int64_t d = 0; d < e->y.cols; d++) {
            double a = q * share(e, s, h, d);
            add_to(sums->products, h, d, a * y[d]);
            add_to(sums->weights, h, d, a);
        }
    }
}

static rb_error reference_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    (void)ctx;
    reference *e = engine;
    et_sums *sums = to;
    const et_pass *pass = e->pass;
    bool sums_up = pass->kind == ET_PASS_CUT || pass->kind == ET_PASS_ALL;
    for (int64_t i = 0; i < block->n_samples; i++) {
        uint32_t map;
        double prior;
        rb_block_rows(block, i, e->y);
        select_candidates(e);
        double evidence = posterior(e, &map);
        if (sums_up && et_pass_uses(pass, block, i)) {
            sums->used++;
            sums->evidence += evidence;
            sums->values += (double)e->y.cols;
            sums->squares += distance(e, 0, &prior);
            for (uint32_t s = 0; s >> e->setup.units == 0; s++)
                if (e->q[s] > 0) add_state(e, s, sums);
        }
        if (pass->kind != ET_PASS_CUT) {
            pass->evidence[block->own + i] = evidence;
            sums->all_evidence += evidence;
        }
        for (int64_t h = 0; h < e->setup.units; h++)
            sums->in_map[h] = sums->in_map[h] || (map >> h & 1);
    }
    return RB_OK;
}

/* Nothing waits. */
static rb_error reference_sums(rb_context *ctx, void *engine, void *sums) {
    (void)ctx;
    (void)engine;
    (void)sums;
    return RB_OK;
}

const rb_engine et_engine_reference = {
    .name = "reference",
    .open = reference_open,
    .close = reference_close,
    .set_parameters = reference_set_parameters,
    .block = reference_block,
    .sums = reference_sums,
};
