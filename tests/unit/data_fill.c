/* Sparse samples with few zeros: their blocks are dense, with the values of dense samples. */
#include "fixture.h"
#include "options.h"

#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, M = 20, UNITS = 3 };

/* The same numbers twice. */
struct numbers {
    double dense[N * M], stored[N * M];
    int64_t starts[N + 1];
    int32_t columns[N * M];
    rb_matrix *matrices[2]; /* dense, sparse */
    rb_source *sources[2];
};

/* Of ten values `share` are stored, all above 0. */
static struct numbers *numbers_new(rb_context *ctx, int share) {
    struct numbers *x = calloc(1, sizeof *x);
    double *drawn = fixture_values(N, M, 3, 71);
    int64_t e = 0;
    for (int64_t i = 0; i < N * M; i++) {
        if (i % M == 0) x->starts[i / M] = e;
        if ((i / 3 + i) % 10 >= share) continue;
        x->columns[e] = (int32_t)(i % M);
        x->dense[i] = x->stored[e++] = drawn[i] * drawn[i] + 0.1;
    }
    x->starts[N] = e;
    free(drawn);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, x->dense, M, 1, &x->matrices[0]));
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, M, x->starts, x->columns, x->stored,
                                 &x->matrices[1]));
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

/* All values of a source, preprocessed; of a sparse one filled. */
static void read_all(rb_context *ctx, const rb_preprocess_options *o, rb_source *source,
                     double values[N * M]) {
    rb_preprocess *p;
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    rb_feed_fill(feed);
    assert_ok(ctx, rb_feed_read(ctx, feed, 0, N, &block));
    assert_false(block.sparse);
    assert_int_equal(block.dense.cols, p->n_features);
    for (int64_t i = 0; i < N; i++)
        memcpy(values + i * M, rb_dense_row(block.dense, i),
               sizeof(double[M]) / M * block.dense.cols);
    rb_feed_free(feed);
    rb_preprocess_free(p);
}

static void blocks(void **state) {
    static double dense[N * M], filled[N * M];
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 5);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    rb_context_set_threads(ctx, 1); /* scratch ends where its memory does */
    for (int i = 0; i < 6; i++) {
        o.scale = i & 1 ? RB_SCALE_SD : RB_SCALE_NONE;
        o.log1p = i == 2 || i == 5;
        o.totals = i == 2 ? 100 : 0;
        o.top_variance = i == 3 || i == 5 ? 12 : 0;
        if (i == 4) { /* the fourth value that is stored, of both */
            for (int64_t e = 0, stored = 0; e < N * M && stored < 4; e++)
                if (x->dense[e] != 0 && ++stored == 4) x->dense[e] = x->stored[3] = NAN;
            o.missing = RB_MISSING_MEAN;
        }
        read_all(ctx, &o, x->sources[0], dense);
        read_all(ctx, &o, x->sources[1], filled);
        for (int64_t e = 0; e < N * M; e++)
            assert_close(filled[e], dense[e], 1e-12);
    }
    numbers_free(x);
}

/* The same of float32. */
static void narrow_blocks(void **state) {
    static float dense[N * M], stored[N * M];
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 5);
    for (int64_t e = 0; e < N * M; e++) {
        dense[e] = (float)x->dense[e];
        stored[e] = (float)x->stored[e];
    }
    rb_matrix *matrix;
    rb_source *source;
    rb_preprocess *p;
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT32, N, M, x->starts, x->columns, stored, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_preprocess_fit(ctx, NULL, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
    rb_feed_fill(feed);
    assert_ok(ctx, rb_feed_read(ctx, feed, 10, N - 10, &block));
    for (int64_t i = 10; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            assert_close(rb_dense_get(block.dense, i - 10, k),
                         ((double)dense[i * M + k] - p->centre[k]) / p->scale[k], 1e-6);
    rb_feed_free(feed);
    stored[x->starts[20]] = INFINITY;
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
    rb_feed_fill(feed);
    assert_error(ctx, rb_feed_read(ctx, feed, 0, N, &block), RB_ERROR_DATA, "sample 20");
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(source);
    rb_matrix_free(matrix);
    numbers_free(x);
}

/* Loadings of a fit without centring; gives its operations in products. */
static double fit(rb_context *ctx, const char *method, rb_source *source, bool masks,
                  double loadings[M * UNITS]) {
    rb_options *o;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, method, &o));
    const char *const words[][2] = {
        {"units", "3"},           {"iterations", "3"},        {"centre", "none"},
        {"precision", "float64"}, {"input-noise", "masking"}, {"input-noise-level", "0.2"}};
    for (int i = 0; i < (masks ? 6 : 4); i++)
        assert_ok(ctx, rb_options_set(ctx, o, words[i][0], words[i][1]));
    double seconds, flops, bytes, sum = 0;
    assert_ok(ctx, rb_context_profile(ctx, true));
    assert_ok(ctx, rb_fit(ctx, o, source, NULL, &model));
    for (int i = 0; rb_context_phase(ctx, i, &seconds, &flops, &bytes); i++)
        sum += flops;
    memcpy(loadings, rb_model_array(model, "loadings", NULL, NULL), sizeof(double[M * UNITS]));
    rb_model_free(model);
    rb_options_free(o);
    return sum;
}

/* With few zeros the products are those of dense samples. */
static void fits(void **state) {
    static double dense[M * UNITS], sparse[M * UNITS];
    rb_context *ctx = *state;
    for (int share = 3; share <= 6; share += 3) {
        struct numbers *x = numbers_new(ctx, share);
        double all = fit(ctx, "kmeans", x->sources[0], false, dense);
        double done = fit(ctx, "kmeans", x->sources[1], false, sparse);
        for (int64_t e = 0; e < M * UNITS; e++)
            assert_close(sparse[e], dense[e], 1e-9);
        assert_true(share == 6 ? done == all : done < 0.5 * all);
        numbers_free(x);
    }
}

/* Noise that hides what is stored has sparse blocks: of all values it hides others. */
static void noise_of_stored_values(void **state) {
    static double dense[M * UNITS], sparse[M * UNITS];
    rb_context *ctx = *state;
    struct numbers *x = numbers_new(ctx, 6);
    fit(ctx, "rfn", x->sources[0], true, dense);
    fit(ctx, "rfn", x->sources[1], true, sparse);
    double difference = 0;
    for (int64_t e = 0; e < M * UNITS; e++)
        difference = fmax(difference, fabs(dense[e] - sparse[e]));
    assert_true(difference > 1e-3);
    numbers_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(narrow_blocks),
        cmocka_unit_test(fits),
        cmocka_unit_test(noise_of_stored_values),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
