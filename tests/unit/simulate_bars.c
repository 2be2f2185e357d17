/* The public bars test: options, what may be left out, messages. */
#include "fixture.h"

#include "data/data.h"

#include <float.h>

static void defaults_are_pinned(void **state) {
    (void)state;
    rb_bars_options o;
    fixture_default(rb_bars_group(), &o);
    assert_int_equal(o.style, RB_BARS_LINEAR);
    assert_int_equal(o.plan.size, 5);
    assert_int_equal(o.plan.width, 1);
    assert_int_equal(o.bars, 0);
    assert_true(o.plan.value == 10 && o.plan.probability == 0.2 && o.plan.noise_sd == 2);
    assert_int_equal(o.plan.n_samples, 500);
    assert_int_equal(o.plan.seed, 1);
}

/* Options reach the generator: the matrices are those of the plan. */
static void options_become_the_plan(void **state) {
    rb_context *ctx = *state;
    static const int styles[] = {RB_BARS_LINEAR, RB_BARS_MAX, RB_BARS_SIGNED};
    for (int s = 0; s < 3; s++) {
        rb_bars_options o = {{9, 2, 3, false, false, 0.125, 0.5, 40, 7, 3}, styles[s], 16};
        rb_bars_plan plan = {9, 2, 3, s == 1, s == 2, 0.125, 0.5, 40, 7, 3};
        rb_matrix *got[3], *expected[3];
        assert_ok(
            ctx, rb_simulate_bars(ctx, fixture_of(rb_bars_group(), &o), &got[0], &got[1], &got[2]));
        assert_ok(ctx, rb_generate_bars(ctx, &plan, &expected[0], &expected[1], &expected[2]));
        for (int m = 0; m < 3; m++) {
            int64_t cells = expected[m]->n_samples * expected[m]->n_features;
            assert_int_equal(got[m]->n_samples, expected[m]->n_samples);
            assert_int_equal(got[m]->n_features, expected[m]->n_features);
            assert_memory_equal(got[m]->values, expected[m]->values,
                                (size_t)cells * sizeof(double));
            rb_matrix_free(got[m]);
            rb_matrix_free(expected[m]);
        }
    }
}

static void truth_may_be_left_out(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix;
    assert_ok(ctx, rb_simulate_bars(ctx, NULL, &matrix, NULL, NULL));
    assert_int_equal(rb_matrix_samples(matrix), 500);
    assert_int_equal(rb_matrix_features(matrix), 25);
    rb_matrix_free(matrix);
}

static void refuse(rb_context *ctx, const rb_bars_options *o, const char *words) {
    rb_matrix *matrix, *fields, *states;
    assert_int_equal(
        rb_simulate_bars(ctx, fixture_of(rb_bars_group(), o), &matrix, &fields, &states),
        RB_ERROR_ARGUMENT);
    assert_true(!matrix && !fields && !states);
    if (!strstr(rb_context_error(ctx), words))
        fail_msg("the sentence lacks '%s': %s", words, rb_context_error(ctx));
}

static void wrong_options(void **state) {
    rb_context *ctx = *state;
    rb_bars_options o;
    fixture_default(rb_bars_group(), &o);
    o.plan.width = 6;
    refuse(ctx, &o, "`width` is 6, but must be at most the size of the image, 5");
    o.plan.width = 2;
    o.bars = 10;
    refuse(ctx, &o, "`bars` is 10, but an image of 5 x 5 pixels has 8 bars of width 2");
    fixture_default(rb_bars_group(), &o);
    o.plan.probability = 1.5;
    refuse(ctx, &o, "`probability` is '1.5'");
    fixture_default(rb_bars_group(), &o);
    o.plan.noise_sd = -1;
    refuse(ctx, &o, "`noise` is '-1'");
    o.plan.noise_sd = NAN;
    refuse(ctx, &o, "`noise` is 'nan'");
    o.plan.noise_sd = DBL_MAX;
    refuse(ctx, &o, "would not be finite");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_pinned),
        cmocka_unit_test(options_become_the_plan),
        cmocka_unit_test(truth_may_be_left_out),
        cmocka_unit_test(wrong_options),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
