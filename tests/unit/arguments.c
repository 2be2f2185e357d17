/* What public functions make of a type that is none, and of pointers that their headers let be
 * NULL. */
#include "fixture.h"
#include <rarebit/io.h>

#include <unistd.h>

enum { N = 6, M = 4, UNITS = 2 };

static rb_context *ctx;
static rb_matrix *matrix;
static rb_source *source;
static rb_model *model;
static double *values;

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    values = fixture_values(N, M, 1, 3);
    source = fixture_source(ctx, values, N, M, &matrix);
    model = fixture_text_model(ctx, "rfn", source, NULL, "units=%d iterations=2", UNITS);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
    free(values);
    return 0;
}

static rb_error no_rows(void *user, int64_t first, int64_t count, void *rows) {
    (void)user, (void)first, (void)count, (void)rows;
    return RB_ERROR_DATA;
}

static rb_error no_csr(void *user, int64_t first, int64_t count, const int64_t **starts,
                       const int32_t **columns, const void **entries) {
    (void)user, (void)first, (void)count, (void)starts, (void)columns, (void)entries;
    return RB_ERROR_DATA;
}

static void refused(rb_error err) {
    assert_error(ctx, err, RB_ERROR_ARGUMENT, "type is ");
    assert_ok(ctx, rb_context_fail(ctx, RB_OK, ""));
}

/* In the caller's memory nothing changes. */
static void types_that_are_none_are_refused(void **state) {
    (void)state;
    static const int64_t starts[2] = {0, 1};
    static const int32_t starts32[2] = {0, 1}, columns[1] = {0};
    static const int none[] = {-1, 2, 7};
    for (int t = 0; t < 3; t++) {
        rb_type type = (rb_type)none[t];
        double out[N * M] = {0};
        rb_matrix *made = NULL;
        rb_source *from = NULL;
        rb_coder *coder;
        rb_writer *writer = NULL;
        rb_write_header header = {
            .size = sizeof header, .n_samples = 1, .n_features = 1, .type = type};
        refused(rb_matrix_dense(ctx, type, N, M, values, M, 1, &made));
        refused(rb_matrix_csr(ctx, type, 1, 1, starts, columns, values, &made));
        refused(rb_matrix_csr32(ctx, type, 1, 1, starts32, columns, values, &made));
        refused(rb_source_from_callback(ctx, type, N, M, no_rows, NULL, &from));
        refused(rb_source_from_csr_callback(ctx, type, N, M, no_csr, NULL, &from));
        refused(rb_source_read_into(ctx, source, type, out, M, 1));
        refused(rb_encode_into(ctx, model, source, type, out, UNITS, 1));
        refused(rb_reconstruct_into(ctx, model, source, type, out, M, 1));
        assert_ok(ctx, rb_coder_open(ctx, model, &coder));
        refused(rb_coder_encode(ctx, coder, matrix, type, out, UNITS, 1));
        rb_coder_free(coder);
        refused(rb_writer_open(ctx, "arguments.npy", &header, &writer));
        assert_int_equal(access("arguments.npy", F_OK), -1);
        assert_true(!made && !from && !writer);
        for (int e = 0; e < N * M; e++)
            assert_true(out[e] == 0);
    }
}

/* The rule of rarebit.h: whatever frees or abandons accepts NULL. */
static void nothing_can_be_freed(void **state) {
    (void)state;
    rb_context_free(NULL);
    rb_options_free(NULL);
    rb_matrix_free(NULL);
    rb_source_free(NULL);
    rb_model_free(NULL);
    rb_free_memory(NULL);
    rb_coder_free(NULL);
    rb_metrics_free(NULL);
    rb_modules_free(NULL);
    rb_writer_abandon(NULL);
    rb_staged_abandon(NULL);
}

/* The same rule: a call that takes options and does without takes its defaults. */
static void no_options_are_the_defaults(void **state) {
    (void)state;
    rb_modules *modules;
    rb_matrix *made;
    assert_ok(ctx, rb_modules_find(ctx, model, source, NULL, &modules));
    rb_modules_free(modules);
    assert_ok(ctx, rb_simulate_bars(ctx, NULL, &made, NULL, NULL));
    rb_matrix_free(made);
    assert_ok(ctx, rb_simulate_biclusters(ctx, NULL, &made, NULL));
    rb_matrix_free(made);
    assert_null(rb_options_fields(NULL, rb_modules_group()));
}

/* Rows of another size are of another header. */
static void groups_of_another_header_are_refused(void **state) {
    (void)state;
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    for (int more = -1; more <= 1; more += 2) {
        rb_option_group group = *rb_bars_group();
        group.row_size = more < 0 ? group.row_size - 8 : group.row_size + 8;
        assert_error(ctx, rb_options_add(ctx, options, &group), RB_ERROR_ARGUMENT,
                     "built for another version");
        assert_null(rb_options_fields(options, &group));
    }
    rb_options_free(options);
}

/* Where a header says that a result may go nowhere, or that a text is not needed. */
static void results_may_go_nowhere(void **state) {
    (void)state;
    assert_non_null(rb_build_info(NULL, "kernels"));
    assert_non_null(rb_model_array(model, "loadings", NULL, NULL));
    assert_ok(ctx, rb_model_history(model, 0, NULL, NULL, NULL));
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, NULL, N));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, matrix, NULL, M));
    rb_context_on_log(ctx, NULL, NULL);
    rb_context_on_progress(ctx, NULL, NULL);
    rb_context_on_temporary(ctx, NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_that_are_none_are_refused),
        cmocka_unit_test(nothing_can_be_freed),
        cmocka_unit_test(no_options_are_the_defaults),
        cmocka_unit_test(groups_of_another_header_are_refused),
        cmocka_unit_test(results_may_go_nowhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
