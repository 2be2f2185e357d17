/* What the tests of expectation truncation need: a fit in the middle of an iteration. */
#ifndef ET_FIXTURE_H
#define ET_FIXTURE_H

#include "fixture.h"

#include "em/em.h"
#include "et/et.h"
#include "et/fit.h"

enum { MAX_N = 16, MAX_D = 12, MAX_H = 12, MODELS = 5 };

static const struct {
    const char *method;
    int noise;
} models[MODELS] = {{"linca", RB_ET_GAUSSIAN},
                    {"nmf-et", RB_ET_GAUSSIAN},
                    {"mca", RB_ET_GAUSSIAN},
                    {"nmf-et", RB_ET_POISSON},
                    {"mca", RB_ET_POISSON}};

struct setting {
    const char *method;
    int noise;
    int n, d, h, candidates, max_active, count;
    int limit; /* of active causes, for samples that are full */
    double temperature;
    bool anneal_prior, unequal; /* priors */
    int singletons;
    double missing; /* share of the values that is NaN */
    uint64_t seed;
    const char *values; /* NULL: binary causes; else of random shares */
    int selection;
    bool region; /* states that differ from the best one in at most `reach` causes */
    int reach;
};

struct fitted {
    rb_fit_options fit;
    rb_et_options options;
    rb_block block;
    double *y; /* n x d */
    et_fit *state;
};

static inline et_engine *engine_of(const et_fit *f) {
    return ((et_cpu *)f->engine)->engine;
}

static inline et_results *results_of(const et_fit *f) {
    return &((et_cpu *)f->engine)->results;
}

static inline void near(double got, double expected, const char *what) {
    if (!(fabs(got - expected) <= 1e-10 * fmax(1, fabs(expected))))
        fail_msg("%s is %.15g, expected %.15g", what, got, expected);
}

static inline const rb_method *method_of(const char *name) {
    return strcmp(name, "linca") == 0    ? &rb_method_linca
           : strcmp(name, "nmf-et") == 0 ? &rb_method_nmf_et
                                         : &rb_method_mca;
}

/* Fields and samples: superpositions of about two fields with noise; counts for Poisson noise. */
static inline void draw_setting(const struct setting *c, struct fitted *f) {
    rb_draws draws = {{c->seed, RB_RANDOM_SIMULATE, 7}, 0};
    rb_dense w = f->state->parameters.fields;
    for (int h = 0; h < c->h; h++) {
        for (int d = 0; d < c->d; d++) {
            double value = 2 * rb_draw_normal(&draws);
            rb_dense_set(w, h, d,
                         f->state->plan.setup.model.non_negative ? 0.05 + fabs(value) : value);
        }
        f->state->parameters.prior[h] = c->unequal ? 0.1 + 0.4 * rb_draw_uniform(&draws) : 0.25;
    }
    et_parameters *p = &f->state->parameters;
    const et_values *values = &f->state->plan.setup.values;
    for (int h = 0; p->shares && h < c->h; h++) {
        double sum = 0;
        for (int a = 0; a < values->count; a++)
            sum += p->shares[a * c->h + h] = 0.1 + rb_draw_uniform(&draws);
        for (int a = 0; a < values->count; a++)
            p->shares[a * c->h + h] /= sum;
    }
    for (int i = 0; i < c->n; i++) {
        for (int h = 0; h < c->h; h++) {
            bool active = rb_draw_uniform(&draws) < 2.0 / c->h;
            for (int d = 0; active && d < c->d; d++) {
                double *y = &f->y[i * c->d + d], field = rb_dense_get(w, h, d);
                *y = (f->state->plan.setup.model.summing == &et_sum_max) ? fmax(*y, field)
                                                                         : *y + field;
            }
        }
        for (int d = 0; d < c->d; d++) {
            double *y = &f->y[i * c->d + d];
            *y += 0.7 * rb_draw_normal(&draws);
            *y = c->noise == RB_ET_POISSON ? round(fabs(*y)) : *y;
        }
    }
}

/* Each value by itself; and all of the last sample, and of the last feature. */
static inline void lose_values(const struct setting *c, double *y) {
    rb_draws draws = {{c->seed, RB_RANDOM_SIMULATE, 9}, 0};
    for (int i = 0; c->missing > 0 && i < c->n; i++) {
        for (int d = 0; d < c->d; d++) {
            bool last = i + 1 == c->n || d + 1 == c->d;
            if (rb_draw_uniform(&draws) < c->missing || last) y[i * c->d + d] = NAN;
        }
    }
}

static inline void begin_setting(rb_context *ctx, const struct setting *c, struct fitted *f) {
    const rb_method *method = method_of(c->method);
    *f = (struct fitted){.fit = fixture_fit(1, RB_FLOAT64)};
    f->y = calloc((size_t)(c->n * c->d), sizeof *f->y);
    rb_rows_default(method->options, &f->options);
    f->options.units = c->h;
    f->options.candidates = c->candidates;
    f->options.max_active = c->count ? f->options.max_active : c->max_active;
    f->options.count = c->count;
    f->options.max_active_limit = c->limit;
    f->options.noise = c->noise;
    f->options.prior = c->count ? 0 : 0.25;
    if (c->noise == RB_ET_GAUSSIAN) {
        f->options.sigma = 0.7;
        f->options.learn_sigma = true;
    }
    f->options.weight_noise = 0;
    f->options.cut_factor = 1e9;
    if (!c->count) f->options.singletons = c->singletons ? RB_ET_YES : RB_ET_NO;
    f->options.values = c->values;
    f->options.selection = c->selection;
    f->options.region = c->region ? c->reach : -1;
    f->options.anneal_prior = c->anneal_prior ? RB_ET_YES : RB_ET_NO;
    rb_problem problem = {.n_samples = c->n,
                          .own = c->n,
                          .n_features = c->d,
                          .type = RB_FLOAT64,
                          .block_samples = c->n,
                          .missing = c->missing > 0,
                          .fit = &f->fit,
                          .method = method,
                          .engine = &et_engine_cpu};
    void *state;
    assert_ok(ctx, et_start(ctx, &problem, &f->options, NULL, &state));
    f->state = state;
    f->block = (rb_block){
        .n_samples = c->n, .n_features = c->d, .dense = {f->y, c->n, c->d, c->d, RB_FLOAT64}};
    assert_ok(ctx, et_survey_block(ctx, f->state, &f->block));
    assert_ok(ctx, et_survey_end(ctx, f->state));
    draw_setting(c, f);
    lose_values(c, f->y);
    f->state->plan.schedule.start = f->state->plan.schedule.end = c->temperature;
    f->state->progress.iteration = 1; /* at the end temperature */
}

/* The E-step with the parameters as they are. */
static inline void run_estep(rb_context *ctx, struct fitted *f) {
    bool again = true;
    rb_sums sums = {.ctx = ctx,
                    .method = f->state->problem.method,
                    .shape = &f->state->shape,
                    .state = f->state};
    while (again) {
        assert_ok(ctx, rb_sums_begin(&sums, RB_PART_SUMS, 1, true, true));
        assert_ok(ctx, et_begin(ctx, f->state));
        assert_ok(ctx, et_block(ctx, f->state, &f->block));
        assert_ok(ctx, et_end(ctx, f->state, &again));
    }
}

static inline void end_setting(struct fitted *f) {
    et_finish(f->state);
    free(f->y);
}

#endif
