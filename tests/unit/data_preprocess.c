/* Preprocessing by its definition: statistics, order of steps, undo, matching by name. */
#include "fixture.h"

#include "data/data.h"

enum { N = 6, M = 4 };

static const double table[N * M] = {1, 0, 5, 2, 3, 0, 5, 8, 2, 7,  5, 4,
                                    9, 0, 5, 1, 4, 1, 5, 0, 6, 12, 5, 3};

static rb_preprocess_options plain(void) {
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    return o;
}

/* The preprocessed values of a source, all of it, dense. */
static void apply(rb_context *ctx, const rb_preprocess *p, rb_source *source, double *out) {
    rb_feed *feed;
    rb_block block;
    int64_t n = rb_source_samples(source);
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_ok(ctx, rb_feed_read(ctx, feed, 0, n, &block));
    rb_block_rows(&block, 0, (rb_dense){out, n, p->n_features, p->n_features, RB_FLOAT64});
    double squares = 0;
    for (int64_t e = 0; e < n * p->n_features; e++)
        squares += out[e] * out[e];
    int64_t values;
    assert_close(rb_block_squares(&block, &values), squares, 1e-12);
    assert_int_equal(values, n * p->n_features);
    rb_feed_free(feed);
}

static rb_preprocess *fit(rb_context *ctx, const rb_preprocess_options *o, rb_source *source) {
    rb_preprocess *p;
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    return p;
}

/* Mean, 1/n variance, median and quartiles of 2 0 5 3-like columns, worked out by hand. */
static void statistics(void **state) {
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, table, N, M);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_MEAN;
    o.scale = RB_SCALE_SD;
    rb_preprocess *p = fit(ctx, &o, source);
    assert_close(p->centre[0], 25.0 / 6, 1e-14);
    assert_close(p->scale[0], sqrt(147.0 / 6 - 625.0 / 36), 1e-14);
    assert_true(p->scale[2] == 1);
    rb_preprocess_free(p);
    o.centre = RB_CENTRE_MEDIAN;
    o.scale = RB_SCALE_IQR;
    p = fit(ctx, &o, source);
    /* column 0 sorted: 1 2 3 4 6 9: median 3.5, quartiles 2.25 and 5.5 */
    assert_close(p->centre[0], 3.5, 1e-15);
    assert_close(p->scale[0], 5.5 - 2.25, 1e-15);
    double out[N * M];
    apply(ctx, p, source, out);
    assert_close(out[3 * M], (9 - 3.5) / 3.25, 1e-15);
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* Totals, then log1p, then the centre. */
static void order_of_steps(void **state) {
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, table, N, M);
    rb_preprocess_options o = plain();
    o.totals = 10;
    o.log1p = true;
    o.centre = RB_CENTRE_MEAN;
    rb_preprocess *p = fit(ctx, &o, source);
    double out[N * M], mean = 0;
    apply(ctx, p, source, out);
    for (int i = 0; i < N; i++) {
        double total = 0;
        for (int k = 0; k < M; k++)
            total += table[i * M + k];
        mean += log1p(table[i * M + 1] * 10 / total) / N;
    }
    assert_close(p->centre[1], mean, 1e-14);
    assert_close(out[1], log1p(0) - mean, 1e-14);
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* Every combination of options gives the same on a sparse matrix as on a dense one. */
static void sparse_equals_dense(void **state) {
    rb_context *ctx = *state;
    rb_matrix *dense, *sparse;
    rb_source *a = fixture_source(ctx, table, N, M, &dense);
    rb_source *b = fixture_sparse(ctx, table, N, M, &sparse);
    int combinations = 0;
    for (int code = 0; code < 3 * 3 * 2 * 2 * 2; code++) {
        rb_preprocess_options o = plain();
        o.centre = code % 3;
        o.scale = code / 3 % 3;
        o.log1p = code / 9 % 2;
        o.totals = code / 18 % 2 ? 50 : 0;
        o.top_variance = code / 36 ? 2 : 0;
        rb_preprocess *p = fit(ctx, &o, a), *q = fit(ctx, &o, b);
        double x[N * M], y[N * M];
        assert_int_equal(p->n_features, o.top_variance ? 2 : M);
        assert_int_equal(q->n_features, p->n_features);
        apply(ctx, p, a, x);
        apply(ctx, q, b, y);
        for (int64_t e = 0; e < N * p->n_features; e++)
            assert_close(x[e], y[e], 1e-12);
        rb_preprocess_free(p);
        rb_preprocess_free(q);
        combinations++;
    }
    assert_int_equal(combinations, 72);
    rb_source_free(a);
    rb_source_free(b);
    rb_matrix_free(dense);
    rb_matrix_free(sparse);
}

