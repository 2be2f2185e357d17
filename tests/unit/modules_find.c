/* What modules take from a model: its noise, the rule that suits it, its units. */
#include "../errors.h"
#include "../options.h"
#include "factors/factors.h"
#include "modules/modules.h"
#include <rarebit/et.h>
#include <rarebit/rfn.h>
#include <rarebit/simulate.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLES = 200, UNITS = 10, FEATURES = 25 };

static rb_context *ctx;
static rb_matrix *data;
static rb_source *source;

/* Bars of counts: 0 where there is none. */
static int set_up(void **state) {
    (void)state;
    rb_bars_options bars;
    fixture_default(rb_bars_group(), &bars);
    bars.plan.n_samples = SAMPLES;
    bars.plan.noise_sd = 0;
    return rb_context_new(&ctx) ||
           rb_simulate_bars(ctx, fixture_of(rb_bars_group(), &bars), &data, NULL, NULL) ||
           rb_source_from_matrix(ctx, data, &source);
}

static int tear_down(void **state) {
    (void)state;
    rb_source_free(source);
    rb_matrix_free(data);
    rb_context_free(ctx);
    return 0;
}

static void check(rb_error err) {
    if (err) fail_msg("%s", rb_context_error(ctx));
}

static rb_model *fit_causes(int noise, const char *values) {
    rb_et_options options;
    rb_fit_options fit;
    rb_model *model;
    rb_et_options_default(&options);
    rb_fit_options_default(&fit);
    options.units = UNITS;
    options.noise = noise;
    options.values = values;
    fit.iterations = 60;
    fit.seed = 1;
    check(rb_fit(ctx, fixture_options(ctx, "nmf-et", &options, &fit, NULL), source, NULL, &model));
    return model;
}

/* sum_i 1/2 log(1 + mu_ij^2 sum_k W_kj^2 / variance_k) */
typedef struct reference {
    double codes[SAMPLES][UNITS];
} reference;

static rb_error keep_codes(void *user, int64_t first, const rb_matrix *rows) {
    reference *r = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t u = 0; u < UNITS; u++)
            r->codes[first + i][u] = rb_matrix_at(rows, i, u);
    return RB_OK;
}

static double information_of(const rb_model *model, const reference *r, int64_t unit,
                             const double *variances) {
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    double signal = 0, sum = 0;
    for (int64_t k = 0; k < FEATURES; k++) {
        double w = loadings[k * UNITS + unit];
        signal += w * w / variances[k];
    }
    for (int64_t i = 0; i < SAMPLES; i++)
        sum += 0.5 * log1p(r->codes[i][unit] * r->codes[i][unit] * signal);
    return sum;
}

/* Of a consensus each module has the stability of its unit. */
static void modules_have_the_stability_of_their_units(void **state) {
    (void)state;
    rb_modules *modules;
    rb_model *model = fit_causes(RB_ET_GAUSSIAN, NULL);
    double *stability = rb_model_add_array(ctx, model, "stability", UNITS, 1);
    for (int64_t u = 0; u < UNITS; u++)
        stability[u] = (double)(u + 1) / (UNITS + 1);
    check(rb_modules_find(ctx, model, source, NULL, &modules));
    assert_true(rb_modules_count(modules) > 0);
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        assert_true(m->stability == (double)(m->unit + 1) / (UNITS + 1));
    }
    rb_modules_free(modules);
    rb_model_free(model);
}

/* Binary causes with Gaussian noise: sigma^2 for every feature; with Poisson noise: the expected
 * count, of causes with values that of each times its prior. Members are the samples in which a
 * cause is more likely there than not. */
