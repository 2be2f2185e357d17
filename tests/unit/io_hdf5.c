/* Reading HDF5: every layout gives the matrix and names that h5py wrote; whole and streamed agree;
 * damaged files give a message. */
#include "../options.h"
#include "io_hdf5_test.h"

#include "io/hdf5_place.h"

#include <math.h>

static rb_error read_file(rb_context *ctx, const char *path, const char *dataset,
                          rb_matrix **matrix) {
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.dataset = dataset;
    return rb_format_hdf5.read(ctx, path, &options, matrix);
}

static rb_matrix *read_good(rb_context *ctx, const char *name, const char *dataset) {
    rb_matrix *matrix;
    char path[512];
    snprintf(path, sizeof path, "%s%s", HDF5_DATA, name);
    if (read_file(ctx, path, dataset, &matrix)) fail_msg("%s", rb_context_error(ctx));
    assert_hdf5_closed();
    return matrix;
}

static double dense_cell(int64_t i, int64_t k) {
    return (double)(10 * i + k);
}

static double sparse_cell(int64_t i, int64_t k) {
    return (i + k) % 3 == 0 ? (double)(10 * i + k + 1) : 0;
}

static void assert_cells(const rb_matrix *m, int64_t samples, int64_t features,
                         double (*cell)(int64_t, int64_t)) {
    assert_int_equal(rb_matrix_samples(m), samples);
    assert_int_equal(rb_matrix_features(m), features);
    for (int64_t i = 0; i < samples; i++)
        for (int64_t k = 0; k < features; k++)
            assert_true(rb_matrix_at(m, i, k) == cell(i, k));
}

static void test_types(void **state) {
    static const struct {
        const char *dataset;
        rb_type type;
    } cases[] = {{"f2", RB_FLOAT32},          {"f4", RB_FLOAT32}, {"f8", RB_FLOAT64},
                 {"be_f8", RB_FLOAT64},       {"i1", RB_FLOAT32}, {"u2", RB_FLOAT32},
                 {"/i4", RB_FLOAT64},         {"u8", RB_FLOAT64}, {"be_i8", RB_FLOAT64},
                 {"group/packed", RB_FLOAT64}};
    rb_context *ctx = *state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_matrix *m = read_good(ctx, "types.h5", cases[c].dataset);
        assert_cells(m, 3, 4, dense_cell);
        assert_int_equal(rb_matrix_type(m), cases[c].type);
        assert_null(rb_matrix_sample_name(m, 0));
        rb_matrix_free(m);
    }
}

static void test_only_matrix(void **state) {
    rb_matrix *m = read_good(*state, "only.h5", NULL);
    assert_cells(m, 3, 4, dense_cell);
    rb_matrix_free(m);
}

static void test_plain_names(void **state) {
    rb_matrix *m = read_good(*state, "named.h5", NULL);
    assert_cells(m, 3, 4, dense_cell);
    assert_string_equal(rb_matrix_sample_name(m, 2), "ccc");
    assert_string_equal(rb_matrix_feature_name(m, 2), "\xce\xb2");
    rb_matrix_free(m);
}

static const char *const genes[] = {"CD4", "CD8A", "NKG7", "MS4A1", "EXTRA"};

static void assert_cell_and_gene_names(const rb_matrix *m) {
    for (int64_t i = 0; i < rb_matrix_samples(m); i++) {
        char name[16];
        snprintf(name, sizeof name, "cell%d", (int)i);
        assert_string_equal(rb_matrix_sample_name(m, i), name);
    }
    for (int64_t k = 0; k < rb_matrix_features(m); k++)
        assert_string_equal(rb_matrix_feature_name(m, k), genes[k]);
}

static void test_anndata_dense(void **state) {
    rb_matrix *m = read_good(*state, "dense.h5ad", NULL);
    assert_false(rb_matrix_sparse(m));
    assert_true(isnan(rb_matrix_at(m, 4, 0))); /* kept: preprocessing decides */
    assert_true(rb_matrix_at(m, 3, 3) == sparse_cell(3, 3));
    assert_cell_and_gene_names(m);
    rb_matrix_free(m);
}