static void selects_by_variance(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix;
    static const char *const names[] = {"a", "b", "c", "d"};
    rb_source *source = fixture_source(ctx, table, N, M, &matrix);
    rb_source_free(source);
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, matrix, names, M));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_preprocess_options o = plain();
    o.top_variance = 2; /* of 7.1, 21.2, 0, 6.7 */
    rb_preprocess *p = fit(ctx, &o, source);
    assert_int_equal(p->n_features, 2);
    assert_int_equal(p->selected[0], 0);
    assert_int_equal(p->selected[1], 1);
    assert_string_equal(p->names->text[1], "b");
    rb_preprocess_free(p);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

static void fills_missing_values(void **state) {
    rb_context *ctx = *state;
    double holes[N * M];
    memcpy(holes, table, sizeof table);
    holes[0] = holes[3 * M] = NAN; /* column 0: 3 2 4 6 are there */
    rb_source *source = fixture_data(ctx, holes, N, M);
    rb_preprocess_options o = plain();
    o.missing = RB_MISSING_MEAN;
    rb_preprocess *p = fit(ctx, &o, source);
    double out[N * M];
    apply(ctx, p, source, out);
    assert_int_equal(p->n_filled, 2);
    assert_close(out[0], 3.75, 1e-15);
    assert_close(out[M], 3, 1e-15);
    rb_preprocess_free(p);
    o.missing = RB_MISSING_MEDIAN;
    p = fit(ctx, &o, source);
    apply(ctx, p, source, out);
    assert_close(out[3 * M], 3.5, 1e-15);
    rb_preprocess_free(p);
    rb_source_free(source);
}

struct heard {
    char text[1024];
    int count;
};

static void hear(rb_log_level level, const char *message, void *user) {
    (void)level;
    struct heard *heard = user;
    heard->count++;
    strncat(heard->text, message, sizeof heard->text - strlen(heard->text) - 1);
}

/* What fills a feature that has no value is 0, and the user is told. */
static void feature_without_a_value(void **state) {
    rb_context *ctx = *state;
    struct heard heard = {.count = 0};
    rb_context_on_log(ctx, hear, &heard);
    double holes[N * M], out[N * M];
    memcpy(holes, table, sizeof table);
    for (int i = 0; i < N; i++)
        holes[i * M + 1] = NAN;
    rb_source *source = fixture_data(ctx, holes, N, M);
    rb_preprocess_options o = plain();
    o.missing = RB_MISSING_MEAN;
    rb_preprocess *p = fit(ctx, &o, source);
    apply(ctx, p, source, out);
    assert_true(out[1] == 0 && out[M + 1] == 0);
    assert_non_null(strstr(
        heard.text, "1 features have no value at all and are set to 0; the first is feature 1 "
                    "(counted from 0)"));
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* New data with features in another order, one extra, one lacking: matched by name, told. */
static void matches_by_name(void **state) {
    rb_context *ctx = *state;
    struct heard heard = {.count = 0};
    rb_context_on_log(ctx, hear, &heard);
    rb_matrix *train, *new, *alien;
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const others[] = {"d", "x", "a", "c"};
    static const char *const aliens[] = {"e", "f", "g", "h"};
    rb_source_free(fixture_source(ctx, table, N, M, &train));
    rb_source_free(fixture_source(ctx, table, N, M, &new));
    rb_source_free(fixture_source(ctx, table, N, M, &alien));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, train, names, M));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, new, others, M));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, alien, aliens, M));
    rb_source *a, *b, *c;
    assert_ok(ctx, rb_source_from_matrix(ctx, train, &a));
    assert_ok(ctx, rb_source_from_matrix(ctx, new, &b));
    assert_ok(ctx, rb_source_from_matrix(ctx, alien, &c));
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_MEAN;
    rb_preprocess *p = fit(ctx, &o, a);
    double out[N * M];
    apply(ctx, p, b, out);
    for (int i = 0; i < N; i++) {
        assert_close(out[i * M], table[i * M + 2] - p->centre[0], 1e-14);
        assert_close(out[i * M + 1], 0, 1e-14);
        assert_close(out[i * M + 2], table[i * M + 3] - p->centre[2], 1e-14);
        assert_close(out[i * M + 3], table[i * M] - p->centre[3], 1e-14);
    }
    assert_int_equal(heard.count, 2);
    assert_non_null(strstr(heard.text, "1 of the model's 4 features are not in the data"));
    assert_non_null(strstr(heard.text, ": b"));
    assert_non_null(strstr(heard.text, "1 features of the data are not in the model"));
    rb_feed *feed;
    assert_error(ctx, rb_feed_new(ctx, p, c, RB_FLOAT64, &feed), RB_ERROR_DATA, "by name");
    rb_preprocess_free(p);
    rb_source_free(a);
    rb_source_free(b);
    rb_source_free(c);
    rb_matrix_free(train);
    rb_matrix_free(new);
    rb_matrix_free(alien);
}

