/* What `check` sees of samples: a level that all features share, likeness to the one before. */
#include "fixture.h"

#include <rarebit/check.h>

enum { N = 100, M = 200 };

static const rb_finding *find(rb_check *check, const char *name) {
    const rb_finding *f = NULL;
    for (int64_t i = 0; (f = rb_check_finding(check, i)); i++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

static bool advises_median(rb_check *check) {
    for (int64_t i = 0; i < rb_check_advice_count(check); i++) {
        const rb_advice *a = rb_check_advice(check, i);
        if (strcmp(a->option, "centre-samples") == 0) return strcmp(a->value, "median") == 0;
    }
    return false;
}

static void assert_level(rb_context *ctx, double *values, bool there) {
    rb_matrix *matrix;
    rb_source *source;
    rb_check *check;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
    const rb_finding *f = find(check, "sample-level");
    assert_int_equal(f && f->severity == RB_SEVERITY_PROBLEM, there);
    assert_int_equal(advises_median(check), there);
    rb_check_free(check);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* Of the first so many features. */
static void add_level(double *values, int features, double sd, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 11}, 0};
    for (int64_t i = 0; i < N; i++) {
        double level = sd * rb_draw_normal(&draws);
        for (int64_t k = 0; k < features; k++)
            values[i * M + k] += level;
    }
}

/* Two fifths of the samples are apart in all features, up or down. */
static void add_batch(double *values, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 12}, 0};
    for (int64_t k = 0; k < M; k++) {
        double shift = 4 * rb_draw_normal(&draws);
        for (int64_t i = 0; i < 2 * N / 5; i++)
            values[i * M + k] += shift;
    }
}

/* Noise, or four causes: a level with a fifth of the variance is told, causes alone are not. */
static void test_the_level_of_samples(void **state) {
    rb_context *ctx = *state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double *values = fixture_values(N, M, seed % 2 ? 4 : 0, seed), squares = 0;
        for (int64_t e = 0; e < N * M; e++)
            squares += values[e] * values[e];
        assert_level(ctx, values, false);
        add_level(values, M, sqrt(0.25 * squares / (N * M)), seed);
        assert_level(ctx, values, true);
        free(values);
    }
}

/* From a twentieth of the variance on. */
static void test_a_weak_level(void **state) {
    rb_context *ctx = *state;
    for (int told = 0; told < 2; told++) {
        double *values = fixture_values(N, M, 0, 2), squares = 0;
        for (int64_t e = 0; e < N * M; e++)
            squares += values[e] * values[e];
        add_level(values, M, sqrt((told ? 0.06 : 0.03) * squares / (N * M)), 2);
        assert_level(ctx, values, told);
        free(values);
    }
}

/* Below a batch, and where a sixth of the features do not share it; but a cause of half of them is
 * none. */
static void test_a_level_that_is_not_all(void **state) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double *values = fixture_values(N, M, 0, seed);
        add_level(values, M / 2, 1, seed);
        assert_level(*state, values, false);
        free(values);
        values = fixture_values(N, M, 0, seed);
        add_level(values, 5 * M / 6, 1, seed);
        assert_level(*state, values, true);
        add_batch(values, seed);
        assert_level(*state, values, true);
        free(values);
    }
}

static void assert_neighbours(rb_context *ctx, double *values, int64_t n, double cosine) {
    rb_matrix *matrix;
    rb_source *source;
    rb_check *check;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
    const rb_finding *f = find(check, "neighbours");
    assert_int_equal(f && f->severity == RB_SEVERITY_NOTE, cosine != 0);
    assert_true(!f || (fabs(f->value - cosine) < 0.1 &&
                       strstr(f->sentence, cosine > 0 ? "`blocks=COLUMN`" : "batches alternate")));
    f = find(check, "blocks");
    assert_true(!f || f->severity == RB_SEVERITY_FINE);
    assert_non_null(find(check, "structure"));
    rb_check_free(check);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* Few, and so many that only pairs of them are looked at. */
static void test_neighbours(void **state) {
    for (int64_t n = 100; n <= 3000; n += 2900) {
        double *values = fixture_values(n, M, 0, 29);
        assert_neighbours(*state, values, n, 0);
        for (int64_t e = M; e < n * M; e++)
            values[e] += 0.95 * values[e - M]; /* a series that wanders, but has no break */
        assert_neighbours(*state, values, n, 0.95);
        free(values);
        values = fixture_values(n, M, 0, 29);
        for (int64_t e = 0; e < n * M; e++)
            values[e] += e / M % 2 ? 1 : e % M % 2 ? 0.5 : -0.5;
        assert_neighbours(*state, values, n, -0.45);
        free(values);
    }
}

/* They are told as constant, and are neither a level nor a batch nor alike for what is left. */
static void test_empty_samples(void **state) {
    for (int64_t n = N; n <= 3000; n += 2900) {
        double *values = fixture_values(n, M, 0, 5);
        for (int64_t e = 0; e < n * M; e++)
            values[e] = e < n / 10 * M ? 0 : values[e] + 5;
        if (n == N) assert_level(*state, values, false);
        assert_neighbours(*state, values, n, 0);
        for (int64_t e = 0; e < n * M; e++)
            values[e] *= e / M % 2 == 0; /* no two next to each other are there */
        assert_neighbours(*state, values, n, 0);
        free(values);
    }
}

/* As the program counts, so does a check: from 1 in R. */
static void test_counts_as_the_program_does(void **state) {
    static const char *const said[] = {"sample 3 (from 0) and sample 7 (from 0)",
                                       "sample 4 (from 1) and sample 8 (from 1)"};
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 0, 3);
    memcpy(values + 7 * M, values + 3 * M, M * sizeof *values);
    for (int first = 0; first < 2; first++) {
        rb_check *check;
        rb_source *source = fixture_data(ctx, values, N, M);
        assert_ok(ctx, rb_context_count_from(ctx, first));
        assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
        assert_non_null(strstr(find(check, "duplicate-samples")->sentence, said[first]));
        assert_non_null(strstr(find(check, "sample-names")->sentence, first ? "from 1" : "from 0"));
        rb_check_free(check);
        rb_source_free(source);
    }
    assert_ok(ctx, rb_context_count_from(ctx, 0));
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_level_of_samples),
        cmocka_unit_test(test_a_weak_level),
        cmocka_unit_test(test_a_level_that_is_not_all),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_empty_samples),
        cmocka_unit_test(test_counts_as_the_program_does),
    };
    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
