/* Chunks of HDF5: those that do not unpack to a whole chunk are refused, and all others give what
 * HDF5 itself gives, whatever types, shapes and filters. */
#include "../options.h"
#include "io_hdf5_test.h"

#include "io/hdf5_base.h"

#include <zlib.h>

static rb_context *ctx;

static rb_error read_whole(const char *path, rb_matrix **matrix) {
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.dataset = "X";
    return rb_read(ctx, path, fixture_of(rb_read_group(), &options), matrix);
}

/* ---- chunks of another length ---- */

enum { ROWS = 100, COLUMNS = 60, BYTES = ROWS * COLUMNS * 4 };

enum filters { NONE = 0, SHUFFLE = 1, DEFLATE = 2, CHECKSUM = 4, ALL = 8 };
enum unchecked { NBIT, SCALEOFFSET, SZIP, UNCHECKED };

static hid_t chunks_of(int filters, const hsize_t *chunk) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 2, chunk) >= 0);
    assert_true(!(filters & SHUFFLE) || H5Pset_shuffle(list) >= 0);
    assert_true(!(filters & DEFLATE) || H5Pset_deflate(list, 4) >= 0);
    assert_true(!(filters & CHECKSUM) || H5Pset_fletcher32(list) >= 0);
    return list;
}

/* Two rows of chunks, of which the second has these bytes. */
static void put_chunk(const char *path, int filters, uint32_t skipped, const void *bytes,
                      size_t count) {
    hsize_t shape[2] = {2 * ROWS, COLUMNS}, chunk[2] = {ROWS, COLUMNS}, offset[2] = {ROWS, 0};
    static float zeros[2 * ROWS * COLUMNS];
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t list = chunks_of(filters, chunk), space = H5Screate_simple(2, shape, NULL);
    hid_t data = H5Dcreate2(file, "X", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    hsize_t first[2] = {0, 0}, size[2] = {ROWS, COLUMNS};
    hid_t memory = H5Screate_simple(2, size, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, size, NULL) >= 0);
    assert_true(H5Dwrite(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, zeros) >= 0);
    assert_true(H5Dwrite_chunk(data, H5P_DEFAULT, skipped, offset, count, bytes) >= 0);
    H5Sclose(memory);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
    assert_true(H5Fclose(file) >= 0);
}

static void assert_refused(const char *path) {
    static const char says[] = "a chunk of the data set 'X' is damaged: ";
    rb_matrix *m, view;
    rb_source *source;
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.dataset = "X";
    assert_error(ctx, read_whole(path, &m), RB_ERROR_FORMAT, says);
    assert_null(m);
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source), RB_OK);
    assert_error(ctx, source->read(source, ctx, 2 * ROWS - 5, 5, &view), RB_ERROR_FORMAT, says);
    rb_source_free(source);
    assert_hdf5_closed();
}