static void modules_of_causes(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int noise = kind ? RB_ET_POISSON : RB_ET_GAUSSIAN;
        rb_model *model = fit_causes(noise, kind == 2 ? "0,1,2" : NULL);
        static reference r;
        rb_modules *modules;
        double variances[FEATURES];
        const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
        double sigma = *rb_model_array(model, "sigma", NULL, NULL);
        double prior = *rb_model_array(model, "prior", NULL, NULL);
        if (kind == 2) {
            const double *shares = rb_model_array(model, "value_prior", NULL, NULL);
            const double *values = rb_model_array(model, "values", NULL, NULL);
            assert_true(values[0] == 1 && values[1] == 2);
            prior = shares[0] + 2 * shares[1];
        }
        for (int64_t k = 0; k < FEATURES; k++) {
            double count = 0;
            for (int64_t u = 0; u < UNITS; u++)
                count += prior * loadings[k * UNITS + u];
            variances[k] = noise == RB_ET_POISSON ? count : sigma * sigma;
        }
        assert_true(rb_modules_possible(model));
        check(rb_encode(ctx, model, source, keep_codes, &r));
        check(rb_modules_find(ctx, model, source, NULL, &modules));
        assert_string_equal(rb_modules_rule(modules), "active");
        assert_int_equal(rb_modules_count(modules), UNITS);
        for (int64_t rank = 0; rank < UNITS; rank++) {
            const rb_module *m = rb_modules_get(modules, rank);
            double expected = information_of(model, &r, m->unit, variances);
            assert_true(expected > 0 && fabs(m->information - expected) < 1e-9 * expected);
            int64_t active = 0;
            for (int64_t i = 0; i < SAMPLES; i++)
                active += r.codes[i][m->unit] > 0.5;
            assert_int_equal(m->n_samples, active);
        }
        rb_modules_free(modules);
        rb_model_free(model);
    }
}

/* Of causes of several values: sum_v p(s_h = v) v in place of the prior, and a cause is active
 * above half the least value. */
static void modules_of_valued_causes(void **state) {
    (void)state;
    rb_model *model = fit_causes(RB_ET_POISSON, "0,0.5,2");
    static reference r;
    rb_modules *modules;
    double variances[FEATURES], mean;
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    const double *prior = rb_model_array(model, "value_prior", NULL, NULL);
    mean = 0.5 * prior[0] + 2 * prior[1];
    for (int64_t k = 0; k < FEATURES; k++) {
        variances[k] = 0;
        for (int64_t u = 0; u < UNITS; u++)
            variances[k] += mean * loadings[k * UNITS + u];
    }
    check(rb_encode(ctx, model, source, keep_codes, &r));
    check(rb_modules_find(ctx, model, source, NULL, &modules));
    assert_true(rb_modules_count(modules) > 0);
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        double expected = information_of(model, &r, m->unit, variances);
        assert_true(expected > 0 && fabs(m->information - expected) < 1e-9 * expected);
        int64_t active = 0;
        for (int64_t i = 0; i < SAMPLES; i++)
            active += r.codes[i][m->unit] > 0.25;
        assert_int_equal(m->n_samples, active);
    }
    rb_modules_free(modules);
    rb_model_free(model);
}

/* By the test a cause ranks by the smaller of two: what its codes tell of the samples, and what
 * they tell of the features that belong, sum_k 1/2 log(1 + W_kj^2 sum_i mu_ij^2 / variance_k). */
static void tested_causes_rank_by_the_smaller_information(void **state) {
    (void)state;
    rb_model *model = fit_causes(RB_ET_GAUSSIAN, NULL);
    static reference r;
    rb_modules *modules;
    rb_options *options;
    double variances[FEATURES], sigma = *rb_model_array(model, "sigma", NULL, NULL);
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    int by_features = 0;
    for (int64_t k = 0; k < FEATURES; k++)
        variances[k] = sigma * sigma;
    check(rb_options_new(ctx, NULL, &options));
    check(rb_options_add(ctx, options, rb_modules_group()));
    check(rb_options_set(ctx, options, "rule", "test"));
    check(rb_encode(ctx, model, source, keep_codes, &r));
    check(rb_modules_find(ctx, model, source, options, &modules));
    assert_true(rb_modules_count(modules) > 0);
    for (int64_t rank = 0; rank < rb_modules_count(modules); rank++) {
        const rb_module *m = rb_modules_get(modules, rank);
        double squares = 0, sum = 0, samples = information_of(model, &r, m->unit, variances);
        for (int64_t i = 0; i < SAMPLES; i++)
            squares += r.codes[i][m->unit] * r.codes[i][m->unit];
        for (int64_t f = 0; f < m->n_features; f++) {
            int64_t k = m->features[f].index;
            sum += 0.5 * log1p(pow(loadings[k * UNITS + m->unit], 2) * squares / variances[k]);
        }
        by_features += sum < samples;
        assert_true(fabs(rb_modules_score(modules, rank) - fmin(sum, samples)) < 1e-9 * samples);
    }
    assert_true(by_features > 0);
    rb_modules_free(modules);
    rb_options_free(options);
    rb_model_free(model);
}

