/* Lines: curves of units stand where their numbers say; memory. */
#include "../options.h"
#include "io/io.h"
#include "plot_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The darkest pixel of a column that is not white or grey; -1: none. */
static int64_t blue_row(const rb_image *image, int64_t x, int64_t first, int64_t last) {
    for (int64_t y = first; y < last; y++) {
        const float *pixel = image->values + (y * image->width + x) * 3;
        if (pixel[2] - pixel[0] > 25) return y;
    }
    return -1;
}

/* One unit: 51 values that are 0 but for a peak at a fifth of the way and half of it, downwards, at
 * the end. */
static void a_curve_shows_its_numbers(void **state) {
    (void)state;
    enum { COUNT = 51 };
    double series[COUNT] = {0};
    series[10] = 2;
    series[COUNT - 1] = -1;
    rb_filters_plot p = {
        .loadings = series, .n_features = COUNT, .units = 1, .width = COUNT, .height = 1};
    p.channels = 1;
    p.curves = true;
    p.title = "";
    check(rb_draw_filters(ctx, &p, &options, path));
    rb_image image;
    check(rb_picture_read(ctx, path, &image));
    int64_t left = image.width, right = 0, top = image.height, peak = 0, bottom = 0;
    for (int64_t x = 0; x < image.width; x++) {
        int64_t y = blue_row(&image, x, 0, image.height);
        if (y < 0) continue;
        left = x < left ? x : left;
        right = x > right ? x : right;
        peak = y < top ? x : peak;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    double share = (double)(peak - left) / (double)(right - left);
    assert_true(fabs(share - 0.2) < 0.005);
    int64_t middle = blue_row(&image, left + (right - left) / 2, 0, image.height);
    assert_true(middle - top > 40);
    assert_true(labs((long)(2 * (bottom - middle) - (middle - top))) < 6);
    rb_free(image.values);
}

/* Is a pixel a mixture of white and this colour, and half of it or more the colour? Thin lines fill
 * no pixel. */
static bool is_tinted(const rb_image *image, int64_t x, int64_t y, rb_colour c) {
    const float *pixel = image->values + (y * image->width + x) * 3;
    const double ink[] = {255 * (1 - c.red), 255 * (1 - c.green), 255 * (1 - c.blue)};
    double missing = 0, all = 0, worst = 0;
    for (int k = 0; k < 3; k++) {
        missing += 255 - (double)pixel[k];
        all += ink[k];
    }
    for (int k = 0; k < 3; k++)
        worst = fmax(worst, fabs(255 - (double)pixel[k] - missing / all * ink[k]));
    return missing > 0.4 * all && missing < 1.05 * all && worst < 6;
}

/* Pixels of a colour between two rows. */
static int64_t count_between(const rb_image *image, int64_t top, int64_t bottom, rb_colour c) {
    int64_t count = 0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = 0; x < image->width; x++)
            count += is_tinted(image, x, y, c);
    return count;
}

/* Level lines, the 1st and the 11th of one colour: the second is dashed. The legend has a stroke of
 * each below the panel, and without names there is none. */
static void lines_have_a_legend(void **state) {
    (void)state;
    enum { LINES = 11, COUNT = 200, PANEL_BOTTOM = 390, OLD_HEIGHT = 450 };
    static double values[LINES * COUNT];
    const char *const names[LINES] = {"0",  "5",  "10", "15", "20", "25",
                                      "30", "35", "40", "45", "50"};
    for (int64_t i = 0; i < LINES * COUNT; i++)
        values[i] = 0.5 + (double)(i / COUNT);
    rb_series_plot p = {.values = values,
                        .lines = LINES,
                        .count = COUNT,
                        .low = 0,
                        .high = LINES,
                        .cut = NAN,
                        .title = "",
                        .across = "",
                        .up = "",
                        .legend = "sample"};
    rb_image image;
    for (int named = 0; named < 2; named++) {
        p.line_names = named ? names : NULL;
        check(rb_draw_series(ctx, &p, &options, path));
        check(rb_picture_read(ctx, path, &image));
        assert_int_equal(image.height > OLD_HEIGHT, named);
        /* 11 levels in the 330 units of the panel, the first line at its bottom. */
        int64_t solid = count_between(&image, 360, 390, rb_line_colour(0));
        int64_t dashed = count_between(&image, 60, 90, rb_line_colour(10));
        assert_true(solid > 500);
        assert_true(dashed > solid / 3 && dashed < solid * 5 / 6);
        for (int64_t line = 0; line < LINES; line++) {
            int64_t strokes =
                count_between(&image, PANEL_BOTTOM + 40, image.height, rb_line_colour(line));
            assert_int_equal(strokes > 10, named);
        }
        rb_free(image.values);
    }
}

static void no_memory(void **state) {
    (void)state;
    const double ones[] = {1, 2};
    rb_series_plot s = {
        .values = ones, .lines = 1, .count = 2, .cut = NAN, .title = "", .across = "", .up = ""};
    rb_filters_plot p = {.loadings = ones,
                         .n_features = 1,
                         .units = 2,
                         .width = 1,
                         .height = 1,
                         .channels = 1,
                         .title = "",
                         .curves = true};
    for (int which = 0; which < 2; which++) {
        rb_error err = RB_ERROR_MEMORY;
        int64_t n;
        for (n = 0; allow_allocations(ctx, n, err); n++) {
            err = which ? rb_draw_filters(ctx, &p, &options, path)
                        : rb_draw_series(ctx, &s, &options, path);
        }
        assert_true(n > 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_shows_its_numbers),
        cmocka_unit_test(lines_have_a_legend),
        cmocka_unit_test(no_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
