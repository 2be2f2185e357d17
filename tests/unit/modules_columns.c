/* Columns: correlation and length, also where squares are too large for a number. */
#include "../fixture.h"
#include "modules/modules.h"

static void correlates(void **state) {
    (void)state;
    const double x[] = {1, 9, 2, 9, 4, 9}, y[] = {3, 1, 4};
    /* deviations -4/3, -1/3, 5/3 and 1/3, -5/3, 4/3 */
    assert_close(rb_correlation(3, x, 2, y, 1), 21.0 / 42, 1e-14);
    assert_true(isnan(rb_correlation(3, x + 1, 2, y, 1)));
    const double large[] = {1e100, -1e100, 3e100, 2e100},
                 reversed[] = {-1e100, 1e100, -3e100, -2e100}, small[] = {1e-100, -1e-100, 3e-100};
    assert_close(rb_correlation(4, large, 1, reversed, 1), -1, 1e-14);
    assert_close(rb_correlation(3, small, 1, small, 1), 1, 1e-14);
}

static void makes_of_length_one(void **state) {
    (void)state;
    double x[] = {1, 7, 3, 7, 5, 7}, y[] = {3, 4}, same[] = {0.1, 0.1, 0.1}, none[] = {0, 0};
    assert_true(rb_normalise(3, x, 2, true));
    assert_close(x[0], -sqrt(0.5), 1e-14);
    assert_close(x[2], 0, 1e-14);
    assert_true(x[1] == 7);
    assert_true(rb_normalise(2, y, 1, false));
    assert_close(y[1], 0.8, 1e-14);
    assert_false(rb_normalise(3, same, 1, true)); /* but for rounding */
    assert_true(same[0] == 0 && same[1] == 0 && same[2] == 0);
    assert_false(rb_normalise(2, none, 1, false));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correlates),
        cmocka_unit_test(makes_of_length_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
