/* The clock of phases: nothing when off; each second counts once; other threads count, untimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include <rarebit/rarebit.h>

typedef struct told {
    double seconds, flops, bytes;
} told;

static told of(const rb_context *ctx, rb_phase phase) {
    told t = {0};
    assert_non_null(rb_context_phase(ctx, (int)phase, &t.seconds, &t.flops, &t.bytes));
    return t;
}

static void pass_time(void) {
    for (double end = rb_seconds() + 2e-3; rb_seconds() < end;)
        ;
}

static void nothing_when_off(void **state) {
    rb_context *ctx;
    told t = {0};
    (void)state;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    rb_phase_end(ctx, rb_phase_begin(ctx, RB_PHASE_MSTEP));
    assert_null(rb_context_phase(ctx, 0, &t.seconds, &t.flops, &t.bytes));
    assert_int_equal(rb_context_profile(ctx, true), RB_OK);
    assert_null(rb_context_phase(ctx, RB_PHASE_WAITING, &t.seconds, &t.flops, &t.bytes));
    assert_int_equal(rb_context_profile(ctx, false), RB_OK);
    assert_null(rb_context_phase(ctx, 0, &t.seconds, &t.flops, &t.bytes));
    rb_context_free(ctx);
}

static void an_inner_phase_counts_alone(void **state) {
    rb_context *ctx;
    (void)state;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    assert_int_equal(rb_context_profile(ctx, true), RB_OK);
    double began = rb_seconds(), sum = 0;
    rb_phase outer = rb_phase_begin(ctx, RB_PHASE_MSTEP);
    pass_time();
    double inside = rb_seconds();
    rb_phase inner = rb_phase_begin(ctx, RB_PHASE_READING);
    pass_time();
    rb_phase_end(ctx, inner);
    inside = rb_seconds() - inside;
    rb_phase_end(ctx, outer);
    double all = rb_seconds() - began;
    for (int i = 0; i < RB_PHASE_WAITING; i++)
        sum += of(ctx, (rb_phase)i).seconds;
    assert_true(sum >= all);
    assert_true(of(ctx, RB_PHASE_MSTEP).seconds >= 2e-3);
    assert_true(of(ctx, RB_PHASE_MSTEP).seconds <= all - 2e-3);
    assert_true(of(ctx, RB_PHASE_READING).seconds >= 2e-3);
    assert_true(of(ctx, RB_PHASE_READING).seconds <= inside);
    rb_context_free(ctx);
}

static void multiply(void *arg, int64_t index, int worker) {
    const rb_context *ctx = arg;
    (void)index;
    (void)worker;
    rb_phase before = rb_phase_product(ctx, 2, 3, 4, 8);
    rb_phase_end(ctx, before);
    before = rb_phase_sparse(ctx, 10, 2, 3, 4);
    rb_phase_end(ctx, before);
}

/* Products of an E-step are a phase of their own, those of other phases belong to them. */
static void products_count_on_all_threads(void **state) {
    enum { TASKS = 1000, FLOPS = 2 * 2 * 3 * 4 + 2 * 10 * 3 };
    enum { BYTES = 8 * (6 + 12 + 8) + 10 * (4 + 4 + 2 * 3 * 4) };
    rb_context *ctx;
    (void)state;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    assert_int_equal(rb_context_set_threads(ctx, 3), RB_OK);
    assert_int_equal(rb_context_profile(ctx, true), RB_OK);
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_ESTEP);
    rb_parallel(ctx, TASKS, multiply, ctx);
    rb_phase_begin(ctx, RB_PHASE_MSTEP);
    rb_parallel(ctx, TASKS / 2, multiply, ctx);
    rb_phase_end(ctx, before);
    assert_true(of(ctx, RB_PHASE_PRODUCTS).flops == TASKS * FLOPS);
    assert_true(of(ctx, RB_PHASE_PRODUCTS).bytes == TASKS * BYTES);
    assert_true(of(ctx, RB_PHASE_ESTEP).flops == 0);
    assert_true(of(ctx, RB_PHASE_MSTEP).flops == TASKS / 2 * FLOPS);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_when_off),
        cmocka_unit_test(an_inner_phase_counts_alone),
        cmocka_unit_test(products_count_on_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
