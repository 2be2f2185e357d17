/* Several blocks of several tasks each: a fit is the same bits for any number of threads and
 * wherever the data lie, and so are the codes and metrics of its model. */
#include "fixture.h"
#include <rarebit/io.h>

#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

/* Blocks of rfn have at most 16 384 samples, tasks 512: three blocks, the last a part of one, with
 * a part of a task at its end. */
enum { N = 2 * 16384 + 5 * 512 + 100, M = 12, UNITS = 5, ITERATIONS = 3, CODED = 7 };

typedef struct data {
    double *dense;
    int64_t *starts;
    int32_t *columns;
    double *stored;
    int64_t entries;
} data;

static char folder[] = "/tmp/rarebit-streams-XXXXXX";
static data made;

/* Values with many zeros, and the same as compressed rows; all of them are float32. */
static data make_data(void) {
    data d = {.dense = fixture_values(N, M, 4, 9),
              .starts = calloc(N + 1, sizeof *d.starts),
              .columns = calloc((size_t)N * M, sizeof *d.columns),
              .stored = calloc((size_t)N * M, sizeof *d.stored)};
    for (int64_t e = 0; e < (int64_t)N * M; e++) {
        double x = d.dense[e] > 0.8 ? (double)(float)d.dense[e] : 0;
        d.dense[e] = x;
        if (x != 0) {
            d.columns[d.entries] = (int32_t)(e % M);
            d.stored[d.entries++] = x;
        }
        d.starts[e / M + 1] = d.entries;
    }
    return d;
}

/* ---- files ---- */

static void put_array(hid_t place, const char *name, hid_t type, int64_t count,
                      const void *values) {
    hsize_t size = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t array = H5Dcreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(array);
    H5Sclose(space);
}

/* "n0", "n1", ... */
static void put_names(hid_t place, const char *name, int64_t count) {
    enum { LENGTH = 8 };
    char *texts = calloc((size_t)count, LENGTH);
    for (int64_t i = 0; i < count; i++)
        snprintf(texts + i * LENGTH, LENGTH, "n%d", (int)i);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, LENGTH);
    put_array(place, name, type, count, texts);
    H5Tclose(type);
    free(texts);
}

/* The compressed rows as 10x Genomics stores them: read block by block. */
static void write_sparse(const char *path) {
    int64_t shape[] = {M, N};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "matrix", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t genes = H5Gcreate2(group, "features", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_array(group, "data", H5T_NATIVE_DOUBLE, made.entries, made.stored);
    put_array(group, "indices", H5T_NATIVE_INT32, made.entries, made.columns);
    put_array(group, "indptr", H5T_NATIVE_INT64, N + 1, made.starts);
    put_array(group, "shape", H5T_NATIVE_INT64, 2, shape);
    put_names(group, "barcodes", N);
    put_names(genes, "name", M);
    H5Gclose(genes);
    H5Gclose(group);
    assert_true(H5Fclose(file) >= 0);
}

/* ---- results ---- */

/* What a fit and the use of its model give. */
typedef struct result {
    double loadings[M * UNITS], noise[M], scale[UNITS], objective[ITERATIONS];
    double metrics[CODED];
    double codes; /* a sum that sees the order of their bits */
} result;

static rb_error add_codes(void *user, int64_t first, const rb_matrix *rows) {
    double *sum = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t j = 0; j < UNITS; j++)
            *sum += rb_matrix_at(rows, i, j) * (double)(1 + (first + i) % 1009 + j);
    return RB_OK;
}

static void describe(rb_context *ctx, const rb_model *model, rb_source *source, result *r) {
    memcpy(r->loadings, rb_model_array(model, "loadings", NULL, NULL), sizeof r->loadings);
    memcpy(r->noise, rb_model_array(model, "noise", NULL, NULL), sizeof r->noise);
    memcpy(r->scale, rb_model_array(model, "scale", NULL, NULL), sizeof r->scale);
    for (int64_t t = 0; t < ITERATIONS; t++)
        rb_model_history(model, t, &r->objective[t], NULL, NULL);
    rb_evaluation e;
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    double metrics[CODED] = {e.sparseness,        e.reconstruction_error, e.covariance_error,
                             e.objective,         e.log_likelihood,       e.estep_objective,
                             e.mean_squared_error};
    memcpy(r->metrics, metrics, sizeof metrics);
    assert_ok(ctx, rb_encode(ctx, model, source, add_codes, &r->codes));
}

