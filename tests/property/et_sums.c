/* Expectation truncation against enumeration: every sum of the E-step, for every model,
 * temperature, prior, selection and set of kernels, with values missing or not, is that over the
 * states one by one (1e-10). */
#include "et_fixture.h"

/* What the sums should be, by walking all 2^H states. */
struct sums {
    double evidence, active, residual, mean[MAX_H], second[MAX_H * MAX_H];
    double up[MAX_H * MAX_D], down[MAX_H * MAX_D];
    double pairs[MAX_H * MAX_H * MAX_D]; /* second, of each feature where it is there */
};

static bool looked_at(const struct setting *c, const et_fit *st, int64_t i, int state) {
    et_look look = et_look_at(engine_of(st), results_of(st), i);
    int size = 0, outside = 0;
    for (int h = 0; h < c->h; h++) {
        bool listed = false;
        for (int k = 0; k < look.tree->candidates; k++)
            listed = listed || look.candidates[k] == h;
        size += state >> h & 1;
        outside += (state >> h & 1) && !listed;
    }
    if (c->count) return size == c->count && !outside;
    bool single = engine_of(st)->setup.singletons && size == 1;
    return single || (size <= look.tree->max_active && !outside);
}

/* log p(s, y), annealed; Wbar into wbar. */
static double joint(const struct setting *c, const et_fit *st, const double *y, int state,
                    double *wbar) {
    const et_parameters *p = &st->parameters;
    double beta = engine_of(st)->beta, prior = 0, likelihood = 0;
    bool poisson = st->plan.options.noise == RB_ET_POISSON,
         max = (st->plan.setup.model.summing == &et_sum_max);
    for (int h = 0; h < c->h; h++)
        prior += state >> h & 1 ? log(p->prior[h]) : log(1 - p->prior[h]);
    if (c->count) prior = lgamma(c->count + 1) + lgamma(c->h - c->count + 1) - lgamma(c->h + 1);
    for (int d = 0; d < c->d; d++) {
        wbar[d] = 0;
        for (int h = 0; h < c->h; h++) {
            double w = state >> h & 1 ? rb_dense_get(p->fields, h, d) : 0;
            wbar[d] = max ? fmax(wbar[d], w) : wbar[d] + w;
        }
        double rate = fmax(wbar[d], 1e-4);
        likelihood += isnan(y[d]) ? 0
                      : poisson   ? beta * (y[d] * log(rate) - rate - lgamma(y[d] + 1))
                                  : -beta * pow(y[d] - wbar[d], 2) / (2 * p->sigma * p->sigma) -
                                      log(2 * M_PI * p->sigma * p->sigma / beta) / 2;
    }
    return likelihood + engine_of(st)->beta_prior * prior;
}

/* A_hd(s) of MCA, as it is defined. */
static double responsibility(const struct setting *c, const et_fit *st, int state, int h, int d) {
    double t = 1 / engine_of(st)->beta, rho = t > 1 ? fmin(t / (t - 1), 21) : 21, sum = 0;
    rb_dense w = st->parameters.fields;
    for (int j = 0; j < c->h; j++)
        sum += state >> j & 1 ? pow(rb_dense_get(w, j, d) / rb_dense_get(w, h, d), rho) : 0;
    return pow(sum, 1 / rho - 1);
}

static void add_state(const struct setting *c, const et_fit *st, const double *y, int state,
                      double q, const double *wbar, struct sums *sums) {
    for (int d = 0; d < c->d; d++)
        sums->residual += isnan(y[d]) ? 0 : q * pow(y[d] - wbar[d], 2);
    for (int h = 0; h < c->h; h++) {
        bool active = state >> h & 1;
        sums->mean[h] += active ? q : 0;
        sums->active += active ? q : 0;
        for (int j = 0; j < c->h; j++)
            sums->second[h * c->h + j] += active && (state >> j & 1) ? q : 0;
        for (int d = 0; active && d < c->d; d++) {
            if (isnan(y[d])) continue;
            for (int j = 0; j < c->h; j++)
                sums->pairs[(h * c->h + j) * c->d + d] += state >> j & 1 ? q : 0;
            double w = rb_dense_get(st->parameters.fields, h, d);
            double share = (st->plan.setup.model.summing == &et_sum_max)
                               ? responsibility(c, st, state, h, d)
                               : 1;
            bool poisson = !(st->plan.setup.model.summing == &et_sum_max) &&
                           st->plan.options.noise == RB_ET_POISSON;
            sums->up[h * c->d + d] += q * share * y[d] * (poisson ? w / fmax(wbar[d], 1e-4) : 1);
            sums->down[h * c->d + d] += q * share;
        }
    }
}

