/* Sums of squares that follow from the moments of the preprocessing are those of the blocks, and
 * where they do not follow it is said; a fit then reads its data once less. */
#include "fixture.h"

#include "data/data.h"

#include <math.h>

enum { N = 300, M = 7, KEPT = 4, MANY = 20000 };

/* Far from 0, small, constant, all 0, and one with an outlier in the first sample. */
static double *hard_values(void) {
    double *values = fixture_values(N, M, 2, 3);
    for (int64_t i = 0; i < N; i++) {
        values[i * M] += 1e5;
        values[i * M + 1] *= 1e-6;
        values[i * M + 2] = 0.1;
        values[i * M + 3] = 0;
    }
    values[4] = 1e4;
    return values;
}

static rb_matrix *dense(rb_context *ctx, rb_type type, const double *values) {
    rb_matrix *m;
    assert_ok(ctx, rb_matrix_new_dense(ctx, type, N, M, &m));
    for (int64_t e = 0; e < N * M; e++)
        rb_put(type, (void *)m->values, e, values[e]);
    return m;
}

/* Every value but those of feature 3, and half of feature 5. */
static rb_matrix *sparse(rb_context *ctx, rb_type type, const double *values) {
    int64_t *starts = rb_alloc(ctx, N + 1, sizeof *starts), stored = 0;
    int32_t *columns = rb_alloc(ctx, N * M, sizeof *columns);
    void *kept = rb_alloc(ctx, N * M, rb_type_size(type));
    for (int64_t i = 0; i < N; i++) {
        starts[i] = stored;
        for (int32_t k = 0; k < M; k++) {
            if (k == 3 || (k == 5 && i % 2)) continue;
            rb_put(type, kept, stored, values[i * M + k]);
            columns[stored++] = k;
        }
    }
    starts[N] = stored;
    rb_matrix *m;
    assert_ok(ctx, rb_matrix_own_csr(ctx, type, N, M, starts, columns, kept, &m));
    return m;
}

/* What the blocks have, value by value. */
static void sum_blocks(rb_context *ctx, rb_feed *feed, int64_t m, double *sums) {
    double *row = calloc((size_t)m, sizeof *row);
    memset(sums, 0, (size_t)m * sizeof *sums);
    for (int64_t i = 0; i < N; i++) {
        rb_block block;
        assert_ok(ctx, rb_feed_read(ctx, feed, i, 1, &block));
        rb_block_rows(&block, 0, (rb_dense){row, 1, m, m, RB_FLOAT64});
        for (int64_t k = 0; k < m; k++)
            sums[k] += row[k] * row[k];
    }
    free(row);
}

static void check_sums(rb_context *ctx, const rb_preprocess *p, rb_source *source, rb_type type) {
    rb_feed *feed;
    double known[M], sums[M];
    double tolerance = type == RB_FLOAT64 ? 1e-9 : 2e-6;
    assert_ok(ctx, rb_feed_new(ctx, p, source, type, &feed));
    bool is_known = rb_feed_squares(feed, known);
    if (!is_known) assert_true(source->sparse && type == RB_FLOAT32); /* too far from 0 */
    sum_blocks(ctx, feed, p->n_features, sums);
    for (int64_t k = 0; is_known && k < p->n_features; k++)
        if (!(fabs(known[k] - sums[k]) <= tolerance * sums[k] + 1e-25))
            fail_msg("feature %lld: %.12g is not %.12g", (long long)k, known[k], sums[k]);
    rb_feed_free(feed);
}

static void check_options(rb_context *ctx, const rb_preprocess_options *o, rb_matrix *matrix) {
    rb_source *source;
    rb_preprocess *p, *other;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    check_sums(ctx, p, source, RB_FLOAT32);
    check_sums(ctx, p, source, RB_FLOAT64);
    /* Models have none, until they are for data again. */
    other = rb_preprocess_copy(ctx, p);
    assert_null(other->moments);
    assert_ok(ctx, rb_preprocess_renew(ctx, other, source, false));
    check_sums(ctx, other, source, RB_FLOAT64);
    assert_memory_equal(p->moments, other->moments, M * sizeof *p->moments);
    rb_preprocess_free(other);
    rb_preprocess_free(p);
    rb_source_free(source);
}

static void are_those_of_the_blocks(void **state) {
    rb_context *ctx = *state;
    double *values = hard_values();
    for (int form = 0; form < 4; form++) {
        rb_type type = form % 2 ? RB_FLOAT64 : RB_FLOAT32;
        rb_matrix *matrix = (form < 2 ? dense : sparse)(ctx, type, values);
        for (int centre = RB_CENTRE_NONE; centre <= RB_CENTRE_MEDIAN; centre++) {
            for (int scale = RB_SCALE_NONE; scale <= RB_SCALE_IQR; scale++) {
                rb_preprocess_options o;
                rb_preprocess_options_default(&o);
                o.centre = centre;
                o.scale = scale;
                check_options(ctx, &o, matrix);
                o.top_variance = KEPT;
                check_options(ctx, &o, matrix);
            }
        }
        rb_matrix_free(matrix);
    }
    free(values);
}

