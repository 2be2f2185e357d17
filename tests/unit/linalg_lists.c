/* Moments of codes of which most are 0: those of dense products, the same bits for any number of
 * threads. */
#include "linalg_test.h"

enum { SAMPLES = 600, FEATURES = 147, UNITS = 71 };

/* One in `every` is not 0. NaN lies behind each row, and some of it may be read. */
static rb_dense codes(rb_context *ctx, rb_type type, int64_t samples, int64_t units, int every) {
    rb_dense m = test_random(ctx, type, samples, units, rb_spaced(type, units) - units + 1, 2);
    m.spare = rb_spaced(type, units) - units;
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t i = 0; i < samples; i++)
        for (int64_t j = 0; j < units; j++)
            if (rb_draw_uniform(&draws) * every > 1) rb_dense_set(m, i, j, 0);
    return m;
}

struct moments {
    rb_dense u, s;
};

static struct moments there(rb_context *ctx, rb_type type) {
    return (struct moments){test_random(ctx, type, FEATURES, UNITS, 2, 4),
                            test_random(ctx, type, UNITS, UNITS, 0, 5)};
}

static void free_moments(struct moments *a) {
    rb_dense_free(&a->u);
    rb_dense_free(&a->s);
}

static void check(rb_dense found, rb_dense expected, bool lower) {
    for (int64_t i = 0; i < found.rows; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : found.cols); j++)
            assert_near(rb_dense_get(found, i, j), rb_dense_get(expected, i, j),
                        test_tolerance(found.type, SAMPLES));
}

/* Few values by lists, many as they are, of few samples, too. */
static void moments_are_those_of_dense_products(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    for (int type = RB_FLOAT32; type <= RB_FLOAT64; type++) {
        rb_dense v = test_random(ctx, (rb_type)type, SAMPLES, FEATURES, 1, 1);
        for (int every = 1; every <= 1000; every *= 10) {
            rb_dense m = codes(ctx, (rb_type)type, SAMPLES, UNITS, every);
            struct moments a = there(ctx, (rb_type)type), b = there(ctx, (rb_type)type);
            for (int64_t samples = 13; samples <= SAMPLES; samples += SAMPLES - 13) {
                rb_dense some = rb_dense_rows(v, 0, samples), of = rb_dense_rows(m, 0, samples);
                double above = rb_dense_get(b.s, 0, UNITS / 2);
                rb_moments_parallel(ctx, 0.7, some, of, a.u, a.s);
                assert_int_equal(rb_moments_of_codes(ctx, 0.7, some, of, b.u, b.s), RB_OK);
                bool lists = rb_dense_get(b.s, 0, UNITS / 2) != above;
                if (every < 100) assert_int_equal(lists, every > 1 && samples == SAMPLES);
            }
            check(b.u, a.u, false);
            check(b.s, a.s, true);
            free_moments(&a);
            free_moments(&b);
            rb_dense_free(&m);
        }
        rb_dense_free(&v);
    }
    rb_context_free(ctx);
}

static void threads_change_no_bit(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    rb_context *ctx = test_context(1);
    rb_dense v = test_random(ctx, RB_FLOAT32, SAMPLES, FEATURES, 0, 1);
    rb_dense m = codes(ctx, RB_FLOAT32, SAMPLES, UNITS, 5);
    struct moments of[4];
    for (int t = 0; t < 4; t++) {
        assert_int_equal(rb_context_set_threads(ctx, threads[t]), RB_OK);
        of[t] = there(ctx, RB_FLOAT32);
        assert_int_equal(rb_moments_of_codes(ctx, 1, v, m, of[t].u, of[t].s), RB_OK);
        assert_same_bits(of[t].u, of[0].u);
        assert_same_bits(of[t].s, of[0].s);
    }
    for (int t = 0; t < 4; t++)
        free_moments(&of[t]);
    rb_dense_free(&v);
    rb_dense_free(&m);
    rb_context_free(ctx);
}

/* Without memory nothing is added; and there may be no feature. */
static void memory_may_end(void **state) {
    (void)state;
    rb_context *ctx = test_context(2);
    rb_dense v = test_random(ctx, RB_FLOAT32, SAMPLES, FEATURES, 0, 1);
    rb_dense m = codes(ctx, RB_FLOAT32, SAMPLES, UNITS, 5);
    struct moments a = there(ctx, RB_FLOAT32), b = there(ctx, RB_FLOAT32);
    rb_error err = RB_ERROR_MEMORY;
    for (int n = 0; err; n++) {
        assert_same_bits(a.u, b.u);
        assert_same_bits(a.s, b.s);
        ctx->allocations_left = n;
        err = rb_moments_of_codes(ctx, 1, v, m, a.u, a.s);
        assert_true(err ? err == RB_ERROR_MEMORY : n > 2);
    }
    ctx->allocations_left = -1;
    rb_dense none = rb_dense_part(v, 0, SAMPLES, 0, 0);
    assert_int_equal(rb_moments_of_codes(ctx, 1, none, m, rb_dense_rows(b.u, 0, 0), b.s), RB_OK);
    check(b.s, a.s, true);
    free_moments(&a);
    free_moments(&b);
    rb_dense_free(&v);
    rb_dense_free(&m);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_dense_products),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
