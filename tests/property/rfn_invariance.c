/* What must not change a fit: threads, where the data lie, their form, the order of samples. */
#include "fixture.h"

enum { N = 1300, M = 40, UNITS = 12, ITERATIONS = 6 };

/* The numbers of a fit: loadings, noise, scale, history. */
struct result {
    double loadings[M * UNITS], noise[M], scale[UNITS], objective[ITERATIONS];
};

static struct result result_of(const rb_model *model) {
    struct result r;
    memcpy(r.loadings, rb_model_array(model, "loadings", NULL, NULL), sizeof r.loadings);
    memcpy(r.noise, rb_model_array(model, "noise", NULL, NULL), sizeof r.noise);
    memcpy(r.scale, rb_model_array(model, "scale", NULL, NULL), sizeof r.scale);
    for (int64_t t = 0; t < ITERATIONS; t++) {
        double o, seconds;
        rb_model_history(model, t, &r.objective[t], &o, &seconds);
    }
    return r;
}

static struct result fit_source(rb_context *ctx, rb_source *source, int precision) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(ITERATIONS, precision);
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    struct result r = result_of(model);
    rb_model_free(model);
    return r;
}

/* Values with many zeros, and the same as compressed rows. */
struct data {
    double dense[N * M];
    int64_t starts[N + 1];
    int32_t columns[N * M];
    double stored[N * M];
};

static struct data *make_data(void) {
    struct data *d = calloc(1, sizeof *d);
    double *values = fixture_values(N, M, 5, 3);
    int64_t entries = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++) {
            double x = values[i * M + k] > 0.8 ? (double)(float)values[i * M + k] : 0;
            d->dense[i * M + k] = x;
            if (x != 0) {
                d->columns[entries] = (int32_t)k;
                d->stored[entries++] = x;
            }
        }
        d->starts[i + 1] = entries;
    }
    free(values);
    return d;
}

static struct result fit_matrix(const rb_matrix *matrix, int threads, int precision) {
    rb_context *ctx = fixture_context();
    rb_source *source;
    assert_ok(ctx, rb_context_set_threads(ctx, threads));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    struct result r = fit_source(ctx, source, precision);
    rb_source_free(source);
    rb_context_free(ctx);
    return r;
}

static void assert_same_bits(const struct result *a, const struct result *b) {
    assert_memory_equal(a, b, sizeof *a);
}

static void assert_near(const struct result *a, const struct result *b, double relative) {
    const double *x = (const double *)a, *y = (const double *)b;
    for (size_t i = 0; i < sizeof *a / sizeof *x; i++)
        assert_close(x[i], y[i], relative);
}

static rb_matrix *dense_matrix(rb_context *ctx, const struct data *d) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, d->dense, M, 1, &matrix));
    return matrix;
}

static rb_matrix *sparse_matrix(rb_context *ctx, const struct data *d) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, M, d->starts, d->columns, d->stored, &matrix));
    return matrix;
}

/* The same bits for 1, 2, 3 and 8 threads, dense and sparse, float32 and float64. */
static void threads(void **state) {
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *matrices[] = {dense_matrix(ctx, d), sparse_matrix(ctx, d)};
    for (int form = 0; form < 2; form++) {
        for (int precision = RB_FLOAT32; precision <= RB_FLOAT64; precision++) {
            struct result one = fit_matrix(matrices[form], 1, precision);
            static const int many[] = {2, 3, 8};
            for (int t = 0; t < 3; t++) {
                struct result r = fit_matrix(matrices[form], many[t], precision);
                assert_same_bits(&one, &r);
            }
        }
        rb_matrix_free(matrices[form]);
    }
    free(d);
}

static rb_error read_rows(void *user, int64_t first, int64_t count, void *rows) {
    memcpy(rows, (const double *)user + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

/* Streamed or in memory, strided or not: the same bits. */
static void streams(void **state) {
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *dense = dense_matrix(ctx, d), *strided;
    struct result memory = fit_matrix(dense, 1, RB_FLOAT64);
    rb_source *source;
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, N, M, read_rows, d->dense, &source));
    struct result streamed = fit_source(ctx, source, RB_FLOAT64);
    assert_same_bits(&memory, &streamed);
    rb_source_free(source);
    double *transposed = malloc(sizeof d->dense);
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            transposed[k * N + i] = d->dense[i * M + k];
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, transposed, 1, N, &strided));
    struct result columns = fit_matrix(strided, 2, RB_FLOAT64);
    assert_near(&memory, &columns, 1e-10);
    rb_matrix_free(strided);
    rb_matrix_free(dense);
    free(transposed);
    free(d);
}

