/* Dense samples that are centred by a shift in the products, and stay as they are themselves. */
#include "fixture.h"
#include "options.h"

#include "rfn/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3000, M = 400, UNITS = 3 }; /* as many as are left by a fit */

/* The same numbers by samples and by features. */
struct numbers {
    float values[N * M], turned[M * N];
    rb_matrix *matrices[2];
    rb_source *sources[2];
};

/* Feature k has mean `far` k / M. */
static struct numbers *numbers_new(rb_context *ctx, double far) {
    struct numbers *x = calloc(1, sizeof *x);
    double *drawn = fixture_values(N, M, 3, 17);
    for (int64_t e = 0; e < N * M; e++) {
        x->values[e] = (float)(drawn[e] + far * (double)(e % M) / M);
        x->turned[e % M * N + e / M] = x->values[e];
    }
    free(drawn);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT32, N, M, x->values, M, 1, &x->matrices[0]));
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT32, N, M, x->turned, 1, N, &x->matrices[1]));
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, rb_source_from_matrix(ctx, x->matrices[i], &x->sources[i]));
    return x;
}

static void numbers_free(struct numbers *x) {
    for (int i = 0; i < 2; i++) {
        rb_source_free(x->sources[i]);
        rb_matrix_free(x->matrices[i]);
    }
    free(x);
}

/* All of a source: rows, and the sums of squares, of features and of all. */
struct seen {
    const void *data; /* where the block is */
    bool shifted;
    float rows[N * M];
    double squares[M], sum;
};

static void see(rb_context *ctx, const rb_preprocess_options *o, rb_source *source, bool leaves,
                struct seen *seen) {
    rb_preprocess *p;
    rb_feed *feed;
    rb_block block;
    int64_t values;
    double known[M];
    memset(seen, 0, sizeof *seen);
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
    rb_feed_trust(feed);
    if (leaves) rb_feed_leave(feed);
    assert_ok(ctx, rb_feed_read(ctx, feed, 0, N, &block));
    seen->data = block.dense.data;
    seen->shifted = block.shift != NULL;
    assert_ptr_equal(block.shift, rb_feed_shift(feed));
    rb_block_rows(&block, 0, (rb_dense){seen->rows, N, M, M, RB_FLOAT32});
    rb_block_feature_squares(ctx, &block, seen->squares);
    seen->sum = rb_block_squares(&block, &values);
    assert_int_equal(values, N * M);
    assert_close(rb_block_at(&block, 7, 11), (double)seen->rows[7 * M + 11], 1e-6);
    assert_true(rb_feed_squares(feed, known));
    for (int k = 0; k < M; k++)
        assert_close(known[k], seen->squares[k], 1e-6);
    rb_feed_free(feed);
    rb_preprocess_free(p);
}

static void blocks(void **state) {
    static struct seen made, left, turned;
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 1);
    see(ctx, NULL, x->sources[0], false, &made);
    see(ctx, NULL, x->sources[0], true, &left);
    see(ctx, NULL, x->sources[1], true, &turned);
    assert_false(made.shifted);
    assert_true(left.shifted);
    assert_ptr_equal(left.data, x->values);
    assert_close(left.sum, made.sum, 1e-6);
    for (int64_t e = 0; e < N * M; e++)
        assert_float_equal(left.rows[e], made.rows[e], 1e-6);
    for (int k = 0; k < M; k++)
        assert_close(left.squares[k], made.squares[k], 1e-6);
    assert_true(turned.shifted);
    assert_memory_equal(turned.rows, left.rows, sizeof left.rows);
    numbers_free(x);
}

/* Up to 4 standard deviations from 0. */
static void how_far(void **state) {
    static struct seen left;
    rb_context *ctx = *state;
    for (int i = 0; i < 2; i++) {
        struct numbers *x = numbers_new(ctx, 0);
        for (int64_t e = 0; e < N * M; e++) /* of standard deviation 1 */
            x->values[e] =
                (float)(e / M % 2 == 0 ? -1 : 1) + (e % M == 5 ? 3.9F + 0.2F * (float)i : 0);
        see(ctx, NULL, x->sources[0], true, &left);
        assert_int_equal(left.shifted, i == 0);
        numbers_free(x);
    }
}

/* Where digits would be lost, or more is done to values, blocks are made. */
static void blocks_that_are_made(void **state) {
    static struct seen made, left;
    rb_context *ctx = *state;
    for (int i = 0; i < 3; i++) {
        struct numbers *x = numbers_new(ctx, i == 0 ? 1000 : 1);
        rb_preprocess_options o;
        rb_preprocess_options_default(&o);
        if (i == 1) o.scale = RB_SCALE_SD;
        if (i == 2) o.centre_samples = RB_CENTRE_SAMPLES_MEAN;
        see(ctx, &o, x->sources[0], false, &made);
        see(ctx, &o, x->sources[0], true, &left);
        assert_false(left.shifted);
        assert_memory_equal(left.rows, made.rows, sizeof left.rows);
        numbers_free(x);
    }
}

static void fit(rb_context *ctx, const char *estep, const char *precision, rb_source *source,
                double loadings[M * UNITS]) {
    rb_options *o;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, "rfn", &o));
    const char *const words[][2] = {{"units", "3"},
                                    {"iterations", "10"},
                                    {"estep", estep},
                                    {"precision", precision},
                                    {"cache", "0"}};
    for (int i = 0; i < 5; i++)
        assert_ok(ctx, rb_options_set(ctx, o, words[i][0], words[i][1]));
    assert_ok(ctx, rb_fit(ctx, o, source, NULL, &model));
    memcpy(loadings, rb_model_array(model, "loadings", NULL, NULL), sizeof(double[M * UNITS]));
    rb_model_free(model);
    rb_options_free(o);
}

static rb_block looked_at;

static rb_error look(rb_context *ctx, void *engine, const rb_block *block, void *sums) {
    looked_at = *block;
    return rfn_engine_cpu.engine.block(ctx, engine, block, sums);
}

static void fits_leave_values(void **state) {
    static double loadings[M * UNITS];
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 1);
    rb_engine engine = rfn_engine_cpu.engine;
    engine.block = look;
    ctx->engine = &engine;
    fit(ctx, "newton", "float32", x->sources[0], loadings);
    assert_ptr_equal(looked_at.dense.data, x->values);
    assert_non_null(looked_at.shift);
    fit(ctx, "newton", "float64", x->sources[0], loadings);
    assert_null(looked_at.shift);
    numbers_free(x);
}

/* A fit is the same for any order in memory, and near that of centred blocks, which float64 has. */
static void fits(void **state) {
    static double left[M * UNITS], turned[M * UNITS], made[M * UNITS];
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 1);
    for (int i = 0; i < 2; i++) {
        const char *estep = i == 0 ? "newton" : "cyclic";
        fit(ctx, estep, "float32", x->sources[0], left);
        fit(ctx, estep, "float32", x->sources[1], turned);
        fit(ctx, estep, "float64", x->sources[0], made);
        assert_memory_equal(turned, left, sizeof left);
        for (int64_t e = 0; e < M * UNITS; e++)
            assert_true(fabs(left[e] - made[e]) < 1e-4);
    }
    numbers_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(how_far),
        cmocka_unit_test(blocks_that_are_made),
        cmocka_unit_test(fits_leave_values),
        cmocka_unit_test(fits),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
