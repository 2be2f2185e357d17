/* Writing HDF5: what is written is read back bit for bit with its names; results are added to an
 * AnnData file beside what was there. */
#include "../options.h"
#include "io_hdf5_test.h"

#include "io/hdf5_base.h"

enum { SAMPLES = 7, FEATURES = 3, UNITS = 2 };

static const char *const samples[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6"};
static const char *const features[] = {"one", "two", "\xce\xb2"};

/* A matrix with names; every value is awkward: a third, huge, tiny. */
static rb_matrix *example(rb_context *ctx, rb_type type) {
    rb_matrix *m;
    assert_int_equal(rb_matrix_new_dense(ctx, type, SAMPLES, FEATURES, &m), RB_OK);
    for (int64_t e = 0; e < SAMPLES * FEATURES; e++) {
        double value = (e % 3 == 0 ? 1e30 : e % 3 == 1 ? 1e-30 : -1) * (double)(e + 1) / 3;
        if (type == RB_FLOAT32)
            ((float *)m->values)[e] = (float)value;
        else
            ((double *)m->values)[e] = value;
    }
    assert_int_equal(rb_matrix_set_sample_names(ctx, m, samples, SAMPLES), RB_OK);
    assert_int_equal(rb_matrix_set_feature_names(ctx, m, features, FEATURES), RB_OK);
    return m;
}

/* Writes the matrix in blocks of `rows` rows. */
static rb_error write_file(rb_context *ctx, const char *path, const char *suffix,
                           const rb_matrix *m, bool named, int64_t rows) {
    rb_source *source;
    rb_matrix view;
    void *state;
    rb_error err = rb_source_from_matrix(ctx, m, &source);
    if (err) return err;
    rb_write_header header = {sizeof header, m->n_samples,          m->n_features,
                              m->type,       named ? source : NULL, named ? features : NULL,
                              m->sparse};
    err = rb_write_format_hdf5.open(ctx, path, suffix, &header, &state);
    for (int64_t first = 0; !err && first < m->n_samples; first += rows) {
        int64_t count = m->n_samples - first < rows ? m->n_samples - first : rows;
        err = source->read(source, ctx, first, count, &view);
        if (!err) err = rb_write_format_hdf5.add(ctx, state, &view);
        if (err) {
            rb_write_format_hdf5.close(ctx, state, true);
            state = NULL;
        }
    }
    if (!err) err = rb_write_format_hdf5.close(ctx, state, false);
    rb_source_free(source);
    return err;
}

static void assert_same(const rb_matrix *a, const rb_matrix *b) {
    assert_int_equal(a->n_samples, b->n_samples);
    assert_int_equal(a->n_features, b->n_features);
    for (int64_t i = 0; i < a->n_samples; i++)
        for (int64_t k = 0; k < a->n_features; k++)
            assert_true(rb_matrix_at(a, i, k) == rb_matrix_at(b, i, k));
}

static void assert_round_trip(rb_context *ctx, const char *suffix, const rb_matrix *m, bool named,
                              int64_t rows) {
    rb_matrix *back;
    const char *path = temporary(suffix);
    if (write_file(ctx, path, suffix, m, named, rows)) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(rb_format_hdf5.read(ctx, path, NULL, &back), RB_OK);
    assert_same(m, back);
    assert_int_equal(m->type, back->type);
    assert_int_equal(back->sparse, m->sparse && strcmp(suffix, ".h5ad") == 0);
    if (named) {
        for (int i = 0; i < SAMPLES; i++)
            assert_string_equal(rb_matrix_sample_name(back, i), samples[i]);
        assert_string_equal(rb_matrix_feature_name(back, 2), features[2]);
    } else if (strcmp(suffix, ".h5ad") == 0) { /* AnnData has names always: numbers from 0 */
        assert_string_equal(rb_matrix_sample_name(back, 1), "1");
    } else {
        assert_null(rb_matrix_sample_name(back, 0));
    }
    rb_matrix_free(back);
    unlink(path);
    assert_hdf5_closed();
}

/* Whichever allocation fails. */
static void assert_write_survives(rb_context *ctx, const rb_matrix *m, bool may_name) {
    const char *path = temporary("failing.h5ad");
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = write_file(ctx, path, ".h5ad", m, may_name && n % 2 == 0, 2);
        assert_hdf5_closed();
    }
    unlink(path);
}

