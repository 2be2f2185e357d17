/* Data that jobs read are in memory once, with the names of their source. */
#include "factors_test.h"

#include "study/study.h"

enum { N = 6, M = 3 };

static const double values[N * M] = {1, 0, 2, 0, 3, 0, 4, 5, 0, 0, 0, 6, 7, 8, 9, 0, 10, 0};

static void assert_all(const rb_matrix *matrix) {
    assert_int_equal(rb_matrix_samples(matrix), N);
    for (int64_t e = 0; e < N * M; e++)
        assert_true(rb_matrix_at(matrix, e / M, e % M) == values[e]);
}

static void loads_every_sample(void **state) {
    static const char *const names[N] = {"a", "b", "c", "d", "e", "f"};
    rb_context *ctx = *state;
    rb_matrix *memory, *owned;
    const rb_matrix *loaded;
    struct compare_rows rows = {values, M};
    rb_source *sources[3];
    sources[0] = fixture_source(ctx, values, N, M, &memory);
    assert_ok(ctx, rb_source_from_matrix(ctx, memory, &sources[1]));
    assert_ok(ctx,
              rb_source_from_callback(ctx, RB_FLOAT64, N, M, compare_give, &rows, &sources[2]));
    for (int s = 1; s < 3; s++)
        assert_ok(ctx, rb_source_set_sample_names(ctx, sources[s], names, N));
    for (int s = 0; s < 3; s++) {
        assert_ok(ctx, rb_study_load(ctx, sources[s], &loaded, &owned));
        assert_true((owned == NULL) == (s == 0));
        assert_all(loaded);
        for (int64_t i = 0; s > 0 && i < N; i++)
            assert_string_equal(loaded->sample_names->text[i], names[i]);
        rb_matrix_free(owned);
        rb_source_free(sources[s]);
    }
    rb_matrix_free(memory);
}

static void takes_some_samples(void **state) {
    static const int64_t some[] = {1, 2, 5};
    rb_context *ctx = *state;
    rb_matrix *dense, *taken;
    rb_source *source = fixture_source(ctx, values, N, M, &dense);
    rb_matrix *compressed;
    rb_source *sparse = fixture_sparse(ctx, values, N, M, &compressed);
    for (int s = 0; s < 2; s++) {
        assert_ok(ctx, rb_study_rows(ctx, s ? compressed : dense, some, 3, &taken));
        assert_int_equal(rb_matrix_samples(taken), 3);
        for (int64_t e = 0; e < 3 * M; e++)
            assert_true(rb_matrix_at(taken, e / M, e % M) == values[some[e / M] * M + e % M]);
        rb_matrix_free(taken);
    }
    rb_source_free(sparse);
    rb_matrix_free(compressed);
    rb_source_free(source);
    rb_matrix_free(dense);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_every_sample),
        cmocka_unit_test(takes_some_samples),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
