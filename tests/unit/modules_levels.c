/* Units that follow the level of the samples: by correlations of codes that are computed here. */
#include "fixture.h"

#include <rarebit/document.h>

enum { N = 80, M = 30 };
static rb_context *ctx;
static rb_matrix *matrix; /* of the source */
static int warnings;
static char deep[256]; /* what is said of depth */

static void on_log(rb_log_level level, const char *message, void *user) {
    (void)user;
    warnings += level == RB_LOG_WARNING && strstr(message, "level of the samples") != NULL;
    if (strstr(message, "shallow or deep")) snprintf(deep, sizeof deep, "%s", message);
}

static rb_model *fit(rb_source *source, const char *more) {
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, "pca", &options));
    assert_ok(ctx, rb_options_set(ctx, options, "units", "3"));
    if (*more) assert_ok(ctx, rb_options_set(ctx, options, more, "median"));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

/* Samples with a level of this standard deviation in all features, and two planted causes. */
static rb_source *make(double size, double *values) {
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 12}, 0};
    rb_source *source;
    for (int64_t i = 0; i < N; i++) {
        double level = size * rb_draw_normal(&draws);
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = level + rb_draw_normal(&draws) + (i < 20 && k < 8 ? 3 : 0) -
                                (i % 3 == 0 && k % 4 == 0 ? 3 : 0);
    }
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    return source;
}

/* What the metrics of a document say. */
static int64_t count_units(const rb_model *model, rb_source *source) {
    rb_document d = {.size = sizeof d,
                     .model = model,
                     .source = source,
                     .with_metrics = true,
                     .only_metrics = true};
    assert_ok(ctx, rb_document_make(ctx, &d));
    assert_null(d.modules);
    double count = rb_metrics_get(d.metrics, "units_of_level");
    rb_document_clear(&d);
    return (int64_t)count;
}

static double correlation_with_means(const rb_model *model, rb_source *source, const double *values,
                                     int64_t unit) {
    double means[N] = {0}, of_unit[N], x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    const double *centre = model->preprocess->centre;
    double *codes = fixture_codes(ctx, model, source);
    for (int64_t i = 0; i < N; i++) {
        of_unit[i] = codes[i * 3 + unit];
        for (int64_t k = 0; k < M; k++)
            means[i] += (values[i * M + k] - centre[k]) / M;
        x += means[i], y += of_unit[i], xx += means[i] * means[i];
        yy += of_unit[i] * of_unit[i], xy += means[i] * of_unit[i];
    }
    free(codes);
    return (N * xy - x * y) / sqrt((N * xx - x * x) * (N * yy - y * y));
}

/* Have three quarters of the features loadings of one sign, none much smaller than the others? */
static bool is_broad(const rb_model *model, int64_t unit) {
    int64_t up = 0, down = 0;
    double squares = 0;
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    for (int64_t k = 0; k < M; k++)
        squares += pow(loadings[k * 3 + unit], 2) / M;
    for (int64_t k = 0; k < M; k++) {
        double w = loadings[k * 3 + unit] / sqrt(squares);
        up += w > 0.25;
        down += w < -0.25;
    }
    return up >= 0.75 * M || down >= 0.75 * M;
}

