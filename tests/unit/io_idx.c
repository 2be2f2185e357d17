/* IDX: values of every type by hand, shapes, gzip, and a message for everything that is wrong. */
#include "../errors.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static rb_context *ctx;
static char path[64];

static int set_up(void **state) {
    (void)state;
    strcpy(path, "/tmp/rarebit_idx_XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file) != 0 || rb_context_create(&ctx) != RB_OK;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return unlink(path);
}

static void write_plain(const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void write_gzip(const void *bytes, size_t count) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)count), count);
    assert_int_equal(gzclose(file), Z_OK);
}

static rb_matrix *read_well(void) {
    rb_matrix *m;
    rb_error err = rb_format_idx.read(ctx, path, NULL, &m);
    if (err) print_error("%s\n", rb_context_error(ctx));
    assert_int_equal(err, RB_OK);
    return m;
}

/* Reading fails with a message that holds `part`, and names the file. */
static void assert_refused(const void *bytes, size_t count, rb_error error, const char *part) {
    rb_matrix *m = (rb_matrix *)&ctx;
    write_plain(bytes, count);
    assert_error(ctx, rb_format_idx.read(ctx, path, NULL, &m), error, path);
    assert_null(m);
    if (!strstr(rb_context_error(ctx), part))
        fail_msg("'%s' does not say '%s'", rb_context_error(ctx), part);
}

/* Two images of 2 x 3: two samples of six features, rows first. */
static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,   2, 0,  0,
                                       0, 3, 0, 1, 2, 3, 4, 5, 6, 7, 128, 9, 10, 255};

static void check_images(void) {
    const double want[2][6] = {{0, 1, 2, 3, 4, 5}, {6, 7, 128, 9, 10, 255}};
    rb_matrix *m = read_well();
    assert_int_equal(rb_matrix_samples(m), 2);
    assert_int_equal(rb_matrix_features(m), 6);
    assert_int_equal(rb_matrix_type(m), RB_FLOAT32);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 6; k++)
            assert_true(rb_matrix_at(m, i, k) == want[i][k]);
    rb_matrix_free(m);
}

static void test_images_are_samples_plain_and_gzip(void **state) {
    (void)state;
    write_plain(images, sizeof images);
    check_images();
    write_gzip(images, sizeof images);
    check_images();
}

static void check_labels(const void *bytes, size_t count, rb_type type, const double *want) {
    write_plain(bytes, count);
    rb_matrix *m = read_well();
    assert_int_equal(rb_matrix_samples(m), 2);
    assert_int_equal(rb_matrix_features(m), 1);
    assert_int_equal(rb_matrix_type(m), type);
    assert_true(rb_matrix_at(m, 0, 0) == want[0]);
    assert_true(rb_matrix_at(m, 1, 0) == want[1]);
    rb_matrix_free(m);
}

static void test_every_type_is_big_endian_and_keeps_its_values(void **state) {
    (void)state;
    const unsigned char byte[] = {0, 0, 9, 1, 0, 0, 0, 2, 0x80, 0x7f};
    check_labels(byte, sizeof byte, RB_FLOAT32, (const double[]){-128, 127});
    const unsigned char two[] = {0, 0, 11, 1, 0, 0, 0, 2, 0x80, 0, 0x01, 0x02};
    check_labels(two, sizeof two, RB_FLOAT32, (const double[]){-32768, 258});
    /* 2^31 - 1 has no float32: whole numbers of four bytes become float64. */
    const unsigned char four[] = {0, 0, 12, 1, 0, 0, 0, 2, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff};
    check_labels(four, sizeof four, RB_FLOAT64, (const double[]){-2147483648.0, 2147483647.0});
    const unsigned char single[] = {0, 0, 13, 1, 0, 0, 0, 2, 0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0};
    check_labels(single, sizeof single, RB_FLOAT32, (const double[]){1.5, -2});
    const unsigned char doubled[] = {0,    0,    14,   1,    0,    0,    0,    2,
                                     0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a,
                                     0xbf, 0xf0, 0,    0,    0,    0,    0,    0};
    check_labels(doubled, sizeof doubled, RB_FLOAT64, (const double[]){0.1, -1});
}

