/* Labelled pictures: the statistics that the rules of the published sets imply. */
#include "fixture.h"

#include "simulate/simulate.h"

enum { SIDE = 28, PIXELS = SIDE * SIDE, N = 2000 };

typedef struct made {
    rb_matrix *pictures, *labels;
} made;

static rb_error make(rb_context *ctx, const char *kind, int64_t samples, int64_t first,
                     const rb_pictures_input *in, made *m) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_pictures_group()));
    assert_ok(ctx, rb_options_set(ctx, options, "kind", kind));
    assert_ok(ctx, rb_options_set(ctx, options, "values", "bytes"));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "samples", samples));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "first", first));
    rb_error err = rb_simulate_pictures(ctx, options, in, &m->pictures, &m->labels);
    rb_options_free(options);
    return err;
}

static void drop(made *m) {
    rb_matrix_free(m->pictures);
    rb_matrix_free(m->labels);
}

static const float *picture(const made *m, int64_t i) {
    return (const float *)m->pictures->values + i * PIXELS;
}

static int label(const made *m, int64_t i) {
    return (int)rb_matrix_at(m->labels, i, 0);
}

/* The box around what is white; false: nothing is. */
static bool find_box(const float *levels, int64_t box[4]) {
    box[0] = box[1] = SIDE;
    box[2] = box[3] = -1;
    for (int64_t i = 0; i < PIXELS; i++) {
        if (levels[i] == 0) continue;
        int64_t y = i / SIDE, x = i % SIDE;
        box[0] = y < box[0] ? y : box[0];
        box[1] = x < box[1] ? x : box[1];
        box[2] = y > box[2] ? y : box[2];
        box[3] = x > box[3] ? x : box[3];
    }
    return box[2] >= 0;
}

/* A half, within four standard deviations. */
static void assert_balanced(const made *m) {
    int64_t ones = 0;
    for (int64_t i = 0; i < N; i++)
        ones += label(m, i);
    assert_true(fabs((double)ones - N / 2.0) < 4 * sqrt(N / 4.0));
}

static void rectangles_are_borders(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    made m;
    assert_ok(ctx, make(ctx, "rectangles", N, 0, NULL, &m));
    assert_balanced(&m);
    double left = 0, room = 0;
    int64_t smallest = SIDE, largest = 0;
    for (int64_t i = 0; i < N; i++) {
        const float *levels = picture(&m, i);
        int64_t box[4], white = 0;
        assert_true(find_box(levels, box));
        int64_t h = box[2] - box[0] + 1, w = box[3] - box[1] + 1;
        for (int64_t k = 0; k < PIXELS; k++) {
            assert_true(levels[k] == 0 || levels[k] == 255);
            white += levels[k] == 255;
        }
        int64_t border = h == 1 || w == 1 ? h * w : 2 * (h + w) - 4;
        assert_int_equal(white, border);
        assert_true(llabs((long long)(h - w)) >= 3);
        assert_int_equal(label(&m, i), w > h);
        smallest = h < smallest ? h : smallest;
        largest = h > largest ? h : largest;
        left += (double)box[1];
        room += (double)(SIDE - w) / 2;
    }
    assert_int_equal(smallest, 1);
    assert_int_equal(largest, SIDE);
    assert_true(fabs(left / room - 1) < 0.06); /* anywhere where it fits */
    drop(&m);
    rb_context_free(ctx);
}

static void convex_ones_are_as_white_as_others(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    made m;
    assert_ok(ctx, make(ctx, "convex", N, 0, NULL, &m));
    assert_balanced(&m);
    double mean[2] = {0}, squares[2] = {0}, count[2] = {0};
    for (int64_t i = 0; i < N; i++) {
        bool set[PIXELS];
        double white = 0;
        for (int64_t k = 0; k < PIXELS; k++)
            white += set[k] = picture(&m, i)[k] == 255;
        assert_int_equal(rb_is_convex(set, SIDE), label(&m, i));
        assert_true(white >= (label(&m, i) ? 19 : 10));
        mean[label(&m, i)] += white / PIXELS;
        squares[label(&m, i)] += white / PIXELS * white / PIXELS;
        count[label(&m, i)]++;
    }
    double variance = 0;
    for (int c = 0; c < 2; c++) {
        mean[c] /= count[c];
        variance += (squares[c] / count[c] - mean[c] * mean[c]) / count[c];
    }
    assert_true(fabs(mean[1] - mean[0]) < 3 * sqrt(variance));
    drop(&m);
    rb_context_free(ctx);
}

