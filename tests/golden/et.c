/* Golden cases of expectation truncation: one iteration in float64, computed by an independent
 * program that enumerates states (tests/golden/et, JSON; W is D x H). Tolerance 1e-9; on a device,
 * which computes in float32, 1e-5. */
#include "device_fixture.h"

#include "em/em.h"
#include "et/fit.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>

static et_engine *engine_of(const et_fit *f) {
    return ((et_cpu *)f->engine)->engine;
}

static et_results *results_of(const et_fit *f) {
    return &((et_cpu *)f->engine)->results;
}

enum { MAX_N = 16, MAX_D = 8, MAX_H = 8 };

struct golden {
    json_t *root, *out;
    int64_t n, d, h, candidates, max_active, n_cut;
    double y[MAX_N * MAX_D], w[MAX_H * MAX_D];
    double beta;
    const rb_method *method;
    et_model model; /* as built in, but for the floor of the fields: 0 in the cases */
};

static const json_t *member(const json_t *root, const char *name) {
    const json_t *value = json_object_get(root, name);
    if (!value) fail_msg("there is no %s", name);
    return value;
}

static double number(const json_t *root, const char *name) {
    return json_number_value(member(root, name));
}

static double at(const json_t *list, int64_t i) {
    const json_t *value = json_array_get(list, (size_t)i);
    assert_non_null(value);
    return json_is_null(value) ? -HUGE_VAL : json_number_value(value);
}

static double at2(const json_t *list, int64_t i, int64_t j) {
    return at(json_array_get(list, (size_t)i), j);
}

static double tolerance = 1e-9;

