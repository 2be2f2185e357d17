/* Pictures as files: what is written reads back, levels are rounded and bounded; refusals. */
#include "io_test.h"

static const float values[12] = {0, 1, 2.4F, 2.6F, 255, 255.4F, -3, 300, 70000, 12, 65534.6F, 128};

/* Written and read again: each value is the level that is nearest in 0 .. most. */
static void check(const char *path, int64_t height, int64_t width, int64_t channels, int64_t max) {
    rb_image image = {height, width, channels, (float *)values, max}, again;
    rb_error err = rb_picture_write(ctx, path, &image);
    if (!err) err = rb_picture_read(ctx, path, &again);
    if (err) fail_msg("%s", rb_context_error(ctx));
    assert_int_equal(again.height, height);
    assert_int_equal(again.width, width);
    assert_int_equal(again.channels, channels);
    assert_int_equal(again.max, max);
    for (int64_t i = 0; i < height * width * channels; i++) {
        float level = fminf(fmaxf(roundf(values[i]), 0), (float)max);
        assert_true(again.values[i] == (max ? level : values[i]));
    }
    rb_free(again.values);
}

static void levels(void **state) {
    (void)state;
    check("a.png", 3, 4, 1, 255);
    check("a.png", 12, 1, 1, 65535);
    check("A.PNG", 2, 2, 3, 255);
    check("a.png", 1, 4, 3, 65535);
    check("a.pgm", 2, 6, 1, 255);
    check("a.pgm", 3, 4, 1, 1000);
    check("a.ppm", 2, 2, 3, 255);
    check("a.npy", 4, 3, 1, 0);
}

/* An array of colours is height x (width x channels), whatever its values. */
static void arrays(void **state) {
    (void)state;
    rb_image image = {2, 2, 3, (float *)values, 255};
    double wanted[12];
    for (int i = 0; i < 12; i++)
        wanted[i] = (double)values[i];
    assert_int_equal(rb_picture_write(ctx, "a.npy", &image), RB_OK);
    rb_matrix *m = read_with("a.npy", NULL);
    assert_values(m, 2, 6, wanted);
    rb_matrix_free(m);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *path;
        int64_t channels, max;
        rb_error code;
        const char *words;
    } cases[] = {
        {"a.jpg", 1, 255, RB_ERROR_ARGUMENT, "an image of 1 channel goes to .png, .pgm or .npy"},
        {".png", 1, 255, RB_ERROR_ARGUMENT, "goes to"},
        {"a.ppm", 1, 255, RB_ERROR_ARGUMENT, "goes to .png, .pgm"},
        {"a.pgm", 3, 255, RB_ERROR_ARGUMENT, "an image of 3 channels goes to .png, .ppm or .npy"},
        {"a.png", 2, 255, RB_ERROR_ARGUMENT, "an image of 2 channels goes to .npy"},
        {"a.png", 1, 0, RB_ERROR_ARGUMENT, "an array has no whole grey levels"},
        {"nowhere/a.png", 1, 255, RB_ERROR_FILE, "folder 'nowhere'"},
        {"nowhere/a.pgm", 1, 255, RB_ERROR_FILE, "folder 'nowhere'"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_image image = {2, 2, cases[c].channels, (float *)values, cases[c].max};
        rb_error err = rb_picture_write(ctx, cases[c].path, &image);
        if (err != cases[c].code || !strstr(rb_context_error(ctx), cases[c].words)) {
            fail_msg("%s without '%s': %s", rb_error_name(err), cases[c].words,
                     rb_context_error(ctx));
        }
    }
    assert_int_equal(files_here(), 0);
}

static void no_memory(void **state) {
    (void)state;
    static const char *const paths[] = {"a.png", "a.pgm", "a.npy"};
    rb_image image = {3, 4, 1, (float *)values, 255};
    for (int p = 0; p < 3; p++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n;
        for (n = 0; allow_allocations(ctx, n, err); n++) {
            err = rb_picture_write(ctx, paths[p], &image);
            assert_int_equal(files_here(), p + (err == RB_OK));
        }
        assert_true(n > 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(arrays),
        cmocka_unit_test(refusals),
        cmocka_unit_test(no_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, enter, leave);
}