static void convexity_is_that_of_pixels(void **state) {
    (void)state;
    static const struct {
        const char *rows;
        bool convex;
    } sets[] = {{"....."
                 ".##.."
                 ".###."
                 "..##."
                 ".....",
                 true},
                {"#...#"
                 "....."
                 "....."
                 "....."
                 ".....",
                 false},
                {"#...."
                 ".#..."
                 "..#.."
                 "...#."
                 "....#",
                 true},
                {"#...."
                 "#...."
                 "#####"
                 "....."
                 ".....",
                 false},
                {"#...."
                 "....."
                 ".#..."
                 "....."
                 "..#..",
                 true}, /* no pixel is between them */
                {"#...."
                 "....."
                 "..#.."
                 "....."
                 "....#",
                 false},
                {".....", true}};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        bool set[25] = {false};
        for (size_t i = 0; i < strlen(sets[s].rows); i++)
            set[i] = sets[s].rows[i] == '#';
        assert_int_equal(rb_is_convex(set, 5), sets[s].convex);
    }
}

/* ---- digits and images ---- */

enum { DIGITS = 400 };

/* A bright spot right of the middle, of another place for each label. */
static rb_pictures_input input_of(rb_context *ctx, rb_matrix **digits, rb_matrix **labels,
                                  rb_matrix **image) {
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT32, DIGITS, PIXELS, digits));
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT32, DIGITS, 1, labels));
    assert_ok(ctx, rb_matrix_new_dense(ctx, RB_FLOAT32, 60, 80, image));
    for (int64_t i = 0; i < DIGITS; i++) {
        float *levels = (float *)(*digits)->values + i * PIXELS;
        for (int64_t y = 12; y < 16; y++)
            for (int64_t x = 20; x < 24; x++)
                levels[y * SIDE + x] = 250;
        levels[0] = (float)(i % 250); /* which digit it is */
        ((float *)(*labels)->values)[i] = (float)(i % 10);
    }
    for (int64_t i = 0; i < 60 * 80; i++) /* its left half is grey */
        ((float *)(*image)->values)[i] = i % 80 < 40 ? 100 : (float)(i * 7919 % 200);
    return (rb_pictures_input){.size = sizeof(rb_pictures_input),
                               .digits = *digits,
                               .digit_labels = *labels,
                               .images = (const rb_matrix *const *)image,
                               .n_images = 1};
}

static void digits_keep_label_and_level(void **state) {
    (void)state;
    static const char *const kinds[] = {"mnist-basic", "mnist-rand", "mnist-img"};
    rb_context *ctx = fixture_context();
    rb_matrix *digits, *labels, *image;
    rb_pictures_input in = input_of(ctx, &digits, &labels, &image);
    for (int k = 0; k < 3; k++) {
        made m;
        int seen[10] = {0};
        double behind = 0, squares = 0;
        assert_ok(ctx, make(ctx, kinds[k], DIGITS, 0, &in, &m));
        for (int64_t i = 0; i < DIGITS; i++) {
            const float *levels = picture(&m, i);
            seen[label(&m, i)]++;
            assert_true(levels[13 * SIDE + 22] >= 250);
            if (k == 0) assert_int_equal((int)levels[0] % 10, label(&m, i));
            double level = levels[20 * SIDE + 5];
            behind += level / DIGITS;
            squares += level * level / DIGITS;
        }
        for (int d = 0; d < 10; d++)
            assert_int_equal(seen[d], DIGITS / 10); /* each digit once */
        if (k == 0) assert_true(behind == 0);
        if (k == 1) { /* any level of 0 to 255 */
            assert_true(fabs(behind - 127.5) < 4 * 74 / sqrt(DIGITS));
            assert_true(fabs(sqrt(squares - behind * behind) - 73.9) < 8);
        }
        if (k == 2) assert_true(behind > 50 && behind < 150);
        drop(&m);
    }
    rb_matrix_free(digits);
    rb_matrix_free(labels);
    rb_matrix_free(image);
    rb_context_free(ctx);
}

