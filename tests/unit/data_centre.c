/* The centre that is chosen by the data: the mean where many values of a feature are equal. */
#include "fixture.h"

#include "data/data.h"

enum { N = 600, M = 1500 }; /* more than are looked at */

static rb_error give(void *user, int64_t first, int64_t count, void *rows) {
    memcpy(rows, (const double *)user + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

/* Chosen from memory and from a stream alike. */
static int chosen(rb_context *ctx, double *values) {
    int of[2];
    for (int streamed = 0; streamed < 2; streamed++) {
        rb_matrix *matrix = NULL;
        rb_source *source;
        if (streamed)
            assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, N, M, give, values, &source));
        else
            source = fixture_source(ctx, values, N, M, &matrix);
        rb_preprocess_options o;
        rb_preprocess *p;
        rb_preprocess_options_default(&o);
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
        of[streamed] = p->options.centre;
        rb_preprocess_free(p);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    assert_int_equal(of[0], of[1]);
    return of[0];
}

/* A share of each feature's values, spread over the samples, is 2; the others differ. */
static void fill(double *values, double share) {
    double *others = fixture_values(N, M, 2, 7);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = fmod((double)i * 0.6180339887, 1) < share ? 2 : others[i * M + k];
    free(others);
}

static void by_the_share_of_equal_values(void **state) {
    rb_context *ctx = *state;
    double *values = malloc((size_t)(N * M) * sizeof *values);
    fill(values, 0);
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEDIAN);
    fill(values, 0.15);
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEDIAN);
    fill(values, 0.25);
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEAN);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = floor(3 * fabs(sin((double)e))); /* counts */
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEAN);
    free(values);
}

/* Features that do not vary. */
static void what_says_nothing(void **state) {
    rb_context *ctx = *state;
    double *values = malloc((size_t)(N * M) * sizeof *values);
    fill(values, 0);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M / 2; k++)
            values[i * M + k] = 5;
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEDIAN);
    for (int64_t k = 1; k < M; k++)
        for (int64_t i = 0; i < N; i++)
            values[i * M + k] = 5;
    for (int64_t i = 0; i < N; i++)
        values[i * M] = (double)(i % 3);
    assert_int_equal(chosen(ctx, values), RB_CENTRE_MEAN);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_share_of_equal_values),
        cmocka_unit_test(what_says_nothing),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
