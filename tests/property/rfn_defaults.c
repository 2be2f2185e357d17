/* What a fit without options promises (docs/reference/defaults.md): no sample without a unit where
 * data have structure, none left with all units, units to spare die or become one, scales of
 * features do not matter, and in noise units do not all die. */
#include "../fixture.h"

#include <stdio.h>

static rb_model *fit(rb_context *ctx, rb_source *source, int64_t units, int precision) {
    rb_rfn_options options;
    rb_fit_options run;
    rb_rfn_options_default(&options);
    rb_fit_options_default(&run);
    options.units = units;
    run.precision = precision;
    return fixture_model(ctx, "rfn", &options, &run, NULL, source, NULL);
}

static rb_matrix *planted(rb_context *ctx, int generator, const char *dataset, int64_t seed) {
    rb_biclusters_options options;
    rb_matrix *matrix;
    fixture_default(rb_biclusters_group(), &options);
    options.generator = generator;
    options.dataset = dataset ? dataset : options.dataset;
    options.seed = seed;
    assert_ok(ctx, rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &options), &matrix,
                                          NULL));
    return matrix;
}

static int64_t living(const rb_model *model) {
    const double *dead = rb_model_array(model, "dead", NULL, NULL);
    int64_t count = 0;
    for (int64_t j = 0; j < rb_model_units(model); j++)
        count += dead[j] == 0;
    return count;
}

/* Ten modules are planted; with twenty units about as many live, and no sample is left out. */
static void units_to_spare_die(void **state) {
    rb_context *ctx = *state;
    for (int64_t seed = 1; seed <= 3; seed++) {
        rb_matrix *matrix = planted(ctx, RB_GENERATOR_FABIA, NULL, seed);
        rb_source *source;
        rb_evaluation e;
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        rb_model *model = fit(ctx, source, 20, RB_FLOAT32);
        assert_in_range(living(model), 10, 13);
        assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
        assert_int_equal(e.codes.empty, 0);
        assert_int_equal(e.codes.full, 0);
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
}

/* Five large modules and small ones that are hardly there: no unit is left to be nearly the same as
 * another one, and what was found is found from other starts, too. */
static void units_that_are_the_same_become_one(void **state) {
    rb_context *ctx = *state;
    for (int64_t seed = 1; seed <= 8; seed++) {
        rb_matrix *matrix = planted(ctx, RB_GENERATOR_RFN, "D7", seed);
        rb_source *source;
        rb_code_check check;
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        rb_model *model = fit(ctx, source, 20, RB_FLOAT32);
        assert_ok(ctx, rb_model_check(ctx, model, source, &check));
        assert_int_equal(check.duplicates, 0);
        assert_in_range(living(model), 5, 14);
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
}

/* Noise of sd 10 hides every module of D3: units live on all the same, and samples have them. */
static void noise_does_not_kill_all(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = planted(ctx, RB_GENERATOR_RFN, "D3", 1);
    rb_source *source;
    rb_evaluation e;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(ctx, source, 20, RB_FLOAT32);
    assert_true(living(model) > 5);
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    assert_true(e.codes.empty <= 2);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* Many samples in which every cause is at work: 26 % would have nearly all units. */
static void dense_codes_are_shrunk(void **state) {
    enum { N = 4000, M = 30, CAUSES = 12, UNITS = 10 };
    rb_context *ctx = *state;
    double *values = calloc(N * M, sizeof *values),
           *loadings = calloc(CAUSES * M, sizeof *loadings);
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; e < CAUSES * M; e++)
        loadings[e] = rb_draw_normal(&draws);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t c = 0; c < CAUSES; c++) {
            double cause = fabs(rb_draw_normal(&draws)) + 1;
            for (int64_t k = 0; k < M; k++)
                values[i * M + k] += cause * loadings[c * M + k];
        }
    }
    for (int64_t e = 0; e < N * M; e++)
        values[e] += 0.5 * rb_draw_normal(&draws);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *model = fit(ctx, source, UNITS, RB_FLOAT32);
    rb_evaluation e;
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    printf("%lld of %lld samples have nearly all units\n", (long long)e.codes.full,
           (long long)e.codes.samples);
    assert_true(e.codes.full * 50 <= e.codes.samples);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
    free(loadings);
}