static void test_anndata_sparse(void **state) {
    static const struct {
        const char *name, *dataset;
        rb_type type;
    } cases[] = {{"csr.h5ad", NULL, RB_FLOAT32},
                 {"csr.h5ad", "layers/counts", RB_FLOAT32},
                 {"old.h5ad", "/X", RB_FLOAT32}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_matrix *m = read_good(*state, cases[c].name, cases[c].dataset);
        assert_true(rb_matrix_sparse(m));
        assert_int_equal(rb_matrix_type(m), cases[c].type);
        assert_cells(m, 5, 4, sparse_cell);
        assert_int_equal(rb_matrix_stored(m), 7);
        assert_cell_and_gene_names(m);
        rb_matrix_free(m);
    }
}

static void test_anndata_raw_and_obsm(void **state) {
    rb_matrix *m = read_good(*state, "csr.h5ad", "raw/X");
    assert_int_equal(rb_matrix_features(m), 5);
    assert_cell_and_gene_names(m);
    rb_matrix_free(m);
    m = read_good(*state, "csr.h5ad", "obsm/X_pca");
    assert_string_equal(rb_matrix_sample_name(m, 4), "cell4");
    assert_null(rb_matrix_feature_name(m, 0));
    rb_matrix_free(m);
}

/* What h5py packs with LZF, beside other filters, in parts, and where LZF gave up. */
static void test_lzf(void **state) {
    rb_context *ctx = *state;
    static const char *const datasets[] = {NULL, "layers/shuffled", "layers/checked",
                                           "layers/sparse"};
    for (int d = 0; d < 4; d++) {
        rb_matrix *m = read_good(ctx, "lzf.h5ad", datasets[d]);
        assert_cells(m, 5, 4, sparse_cell);
        assert_cell_and_gene_names(m);
        rb_matrix_free(m);
    }
    rb_matrix *m = read_good(ctx, "lzf.h5ad", "layers/holes");
    assert_true(rb_matrix_at(m, 0, 0) == 1 && rb_matrix_at(m, 1, 1) == 1);
    assert_true(rb_matrix_at(m, 0, 2) == 7 && rb_matrix_at(m, 4, 3) == 7); /* the fill value */
    rb_matrix_free(m);
    m = read_good(ctx, "lzf.h5ad", "layers/noise");
    double sum = 0;
    for (int i = 0; i < 20; i++)
        sum += rb_matrix_at(m, i / 4, i % 4) * (i + 1);
    assert_true(sum == 32188);
    rb_matrix_free(m);
}

/* Texts of 20 bytes in chunks of two, of which only the first was written: HDF5, which lacks the
 * filter, is handed the chunk as LZF leaves it that gave up. */