static void near(double got, double expected, const char *what) {
    if (got != expected && !(fabs(got - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%s is %.15g, expected %.15g", what, got, expected);
}

static void load(const char *path, struct golden *g) {
    *g = (struct golden){.root = json_load_file(path, 0, NULL)};
    assert_non_null(g->root);
    g->out = json_object_get(g->root, "out");
    g->n = (int64_t)number(g->root, "N");
    g->d = (int64_t)number(g->root, "D");
    g->h = (int64_t)number(g->root, "H");
    g->candidates = (int64_t)number(g->root, "Hprime");
    g->max_active = (int64_t)number(g->root, "gamma");
    g->n_cut = (int64_t)number(g->root, "ncut");
    g->beta = number(g->root, "beta");
    const char *name = json_string_value(member(g->root, "model"));
    g->method = strcmp(name, "nmf") == 0     ? &rb_method_nmf_et
                : strcmp(name, "linca") == 0 ? &rb_method_linca
                                             : &rb_method_mca;
    const rb_et_options usual = {0};
    g->model = et_model_of(g->method, &usual);
    g->model.own.min = fmin(g->model.own.min, 0);
    for (int64_t i = 0; i < g->n; i++)
        for (int64_t d = 0; d < g->d; d++)
            g->y[i * g->d + d] = at2(member(g->root, "Y"), i, d);
    for (int64_t d = 0; d < g->d; d++)
        for (int64_t h = 0; h < g->h; h++)
            g->w[h * g->d + d] = at2(member(g->root, "W"), d, h);
}

static rb_et_options options_of(const struct golden *g) {
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = g->h;
    options.candidates = g->candidates;
    options.max_active = g->max_active;
    options.prior = number(g->root, "pi");
    options.sigma = number(g->root, "sigma");
    options.learn_sigma = true;
    options.weight_noise = 0;
    options.singletons = json_is_true(member(g->root, "singletons")) ? RB_ET_YES : RB_ET_NO;
    options.anneal_prior = json_is_true(member(g->root, "anneal_prior")) ? RB_ET_YES : RB_ET_NO;
    options.mstep =
        number(g->root, "mult_iters") > 0 ? RB_ET_MSTEP_MULTIPLICATIVE : RB_ET_MSTEP_SOLVE;
    rb_context *ctx = fixture_context();
    assert_ok(ctx, rb_rows_set(ctx, et_option_rows, &options, "selection",
                               json_string_value(member(g->root, "selection"))));
    rb_context_free(ctx);
    return options;
}

/* A fit of one iteration at the temperature of the case, with its parameters. */
static et_fit *start(rb_context *ctx, const struct golden *g, const rb_et_options *options,
                     const rb_fit_options *fit, const rb_block *block) {
    rb_problem problem = {.n_samples = block->n_samples,
                          .own = block->n_samples,
                          .n_features = g->d,
                          .type = (rb_type)fit->precision,
                          .block_samples = block->n_samples,
                          .device = ctx->device,
                          .fit = fit,
                          .method = g->method,
                          .engine = &et_engine_cpu};
    void *state;
    assert_ok(ctx, et_start(ctx, &problem, options, NULL, &state));
    et_fit *st = state;
    st->plan.setup.model.own.min = g->model.own.min;
    assert_ok(ctx, et_survey_block(ctx, st, block));
    assert_ok(ctx, et_survey_end(ctx, st));
    st->plan.schedule.start = st->plan.schedule.end = 1 / g->beta;
    st->progress.iteration = fit->iterations; /* at the end temperature sigma is learned */
    memcpy(st->parameters.fields.data, g->w, (size_t)(g->h * g->d) * sizeof *g->w);
    return st;
}

/* Both passes of an E-step that uses n_cut samples. */
static void estep(rb_context *ctx, et_fit *st, const rb_block *block, int64_t n_cut) {
    bool again = true;
    rb_sums sums = {.ctx = ctx, .method = st->problem.method, .shape = &st->shape, .state = st};
    assert_ok(ctx, rb_sums_begin(&sums, RB_PART_SUMS, 1, true, true));
    assert_ok(ctx, et_begin(ctx, st));
    st->estep.n_cut = n_cut;
    st->estep.pass.kind = n_cut < block->n_samples ? ET_PASS_RANK : ET_PASS_ALL;
    while (again) {
        assert_ok(ctx, et_block(ctx, st, block));
        assert_ok(ctx, et_group_end(ctx, st));
        assert_ok(ctx, et_end(ctx, st, &again));
        if (again) {
            assert_ok(ctx, rb_sums_begin(&sums, RB_PART_SUMS, 1, false, true));
            assert_ok(ctx, et_begin(ctx, st));
        }
    }
}

static void check_selection(const struct golden *g, et_fit *st) {
    const json_t *scores = member(g->out, "scores"), *lists = member(g->out, "candidates");
    double b[MAX_H], got[MAX_H];
    for (int64_t i = 0; i < g->n; i++) {
        const double *y = g->y + i * g->d;
        for (int64_t h = 0; h < g->h; h++) {
            b[h] = 0;
            for (int64_t d = 0; d < g->d; d++)
                b[h] += y[d] * g->w[h * g->d + d];
        }
        et_sample sample = {.n = g->d, .y = y, .b = b, .square = engine_of(st)->square};
        et_scores(engine_of(st), &engine_of(st)->scratch[0], &sample, got);
        for (int64_t h = 0; h < g->h; h++)
            near(got[h], at2(scores, i, h), "score");
        for (int64_t k = 0; k < g->candidates; k++)
            assert_int_equal(results_of(st)->candidates[i * g->candidates + k], at2(lists, i, k));
    }
}

/* <s s'> of sample i as a full matrix. */
static void check_second(const struct golden *g, const et_fit *st, int64_t i) {
    const et_results *r = results_of(st);
    const json_t *expected = json_array_get(member(g->out, "second"), (size_t)i);
    int64_t c = g->candidates;
    double got[MAX_H * MAX_H] = {0};
    for (int64_t j = 0; r->pairs && j < c; j++) {
        for (int64_t k = j + 1; k < c; k++) {
            int32_t low = r->candidates[i * c + j], high = r->candidates[i * c + k];
            got[low * g->h + high] = got[high * g->h + low] = r->pairs[i * c * c + j * c + k];
        }
    }
    for (int64_t h = 0; h < g->h; h++)
        got[h * g->h + h] = rb_dense_get(r->mean, i, h);
    for (int64_t h = 0; h < g->h; h++)
        for (int64_t j = 0; j < g->h; j++)
            near(got[h * g->h + j], at2(expected, h, j), "second");
}

static void check_posteriors(const struct golden *g, const et_fit *st) {
    for (int64_t i = 0; i < g->n; i++) {
        near(results_of(st)->evidence[i], at(member(g->out, "log_evidence"), i), "log evidence");
        for (int64_t h = 0; h < g->h; h++) {
            near(rb_dense_get(results_of(st)->mean, i, h), at2(member(g->out, "mean_s"), i, h),
                 "mean_s");
        }
        if (g->model.summing != &et_sum_max) check_second(g, st, i);
    }
}

/* The evidence over all states, by the same engine with all causes as candidates. */
static void check_exact(rb_context *ctx, const struct golden *g, const rb_fit_options *fit,
                        const rb_block *block, const et_fit *st) {
    rb_et_options options = options_of(g);
    options.candidates = options.max_active = g->h;
    et_fit *all = start(ctx, g, &options, fit, block);
    estep(ctx, all, block, g->n);
    for (int64_t i = 0; i < g->n; i++) {
        double kl = results_of(all)->evidence[i] - results_of(st)->evidence[i];
        near(results_of(all)->evidence[i], at(member(g->out, "log_evidence_exact"), i), "exact");
        near(exp(-kl), at(member(g->out, "Qn"), i), "Qn");
        near(kl, at(member(g->out, "KL"), i), "KL");
    }
    et_finish(all);
}

static void check_used(const struct golden *g, const et_fit *st) {
    const json_t *used = member(g->out, "used");
    size_t next = 0;
    for (int64_t i = 0; i < g->n; i++) {
        bool expected = next < json_array_size(used) && at(used, (int64_t)next) == (double)i;
        next += expected;
        assert_int_equal(results_of(st)->used[i], expected);
    }
    assert_int_equal(next, json_array_size(used));
    assert_int_equal(st->sums.used, next);
}

/* sum <A> over the samples in use. */
static void check_weights(const struct golden *g, const et_fit *st) {
    for (int64_t h = 0; h < g->h; h++) {
        for (int64_t d = 0; d < g->d; d++) {
            double sum = 0;
            for (int64_t i = 0; i < g->n; i++) {
                const json_t *sample = json_array_get(member(g->out, "A_moment"), (size_t)i);
                sum += results_of(st)->used[i] ? at2(sample, d, h) : 0;
            }
            near(rb_dense_get(st->sums.weights, h, d), sum, "A_moment");
        }
    }
}

/* sum q |y - Wbar(s)|^2 / (D |M|) of MCA, state by state, with the given fields. */
static double enumerate_variance(const struct golden *g, const et_fit *st, rb_dense fields) {
    const et_results *r = results_of(st);
    const et_tree *tree = &engine_of(st)->trees[0];
    double sum = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const int32_t *list = r->candidates + i * g->candidates;
        double left = 1;
        bool listed[MAX_H] = {false};
        for (int64_t k = 0; k < g->candidates; k++)
            listed[list[k]] = true;
        for (int64_t s = 0; r->used[i] && s < tree->count + g->h; s++) {
            int64_t h = s - tree->count;
            double q = h < 0       ? r->states[i * tree->count + s]
                       : listed[h] ? 0
                                   : rb_dense_get(r->single, i, h);
            left -= q;
            for (int64_t d = 0; d < g->d; d++) {
                double wbar = h < 0 ? 0 : rb_dense_get(fields, h, d);
                for (int64_t p = h < 0 ? s : 0; p > 0; p = tree->parent[p])
                    wbar = fmax(wbar, rb_dense_get(fields, list[tree->last[p]], d));
                sum += q * pow(g->y[i * g->d + d] - wbar, 2);
            }
        }
        near(r->used[i] ? left : 0, 0, "what is left of the probability");
    }
    return sum / (double)(g->d * st->sums.used);
}

static void check_fields(rb_context *ctx, const struct golden *g, et_fit *st) {
    rb_dense fields = st->parameters.fields;
    assert_ok(ctx, et_mstep(ctx, st));
    for (int64_t h = 0; h < g->h; h++)
        for (int64_t d = 0; d < g->d; d++)
            near(rb_dense_get(fields, h, d), at2(member(g->out, "W_new"), d, h), "W_new");
    near(st->sums.active / (double)st->sums.used, number(g->out, "mean_abs_s"), "mean_abs_s");
}

static void check_mstep(rb_context *ctx, const struct golden *g, et_fit *st) {
    rb_dense fields = st->parameters.fields;
    double residual = 0;
    if (g->model.summing == &et_sum_max) {
        check_weights(g, st);
        residual = enumerate_variance(g, st, fields);
    }
    check_fields(ctx, g, st);
    double sigma = st->parameters.sigma, expected = number(g->out, "sigma2_new_with_W_new");
    if (g->model.summing == &et_sum_max) {
        /* Learned with the fields of the E-step; the posterior gives the golden value too. */
        near(sigma * sigma, residual, "sigma2 with the old W");
        near(enumerate_variance(g, st, fields), expected, "sigma2 with the new W");
    } else {
        near(sigma * sigma, expected, "sigma2");
    }
    double active = st->sums.active / (double)st->sums.used;
    near(et_learn_prior(g->h, g->max_active, active), number(g->out, "pi_new_exact"), "pi_new");
    near(et_prior_mass(&st->plan.setup, &st->parameters, g->max_active), number(g->out, "kappa"),
         "A");
}

static void check(const char *path) {
    struct golden g;
    load(path, &g);
    rb_context *ctx = fixture_context();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    rb_et_options options = options_of(&g);
    rb_block block = {
        .n_samples = g.n, .n_features = g.d, .dense = {g.y, g.n, g.d, g.d, RB_FLOAT64}};
    et_fit *st = start(ctx, &g, &options, &fit, &block);
    estep(ctx, st, &block, g.n); /* all samples, since the case has moments of each */
    assert_int_equal(engine_of(st)->trees[0].count +
                         (options.singletons == RB_ET_YES ? g.h - g.candidates : 0),
                     number(g.out, "n_states"));
    check_selection(&g, st);
    check_posteriors(&g, st);
    check_exact(ctx, &g, &fit, &block, st);
    estep(ctx, st, &block, g.n_cut);
    check_used(&g, st);
    check_mstep(ctx, &g, st);
    et_finish(st);
    rb_context_free(ctx);
    json_decref(g.root);
}

static void check_all(const char *pattern, size_t count, void (*check_one)(const char *path)) {
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, count);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        print_message("%s\n", strrchr(found.gl_pathv[i], '/') + 1);
        check_one(found.gl_pathv[i]);
    }
    globfree(&found);
}

