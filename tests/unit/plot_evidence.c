/* Sorted evidences: a sample of so many causes is a point of that colour at its rank, the data cut
 * stands where the fit cut; what cannot be drawn is refused; memory. */
#include "../options.h"
#include "io/io.h"
#include "plot_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 12, CAUSES = 11 };

/* Sample i has the (5 i mod n)-th largest evidence, and as many causes as its rank. */
static int64_t rank_of(int64_t i) {
    return 5 * i % N;
}

static void make(double evidence[N], double states[N * CAUSES]) {
    for (int64_t i = 0; i < N; i++) {
        evidence[i] = -100 - 3.0 * (double)rank_of(i);
        for (int64_t c = 0; c < CAUSES; c++)
            states[i * CAUSES + c] = c < rank_of(i);
    }
}

static rb_source *source_of(const double *states, int64_t n) {
    rb_matrix *matrix;
    rb_source *source;
    check(rb_matrix_dense(ctx, RB_FLOAT64, n, CAUSES, states, CAUSES, 1, &matrix));
    check(rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

/* Columns with pixels of this colour, below the legend. */
struct columns {
    int64_t first, last; /* -1: none */
    double middle;
};

static struct columns find(const rb_image *image, rb_colour c) {
    struct columns found = {-1, -1, NAN};
    for (int64_t p = 60 * image->width; p < image->height * image->width; p++) {
        const float *pixel = image->values + p * 3;
        int64_t x = p % image->width;
        if (fabs((double)pixel[0] - 255 * c.red) <= 1.5 &&
            fabs((double)pixel[1] - 255 * c.green) <= 1.5 &&
            fabs((double)pixel[2] - 255 * c.blue) <= 1.5) {
            found.first = found.first < 0 || x < found.first ? x : found.first;
            found.last = x > found.last ? x : found.last;
            found.middle = (double)(found.first + found.last) / 2;
        }
    }
    return found;
}

static void colours_say_how_many(void **state) {
    (void)state;
    double evidence[N], states[N * CAUSES];
    make(evidence, states);
    rb_source *source = source_of(states, N);
    check(
        rb_plot_evidence(ctx, evidence, N, 0, source, fixture_of(rb_plot_group(), &options), path));
    rb_image image;
    check(rb_picture_read(ctx, path, &image));
    double first = find(&image, rb_class_colour(0)).middle;
    double step = (find(&image, rb_class_colour(8)).middle - first) / 8;
    assert_true(step > 60);
    for (int64_t rank = 0; rank < 9; rank++) {
        double x = find(&image, rb_class_colour(rank)).middle;
        assert_true(fabs(x - first - step * (double)rank) < 1.5);
    }
    /* 9 and more are of one colour: the last three. */
    struct columns rest = find(&image, rb_class_colour(9));
    assert_true(fabs((double)rest.first - first - step * 9) < 3);
    assert_true(fabs((double)rest.last - first - step * 11) < 3);
    rb_free(image.values);
    rb_source_free(source);
}

/* Without the true causes it is a line of one colour, cut in another. */
static void a_line_and_its_cut(void **state) {
    (void)state;
    double evidence[N], states[N * CAUSES];
    make(evidence, states);
    check(rb_plot_evidence(ctx, evidence, N, 9, NULL, fixture_of(rb_plot_group(), &options), path));
    rb_image image;
    check(rb_picture_read(ctx, path, &image));
    struct columns line = find(&image, rb_class_colour(0));
    double cut = find(&image, rb_class_colour(3)).middle;
    double share = (cut - (double)line.first) / (double)(line.last - line.first);
    assert_true(fabs(share - 8.5 / (N - 1)) < 0.01);
    assert_int_equal(find(&image, rb_class_colour(1)).first, -1);
    rb_free(image.values);
}

/* One sample is a point. */
static void a_sample_alone(void **state) {
    (void)state;
    const double evidence[] = {-100};
    check(rb_plot_evidence(ctx, evidence, 1, 0, NULL, fixture_of(rb_plot_group(), &options), path));
    rb_image image;
    check(rb_picture_read(ctx, path, &image));
    struct columns point = find(&image, rb_class_colour(0));
    assert_true(point.first >= 0 && point.last - point.first >= 2 && point.last - point.first < 8);
    rb_free(image.values);
}

static void what_cannot_be_drawn(void **state) {
    (void)state;
    double evidence[N], states[N * CAUSES];
    make(evidence, states);
    rb_source *source = source_of(states, N - 1);
    assert_error(ctx, rb_plot_evidence(ctx, evidence, N, 0, source, NULL, path), RB_ERROR_DATA,
                 "11 samples, but there are 12");
    states[2 * CAUSES + 4] = NAN;
    assert_error(ctx, rb_plot_evidence(ctx, evidence, N - 1, 0, source, NULL, path), RB_ERROR_DATA,
                 "sample 2, cause 4");
    states[2 * CAUSES + 4] = 0.5;
    assert_error(ctx, rb_plot_evidence(ctx, evidence, N - 1, 0, source, NULL, path), RB_ERROR_DATA,
                 "0.5 for sample 2, cause 4");
    assert_int_equal(rb_plot_evidence(ctx, evidence, 0, 0, NULL, NULL, path), RB_ERROR_DATA);
    rb_source_free(source);
}

static void memory_may_be_refused(void **state) {
    (void)state;
    double evidence[N], states[N * CAUSES];
    make(evidence, states);
    rb_source *source = source_of(states, N);
    rb_error err = RB_ERROR_MEMORY;
    int refusals = 0;
    for (; allow_allocations(ctx, refusals, err); refusals++) {
        err = rb_plot_evidence(ctx, evidence, N, 9, source, fixture_of(rb_plot_group(), &options),
                               path);
    }
    assert_true(refusals > 3);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_say_how_many), cmocka_unit_test(a_line_and_its_cut),
        cmocka_unit_test(a_sample_alone), cmocka_unit_test(what_cannot_be_drawn),
        cmocka_unit_test(memory_may_be_refused)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