/* A method is what its table says, whatever its arrays are called. */
static rb_error store_more(rb_context *context, void *state, rb_model *model) {
    rb_error err = rb_method_pca.store(context, state, model);
    double *sigma = err ? NULL : rb_model_add_array(context, model, "sigma", 1, 1);
    double *prior = sigma ? rb_model_add_array(context, model, "prior", 1, 1) : NULL;
    if (!prior) return RB_ERROR_MEMORY;
    *sigma = *prior = 0.5;
    return RB_OK;
}

static void names_of_arrays_say_nothing(void **state) {
    (void)state;
    static rb_method other;
    rb_options *options;
    rb_model *models[2];
    other = rb_method_pca;
    other.name = "other";
    other.store = store_more;
    check(rb_context_add_method(ctx, &other));
    double information[2][3];
    for (int m = 0; m < 2; m++) {
        check(rb_options_new(ctx, m ? "other" : "pca", &options));
        check(rb_options_set(ctx, options, "units", "3"));
        check(rb_fit(ctx, options, source, NULL, &models[m]));
        assert_false(rb_has_causes(models[m]));
        check(rb_unit_information(ctx, models[m], source, information[m]));
        rb_options_free(options);
        rb_model_free(models[m]);
    }
    assert_memory_equal(information[0], information[1], sizeof information[0]);
}

/* Arrays of damaged models that have no value: none is read. */
static void arrays_without_values(void **state) {
    (void)state;
    static const struct {
        int noise;
        const char *name;
        int64_t rows, columns;
    } cases[] = {
        {RB_ET_GAUSSIAN, "sigma", 0, 1},       {RB_ET_POISSON, "prior", UNITS, 0},
        {RB_ET_POISSON, "prior", 0, 0},        {RB_ET_POISSON, "prior", 0, 1},
        {RB_ET_POISSON, "loadings", 0, UNITS},
    };
    double *forbidden = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(forbidden != MAP_FAILED);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_model *model = fit_causes(cases[c].noise, NULL);
        rb_modules *modules;
        rb_array *array = model->arrays;
        while (strcmp(array->name, cases[c].name) != 0)
            array++;
        rb_free(array->values);
        *array = (rb_array){array->name, cases[c].rows, cases[c].columns, forbidden};
        assert_error(ctx, rb_modules_find(ctx, model, source, NULL, &modules), RB_ERROR_FORMAT,
                     cases[c].name);
        assert_null(modules);
        array->values = NULL;
        rb_model_free(model);
    }
    assert_int_equal(munmap(forbidden, 1), 0);
}

/* Sparse loadings, which the model records, ask for the test; best units are those of the
 * model's codes. */
static void modules_of_sparse_loadings(void **state) {
    (void)state;
    static const char *const rules[] = {"nonzero", "test"};
    for (int sparse = 0; sparse < 2; sparse++) {
        rb_rfn_options options;
        rb_fit_options fit;
        rb_model *model;
        rb_modules *modules;
        rb_rfn_options_default(&options);
        rb_fit_options_default(&fit);
        options.units = UNITS;
        options.sparse_loadings = sparse ? 1.5 : 0;
        fit.iterations = 60;
        fit.seed = 1;
        check(rb_fit(ctx, fixture_options(ctx, "rfn", &options, &fit, NULL), source, NULL, &model));
        check(rb_modules_find(ctx, model, source, NULL, &modules));
        assert_string_equal(rb_modules_rule(modules), rules[sparse]);
        rb_modules_free(modules);
        rb_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_of_causes),
        cmocka_unit_test(modules_of_valued_causes),
        cmocka_unit_test(modules_have_the_stability_of_their_units),
        cmocka_unit_test(tested_causes_rank_by_the_smaller_information),
        cmocka_unit_test(names_of_arrays_say_nothing),
        cmocka_unit_test(arrays_without_values),
        cmocka_unit_test(modules_of_sparse_loadings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