static void golden_cases(void **state) {
    (void)state;
    check_all(TEST_DATA "/golden/et/*.json", 56, check);
}

#ifdef TEST_cl

/* Evidences, the sums by what the M-step makes of them, and sigma where they alone give it. */
static void check_on_device(const char *path) {
    struct golden g;
    load(path, &g);
    rb_context *ctx = fixture_context();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT32);
    rb_et_options options = options_of(&g);
    rb_block block = {
        .n_samples = g.n, .n_features = g.d, .dense = {g.y, g.n, g.d, g.d, RB_FLOAT64}};
    assert_ok(ctx, rb_context_set_device(ctx, device));
    et_fit *st = start(ctx, &g, &options, &fit, &block);
    estep(ctx, st, &block, g.n_cut);
    for (int64_t i = 0; i < g.n; i++)
        near(st->work.evidence[i], at(member(g.out, "log_evidence"), i), "log evidence");
    assert_int_equal(st->sums.used, json_array_size(member(g.out, "used")));
    check_fields(ctx, &g, st);
    double sigma = st->parameters.sigma;
    if (g.model.summing != &et_sum_max)
        near(sigma * sigma, number(g.out, "sigma2_new_with_W_new"), "sigma2");
    et_finish(st);
    rb_context_free(ctx);
    json_decref(g.root);
}

/* Those of the selection that it has. */
static void golden_cases_on_a_device(void **state) {
    (void)state;
    need_device();
    tolerance = 1e-5;
    check_all(TEST_DATA "/golden/et/*_joint_*.json", 25, check_on_device);
    rb_cl_close(device);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_cases),
#ifdef TEST_cl
                                       cmocka_unit_test(golden_cases_on_a_device)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