static void test_lzf_long_texts(void **state) {
    enum { LENGTH = 20 };
    static const char written[2][LENGTH] = {"first text, 20 bytes", "other text, 20 bytes"};
    static const char none[LENGTH];
    const char *path = temporary("texts.h5");
    hsize_t shape = 4, chunk = 2, offset = 0;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &shape, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t text = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(text, LENGTH) >= 0 && H5Pset_chunk(list, 1, &chunk) >= 0);
    assert_true(H5Pset_filter(list, 32000, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
    hid_t id = H5Dcreate2(file, "x", text, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(id, H5P_DEFAULT, 1, &offset, sizeof written, written) >= 0);
    H5Dclose(id);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
    char values[4][LENGTH];
    rb_h5 *h5;
    rb_h5_data data;
    assert_int_equal(rb_h5_open(*state, path, RB_H5_SHARED, &h5), RB_OK);
    assert_int_equal(rb_h5_data_open(h5, "x", &data), RB_OK);
    assert_int_equal(rb_h5_data_read(&data, 0, 4, text, values), RB_OK);
    rb_h5_data_close(&data);
    rb_h5_close(h5);
    H5Tclose(text);
    assert_int_equal(unlink(path), 0);
    assert_memory_equal(values, written, sizeof written);
    assert_memory_equal(values[2], none, LENGTH);
    assert_memory_equal(values[3], none, LENGTH);
}

/* Every byte of a packed chunk counts where it has a checksum; elsewhere nothing but an error or
 * other numbers may come of it. */
static void test_damaged_lzf(void **state) {
    static const char *const datasets[] = {"layers/checked", "X"};
    const char *copy = temporary("lzf.h5ad");
    size_t size;
    char *bytes = slurp(HDF5_DATA "lzf.h5ad", &size);
    for (int d = 0; d < 2; d++) {
        hsize_t corner[2] = {0, 0}, length;
        haddr_t address;
        unsigned skipped;
        hid_t file = H5Fopen(HDF5_DATA "lzf.h5ad", H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t data = H5Dopen2(file, datasets[d], H5P_DEFAULT);
        assert_true(H5Dget_chunk_info_by_coord(data, corner, &skipped, &address, &length) >= 0);
        H5Dclose(data);
        H5Fclose(file);
        for (hsize_t i = 0; i < length; i++) {
            rb_matrix *m;
            bytes[address + i] ^= (char)(1 << i % 8);
            spit(copy, bytes, size);
            rb_error err = read_file(*state, copy, datasets[d], &m);
            assert_true(err == RB_ERROR_FORMAT || (d == 1 && err == RB_OK));
            rb_matrix_free(m);
            bytes[address + i] ^= (char)(1 << i % 8);
        }
    }
    unlink(copy);
    free(bytes);
    assert_hdf5_closed();
}

/* The layout of anndata 0.6. */
static void test_anndata_2018(void **state) {
    rb_matrix *m = read_good(*state, "old2018.h5ad", NULL);
    assert_cells(m, 5, 4, sparse_cell);
    assert_cell_and_gene_names(m);
    rb_matrix_free(m);
}

static void test_tenx(void **state) {
    static const char *const unique[] = {"A", "B", "A-2", "A-1"}; /* "A-1" is taken */
    rb_matrix *m = read_good(*state, "tenx_v3.h5", NULL);
    assert_cells(m, 5, 4, sparse_cell);
    for (int k = 0; k < 4; k++)
        assert_string_equal(rb_matrix_feature_name(m, k), unique[k]);
    assert_string_equal(rb_matrix_sample_name(m, 4), "cell4");
    rb_matrix_free(m);
    m = read_good(*state, "tenx_v2.h5", NULL);
    assert_cells(m, 5, 4, sparse_cell);
    assert_cell_and_gene_names(m);
    rb_matrix_free(m);
    m = read_good(*state, "tenx_v2.h5", "GRCh38");
    assert_cells(m, 5, 4, sparse_cell);
    rb_matrix_free(m);
}

static void test_unique_names(void **state) {
    static const char *const before[] = {"a", "a", "b", "a-1", "a", "a-1", "b"};
    static const char *const after[] = {"a", "a-2", "b", "a-1", "a-3", "a-1-1", "b-1"};
    rb_names *names = rb_names_copy(*state, before, 7);
    assert_int_equal(rb_names_make_unique(*state, &names), RB_OK);
    for (int i = 0; i < 7; i++)
        assert_string_equal(names->text[i], after[i]);
    rb_names_free(names);
}

/* ---- streams ---- */

static const struct {
    const char *name, *dataset;
} streams[] = {{"types.h5", "f2"},
               {"types.h5", "group/packed"},
               {"named.h5", NULL},
               {"dense.h5ad", NULL},
               {"lzf.h5ad", "layers/checked"},
               {"lzf.h5ad", "layers/sparse"},
               {"lzf.h5ad", NULL},
               {"csr.h5ad", NULL},
               {"csr.h5ad", "raw/X"},
               {"tenx_v3.h5", NULL},
               {"only.h5", NULL},
               {"types.h5", "be_i8"}};

static bool same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void assert_block(rb_context *ctx, rb_source *source, const rb_matrix *whole, int64_t first,
                         int64_t count) {
    rb_matrix view;
    assert_int_equal(source->read(source, ctx, first, count, &view), RB_OK);
    assert_int_equal(view.n_samples, count);
    assert_int_equal(view.sparse, whole->sparse);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < whole->n_features; k++)
            assert_true(same(rb_matrix_at(&view, i, k), rb_matrix_at(whole, first + i, k)));
}

/* Every stretch of a stream is that stretch of the matrix, in any order of asking. */
static void test_streams(void **state) {
    rb_context *ctx = *state;
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++) {
        rb_source *source;
        rb_read_options options;
        char path[512];
        rb_matrix *whole = read_good(ctx, streams[s].name, streams[s].dataset);
        fixture_default(rb_read_group(), &options);
        options.dataset = streams[s].dataset;
        snprintf(path, sizeof path, "%s%s", HDF5_DATA, streams[s].name);
        assert_int_equal(rb_format_hdf5.open(ctx, path, &options, &source), RB_OK);
        assert_int_equal(rb_source_samples(source), whole->n_samples);
        assert_int_equal(rb_source_type(source), whole->type);
        for (int64_t first = whole->n_samples; first >= 0; first--)
            for (int64_t count = 0; first + count <= whole->n_samples; count++)
                assert_block(ctx, source, whole, first, count);
        const char *name = rb_matrix_sample_name(whole, 1);
        if (name) assert_string_equal(rb_source_sample_name(source, 1), name);
        rb_source_free(source);
        rb_matrix_free(whole);
        assert_hdf5_closed();
    }
}

