/* HDF5 files that cannot be trusted: what they say of other files is not followed, bytes that are
 * not there are not taken for zeros, and damaged heaps of texts end in an error. */
#include "../options.h"
#include "io_hdf5_test.h"

#include "io/hdf5_place.h"

#include <sys/stat.h>
#include <time.h>

static rb_context *ctx;

static rb_error read_all(const char *path, const char *dataset) {
    rb_read_options options;
    rb_matrix *matrix;
    fixture_default(rb_read_group(), &options);
    options.dataset = dataset;
    rb_error err = rb_read(ctx, path, fixture_of(rb_read_group(), &options), &matrix);
    assert_int_equal(err == RB_OK, matrix != NULL);
    rb_matrix_free(matrix);
    assert_hdf5_closed();
    return err;
}

static void assert_says(const char *words) {
    if (!strstr(rb_context_error(ctx), words))
        fail_msg("'%s' is not in '%s'", words, rb_context_error(ctx));
}

/* ---- other files ---- */

static void numbers_in_other_files_are_refused(void **state) {
    (void)state;
    static const char *const sets[][2] = {{"virtual", "virtual data set"},
                                          {"missing", "virtual data set"},
                                          {"same_file", "virtual data set"},
                                          {"external", "external storage"}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(read_all(HDF5_DATA "elsewhere.h5", sets[i][0]), RB_ERROR_UNSUPPORTED);
        assert_says(sets[i][0]);
        assert_says(sets[i][1]);
        assert_says("h5repack");
    }
    assert_int_equal(read_all(HDF5_DATA "elsewhere.h5", "here"), RB_OK);
    assert_int_equal(read_all(HDF5_DATA "elsewhere.h5", "link"), RB_ERROR_FORMAT);
    assert_says("no 'link'");
    assert_says("links to other files are not followed");
    /* also where they are found without being named */
    assert_int_equal(read_all(HDF5_DATA "virtual.h5", NULL), RB_ERROR_UNSUPPORTED);
    assert_says("the data set 'X'");
    assert_int_equal(read_all(HDF5_DATA "link.h5", NULL), RB_ERROR_FORMAT);
    assert_says("links to other files are not followed");
}

/* Opening a pipe would wait for its other end. */
static void a_pipe_is_refused(void **state) {
    (void)state;
    const char *path = temporary("pipe");
    rb_h5 *file;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_OWN, &file), RB_ERROR_FILE);
    assert_says("not a regular file");
    unlink(path);
}

/* ---- bytes that are not there ---- */

enum { ROWS = 3000, COLUMNS = 50 };

/* A data set in one piece, or in chunks with a checksum. */
static void put_rows(const char *path, bool checked) {
    hsize_t shape[2] = {ROWS, COLUMNS}, chunk[2] = {10, COLUMNS};
    double *values = malloc(sizeof *values * ROWS * COLUMNS);
    assert_non_null(values);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = i + 0.1;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, NULL);
    if (checked) assert_true(H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_fletcher32(list) >= 0);
    hid_t data = H5Dcreate2(file, "X", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(list);
    assert_true(H5Fclose(file) >= 0);
    free(values);
}

static void a_file_that_becomes_shorter_is_reported(void **state) {
    (void)state;
    const char *path = temporary("shorter.h5");
    rb_source *source;
    rb_matrix view;
    put_rows(path, false);
    assert_int_equal(rb_open(ctx, path, NULL, &source), RB_OK);
    assert_int_equal(source->read(source, ctx, ROWS - 500, 500, &view), RB_OK);
    assert_true(rb_matrix_at(&view, 499, COLUMNS - 1) == ROWS * COLUMNS - 1 + 0.1);
    assert_int_equal(truncate(path, 100000), 0);
    assert_int_equal(source->read(source, ctx, ROWS - 1000, 500, &view), RB_ERROR_FILE);
    assert_says("it became shorter while it was read");
    rb_source_free(source);
    unlink(path);
    assert_hdf5_closed();
}