static double enumerate(const struct setting *c, const et_fit *st, int64_t i, const double *y,
                        struct sums *sums) {
    double *log_p = calloc((size_t)1 << c->h, sizeof *log_p), wbar[MAX_D], high = -HUGE_VAL;
    double total = 0;
    for (int s = 0; s < 1 << c->h; s++) {
        log_p[s] = looked_at(c, st, i, s) ? joint(c, st, y, s, wbar) : -HUGE_VAL;
        high = fmax(high, log_p[s]);
    }
    for (int s = 0; s < 1 << c->h; s++)
        total += exp(log_p[s] - high);
    for (int s = 0; s < 1 << c->h; s++) {
        double q = exp(log_p[s] - high) / total;
        if (q > 0) {
            joint(c, st, y, s, wbar);
            add_state(c, st, y, s, q, wbar, sums);
        }
    }
    free(log_p);
    sums->evidence += high + log(total);
    return high + log(total);
}

static void check(rb_context *ctx, const struct setting *c) {
    struct fitted f;
    struct sums sums = {0};
    begin_setting(ctx, c, &f);
    et_fit *st = f.state;
    run_estep(ctx, &f);
    for (int64_t i = 0; i < c->n; i++)
        near(results_of(st)->evidence[i], enumerate(c, st, i, f.y + i * c->d, &sums), "evidence");
    near(st->sums.evidence, sums.evidence, "sum of evidence");
    near(st->sums.active, sums.active, "active causes");
    if (et_gaussian(&st->plan.setup.model)) near(st->sums.residual, sums.residual, "residual");
    for (int h = 0; h < c->h; h++) {
        near(st->sums.causes[h], sums.mean[h], "mean");
        bool one_second =
            st->plan.setup.model.summing->keep == ET_KEEP_PAIRS && !st->sums.pairs.data;
        for (int j = 0; one_second && j < c->h; j++)
            near(rb_dense_get(st->sums.second, h, j), sums.second[h * c->h + j], "second");
        for (int d = 0; d < c->d; d++) {
            near(rb_dense_get(st->sums.products, h, d), sums.up[h * c->d + d], "products");
            if (st->sums.weights.data)
                near(rb_dense_get(st->sums.weights, h, d), sums.down[h * c->d + d], "weights");
        }
    }
    for (int d = 0; st->sums.pairs.data && d < c->d; d++) {
        et_missing_second(&st->sums, d);
        for (int h = 0; h < c->h; h++) {
            for (int j = 0; j < c->h; j++) {
                near(rb_dense_get(st->sums.second, h, j), sums.pairs[(h * c->h + j) * c->d + d],
                     "second of a feature");
            }
        }
    }
    end_setting(&f);
}

/* A sample whose most probable state is full is done again, one more active cause and two more
 * candidates at a time: none is full but at the limit, and the sums are still those over states. */
static void full_samples_are_widened(void **state) {
    rb_context *ctx = *state;
    int widened = 0, left = 0;
    for (int m = 0; m < MODELS; m++) {
        for (int variant = 0; variant < 4; variant++) {
            struct setting c = {.method = models[m].method,
                                .noise = models[m].noise,
                                .n = 15,
                                .d = 9,
                                .h = 8,
                                .candidates = 3 + variant / 2,
                                .max_active = 1,
                                .limit = 3,
                                .temperature = 1,
                                .singletons = variant % 2,
                                .missing = variant / 2 * 0.2,
                                .seed = (uint64_t)(10 * m + variant)};
            struct fitted f;
            check(ctx, &c);
            begin_setting(ctx, &c, &f);
            run_estep(ctx, &f);
            const et_results *r = results_of(f.state);
            for (int i = 0; i < c.n; i++) {
                int64_t causes[ET_MAX_ACTIVE];
                int64_t size = et_map_items(engine_of(f.state), r, i, causes);
                et_look look = et_look_at(engine_of(f.state), r, i);
                assert_int_equal(look.tree->max_active, 1 + r->width[i]);
                assert_int_equal(look.tree->candidates, fmin(c.candidates + 2 * r->width[i], c.h));
                assert_true(size < look.tree->max_active || r->width[i] == 2);
                widened += r->width[i] > 0;
                left += r->width[i] == 0;
            }
            f.state->plan.schedule.start = 13; /* hot: nothing is widened */
            f.state->plan.schedule.iterations = 100;
            run_estep(ctx, &f);
            for (int i = 0; i < c.n; i++)
                assert_int_equal(r->width[i], 0);
            end_setting(&f);
        }
    }
    assert_true(widened > 20 && left > 20);
}

