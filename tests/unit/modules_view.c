/* What a view shows: the preprocessed values of its samples and features, standardised over all
 * samples; and the checksum and classes of a source. */
#include "fixture.h"
#include <rarebit/io.h>

#include <rarebit/view.h>

#include <stdio.h>
#include <unistd.h>

enum { N = 600, M = 7 }; /* more samples than a block */

static double values[N * M], sparse_values[N * M];
static const int64_t samples[] = {0, 3, 255, 256, 599}, features[] = {5, 0, 2};

/* A constant feature, and one that is selected away: the one of least variance. */
static void make_values(void) {
    rb_draws draws = {{1, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t i = 0; i < N * M; i++)
        values[i] = i % M == 0 ? 4.5 : 3 * (i % M) + (1 + i % M) * rb_draw_normal(&draws);
    for (int64_t i = 0; i < N * M; i++)
        sparse_values[i] = values[i] > 1 ? values[i] : 0;
}

static double standardised(const double *from, int64_t sample, int64_t feature) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < N; i++)
        mean += from[i * M + feature] / N;
    for (int64_t i = 0; i < N; i++)
        square += (from[i * M + feature] - mean) * (from[i * M + feature] - mean) / N;
    return square < 1e-12 ? 0 : (from[sample * M + feature] - mean) / sqrt(square);
}

static rb_model *fit_source(rb_context *ctx, rb_source *source, const char *more) {
    return fixture_text_model(ctx, "rfn", source, NULL, "units=2 seed=1 iterations=2 %s", more);
}

static void check_view(rb_context *ctx, rb_source *source, const double *from, const char *more) {
    float shown[15];
    rb_view view = {sizeof view, samples, features, 5, 3, shown};
    rb_model *model = fit_source(ctx, source, more);
    assert_ok(ctx, rb_view_fill(ctx, model, source, &view));
    for (int64_t k = 0; k < 3; k++) {
        for (int64_t i = 0; i < 5; i++) {
            int64_t column = rb_model_feature_index(model, features[k]);
            assert_close(shown[k * 5 + i], standardised(from, samples[i], column), 1e-4);
        }
    }
    rb_model_free(model);
}

static void a_view_is_standardised_over_all_samples(void **state) {
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_data(ctx, values, N, M);
    check_view(ctx, source, values, "centre=mean");
    check_view(ctx, source, values, "centre=none scale=sd");
    check_view(ctx, source, values, "top-variance=6");
    rb_source_free(source);
}

static void a_view_of_sparse_data_is_that_of_dense_ones(void **state) {
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_sparse_data(ctx, sparse_values, N, M);
    check_view(ctx, source, sparse_values, "centre=mean");
    rb_source_free(source);
}

static void wrong_views_are_refused(void **state) {
    static const int64_t descending[] = {3, 3}, outside[] = {0, N}, no_feature[] = {M};
    float shown[4];
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *model = fit_source(ctx, source, "centre=mean");
    rb_view views[] = {{0, samples, features, 1, 1, shown},
                       {sizeof *views, descending, features, 2, 1, shown},
                       {sizeof *views, outside, features, 2, 1, shown},
                       {sizeof *views, samples, no_feature, 1, 1, shown}};
    for (int v = 0; v < 4; v++)
        assert_int_equal(rb_view_fill(ctx, model, source, &views[v]), RB_ERROR_ARGUMENT);
    rb_model_free(model);
    rb_source_free(source);
}

/* Each allocation fails once: no leak, and the same values when there is memory. */
static void views_survive_a_lack_of_memory(void **state) {
    float shown[15], again[15];
    rb_view view = {sizeof view, samples, features, 5, 3, shown};
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *model = fit_source(ctx, source, "centre=mean");
    assert_ok(ctx, rb_view_fill(ctx, model, source, &view));
    rb_error err = RB_ERROR_MEMORY;
    int64_t failed = 0;
    view.values = again;
    for (; allow_allocations(ctx, failed, err); failed++)
        err = rb_view_fill(ctx, model, source, &view);
    assert_ok(ctx, err);
    assert_true(failed > 3);
    assert_memory_equal(shown, again, sizeof shown);
    rb_model_free(model);
    rb_source_free(source);
}

/* Attribute data_checksum of a model is the checksum of the source that it was fitted to. */
static void a_checksum_is_the_one_in_the_model(void **state) {
    char text[16];
    uint32_t checksum;
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *model = fit_source(ctx, source, "centre=mean");
    assert_ok(ctx, rb_source_checksum(ctx, source, &checksum));
    snprintf(text, sizeof text, "%08lx", (unsigned long)checksum);
    assert_string_equal(text, rb_model_attribute(model, "data_checksum"));
    values[3]++;
    assert_ok(ctx, rb_source_checksum(ctx, source, &checksum));
    snprintf(text, sizeof text, "%08lx", (unsigned long)checksum);
    assert_string_not_equal(text, rb_model_attribute(model, "data_checksum"));
    rb_model_free(model);
    rb_source_free(source);
}

static void classes_are_those_of_the_file(void **state) {
    static const int64_t expected[] = {1, -1, 0, 1};
    char path[] = "/tmp/rarebit-view-XXXXXX";
    int file = mkstemp(path);
    assert_int_equal(write(file, "b\n\na\nb\n", 7), 7);
    close(file);
    rb_context *ctx = *state;
    make_values();
    rb_source *source = fixture_data(ctx, values, 4, M);
    rb_classes classes = {.size = sizeof classes}, wrong = {0};
    assert_ok(ctx, rb_classes_read(ctx, path, source, &classes));
    assert_int_equal(classes.n_classes, 2);
    assert_string_equal(classes.names[0], "a");
    assert_string_equal(classes.names[1], "b");
    assert_int_equal(classes.n_samples, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(classes.class_of[i], expected[i]);
    assert_int_equal(rb_classes_read(ctx, path, source, &wrong), RB_ERROR_ARGUMENT);
    rb_classes_clear(&classes);
    unlink(path);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_standardised_over_all_samples),
        cmocka_unit_test(a_view_of_sparse_data_is_that_of_dense_ones),
        cmocka_unit_test(wrong_views_are_refused),
        cmocka_unit_test(views_survive_a_lack_of_memory),
        cmocka_unit_test(a_checksum_is_the_one_in_the_model),
        cmocka_unit_test(classes_are_those_of_the_file),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