/* Entries of a sparse sample stand in the order of the model's features, whatever that of the data.
 */
static void sparse_entries_ascend(void **state) {
    rb_context *ctx = *state;
    static const char *const names[] = {"a", "b", "c", "d"}, *const others[] = {"d", "x", "a", "c"};
    static const int64_t starts[] = {0, 3, 7};
    static const int32_t columns[] = {0, 2, 3, 0, 1, 2, 3};
    static const double values[] = {1, 2, 3, 4, 5, 6, 7};
    rb_matrix *train, *new;
    rb_source *a, *b;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, 2, M, starts, columns, values, &train));
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, 2, M, starts, columns, values, &new));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, train, names, M));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, new, others, M));
    assert_ok(ctx, rb_source_from_matrix(ctx, train, &a));
    assert_ok(ctx, rb_source_from_matrix(ctx, new, &b));
    rb_preprocess_options o = plain();
    rb_preprocess *p = fit(ctx, &o, a);
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_feed_new(ctx, p, b, RB_FLOAT64, &feed));
    assert_ok(ctx, rb_feed_read(ctx, feed, 0, 2, &block));
    assert_true(block.sparse);
    const double *got = block.csr.values;
    assert_memory_equal(block.csr.starts, ((int64_t[]){0, 3, 6}), 3 * sizeof(int64_t));
    assert_memory_equal(block.csr.columns, ((int32_t[]){0, 2, 3, 0, 2, 3}), 6 * sizeof(int32_t));
    assert_memory_equal(got, ((double[]){2, 3, 1, 6, 7, 4}), 6 * sizeof *got);
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(a);
    rb_source_free(b);
    rb_matrix_free(train);
    rb_matrix_free(new);
}

static void refuses_another_width(void **state) {
    rb_context *ctx = *state;
    rb_source *a = fixture_data(ctx, table, N, M);
    rb_source *b = fixture_data(ctx, table, N, M - 1);
    rb_preprocess *p = fit(ctx, NULL, a);
    rb_feed *feed;
    assert_error(ctx, rb_feed_new(ctx, p, b, RB_FLOAT64, &feed), RB_ERROR_DATA,
                 "3 features, but the model was fitted to 4");
    rb_preprocess_free(p);
    rb_source_free(a);
    rb_source_free(b);
}

/* Undoing gives back the values. */
static void inverse(void **state) {
    rb_context *ctx = *state;
    rb_source *source = fixture_data(ctx, table, N, M);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_MEAN;
    o.totals = 7;
    o.log1p = true;
    o.scale = RB_SCALE_SD;
    rb_preprocess *p = fit(ctx, &o, source);
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_ok(ctx, rb_feed_read(ctx, feed, 2, 3, &block));
    rb_feed_inverse(feed, block.dense);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t k = 0; k < M; k++)
            assert_close(rb_dense_get(block.dense, i, k), table[(i + 2) * M + k], 1e-13);
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(source);
}

static char logged[1024];

static void note_log(rb_log_level level, const char *message, void *user) {
    (void)user;
    if (level == RB_LOG_WARNING) strcat(strcat(logged, message), "|");
}