/* Each feature times a power of 2 of its own: the codes are the same bits. */
static void scales_of_features_do_not_matter(void **state) {
    enum { N = 60, M = 20, UNITS = 5 };
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 1), *scaled = calloc(N * M, sizeof *scaled);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            scaled[i * M + k] = ldexp(values[i * M + k], (int)(k % 7) * 4 - 12);
    rb_source *plain = fixture_data(ctx, values, N, M);
    rb_source *other = fixture_data(ctx, scaled, N, M);
    rb_model *a = fit(ctx, plain, UNITS, RB_FLOAT64), *b = fit(ctx, other, UNITS, RB_FLOAT64);
    double *codes = fixture_codes(ctx, a, plain), *others = fixture_codes(ctx, b, other);
    for (int64_t e = 0; e < N * UNITS; e++)
        assert_close(others[e], codes[e], 1e-5);
    free(codes);
    free(others);
    free(values);
    free(scaled);
    rb_model_free(a);
    rb_model_free(b);
    rb_source_free(plain);
    rb_source_free(other);
}

/* auto: newton where only newton is allowed, cyclic else; the model says which. */
static void the_estep_follows_other_options(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(40, 10, 2, 1);
    rb_source *source = fixture_data(ctx, values, 40, 10);
    for (int kind = 0; kind < 4; kind++) {
        rb_rfn_options options;
        rb_fit_options run = fixture_fit(3, RB_FLOAT64);
        rb_rfn_options_default(&options);
        options.units = 3;
        options.dropout = kind == 1 ? 0.2 : 0;
        options.normalize = kind == 2 ? RB_RFN_NORMALIZE_SD : RB_RFN_NORMALIZE_RMS;
        run.batch_size = kind == 3 ? 10 : 0;
        int64_t bytes, newton;
        assert_ok(ctx, rb_fit_memory(ctx, fixture_options(ctx, "rfn", &options, &run, NULL), source,
                                     &bytes));
        rb_model *model = fixture_model(ctx, "rfn", &options, &run, NULL, source, NULL);
        assert_string_equal(rb_model_attribute(model, "estep"), kind == 0 ? "cyclic" : "newton");
        options.estep = RB_RFN_ESTEP_NEWTON;
        assert_ok(ctx, rb_fit_memory(ctx, fixture_options(ctx, "rfn", &options, &run, NULL), source,
                                     &newton));
        assert_true(kind == 0 ? bytes > newton : bytes == newton);
        rb_model_free(model);
    }
    free(values);
    rb_source_free(source);
}

/* Rules that stop wait until loadings are shrunk, and beyond the trough in which the objective is
 * then; patience counts from there. */
static void stop_rules_wait(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = planted(ctx, RB_GENERATOR_FABIA, NULL, 1);
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    for (int patience = 0; patience <= 20; patience += 20) {
        rb_rfn_options options;
        rb_fit_options run;
        rb_rfn_options_default(&options);
        rb_fit_options_default(&run);
        run.tolerance = 0.5;
        run.patience = patience;
        rb_model *model = fixture_model(ctx, "rfn", &options, &run, NULL, source, NULL);
        assert_true(rb_model_iterations(model) >= 100 + patience);
        assert_true(rb_model_iterations(model) < 200);
        rb_model_free(model);
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* A fit without options ends once its parameters rest; smaller steps would say nothing. */
static void the_default_stops(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = planted(ctx, RB_GENERATOR_FABIA, NULL, 1);
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    for (int slow = 0; slow < 2; slow++) {
        rb_options *options;
        rb_model *model;
        assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
        if (slow) assert_ok(ctx, rb_options_set(ctx, options, "eta", "0.01"));
        assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
        assert_int_equal(rb_model_status(model),
                         slow ? RB_STATUS_ITERATIONS : RB_STATUS_PARAMETERS);
        rb_model_free(model);
        rb_options_free(options);
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_to_spare_die),
        cmocka_unit_test(units_that_are_the_same_become_one),
        cmocka_unit_test(noise_does_not_kill_all),
        cmocka_unit_test(dense_codes_are_shrunk),
        cmocka_unit_test(scales_of_features_do_not_matter),
        cmocka_unit_test(the_estep_follows_other_options),
        cmocka_unit_test(stop_rules_wait),
        cmocka_unit_test(the_default_stops),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