/* What HDF5 alone unpacks is refused, since it does not check what it unpacks. */
static void filters_without_a_check_are_refused(void **state) {
    static const char *const names[UNCHECKED] = {"nbit", "scaleoffset", "szip"};
    hsize_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {10, COLUMNS};
    static int32_t zeros[ROWS * COLUMNS];
    const char *path = temporary("unchecked.h5");
    (void)state;
    for (int f = 0; f < UNCHECKED; f++) {
        unsigned able = 0; /* szip may be left out of HDF5, or its packing */
        if (f == SZIP && (H5Zfilter_avail(H5Z_FILTER_SZIP) <= 0 ||
                          H5Zget_filter_info(H5Z_FILTER_SZIP, &able) < 0 ||
                          !(able & H5Z_FILTER_CONFIG_ENCODE_ENABLED)))
            continue;
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t list = chunks_of(SHUFFLE, chunk), space = H5Screate_simple(2, shape, NULL);
        assert_true((f == NBIT          ? H5Pset_nbit(list)
                     : f == SCALEOFFSET ? H5Pset_scaleoffset(list, H5Z_SO_INT, 0)
                                        : H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, 8)) >= 0);
        hid_t data = H5Dcreate2(file, "X", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
        assert_true(H5Dwrite(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
        H5Dclose(data);
        H5Sclose(space);
        H5Pclose(list);
        assert_true(H5Fclose(file) >= 0);
        rb_matrix *m;
        assert_error(ctx, read_whole(path, &m), RB_ERROR_UNSUPPORTED, names[f]);
        assert_null(m);
        assert_non_null(strstr(rb_context_error(ctx), "h5repack -f GZIP=4"));
        assert_hdf5_closed();
    }
    unlink(path);
}

static void chunks_of_another_length_are_refused(void **state) {
    (void)state;
    static const int64_t lengths[] = {0, 1, 4000, BYTES - 1, BYTES + 1, 3 * BYTES};
    const char *path = temporary("short.h5");
    unsigned char *bytes = calloc(3, BYTES), *packed = malloc(4 * (size_t)BYTES);
    assert_true(bytes && packed);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uLong count = (uLong)lengths[i];
        uLongf length = 4 * (uLongf)BYTES;
        assert_int_equal(compress(packed, &length, bytes, count), Z_OK);
        put_chunk(path, DEFLATE, 0, packed, length);
        assert_refused(path);
        put_chunk(path, SHUFFLE | DEFLATE, 0, packed, length);
        assert_refused(path);
        put_chunk(path, DEFLATE, 0, packed, length / 2); /* and what ends within the stream */
        assert_refused(path);
        if (count > 0) {
            put_chunk(path, DEFLATE, 1, bytes, count);
            assert_refused(path);
            put_chunk(path, SHUFFLE, 0, bytes, count);
            assert_refused(path);
            put_chunk(path, NONE, 0, bytes, count);
            assert_refused(path);
        }
    }
    put_chunk(path, DEFLATE, 1, bytes, BYTES); /* this one is good */
    rb_matrix *m;
    assert_int_equal(read_whole(path, &m), RB_OK);
    rb_matrix_free(m);
    unlink(path);
    free(bytes);
    free(packed);
}

/* ---- everything else as HDF5 reads it ---- */

static uint64_t random_state = 1;

static int draw(int below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)below);
}

/* A data set of random type, shape, chunks and filters, some of its chunks never written. */
static void put_random(const char *path) {
    const hid_t types[] = {H5T_STD_I8LE,  H5T_STD_U16BE,  H5T_STD_I32LE,  H5T_STD_I64BE,
                           H5T_STD_U64LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_IEEE_F64LE};
    hsize_t shape[2] = {(hsize_t)draw(40) + 1, (hsize_t)draw(30) + 1}, part[2], first[2];
    hsize_t max[2] = {H5S_UNLIMITED, shape[1]}, chunk[2];
    double values[40 * 30], fill = draw(100);
    for (int d = 0; d < 2; d++) {
        chunk[d] = (hsize_t)draw((int)shape[d]) + 1;
        first[d] = (hsize_t)draw((int)shape[d]);
        part[d] = (hsize_t)draw((int)(shape[d] - first[d])) + 1;
    }
    for (int i = 0; i < 40 * 30; i++)
        values[i] = draw(2) ? 0 : draw(128);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    assert_true(draw(2) || H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t list = chunks_of(draw(ALL), chunk);
    hid_t space = H5Screate_simple(2, shape, draw(2) ? max : NULL);
    assert_true(draw(2) || H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill) >= 0);
    assert_true(draw(2) || H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC) >= 0);
    assert_true(draw(2) || H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) >= 0);
    hid_t data = H5Dcreate2(file, "X", types[draw(8)], space, H5P_DEFAULT, list, H5P_DEFAULT);
    hid_t memory = H5Screate_simple(2, part, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, part, NULL) >= 0);
    assert_true(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
    H5Sclose(memory);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
    assert_true(H5Fclose(file) >= 0);
    H5Pclose(access);
}

static void assert_rows(const rb_matrix *m, const double *values, int64_t first) {
    for (int64_t i = 0; i < m->n_samples; i++)
        for (int64_t k = 0; k < m->n_features; k++)
            assert_true(rb_matrix_at(m, i, k) == values[(first + i) * m->n_features + k]);
}

