/* Effects of covariates: least squares by definition, undone exactly, whatever the source is. */
#include "fixture.h"
#include <rarebit/io.h>

#include "data/data.h"

#include <unistd.h>

enum { N = 60, M = 9, Q = 3 }; /* columns: two of three batches, age */

static const char *const batch_names[] = {"A", "B", "C"};

struct cohort {
    double values[N * M], ages[N];
    int batch[N];
    const char *groups[N];
};

static void fill(struct cohort *c, uint64_t seed, bool counts) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    for (int i = 0; i < N; i++) {
        c->batch[i] = (int)rb_draw_integer(&draws, 0, 2);
        c->groups[i] = batch_names[c->batch[i]];
        c->ages[i] = 40 + 15 * rb_draw_normal(&draws);
        for (int k = 0; k < M; k++) {
            double effect = c->batch[i] * (k % 3 - 1) + 0.02 * k * c->ages[i];
            double value = 5 + effect + rb_draw_normal(&draws);
            c->values[i * M + k] = counts ? floor(exp(0.3 * fmax(value, 0))) : value;
        }
    }
}

static void bind(rb_context *ctx, const struct cohort *c, rb_source *source) {
    assert_ok(ctx, rb_source_set_groups(ctx, source, "batch", c->groups, N));
    assert_ok(ctx, rb_source_set_numbers(ctx, source, "age", c->ages, N));
}

static rb_preprocess_options with_regress(void) {
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_MEAN;
    o.regress = "batch,age";
    return o;
}

static rb_preprocess *fit(rb_context *ctx, const rb_preprocess_options *o, rb_source *source) {
    rb_preprocess *p;
    assert_ok(ctx, rb_preprocess_fit(ctx, o, source, &p));
    return p;
}

/* All preprocessed samples, in blocks of `size`; and undone. */
static void apply(rb_context *ctx, const rb_preprocess *p, rb_source *source, int64_t size,
                  double *out, double *undone) {
    rb_feed *feed;
    int64_t n = rb_source_samples(source), m = p->n_features;
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    for (int64_t first = 0; first < n; first += size) {
        rb_block block;
        int64_t count = n - first < size ? n - first : size;
        assert_ok(ctx, rb_feed_read(ctx, feed, first, count, &block));
        assert_false(block.sparse);
        rb_dense rows = {out + first * m, count, m, m, RB_FLOAT64};
        rb_block_rows(&block, 0, rows);
        if (undone) {
            rb_dense back = {undone + first * m, count, m, m, RB_FLOAT64};
            rb_dense_copy(rows, back);
            rb_feed_inverse(feed, back);
        }
    }
    rb_feed_free(feed);
}

/* Column c of sample i. */
static double column(const struct cohort *c, int i, int q) {
    return q < 2 ? c->batch[i] == q + 1 : c->ages[i];
}

/* By definition: what is left sums to the mean, and is at right angles to every column, in every
 * feature, over the samples that have it. */
static void assert_least_squares(const struct cohort *c, const double *left, int64_t m) {
    for (int64_t k = 0; k < m; k++) {
        double mean = 0, n = 0;
        for (int i = 0; i < N; i++) {
            if (isnan(left[i * m + k])) continue;
            mean += left[i * m + k];
            n++;
        }
        mean /= n;
        for (int q = 0; q < Q; q++) {
            double product = 0, size = 0;
            for (int i = 0; i < N; i++) {
                if (isnan(left[i * m + k])) continue;
                product += (left[i * m + k] - mean) * column(c, i, q);
                size += column(c, i, q) * column(c, i, q);
            }
            assert_true(fabs(product) <= 1e-11 * size);
        }
    }
}

