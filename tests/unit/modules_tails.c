/* Tails of distributions against closed forms, and where they end; false discovery rates against
 * their definition. tests/differential/statistics.py has scipy's numbers. */
#include "../fixture.h"
#include "modules/modules.h"

static void closed_forms(void **state) {
    (void)state;
    for (double x = 1e-3; x < 1e4; x *= 1.7) {
        double root = sqrt(x);
        assert_close(rb_log_chi_square_tail(x, 2), -x / 2, 1e-12);
        assert_close(rb_log_chi_square_tail(x, 4), log1p(x / 2) - x / 2, 1e-12);
        assert_close(rb_log_chi_square_tail(x, 1), log(2) + rb_log_normal_tail(root), 1e-12);
        assert_close(rb_log_student_tail(root, 1), log(2 / M_PI * atan(1 / root)), 1e-12);
        assert_close(rb_log_student_tail(root, 2), log(2 / ((2 + x) * (1 + sqrt(x / (2 + x))))),
                     1e-12);
    }
    assert_close(rb_log_normal_tail(0), log(0.5), 1e-15);
    assert_close(rb_log_normal_tail(-1) - log1p(-exp(rb_log_normal_tail(1))), 0, 1e-15);
}

/* Of many degrees of freedom, by the sums that even numbers have: 26.4.5 and 26.7.4 of Abramowitz
 * and Stegun. */
static void many_degrees(void **state) {
    (void)state;
    for (int degrees = 10; degrees <= 200; degrees += 38) {
        for (double x = 0.4 * degrees; x < 3 * degrees; x *= 1.3) {
            double term = 1, poisson = 1, sum = 1, power = 1;
            double t = sqrt(x / degrees), angle = atan(t / sqrt(degrees));
            for (int k = 1; k < degrees / 2; k++) {
                poisson += term *= x / 2 / k;
                sum += power *= (2 * k - 1.0) / (2 * k) * pow(cos(angle), 2);
            }
            assert_close(rb_log_chi_square_tail(x, degrees), log(poisson) - x / 2, 1e-11);
            assert_close(rb_log_student_tail(t, degrees), log1p(-sin(angle) * sum), 1e-11);
        }
    }
}

/* Where a double ends the logarithm goes on; both branches meet. */
static void beyond_a_double(void **state) {
    (void)state;
    assert_close(rb_log_normal_tail(30 - 1e-12), rb_log_normal_tail(30), 1e-11);
    for (double z = 50; z < 1e8; z *= 10) {
        double z2 = z * z, series = log1p(-1 / z2 + 3 / (z2 * z2));
        assert_close(rb_log_normal_tail(z), -z2 / 2 - log(z * sqrt(2 * M_PI)) + series, 1e-9);
    }
    assert_true(rb_log_chi_square_tail(1e6, 3) < -4e5);
    assert_true(isfinite(rb_log_chi_square_tail(1e6, 3)));
    assert_close(rb_log_student_tail(1e200, 3), rb_log_student_tail(1e100, 3) - 300 * log(10),
                 1e-12);
    assert_close(rb_log_student_tail(3, 1e8), log(2) + rb_log_normal_tail(3), 1e-6);
    assert_true(rb_log_chi_square_tail(0, 3) == 0 && rb_log_student_tail(0, 3) == 0);
    assert_true(rb_log_normal_tail(INFINITY) == -INFINITY);
    assert_true(rb_log_student_tail(INFINITY, 3) == -INFINITY);
    assert_true(isnan(rb_log_chi_square_tail(NAN, 3)) && isnan(rb_log_student_tail(NAN, 3)));
    assert_true(isnan(rb_log_chi_square_tail(1, 0)) && isnan(rb_log_student_tail(1, 0)));
}

/* The smallest of m p_(j) / j over j >= i, at most 1; NaN is no test. */
static void rates_by_definition(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    const double p[] = {0.04, NAN, 0.001, 0.03, 0.9, 0.001, 0.5};
    const double six[] = {0.06, NAN, 0.003, 0.06, 0.9, 0.003, 0.6};
    double log_p[7], log_fdr[7];
    for (int i = 0; i < 7; i++)
        log_p[i] = log(p[i]);
    assert_ok(ctx, rb_false_discovery(ctx, log_p, true, 7, 0, log_fdr));
    for (int i = 0; i < 7; i++)
        if (!isnan(six[i])) assert_close(exp(log_fdr[i]), six[i], 1e-12);
    assert_true(isnan(log_fdr[1]));
    assert_ok(ctx,
              rb_false_discovery(ctx, log_p, true, 7, 60, log_fdr)); /* 54 more, of p-value 1 */
    assert_close(exp(log_fdr[2]), 0.03, 1e-12);
    assert_close(exp(log_fdr[0]), 0.6, 1e-12);
    assert_true(log_fdr[4] == 0);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(many_degrees),
        cmocka_unit_test(beyond_a_double),
        cmocka_unit_test(rates_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