static void numbers_are_those_of_hdf5(void **state) {
    (void)state;
    const char *path = temporary("random.h5");
    for (int t = 0; t < 400; t++) {
        double values[40 * 30] = {0};
        rb_matrix *m, view;
        rb_source *source;
        put_random(path);
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t data = H5Dopen2(file, "X", H5P_DEFAULT);
        assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
        H5Dclose(data);
        H5Fclose(file);
        if (read_whole(path, &m)) fail_msg("%s", rb_context_error(ctx));
        assert_rows(m, values, 0);
        assert_int_equal(rb_open(ctx, path, NULL, &source), RB_OK);
        for (int b = 0; b < 10; b++) {
            int64_t first = draw((int)m->n_samples), left = m->n_samples - first;
            int64_t count = 1 + draw((int)left);
            assert_int_equal(source->read(source, ctx, first, count, &view), RB_OK);
            assert_rows(&view, values, first);
        }
        rb_source_free(source);
        rb_matrix_free(m);
    }
    unlink(path);
    assert_hdf5_closed();
}

/* ---- tables ---- */

struct row {
    const char *name;
    char code[5];
    double value;
    const char *note;
    int16_t count;
};

enum { TABLE = 50 };

static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, size) >= 0);
    return type;
}

static void put_table(const char *path, int filters) {
    struct row rows[TABLE];
    char names[TABLE][16];
    for (int i = 0; i < TABLE; i++) {
        snprintf(names[i], sizeof names[i], "row %d", i);
        rows[i] = (struct row){names[i], "", i / 4.0, i % 2 ? "odd" : "", (int16_t)-i};
        snprintf(rows[i].code, sizeof rows[i].code, "c%d", i);
    }
    hsize_t shape = TABLE, chunk[2] = {7, 1};
    hid_t any = text_type(H5T_VARIABLE), code = text_type(5);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct row));
    assert_true(H5Tinsert(type, "name", HOFFSET(struct row, name), any) >= 0);
    assert_true(H5Tinsert(type, "code", HOFFSET(struct row, code), code) >= 0);
    assert_true(H5Tinsert(type, "value", HOFFSET(struct row, value), H5T_NATIVE_DOUBLE) >= 0);
    assert_true(H5Tinsert(type, "note", HOFFSET(struct row, note), any) >= 0);
    assert_true(H5Tinsert(type, "count", HOFFSET(struct row, count), H5T_NATIVE_INT16) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t list = chunks_of(filters, chunk), space = H5Screate_simple(1, &shape, NULL);
    assert_true(H5Pset_chunk(list, 1, chunk) >= 0);
    hid_t data = H5Dcreate2(file, "t", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
    H5Fclose(file);
    H5Tclose(type);
    H5Tclose(code);
    H5Tclose(any);
}

static void assert_numbers(const rb_h5_data *data) {
    int64_t counts[TABLE];
    double values[TABLE];
    hid_t count = H5Tcreate(H5T_COMPOUND, sizeof *counts);
    hid_t value = H5Tcreate(H5T_COMPOUND, sizeof *values);
    H5Tinsert(count, "count", 0, H5T_NATIVE_INT64);
    H5Tinsert(value, "value", 0, H5T_NATIVE_DOUBLE);
    assert_int_equal(rb_h5_data_read(data, 0, TABLE, count, counts), RB_OK);
    assert_int_equal(rb_h5_data_read(data, 0, TABLE, value, values), RB_OK);
    H5Tclose(count);
    H5Tclose(value);
    for (int i = 0; i < TABLE; i++)
        assert_true(counts[i] == -i && values[i] == i / 4.0);
}

/* Texts of any length take another place in the file than in memory. */
static void tables_are_read_by_member(void **state) {
    (void)state;
    const char *path = temporary("table.h5");
    for (int filters = NONE; filters < ALL; filters++) {
        static const char *const members[] = {"name", "code", "note"};
        rb_h5 *file;
        rb_h5_data data;
        put_table(path, filters);
        assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
        assert_int_equal(rb_h5_data_open(file, "t", &data), RB_OK);
        for (int m = 0; m < 3; m++) {
            rb_names *names;
            if (rb_h5_read_texts(&data, members[m], false, &names))
                fail_msg("%s", rb_context_error(ctx));
            for (int i = 0; i < TABLE; i++) {
                char wanted[16];
                snprintf(wanted, sizeof wanted, m == 0 ? "row %d" : "c%d", i);
                assert_string_equal(names->text[i], m < 2 ? wanted : i % 2 ? "odd" : "");
            }
            rb_names_free(names);
        }
        assert_numbers(&data);
        rb_h5_data_close(&data);
        assert_int_equal(rb_h5_close(file), RB_OK);
    }
    unlink(path);
    assert_hdf5_closed();
}

static int set_up(void **state) {
    (void)state;
    ctx = new_context();
    return 0;
}

/* ---- more than 2^31 stored numbers ---- */

/* A vector of which nothing is on disk but `count` values from `at` on. */
static void put_vector(hid_t group, const char *name, hid_t type, hsize_t size, hsize_t at,
                       hsize_t count, const void *values) {
    hsize_t chunk = 1 << 16;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &size, NULL);
    hid_t memory = H5Screate_simple(1, &count, NULL);
    assert_true(H5Pset_chunk(list, 1, size < chunk ? &size : &chunk) >= 0);
    hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &count, NULL) >= 0);
    assert_true(H5Dwrite(data, type, memory, space, H5P_DEFAULT, values) >= 0);
    H5Sclose(memory);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
}