/* Dense against CSR: rounding only, 1e-10 in float64, 2e-3 in float32 after six iterations. */
static void forms(void **state) {
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *dense = dense_matrix(ctx, d), *sparse = sparse_matrix(ctx, d);
    struct result a = fit_matrix(dense, 1, RB_FLOAT64), b = fit_matrix(sparse, 1, RB_FLOAT64);
    assert_near(&a, &b, 1e-10);
    struct result c = fit_matrix(dense, 1, RB_FLOAT32), e = fit_matrix(sparse, 1, RB_FLOAT32);
    assert_near(&c, &e, 2e-3);
    assert_near(&a, &c, 2e-3);
    rb_matrix_free(dense);
    rb_matrix_free(sparse);
    free(d);
}

/* Samples in another order: the same fit within rounding. */
static void order_of_samples(void **state) {
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *dense = dense_matrix(ctx, d), *reversed;
    assert_ok(ctx,
              rb_matrix_dense(ctx, RB_FLOAT64, N, M, d->dense + (N - 1) * M, -M, 1, &reversed));
    struct result a = fit_matrix(dense, 1, RB_FLOAT64), b = fit_matrix(reversed, 1, RB_FLOAT64);
    assert_near(&a, &b, 1e-9);
    rb_matrix_free(dense);
    rb_matrix_free(reversed);
    free(d);
}

/* Units in another order at the start: the same units in that order at the end. */
static void order_of_units(void **state) {
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *dense = dense_matrix(ctx, d);
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, dense, &source));
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(3, RB_FLOAT64);
    rb_model *start, *plain, *turned;
    start = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    plain = fixture_model(ctx, "rfn", &options, &fit, NULL, source, start);
    double *w = (double *)rb_model_array(start, "loadings", NULL, NULL);
    for (int64_t k = 0; k < M; k++) {
        double last = w[k * UNITS + UNITS - 1];
        memmove(w + k * UNITS + 1, w + k * UNITS, (UNITS - 1) * sizeof *w);
        w[k * UNITS] = last;
    }
    turned = fixture_model(ctx, "rfn", &options, &fit, NULL, source, start);
    const double *a = rb_model_array(plain, "loadings", NULL, NULL);
    const double *b = rb_model_array(turned, "loadings", NULL, NULL);
    for (int64_t k = 0; k < M; k++)
        for (int64_t j = 0; j < UNITS; j++)
            assert_close(b[k * UNITS + (j + 1) % UNITS], a[k * UNITS + j], 1e-9);
    rb_model_free(start);
    rb_model_free(plain);
    rb_model_free(turned);
    rb_source_free(source);
    rb_matrix_free(dense);
    free(d);
}

/* Fewer samples than features, which takes the filter by its factors, and every one of them twice,
 * which does not: moments are means, so that the fit is the same. Dense and sparse. */
static void samples_twice(void **state) {
    enum { FEW = 30 };
    rb_context *ctx = *state;
    struct data *d = make_data();
    rb_matrix *few[2], *twice;
    double *rows = malloc(2 * FEW * M * sizeof *rows);
    memcpy(rows, d->dense, FEW * M * sizeof *rows);
    memcpy(rows + FEW * M, d->dense, FEW * M * sizeof *rows);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, FEW, M, d->dense, M, 1, &few[0]));
    assert_ok(ctx,
              rb_matrix_csr(ctx, RB_FLOAT64, FEW, M, d->starts, d->columns, d->stored, &few[1]));
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 2 * FEW, M, rows, M, 1, &twice));
    struct result b = fit_matrix(twice, 1, RB_FLOAT64);
    for (int form = 0; form < 2; form++) {
        struct result a = fit_matrix(few[form], 1, RB_FLOAT64);
        assert_near(&a, &b, 1e-9);
        rb_matrix_free(few[form]);
    }
    rb_matrix_free(twice);
    free(rows);
    free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads),        cmocka_unit_test(streams),
        cmocka_unit_test(forms),          cmocka_unit_test(order_of_samples),
        cmocka_unit_test(order_of_units), cmocka_unit_test(samples_twice),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
