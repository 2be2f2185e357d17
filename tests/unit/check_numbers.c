/* Outliers of a list of numbers: distances from the median in standard deviations of a normal
 * distribution, by the median of absolute ones. */
#include "fixture.h"

#include "check/check.h"

static void distances_are_in_standard_deviations(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    const double values[] = {10, 12, 11, 9, 8, 20, 10.5}; /* median 10.5, of the distances 1.5 */
    const int64_t places[] = {3, 5, 7, 9, 11, 13, 15};
    rb_look one = {.ctx = ctx};
    const double rounded[] = {1e6, 1e6 + 1e-5, 1e6 - 1e-5, 1e6, 1e6 + 1e-5, 1e6, 1e6 + 1};
    rb_outliers none = {0};
    assert_ok(ctx, rb_find_outliers(&one, rounded, places, 7, 5, &none));
    assert_int_equal(none.count, 0); /* all are the same but for rounding */
    for (int beyond = 0; beyond < 2; beyond++) {
        rb_outliers found = {0};
        double limit = 9.5 / (1.4826 * 1.5) * (beyond ? 0.999 : 1.001);
        assert_ok(ctx, rb_find_outliers(&one, values, places, 7, limit, &found));
        assert_int_equal(found.count, beyond);
        if (beyond) {
            assert_int_equal(found.shown[0], 13);
            assert_close(found.z[0], 9.5 / (1.4826 * 1.5), 1e-12);
        }
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances_are_in_standard_deviations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