/* Space that HDF5 reserves and does not write is zero, also behind the end of the file. */
static void what_was_never_written_is_zero(void **state) {
    (void)state;
    const char *path = temporary("reserved.h5");
    hsize_t shape[2] = {100, 100};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, NULL);
    assert_true(H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0);
    assert_true(H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0);
    H5Dclose(H5Dcreate2(file, "X", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(list);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(read_all(path, NULL), RB_OK);
    unlink(path);
}

/* HDF5's reason stays in the message, whatever is closed behind a failure. */
static void the_reason_of_hdf5_is_told(void **state) {
    (void)state;
    const char *path = temporary("reason.h5");
    size_t size, broken = 0;
    put_rows(path, true);
    char *bytes = slurp(path, &size);
    for (size_t i = 0; i + 5 < size; i++) { /* where the chunks are */
        if (memcmp(bytes + i, "TREE\1", 5) == 0) {
            bytes[i] = 't';
            broken++;
        }
    }
    assert_true(broken > 0);
    spit(path, bytes, size);
    assert_int_equal(read_all(path, "X"), RB_ERROR_FORMAT);
    assert_says("cannot read the data set 'X' (HDF5: wrong B-tree signature");
    unlink(path);
    free(bytes);
}

/* ---- texts of variable length ---- */

/* Every byte of heaps, and of the references to them, changed: an error or other texts, and
 * nothing that a sanitizer finds. */
static void damaged_heaps_are_no_danger(void **state) {
    (void)state;
    static const char *const names[] = {"dense.h5ad", "named.h5", "old2018.h5ad", "lzf.h5ad"};
    int refused = 0;
    for (int f = 0; f < 4; f++) {
        char path[512];
        size_t size;
        snprintf(path, sizeof path, "%s%s", HDF5_DATA, names[f]);
        char *bytes = slurp(path, &size);
        const char *copy = temporary("heap.h5");
        const char *heap = memmem(bytes, size, "GCOL", 4);
        assert_non_null(heap);
        size_t at = (size_t)(heap - bytes);
        uint64_t address = at; /* in references, which stand elsewhere */
        for (size_t i = 0; i < size; i++) {
            bool reference = i + 16 <= size && memcmp(bytes + i, &address, 8) == 0;
            for (size_t b = 0; b < (reference ? 16 : i >= at && i < at + 256 ? 1 : 0); b++) {
                char *byte = bytes + i + b - (reference && i >= 4 ? 4 : 0), old = *byte;
                *byte = b % 2 ? (char)(old ^ 0x81) : (char)0xff;
                spit(copy, bytes, size);
                refused += read_all(copy, f == 3 ? "X" : NULL) != RB_OK;
                *byte = old;
            }
        }
        unlink(copy);
        free(bytes);
    }
    assert_true(refused > 100);
}

/* Texts that were just written, before the file is closed, and texts behind a block of the user. */
static void texts_are_found_where_they_are(void **state) {
    (void)state;
    const char *path = temporary("texts.h5");
    static const char *const texts[] = {"one", "", "three and more"};
    rb_h5 *file;
    rb_names *names;
    char *text;
    assert_int_equal(rb_h5_create(ctx, path, path, RB_H5_SHARED, &file), RB_OK);
    assert_int_equal(rb_h5_put_texts(file, "t", 3, texts), RB_OK);
    assert_int_equal(rb_h5_set_text(file, "t", "a", "attribute"), RB_OK);
    assert_int_equal(rb_h5_get_texts(file, "t", &names), RB_OK);
    assert_int_equal(names->count, 3);
    assert_string_equal(names->text[2], texts[2]);
    rb_names_free(names);
    assert_int_equal(rb_h5_get_text(file, "t", "a", &text), RB_OK);
    assert_string_equal(text, "attribute");
    rb_free(text);
    assert_int_equal(rb_h5_close(file), RB_OK);
    size_t size;
    char *bytes = slurp(path, &size), *moved = calloc(1, size + 512);
    assert_non_null(moved);
    memcpy(moved + 512, bytes, size);
    spit(path, moved, size + 512);
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
    assert_int_equal(rb_h5_get_texts(file, "t", &names), RB_OK);
    assert_string_equal(names->text[0], texts[0]);
    assert_string_equal(names->text[1], texts[1]);
    assert_string_equal(names->text[2], texts[2]);
    rb_names_free(names);
    assert_int_equal(rb_h5_close(file), RB_OK);
    unlink(path);
    free(bytes);
    free(moved);
    assert_hdf5_closed();
}

/* ---- many names ---- */

/* Listing takes a time that grows as the number of names does. */
static void many_links_are_listed_at_once(void **state) {
    (void)state;
    enum { LINKS = 30000 };
    const char *path = temporary("links.h5");
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    for (int i = 0; i < LINKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "l%d", i);
        assert_true(H5Lcreate_soft("/nowhere", id, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    assert_true(H5Fclose(id) >= 0);
    rb_h5 *file;
    rb_names *names;
    clock_t start = clock();
    assert_int_equal(rb_h5_open(ctx, path, RB_H5_SHARED, &file), RB_OK);
    assert_int_equal(rb_h5_list(file, "/", &names), RB_OK);
    assert_int_equal(names->count, LINKS);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    rb_names_free(names);
    assert_int_equal(rb_h5_close(file), RB_OK);
    unlink(path);
}

static int set_up(void **state) {
    (void)state;
    ctx = new_context();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_other_files_are_refused),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(a_file_that_becomes_shorter_is_reported),
        cmocka_unit_test(what_was_never_written_is_zero),
        cmocka_unit_test(the_reason_of_hdf5_is_told),
        cmocka_unit_test(damaged_heaps_are_no_danger),
        cmocka_unit_test(texts_are_found_where_they_are),
        cmocka_unit_test(many_links_are_listed_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
