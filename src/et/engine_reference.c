/* The E-step as the paper has it (Luecke, Eggert 2010, sections 3 and 4), state by state and slow:
 * what tests compare the engine of the processor with. Gaussian noise, complete data, candidates by
 * the best single causes. */
#include "fit.h"

#include <math.h>
#include <string.h>

enum { MOST_CANDIDATES = 16 };

typedef struct reference {
    rb_problem problem;
    et_model own_model;
    et_setup setup;
    const et_pass *pass;
    rb_dense y, wbar; /* 1 x D, float64 */
    double *energy;   /* of sets of candidates, by their bits; then of each cause alone */
    double *single;   /* H */
    int32_t candidates[MOST_CANDIDATES];
} reference;

static void reference_close(void *engine) {
    reference *e = engine;
    if (e) {
        rb_dense_free(&e->y);
        rb_dense_free(&e->wbar);
        rb_free(e->energy);
        rb_free(e->single);
        rb_free(e);
    }
}

static rb_error reference_open(rb_context *ctx, const rb_problem *problem, const void *options,
                               void **engine) {
    *engine = NULL;
    reference *e = rb_alloc_zero(ctx, 1, sizeof *e);
    if (!e) {
        return RB_ERROR_MEMORY;
    }
    e->problem = *problem;
    et_setup *s = &e->setup;
    const et_model *model = et_model_of(problem->method, options, &e->own_model);
    int64_t d = problem->n_features;
    rb_error err = et_setup_of(ctx, model, options, d, problem->type, s);
    if (!err && (model->own || problem->missing || problem->fit->trace || s->fixed_count ||
                 s->most_active > s->max_active || s->selection != RB_ET_SELECT_JOINT ||
                 s->candidates > MOST_CANDIDATES)) {
        err = rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                      "the reference engine takes Gaussian noise, complete data, the usual "
                      "selection and at most %d candidates",
                      (int)MOST_CANDIDATES);
    }
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, 1, d, &e->y);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, 1, d, &e->wbar);
    if (!err) {
        e->energy = rb_alloc(ctx, ((int64_t)1 << s->candidates) + s->units, sizeof *e->energy);
        e->single = e->energy ? rb_alloc(ctx, s->units, sizeof *e->single) : NULL;
        err = e->single ? RB_OK : RB_ERROR_MEMORY;
    }
    if (err) {
        reference_close(e);
        return err;
    }
    *engine = e;
    return RB_OK;
}

static rb_error reference_set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    (void)ctx;
    ((reference *)engine)->pass = parameters;
    return RB_OK;
}

static rb_error reference_sums(rb_context *ctx, void *engine, void *sums) {
    (void)ctx;
    (void)engine;
    (void)sums;
    return RB_OK; /* nothing waits */
}

/* ---- states: sets of candidates, 0 <= s < 2^H', then each cause alone ---- */

static int64_t count_states(const reference *e) {
    return ((int64_t)1 << e->setup.candidates) + e->setup.units;
}

static bool is_active(const reference *e, int64_t s, int64_t h) {
    int64_t sets = (int64_t)1 << e->setup.candidates;
    bool active = s - sets == h;
    for (int64_t k = 0; s < sets && k < e->setup.candidates; k++) {
        active = active || (e->candidates[k] == h && (s >> k & 1));
    }
    return active;
}

/* Is the state one that is looked at? Single candidates are among the sets already. */
static bool is_looked_at(const reference *e, int64_t s) {
    int64_t sets = (int64_t)1 << e->setup.candidates;
    if (s < sets) {
        return __builtin_popcountll((uint64_t)s) <= e->setup.max_active;
    }
    bool candidate = false;
    for (int64_t k = 0; k < e->setup.candidates; k++) {
        candidate = candidate || e->candidates[k] == s - sets;
    }
    return e->setup.singletons && !candidate;
}

/* |y - Wbar(s)|^2, and the prior's part of e(s). */
static double distance(reference *e, int64_t s, double *prior) {
    const et_parameters *p = e->pass->parameters;
    const double *y = e->y.data;
    double *wbar = e->wbar.data, sum = 0;
    memset(wbar, 0, (size_t)e->y.cols * sizeof *wbar);
    *prior = 0;
    for (int64_t h = 0; h < e->setup.units; h++) {
        if (is_active(e, s, h)) {
            e->setup.model->superpose(e->y.cols, wbar, rb_dense_row(p->fields, h), wbar);
            *prior += e->pass->beta_prior * log(p->prior[h] / (1 - p->prior[h]));
        }
    }
    for (int64_t d = 0; d < e->y.cols; d++) {
        sum += (y[d] - wbar[d]) * (y[d] - wbar[d]);
    }
    return sum;
}

/* The causes of which one alone explains the sample best, ascending; a field of zeros comes last.
 */