static void test_columns_are_read_whole(void **state) {
    rb_source *source;
    rb_error err = rb_format_hdf5.open(*state, HDF5_DATA "old.h5ad", NULL, &source);
    assert_int_equal(err, RB_ERROR_UNSUPPORTED);
    assert_null(source);
    assert_hdf5_closed();
}

/* A source may be freed after its context. */
static void test_source_outlives_context(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_source *source;
    assert_int_equal(rb_format_hdf5.open(ctx, HDF5_DATA "csr.h5ad", NULL, &source), RB_OK);
    rb_context_free(ctx);
    rb_source_free(source);
    assert_hdf5_closed();
}

/* ---- what is refused ---- */

static void assert_refused(rb_context *ctx, const char *name, const char *dataset, rb_error code,
                           const char *words) {
    rb_matrix *matrix;
    char path[512];
    snprintf(path, sizeof path, "%s%s", HDF5_DATA, name);
    assert_int_equal(read_file(ctx, path, dataset, &matrix), code);
    assert_null(matrix);
    if (!strstr(rb_context_error(ctx), words) || !strstr(rb_context_error(ctx), name))
        fail_msg("the sentence is '%s'", rb_context_error(ctx));
    assert_hdf5_closed();
}

static void test_refused(void **state) {
    rb_context *ctx = *state;
    assert_refused(ctx, "types.h5", NULL, RB_ERROR_ARGUMENT,
                   "the option `dataset`: 'be_f8' (3 x 4), 'be_i8'");
    assert_refused(ctx, "types.h5", "nothing", RB_ERROR_FORMAT, "there is no 'nothing'");
    assert_refused(ctx, "types.h5", "vector", RB_ERROR_FORMAT, "1 dimension");
    assert_refused(ctx, "types.h5", "cube", RB_ERROR_FORMAT, "3 dimension");
    assert_refused(ctx, "types.h5", "words", RB_ERROR_FORMAT, "holds no numbers");
    assert_refused(ctx, "types.h5", "group", RB_ERROR_FORMAT, "not a sparse matrix");
    assert_refused(ctx, "bad_indptr.h5ad", NULL, RB_ERROR_FORMAT, "must ascend from 0 to 7");
    assert_refused(ctx, "bad_indices.h5ad", NULL, RB_ERROR_FORMAT, "must be below 4");
    assert_refused(ctx, "bad_names.h5ad", NULL, RB_ERROR_FORMAT, "'obs' has 5 names");
    assert_refused(ctx, "bad_shape.h5ad", NULL, RB_ERROR_FORMAT, "names, but");
    assert_refused(ctx, "bad_claim.h5", NULL, RB_ERROR_FORMAT, "no matrix of numbers");
    assert_refused(ctx, "bad_claim.h5", "huge", RB_ERROR_MEMORY, "too large");
    assert_refused(ctx, "absent.h5", NULL, RB_ERROR_FILE, "there is no such file");
    assert_refused(ctx, "", NULL, RB_ERROR_FILE, "it is a folder");
}

