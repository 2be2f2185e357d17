/* PGM, PPM and PNG: pixels by hand, tiles, and a message for everything that is wrong. */
#include "../errors.h"
#include "io/image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static rb_context *ctx;
static char path[64];

static int set_up(void **state) {
    (void)state;
    strcpy(path, "/tmp/rarebit_image_XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file) != 0 || rb_context_create(&ctx) != RB_OK;
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return unlink(path);
}

static void write_file(const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* A PNG of these rows; colour and depth as libpng names them. */
static void write_png(int width, int height, int depth, int colour, int interlace,
                      const png_color *palette, const unsigned char *bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, colour, interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (palette) png_set_PLTE(png, info, palette, 2);
    png_write_info(png, info);
    png_bytep rows[16];
    for (int y = 0; y < height; y++)
        rows[y] = (png_bytep)bytes + (size_t)y * png_get_rowbytes(png, info);
    png_write_image(png, rows);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
}

static void check_read(const char *patches, int64_t samples, int64_t features, const double *want) {
    rb_read_options options = {.patches = patches};
    rb_matrix *m;
    rb_error err = rb_format_image.read(ctx, path, &options, &m);
    if (err) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(rb_matrix_samples(m), samples);
    assert_int_equal(rb_matrix_features(m), features);
    assert_int_equal(rb_matrix_type(m), RB_FLOAT32);
    for (int64_t i = 0; i < samples * features; i++) {
        double value = rb_matrix_at(m, i / features, i % features);
        if (value != want[i]) fail_msg("value %d is %g, not %g", (int)i, value, want[i]);
    }
    rb_matrix_free(m);
}

static void check_bytes(const void *bytes, size_t count, int64_t features, const double *want) {
    write_file(bytes, count);
    check_read(NULL, 1, features, want);
}

/* Reading fails with a message that holds `part` and names the file, unless it is about an
 * option. */
static void assert_refused(const char *patches, rb_error error, const char *part) {
    rb_read_options options = {.patches = patches};
    rb_matrix *m = (rb_matrix *)&ctx;
    assert_error(ctx, rb_format_image.read(ctx, path, &options, &m), error, part);
    assert_null(m);
}

static void assert_text_refused(const char *text, const char *part) {
    write_file(text, strlen(text));
    assert_refused(NULL, RB_ERROR_FORMAT, part);
    assert_non_null(strstr(rb_context_error(ctx), path));
}

#define BYTES(literal) literal, sizeof(literal) - 1

static void test_pgm_and_ppm(void **state) {
    (void)state;
    const double six[] = {0, 10, 20, 30, 40, 255};
    check_bytes(BYTES("P2 3 2 255 0 10 20 30 40 255"), 6, six);
    check_bytes(BYTES("P2 # words\n3 #w 9\n2\n255\n0 10 20 #30\n30 40\n255\n\n"), 6, six);
    check_bytes(BYTES("P5\n3 2\n255\n\0\012\024\036\050\377"), 6, six);
    check_bytes(BYTES("P5\n#c\n3 2\n255\n\0\012\024\036\050\377\n"), 6, six);
    check_bytes(BYTES("P3 1 2 255 0 10 20 30 40 255"), 6, six);
    check_bytes(BYTES("P6 1 2 255 \0\012\024\036\050\377"), 6, six);
    check_bytes(BYTES("P5 2 1 65535 \1\2\377\376"), 2, (const double[]){258, 65534});
    check_bytes(BYTES("P2 2 1 65535 258 65534"), 2, (const double[]){258, 65534});
}

static void test_gzip(void **state) {
    (void)state;
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzputs(file, "P2 2 1 9 3 9"), 12);
    assert_int_equal(gzclose(file), Z_OK);
    check_read(NULL, 1, 2, (const double[]){3, 9});
}

static void test_png_kinds(void **state) {
    (void)state;
    const unsigned char four[] = {0, 1, 128, 255};
    write_png(2, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NULL, four);
    check_read(NULL, 1, 4, (const double[]){0, 1, 128, 255});
    write_png(2, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, NULL, four);
    check_read(NULL, 1, 4, (const double[]){0, 1, 128, 255});
    /* Sixteen bits, larger byte first. */
    write_png(1, 2, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NULL, four);
    check_read(NULL, 1, 2, (const double[]){1, 128 * 256 + 255});
    /* Grey with transparency: every second byte is dropped. */
    write_png(2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE, NULL, four);
    check_read(NULL, 1, 2, (const double[]){0, 128});
    const unsigned char six[] = {0, 10, 20, 30, 40, 255};
    write_png(1, 2, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, NULL, six);
    check_read(NULL, 1, 6, (const double[]){0, 10, 20, 30, 40, 255});
    write_png(1, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, NULL, four);
    check_read(NULL, 1, 3, (const double[]){0, 1, 128});
    /* A palette of two colours, one bit a pixel: colour 1, then colour 0. */
    const png_color palette[] = {{1, 2, 3}, {200, 100, 50}};
    write_png(2, 1, 1, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, palette,
              (const unsigned char[]){0x80});
    check_read(NULL, 1, 6, (const double[]){200, 100, 50, 1, 2, 3});
    /* Two bits of grey, 0 to 3, are spread to 0 to 255. */
    write_png(4, 1, 2, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NULL,
              (const unsigned char[]){0x1b});
    check_read(NULL, 1, 4, (const double[]){0, 85, 170, 255});
}

static void test_tiles_go_row_by_row_and_drop_the_rest(void **state) {
    (void)state;
    /* 5 x 3 pixels: two tiles of 2 x 2, a column and a row are left over. */
    write_file(BYTES("P2 5 3 99 0 1 2 3 4 10 11 12 13 14 20 21 22 23 24"));
    check_read("2x2", 2, 4, (const double[]){0, 1, 10, 11, 2, 3, 12, 13});
    check_read("1x3", 3, 3, (const double[]){0, 1, 2, 10, 11, 12, 20, 21, 22});
    /* Channels stay together. */
    write_file(BYTES("P3 2 1 99 1 2 3 4 5 6"));
    check_read("1x1", 2, 3, (const double[]){1, 2, 3, 4, 5, 6});
}

static void test_wrong_patches_are_said(void **state) {
    (void)state;
    write_file(BYTES("P2 3 2 9 1 2 3 4 5 6"));
    assert_refused("3x3", RB_ERROR_ARGUMENT, "do not fit");
    const char *words[] = {"10", "0x2", "2x", "axb", "2x2x2", "-1x2", " 2x2", "2x99999999999", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_refused(words[i], RB_ERROR_ARGUMENT, "such as 10x10");
}

static void test_wrong_pnm_is_said(void **state) {
    (void)state;
    assert_text_refused("P2 0 2 255 ", "width and height");
    assert_text_refused("P2 3 x 255 ", "width and height");
    assert_text_refused("P2 3 2 0 1 2 3 4 5 6", "1 to 65535");
    assert_text_refused("P2 3 2 65536 1 2 3 4 5 6", "1 to 65535");
    assert_text_refused("P2 3 2 9", "ends after its header");
    assert_text_refused("P2 3 2 9 1 2 3 4 5  ", "ends in row 2, column 3");
    assert_text_refused("P2 3 2 9 1 2 3 4 x 6", "row 2, column 2 is not a whole number");
    assert_text_refused("P2 3 2 9 1 2 10 4 5 6", "row 1, column 3 is 10");
    assert_text_refused("P2 3 2 9 1 2 3 4 5 6 7", "1 bytes follow");
    assert_text_refused("P5 3 2 99 12345", "ends in row 2, column 3");
    assert_text_refused("P5 3 9 99 12345", "more than the file can hold");
    assert_text_refused("P5 999999999 999999999 255 1", "more than the file can hold");
    assert_text_refused("hello", "not a PGM, PPM or PNG");
}

static void test_damaged_png_is_said(void **state) {
    (void)state;
    unsigned char bytes[256];
    write_png(2, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NULL,
              (const unsigned char[]){0, 1, 128, 255});
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t shorter = 8; shorter < count; shorter++) {
        write_file(bytes, shorter);
        assert_refused(NULL, RB_ERROR_FORMAT, "PNG image is damaged: it ends too early");
    }
    for (size_t k = 12; k < count; k++) {
        bytes[k] ^= 0x40;
        write_file(bytes, count);
        /* The last chunk's check sum and such may be forgiven; a crash or a leak is not. */
        rb_matrix *m;
        rb_error err = rb_format_image.read(ctx, path, NULL, &m);
        assert_true(err == RB_OK || err == RB_ERROR_FORMAT);
        rb_matrix_free(m);
        bytes[k] ^= 0x40;
    }
    /* A header of 1000000 x 1000000 pixels with a right check sum: no memory is asked for. */
    memcpy(bytes + 16, "\0\017\102\100\0\017\102\100", 8);
    unsigned long sum = crc32(0, bytes + 12, 17);
    for (int i = 0; i < 4; i++)
        bytes[29 + i] = (unsigned char)(sum >> (24 - 8 * i));
    write_file(bytes, count);
    assert_refused(NULL, RB_ERROR_FORMAT, "1000000 x 1000000 pixels, more than the file can hold");
}

static void test_magic_decides(void **state) {
    (void)state;
    rb_probe probe = {.path = "x", .n_bytes = 16};
    memcpy(probe.bytes, "P5 3 2 255 ......", 16);
    assert_true(rb_format_image.recognise(&probe));
    /* A table of samples called P2, P3, ... is none. */
    memcpy(probe.bytes, "P2\tP3\tP5\t.......", 16);
    assert_false(rb_format_image.recognise(&probe));
    memcpy(probe.bytes, "P4 3 2 255 ......", 16);
    assert_false(rb_format_image.recognise(&probe));
    memcpy(probe.bytes, "\211PNG\r\n\032\n........", 16);
    assert_true(rb_format_image.recognise(&probe));
    probe.folder = true;
    assert_false(rb_format_image.recognise(&probe));
}

static void check_allocations(void) {
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_read_options options = {.patches = "1x1"};
        rb_matrix *m;
        err = rb_format_image.read(ctx, path, &options, &m);
        assert_true(!err || !m);
        rb_matrix_free(m);
    }
    assert_true(n > 3);
}

static void test_memory_running_out_at_every_point(void **state) {
    (void)state;
    write_file(BYTES("P2 3 2 9 1 2 3 4 5 6"));
    check_allocations();
    write_png(2, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, NULL,
              (const unsigned char[]){0, 1, 128, 255});
    check_allocations();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pgm_and_ppm),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_png_kinds),
        cmocka_unit_test(test_tiles_go_row_by_row_and_drop_the_rest),
        cmocka_unit_test(test_wrong_patches_are_said),
        cmocka_unit_test(test_wrong_pnm_is_said),
        cmocka_unit_test(test_damaged_png_is_said),
        cmocka_unit_test(test_magic_decides),
        cmocka_unit_test(test_memory_running_out_at_every_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
