/* Bars: every pixel, how often each bar appears, how bars cross, the noise, what a seed
 * promises. */
#include "../errors.h"
#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

struct bars {
    rb_matrix *matrix, *fields, *states;
};

static int new_context(void **state) {
    return rb_context_create((rb_context **)state);
}

static int free_context(void **state) {
    rb_context_free(*state);
    return 0;
}

static struct bars generate(rb_context *ctx, const rb_bars_plan *plan) {
    struct bars b;
    assert_int_equal(rb_generate_bars(ctx, plan, &b.matrix, &b.fields, &b.states), RB_OK);
    return b;
}

static void clear(struct bars *b) {
    rb_matrix_free(b->matrix);
    rb_matrix_free(b->fields);
    rb_matrix_free(b->states);
}

static const rb_bars_plan paper = {.size = 5,
                                   .width = 1,
                                   .value = 10,
                                   .probability = 0.2,
                                   .noise_sd = 2,
                                   .n_samples = 500,
                                   .seed = 1};

static void assert_bar(const rb_matrix *fields, int64_t bar, const char *pixels, double value) {
    for (int64_t d = 0; pixels[d]; d++)
        assert_true(rb_matrix_at(fields, bar, d) == (pixels[d] == '#' ? value : 0));
}

/* Bars of size 3, drawn by hand: three rows, three columns; two pixels wide; as wide as the
 * picture. */
static void pixels(void **state) {
    static const char *const thin[] = {"###......", "...###...", "......###",
                                       "#..#..#..", ".#..#..#.", "..#..#..#"};
    static const char *const wide[] = {"######...", "...######", "##.##.##.", ".##.##.##"};
    rb_bars_plan plan = {.size = 3, .width = 1, .value = 7, .n_samples = 1};
    assert_int_equal(rb_bars_count(3, 1), 6);
    assert_int_equal(rb_bars_count(9, 2), 16);
    struct bars b = generate(*state, &plan);
    assert_int_equal(b.fields->n_samples, 6);
    assert_int_equal(b.fields->n_features, 9);
    for (int64_t k = 0; k < 6; k++)
        assert_bar(b.fields, k, thin[k], 7);
    clear(&b);
    plan.width = 2;
    plan.signs = true;
    b = generate(*state, &plan);
    assert_int_equal(b.fields->n_samples, 4);
    for (int64_t k = 0; k < 4; k++)
        assert_bar(b.fields, k, wide[k], k % 2 ? -7 : 7);
    clear(&b);
    plan.width = 3;
    b = generate(*state, &plan);
    assert_int_equal(b.fields->n_samples, 2);
    assert_bar(b.fields, 0, "#########", 7);
    assert_bar(b.fields, 1, "#########", -7);
    clear(&b);
}

/* Five of the ten bars of the paper are negative, of both directions. */
static void half_of_the_bars_are_negative(void **state) {
    rb_bars_plan plan = paper;
    plan.signs = true;
    struct bars b = generate(*state, &plan);
    int rows = 0, columns = 0;
    for (int64_t k = 0; k < 10; k++) {
        double sum = 0;
        for (int64_t d = 0; d < 25; d++)
            sum += rb_matrix_at(b.fields, k, d);
        assert_true(fabs(sum) == 50);
        rows += k < 5 && sum < 0;
        columns += k >= 5 && sum < 0;
    }
    assert_int_equal(rows + columns, 5);
    assert_true(rows >= 2 && columns >= 2);
    clear(&b);
}

/* Without noise a sample is the sum, or the maximum, of its bars' fields and 0. */
static void samples_are_their_bars(void **state) {
    for (int style = 0; style < 3; style++) {
        rb_bars_plan plan = paper;
        plan.maximum = style == 1;
        plan.signs = style == 2;
        plan.noise_sd = 0;
        plan.probability = 0.5;
        struct bars b = generate(*state, &plan);
        double largest = 0;
        for (int64_t n = 0; n < plan.n_samples; n++) {
            for (int64_t d = 0; d < 25; d++) {
                double sum = 0, maximum = 0;
                for (int64_t k = 0; k < 10; k++) {
                    double part = rb_matrix_at(b.states, n, k) * rb_matrix_at(b.fields, k, d);
                    sum += part;
                    maximum = fmax(maximum, part);
                }
                double value = rb_matrix_at(b.matrix, n, d);
                assert_true(value == (plan.maximum ? maximum : sum));
                largest = fmax(largest, value);
            }
        }
        assert_true(largest == (plan.maximum ? 10 : 20)); /* bars did cross */
        clear(&b);
    }
}