static result fit(const char *path, const rb_matrix *matrix, int threads, int precision) {
    rb_context *ctx = fixture_context();
    rb_source *source;
    assert_ok(ctx, rb_context_set_threads(ctx, threads));
    assert_ok(ctx, path ? rb_open(ctx, path, NULL, &source)
                        : rb_source_from_matrix(ctx, matrix, &source));
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options wanted = fixture_fit(ITERATIONS, precision);
    result r = {.codes = 0};
    rb_model *model = fixture_model(ctx, "rfn", &options, &wanted, NULL, source, NULL);
    describe(ctx, model, source, &r);
    rb_model_free(model);
    rb_source_free(source);
    rb_context_free(ctx);
    return r;
}

/* The same bits from memory with one thread as from each place with each number of threads. */
static result assert_one_result(const rb_matrix *matrix, const char *const *paths, int precision) {
    static const int threads[] = {1, 2, 3, 8};
    result first = fit(NULL, matrix, 1, precision);
    for (int t = 0; t < 4; t++) {
        result r = fit(NULL, matrix, threads[t], precision);
        assert_memory_equal(&r, &first, sizeof r);
        for (const char *const *path = paths; *path; path++) {
            result from_file = fit(*path, NULL, threads[t], precision);
            assert_memory_equal(&from_file, &first, sizeof from_file);
        }
    }
    assert_true(first.codes != 0 && isfinite(first.codes));
    return first;
}

static result dense(rb_context *ctx, int precision) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, made.dense, M, 1, &matrix));
    static const char *const paths[] = {"x.npy", "x.h5", NULL};
    result r = assert_one_result(matrix, paths, precision);
    rb_matrix_free(matrix);
    return r;
}

static result sparse(rb_context *ctx, int precision) {
    rb_matrix *matrix;
    assert_ok(
        ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, M, made.starts, made.columns, made.stored, &matrix));
    static const char *const paths[] = {"cells.h5", NULL};
    result r = assert_one_result(matrix, paths, precision);
    rb_matrix_free(matrix);
    return r;
}

/* Within a form the same bits; between the forms rounding. */
static void same_bits(void **state) {
    (void)state;
    static const struct {
        int precision;
        double tolerance;
    } cases[] = {{RB_FLOAT32, 2e-3}, {RB_FLOAT64, 1e-9}};
    rb_context *ctx = fixture_context();
    for (int c = 0; c < 2; c++) {
        result a = dense(ctx, cases[c].precision), b = sparse(ctx, cases[c].precision);
        const double *x = (const double *)&a, *y = (const double *)&b;
        for (size_t i = 0; i < offsetof(result, codes) / sizeof *x; i++)
            assert_close(x[i], y[i], cases[c].tolerance);
    }
    rb_context_free(ctx);
}

/* The shape is what it was chosen for. */
static void several_blocks_of_several_tasks(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    for (int s = 0; s < 2; s++) {
        rb_problem problem = {.n_samples = N, .n_features = M, .sparse = s == 1};
        int64_t block = rb_find_method(ctx, "rfn")->block_samples(&problem, &options);
        assert_true(block < N / 2 && block >= 4 * 512 && N % block != 0 && N % 512 != 0);
    }
    rb_context_free(ctx);
}

static int setup(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    made = make_data();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    rb_source *source = fixture_data(ctx, made.dense, N, M);
    assert_ok(ctx, rb_write(ctx, source, "x.npy"));
    assert_ok(ctx, rb_write(ctx, source, "x.h5"));
    write_sparse("cells.h5");
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    free(made.dense);
    free(made.starts);
    free(made.columns);
    free(made.stored);
    if (chdir(folder)) return -1; /* it was not made: nothing here is the test's */
    return remove("x.npy") || remove("x.h5") || remove("cells.h5") || chdir("/") || rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_blocks_of_several_tasks),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
