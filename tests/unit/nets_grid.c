/* Grids of trainings: points and scores are those of single trainings, for threads and after an
 * interruption; what is refused. */
#include "nets_test.h"

#include <rarebit/grid.h>

#include <stdio.h>
#include <unistd.h>

enum { POINTS = 6 };

static rb_options *grid_options(const char *more) {
    rb_options *options;
    assert_ok(ctx, rb_finetune_options_new(ctx, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "layers=12 batch-size=16 epochs=8 seed=3"));
    if (*more) assert_ok(ctx, rb_options_set_all(ctx, options, "%s", more));
    return options;
}

static const char values[] = "rate=0.1,0.01,.001  masking=0,0.25";

static rb_grid *grid_of(const char *grid, const char *more) {
    rb_options *options = grid_options(more);
    rb_grid *result;
    assert_ok(
        ctx, rb_finetune_grid(ctx, options, grid, NULL, &train.labelled, &valid.labelled, &result));
    rb_options_free(options);
    return result;
}

static rb_model *single(const char *point) {
    rb_options *options = grid_options(point);
    rb_model *net;
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &train.labelled, &valid.labelled, &net));
    rb_options_free(options);
    return net;
}

static void each_point_is_a_training(void **state) {
    (void)state;
    static const char *const points[POINTS] = {"rate=0.1 masking=0",  "rate=0.1 masking=0.25",
                                               "rate=0.01 masking=0", "rate=0.01 masking=0.25",
                                               "rate=.001 masking=0", "rate=.001 masking=0.25"};
    rb_grid *grid = grid_of(values, "");
    assert_int_equal(rb_grid_points(grid), POINTS);
    assert_null(rb_grid_point(grid, POINTS));
    assert_true(isnan(rb_grid_get(grid, 0, "nothing")) &&
                isnan(rb_grid_get(grid, -1, "valid_loss")));
    for (int64_t i = 0; i < POINTS; i++) {
        assert_string_equal(rb_grid_point(grid, i), points[i]);
        rb_model *net = single(points[i]);
        double error, loss;
        int64_t best = atoll(rb_model_attribute(net, "best_epoch"));
        assert_int_equal(rb_model_metric(net, best - 1, "valid_error", &error), RB_OK);
        assert_int_equal(rb_model_metric(net, best - 1, "valid_loss", &loss), RB_OK);
        assert_true(rb_grid_get(grid, i, "valid_error") == error);
        assert_true(rb_grid_get(grid, i, "valid_loss") == loss);
        assert_true(rb_grid_get(grid, i, "best_epoch") == (double)best);
        assert_true(rb_grid_get(grid, i, "epochs") == (double)rb_model_iterations(net));
        rb_model_free(net);
    }
    int64_t chosen = rb_grid_best(grid);
    for (int64_t i = 0; i < POINTS; i++)
        assert_true(rb_grid_get(grid, i, "valid_error") >=
                    rb_grid_get(grid, chosen, "valid_error"));
    rb_model *net = rb_grid_take(grid), *alone = single(points[chosen]);
    assert_null(rb_grid_take(grid));
    fixture_same_arrays(net, alone);
    rb_model_free(net);
    rb_model_free(alone);
    rb_grid_free(grid);
}

static void assert_same_grid(rb_grid *a, rb_grid *b) {
    static const char *const names[] = {"epochs", "best_epoch", "valid_error", "valid_loss"};
    for (int64_t i = 0; i < rb_grid_points(a); i++)
        for (int c = 0; c < 4; c++)
            assert_true(rb_grid_get(a, i, names[c]) == rb_grid_get(b, i, names[c]));
    assert_int_equal(rb_grid_best(a), rb_grid_best(b));
    rb_model *x = rb_grid_take(a), *y = rb_grid_take(b);
    fixture_same_arrays(x, y);
    rb_model_free(x);
    rb_model_free(y);
    rb_grid_free(a);
    rb_grid_free(b);
}

static void the_same_for_threads(void **state) {
    (void)state;
    rb_grid *one = grid_of(values, "");
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    rb_grid *three = grid_of(values, "");
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
    assert_same_grid(one, three);
}

