/* Centred samples, by brute force: the level that goes, the way back, what is refused. */
#include "fixture.h"

#include "data/data.h"

static rb_preprocess_options centred(int how) {
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    o.missing = RB_MISSING_MODEL;
    o.centre_samples = how;
    return o;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of each sample its mean or median goes, of the values that are there, and comes back. */
static void samples_are_centred(void **state) {
    static const double values[3 * 5] = {-2,  0, 7,  -5.5, 1,  3,  -1e-9, 40,
                                         NAN, 8, -3, -1,   -2, -7, -4};
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, values, 3, 5);
    for (int how = RB_CENTRE_SAMPLES_MEAN; how <= RB_CENTRE_SAMPLES_MEDIAN; how++) {
        rb_preprocess_options o = centred(how);
        rb_feed *feed;
        rb_block block;
        rb_preprocess *p;
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
        assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
        assert_ok(ctx, rb_feed_read(ctx, feed, 0, 3, &block));
        for (int i = 0; i < 3; i++) {
            double there[5], sum = 0;
            int count = 0;
            for (int k = 0; k < 5; k++)
                if (!isnan(values[5 * i + k])) sum += there[count++] = values[5 * i + k];
            qsort(there, (size_t)count, sizeof *there, ascending);
            double middle = (there[(count - 1) / 2] + there[count / 2]) / 2;
            double level = how == RB_CENTRE_SAMPLES_MEAN ? sum / count : middle;
            for (int k = 0; k < 5; k++)
                if (!isnan(values[5 * i + k]))
                    assert_close(rb_dense_get(block.dense, i, k), values[5 * i + k] - level, 1e-14);
        }
        rb_feed_inverse(feed, block.dense);
        for (int e = 0; e < 15; e++)
            if (!isnan(values[e]))
                assert_close(rb_dense_get(block.dense, e / 5, e % 5), values[e], 1e-13);
        rb_feed_free(feed);
        rb_preprocess_free(p);
    }
    rb_source_free(source);
}

static void samples_of_sparse_data_are_not_centred(void **state) {
    rb_context *ctx = *state;
    static const int64_t starts[3] = {0, 1, 2};
    static const int32_t columns[2] = {0, 1};
    static const double values[2] = {3, 4};
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, 2, 2, starts, columns, values, &matrix));
    rb_source *source;
    rb_preprocess *p;
    rb_preprocess_options o = centred(RB_CENTRE_SAMPLES_MEDIAN);
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_error(ctx, rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_UNSUPPORTED,
                 "`centre-samples`");
    assert_null(p);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_centred),
        cmocka_unit_test(samples_of_sparse_data_are_not_centred),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