/* Names that stand twice are said at the fit, and again where matching had to choose. */
static void repeated_names(void **state) {
    static const char *const names[] = {"A", "B", "A", "C"}, *const turned[] = {"C", "A", "A", "B"},
                             *const samples[] = {"s", "t", "u", "s", "v", "s"};
    rb_context *ctx = *state;
    rb_matrix *matrix, *other;
    rb_source *source = fixture_source(ctx, table, N, M, &matrix);
    rb_feed *feed;
    rb_source_free(source);
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, matrix, names, M));
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, samples, N));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_context_on_log(ctx, note_log, NULL);
    logged[0] = '\0';
    rb_preprocess *p = fit(ctx, NULL, source);
    assert_non_null(strstr(logged, "2 of 4 feature names are not unique ('A' for one)"));
    assert_non_null(strstr(logged, "3 of 6 sample names are not unique ('s' for one)"));
    logged[0] = '\0';
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_string_equal(logged, "");
    rb_feed_free(feed);
    rb_source_free(source);
    source = fixture_source(ctx, table, N, M, &other);
    rb_source_free(source);
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, other, turned, M));
    assert_ok(ctx, rb_source_from_matrix(ctx, other, &source));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_non_null(strstr(logged, "1 feature names are not unique"));
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_matrix_free(other);
}

/* One sample, and samples that are all the same, are refused with what is wrong with them where
 * features are centred; as they stand they are data like others. */
static void nothing_to_explain(void **state) {
    static const double same[N * M] = {3, 1, 4, 1, 3, 1, 4, 1, 3, 1, 4, 1,
                                       3, 1, 4, 1, 3, 1, 4, 1, 3, 1, 4, 1};
    rb_context *ctx = *state;
    rb_preprocess *p;
    for (int64_t n = 1; n <= N; n += N - 1) {
        rb_source *source = fixture_data(ctx, same, n, M);
        assert_error(ctx, rb_preprocess_fit(ctx, NULL, source, &p), RB_ERROR_DATA,
                     n == 1 ? "needs at least 2 samples" : "all 6 samples are the same");
        rb_preprocess_options o = plain();
        rb_preprocess_free(fit(ctx, &o, source));
        rb_source_free(source);
    }
}

/* Squares that are too large for a number are not called equal samples. */
static void too_large_for_a_variance(void **state) {
    double values[N * M];
    rb_context *ctx = *state;
    rb_preprocess *p;
    for (int c = 0; c < N * M; c++)
        values[c] = c % M == 2 ? (c % 7 - 3) * 1e200 : c % 5;
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_error(ctx, rb_preprocess_fit(ctx, NULL, source, &p), RB_ERROR_DATA,
                 "feature 2 (counted from 0) has values too large");
    rb_source_free(source);
}

/* Totals and log1p refuse what they cannot take, at the fit and in new data, also where missing
 * values are filled. */
static void values_that_do_not_fit(void **state) {
    static const struct {
        double totals;
        bool log1p;
        double value;
        const char *message;
    } cases[] = {{10, false, -0.5, "is below 0, which `totals` does not"},
                 {10, true, -2, "is below 0, which `totals` does not"},
                 {0, true, -1, "is at most -1, which `log1p`"},
                 {10, false, INFINITY, "is infinite"}};
    rb_context *ctx = *state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double values[N * M];
        rb_feed *feed;
        rb_block block;
        rb_preprocess *refused;
        memcpy(values, table, sizeof table);
        rb_source *source = fixture_data(ctx, values, N, M);
        rb_preprocess_options o = plain();
        o.totals = cases[c].totals;
        o.log1p = cases[c].log1p;
        o.missing = RB_MISSING_MEAN;
        rb_preprocess *p = fit(ctx, &o, source);
        values[3 * M + 2] = cases[c].value;
        assert_error(ctx, rb_preprocess_fit(ctx, &o, source, &refused), RB_ERROR_DATA,
                     "sample 3, feature 2");
        assert_non_null(strstr(rb_context_error(ctx), cases[c].message));
        assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
        assert_error(ctx, rb_feed_read(ctx, feed, 0, N, &block), RB_ERROR_DATA,
                     "sample 3, feature 2");
        assert_non_null(strstr(rb_context_error(ctx), cases[c].message));
        rb_feed_free(feed);
        rb_preprocess_free(p);
        rb_source_free(source);
    }
}

