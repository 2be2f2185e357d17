/* Patches: they lie in the images, no place twice, all places alike; scaling; what a seed promises.
 */
#include "../context.h"
#include "media/media.h"

#include <math.h>
#include <string.h>

enum { IMAGE = 1000000, ROW = 1000, CHANNEL = 100, MAX = 4 };

/* A pixel says where it is: image, row, column, channel. */
static float pixel(int64_t image, int64_t y, int64_t x, int64_t channel) {
    return (float)(image * IMAGE + y * ROW + channel * CHANNEL + x);
}

static rb_images make_images(const int64_t (*shapes)[2], int64_t count, int64_t channels) {
    rb_images images = {rb_alloc_zero(ctx, count, sizeof *images.list), count};
    assert_non_null(images.list);
    for (int64_t i = 0; i < count; i++) {
        int64_t height = shapes[i][0], width = shapes[i][1];
        float *values = rb_alloc(ctx, height * width * channels, sizeof *values);
        assert_non_null(values);
        images.list[i] = (rb_image){height, width, channels, values, 0};
        for (int64_t e = 0; e < height * width * channels; e++) {
            int64_t at = e / channels;
            values[e] = pixel(i, at / width, at % width, e % channels);
        }
    }
    return images;
}

static rb_source *cut(const rb_patches_plan *plan, rb_images images) {
    rb_source *source;
    rb_error err = rb_patches_cut(ctx, plan, &images, &source);
    if (err) fail_msg("%s", rb_context_error(ctx));
    assert_null(images.list);
    return source;
}

/* Samples first .. first + count - 1, contiguous. */
static const float *rows_of(rb_source *source, int64_t first, int64_t count) {
    rb_matrix view;
    assert_int_equal(source->read(source, ctx, first, count, &view), RB_OK);
    assert_int_equal(view.n_samples, count);
    assert_int_equal(view.row_stride, view.n_features);
    assert_int_equal(view.type, RB_FLOAT32);
    return view.values;
}

static const int64_t shapes[3][2] = {{7, 5}, {3, 4}, {6, 9}};

/* Every patch is a piece of an image, pixel by pixel; when as many as there are places are asked
 * for, each place comes once; smaller requests begin alike. */
static void patches_are_pieces(void **state) {
    (void)state;
    for (int64_t channels = 1; channels <= 3; channels += 2) {
        rb_images images = make_images(shapes, 3, channels);
        int64_t places = rb_patch_places(&images, 3, 2);
        assert_int_equal(places, 5 * 4 + 1 * 3 + 4 * 8);
        rb_patches_plan plan = {.size = {3, 2}, .count = places, .seed = 3};
        rb_source *all = cut(&plan, images);
        plan.count = 20;
        rb_source *few = cut(&plan, make_images(shapes, 3, channels));
        int64_t features = 6 * channels;
        bool seen[3][7][9] = {{{false}}};
        assert_int_equal(rb_source_features(all), features);
        assert_int_equal(rb_source_samples(all), places);
        for (int64_t n = 0; n < places; n++) {
            const float *patch = rows_of(all, n, 1);
            int64_t first = (int64_t)patch[0];
            int64_t image = first / IMAGE, y = first % IMAGE / ROW, x = first % CHANNEL;
            for (int64_t d = 0; d < features; d++) {
                int64_t at = d / channels;
                assert_true(patch[d] == pixel(image, y + at / 2, x + at % 2, d % channels));
            }
            assert_true(y + 3 <= shapes[image][0] && x + 2 <= shapes[image][1]);
            assert_false(seen[image][y][x]);
            seen[image][y][x] = true;
        }
        assert_memory_equal(rows_of(all, 0, 20), rows_of(few, 0, 20),
                            (size_t)(20 * features) * sizeof(float));
        rb_source_free(all);
        rb_source_free(few);
    }
}

/* A sample is the same however it is asked for. */
static void blocks_do_not_matter(void **state) {
    (void)state;
    rb_patches_plan plan = {{2, 2}, 40, false, true, -1, 1, 5};
    rb_source *source = cut(&plan, make_images(shapes, 3, 1));
    float whole[40 * 4];
    memcpy(whole, rows_of(source, 0, 40), sizeof whole);
    for (int64_t first = 39; first >= 0; first--) {
        int64_t count = first % 7 + 1 < 40 - first ? first % 7 + 1 : 40 - first;
        assert_memory_equal(rows_of(source, first, count), whole + first * 4,
                            (size_t)count * 4 * sizeof(float));
    }
    rb_source_free(source);
}

/* Each of the 20 places is at each of 5 positions of the sample equally often over 8000 seeds, and
 * each pair of places equally often among the first two: within 5 standard deviations. */
