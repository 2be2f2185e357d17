/* Denoising autoencoders: gradients against differences, what is corrupted, and what a fit of them
 * learns and codes. */
#include "nets_fixture.h"

enum { N = 37, M = 7, UNITS = 5 };

static rb_context *ctx;
static double *values;

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    values = fixture_values(N, M, 3, 5);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(values);
    rb_context_free(ctx);
    return 0;
}

/* The sum of squared errors of the block as the parameters are. */
static double error_of(struct net_fixture *f) {
    net_fixture_sums(ctx, f);
    return f->fit->sums.error;
}

static void assert_gradient(struct net_fixture *f, rb_dense parameter, rb_dense gradient) {
    const double step = 1e-5;
    for (int64_t i = 0; i < parameter.rows; i++) {
        for (int64_t j = 0; j < parameter.cols; j++) {
            double was = rb_dense_get(parameter, i, j);
            rb_dense_set(parameter, i, j, was + step);
            double above = error_of(f);
            rb_dense_set(parameter, i, j, was - step);
            double below = error_of(f);
            rb_dense_set(parameter, i, j, was);
            net_fixture_sums(ctx, f);
            assert_close(rb_dense_get(gradient, i, j), (above - below) / (2 * step), 1e-5);
        }
    }
}

/* Of loadings, encoder and biases, with corruption, tied or not. */
static void gradients_are_differences(void **state) {
    (void)state;
    for (int weights = NET_TIED; weights <= NET_UNTIED; weights++) {
        struct net_fixture f;
        net_options options = net_fixture_options(&rb_method_dae, UNITS);
        options.weights = weights;
        options.corruption = 0.3;
        net_fixture_begin(ctx, &rb_method_dae, options, N, M, values, &f);
        net_arrays *w = &f.fit->parameters, *g = &f.fit->sums.gradients;
        net_fixture_draw(w->loadings, 0.5, 11);
        net_fixture_draw(w->hidden_bias, 0.5, 12);
        net_fixture_draw(w->visible_bias, 0.5, 13);
        assert_gradient(&f, w->loadings, g->loadings);
        assert_gradient(&f, w->hidden_bias, g->hidden_bias);
        assert_gradient(&f, w->visible_bias, g->visible_bias);
        if (weights == NET_UNTIED) {
            net_fixture_draw(w->weights, 0.5, 14);
            assert_gradient(&f, w->weights, g->weights);
            assert_gradient(&f, w->loadings, g->loadings);
        }
        net_fixture_end(&f);
    }
}

/* A step is momentum times the one before, less the rate times the mean gradient. */
static void a_step_goes_against_the_gradient(void **state) {
    (void)state;
    struct net_fixture f;
    net_options options = net_fixture_options(&rb_method_dae, UNITS);
    options.eta = 0.01;
    options.momentum = 0.5;
    net_fixture_begin(ctx, &rb_method_dae, options, N, M, values, &f);
    f.fit->eta = options.eta;
    double at[3], gradient[2];
    rb_dense w = f.fit->parameters.loadings;
    at[0] = rb_dense_get(w, 2, 3);
    for (int t = 0; t < 2; t++) {
        net_fixture_sums(ctx, &f);
        gradient[t] = rb_dense_get(f.fit->sums.gradients.loadings, 2, 3) / N;
        assert_ok(ctx, rb_method_dae.mstep(ctx, f.fit));
        at[t + 1] = rb_dense_get(w, 2, 3);
    }
    assert_close(at[1] - at[0], -0.01 * gradient[0], 1e-12);
    assert_close(at[2] - at[1], 0.5 * (at[1] - at[0]) - 0.01 * gradient[1], 1e-12);
    net_fixture_end(&f);
}

/* By default the rate is 1 / (10 times the mean square of a sample), for data of any scale. */
static void the_rate_follows_from_the_data(void **state) {
    (void)state;
    static const double scales[] = {0, 0.01, 1, 100};
    for (int s = 0; s < 4; s++) {
        double scaled[N * M], square = 0;
        struct net_fixture f;
        for (int e = 0; e < N * M; e++) {
            scaled[e] = scales[s] * values[e];
            square += scaled[e] * scaled[e] / N;
        }
        net_fixture_begin(ctx, &rb_method_dae, net_fixture_options(&rb_method_dae, UNITS), N, M,
                          scaled, &f);
        assert_ok(ctx, rb_method_dae.survey(ctx, f.fit, &f.block));
        assert_ok(ctx, rb_method_dae.survey_end(ctx, f.fit));
        assert_close(f.fit->eta * (s ? 10 * square : 1), 1, 1e-12);
        net_fixture_end(&f);
    }
}

