/* What a fit costs: told in silence, larger for more units, and an error where nothing can be
 * fitted or memory is out. */
#include "fixture.h"

#include "data/data.h"
#include <rarebit/check.h>

enum { N = 80, M = 12 };

static int heard;

static void hear(rb_log_level level, const char *message, void *user) {
    (void)level, (void)message, (void)user;
    heard++;
}

static rb_source *make_source(rb_context *ctx, bool constant) {
    static double values[N * M];
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    for (int i = 0; i < N * M; i++)
        values[i] = constant ? 1 : rb_draw_normal(&draws) + 3 * (i / M < N / 3 && i % M < 4);
    return fixture_data(ctx, values, N, M);
}

static rb_check *look(rb_context *ctx, rb_source *source, int64_t units) {
    rb_options *options;
    rb_check *check;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_check_group()));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "units", units));
    assert_ok(ctx, rb_check_run(ctx, source, options, &check));
    rb_options_free(options);
    return check;
}

static void more_units_cost_more(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx, false);
    double before = N * M * 8.0;
    rb_context_on_log(ctx, hear, NULL);
    for (int units = 2; units <= 32; units *= 4) {
        rb_check *check = look(ctx, source, units);
        rb_cost cost = {.size = sizeof cost};
        heard = 0;
        assert_ok(ctx, rb_check_cost(ctx, check, source, &cost));
        assert_int_equal(heard, 0);
        assert_true(cost.bytes > before && cost.bytes < 1e7);
        assert_true(cost.seconds > 0 && cost.seconds < 1000);
        assert_int_equal(cost.iterations, 200);
        assert_int_equal(cost.tried_samples, N);
        before = cost.bytes;
        rb_check_free(check);
    }
    rb_source_free(source);
}

static void nothing_to_fit(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx, true);
    rb_check *check = look(ctx, source, 2);
    rb_cost cost = {.size = sizeof cost};
    assert_int_equal(rb_check_cost(ctx, check, source, &cost), RB_ERROR_DATA);
    cost.size = 0;
    assert_int_equal(rb_check_cost(ctx, check, source, &cost), RB_ERROR_ARGUMENT);
    rb_check_free(check);
    rb_source_free(source);
}

static void no_memory(void **state) {
    rb_context *ctx = *state;
    rb_source *source = make_source(ctx, false);
    rb_check *check = look(ctx, source, 2);
    rb_context_on_log(ctx, hear, NULL);
    int64_t n = 0;
    for (rb_error err = RB_ERROR_MEMORY; allow_allocations(ctx, n, err); n++) {
        rb_cost cost = {.size = sizeof cost};
        err = rb_check_cost(ctx, check, source, &cost);
        assert_true(ctx->on_log == hear);
    }
    assert_true(n > 50);
    rb_check_free(check);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_units_cost_more),
        cmocka_unit_test(nothing_to_fit),
        cmocka_unit_test(no_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
