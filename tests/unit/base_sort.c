/* Quantiles of numbers in any order against those of sorted ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include <math.h>
#include <string.h>

enum { MOST = 5000, ORDERS = 6 };

/* Random, ascending, descending, all equal, few values, rising and falling. */
static double number(rb_draws *draws, int order, int64_t i, int64_t count) {
    return order == 0   ? rb_draw_normal(draws)
           : order == 1 ? (double)i
           : order == 2 ? (double)-i
           : order == 3 ? 7
           : order == 4 ? (double)rb_draw_integer(draws, 0, 3)
                        : (double)(i < count / 2 ? i : count - i);
}

static void as_of_sorted_numbers(void **state) {
    (void)state;
    static const double shares[] = {0, 0.25, 0.5, 0.731, 1};
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t count = 1; count <= MOST; count += count < 20 ? 1 : count < 600 ? 70 : 733) {
        for (int order = 0; order < ORDERS; order++) {
            double values[MOST], sorted[MOST];
            for (int64_t i = 0; i < count; i++)
                values[i] = number(&draws, order, i, count);
            memcpy(sorted, values, sizeof sorted);
            rb_sort_numbers(sorted, count);
            for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
                assert_true(rb_quantile_in(values, count, shares[s]) ==
                            rb_quantile_of(sorted, count, shares[s]));
            rb_sort_numbers(values, count);
            assert_memory_equal(values, sorted, (size_t)count * sizeof *values);
        }
    }
    assert_true(isnan(rb_quantile_in(NULL, 0, 0.5)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_of_sorted_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
