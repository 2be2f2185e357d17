/* What a unit is, by its codes and loadings: the rules of src/modules/role.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "modules/modules.h"

#include <math.h>
#include <stdlib.h>

static rb_powers powers_of(const double *numbers, int64_t count) {
    rb_powers p = {0};
    for (int64_t i = 0; i < count; i++)
        rb_powers_add(&p, numbers[i]);
    return p;
}

/* ---- background, by codes alone ---- */

/* The role of a unit with these codes in 6 samples, and 0 in so many others, that is not spare. */
static rb_unit_role role_of(const double codes[6], int64_t others) {
    static const double strong[] = {99, 99, 99, 99};
    rb_powers z = powers_of(codes, 6), b = powers_of(strong, 4);
    return rb_role_of(&z, 6 + others, &b, 10);
}

/* By the skewness of its codes, and by the share of samples that have one. */
static void background_by_its_codes(void **state) {
    (void)state;
    static const double alike[] = {2, 2, 2, 2, 2, 2}, even[] = {1, 2, 3, 3, 4, 5},
                        two[] = {1, 1, 1, 1, 5, 5}, one[] = {1, 1, 1, 1, 1, 12};
    assert_int_equal(role_of(alike, 2), RB_UNIT_BACKGROUND); /* skewed down */
    assert_int_equal(role_of(even, 2), RB_UNIT_BACKGROUND);  /* hardly skewed, and in most */
    assert_int_equal(role_of(even, 5), RB_UNIT_MODULE);      /* in 6 of 11 */
    assert_int_equal(role_of(two, 0), RB_UNIT_MODULE);
    assert_int_equal(role_of(one, 0), RB_UNIT_SPARE); /* hardly more than one sample */
    assert_int_equal(role_of(alike, 30), RB_UNIT_MODULE);
}

/* ---- spare ---- */

enum { N = 100, M = 200 };

/* A unit with codes of 1 in so many samples, and loadings of one size on so many of m features. */
static rb_unit_role block_of(int64_t samples, int64_t features, int64_t m, double size) {
    rb_powers z = {0}, b = {0};
    for (int64_t i = 0; i < samples; i++)
        rb_powers_add(&z, 1);
    for (int64_t k = 0; k < features; k++)
        rb_powers_add(&b, size);
    return rb_role_of(&z, N, &b, m);
}

static rb_unit_role block(int64_t samples, int64_t features, double size) {
    return block_of(samples, features, M, size);
}

/* Loadings of just the size at which a block of equal numbers is no longer spare. */
static void spare_below_its_bound(void **state) {
    (void)state;
    for (int64_t r = 2; r <= 32; r *= 2) {
        for (int64_t c = 2; c <= 128; c *= 4) {
            double rows = (double)r, columns = (double)c;
            double bound = rows + columns + 2 * sqrt(rows * columns) + 2 * rows * log(N / rows) +
                           2 * columns * log(M / columns);
            double size = sqrt(bound / 10 / ((rows - 1) * (columns - 1)));
            assert_int_equal(block(r, c, 0.999 * size), RB_UNIT_SPARE);
            assert_int_equal(block(r, c, 1.001 * size), RB_UNIT_MODULE);
        }
    }
}

/* Of few features, the bound is lower in proportion. */
static void spare_among_few_features(void **state) {
    (void)state;
    double bound = pow(sqrt(20) + sqrt(6), 2) + 40 * log(100 / 20.0) + 12 * log(25 / 6.0);
    double size = sqrt(bound / 40 / (19 * 5));
    assert_int_equal(block_of(20, 6, 25, 0.999 * size), RB_UNIT_SPARE);
    assert_int_equal(block_of(20, 6, 25, 1.001 * size), RB_UNIT_MODULE);
}

/* However large: one sample or one feature shares nothing. */
static void spare_where_nothing_is_shared(void **state) {
    (void)state;
    assert_int_equal(block(1, 50, 1e6), RB_UNIT_SPARE);
    assert_int_equal(block(50, 1, 1e6), RB_UNIT_SPARE);
    assert_int_equal(block(0, 50, 1), RB_UNIT_SPARE);
    assert_int_equal(block(20, 0, 1), RB_UNIT_SPARE);
    assert_int_equal(block(0, 0, 1), RB_UNIT_SPARE);
    assert_int_equal(block(2, 2, 1e6), RB_UNIT_MODULE);
}

/* ---- a spare unit that is significant ---- */

/* It comes where its score belongs, with all that is known of it; the others stay in order. */
static void promoted_by_its_score(void **state) {
    (void)state;
    rb_context *ctx = NULL;
    rb_modules *m;
    static const double scores[] = {9, 5, 7, 2};
    static const int64_t after[] = {0, 2, 1, 3};
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    assert_int_equal(rb_modules_new(ctx, 4, &m), RB_OK);
    m->significance = calloc(4, sizeof *m->significance);
    for (int r = 0; r < 4; r++) {
        m->list[r].unit = r;
        m->notes[r] = (rb_module_note){scores[r], r < 2 ? RB_UNIT_MODULE : RB_UNIT_SPARE};
        m->significance[r].p = r;
    }
    assert_int_equal(rb_modules_called(m), 2);
    rb_modules_promote(m, 2);
    assert_int_equal(rb_modules_called(m), 3);
    for (int r = 0; r < 4; r++) {
        assert_int_equal(m->list[r].unit, after[r]);
        assert_true(m->notes[r].score == scores[after[r]]);
        assert_true(m->significance[r].p == (double)after[r]);
    }
    rb_modules_free(m);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(background_by_its_codes),  cmocka_unit_test(spare_below_its_bound),
        cmocka_unit_test(spare_among_few_features), cmocka_unit_test(spare_where_nothing_is_shared),
        cmocka_unit_test(promoted_by_its_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
