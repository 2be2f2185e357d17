/* Moments of blocks add up: a fit in small blocks is the fit in one block, a dying unit
 * included. */
#include "fixture.h"

#include "em/em.h"
#include "rfn/rfn.h"

enum { UNITS = 5 };

/* More and fewer samples than features: the filter is kept as one matrix or as its factors. */
static const struct shape { int64_t n, m; } shapes[] = {{1500, 12}, {130, 140}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static rb_model *fit_in_blocks(rb_context *ctx, rb_source *source, int64_t block_samples,
                               const rb_model *start) {
    rb_preprocess *p;
    rb_feed *feed;
    rb_model *model;
    assert_ok(ctx, rb_preprocess_fit(ctx, NULL, source, &p));
    assert_ok(ctx, rb_feed_new(ctx, p, source, RB_FLOAT64, &feed));
    assert_ok(ctx,
              rb_model_new(ctx, &rb_method_rfn, RB_FLOAT64, rb_preprocess_copy(ctx, p), &model));
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(8, RB_FLOAT64);
    fit.trace = true;
    rb_run run = {.method = &rb_method_rfn,
                  .options = &options,
                  .problem = {.n_samples = source->n_samples,
                              .own = source->n_samples,
                              .groups = 1,
                              .own_groups = 1,
                              .method = &rb_method_rfn,
                              .decay = 1,
                              .n_features = source->n_features,
                              .type = RB_FLOAT64,
                              .block_samples = block_samples,
                              .fit = &fit},
                  .feed = feed,
                  .start = start,
                  .model = model};
    run.shape = rb_shape_of(&run.problem, run.options);
    assert_ok(ctx, rb_run_loop(ctx, &run));
    rb_feed_free(feed);
    rb_preprocess_free(p);
    return model;
}

static void assert_same_model(const rb_model *a, const rb_model *b) {
    static const char *const names[] = {"loadings", "noise", "scale", "dead"};
    for (int i = 0; i < 4; i++) {
        int64_t rows, columns;
        const double *x = rb_model_array(a, names[i], &rows, &columns);
        const double *y = rb_model_array(b, names[i], NULL, NULL);
        for (int64_t e = 0; e < rows * columns; e++)
            assert_close(x[e], y[e], 1e-10);
    }
    for (int64_t t = 0; t < rb_model_iterations(a); t++) {
        double fa, oa, fb, ob, seconds;
        rb_model_history(a, t, &fa, &oa, &seconds);
        rb_model_history(b, t, &fb, &ob, &seconds);
        assert_close(fa, fb, 1e-10);
        assert_close(oa, ob, 1e-9);
    }
}

static void compare(rb_context *ctx, rb_source *source, const rb_model *start) {
    rb_model *whole = fit_in_blocks(ctx, source, source->n_samples, start);
    static const int64_t sizes[] = {1024, 512, 97, 1};
    for (int i = 0; i < 4; i++) {
        if (sizes[i] > source->n_samples) continue;
        rb_model *parts = fit_in_blocks(ctx, source, sizes[i], start);
        assert_same_model(whole, parts);
        rb_model_free(parts);
    }
    rb_model_free(whole);
}

static void blocks_add_up(void **state) {
    (void)state;
    for (int c = 0; c < SHAPES; c++) {
        rb_context *ctx = fixture_context();
        double *values = fixture_values(shapes[c].n, shapes[c].m, 4, 5);
        rb_source *source = fixture_data(ctx, values, shapes[c].n, shapes[c].m);
        compare(ctx, source, NULL);
        rb_source_free(source);
        free(values);
        rb_context_free(ctx);
    }
}

/* A prior mean of -1000 for one unit makes all its posterior means negative in the first
 * iterations. */
static void dying_unit(void **state) {
    (void)state;
    for (int c = 0; c < SHAPES; c++) {
        rb_context *ctx = fixture_context();
        double *values = fixture_values(shapes[c].n, shapes[c].m, 4, 5);
        rb_source *source = fixture_data(ctx, values, shapes[c].n, shapes[c].m);
        rb_model *start = fit_in_blocks(ctx, source, shapes[c].n, NULL);
        ((double *)rb_model_array(start, "prior_mean", NULL, NULL))[2] = -1000;
        rb_model *fitted = fit_in_blocks(ctx, source, 97, start);
        double dead = rb_model_array(fitted, "dead", NULL, NULL)[2];
        assert_true(dead == 1);
        rb_evaluation e;
        assert_ok(ctx, fixture_evaluate(ctx, fitted, source, &e));
        assert_true(e.dead_units >= 1);
        compare(ctx, source, start);
        rb_model_free(start);
        rb_model_free(fitted);
        rb_source_free(source);
        free(values);
        rb_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_add_up),
        cmocka_unit_test(dying_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
