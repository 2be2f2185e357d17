/* The public generator: options, truth, defaults. */
#include "../errors.h"
#include "../options.h"
#include "modules/modules.h"

#include <rarebit/simulate.h>

#include <math.h>
#include <string.h>

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

static void defaults_are_pinned(void **state) {
    (void)state;
    rb_biclusters_options o;
    fixture_default(rb_biclusters_group(), &o);
    assert_int_equal(o.generator, RB_GENERATOR_RFN);
    assert_string_equal(o.dataset, "D1");
    assert_true(o.rest_sd == 0.01 && o.noise < 0);
    assert_int_equal(o.samples, 0);
    assert_int_equal(o.features, 0);
    assert_int_equal(o.seed, 1);
}

/* The truth is what the generator of the data set planted. */
static void truth_is_what_was_planted(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_biclusters_options o;
    fixture_default(rb_biclusters_group(), &o);
    o.dataset = "D7";
    o.seed = 5;
    o.rest_sd = 0.5;
    rb_matrix *matrix, *expected;
    rb_modules *truth;
    rb_modules *planted;
    rb_bicluster_plan plan = rb_plan_rfn(7, 0.5, 100, 100);
    plan.seed = 5;
    assert_int_equal(rb_generate_biclusters(ctx, &plan, &expected, &planted), RB_OK);
    assert_int_equal(
        rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, &truth), RB_OK);
    assert_int_equal(rb_matrix_type(matrix), RB_FLOAT64);
    assert_memory_equal(matrix->values, expected->values, 10000 * sizeof(double));
    assert_int_equal(rb_modules_count(truth), 20);
    for (int64_t b = 0; b < 20; b++) {
        const rb_module *m = rb_modules_get(truth, b);
        const rb_module *c = &planted->list[b];
        assert_int_equal(m->unit, b);
        assert_int_equal(m->n_samples, c->n_samples);
        assert_int_equal(m->n_features, c->n_features);
        for (int64_t d = 0; d < m->n_samples; d++) {
            assert_int_equal(m->samples[d].index, c->samples[d].index);
            assert_true(m->samples[d].weight == 1);
        }
        for (int64_t d = 0; d < m->n_features; d++)
            assert_int_equal(m->features[d].index, c->features[d].index);
    }
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    rb_matrix_free(expected);
    rb_modules_free(planted);
    rb_context_free(ctx);
}

/* The truth need not be asked for; sizes and noise are the caller's where given. */
static void sizes_and_noise(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_biclusters_options o;
    rb_matrix *matrix, *noisy;
    assert_int_equal(rb_simulate_biclusters(ctx, NULL, &matrix, NULL), RB_OK);
    assert_int_equal(rb_matrix_samples(matrix), 100);
    assert_int_equal(rb_matrix_features(matrix), 100);
    rb_matrix_free(matrix);
    fixture_default(rb_biclusters_group(), &o);
    o.generator = RB_GENERATOR_FABIA;
    assert_int_equal(
        rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, NULL), RB_OK);
    assert_int_equal(rb_matrix_samples(matrix), 100);
    assert_int_equal(rb_matrix_features(matrix), 1000);
    rb_matrix_free(matrix);
    o.samples = 50;
    o.features = 70;
    o.noise = 0;
    assert_int_equal(
        rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, NULL), RB_OK);
    o.noise = 2;
    assert_int_equal(
        rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &noisy, NULL), RB_OK);
    double squares = 0;
    for (int64_t c = 0; c < 3500; c++) {
        double noise = rb_matrix_at(noisy, c / 70, c % 70) - rb_matrix_at(matrix, c / 70, c % 70);
        squares += noise * noise / 3500;
    }
    assert_true(fabs(squares - 4) < 5 * 4 * sqrt(2 / 3500.0));
    rb_matrix_free(matrix);
    rb_matrix_free(noisy);
    rb_context_free(ctx);
}

static bool is_member(const rb_member *members, int64_t count, int64_t index) {
    for (int64_t d = 0; d < count; d++)
        if (members[d].index == index) return true;
    return false;
}