static void right_angles(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    double left[N * M], undone[N * M];
    fill(&c, 1, false);
    rb_source *source = fixture_data(ctx, c.values, N, M);
    bind(ctx, &c, source);
    rb_preprocess_options o = with_regress();
    o.centre = RB_CENTRE_NONE;
    rb_preprocess *p = fit(ctx, &o, source);
    assert_string_equal(p->options.regress, "batch:groups,age:numbers");
    assert_int_equal(p->regress->n_columns, Q);
    apply(ctx, p, source, 7, left, undone);
    assert_least_squares(&c, left, M);
    for (int k = 0; k < M; k++) {
        double before = 0, after = 0;
        for (int i = 0; i < N; i++) {
            before += c.values[i * M + k] / N;
            after += left[i * M + k] / N;
        }
        assert_close(after, before, 1e-13);
    }
    for (int e = 0; e < N * M; e++)
        assert_close(undone[e], c.values[e], 1e-14);
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* Totals, log, scale, selection: statistics are those of what is left, and all is undone. */
static void chain(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    double left[N * M], undone[N * M];
    fill(&c, 2, true);
    rb_source *source = fixture_data(ctx, c.values, N, M);
    bind(ctx, &c, source);
    rb_preprocess_options o = with_regress();
    o.totals = 100;
    o.log1p = true;
    o.scale = RB_SCALE_SD;
    o.top_variance = 5;
    rb_preprocess *p = fit(ctx, &o, source);
    apply(ctx, p, source, N, left, undone);
    assert_least_squares(&c, left, 5);
    for (int k = 0; k < 5; k++) {
        double mean = 0, squares = 0;
        for (int i = 0; i < N; i++) {
            mean += left[i * 5 + k] / N;
            squares += left[i * 5 + k] * left[i * 5 + k] / N;
            assert_close(undone[i * 5 + k], c.values[i * M + p->selected[k]], 1e-12);
        }
        assert_close(mean, 0, 1e-12);
        assert_close(squares, 1, 1e-12);
    }
    rb_preprocess_free(p);
    o.centre = RB_CENTRE_MEDIAN;
    o.scale = RB_SCALE_IQR;
    o.top_variance = 0;
    p = fit(ctx, &o, source);
    apply(ctx, p, source, N, left, undone);
    for (int k = 0; k < M; k++) {
        int below = 0;
        for (int i = 0; i < N; i++)
            below += left[i * M + k] < 0;
        assert_int_equal(below, N / 2);
        for (int i = 0; i < N; i++)
            assert_close(undone[i * M + k], c.values[i * M + k], 1e-12);
    }
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* Each feature goes by the samples that have it; a filled value has no effect of its batch. */
static void missing(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    double left[N * M], undone[N * M], omitted[N * M];
    fill(&c, 3, false);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < M; k++)
            if ((i * 7 + k * 3) % 11 == 0 && k != 4) c.values[i * M + k] = NAN;
    for (int i = 0; i < N; i++)
        if (c.batch[i] == 1) c.values[i * M + 2] = NAN; /* a whole batch */
    rb_source *source = fixture_data(ctx, c.values, N, M);
    bind(ctx, &c, source);
    rb_preprocess_options o = with_regress();
    o.missing = RB_MISSING_OMIT;
    rb_preprocess *p = fit(ctx, &o, source);
    assert_true(p->regress->coefficients[2 * Q] == 0); /* not determined */
    apply(ctx, p, source, 11, omitted, undone);
    assert_least_squares(&c, omitted, M);
    rb_preprocess_free(p);
    o.missing = RB_MISSING_MEAN;
    p = fit(ctx, &o, source);
    apply(ctx, p, source, 11, left, undone);
    for (int e = 0; e < N * M; e++) {
        if (isnan(c.values[e])) {
            assert_close(left[e], 0, 1e-13);
        } else {
            assert_close(left[e], omitted[e], 1e-12);
            assert_close(undone[e], c.values[e], 1e-14);
        }
    }
    rb_preprocess_free(p);
    rb_source_free(source);
}

static rb_error give_rows(void *user, int64_t first, int64_t count, void *rows) {
    const struct cohort *c = user;
    memcpy(rows, c->values + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

/* In memory or streamed, one thread or three: the same bits. Sparse: the same to rounding. A slice
 * and a shuffled source have the covariates of their samples. */
static void sources(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    rb_source *streamed, *slice, *shuffled;
    double left[N * M], other[N * M];
    fill(&c, 4, false);
    for (int e = 0; e < N * M; e += 4)
        c.values[e] = 0;
    rb_source *source = fixture_data(ctx, c.values, N, M);
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, N, M, give_rows, &c, &streamed));
    bind(ctx, &c, source);
    bind(ctx, &c, streamed);
    rb_preprocess_options o = with_regress();
    o.scale = RB_SCALE_SD;
    rb_preprocess *p = fit(ctx, &o, source);
    apply(ctx, p, source, N, left, NULL);
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    rb_preprocess *again = fit(ctx, &o, streamed);
    apply(ctx, again, streamed, 13, other, NULL);
    assert_memory_equal(left, other, sizeof left);
    rb_preprocess_free(again);

    rb_source *sparse = fixture_sparse_data(ctx, c.values, N, M);
    bind(ctx, &c, sparse);
    again = fit(ctx, &o, sparse);
    apply(ctx, again, sparse, 13, other, NULL);
    for (int e = 0; e < N * M; e++)
        assert_close(other[e], left[e], 1e-12);
    rb_preprocess_free(again);

    assert_ok(ctx, rb_source_slice(ctx, source, 20, 15, &slice));
    apply(ctx, p, slice, 4, other, NULL);
    assert_memory_equal(other, left + 20 * M, 15 * M * sizeof(double));
    assert_ok(ctx, rb_source_shuffled(ctx, source, &shuffled));
    rb_source_shuffle(shuffled, (rb_stream){5, RB_RANDOM_SHUFFLE, 0});
    apply(ctx, p, shuffled, 9, other, NULL);
    for (int i = 0; i < N; i++) {
        bool found = false;
        for (int j = 0; j < N; j++)
            found = found || memcmp(other + i * M, left + j * M, M * sizeof(double)) == 0;
        assert_true(found);
    }
    assert_memory_not_equal(other, left, sizeof left);
    rb_preprocess_free(p);
    rb_source_free(shuffled);
    rb_source_free(slice);
    rb_source_free(sparse);
    rb_source_free(streamed);
    rb_source_free(source);
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
}

static void refused_text(rb_context *ctx, rb_source *source, const char *regress, rb_error expected,
                         const char *words) {
    rb_preprocess *p;
    rb_preprocess_options o = with_regress();
    o.regress = regress;
    assert_error(ctx, rb_preprocess_fit(ctx, &o, source, &p), expected, words);
    assert_null(p);
}

static void refusals(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    rb_matrix *matrix;
    rb_source *other;
    rb_feed *feed;
    fill(&c, 5, false);
    rb_source *source = fixture_source(ctx, c.values, N, M, &matrix);
    refused_text(ctx, source, "batch", RB_ERROR_DATA,
                 "but the samples have no such covariate; give");
    bind(ctx, &c, source);
    refused_text(ctx, source, "batsh", RB_ERROR_DATA, "there are batch, age");
    refused_text(ctx, source, "batch,,age", RB_ERROR_ARGUMENT, "separated by commas");
    refused_text(ctx, source, "age,age", RB_ERROR_ARGUMENT, "'age' twice");
    refused_text(ctx, source, "age:groups", RB_ERROR_ARGUMENT, "it has numbers");
    const char *alike[N], *own[N];
    char names[N][8];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        alike[i] = "one";
        own[i] = names[i];
    }
    assert_ok(ctx, rb_source_set_groups(ctx, source, "site", alike, N));
    assert_ok(ctx, rb_source_set_groups(ctx, source, "donor", own, N));
    refused_text(ctx, source, "site", RB_ERROR_DATA, "site is the same in all samples");
    refused_text(ctx, source, "donor", RB_ERROR_DATA,
                 "samples completely; name fewer, or those with");
    alike[7] = NULL;
    assert_ok(ctx, rb_source_set_groups(ctx, source, "site", alike, N));
    refused_text(ctx, source, "site", RB_ERROR_DATA, "sample 7 (counted from 0) has no site");
    assert_error(ctx, rb_source_set_groups(ctx, source, "a,b", alike, N), RB_ERROR_ARGUMENT,
                 "without commas");
    assert_error(ctx, rb_source_set_numbers(ctx, source, "age", c.ages, N - 1), RB_ERROR_ARGUMENT,
                 "there are 60 samples");

    rb_preprocess_options o = with_regress();
    rb_preprocess *p = fit(ctx, &o, source);
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &other));
    assert_error(ctx, rb_feed_new(ctx, p, other, RB_FLOAT64, &feed), RB_ERROR_DATA, "'batch'");
    c.groups[3] = "D";
    bind(ctx, &c, other);
    assert_error(ctx, rb_feed_new(ctx, p, other, RB_FLOAT64, &feed), RB_ERROR_DATA,
                 "sample 3 (counted from 0) has batch 'D', but the model knows only A, B, C");
    c.groups[3] = "A";
    bind(ctx, &c, other);
    assert_ok(ctx, rb_feed_new(ctx, p, other, RB_FLOAT64, &feed));
    rb_feed_free(feed);
    rb_preprocess_free(p);
    rb_source_free(other);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* A covariate that says the same as another changes nothing. */
