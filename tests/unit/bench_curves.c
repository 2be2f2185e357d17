/* Curves of a benchmark: power laws are straight over logarithmic axes. */
#include "bench/inside/curves.h"
#include "plot_test.h"

#include <math.h>

static bool has_colour(const rb_image *image, int64_t place, rb_colour c) {
    const float *pixel = image->values + place * 3;
    return fabs((double)pixel[0] - 255 * c.red) <= 1.5 &&
           fabs((double)pixel[1] - 255 * c.green) <= 1.5 &&
           fabs((double)pixel[2] - 255 * c.blue) <= 1.5;
}

/* The line through the pixels of a colour left of the names; asserts that it is one. */
static double find_slope(const rb_image *image, rb_colour colour) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, slope = 0, offset = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t p = 0; p < image->height * image->width; p++) {
            double x = (double)(p % image->width), y = (double)(p / image->width);
            if (x > 740 || !has_colour(image, p, colour)) continue;
            if (pass) assert_true(fabs(y - offset - slope * x) < 5);
            n++;
            sx += x;
            sy += y;
            sxx += x * x;
            sxy += x * y;
        }
        slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        offset = (sy - slope * sx) / n;
    }
    assert_true(n > 300);
    return slope;
}

/* y = 3 x^2 and y = 50 / x, points unevenly spread: the first rises twice as steeply as the second
 * falls. */
static void power_laws_are_straight(void **state) {
    (void)state;
    enum { POINTS = 6 };
    const double x[POINTS] = {1, 2, 3, 10, 70, 1000};
    double up[POINTS], down[POINTS];
    for (int i = 0; i < POINTS; i++) {
        up[i] = 3 * x[i] * x[i];
        down[i] = 50 / x[i];
    }
    const bench_curve curves[] = {{"up", POINTS, x, up, false}, {"down", POINTS, x, down, false}};
    const bench_axis across = {"x", 1, 1000, true}, upward = {"y", 0.05, 3e6, true};
    assert_true(bench_draw(path, "Laws", &across, &upward, curves, 2));
    rb_image image;
    check(rb_picture_read(ctx, path, &image));
    double ratio = find_slope(&image, rb_class_colour(0)) / find_slope(&image, rb_class_colour(1));
    assert_true(fabs(ratio + 2) < 0.02);
    rb_free(image.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(power_laws_are_straight)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