static void test_round_trips(void **state) {
    static const char *const suffixes[] = {".h5", ".h5ad"};
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        rb_matrix *m = example(*state, (rb_type)type);
        for (int s = 0; s < 2; s++) {
            for (int64_t rows = 1; rows <= SAMPLES; rows += 3) {
                assert_round_trip(*state, suffixes[s], m, true, rows);
                assert_round_trip(*state, suffixes[s], m, false, rows);
            }
        }
        rb_matrix_free(m);
    }
}

/* Strides and sparse rows are laid out as plain rows; AnnData keeps sparse ones as they are. */
static void test_views(void **state) {
    rb_context *ctx = *state;
    static const double grid[] = {1, 2, 3, 4, 5, 6};
    static const int64_t starts[] = {0, 1, 1, 3};
    static const int32_t columns[] = {1, 0, 1};
    static const float values[] = {5, 6, 7};
    rb_matrix *m;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, 2, 3, grid, 1, 2, &m), RB_OK);
    assert_round_trip(ctx, ".h5", m, false, 2);
    rb_matrix_free(m);
    assert_int_equal(rb_matrix_csr(ctx, RB_FLOAT32, 3, 2, starts, columns, values, &m), RB_OK);
    assert_round_trip(ctx, ".h5", m, false, 2);
    for (int64_t rows = 1; rows < 4; rows++)
        assert_round_trip(ctx, ".h5ad", m, false, rows);
    assert_write_survives(ctx, m, false);
    rb_matrix_free(m);
}

/* A matrix without rows can be written, but not read as data. */
static void test_empty(void **state) {
    const char *path = temporary("empty.h5");
    rb_matrix *m, *back;
    assert_int_equal(rb_matrix_new_dense(*state, RB_FLOAT32, 0, 4, &m), RB_OK);
    assert_int_equal(write_file(*state, path, ".h5", m, false, 1), RB_OK);
    assert_int_equal(rb_format_hdf5.read(*state, path, NULL, &back), RB_ERROR_FORMAT);
    assert_non_null(strstr(rb_context_error(*state), "'X' is empty: it has 0 samples x 4"));
    unlink(path);
    rb_matrix_free(m);
}

static void test_write_allocation_failures(void **state) {
    rb_matrix *m = example(*state, RB_FLOAT64);
    assert_write_survives(*state, m, true);
    rb_matrix_free(m);
}

/* ---- results in AnnData ---- */

/* Features in use: genes 2 and 0 of another data set, and one that the file does not have. */
static const char *const used[] = {"NKG7", "CD4", "ABSENT"};
static double loadings[] = {1, 2, 3, 4, 5, 6};

typedef struct results {
    const rb_model *model;
    const rb_matrix *codes;
} results;

static rb_error add_results(rb_context *ctx, const char *input, const char *output,
                            const results *r) {
    return rb_model_annotate_as(ctx, r->model, r->codes, "X_rfn", input, output);
}

static results results_of(const rb_matrix *codes, const rb_names *names) {
    static const rb_method method = {.name = "rfn"};
    static rb_attribute settings[] = {{"eta", "0.1"}, {"seed", "7"}};
    static double centre[3], scale[3] = {1, 1, 1};
    static rb_preprocess preprocess[2]; /* without names, and with them */
    static rb_array array = {"loadings", 3, UNITS, loadings};
    static rb_model models[2];
    rb_preprocess *p = &preprocess[names != NULL];
    rb_model *model = &models[names != NULL];
    *p = (rb_preprocess){.n_features = 3,
                         .names = (rb_names *)names,
                         .n_input = 3,
                         .centre = centre,
                         .scale = scale};
    *model = (rb_model){.method = &method,
                        .attributes = settings,
                        .n_attributes = 2,
                        .arrays = &array,
                        .n_arrays = 1,
                        .preprocess = p};
    return (results){model, codes};
}

