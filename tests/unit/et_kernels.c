/* The inner loops of MCA's states against the C library's powers. */
#include "fixture.h"

#include "et/kernels.h"

enum { N = ET_BAND };

/* Two causes with q (r_1 + r_2)^-a: what each is added, and that times y. */
static void check(const et_kernels *kernels, bool coarse, double tolerance) {
    const double q = 0.3, a = 10;
    double powers[2][N], roots[2][N], weights[2][N] = {{0}}, products[2][N] = {{0}}, y[N];
    for (int d = 0; d < N; d++) {
        y[d] = d - 20.5;
        powers[0][d] = 0.4 + 0.016 * d; /* sums from 0.5 to 2 */
        powers[1][d] = 0.1 + 0.0078 * d;
        roots[0][d] = 1 + d;
        roots[1][d] = 2.5;
    }
    const et_soft_cause causes[] = {{powers[0], roots[0], weights[0], products[0]},
                                    {powers[1], roots[1], weights[1], products[1]}};
    kernels->responsibilities(N, 2, causes, (et_soft){a, coarse}, q, y, NULL);
    for (int d = 0; d < N; d++) {
        double sum = q * pow(powers[0][d] + powers[1][d], -a);
        for (int k = 0; k < 2; k++) {
            assert_true(fabs(weights[k][d] / (roots[k][d] * sum) - 1) <= tolerance);
            assert_true(fabs(products[k][d] / (roots[k][d] * sum * y[d]) - 1) <= tolerance);
        }
    }
}

static void responsibilities_are_powers(void **state) {
    static const char *const names[] = {"ref", "avx2", "avx512"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        rb_context *ctx = fixture_context();
        if (rb_context_set_kernels(ctx, names[k]) == RB_OK) {
            assert_string_equal(et_kernels_of(ctx)->name, names[k]);
            check(et_kernels_of(ctx), false, 2e-14);
            check(et_kernels_of(ctx), true, 1e-5);
        }
        rb_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(responsibilities_are_powers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