/* New data with a hole: refused by a model that refuses, filled by one that fills. */
static void holes_in_new_data(void **state) {
    rb_context *ctx = *state;
    double holes[N * M], out[N * M];
    memcpy(holes, table, sizeof table);
    rb_source *source = fixture_data(ctx, holes, N, M);
    rb_preprocess_options o = plain();
    rb_preprocess *p = fit(ctx, &o, source);
    o.missing = RB_MISSING_MEAN;
    rb_preprocess *q = fit(ctx, &o, source);
    holes[4 * M + 1] = NAN;
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_error(ctx, rb_feed_read(ctx, feed, 3, 2, &block), RB_ERROR_DATA,
                 "sample 4, feature 1 (counted from 0) is missing");
    rb_feed_free(feed);
    apply(ctx, q, source, out);
    assert_close(out[4 * M + 1], 20.0 / 6, 1e-14);
    rb_preprocess_free(p);
    rb_preprocess_free(q);
    rb_source_free(source);
}

/* A source of float32 or float64 values with rows or columns together in memory. */
static rb_source *ordered(rb_context *ctx, rb_type type, bool by_columns, void *capacity,
                          rb_matrix **matrix) {
    int64_t row = by_columns ? 1 : M, column = by_columns ? N : 1;
    for (int64_t e = 0; e < N * M; e++) {
        int64_t at = e / M * row + e % M * column;
        double value = table[e] / 7 + 1000;
        if (type == RB_FLOAT32)
            ((float *)capacity)[at] = (float)value;
        else
            ((double *)capacity)[at] = value;
    }
    rb_source *source;
    assert_ok(ctx, rb_matrix_dense(ctx, type, N, M, capacity, row, column, matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

static void read_all(rb_context *ctx, const rb_preprocess *p, rb_source *source, rb_type type,
                     double out[N * M]) {
    rb_feed *feed;
    rb_block block;
    assert_ok(ctx, rb_feed_new(ctx, p, source, type, &feed));
    assert_ok(ctx, rb_feed_read(ctx, feed, 0, N, &block));
    for (int64_t e = 0; e < N * M; e++)
        out[e] = rb_dense_get(block.dense, e / M, e % M);
    rb_feed_free(feed);
}

/* Rows or columns together in memory: the same bits, in both types. Given as float64 the values of
 * a float32 table come out within the tolerance that is promised. */
static void order_in_memory(void **state) {
    rb_context *ctx = *state;
    rb_preprocess_options o = {.scale = RB_SCALE_SD};
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        double a_capacity[N * M], b_capacity[N * M], x[N * M], y[N * M], wide[N * M];
        rb_matrix *a_matrix, *b_matrix;
        rb_source *a = ordered(ctx, type, false, a_capacity, &a_matrix);
        rb_source *b = ordered(ctx, type, true, b_capacity, &b_matrix);
        rb_preprocess *p = fit(ctx, &o, a);
        read_all(ctx, p, a, type, x);
        read_all(ctx, p, b, type, y);
        assert_memory_equal(x, y, sizeof x);
        read_all(ctx, p, a, RB_FLOAT32, x);
        read_all(ctx, p, b, RB_FLOAT32, y);
        assert_memory_equal(x, y, sizeof x);
        for (int64_t e = 0; e < N * M; e++)
            wide[e] = rb_matrix_at(a_matrix, e / M, e % M);
        rb_source *c = fixture_data(ctx, wide, N, M);
        read_all(ctx, p, c, RB_FLOAT32, y);
        for (int64_t e = 0; type == RB_FLOAT32 && e < N * M; e++) {
            double larger = fmax(fabs(wide[e]), fabs(p->centre[e % M]));
            assert_true(fabs(x[e] - y[e]) <= ldexp(larger / p->scale[e % M], -22));
        }
        rb_preprocess_free(p);
        rb_source_free(a);
        rb_source_free(b);
        rb_source_free(c);
        rb_matrix_free(a_matrix);
        rb_matrix_free(b_matrix);
    }
}

/* What float32 cannot hold is refused by name of sample and feature: dense, behind a feature that
 * is dropped, and sparse. */
static void too_large_for_float32(void **state) {
    rb_context *ctx = *state;
    static const int64_t starts[] = {0, 1, 2};
    static const int32_t columns[] = {0, 1};
    static const double stored[] = {1, 1e100}, dense[] = {1, 0, 0, 1e100};
    static const double behind[] = {5, 1, 5, 1e100};
    rb_matrix *matrices[3];
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 2, 2, dense, 2, 1, &matrices[0]));
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, 2, 2, starts, columns, stored, &matrices[1]));
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 2, 2, behind, 2, 1, &matrices[2]));
    rb_preprocess_options o = plain();
    o.drop = RB_DROP_CONSTANT;
    for (int form = 0; form < 3; form++) {
        rb_source *source;
        rb_feed *feed;
        rb_block block;
        assert_ok(ctx, rb_source_from_matrix(ctx, matrices[form], &source));
        rb_preprocess *p = fit(ctx, &o, source);
        assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT32, &feed));
        assert_error(ctx, rb_feed_read(ctx, feed, 0, 2, &block), RB_ERROR_DATA,
                     "sample 1, feature 1");
        assert_non_null(strstr(rb_context_error(ctx), "too large"));
        rb_feed_free(feed);
        rb_preprocess_free(p);
        rb_source_free(source);
        rb_matrix_free(matrices[form]);
    }
}