static const char *const whole_files[] = {"types.h5",   "csr.h5ad",   "old.h5ad",
                                          "tenx_v3.h5", "tenx_v2.h5", "lzf.h5ad"};

/* A file cut off anywhere is refused or, where only unused bytes are missing, gives what it
 * holds. */
/* A file of one data set of zeros that are not stored, in chunks of that size. */
static void put_zeros(const char *path, hsize_t size, hsize_t chunk) {
    hsize_t shape[2] = {size, size}, max[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    hsize_t chunks[2] = {chunk, chunk};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, shape, max), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, chunks);
    hid_t data = H5Dcreate2(file, "X", H5T_NATIVE_INT8, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Dclose(data);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
}

/* A data set must not claim more than so many times what is stored, whether it is read whole or by
 * blocks, nor have chunks that are larger. */
static void test_expansion(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    const char *path = temporary("zeros.h5");
    rb_matrix *matrix;
    rb_source *source;
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.dataset = "X";
    put_zeros(path, 600, 10);
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source), RB_OK);
    rb_source_free(source);
    assert_int_equal(rb_context_set_max_expansion(ctx, 1), RB_OK); /* 256 kB of a small file */
    assert_error(ctx, rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source),
                 RB_ERROR_FORMAT, "claims 360000 bytes, but only 0 are stored");
    assert_non_null(strstr(rb_context_error(ctx), "raise `max-expansion`"));
    assert_int_equal(rb_read(ctx, path, fixture_of(rb_read_group(), &options), &matrix),
                     RB_ERROR_FORMAT);
    put_zeros(path, 300, 10); /* 90 kB, but four times as much as numbers */
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source), RB_OK);
    rb_source_free(source);
    assert_error(ctx, rb_read(ctx, path, fixture_of(rb_read_group(), &options), &matrix),
                 RB_ERROR_MEMORY, "would need more than 256 kB of memory");
    put_zeros(path, 10, 600);
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source),
                     RB_ERROR_MEMORY);
    rb_context_free(ctx);
    assert_hdf5_closed();
    remove(path);
}

static void test_truncated(void **state) {
    rb_context *ctx = *state;
    for (size_t f = 0; f < sizeof whole_files / sizeof *whole_files; f++) {
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s%s", HDF5_DATA, whole_files[f]);
        char *bytes = slurp(path, &size);
        const char *copy = temporary("truncated.h5");
        for (size_t length = 0; length < size; length += 64) {
            rb_matrix *matrix;
            spit(copy, bytes, length);
            rb_error err = read_file(ctx, copy, f == 0 ? "f8" : NULL, &matrix);
            assert_int_equal(err == RB_OK, matrix != NULL);
            assert_true(err == RB_OK || rb_context_error(ctx)[0] != '\0');
            rb_matrix_free(matrix);
        }
        unlink(copy);
        free(bytes);
    }
    assert_hdf5_closed();
}