static rb_matrix *codes_of(rb_context *ctx, int64_t n, float first) {
    rb_matrix *codes;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT32, n, UNITS, &codes), RB_OK);
    for (int64_t e = 0; e < n * UNITS; e++)
        ((float *)codes->values)[e] = first + (float)e;
    return codes;
}

static rb_matrix *read_at(rb_context *ctx, const char *path, const char *dataset) {
    rb_matrix *m;
    rb_read_options options = {.dataset = dataset};
    assert_int_equal(rb_format_hdf5.read(ctx, path, &options, &m), RB_OK);
    return m;
}

static void assert_added(rb_context *ctx, const char *path, const rb_matrix *codes) {
    rb_matrix *m = read_at(ctx, path, "obsm/X_rfn");
    assert_same(m, codes);
    assert_int_equal(m->type, RB_FLOAT32);
    rb_matrix_free(m);
    rb_h5 *file;
    double varm[4 * UNITS];
    static const double expected[4 * UNITS] = {3, 4, 0, 0, 1, 2, 0, 0};
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
    assert_int_equal(rb_h5_get_values(file, "varm/rfn", 4 * UNITS, varm), RB_OK);
    assert_memory_equal(varm, expected, sizeof expected);
    char *text;
    assert_int_equal(rb_h5_get_text(file, "varm/rfn", "encoding-type", &text), RB_OK);
    assert_string_equal(text, "array");
    rb_free(text);
    assert_true(rb_h5_has(file, "uns/rfn/params/eta"));
    assert_true(rb_h5_has(file, "uns/note"));
    assert_true(rb_h5_has(file, "obsm/X_pca"));
    assert_int_equal(rb_h5_close(file), RB_OK);
    m = read_at(ctx, path, "layers/counts");
    assert_int_equal(rb_matrix_stored(m), 7);
    rb_matrix_free(m);
}

static void test_add_results(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("added.h5ad");
    rb_names *names = rb_names_copy(ctx, used, 3);
    rb_matrix *codes = codes_of(ctx, 5, 1), *later = codes_of(ctx, 5, 100);
    results wanted = results_of(codes, names);
    assert_int_equal(add_results(ctx, HDF5_DATA "csr.h5ad", path, &wanted), RB_OK);
    assert_added(ctx, path, codes);
    wanted.codes = later; /* in place, over the older results */
    assert_int_equal(add_results(ctx, path, path, &wanted), RB_OK);
    assert_added(ctx, path, later);
    unlink(path);
    rb_matrix_free(codes);
    rb_matrix_free(later);
    rb_names_free(names);
    assert_hdf5_closed();
}

/* Where obsm is one compound data set its arrays stay, as a group that others are added to. */
static void test_add_to_file_of_2018(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("added2018.h5ad");
    rb_names *names = rb_names_copy(ctx, used, 3);
    rb_matrix *codes = codes_of(ctx, 5, 1);
    results wanted = results_of(codes, names);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = add_results(ctx, HDF5_DATA "old2018.h5ad", path, &wanted);
        assert_true(err == RB_OK || access(path, F_OK) != 0);
        assert_hdf5_closed();
    }
    rb_matrix *pca = read_at(ctx, path, "obsm/X_pca"), *time = read_at(ctx, path, "obsm/time");
    assert_int_equal(rb_matrix_features(pca), 2);
    for (int i = 0; i < 5; i++) {
        assert_true(rb_matrix_at(pca, i, 0) == i && rb_matrix_at(pca, i, 1) == 2 * i);
        assert_true(rb_matrix_at(time, i, 0) == i);
    }
    rb_matrix *added = read_at(ctx, path, "obsm/X_rfn"), *x = read_at(ctx, path, "X");
    assert_int_equal(rb_matrix_samples(added), 5);
    assert_string_equal(rb_matrix_sample_name(x, 4), "cell4");
    rb_matrix_free(pca);
    rb_matrix_free(time);
    rb_matrix_free(added);
    rb_matrix_free(x);
    rb_matrix_free(codes);
    rb_names_free(names);
    unlink(path);
    assert_hdf5_closed();
}

