/* Fitting again what a model records, and comparing models bit by bit. */
#include "fixture.h"

#include <rarebit/io.h>
#include <rarebit/rerun.h>

#include <unistd.h>

enum { N = 80, M = 8 };

struct problem {
    rb_context *ctx;
    double *values;
    rb_source *source;
    int64_t stop_after; /* 0: never */
    int calls;
};

static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    p->ctx = fixture_context();
    p->values = fixture_values(N, M, 3, 1);
    p->source = fixture_data(p->ctx, p->values, N, M);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    rb_source_free(p->source);
    free(p->values);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

static rb_model *fit(struct problem *p, const char *settings, const rb_model *start) {
    return fixture_text_model(p->ctx, "rfn", p->source, start, "%s", settings);
}

static bool same(const rb_model *a, const rb_model *b) {
    rb_model_difference d = {.size = sizeof d};
    bool all = true;
    for (int64_t i = 0; rb_model_compare(a, b, i, &d); i++)
        all = all && d.same && d.difference == 0;
    return all;
}

static void assert_again(struct problem *p, const rb_model *model, const rb_model *start) {
    rb_model *again;
    assert_ok(p->ctx, rb_rerun(p->ctx, model, NULL, p->source, start, &again));
    assert_true(same(model, again));
    assert_int_equal(rb_model_status(again), rb_model_status(model));
    rb_model_free(again);
}

/* Options that were set, that a preset set, that do nothing without others. */
static void gives_the_same_bits(void **state) {
    struct problem *p = *state;
    static const char *const settings[] = {
        "units=3 iterations=5 seed=9",
        "units=3 preset=biclustering iterations=7",
        "units=2 dropout=0.1 estep=newton iterations=4 activation=leaky activation-slope=0.2",
        "units=3 target-sparseness=0.6 iterations=30",
        "units=3 restarts=3 iterations=6 precision=float64 eta=0.25",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        rb_model *model = fit(p, settings[i], NULL);
        assert_again(p, model, NULL);
        rb_model_free(model);
    }
}

/* A model may hold any attribute: of all options a rerun takes those that a fit records, and writes
 * nothing where a model says. */
static void takes_only_what_a_fit_records(void **state) {
    struct problem *p = *state;
    rb_model *model = fit(p, "units=3 iterations=5 seed=9", NULL);
    char path[] = "/tmp/rarebit-rerun-XXXXXX";
    rb_options *options;
    rb_option row;
    rb_io_use(p->ctx);
    close(mkstemp(path));
    assert_int_equal(unlink(path), 0);
    assert_ok(p->ctx, rb_options_new(p->ctx, "rfn", &options));
    for (int64_t i = 0; !rb_options_row(options, i, &row, sizeof row); i++)
        assert_true(!rb_model_attribute(model, row.name) ==
                    (!strcmp(row.group, "Checkpoints") || !strcmp(row.group, "Memory")));
    rb_options_free(options);
    assert_ok(p->ctx, rb_model_set_attribute(p->ctx, model, "checkpoint", path));
    assert_ok(p->ctx, rb_model_set_attribute(p->ctx, model, "checkpoint-every", "1"));
    assert_ok(p->ctx, rb_model_options(p->ctx, model, &options));
    assert_false(rb_options_is_set(options, "checkpoint"));
    rb_options_free(options);
    assert_again(p, model, NULL);
    assert_int_equal(access(path, F_OK), -1);
    rb_model_free(model);
}

static rb_error stop(const rb_progress *progress, void *user) {
    struct problem *p = user;
    p->calls++;
    if (progress->iteration == p->stop_after) rb_context_stop(p->ctx);
    return RB_OK;
}

/* A fit that was stopped in the first restart, or in the second one: as many iterations, and no
 * last E-step where there was none; whoever listens goes on to. */
static void stops_where_the_fit_did(void **state) {
    struct problem *p = *state;
    rb_context_on_progress(p->ctx, stop, p);
    for (int64_t when = 5; when <= 11; when += 6) {
        p->stop_after = when;
        rb_model *model = fit(p, "units=3 iterations=8 restarts=2 eta=0.3", NULL);
        rb_context_clear_stop(p->ctx);
        assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
        p->stop_after = p->calls = 0;
        assert_again(p, model, NULL);
        assert_true(p->calls >= rb_model_iterations(model));
        rb_model_free(model);
    }
}