/* Fits, renews, binds and reads all of a source; true when nothing failed. */
static bool use_everything(rb_context *ctx, const rb_preprocess_options *o, rb_source *source) {
    rb_preprocess *p = (rb_preprocess *)&p; /* must become NULL */
    rb_feed *feed = NULL;
    rb_block block;
    rb_error err = rb_preprocess_fit(ctx, o, source, &p);
    assert_true(!err == (p != NULL));
    if (!err) err = rb_preprocess_renew(ctx, p, source, false);
    if (!err) {
        feed = (rb_feed *)&feed;
        err = rb_feed_new(ctx, p, source, RB_FLOAT32, &feed);
        assert_true(!err == (feed != NULL));
    }
    if (!err) err = rb_feed_read(ctx, feed, 0, rb_source_samples(source), &block);
    rb_feed_free(feed);
    rb_preprocess_free(p);
    assert_true(err == RB_OK || err == RB_ERROR_MEMORY);
    return !err;
}

/* The n-th allocation fails, for every n, with every step there is, dense and sparse: the error
 * says so and nothing leaks (the sanitizers watch). */
static void no_memory(void **state) {
    rb_context *ctx = *state;
    static const char *const names[] = {"a", "b", "c", "d"};
    rb_matrix *forms[2];
    rb_source_free(fixture_source(ctx, table, N, M, &forms[0]));
    rb_source_free(fixture_sparse(ctx, table, N, M, &forms[1]));
    rb_preprocess_options o = {.missing = RB_MISSING_MEDIAN,
                               .totals = INFINITY,
                               .log1p = true,
                               .top_variance = 3,
                               .centre = RB_CENTRE_MEDIAN,
                               .scale = RB_SCALE_IQR};
    for (int form = 0; form < 2; form++) {
        rb_source *source;
        assert_ok(ctx, rb_matrix_set_feature_names(ctx, forms[form], names, M));
        assert_ok(ctx, rb_source_from_matrix(ctx, forms[form], &source));
        int64_t n = 0;
        for (bool done = false; !done; n++) {
            ctx->allocations_left = n;
            done = use_everything(ctx, &o, source);
            ctx->allocations_left = -1;
        }
        assert_true(n > 15);
        rb_source_free(source);
        rb_matrix_free(forms[form]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics),
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(sparse_equals_dense),
        cmocka_unit_test(selects_by_variance),
        cmocka_unit_test(fills_missing_values),
        cmocka_unit_test(feature_without_a_value),
        cmocka_unit_test(matches_by_name),
        cmocka_unit_test(sparse_entries_ascend),
        cmocka_unit_test(refuses_another_width),
        cmocka_unit_test(inverse),
        cmocka_unit_test(repeated_names),
        cmocka_unit_test(nothing_to_explain),
        cmocka_unit_test(too_large_for_a_variance),
        cmocka_unit_test(values_that_do_not_fit),
        cmocka_unit_test(holes_in_new_data),
        cmocka_unit_test(order_in_memory),
        cmocka_unit_test(too_large_for_float32),
        cmocka_unit_test(no_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