/* Stops when so many trainings are done. */
static rb_error stop_after(const rb_progress *progress, void *user) {
    const int64_t *count = user;
    return progress->iteration >= *count ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void goes_on(void **state) {
    (void)state;
    char path[] = "/tmp/rarebit-grid-XXXXXX", more[128];
    int64_t count = 4;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    snprintf(more, sizeof more, "checkpoint=%s", path);
    rb_grid *whole = grid_of(values, ""), *none;
    rb_options *options = grid_options(more);
    rb_context_on_progress(ctx, stop_after, &count);
    assert_int_equal(
        rb_finetune_grid(ctx, options, values, NULL, &train.labelled, &valid.labelled, &none),
        RB_ERROR_STOPPED);
    assert_null(none);
    rb_context_on_progress(ctx, NULL, NULL);
    rb_context_clear_stop(ctx);

    rb_grid *rest = grid_of(values, more);
    assert_same_grid(whole, rest);

    /* Nothing is left to do, and the net is trained once more; blanks do not matter. */
    assert_same_grid(grid_of(values, ""), grid_of(" rate=0.1,0.01,.001 masking=0,0.25 ", more));

    /* Another grid, or other labels, are another study. */
    assert_int_equal(rb_finetune_grid(ctx, options, "rate=0.1,0.01,0.001 masking=0,0.3", NULL,
                                      &train.labelled, &valid.labelled, &none),
                     RB_ERROR_ARGUMENT);
    valid.class_of[0] = !valid.class_of[0];
    assert_int_equal(
        rb_finetune_grid(ctx, options, values, NULL, &train.labelled, &valid.labelled, &none),
        RB_ERROR_ARGUMENT);
    valid.class_of[0] = !valid.class_of[0];
    rb_options_free(options);
    unlink(path);
}

static void a_point_may_diverge(void **state) {
    (void)state;
    rb_options *options = grid_options("optimizer=sgd");
    rb_grid *grid = grid_of("rate=1e5,0.01", "optimizer=sgd"), *none;
    assert_true(isnan(rb_grid_get(grid, 0, "valid_loss")));
    assert_int_equal(rb_grid_best(grid), 1);
    rb_grid_free(grid);
    assert_error(ctx,
                 rb_finetune_grid(ctx, options, "rate=1e5,1e6", NULL, &train.labelled,
                                  &valid.labelled, &none),
                 RB_ERROR_NUMERIC, "every point");
    rb_options_free(options);
}

static rb_error count_calls(const rb_progress *progress, void *user) {
    (void)progress;
    ++*(int64_t *)user;
    return RB_OK;
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *grid, *message;
    } rows[] = {
        {"", "must be options"},
        {"rate", "must be options"},
        {"rate=", "must be options"},
        {"rate=.1,,2", "must be options"},
        {"rate=.1,", "must be options"},
        {"=3", "must be options"},
        {"rate=.1 rate=2", "twice"},
        {"layers=3", "numbers, choices"},
        {"max-time=3", "numbers, choices"},
        {"nothing=3", "numbers, choices"},
        {"rate=.1,-1", "`rate` is '-1'"},
        {"seed=1,2", "leave one out"},
        {"optimizer=sgd,bogus", "bogus"},
        {"checkpoint-every=1,2", "numbers, choices"},
        {"rate=.1,.2,.1", "rate .1 twice"},
        {"schedule=step,constant rate-step=2,3", "(schedule=constant rate-step=2, "},
    };
    rb_options *options = grid_options(""), *timed = grid_options("max-time=5");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_error(ctx, rb_grid_check(ctx, options, rows[i].grid), RB_ERROR_ARGUMENT,
                     rows[i].message);
    }
    assert_int_equal(rb_grid_check(ctx, timed, values), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_grid_check(ctx, NULL, values), RB_ERROR_ARGUMENT);
    assert_ok(ctx, rb_grid_check(ctx, options, values));
    rb_grid *none;
    assert_int_equal(rb_finetune_grid(ctx, options, values, NULL, &train.labelled, NULL, &none),
                     RB_ERROR_ARGUMENT);
    /* What contradicts start or samples is found before the first training. */
    static const char *const points[][2] = {
        {"optimizer=sgd,adam momentum=0.5", "(optimizer=adam momentum=0.5, "},
        {"rate=.1 filter=plain,posterior", "(rate=.1 filter=plain, "},
        {"outputs=softmax,logistic", "(outputs=logistic, "},
    };
    int64_t trained = 0;
    rb_context_on_progress(ctx, count_calls, &trained);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        assert_error(ctx,
                     rb_finetune_grid(ctx, options, points[i][0], NULL, &train.labelled,
                                      &valid.labelled, &none),
                     RB_ERROR_ARGUMENT, points[i][1]);
        assert_null(none);
    }
    rb_context_on_progress(ctx, NULL, NULL);
    assert_int_equal(trained, 0);
    rb_options_free(options);
    rb_options_free(timed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_is_a_training),
        cmocka_unit_test(the_same_for_threads),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(a_point_may_diverge),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