static void assert_not_added(rb_context *ctx, const char *input, const results *r, rb_error code,
                             const char *words) {
    const char *path = temporary("refused.h5ad");
    unlink(path);
    assert_error(ctx, add_results(ctx, input, path, r), code, words);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_hdf5_closed();
}

static void test_add_is_refused(void **state) {
    rb_context *ctx = *state;
    rb_matrix *codes = codes_of(ctx, 5, 1), *few = codes_of(ctx, 4, 1);
    static const char *const others[] = {"x", "y", "z"};
    rb_names *names = rb_names_copy(ctx, others, 3);
    results unnamed = results_of(codes, NULL), short_of = results_of(few, names),
            foreign = results_of(codes, names);
    assert_not_added(ctx, HDF5_DATA "csr.h5ad", &unnamed, RB_ERROR_DATA, "4 variables");
    assert_not_added(ctx, HDF5_DATA "csr.h5ad", &short_of, RB_ERROR_DATA, "5 observations");
    assert_not_added(ctx, HDF5_DATA "csr.h5ad", &foreign, RB_ERROR_DATA, "none of the features");
    assert_not_added(ctx, HDF5_DATA "named.h5", &foreign, RB_ERROR_FORMAT, "not an AnnData file");
    assert_not_added(ctx, HDF5_DATA "absent.h5ad", &foreign, RB_ERROR_FILE, "cannot be copied");
    rb_matrix_free(codes);
    rb_matrix_free(few);
    rb_names_free(names);
}

static void test_add_allocation_failures(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("failing-add.h5ad");
    rb_names *names = rb_names_copy(ctx, used, 3);
    rb_matrix *codes = codes_of(ctx, 5, 1);
    results wanted = results_of(codes, names);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = add_results(ctx, HDF5_DATA "csr.h5ad", path, &wanted);
        assert_true(err == RB_OK || access(path, F_OK) != 0);
        assert_hdf5_closed();
    }
    assert_added(ctx, path, codes);
    unlink(path);
    rb_matrix_free(codes);
    rb_names_free(names);
}

/* A copy has the layer in the place of X, sparse as it is; what is no layer is left to others. */
static void test_copies(void **state) {
    rb_context *ctx = *state;
    const char *path = temporary("copied.h5ad");
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        err = rb_anndata_copy(ctx, HDF5_DATA "csr.h5ad", "/layers/counts", path);
        assert_true(err == RB_OK || access(path, F_OK) != 0);
        assert_hdf5_closed();
    }
    rb_read_options layer;
    fixture_default(rb_read_group(), &layer);
    layer.dataset = "layers/counts";
    rb_matrix *wanted, *found;
    assert_int_equal(
        rb_read(ctx, HDF5_DATA "csr.h5ad", fixture_of(rb_read_group(), &layer), &wanted), RB_OK);
    assert_int_equal(rb_read(ctx, path, NULL, &found), RB_OK);
    assert_true(rb_matrix_sparse(found));
    assert_same(wanted, found);
    rb_matrix_free(wanted);
    rb_matrix_free(found);
    unlink(path);
    assert_int_equal(rb_anndata_copy(ctx, HDF5_DATA "csr.h5ad", "raw/X", path),
                     RB_ERROR_UNSUPPORTED);
    assert_int_equal(rb_anndata_copy(ctx, HDF5_DATA "only.h5", NULL, path), RB_ERROR_UNSUPPORTED);
    assert_int_equal(rb_anndata_copy(ctx, HDF5_DATA "csr.h5ad", "layers/none", path),
                     RB_ERROR_FORMAT);
    assert_int_not_equal(access(path, F_OK), 0);
}

static int set_up(void **state) {
    *state = new_context();
    return 0;
}

static int tear_down(void **state) {
    rb_context_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),    cmocka_unit_test(test_views),
        cmocka_unit_test(test_empty),          cmocka_unit_test(test_write_allocation_failures),
        cmocka_unit_test(test_add_results),    cmocka_unit_test(test_add_to_file_of_2018),
        cmocka_unit_test(test_add_is_refused), cmocka_unit_test(test_add_allocation_failures),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