static void test_allocation_failures(void **state) {
    rb_context *ctx = *state;
    for (size_t f = 1; f < sizeof whole_files / sizeof *whole_files; f++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", HDF5_DATA, whole_files[f]);
        rb_matrix *matrix = NULL;
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            err = read_file(ctx, path, NULL, &matrix);
            if (err) assert_null(matrix);
        }
        rb_matrix_free(matrix);
    }
    assert_hdf5_closed();
}

static rb_error open_and_read(rb_context *ctx, const char *path) {
    rb_source *source;
    rb_matrix view;
    rb_error err = rb_format_hdf5.open(ctx, path, NULL, &source);
    if (err) {
        assert_null(source);
        return err;
    }
    err = source->read(source, ctx, 1, 3, &view);
    rb_source_free(source);
    return err;
}

static void test_allocation_failures_of_streams(void **state) {
    rb_context *ctx = *state;
    static const char *const paths[] = {HDF5_DATA "csr.h5ad", HDF5_DATA "dense.h5ad"};
    for (int f = 0; f < 2; f++) {
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++)
            err = open_and_read(ctx, paths[f]);
    }
    assert_hdf5_closed();
}

static herr_t own_printer(hid_t stack, void *data) {
    (void)stack;
    (void)data;
    return 0;
}

/* A program's own printer of HDF5 errors is silent during our calls and back afterwards. */
static void test_error_printer_is_restored(void **state) {
    int called = 0;
    H5E_auto2_t printer;
    void *data;
    rb_matrix *matrix;
    H5Eset_auto2(H5E_DEFAULT, own_printer, &called);
    assert_int_equal(read_file(*state, HDF5_DATA "types.h5", "nothing", &matrix), RB_ERROR_FORMAT);
    H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    assert_true(printer == own_printer && data == &called);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void test_recognise(void **state) {
    (void)state;
    rb_probe probe = {.n_bytes = 8};
    memcpy(probe.bytes, "\x89HDF\r\n\x1a\n", 8);
    assert_true(rb_format_hdf5.recognise(&probe));
    probe.n_bytes = 7;
    assert_false(rb_format_hdf5.recognise(&probe));
    probe.n_bytes = 8;
    probe.gzip = true;
    assert_false(rb_format_hdf5.recognise(&probe));
}

/* A walk over a compressed data set unpacks all of it; others are read as they are. */
static void test_unpacked(void **state) {
    static const struct {
        const char *file, *dataset;
        int64_t bytes;
    } sets[] = {
        {"types.h5", "group/packed", 3 * 4 * 8}, {"types.h5", "f8", 0}, {"csr.h5ad", NULL, 0}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[512];
        rb_source *source;
        rb_read_options options;
        fixture_default(rb_read_group(), &options);
        options.dataset = sets[i].dataset;
        snprintf(path, sizeof path, "%s%s", HDF5_DATA, sets[i].file);
        assert_int_equal(rb_open(*state, path, fixture_of(rb_read_group(), &options), &source),
                         RB_OK);
        assert_int_equal(rb_source_unpacked(source), sets[i].bytes);
        rb_source_free(source);
    }
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
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_only_matrix),
        cmocka_unit_test(test_plain_names),
        cmocka_unit_test(test_anndata_dense),
        cmocka_unit_test(test_anndata_sparse),
        cmocka_unit_test(test_anndata_raw_and_obsm),
        cmocka_unit_test(test_lzf),
        cmocka_unit_test(test_lzf_long_texts),
        cmocka_unit_test(test_damaged_lzf),
        cmocka_unit_test(test_anndata_2018),
        cmocka_unit_test(test_tenx),
        cmocka_unit_test(test_unique_names),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_unpacked),
        cmocka_unit_test(test_columns_are_read_whole),
        cmocka_unit_test(test_source_outlives_context),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_allocation_failures_of_streams),
        cmocka_unit_test(test_error_printer_is_restored),
        cmocka_unit_test(test_recognise),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