static void sums_are_those_over_states(void **state) {
    (void)state;
    static const char *const kernels[] = {"ref", "avx2", "avx512"};
    static const int shapes[][3] = {{6, 4, 2}, {5, 5, 5}, {10, 5, 3},
                                    {4, 4, 1}, {1, 1, 1}, {7, 3, 3}};
    for (int k = 0; k < 3; k++) {
        rb_context *ctx = fixture_context();
        if (rb_context_set_kernels(ctx, kernels[k])) {
            rb_context_free(ctx);
            continue;
        }
        for (int m = 0; m < MODELS; m++) {
            for (int s = 0; s < 6; s++) {
                for (int variant = 0; variant < 24; variant++) {
                    struct setting c = {.method = models[m].method,
                                        .noise = models[m].noise,
                                        .n = 11,
                                        .d = 9,
                                        .h = shapes[s][0],
                                        .candidates = shapes[s][1],
                                        .max_active = shapes[s][2],
                                        .temperature = variant % 3 == 0   ? 1
                                                       : variant % 3 == 1 ? 1.05
                                                                          : 6,
                                        .singletons = variant % 2,
                                        .anneal_prior = variant / 2 % 2,
                                        .unequal = variant / 4 % 3 == 1,
                                        .count = variant / 4 % 3 == 2 ? shapes[s][2] : 0,
                                        .missing = variant / 12 * 0.3,
                                        .seed = (uint64_t)(100 * m + 10 * s + variant)};
                    check(ctx, &c);
                }
            }
        }
        rb_context_free(ctx);
    }
}

/* All selections but `exact` see only single causes; that one is the marginal over all states. */
static void exact_selection_is_the_marginal(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = {.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 5,
                            .d = 9,
                            .h = 7,
                            .candidates = 7,
                            .max_active = 7,
                            .temperature = 2,
                            .unequal = true,
                            .missing = m % 2 * 0.3,
                            .seed = 5};
        struct fitted f;
        begin_setting(ctx, &c, &f);
        run_estep(ctx, &f);
        for (int64_t i = 0; i < c.n; i++) {
            double marginals[MAX_H];
            et_sample sample =
                et_observe_block(engine_of(f.state), &engine_of(f.state)->scratch[0], &f.block, i);
            double evidence =
                et_exact(engine_of(f.state), &engine_of(f.state)->scratch[0], &sample, marginals);
            near(evidence, results_of(f.state)->evidence[i], "exact evidence");
            for (int h = 0; h < c.h; h++)
                near(marginals[h], rb_dense_get(results_of(f.state)->mean, i, h), "marginal");
        }
        end_setting(&f);
    }
}

/* Q = exp(truncated - exact evidence): more states never lower it. */
static void more_states_never_lower_quality(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        double before[MAX_N];
        for (int step = 0; step < 8; step++) {
            /* gamma 1 to 4 with 4 candidates, then more candidates, then singletons too */
            static const int candidates[] = {4, 4, 4, 4, 5, 6, 7, 7};
            static const int active[] = {1, 2, 3, 4, 4, 4, 4, 7};
            struct setting c = {.method = models[m].method,
                                .noise = models[m].noise,
                                .n = 11,
                                .d = 9,
                                .h = 7,
                                .candidates = candidates[step],
                                .max_active = active[step],
                                .temperature = 1,
                                .seed = 9};
            struct fitted f;
            for (c.singletons = 0; c.singletons < 2; c.singletons++) {
                begin_setting(ctx, &c, &f);
                run_estep(ctx, &f);
                for (int64_t i = 0; i < c.n; i++) {
                    double evidence = results_of(f.state)->evidence[i];
                    /* Of the step before the value without singletons counts. */
                    if (step > 0 || c.singletons) assert_true(evidence >= before[i] - 1e-10);
                    before[i] = c.singletons ? before[i] : evidence;
                }
                end_setting(&f);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_over_states),
                                       cmocka_unit_test(full_samples_are_widened),
                                       cmocka_unit_test(exact_selection_is_the_marginal),
                                       cmocka_unit_test(more_states_never_lower_quality)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
