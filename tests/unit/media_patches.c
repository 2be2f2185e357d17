/* Patches of files: formats, options, and a message for everything that is wrong. */
#include "../options.h"
#include "io_test.h"

#include "media/media.h"

static rb_patches_options options_of(const char *size, int64_t count) {
    rb_patches_options o;
    fixture_default(rb_patches_group(), &o);
    o.size = size;
    o.count = count;
    return o;
}

/* A .npy file of version 1 with float64 in the byte order of the machine. */
static void put_npy(const char *path, const char *descr, const char *shape, const void *values,
                    size_t bytes) {
    char file[1024] = "\x93NUMPY\x01";
    memset(file + 10, ' ', 118);
    int used = snprintf(file + 10, 118, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                        descr, shape);
    file[10 + used] = ' ';
    file[8] = 118;
    file[127] = '\n';
    assert_true(128 + bytes <= sizeof file);
    memcpy(file + 128, values, bytes);
    put_bytes(path, file, 128 + bytes);
}

static const char grey[] = "P2 4 3 255\n1 2 3 4\n11 12 13 14\n21 22 23 24\n";

static void defaults_are_pinned(void **state) {
    (void)state;
    rb_patches_options o;
    fixture_default(rb_patches_group(), &o);
    assert_string_equal(o.size, "10x10");
    assert_int_equal(o.count, 40000);
    assert_null(o.scale);
    assert_int_equal(o.seed, 1);
}

/* The only patch of the size of the picture is the picture, whatever the file: PGM, colours, arrays
 * of two and three dimensions. */
static void formats(void **state) {
    (void)state;
    static const double g[] = {1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24};
    static const float f[] = {1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24};
    static const unsigned char u[] = {1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24};
    put_text("grey.pgm", grey);
    put_text("colour.ppm", "P3 2 2 255\n1 2 3 4 11 12\n13 14 21 22 23 24\n");
    put_npy("double.npy", "<f8", "3, 4", g, sizeof g);
    put_npy("float.npy", "<f4", "3, 4", f, sizeof f);
    put_npy("colour.npy", "|u1", "2, 2, 3", u, sizeof u);
    static const struct {
        const char *path, *size;
    } cases[] = {{"grey.pgm", "3x4"},
                 {"colour.ppm", "2x2"},
                 {"double.npy", "3x4"},
                 {"float.npy", "3x4"},
                 {"colour.npy", "2x2"}};
    for (int c = 0; c < 5; c++) {
        rb_patches_options o = options_of(cases[c].size, 1);
        rb_source *source;
        rb_error err =
            rb_patches(ctx, &cases[c].path, 1, fixture_of(rb_patches_group(), &o), &source);
        if (err) fail_msg("%s", rb_context_error(ctx));
        assert_int_equal(rb_write(ctx, source, "P.npy"), RB_OK);
        rb_source_free(source);
        rb_matrix *patch = read_with("P.npy", NULL);
        assert_values(patch, 1, 12, g);
        rb_matrix_free(patch);
    }
}

/* Several pictures give together as many patches as they have places; an array of colours is not
 * cut through a pixel. */
static void several_pictures(void **state) {
    (void)state;
    static const double other[] = {101, 102, 103, 104, 105, 106};
    put_text("a.pgm", grey);
    put_npy("b.npy", "<f8", "2, 3", other, sizeof other);
    const char *const paths[] = {"a.pgm", "b.npy"};
    rb_patches_options o = options_of("2x2", 8);
    rb_source *source;
    rb_description description = {.size = sizeof description};
    assert_int_equal(rb_patches(ctx, paths, 2, fixture_of(rb_patches_group(), &o), &source), RB_OK);
    assert_int_equal(rb_describe(ctx, source, &description), RB_OK);
    /* Six patches of the first: corners once, edges twice, the middle four times; two of the other.
     */
    assert_true(description.sum == 1 + 4 + 21 + 24 + 2 * (2 + 3 + 11 + 14 + 22 + 23) +
                                       4 * (12 + 13) + 101 + 103 + 104 + 106 + 2 * (102 + 105));
    rb_source_free(source);
    o.scale = "-1:1e1";
    assert_int_equal(rb_patches(ctx, paths, 2, fixture_of(rb_patches_group(), &o), &source), RB_OK);
    assert_int_equal(rb_describe(ctx, source, &description), RB_OK);
    assert_true(description.minimum == -1 && description.maximum == 10);
    rb_source_free(source);
}

/* A source is written with its names, whatever its size. */
static void names_are_written(void **state) {
    (void)state;
    put_text("in.csv", ",x,y\na,1,2\nb,3,4\n");
    rb_source *source;
    assert_int_equal(rb_open(ctx, "in.csv", NULL, &source), RB_OK);
    assert_int_equal(rb_write(ctx, source, "out.csv"), RB_OK);
    assert_text("out.csv", ",x,y\na,1,2\nb,3,4\n");
    assert_int_equal(rb_write(ctx, source, "out.nothing"), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_write(ctx, source, "nowhere/out.csv"), RB_ERROR_FILE);
    rb_source_free(source);
}