static int64_t planted_at(const rb_modules *truth, int64_t sample, int64_t feature) {
    int64_t count = 0;
    for (int64_t b = 0; b < truth->count; b++)
        count += is_member(truth->list[b].samples, truth->list[b].n_samples, sample) &&
                 is_member(truth->list[b].features, truth->list[b].n_features, feature);
    return count;
}

/* Without noise there is something exactly where it is planted: 2 everywhere for `constant`; only
 * `plaid` has places with two. */
static void patterns(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    for (int generator = RB_GENERATOR_PATTERNS; generator < RB_GENERATOR_PATTERNS + 4;
         generator++) {
        rb_biclusters_options o;
        rb_matrix *matrix;
        rb_modules *truth;
        int64_t twice = 0;
        fixture_default(rb_biclusters_group(), &o);
        o.generator = generator;
        o.noise = 0;
        assert_int_equal(
            rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, &truth),
            RB_OK);
        assert_int_equal(rb_matrix_samples(matrix), 200);
        assert_int_equal(rb_matrix_features(matrix), 500);
        assert_int_equal(truth->count, 10);
        for (int64_t i = 0; i < 200; i++)
            for (int64_t k = 0; k < 500; k += 7) {
                int64_t planted = planted_at(truth, i, k);
                twice += planted > 1;
                assert_int_equal(rb_matrix_at(matrix, i, k) != 0, planted > 0);
                if (generator == RB_GENERATOR_PATTERNS && planted)
                    assert_true(fabs(rb_matrix_at(matrix, i, k) - 2) < 1e-12);
            }
        assert_int_equal(twice > 0, generator == RB_GENERATOR_PATTERNS + 3);
        rb_modules_free(truth);
        rb_matrix_free(matrix);
    }
    rb_context_free(ctx);
}

/* Where samples run out, the last biclusters are smaller, or empty. */
static void few_samples_for_patterns(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_biclusters_options o;
    rb_matrix *matrix;
    rb_modules *truth;
    fixture_default(rb_biclusters_group(), &o);
    o.generator = RB_GENERATOR_PATTERNS;
    o.samples = 3;
    o.features = 4;
    assert_int_equal(
        rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, &truth), RB_OK);
    assert_int_equal(truth->count, 10);
    assert_int_equal(truth->list[0].n_samples, 1);
    assert_int_equal(truth->list[9].n_samples, 0);
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
}

static void wrong_options(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    const char *const datasets[] = {"D0", "D10", "d1", "", "1", NULL};
    rb_biclusters_options o;
    rb_matrix *matrix;
    rb_modules *truth;
    for (int d = 0; d < 6; d++) {
        fixture_default(rb_biclusters_group(), &o);
        o.dataset = datasets[d];
        assert_error(
            ctx,
            rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, &truth),
            RB_ERROR_ARGUMENT, "D1, D2, ... or D9");
        assert_null(matrix);
        assert_null(truth);
    }
    fixture_default(rb_biclusters_group(), &o);
    o.samples = -1;
    assert_error(
        ctx, rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix, &truth),
        RB_ERROR_ARGUMENT, "`samples` is '-1'");
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_biclusters_options o;
    fixture_default(rb_biclusters_group(), &o);
    o.samples = o.features = 10;
    for (int with_truth = 0; with_truth < 2; with_truth++) {
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            rb_matrix *matrix;
            rb_modules *truth = NULL;
            err = rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &o), &matrix,
                                         with_truth ? &truth : NULL);
            if (err) {
                assert_null(matrix);
                assert_null(truth);
            } else {
                assert_true(n > 40);
                rb_matrix_free(matrix);
                rb_modules_free(truth);
            }
        }
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_pinned),
        cmocka_unit_test(truth_is_what_was_planted),
        cmocka_unit_test(sizes_and_noise),
        cmocka_unit_test(patterns),
        cmocka_unit_test(few_samples_for_patterns),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