/* As many values as asked for are 0, others in each pass, and none in the last E-step. */
static void a_share_of_the_values_is_corrupted(void **state) {
    (void)state;
    enum { ROWS = 400, COLUMNS = 50 };
    static double ones[ROWS * COLUMNS], before[ROWS * COLUMNS];
    struct net_fixture f;
    net_options options = net_fixture_options(&rb_method_dae, 2);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        ones[i] = 1;
    net_fixture_begin(ctx, &rb_method_dae, options, ROWS, COLUMNS, ones, &f);
    for (int pass = 0; pass < 2; pass++) {
        int64_t zeros = 0, same = 0;
        f.fit->progress.pass = pass;
        net_fixture_sums(ctx, &f);
        const double *given = f.fit->work.given.data;
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            assert_true(given[i] == 0 || given[i] == 1);
            zeros += given[i] == 0;
            same += given[i] == before[i];
            before[i] = given[i];
        }
        /* 4 standard deviations of a binomial number */
        assert_true(fabs((double)zeros / (ROWS * COLUMNS) - 0.2) < 4 * 0.4 / sqrt(ROWS * COLUMNS));
        assert_true(pass == 0 || same < ROWS * COLUMNS * 3 / 4);
    }
    net_fixture_end(&f);
}

/* ---- whole fits ---- */

static rb_model *fit(rb_source *source, const char *method, const char *more) {
    return fixture_text_model(ctx, method, source, NULL,
                              "units=5 batch-size=10 iterations=30 seed=3 %s", more);
}

static void learning_lowers_the_error(void **state) {
    (void)state;
    static const char *const kinds[] = {"weights=tied", "weights=untied", "corruption=0"};
    for (int i = 0; i < 3; i++) {
        rb_source *source = fixture_data(ctx, values, N, M);
        rb_model *model = fit(source, "dae", kinds[i]);
        rb_evaluation e;
        assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
        assert_true(model->history[29].objective > model->history[0].objective);
        assert_true(e.variance_explained > 0.6);
        assert_true(e.sparseness > 0.1 && e.sparseness < 0.9);
        rb_model_free(model);
        rb_source_free(source);
    }
}

/* Codes are max(0, E'x + b), and what is rebuilt is W h + c, of samples whose mean is subtracted;
 * a unit without a code above 0 is dead. */
static void codes_and_rebuilt_samples_are_as_defined(void **state) {
    (void)state;
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *model = fit(source, "dae", "weights=untied precision=float64");
    double *codes = fixture_codes(ctx, model, source);
    struct fixture_rows rows = {calloc((size_t)N * M, sizeof(double)), M};
    assert_ok(ctx, rb_reconstruct(ctx, model, source, fixture_take, &rows));
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *e = rb_model_array(model, "weights", NULL, NULL);
    const double *b = rb_model_array(model, "hidden_bias", NULL, NULL);
    const double *c = rb_model_array(model, "visible_bias", NULL, NULL);
    const double *dead = rb_model_array(model, "dead", NULL, NULL);
    const double *centre = model->preprocess->centre;
    double largest[UNITS] = {0};
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < UNITS; j++) {
            double a = b[j];
            for (int k = 0; k < M; k++)
                a += e[k * UNITS + j] * (values[i * M + k] - centre[k]);
            assert_close(codes[i * UNITS + j], fmax(0, a), 1e-10);
            largest[j] = fmax(largest[j], a);
        }
        for (int k = 0; k < M; k++) {
            double y = c[k] + centre[k];
            for (int j = 0; j < UNITS; j++)
                y += w[k * UNITS + j] * codes[i * UNITS + j];
            assert_close(rows.values[i * M + k], y, 1e-10);
        }
    }
    for (int j = 0; j < UNITS; j++)
        assert_int_equal(dead[j] != 0, largest[j] == 0);
    free(codes);
    free(rows.values);
    rb_model_free(model);
    rb_source_free(source);
}

/* ---- both methods ---- */

static void assert_same(const rb_model *a, const rb_model *b, double tolerance) {
    static const char *const names[] = {"loadings", "hidden_bias", "visible_bias"};
    for (int i = 0; i < 3; i++) {
        int64_t rows, columns;
        const double *x = rb_model_array(a, names[i], &rows, &columns);
        const double *y = rb_model_array(b, names[i], NULL, NULL);
        for (int64_t e = 0; e < rows * columns; e++)
            assert_true(fabs(x[e] - y[e]) <= tolerance);
    }
}

static rb_error give_rows(void *user, int64_t first, int64_t count, void *rows) {
    const double *from = user;
    memcpy(rows, from + first * 40, (size_t)count * 40 * sizeof *from);
    return RB_OK;
}