static void test_magic_decides(void **state) {
    (void)state;
    rb_probe probe = {.path = "x", .n_bytes = 4};
    memcpy(probe.bytes, images, 4);
    assert_true(rb_format_idx.recognise(&probe));
    probe.bytes[2] = 10;
    assert_false(rb_format_idx.recognise(&probe));
    probe.bytes[2] = 8;
    probe.bytes[1] = 1;
    assert_false(rb_format_idx.recognise(&probe));
    probe.bytes[1] = 0;
    probe.n_bytes = 3;
    assert_false(rb_format_idx.recognise(&probe));
}

static void test_what_is_wrong_is_said(void **state) {
    (void)state;
    assert_refused(images, 3, RB_ERROR_FORMAT, "ends within its header");
    assert_refused(images, 10, RB_ERROR_FORMAT, "ends within its header");
    assert_refused(images, sizeof images - 1, RB_ERROR_FORMAT,
                   "ends after 27 bytes, but its header says 28");
    unsigned char longer[sizeof images + 1] = {0};
    memcpy(longer, images, sizeof images);
    assert_refused(longer, sizeof longer, RB_ERROR_FORMAT, "more bytes");
    const unsigned char none[] = {0, 0, 8, 0};
    assert_refused(none, sizeof none, RB_ERROR_FORMAT, "no dimensions");
    const unsigned char empty[] = {0, 0, 8, 2, 0, 0, 0, 5, 0, 0, 0, 0};
    assert_refused(empty, sizeof empty, RB_ERROR_FORMAT, "dimension 2 of the IDX file is 0");
    const unsigned char other[] = {0, 0, 10, 1, 0, 0, 0, 1, 0};
    assert_refused(other, sizeof other, RB_ERROR_FORMAT, "not an IDX file");
    /* 2^32 - 1 in each of three dimensions: the product fits in no integer. */
    unsigned char absurd[20] = {0, 0, 8, 4};
    memset(absurd + 4, 0xff, 16);
    assert_refused(absurd, sizeof absurd, RB_ERROR_FORMAT, "too large");
    /* One dimension of 2^32 - 1: no memory is asked for. */
    assert_refused((const unsigned char[]){0, 0, 14, 1, 0xff, 0xff, 0xff, 0xff}, 8, RB_ERROR_FORMAT,
                   "more than the file can hold");
}

static void test_a_damaged_gzip_file_is_said(void **state) {
    (void)state;
    unsigned char bytes[256];
    write_gzip(images, sizeof images);
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    bytes[count - 6] ^= 1; /* the check sum, behind all values */
    assert_refused(bytes, count, RB_ERROR_FORMAT, "is a damaged or truncated gzip file");
    bytes[count - 6] ^= 1;
    assert_refused(bytes, count - 12, RB_ERROR_FORMAT, "truncated gzip file");
    assert_refused(bytes, count - 4, RB_ERROR_FORMAT, "gzip file: unexpected end of file");
}

static void test_a_missing_file_is_said(void **state) {
    (void)state;
    rb_matrix *m;
    assert_error(ctx, rb_format_idx.read(ctx, "/nowhere/x.idx", NULL, &m), RB_ERROR_FILE,
                 "/nowhere/x.idx");
}

static void test_memory_running_out_at_every_point(void **state) {
    (void)state;
    write_gzip(images, sizeof images);
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_matrix *m;
        err = rb_format_idx.read(ctx, path, NULL, &m);
        assert_true(!err || !m);
        rb_matrix_free(m);
    }
    assert_true(n > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_are_samples_plain_and_gzip),
        cmocka_unit_test(test_every_type_is_big_endian_and_keeps_its_values),
        cmocka_unit_test(test_magic_decides),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_a_damaged_gzip_file_is_said),
        cmocka_unit_test(test_a_missing_file_is_said),
        cmocka_unit_test(test_memory_running_out_at_every_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