static void needs_the_same_start(void **state) {
    struct problem *p = *state;
    rb_model *start = fit(p, "units=3 iterations=4 scale=sd prior-mean=-0.3", NULL), *again;
    rb_model *model = fit(p, "iterations=4", start);
    assert_again(p, model, start);
    assert_int_equal(rb_rerun(p->ctx, model, NULL, p->source, NULL, &again), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_rerun(p->ctx, model, NULL, p->source, model, &again), RB_ERROR_DATA);
    assert_int_equal(rb_rerun(p->ctx, start, NULL, p->source, model, &again), RB_ERROR_ARGUMENT);
    assert_null(again);
    rb_model_free(start);
    rb_model_free(model);
}

static void refuses_other_data(void **state) {
    struct problem *p = *state;
    rb_model *model = fit(p, "units=2 iterations=3", NULL), *again;
    double value = p->values[N * M - 1];
    p->values[N * M - 1] = nextafter(value, 1e9);
    assert_error(p->ctx, rb_rerun(p->ctx, model, NULL, p->source, NULL, &again), RB_ERROR_DATA,
                 "checksum");
    p->values[N * M - 1] = value;
    assert_again(p, model, NULL);
    rb_source *few;
    assert_ok(p->ctx, rb_source_slice(p->ctx, p->source, 0, N - 1, &few));
    assert_error(p->ctx, rb_rerun(p->ctx, model, NULL, few, NULL, &again), RB_ERROR_DATA,
                 "79 samples");
    rb_source_free(few);
    rb_model_free(model);
}

static rb_model_difference difference_of(const rb_model *a, const rb_model *b, const char *name) {
    rb_model_difference d = {.size = sizeof d};
    for (int64_t i = 0; rb_model_compare(a, b, i, &d); i++)
        if (strcmp(d.name, name) == 0) return d;
    fail_msg("there is no %s", name);
    return d;
}

static void compares_bits(void **state) {
    struct problem *p = *state;
    rb_model *a = fit(p, "units=2 iterations=3", NULL), *b = fit(p, "units=2 iterations=3", NULL);
    rb_model_difference d = {.size = sizeof d + 1};
    assert_false(rb_model_compare(a, b, 0, &d));
    double *x = rb_model_add_array(p->ctx, a, "extra", 2, 2), *y;
    assert_true(isinf(difference_of(a, b, "extra").difference));
    assert_true(isinf(difference_of(b, a, "extra").difference));
    y = rb_model_add_array(p->ctx, b, "extra", 2, 2);
    assert_true(difference_of(a, b, "extra").same);
    x[0] = y[0] = NAN;
    x[1] = -4;
    y[1] = -3;
    y[2] = -0.0;
    d = difference_of(a, b, "extra");
    assert_false(d.same);
    assert_true(d.difference == 0.25);
    y[1] = -4;
    d = difference_of(a, b, "extra"); /* 0 and -0 */
    assert_true(!d.same && d.difference == 0);
    y[3] = NAN;
    assert_true(isinf(difference_of(a, b, "extra").difference));
    assert_true(difference_of(a, b, "objective").history);
    assert_true(difference_of(a, b, "objective").same);
    b->history[1].objective += 1;
    b->history[1].seconds += 1;
    assert_false(difference_of(a, b, "objective").same);
    assert_true(difference_of(a, b, "estep_objective").same);
    rb_model_free(a);
    rb_model_free(b);
}

static void no_memory(void **state) {
    struct problem *p = *state;
    rb_model *start = fit(p, "units=2 iterations=2", NULL);
    rb_model *model = fit(p, "iterations=2", start), *again = NULL;
    int64_t n = 0;
    for (rb_error err = RB_ERROR_MEMORY; allow_allocations(p->ctx, n, err); n++) {
        err = rb_rerun(p->ctx, model, NULL, p->source, start, &again);
        assert_true(!err == (again != NULL));
    }
    assert_true(n > 40);
    assert_true(same(model, again));
    rb_model_free(start);
    rb_model_free(model);
    rb_model_free(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_same_bits),
        cmocka_unit_test(takes_only_what_a_fit_records),
        cmocka_unit_test(stops_where_the_fit_did),
        cmocka_unit_test(needs_the_same_start),
        cmocka_unit_test(refuses_other_data),
        cmocka_unit_test(compares_bits),
        cmocka_unit_test(no_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