/* Blocks of several tasks, large enough for several threads; streamed data in their own order. */
static void a_fit_is_the_same_for_threads_and_streams(void **state) {
    (void)state;
    static const char *const methods[] = {"dae", "rbm"};
    enum { ROWS = 1500, COLUMNS = 40 };
    double *data = fixture_values(ROWS, COLUMNS, 4, 8);
    for (int i = 0; i < 2; i++) {
        rb_source *source = fixture_data(ctx, data, ROWS, COLUMNS), *streamed;
        assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, ROWS, COLUMNS, give_rows, data,
                                               &streamed));
        rb_context_set_threads(ctx, 1);
        rb_model *one = fit(source, methods[i], "units=40 iterations=4 batch-size=700 scale=sd");
        rb_model *kept = fit(source, methods[i],
                             "units=40 iterations=4 batch-size=700 scale=sd keep-order=true");
        rb_context_set_threads(ctx, 3);
        rb_model *three = fit(source, methods[i], "units=40 iterations=4 batch-size=700 scale=sd");
        rb_model *stream = fit(streamed, methods[i],
                               "units=40 iterations=4 batch-size=700 scale=sd keep-order=true");
        rb_context_set_threads(ctx, 1);
        assert_same(one, three, 0);
        assert_same(kept, stream, 0);
        rb_model_free(one);
        rb_model_free(kept);
        rb_model_free(three);
        rb_model_free(stream);
        rb_source_free(source);
        rb_source_free(streamed);
    }
    free(data);
}

/* The same samples as compressed rows. */
static void sparse_samples_give_the_same(void **state) {
    (void)state;
    static const char *const methods[] = {"dae", "rbm"};
    double dense[N * M];
    for (int e = 0; e < N * M; e++)
        dense[e] = values[e] > 0.5 ? values[e] : 0;
    for (int i = 0; i < 2; i++) {
        rb_source *source = fixture_data(ctx, dense, N, M);
        rb_source *compressed = fixture_sparse_data(ctx, dense, N, M);
        rb_model *a = fit(source, methods[i], "precision=float64");
        rb_model *b = fit(compressed, methods[i], "precision=float64");
        assert_same(a, b, 1e-9);
        double *x = fixture_codes(ctx, a, source), *y = fixture_codes(ctx, b, compressed);
        for (int e = 0; e < N * UNITS; e++)
            assert_true(fabs(x[e] - y[e]) < 1e-8);
        free(x);
        free(y);
        rb_model_free(a);
        rb_model_free(b);
        rb_source_free(source);
        rb_source_free(compressed);
    }
}

/* From a model a fit goes on with its parameters; one with other weights is refused. */
static void a_fit_goes_on_from_a_model(void **state) {
    (void)state;
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_model *first = fit(source, "dae", ""), *on;
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, "dae", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "iterations=1 eta=1e-12 seed=9"));
    assert_ok(ctx, rb_fit(ctx, options, source, first, &on));
    assert_same(first, on, 1e-6);
    rb_model_free(on);
    assert_ok(ctx, rb_options_set(ctx, options, "weights", "untied"));
    assert_error(ctx, rb_fit(ctx, options, source, first, &on), RB_ERROR_ARGUMENT,
                 "`weights` is 'untied'");
    rb_options_free(options);
    rb_model_free(first);
    rb_source_free(source);
}

static rb_error stop_at_3(const rb_progress *progress, void *user) {
    if (progress->iteration == 3) rb_context_stop(user);
    return RB_OK;
}

/* Without a last E-step no unit is called dead, and all features have the error of the pass. */
static void a_fit_may_be_stopped(void **state) {
    (void)state;
    rb_context *own = fixture_context();
    rb_options *options;
    rb_model *model;
    rb_source *source = fixture_data(own, values, N, M);
    rb_context_on_progress(own, stop_at_3, own);
    assert_ok(own, rb_options_new(own, "dae", &options));
    assert_ok(own, rb_options_set_all(own, options, "units=5 batch-size=10 seed=3"));
    assert_ok(own, rb_fit(own, options, source, NULL, &model));
    assert_int_equal(model->status, RB_STATUS_STOPPED);
    assert_int_equal(rb_model_iterations(model), 3);
    assert_int_equal(rb_model_dead(model), 0);
    assert_close(rb_model_array(model, "noise", NULL, NULL)[4], -model->history[2].objective / M,
                 1e-12);
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_context_free(own);
}

/* Wherever memory ends, the call says so and nothing is left behind. */
static void memory_may_end_anywhere(void **state) {
    (void)state;
    static const char *const methods[] = {"dae", "rbm"};
    for (int i = 0; i < 2; i++) {
        rb_source *source = fixture_data(ctx, values, N, M);
        rb_options *options;
        assert_ok(ctx, rb_options_new(ctx, methods[i], &options));
        assert_ok(ctx, rb_options_set_all(ctx, options, "units=3 iterations=2 batch-size=10"));
        rb_model *model = fixture_model_at_last(ctx, options, source, 0);
        fixture_evaluate_at_last(ctx, model, source);
        rb_model_free(model);
        rb_options_free(options);
        rb_source_free(source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(a_step_goes_against_the_gradient),
        cmocka_unit_test(the_rate_follows_from_the_data),
        cmocka_unit_test(a_share_of_the_values_is_corrupted),
        cmocka_unit_test(learning_lowers_the_error),
        cmocka_unit_test(codes_and_rebuilt_samples_are_as_defined),
        cmocka_unit_test(a_fit_is_the_same_for_threads_and_streams),
        cmocka_unit_test(sparse_samples_give_the_same),
        cmocka_unit_test(a_fit_goes_on_from_a_model),
        cmocka_unit_test(a_fit_may_be_stopped),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