static void places_are_alike(void **state) {
    (void)state;
    enum { SEEDS = 8000, PLACES = 20 };
    static const int64_t shape[1][2] = {{4, 5}};
    int counts[5][PLACES] = {{0}}, pairs[PLACES][PLACES] = {{0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        rb_patches_plan plan = {.size = {1, 1}, .count = 5, .seed = seed};
        rb_source *source = cut(&plan, make_images(shape, 1, 1));
        const float *v = rows_of(source, 0, 5);
        int place[5];
        for (int n = 0; n < 5; n++) {
            place[n] = (int)v[n] / ROW * 5 + (int)v[n] % ROW;
            counts[n][place[n]]++;
        }
        pairs[place[0]][place[1]]++;
        rb_source_free(source);
    }
    for (int a = 0; a < PLACES; a++) {
        for (int n = 0; n < 5; n++)
            assert_true(fabs(counts[n][a] - SEEDS / 20.0) < 5 * sqrt(SEEDS / 20.0));
        for (int b = 0; b < PLACES; b++) {
            double expected = a == b ? 0 : SEEDS / 380.0;
            assert_true(fabs(pairs[a][b] - expected) <= 5 * sqrt(expected));
        }
    }
}

/* Scaling is linear and meets both ends; only the patches count, not the rest of the image. */
static void scaling(void **state) {
    (void)state;
    static const int64_t shape[1][2] = {{30, 30}};
    rb_patches_plan plan = {.size = {2, 3}, .count = 4, .seed = 1};
    rb_source *plain = cut(&plan, make_images(shape, 1, 1));
    plan.scaled = true;
    plan.low = -0.3;
    plan.high = 10;
    rb_source *scaled = cut(&plan, make_images(shape, 1, 1));
    const float *x = rows_of(plain, 0, 4), *y = rows_of(scaled, 0, 4);
    double min = INFINITY, max = -INFINITY, low = INFINITY, high = -INFINITY;
    for (int64_t e = 0; e < 24; e++) {
        min = fmin(min, (double)x[e]);
        max = fmax(max, (double)x[e]);
        low = fmin(low, (double)y[e]);
        high = fmax(high, (double)y[e]);
    }
    assert_true(min > 0 || max < pixel(0, 29, 29, 0)); /* of all pixels it would be another range */
    assert_true(low == (double)-0.3F && high == 10);
    for (int64_t e = 0; e < 24; e++) {
        double expected = -0.3 + 10.3 * ((double)x[e] - min) / (max - min);
        assert_true(fabs((double)y[e] - expected) < 1e-6);
    }
    rb_source_free(plain);
    rb_source_free(scaled);
}

static void equal_values_cannot_be_scaled(void **state) {
    (void)state;
    static const int64_t shape[1][2] = {{3, 3}};
    rb_images images = make_images(shape, 1, 1);
    for (int e = 0; e < 9; e++)
        images.list[0].values[e] = 7;
    rb_patches_plan plan = {{1, 1}, 9, false, true, 0, 10, 1};
    rb_source *source;
    assert_error(ctx, rb_patches_cut(ctx, &plan, &images, &source), RB_ERROR_DATA,
                 "all values of the patches are 7");
    assert_null(source);
}

/* A hundred of a million places: all different, and spread over the picture. */
static void few_of_many(void **state) {
    (void)state;
    static const int64_t shape[1][2] = {{1000, 1000}};
    rb_patches_plan plan = {.size = {1, 1}, .count = 100, .seed = 1};
    rb_source *source = cut(&plan, make_images(shape, 1, 1));
    const float *v = rows_of(source, 0, 100);
    double mean = 0;
    for (int n = 0; n < 100; n++) {
        mean += (double)v[n] / 100;
        for (int m = 0; m < n; m++)
            assert_true(v[n] != v[m]);
    }
    assert_true(fabs(mean - 500000) < 5 * 288675 / sqrt(100));
    rb_source_free(source);
}

static void no_memory(void **state) {
    (void)state;
    rb_patches_plan plan = {{2, 2}, 10, false, true, 0, 1, 1};
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; err; n++) {
        rb_images images = make_images(shapes, 3, 1);
        rb_source *source;
        ctx->allocations_left = n;
        err = rb_patches_cut(ctx, &plan, &images, &source);
        ctx->allocations_left = -1;
        assert_true(err ? err == RB_ERROR_MEMORY && !source : source != NULL);
        rb_source_free(source);
    }
    assert_true(n > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_pieces), cmocka_unit_test(blocks_do_not_matter),
        cmocka_unit_test(places_are_alike),   cmocka_unit_test(scaling),
        cmocka_unit_test(few_of_many),        cmocka_unit_test(equal_values_cannot_be_scaled),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
