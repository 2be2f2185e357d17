/* The stopping rules: each compared with what history and parameters say. */
#include "fixture.h"
#include <rarebit/io.h>

#include <stdio.h>
#include <unistd.h>

enum { N = 60, M = 8, UNITS = 3 };

static int setup(void **state) {
    struct fixture_problem *p = fixture_problem(fixture_values(N, M, 3, 1), N, M);
    p->rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    p->fit = fixture_fit(2000, RB_FLOAT64);
    *state = p;
    return 0;
}

static rb_model *fit(struct fixture_problem *p) {
    return fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL);
}

/* |a - b|_F / |a|_F of an array of two models. */
static double change(const rb_model *a, const rb_model *b, const char *name) {
    int64_t rows, columns;
    const double *x = rb_model_array(a, name, &rows, &columns);
    const double *y = rb_model_array(b, name, NULL, NULL);
    double moved = 0, size = 0;
    for (int64_t i = 0; i < rows * columns; i++) {
        moved += (x[i] - y[i]) * (x[i] - y[i]);
        size += x[i] * x[i];
    }
    return sqrt(moved / size);
}

/* The parameters after so many iterations, by a fit of its own. */
static rb_model *after(struct fixture_problem *p, int64_t iterations) {
    rb_fit_options before = p->fit;
    p->fit.iterations = iterations;
    p->fit.parameter_tolerance = 0;
    rb_model *model = fit(p);
    p->fit = before;
    return model;
}

static void stops_when_parameters_settle(void **state) {
    struct fixture_problem *p = *state;
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    p->fit.parameter_tolerance = 1e-3;
    rb_model *end = fit(p);
    int64_t t = end->iterations;
    assert_int_equal(end->status, RB_STATUS_PARAMETERS);
    assert_true(t > 3 && t < 2000);
    rb_model *last = after(p, t), *one = after(p, t - 1), *two = after(p, t - 2);
    double now = fmax(change(last, one, "loadings"), change(last, one, "noise"));
    double before = fmax(change(one, two, "loadings"), change(one, two, "noise"));
    assert_true(now < 1e-3);
    assert_true(before >= 1e-3);
    assert_int_equal(change(end, last, "loadings") == 0, true);
    rb_model_free(end);
    rb_model_free(last);
    rb_model_free(one);
    rb_model_free(two);
}

/* After how many iterations a patience ends, from the objectives alone. */
static int64_t patience_ends(const rb_model *model, int64_t patience, double tolerance) {
    double best = model->history[0].objective;
    int64_t at = 0;
    for (int64_t t = 1; t < model->iterations; t++) {
        if (model->history[t].objective > best + tolerance * fabs(best)) {
            best = model->history[t].objective;
            at = t;
        } else if (t - at == patience) {
            return t + 1;
        }
    }
    return model->iterations;
}

/* With the newton E-step the objective goes up and down: a small change is no sign of the end. */
static void stops_without_patience(void **state) {
    struct fixture_problem *p = *state;
    p->fit.iterations = 600;
    rb_model *whole = fit(p);
    for (int64_t patience = 1; patience <= 16; patience *= 4) {
        for (double tolerance = 0; tolerance <= 1e-3; tolerance += 5e-4) {
            p->fit.patience = patience;
            p->fit.tolerance = tolerance;
            rb_model *model = fit(p);
            int64_t end = patience_ends(whole, patience, tolerance);
            assert_int_equal(model->iterations, end);
            assert_int_equal(model->status, end < 600 ? RB_STATUS_PATIENCE : RB_STATUS_ITERATIONS);
            rb_model_free(model);
        }
    }
    p->fit.patience = 4;
    p->fit.tolerance = 5e-4;
    assert_true(patience_ends(whole, 4, 5e-4) < 600);
    rb_model_free(whole);
}

static void stops_after_a_time(void **state) {
    struct fixture_problem *p = *state;
    p->fit.max_time = 1e-9;
    p->fit.restarts = 3;
    rb_model *model = fit(p);
    assert_int_equal(model->status, RB_STATUS_TIME);
    assert_int_equal(model->iterations, 1);
    assert_string_equal(rb_model_attribute(model, "best_restart"), "0");
    rb_model_free(model);
    p->fit.max_time = 3600;
    p->fit.iterations = 5;
    model = fit(p);
    assert_int_equal(model->status, RB_STATUS_ITERATIONS);
    rb_model_free(model);
}

/* A time is written with or without its unit, and read back. */
static void times_are_options(void **state) {
    struct fixture_problem *p = *state;
    const rb_option *table = rb_fit_group.rows;
    char text[64];
    assert_ok(p->ctx, rb_rows_set(p->ctx, table, &p->fit, "max-time", "1.5h"));
    assert_true(p->fit.max_time == 5400);
    fixture_row(rb_rows_find(table, "max-time"), &p->fit, text, sizeof text);
    assert_string_equal(text, "5400");
    assert_ok(p->ctx, rb_rows_set(p->ctx, table, &p->fit, "max-time", text));
    assert_true(p->fit.max_time == 5400);
    assert_error(p->ctx, rb_rows_set(p->ctx, table, &p->fit, "max-time", "soon"), RB_ERROR_ARGUMENT,
                 "a time, such as 90s");
}

/* The word of each ending comes back from a file. */
static void endings_are_stored(void **state) {
    struct fixture_problem *p = *state;
    char path[] = "/tmp/rarebit-stop-XXXXXX";
    close(mkstemp(path));
    p->fit.iterations = 3;
    for (int status = RB_STATUS_ITERATIONS; status <= RB_STATUS_TIME; status++) {
        rb_model *model = fit(p), *loaded;
        model->status = (rb_status)status;
        assert_ok(p->ctx, rb_model_save(p->ctx, model, path));
        assert_ok(p->ctx, rb_model_load(p->ctx, path, &loaded));
        assert_int_equal(rb_model_status(loaded), status);
        assert_int_not_equal(strcmp(rb_status_name((rb_status)status), "unknown status"), 0);
        rb_model_free(model);
        rb_model_free(loaded);
    }
    assert_int_equal(remove(path), 0);
}

static void needs_to_know_the_parameters(void **state) {
    struct fixture_problem *p = *state;
    rb_method other = *rb_context_method(p->ctx, 0);
    other.name = "other";
    other.parts = NULL;
    assert_ok(p->ctx, rb_context_add_method(p->ctx, &other));
    p->fit.parameter_tolerance = 0.1;
    fixture_refused(p->ctx, "other", NULL, &p->fit, NULL, p->source, NULL, RB_ERROR_UNSUPPORTED,
                    "parameter-tolerance");
}

static void without_memory(void **state) {
    struct fixture_problem *p = *state;
    p->fit.iterations = 3;
    p->fit.parameter_tolerance = 1e-9;
    const rb_options *options = fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL);
    rb_model_free(fixture_model_at_last(p->ctx, options, p->source, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_when_parameters_settle),
        cmocka_unit_test(stops_without_patience),
        cmocka_unit_test(stops_after_a_time),
        cmocka_unit_test(times_are_options),
        cmocka_unit_test(endings_are_stored),
        cmocka_unit_test(needs_to_know_the_parameters),
        cmocka_unit_test(without_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, fixture_teardown);
}