static void repeated(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    double left[N * M], other[N * M], twice[N];
    fill(&c, 6, false);
    rb_source *source = fixture_data(ctx, c.values, N, M);
    bind(ctx, &c, source);
    for (int i = 0; i < N; i++)
        twice[i] = 2 * c.ages[i] - 7;
    assert_ok(ctx, rb_source_set_numbers(ctx, source, "twice", twice, N));
    rb_preprocess_options o = with_regress();
    rb_preprocess *p = fit(ctx, &o, source);
    apply(ctx, p, source, N, left, NULL);
    rb_preprocess_free(p);
    o.regress = "batch,age,twice";
    p = fit(ctx, &o, source);
    apply(ctx, p, source, N, other, NULL);
    for (int e = 0; e < N * M; e++)
        assert_close(other[e], left[e], 1e-12);
    rb_preprocess_free(p);
    rb_source_free(source);
}

/* A fit: saved as a file and as bytes it gives the same codes; a batch that shifts all its samples
 * leaves no trace in the codes where batches and causes are balanced. */
static void model(void **state) {
    enum { SAMPLES = 120, FEATURES = 30 };
    rb_context *ctx = *state;
    double *plain = fixture_values(SAMPLES, FEATURES, 3, 1), *shifted;
    const char *groups[SAMPLES];
    rb_matrix *matrix;
    rb_options *options;
    rb_model *m, *back;
    void *bytes;
    size_t size;
    shifted = calloc(SAMPLES * FEATURES, sizeof *shifted);
    for (int i = 0; i < SAMPLES; i++) {
        groups[i] = batch_names[i % 2];
        for (int k = 0; k < FEATURES; k++) /* each sample once in either batch */
            shifted[i * FEATURES + k] = plain[i / 2 * FEATURES + k] + (i % 2) * (k % 5 - 2);
    }
    rb_source *source = fixture_source(ctx, shifted, SAMPLES, FEATURES, &matrix);
    assert_ok(ctx, rb_source_set_groups(ctx, source, "batch", groups, SAMPLES));
    assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options,
                                      "units=4 iterations=50 seed=1 precision=float64 "
                                      "regress=batch"));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &m));
    assert_string_equal(rb_model_attribute(m, "regress"), "batch:groups");
    double *codes = fixture_codes(ctx, m, source);
    int64_t units = rb_model_units(m);
    for (int i = 0; i < SAMPLES; i += 2)
        for (int64_t u = 0; u < units; u++)
            assert_close(codes[i * units + u], codes[(i + 1) * units + u], 1e-9);
    assert_ok(ctx, rb_model_save_memory(ctx, m, &bytes, &size));
    assert_ok(ctx, rb_model_load_memory(ctx, bytes, size, &back));
    double *other = fixture_codes(ctx, back, source);
    assert_memory_equal(codes, other, (size_t)(SAMPLES * units) * sizeof *codes);
    rb_model_free(back);
    free(other);
    for (size_t cut = 0; cut < size; cut += 97)
        assert_int_not_equal(rb_model_load_memory(ctx, bytes, cut, &back), RB_OK);
    rb_free_memory(bytes);
    char path[] = "/tmp/rarebit-regress-XXXXXX";
    close(mkstemp(path));
    assert_ok(ctx, rb_model_save(ctx, m, path));
    assert_ok(ctx, rb_model_load(ctx, path, &back));
    other = fixture_codes(ctx, back, source);
    assert_memory_equal(codes, other, (size_t)(SAMPLES * units) * sizeof *codes);
    remove(path);
    free(other);
    rb_model_free(back);
    rb_coder *coder; /* rows of a matrix have no covariates */
    assert_ok(ctx, rb_coder_open(ctx, m, &coder));
    assert_int_equal(rb_coder_encode(ctx, coder, matrix, RB_FLOAT64, codes, units, 1),
                     RB_ERROR_DATA);
    rb_coder_free(coder);
    rb_model_free(m);
    rb_options_free(options);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(codes);
    free(plain);
    free(shifted);
}

