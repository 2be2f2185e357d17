/* How many units of data without modules: correlated normal features. */
#include "fixture.h"
#include "study/select.h"

#include <string.h>

enum { N = 120, M = 60, FACTORS = 5 };

static void make_values(uint64_t seed, double values[N * M]) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 3}, 0};
    for (int64_t i = 0; i < N; i++) {
        double factor = 0;
        for (int64_t k = 0; k < M; k++) {
            if (k % (M / FACTORS) == 0) factor = rb_draw_normal(&draws);
            values[i * M + k] = 0.7 * factor + 0.7 * rb_draw_normal(&draws);
        }
    }
}

/* Blocks of features that share normal factors recur, but no sample stands out along them. */
static void normal_factors_are_no_modules(void **state) {
    static double values[N * M];
    rb_context *ctx = fixture_context();
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        int64_t units, low, high;
        rb_options *options;
        rb_selection *s;
        make_values(seed, values);
        rb_source *source = fixture_data(ctx, values, N, M);
        assert_ok(ctx, rb_select_options(ctx, "rfn", &options));
        assert_ok(ctx, rb_options_set_all(ctx, options, "units=2:6 restarts=3 folds=3 seed=3"));
        assert_ok(ctx, rb_select(ctx, options, source, &s));
        assert_non_null(strstr(rb_selection_choice(s, &units, &low, &high), "nothing is stable"));
        assert_int_equal(units, 0);
        assert_true(rb_selection_get(s, 3, "match") > 0.3);
        rb_selection_free(s);
        rb_options_free(options);
        rb_source_free(source);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(normal_factors_are_no_modules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
