/* Trials beside the truth: points at their values, crosses where causes were not found, lines for
 * those that have values over the iterations; quality and evidences of one. */
#include "bench/inside/trials.h"
#include "plot_test.h"

#include <rarebit/et.h>
#include <rarebit/simulate.h>

#include <math.h>

enum { SCALE = 3 }; /* pixels a unit of the page, so that thin lines fill some */

static const rb_colour truth = {0.25, 0.25, 0.25};

static bool has_colour(const rb_image *image, int64_t x, int64_t y, rb_colour c) {
    const float *pixel = image->values + (y * image->width + x) * 3;
    return fabs((double)pixel[0] - 255 * c.red) <= 1.5 &&
           fabs((double)pixel[1] - 255 * c.green) <= 1.5 &&
           fabs((double)pixel[2] - 255 * c.blue) <= 1.5;
}

/* Pixels of a colour in the first panel, and where they lie on average. */
struct spot {
    int64_t count;
    double x, y;
};

static struct spot find(const rb_image *image, rb_colour c) {
    const int64_t left = 97, top = 94, bottom = 320;
    struct spot s = {0};
    for (int64_t y = SCALE * top; y < SCALE * bottom; y++) {
        for (int64_t x = SCALE * left; x < image->width; x++) {
            if (!has_colour(image, x, y, c)) continue;
            s.count++;
            s.x += (double)x;
            s.y += (double)y;
        }
    }
    s.x /= (double)s.count;
    s.y /= (double)s.count;
    return s;
}

static const bench_trial finals[] = {{true, 2, 0, NULL}, {false, -4, 0, NULL}};

static void draw(const bench_trial *trials, int64_t count, const bench_example *example,
                 rb_image *image) {
    check(bench_draw_trials(ctx, trials, count, "value", example, SCALE * RB_PAGE_WIDTH, path));
    check(rb_picture_read(ctx, path, image));
}

/* The dashes of the truth lie between both points, half as far from the disc as from the cross. */
static void points_beside_the_truth(void **state) {
    (void)state;
    rb_image image;
    draw(finals, 2, NULL, &image);
    struct spot disc = find(&image, rb_class_colour(0)), cross = find(&image, rb_class_colour(1));
    struct spot dashes = find(&image, truth);
    assert_true(disc.count > 100 && cross.count > 20 && dashes.count > 500);
    assert_true(disc.x < cross.x - SCALE * 300);
    assert_true(fabs((cross.y - dashes.y) / (dashes.y - disc.y) - 2) < 0.05);
    rb_free(image.values);
}

/* With values over the iterations comes a panel more, in the colours of success and failure. */
static void lines_of_those_that_have_them(void **state) {
    (void)state;
    enum { COUNT = 50 };
    double up[COUNT], down[COUNT];
    for (int i = 0; i < COUNT; i++) {
        up[i] = 0.5 + i / 100.0;
        down[i] = -1;
    }
    const bench_trial trials[] = {
        {true, 1, COUNT, up}, {false, -1, COUNT, down}, {true, 1, 0, NULL}};
    rb_image before, image;
    draw(finals, 2, NULL, &before);
    draw(trials, 3, NULL, &image);
    assert_true(image.height > before.height + SCALE * 250);
    double level = find(&image, truth).y;
    assert_true(find(&image, rb_class_colour(0)).y < level - SCALE * 30);
    assert_true(find(&image, rb_class_colour(1)).y > level + SCALE * 60);
    rb_free(before.values);
    rb_free(image.values);
}

struct bars {
    rb_matrix *samples, *fields, *states;
    rb_source *source;
    rb_model *model;
};

static void make(struct bars *b, const char *trace) {
    rb_options *how;
    check(rb_options_new(ctx, NULL, &how));
    check(rb_options_add(ctx, how, rb_bars_group()));
    check(rb_options_set_all(ctx, how, "style=max size=3 samples=60 noise=1 seed=1"));
    check(rb_simulate_bars(ctx, how, &b->samples, &b->fields, &b->states));
    rb_options_free(how);
    check(rb_source_from_matrix(ctx, b->samples, &b->source));
    check(rb_options_new(ctx, "mca", &how));
    check(
        rb_options_set_all(ctx, how, "units=6 sigma=1 max-active=2 iterations=20 trace=%s", trace));
    check(rb_fit(ctx, how, b->source, NULL, &b->model));
    rb_options_free(how);
}

static void drop(struct bars *b) {
    rb_model_free(b->model);
    rb_source_free(b->source);
    rb_matrix_free(b->states);
    rb_matrix_free(b->fields);
    rb_matrix_free(b->samples);
}

/* Quality is there if the fit was traced, evidences always. */
static void one_of_them_closer(void **state) {
    (void)state;
    int64_t heights[3];
    for (int traced = 0; traced < 3; traced++) {
        struct bars b;
        rb_image image;
        make(&b, traced == 2 ? "true" : "false");
        const bench_example example = {b.model, b.source, b.states};
        draw(finals, 2, traced ? &example : NULL, &image);
        heights[traced] = image.height;
        rb_free(image.values);
        drop(&b);
    }
    assert_true(heights[1] > heights[0] + SCALE * 250);
    assert_true(heights[2] > heights[1] + SCALE * 250);
}

static void memory_may_be_refused(void **state) {
    (void)state;
    struct bars b;
    make(&b, "true");
    const bench_example example = {b.model, b.source, b.states};
    rb_error err = RB_ERROR_MEMORY;
    int refusals = 0;
    for (; allow_allocations(ctx, refusals, err); refusals++)
        err = bench_draw_trials(ctx, finals, 2, "value", &example, RB_PAGE_WIDTH, path);
    assert_true(refusals > 10);
    drop(&b);
}

/* A context that knows the methods. */
static int set_up_methods(void **state) {
    int failed = set_up(state);
    rb_context_free(ctx);
    return failed || rb_context_new(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_beside_the_truth), cmocka_unit_test(lines_of_those_that_have_them),
        cmocka_unit_test(one_of_them_closer), cmocka_unit_test(memory_may_be_refused)};
    return cmocka_run_group_tests(tests, set_up_methods, tear_down);
}