/* The direction of the spot from the middle is any: mean cosine and sine are 0, quadrants equal. */
static void angles_are_uniform(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_matrix *digits, *labels, *image;
    rb_pictures_input in = input_of(ctx, &digits, &labels, &image);
    made m;
    int quadrants[4] = {0};
    double cosine = 0, sine = 0;
    assert_ok(ctx, make(ctx, "mnist-rot", DIGITS, 0, &in, &m));
    for (int64_t i = 0; i < DIGITS; i++) {
        double x = 0, y = 0, mass = 0;
        for (int64_t k = 0; k < PIXELS; k++) {
            double level = picture(&m, i)[k], dx = (double)(k % SIDE) - 13.5,
                   dy = (double)k / SIDE - 13.5;
            bool corner = dx * dx + dy * dy > 12.0 * 12.0;
            if (corner) continue;
            x += level * dx;
            y += level * floor(dy + 0.5);
            mass += level;
        }
        double angle = atan2(y, x);
        assert_true(fabs(hypot(x, y) / mass - 8) < 1.2); /* turned about the middle */
        assert_true(fabs(mass / (16 * 250) - 1) < 0.1);
        cosine += cos(angle) / DIGITS;
        sine += sin(angle) / DIGITS;
        quadrants[(int)floor((angle + M_PI) / (M_PI / 2)) & 3]++;
    }
    assert_true(fabs(cosine) < 4 * sqrt(0.5 / DIGITS) && fabs(sine) < 4 * sqrt(0.5 / DIGITS));
    for (int q = 0; q < 4; q++)
        assert_true(abs(quadrants[q] - DIGITS / 4) < 4 * sqrt(DIGITS * 3.0 / 16));
    drop(&m);
    rb_matrix_free(digits);
    rb_matrix_free(labels);
    rb_matrix_free(image);
    rb_context_free(ctx);
}

/* A sample depends on seed and number alone. */
static void pictures_go_on(void **state) {
    (void)state;
    static const char *const kinds[] = {"rectangles", "rectangles-image", "convex", "mnist-rot"};
    rb_context *ctx = fixture_context();
    rb_matrix *digits, *labels, *image;
    rb_pictures_input in = input_of(ctx, &digits, &labels, &image);
    for (int k = 0; k < 4; k++) {
        made all, some;
        assert_ok(ctx, rb_context_set_threads(ctx, 1));
        assert_ok(ctx, make(ctx, kinds[k], 30, 0, &in, &all));
        assert_ok(ctx, rb_context_set_threads(ctx, 3));
        assert_ok(ctx, make(ctx, kinds[k], 10, 20, &in, &some));
        assert_memory_equal(picture(&all, 20), picture(&some, 0), 10 * PIXELS * sizeof(float));
        for (int i = 0; i < 10; i++)
            assert_int_equal(label(&all, 20 + i), label(&some, i));
        drop(&all);
        drop(&some);
    }
    rb_matrix_free(digits);
    rb_matrix_free(labels);
    rb_matrix_free(image);
    rb_context_free(ctx);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_matrix *digits, *labels, *image;
    rb_pictures_input in = input_of(ctx, &digits, &labels, &image);
    made m;
    assert_int_equal(make(ctx, "mnist-basic", 10, 0, NULL, &m), RB_ERROR_ARGUMENT);
    assert_int_equal(make(ctx, "mnist-basic", 10, DIGITS - 9, &in, &m), RB_ERROR_ARGUMENT);
    assert_string_equal(rb_context_error(ctx), "there are 400 digits, too few for pictures 391 to "
                                               "400: no digit is taken twice");
    in.n_images = 0;
    assert_int_equal(make(ctx, "mnist-img", 10, 0, &in, &m), RB_ERROR_ARGUMENT);
    in.n_images = 1;
    for (int64_t i = 0; i < 60 * 80; i++)
        ((float *)image->values)[i] = 7;
    assert_int_equal(make(ctx, "mnist-img", 1, 0, &in, &m), RB_ERROR_DATA);
    assert_null(m.pictures);
    ((float *)image->values)[3] = NAN;
    assert_int_equal(make(ctx, "rectangles-image", 1, 0, &in, &m), RB_ERROR_DATA);
    ((float *)labels->values)[3] = 0.5F;
    assert_int_equal(make(ctx, "mnist-basic", 10, 0, &in, &m), RB_ERROR_DATA);
    ((float *)digits->values)[3] = 256;
    assert_int_equal(make(ctx, "mnist-basic", 10, 0, &in, &m), RB_ERROR_DATA);
    rb_matrix_free(digits);
    rb_matrix_free(labels);
    rb_matrix_free(image);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles_are_borders),
        cmocka_unit_test(convex_ones_are_as_white_as_others),
        cmocka_unit_test(convexity_is_that_of_pixels),
        cmocka_unit_test(digits_keep_label_and_level),
        cmocka_unit_test(angles_are_uniform),
        cmocka_unit_test(pictures_go_on),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