/* Totals, logarithms and filled values. */
static void of_what_is_made_of_values(void **state) {
    rb_context *ctx = *state;
    double *values = hard_values();
    for (int64_t e = 0; e < N * M; e++)
        values[e] = e % 11 ? fabs(values[e]) : NAN;
    for (int form = 0; form < 2; form++) {
        rb_matrix *matrix = (form ? sparse : dense)(ctx, RB_FLOAT64, values);
        for (int missing = RB_MISSING_MEAN; missing <= RB_MISSING_MEDIAN; missing++) {
            rb_preprocess_options o;
            rb_preprocess_options_default(&o);
            o.missing = missing;
            o.totals = 1000;
            o.log1p = true;
            o.scale = RB_SCALE_SD;
            check_options(ctx, &o, matrix);
        }
        rb_matrix_free(matrix);
    }
    free(values);
}

static bool are_known(rb_context *ctx, const rb_preprocess_options *o, const double *values,
                      rb_type type) {
    rb_preprocess *p;
    rb_feed *feed;
    double sums[M];
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, type, &feed));
    bool known = rb_feed_squares(feed, sums);
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(source);
    return known;
}

/* Stored values are rounded before they are centred. */
static void are_not_known_of_coarse_values(void **state) {
    rb_context *ctx = *state;
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    for (int far = 0; far < 2; far++) {
        double *values = far ? hard_values() : fixture_values(N, M, 2, 3);
        rb_matrix *matrix = sparse(ctx, RB_FLOAT64, values);
        rb_source *source;
        rb_preprocess *p;
        rb_feed *feed;
        double sums[M];
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
        assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
        assert_int_equal(rb_feed_squares(feed, sums), !far);
        rb_feed_free(feed);
        rb_preprocess_free(p);
        rb_source_free(source);
        rb_matrix_free(matrix);
        free(values);
    }
}

/* Values that are left out, and those that float32 makes 0 or cannot hold. */
static void are_not_known_of_all(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 2, 3);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    assert_true(are_known(ctx, &o, values, RB_FLOAT32));
    o.missing = RB_MISSING_OMIT;
    assert_true(are_known(ctx, &o, values, RB_FLOAT32));
    double one = values[9];
    values[9] = NAN;
    assert_false(are_known(ctx, &o, values, RB_FLOAT32));
    values[9] = 1e39;
    assert_false(are_known(ctx, &o, values, RB_FLOAT32));
    assert_true(are_known(ctx, &o, values, RB_FLOAT64));
    values[9] = one;
    for (int64_t i = 0; i < N; i++)
        values[i * M] *= 1e-40;
    assert_false(are_known(ctx, &o, values, RB_FLOAT32));
    assert_true(are_known(ctx, &o, values, RB_FLOAT64));
    free(values);
}

static int64_t reads;
static rb_error (*read_block)(rb_source *, rb_context *, int64_t, int64_t, rb_matrix *);

static rb_error counted(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                        rb_matrix *view) {
    reads += count;
    return read_block(source, ctx, first, count, view);
}

static int64_t samples_read(rb_context *ctx, const char *noise) {
    double *values = fixture_values(MANY, M, 2, 3);
    rb_source *source = fixture_data(ctx, values, MANY, M); /* of several blocks */
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set(ctx, options, "units", "2"));
    assert_ok(ctx, rb_options_set(ctx, options, "iterations", "2"));
    assert_ok(ctx, rb_options_set(ctx, options, "noise", noise));
    assert_ok(ctx, rb_options_set(ctx, options, "cache", "0"));
    read_block = source->read;
    source->read = counted;
    reads = 0;
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_model_free(model);
    rb_options_free(options);
    source->read = read_block;
    rb_source_free(source);
    free(values);
    return reads;
}

/* Full noise covariance needs more than the moments: a pass of its own. */
static void save_a_pass(void **state) {
    rb_context *ctx = *state;
    assert_int_equal(samples_read(ctx, "full") - samples_read(ctx, "diagonal"), MANY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_those_of_the_blocks),
        cmocka_unit_test(of_what_is_made_of_values),
        cmocka_unit_test(are_not_known_of_coarse_values),
        cmocka_unit_test(are_not_known_of_all),
        cmocka_unit_test(save_a_pass),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