static void put_attribute(hid_t group, const char *name, hid_t type, hsize_t size,
                          const void *value) {
    hid_t space = size ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

/* 2049 rows without a value on disk, of 2^20 each, and one of three. */
static void rows_beyond_2_to_31_are_read(void **state) {
    enum { FULL = 2049, WIDE = 1 << 20 };
    const char *path = temporary("wide.h5");
    const int64_t shape[] = {FULL + 1, WIDE}, before = (int64_t)FULL * WIDE;
    const int32_t columns[] = {2, 5, WIDE - 1};
    const float values[] = {3, 7, 11};
    static int64_t starts[FULL + 2];
    rb_source *source;
    rb_matrix view;
    (void)state;
    for (int64_t i = 0; i <= FULL; i++)
        starts[i] = i * WIDE;
    starts[FULL + 1] = before + 3;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "X", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t word = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(word, 10) >= 0);
    put_attribute(group, "encoding-type", word, 0, "csr_matrix");
    put_attribute(group, "shape", H5T_NATIVE_INT64, 2, shape);
    put_vector(group, "data", H5T_NATIVE_FLOAT, (hsize_t)before + 3, (hsize_t)before, 3, values);
    put_vector(group, "indices", H5T_NATIVE_INT32, (hsize_t)before + 3, (hsize_t)before, 3,
               columns);
    put_vector(group, "indptr", H5T_NATIVE_INT64, FULL + 2, 0, FULL + 2, starts);
    H5Tclose(word);
    H5Gclose(group);
    H5Fclose(file);
    rb_read_options options;
    fixture_default(rb_read_group(), &options);
    options.dataset = "X";
    const double usual = rb_context_max_expansion(ctx);
    assert_int_equal(rb_context_set_max_expansion(ctx, 1e6), RB_OK); /* so little is on disk */
    assert_int_equal(rb_open(ctx, path, fixture_of(rb_read_group(), &options), &source), RB_OK);
    assert_int_equal(source->read(source, ctx, FULL, 1, &view), RB_OK);
    assert_int_equal(rb_matrix_stored(&view), 3);
    for (int e = 0; e < 3; e++)
        assert_true(rb_matrix_at(&view, 0, columns[e]) == values[e]);
    rb_source_free(source);
    assert_int_equal(rb_context_set_max_expansion(ctx, usual), RB_OK);
    unlink(path);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_without_a_check_are_refused),
        cmocka_unit_test(chunks_of_another_length_are_refused),
        cmocka_unit_test(numbers_are_those_of_hdf5),
        cmocka_unit_test(tables_are_read_by_member),
        cmocka_unit_test(rows_beyond_2_to_31_are_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
