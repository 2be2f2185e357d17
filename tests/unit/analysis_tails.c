/* Tails of distributions against numbers of scipy 1.10 (stats.norm.sf, stats.t.sf). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/analysis.h"

#include <math.h>

static void close_to(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void normal(void **state) {
    (void)state;
    static const double rows[][2] = {{0, 0.5},
                                     {1, 0.15865525393145707},
                                     {-2, 0.97724986805182079},
                                     {6, 9.8658764503769458e-10},
                                     {20, 2.7536241186061556e-89},
                                     {37, 5.7255712225239266e-300}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        close_to(rb_tail_normal(rows[r][0]), rows[r][1]);
}

static void student(void **state) {
    (void)state;
    static const double rows[][3] = {
        {0, 3, 0.5},
        {1, 1, 0.24999999999999978},
        {2.5, 1, 0.12111894159084335},
        {-1.3, 2, 0.83837648409197973},
        {0.3, 4, 0.38956071413872984},
        {4, 10, 0.0012591663123683462},
        {12, 7, 3.1791551890925472e-06},
        {1.96, 97, 0.026432644838043102},
        {3.5, 80, 0.00038175936228672234},
        {8, 1000, 1.7133307411957495e-15},
        {-6, 30, 0.99999930286156158},
        {40, 3, 1.719034039457927e-05},
        {2, 1e6, 0.022750266925659599},
        {1e-8, 5, 0.49999999620393309},
        {6, 99999, 9.8996476162176583e-10},
        {INFINITY, 4, 0},
        {-INFINITY, 4, 1},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        close_to(rb_tail_t(rows[r][0], rows[r][1]), rows[r][2]);
    assert_true(isnan(rb_tail_t(NAN, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(normal), cmocka_unit_test(student)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