static void test_units_are_counted(void **state) {
    (void)state;
    static double values[N * M];
    static const double sizes[] = {0, 0.3, 1, 3};
    int64_t told = 0;
    for (int s = 0; s < 4; s++) {
        rb_source *source = make(sizes[s], values);
        rb_model *model = fit(source, "");
        int64_t expected = 0;
        for (int64_t u = 0; u < 3; u++)
            expected +=
                fabs(correlation_with_means(model, source, values, u)) > 0.8 && is_broad(model, u);
        warnings = 0;
        int64_t count = count_units(model, source);
        assert_int_equal(count, expected);
        assert_int_equal(warnings, count > 0);
        told += count;
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    assert_in_range(told, 2, 4); /* of the larger levels, none of no level */
}

/* A module of a third of the features raises the means of its samples, but is no level. */
static void test_a_module_is_no_level(void **state) {
    (void)state;
    static double values[N * M];
    rb_draws draws = {{4, RB_RANDOM_SIMULATE, 12}, 0};
    rb_source *source;
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = rb_draw_normal(&draws) + (i % 3 == 0 && k < M / 3 ? 3 : 0);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(source, "");
    double most = 0;
    for (int64_t u = 0; u < 3; u++)
        most = fmax(most, correlation_with_means(model, source, values, u));
    assert_true(most > 0.8);
    assert_int_equal(count_units(model, source), 0);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void test_centred_samples_have_none(void **state) {
    (void)state;
    static double values[N * M];
    rb_source *source = make(3, values);
    rb_model *model = fit(source, "centre-samples");
    warnings = 0;
    assert_int_equal(count_units(model, source), 0);
    assert_int_equal(warnings, 0);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* Of deep samples a third of the features have more than their share; one sample has nothing. */
static void test_modules_of_depth_are_named(void **state) {
    (void)state;
    static double values[N * M];
    double totals[N] = {0};
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 12}, 0};
    rb_source *source;
    for (int64_t i = 0; i < N; i++) {
        double depth = exp(rb_draw_normal(&draws));
        for (int64_t k = 0; k < M; k++) {
            double more = (k < M / 3 ? 0.5 * log(depth) : 0) + (i < 20 && k >= 20 ? 1 : 0);
            values[i * M + k] = i == 7 ? 0 : depth * exp(0.3 * rb_draw_normal(&draws) + more);
            totals[i] += values[i * M + k];
        }
    }
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(source, "totals");
    char expected[256] = "";
    int64_t found = 0;
    deep[0] = '\0';
    rb_document d = {.size = sizeof d, .model = model, .source = source};
    assert_ok(ctx, rb_document_make(ctx, &d));
    for (int64_t r = 0; r < rb_modules_called(d.modules); r++) {
        const rb_module *m = rb_modules_get(d.modules, r);
        bool in[N] = {0};
        double larger = 0, pairs = 0;
        for (int64_t i = 0; i < m->n_samples; i++)
            in[m->samples[i].index] = true;
        for (int64_t p = 0; p < N * N; p++) {
            bool pair = in[p / N] && !in[p % N] && totals[p / N] > 0 && totals[p % N] > 0;
            larger += pair && totals[p / N] > totals[p % N];
            pairs += pair;
        }
        double auc = larger / pairs;
        size_t used = strlen(expected);
        if (m->n_samples >= 10 && (auc > 0.8 || auc < 0.2))
            snprintf(expected + used, sizeof expected - used, "%s%lld%s (%.2f)",
                     found++ ? ", " : "", (long long)m->unit,
                     rb_modules_other_side(d.modules, r) ? "-" : "", auc);
    }
    assert_in_range(found, 1, rb_modules_called(d.modules) - 1);
    assert_non_null(strstr(deep, expected));
    assert_non_null(strstr(deep, "`permutations=19`"));
    rb_document_clear(&d);
    rb_options *options; /* of all samples there are no others */
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_modules_group()));
    assert_ok(ctx, rb_options_set(ctx, options, "rule", "top:1000"));
    deep[0] = '\0';
    d.options = options;
    assert_ok(ctx, rb_document_make(ctx, &d));
    assert_true(rb_modules_count(d.modules) > 0 && deep[0] == '\0');
    rb_document_clear(&d);
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static int set_up(void **state) {
    (void)state;
    if (rb_context_new(&ctx)) return 1;
    rb_context_on_log(ctx, on_log, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_are_counted),
        cmocka_unit_test(test_a_module_is_no_level),
        cmocka_unit_test(test_centred_samples_have_none),
        cmocka_unit_test(test_modules_of_depth_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
