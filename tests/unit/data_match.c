/* Data with few of a model's features by name, and what messages count from. */
#include "fixture.h"

#include "data/data.h"

enum { N = 6, M = 4 };

static const double table[N * M] = {1, 0, 5, 2, 3, 0, 5, 8, 2, 7,  5, 4,
                                    9, 0, 5, 1, 4, 1, 5, 0, 6, 12, 5, 3};

/* Of ten features with names one is in the data, a tenth, or of eleven one, which is less. */
static void too_few_names(void **state) {
    enum { MANY = 11 };
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
    static const char *const others[] = {"a", "x", "y", "z"};
    rb_context *ctx = *state;
    double values[N * MANY];
    for (int e = 0; e < N * MANY; e++)
        values[e] = table[e % (N * M)];
    for (int m = MANY - 1; m <= MANY; m++) {
        rb_matrix *train, *new;
        rb_source *a, *b;
        rb_source_free(fixture_source(ctx, values, N, m, &train));
        rb_source_free(fixture_source(ctx, table, N, M, &new));
        assert_ok(ctx, rb_matrix_set_feature_names(ctx, train, names, m));
        assert_ok(ctx, rb_matrix_set_feature_names(ctx, new, others, M));
        assert_ok(ctx, rb_source_from_matrix(ctx, train, &a));
        assert_ok(ctx, rb_source_from_matrix(ctx, new, &b));
        rb_preprocess_options o;
        rb_preprocess_options_default(&o);
        rb_preprocess *p;
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, a, &p));
        rb_feed *feed = NULL;
        assert_int_equal(rb_feed_new(ctx, p, b, RB_FLOAT64, &feed),
                         m == MANY ? RB_ERROR_DATA : RB_OK);
        rb_feed_free(feed);
        if (m == MANY) {
            assert_non_null(strstr(rb_context_error(ctx), "only 1 of the model's 11 features"));
            assert_ok(ctx, rb_context_set_min_shared(ctx, 0));
            assert_ok(ctx, rb_feed_new(ctx, p, b, RB_FLOAT64, &feed));
            rb_feed_free(feed);
        }
        rb_preprocess_free(p);
        rb_source_free(a);
        rb_source_free(b);
        rb_matrix_free(train);
        rb_matrix_free(new);
    }
    assert_int_equal(rb_context_set_min_shared(ctx, -0.1), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_set_min_shared(ctx, NAN), RB_ERROR_ARGUMENT);
    assert_true(rb_context_min_shared(ctx) == 0);
}

/* What is refused is counted as the program counts. */
static void messages_count_from_0_or_1(void **state) {
    rb_context *ctx = *state;
    double values[N * M];
    memcpy(values, table, sizeof values);
    values[2 * M + 3] = NAN;
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    rb_preprocess *p = NULL;
    static const char *const said[] = {"sample 2, feature 3 (counted from 0)",
                                       "sample 3, feature 4 (counted from 1)"};
    for (int first = 0; first < 2; first++) {
        assert_ok(ctx, rb_context_count_from(ctx, first));
        assert_error(ctx, rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA, said[first]);
    }
    assert_int_equal(rb_context_count_from(ctx, 2), RB_ERROR_ARGUMENT);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_names),
        cmocka_unit_test(messages_count_from_0_or_1),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