/* Each bar is in a share p of the samples and each pair of bars in p^2, within 5 standard
 * deviations. */
static void bars_are_independent(void **state) {
    enum { N = 20000 };
    rb_bars_plan plan = paper;
    plan.n_samples = N;
    struct bars b = generate(*state, &plan);
    for (int64_t k = 0; k < 10; k++) {
        for (int64_t l = 0; l <= k; l++) {
            double count = 0, p = k == l ? 0.2 : 0.04;
            for (int64_t n = 0; n < N; n++) {
                double x = rb_matrix_at(b.states, n, k), y = rb_matrix_at(b.states, n, l);
                assert_true(x == 0 || x == 1);
                count += x * y;
            }
            assert_true(fabs(count / N - p) < 5 * sqrt(p * (1 - p) / N));
        }
    }
    clear(&b);
}

/* Noise has mean 0, its standard deviation, and no correlation from pixel to pixel. */
static void noise(void **state) {
    rb_bars_plan plan = paper;
    plan.n_samples = 2000;
    struct bars noisy = generate(*state, &plan);
    plan.noise_sd = 0;
    struct bars plain = generate(*state, &plan);
    double sum = 0, squares = 0, neighbours = 0, before = 0, count = 2000 * 25;
    for (int64_t n = 0; n < 2000; n++) {
        for (int64_t d = 0; d < 25; d++) {
            double e = rb_matrix_at(noisy.matrix, n, d) - rb_matrix_at(plain.matrix, n, d);
            sum += e;
            squares += e * e;
            neighbours += e * before;
            before = e;
        }
    }
    assert_true(fabs(sum / count) < 5 * 2 / sqrt(count));
    assert_true(fabs(squares / count - 4) < 5 * 4 * sqrt(2 / count));
    assert_true(fabs(neighbours / count) < 5 * 4 / sqrt(count));
    assert_memory_equal(noisy.states->values, plain.states->values, 2000 * 10 * sizeof(double));
    clear(&noisy);
    clear(&plain);
}

/* The same seed gives the same bits; more samples begin with the same ones; another seed
 * differs. */
static void seeds(void **state) {
    rb_bars_plan plan = paper;
    struct bars a = generate(*state, &plan);
    plan.n_samples = 700;
    struct bars more = generate(*state, &plan);
    assert_memory_equal(a.matrix->values, more.matrix->values, 500 * 25 * sizeof(double));
    plan.seed = 2;
    struct bars other = generate(*state, &plan);
    assert_true(memcmp(a.matrix->values, other.matrix->values, 500 * 25 * sizeof(double)) != 0);
    clear(&a);
    clear(&more);
    clear(&other);
}

/* Certain and impossible bars. */
static void probabilities_at_the_ends(void **state) {
    for (int p = 0; p < 2; p++) {
        rb_bars_plan plan = paper;
        plan.probability = p;
        plan.noise_sd = 0;
        struct bars b = generate(*state, &plan);
        for (int64_t c = 0; c < 500 * 25; c++)
            assert_true(rb_matrix_at(b.matrix, c / 25, c % 25) == 20 * p);
        clear(&b);
    }
}

static void no_memory(void **state) {
    rb_context *ctx = *state;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        struct bars b;
        err = rb_generate_bars(ctx, &paper, &b.matrix, &b.fields, &b.states);
        if (err)
            assert_true(!b.matrix && !b.fields && !b.states);
        else
            clear(&b);
    }
    assert_true(n > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels),
        cmocka_unit_test(half_of_the_bars_are_negative),
        cmocka_unit_test(samples_are_their_bars),
        cmocka_unit_test(bars_are_independent),
        cmocka_unit_test(noise),
        cmocka_unit_test(seeds),
        cmocka_unit_test(probabilities_at_the_ends),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, new_context, free_context);
}
