/* The E-step as the paper has it (Luecke, Eggert 2010, sections 3 and 4), state by state and slow:
 * what tests compare the engine of the processor with. Gaussian noise, complete data, few causes;
 * candidates are the best single causes. A state is a number whose digits, to the base of the
 * number of values, are those of the causes: 0, or 1 + the place of the value. */
#ifndef ET_PLAIN_ENGINE_H
#define ET_PLAIN_ENGINE_H

#include "et/fit.h"

#include <math.h>

typedef struct reference {
    et_setup setup;
    const et_pass *pass;
    rb_scratch memory;
    rb_dense y, wbar; /* 1 x D, float64 */
    double *field;    /* D */
    double *q;        /* of all states: energies, then probabilities */
    uint32_t states, base;
    uint32_t power[RB_ET_MAX_EXACT]; /* base^h */
    double single[RB_ET_MAX_EXACT];
    bool candidate[RB_ET_MAX_EXACT];
} reference;

static void reference_close(void *engine) {
    reference *e = engine;
    if (e) {
        rb_scratch_end(&e->memory);
        rb_free(e);
    }
}

static rb_error reference_open(rb_context *ctx, const rb_problem *problem, const void *options,
                               void **engine) {
    et_setup s = et_setup_of(problem, options);
    *engine = NULL;
    if (!et_gaussian(&s.model) || problem->missing || problem->fit->trace || s.fixed_count ||
        s.widest_active > s.max_active || s.selection != RB_ET_SELECT_JOINT || s.region >= 0 ||
        s.model.own.select || !et_enumerable(s.units, &s.values)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the reference engine takes Gaussian noise, complete data, the usual "
                       "selection and states, and at most %d binary units",
                       (int)RB_ET_MAX_EXACT);
    }
    reference *e = rb_alloc_zero(ctx, 1, sizeof *e);
    rb_error err = RB_ERROR_MEMORY;
    if (e) {
        e->setup = s;
        e->memory.ctx = ctx;
        rb_dense_take(&e->memory, RB_FLOAT64, 1, s.n_features, &e->y);
        rb_dense_take(&e->memory, RB_FLOAT64, 1, s.n_features, &e->wbar);
        e->field = rb_take(&e->memory, s.n_features, sizeof *e->field);
        e->states = (uint32_t)(et_all_states(s.units, &s.values) + 0.5);
        e->base = (uint32_t)s.values.count + 1;
        for (int64_t h = 0; h < s.units; h++)
            e->power[h] = h ? e->power[h - 1] * e->base : 1;
        e->q = rb_take(&e->memory, e->states, sizeof *e->q);
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

static uint32_t digit(const reference *e, uint32_t s, int64_t h) {
    return s / e->power[h] % e->base;
}

/* s_h */
static double value_of(const reference *e, uint32_t s, int64_t h) {
    uint32_t place = digit(e, s, h);
    return place ? e->setup.values.value[place - 1] : 0;
}

static int size_of(const reference *e, uint32_t s) {
    int size = 0;
    for (int64_t h = 0; h < e->setup.units; h++)
        size += digit(e, s, h) > 0;
    return size;
}

/* |y - Wbar(s)|^2, and the prior's part of e(s). */
static double distance(reference *e, uint32_t s, double *prior) {
    const et_parameters *p = e->pass->parameters;
    const rb_et_model *own = &e->setup.model.own;
    const double *y = e->y.data;
    double *wbar = e->wbar.data, sum = 0;
    rb_dense_zero(e->wbar);
    *prior = 0;
    for (int64_t h = 0; h < e->setup.units; h++) {
        double value = value_of(e, s, h);
        if (value == 0) continue;
        for (int64_t d = 0; d < e->y.cols; d++)
            e->field[d] = value * rb_dense_get(p->fields, h, d);
        own->superpose(own->user, e->y.cols, wbar, e->field, wbar);
        double share = et_share(p, (digit(e, s, h) - 1) * e->setup.units + h);
        *prior += e->pass->beta_prior * log(p->prior[h] * share / (1 - p->prior[h]));
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

/* The causes of which one alone, at its best value, explains the sample best; a field of zeros
 * comes last. */
static void select_candidates(reference *e) {
    int64_t units = e->setup.units;
    for (int64_t h = 0; h < units; h++) {
        const double *w = rb_dense_row(e->pass->parameters->fields, h);
        double square = 0;
        for (int64_t d = 0; d < e->y.cols; d++)
            square += w[d] * w[d];
        e->single[h] = -HUGE_VAL;
        for (uint32_t a = 1; square > 0 && a < e->base; a++)
            e->single[h] = fmax(e->single[h], energy(e, a * e->power[h]));
    }
    for (int64_t h = 0; h < units; h++) {
        int64_t before = 0;
        for (int64_t j = 0; j < units; j++)
            before += e->single[j] > e->single[h] || (j < h && e->single[j] == e->single[h]);
        e->candidate[h] = before < e->setup.candidates;
    }
}

static bool is_looked_at(const reference *e, uint32_t s) {
    int size = size_of(e, s);
    bool inside = true;
    for (int64_t h = 0; h < e->setup.units; h++)
        inside = inside && (digit(e, s, h) == 0 || e->candidate[h]);
    return (size <= e->setup.max_active && inside) || (size == 1 && e->setup.singletons);
}

/* Probabilities of all states, and the most probable one; returns the log evidence. */
static double posterior(reference *e, uint32_t *map) {
    const et_parameters *p = e->pass->parameters;
    double variance = p->sigma * p->sigma / e->pass->beta, total = 0;
    double constant = -(double)e->y.cols / 2 * log(2 * M_PI * variance);
    *map = 0;
    for (uint32_t s = 0; s < e->states; s++) {
        e->q[s] = is_looked_at(e, s) ? energy(e, s) : -HUGE_VAL;
        *map = e->q[s] > e->q[*map] ? s : *map;
    }
    double highest = e->q[*map];
    for (uint32_t s = 0; s < e->states; s++)
        total += e->q[s] = exp(e->q[s] - highest);
    for (uint32_t s = 0; s < e->states; s++)
        e->q[s] /= total;
    for (int64_t h = 0; h < e->setup.units; h++)
        constant += e->pass->beta_prior * log(1 - p->prior[h]);
    return constant + highest + log(total);
}

/* ---- sums ---- */

/* The share that cause h has of feature d in a state: 1 where fields add up; in MCA (eq. 30) that
 * of s_h W_h in the soft maximum of exponent rho. */
static double share(const reference *e, uint32_t s, int64_t h, int64_t d) {
    double t = 1 / e->pass->beta, rho = t > 1 ? fmin(t / (t - 1), 21) : 21, sum = 0;
    rb_dense w = e->pass->parameters->fields;
    double own = value_of(e, s, h) * rb_dense_get(w, h, d);
    for (int64_t j = 0; j < e->setup.units; j++)
        sum += pow(value_of(e, s, j) * rb_dense_get(w, j, d) / own, rho);
    return e->setup.model.additive ? 1 : pow(sum, 1 / rho - 1);
}

static void add_to(rb_dense sums, int64_t row, int64_t column, double value) {
    if (sums.data) ((double *)rb_dense_row(sums, row))[column] += value;
}

static void add_state(reference *e, uint32_t s, et_sums *sums) {
    const double *y = e->y.data;
    double q = e->q[s], prior;
    sums->residual += q * distance(e, s, &prior);
    sums->active += q * size_of(e, s);
    for (int64_t h = 0; h < e->setup.units; h++) {
        double value = value_of(e, s, h);
        if (value == 0) continue;
        int64_t item = (digit(e, s, h) - 1) * e->setup.units + h;
        bool linear = e->setup.model.additive;
        sums->causes[item] += q;
        for (int64_t j = 0; j < e->setup.units; j++)
            add_to(sums->second, h, j, q * value * value_of(e, s, j));
        for (int64_t d = 0; d < e->y.cols; d++) {
            double a = q * share(e, s, h, d);
            add_to(sums->products, linear ? h : item, d, a * (linear ? value : 1) * y[d]);
            add_to(sums->weights, item, d, a);
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
            for (uint32_t s = 0; s < e->states; s++)
                if (e->q[s] > 0) add_state(e, s, sums);
        }
        if (pass->kind != ET_PASS_CUT) {
            pass->evidence[block->own + i] = evidence;
            sums->all_evidence += evidence;
        }
        for (int64_t h = 0; h < e->setup.units; h++)
            sums->in_map[h] = sums->in_map[h] || digit(e, map, h) > 0;
    }
    return RB_OK;
}

/* Nothing waits. */
static const rb_engine et_plain_engine = {
    .name = "reference",
    .open = reference_open,
    .close = reference_close,
    .set_parameters = reference_set_parameters,
    .block = reference_block,
};

#endif