static void refuse_patches(const char *const *paths, int64_t count, const rb_patches_options *o,
                           rb_error code, const char *words) {
    rb_source *source = (rb_source *)&source;
    rb_error err = rb_patches(ctx, paths, count, fixture_of(rb_patches_group(), o), &source);
    assert_null(source);
    if (err != code || !strstr(rb_context_error(ctx), words))
        fail_msg("%s without '%s': %s", rb_error_name(err), words, rb_context_error(ctx));
}

static void refusals(void **state) {
    (void)state;
    static const double holes[] = {1, 2, NAN, 4}, large[] = {1, 2, 3, 1e300};
    const char *const grey_path[] = {"a.pgm"}, *const gone[] = {"gone.pgm"};
    const char *const table[] = {"table.csv"}, *const hole[] = {"hole.npy"};
    const char *const huge[] = {"huge.npy"}, *const line[] = {"line.npy"},
                      *const deep[] = {"deep.npy"};
    const char *const mixed[] = {"a.pgm", "colour.ppm"}, *const small[] = {"a.pgm", "small.npy"};
    put_text("a.pgm", grey);
    put_text("colour.ppm", "P3 2 2 255\n1 2 3 4 11 12\n13 14 21 22 23 24\n");
    put_text("table.csv", "1,2\n3,4\n");
    put_npy("hole.npy", "<f8", "2, 2", holes, sizeof holes);
    put_npy("huge.npy", "<f8", "2, 2", large, sizeof large);
    put_npy("line.npy", "<f8", "4,", large, sizeof large);
    put_npy("deep.npy", "|u1", "1, 2, 5", "0123456789", 10);
    rb_patches_options o = options_of("2x2", 1);
    refuse_patches(gone, 1, &o, RB_ERROR_FILE, "gone.pgm");
    refuse_patches(table, 1, &o, RB_ERROR_FORMAT, "table.csv is not an image");
    refuse_patches(line, 1, &o, RB_ERROR_FORMAT, "line.npy is not an image");
    refuse_patches(deep, 1, &o, RB_ERROR_FORMAT, "at most 4 channels");
    refuse_patches(hole, 1, &o, RB_ERROR_DATA, "hole.npy: the value in row 2, column 1 is missing");
    refuse_patches(huge, 1, &o, RB_ERROR_DATA, "huge.npy: the value in row 2, column 2");
    refuse_patches(mixed, 2, &o, RB_ERROR_DATA, "colour.ppm has 3 channels, but a.pgm has 1");
    refuse_patches(grey_path, 0, &o, RB_ERROR_ARGUMENT, "no image");
    o.count = 7;
    refuse_patches(grey_path, 1, &o, RB_ERROR_ARGUMENT,
                   "`count` is 7, but a patch of 2x2 fits in only 6 places");
    o = options_of("4x4", 1);
    refuse_patches(grey_path, 1, &o, RB_ERROR_ARGUMENT,
                   "a.pgm: patches of 4x4 do not fit into an image of 3 rows x 4 columns");
    o = options_of("3x3", 1);
    put_npy("small.npy", "|u1", "2, 2", "abcd", 4);
    refuse_patches(small, 2, &o, RB_ERROR_ARGUMENT, "small.npy: patches of 3x3 do not fit");
    static const char *const sizes[] = {"", "10", "10x", "axb", "0x3", "2x2x1", NULL};
    for (int s = 0; s < 7; s++) {
        o = options_of(sizes[s], 1);
        refuse_patches(grey_path, 1, &o, RB_ERROR_ARGUMENT, "but must be height x width");
    }
    static const char *const scales[] = {"",    "10",   "0:",  ":1",   "1:1",
                                         "2:1", "0:1x", "0;1", "0:inf"};
    for (int s = 0; s < 9; s++) {
        o = options_of("2x2", 1);
        o.scale = scales[s];
        refuse_patches(grey_path, 1, &o, RB_ERROR_ARGUMENT, "the smaller first, such as 0:10");
    }
    o = options_of("2x2", 0);
    refuse_patches(grey_path, 1, &o, RB_ERROR_ARGUMENT, "`count` is '0'");
}

static void no_memory(void **state) {
    (void)state;
    static const double other[] = {101, 102, 103, 104, 105, 106};
    put_text("a.pgm", grey);
    put_npy("b.npy", "<f8", "2, 3", other, sizeof other);
    const char *const paths[] = {"a.pgm", "b.npy"};
    rb_patches_options o = options_of("2x2", 5);
    o.scale = "0:1";
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; err; n++) {
        rb_source *source = NULL;
        ctx->allocations_left = n;
        err = rb_patches(ctx, paths, 2, fixture_of(rb_patches_group(), &o), &source);
        assert_true(err ? err == RB_ERROR_MEMORY && !source : source != NULL);
        if (!err) { /* then writing fails without leaving half a file */
            for (int64_t k = 0; (err = rb_write(ctx, source, "P.npy")) != RB_OK; k++) {
                assert_int_equal(err, RB_ERROR_MEMORY);
                assert_int_equal(files_here(), 2);
                ctx->allocations_left = k;
            }
        }
        rb_source_free(source);
    }
    ctx->allocations_left = -1;
    assert_int_equal(files_here(), 3);
    assert_true(n > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_pinned),
        cmocka_unit_test(formats),
        cmocka_unit_test(several_pictures),
        cmocka_unit_test(names_are_written),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