static void select_candidates(reference *e) {
    const et_parameters *p = e->pass->parameters;
    const double *y = e->y.data;
    double scale = e->pass->beta / (p->sigma * p->sigma);
    int64_t taken = 0;
    for (int64_t h = 0; h < e->setup.units; h++) {
        const double *w = rb_dense_row(p->fields, h);
        double product = 0, square = 0;
        for (int64_t d = 0; d < e->y.cols; d++) {
            product += w[d] * y[d];
            square += w[d] * w[d];
        }
        double logit = e->pass->beta_prior * log(p->prior[h] / (1 - p->prior[h]));
        e->single[h] = square > 0 ? scale * (product - square / 2) + logit : -HUGE_VAL;
    }
    for (int64_t h = 0; h < e->setup.units; h++) {
        int64_t before = 0;
        for (int64_t j = 0; j < e->setup.units; j++) {
            before += e->single[j] > e->single[h] || (j < h && e->single[j] == e->single[h]);
        }
        if (before < e->setup.candidates) {
            e->candidates[taken++] = (int32_t)h;
        }
    }
}

/* Probabilities of all states over their energies; returns the log evidence. */
static double posterior(reference *e, int64_t *map) {
    const et_parameters *p = e->pass->parameters;
    double variance = p->sigma * p->sigma / e->pass->beta, total = 0, prior;
    double constant = -(double)e->y.cols / 2 * log(2 * M_PI * variance);
    *map = 0;
    for (int64_t s = 0; s < count_states(e); s++) {
        double squares = is_looked_at(e, s) ? distance(e, s, &prior) : HUGE_VAL;
        e->energy[s] = squares < HUGE_VAL ? prior - squares / (2 * variance) : -HUGE_VAL;
        *map = e->energy[s] > e->energy[*map] ? s : *map;
    }
    double highest = e->energy[*map];
    for (int64_t s = 0; s < count_states(e); s++) {
        e->energy[s] = exp(e->energy[s] - highest);
        total += e->energy[s];
    }
    for (int64_t s = 0; s < count_states(e); s++) {
        e->energy[s] /= total;
    }
    for (int64_t h = 0; h < e->setup.units; h++) {
        constant += e->pass->beta_prior * log(1 - p->prior[h]);
    }
    return constant + highest + log(total);
}

/* ---- sums ---- */

/* The share that cause h has of feature d in a state: 1 where fields add up; in MCA (eq. 30) that of
 * W_h in the soft maximum of exponent rho. */
static double share(const reference *e, int64_t s, int64_t h, int64_t d) {
    double t = 1 / e->pass->beta, rho = t > 1 ? fmin(t / (t - 1), 21) : 21, sum = 0;
    rb_dense w = e->pass->parameters->fields;
    for (int64_t j = 0; e->setup.model->summing->weights && j < e->setup.units; j++) {
        sum += is_active(e, s, j) ? pow(rb_dense_get(w, j, d) / rb_dense_get(w, h, d), rho) : 0;
    }
    return e->setup.model->summing->weights ? pow(sum, 1 / rho - 1) : 1;
}

static void add_to(rb_dense sums, int64_t row, int64_t column, double value) {
    if (sums.data) {
        ((double *)rb_dense_row(sums, row))[column] += value;
    }
}

static void add_state(reference *e, int64_t s, et_sums *sums) {
    const double *y = e->y.data;
    double q = e->energy[s], prior;
    sums->residual += q * distance(e, s, &prior);
    for (int64_t h = 0; h < e->setup.units; h++) {
        if (!is_active(e, s, h)) {
            continue;
        }
        sums->active += q;
        sums->causes[h] += q;
        for (int64_t j = 0; j < e->setup.units; j++) {
            add_to(sums->second, h, j, is_active(e, s, j) ? q : 0);
        }
        for (int64_t d = 0; d < e->y.cols; d++) {
            double a = q * share(e, s, h, d);
            add_to(sums->products, h, d, a * y[d]);
            add_to(sums->weights, h, d, a);
        }
    }
}

static void add_sample(reference *e, double evidence, et_sums *sums) {
    const double *y = e->y.data;
    sums->used++;
    sums->evidence += evidence;
    sums->values += (double)e->y.cols;
    for (int64_t d = 0; d < e->y.cols; d++) {
        sums->squares += y[d] * y[d];
    }
    for (int64_t s = 0; s < count_states(e); s++) {
        if (e->energy[s] > 0) {
            add_state(e, s, sums);
        }
    }
}

static rb_error reference_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    (void)ctx;
    reference *e = engine;
    et_sums *sums = to;
    const et_pass *pass = e->pass;
    for (int64_t i = 0; i < block->n_samples; i++) {
        int64_t map;
        rb_block_rows(block, i, e->y);
        select_candidates(e);
        double evidence = posterior(e, &map);
        if (pass->kind == ET_PASS_ALL ||
            (pass->kind == ET_PASS_CUT && et_pass_uses(pass, block, i))) {
            add_sample(e, evidence, sums);
        }
        if (pass->kind != ET_PASS_CUT) {
            pass->evidence[block->own + i] = evidence;
            sums->all_evidence += evidence;
        }
        for (int64_t h = 0; pass->kind != ET_PASS_CUT && h < e->setup.units; h++) {
            sums->in_map[h] = sums->in_map[h] || is_active(e, map, h);
        }
    }
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