/* Binding, fitting, using, copying, bytes: every allocation fails once, and nothing is left. */
static rb_error use_all(rb_context *ctx, const struct cohort *c, rb_matrix *matrix) {
    rb_source *source = NULL;
    rb_preprocess *p = NULL, *copy = NULL;
    rb_feed *feed = NULL;
    rb_preprocess_options o = with_regress();
    o.missing = RB_MISSING_MEDIAN;
    rb_error err = rb_source_from_matrix(ctx, matrix, &source);
    err = err ? err : rb_source_set_groups(ctx, source, "batch", c->groups, N);
    err = err ? err : rb_source_set_numbers(ctx, source, "age", c->ages, N);
    err = err ? err : rb_preprocess_fit(ctx, &o, source, &p);
    if (!err) err = (copy = rb_preprocess_copy(ctx, p)) ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_feed_new(ctx, copy, source, RB_FLOAT32, &feed);
    rb_feed_free(feed);
    rb_preprocess_free(copy);
    rb_preprocess_free(p);
    rb_source_free(source);
    return err;
}

static void allocations(void **state) {
    rb_context *ctx = *state;
    struct cohort c;
    rb_matrix *matrix;
    fill(&c, 7, false);
    c.values[5] = NAN;
    rb_source_free(fixture_source(ctx, c.values, N, M, &matrix));
    int64_t failing = 0;
    rb_error err = RB_ERROR_MEMORY;
    for (; allow_allocations(ctx, failing, err); failing++)
        err = use_all(ctx, &c, matrix);
    assert_true(failing > 30);
    rb_matrix_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_angles), cmocka_unit_test(chain),       cmocka_unit_test(missing),
        cmocka_unit_test(sources),      cmocka_unit_test(refusals),    cmocka_unit_test(repeated),
        cmocka_unit_test(model),        cmocka_unit_test(allocations),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
