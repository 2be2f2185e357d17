/* rb_context_stop: whatever reads samples ends before its next block, and a fit with the last
 * iteration that is whole. */
#include "fixture.h"
#include <rarebit/io.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Three blocks of a fit. */
enum { N = 33000, M = 4, UNITS = 3 };

struct problem {
    rb_context *ctx;
    double *values;
    rb_source *source;
    int64_t reads, stop_at; /* asks to stop while it gives this one, from 1; 0: never */
    bool stopped;
    int64_t after; /* reads that began once that was done */
    rb_rfn_options rfn;
    rb_fit_options fit;
};

static rb_error give(void *user, int64_t first, int64_t count, void *rows) {
    struct problem *p = user;
    p->after += p->stopped;
    if (++p->reads == p->stop_at) {
        rb_context_stop(p->ctx);
        p->stopped = true;
    }
    memcpy(rows, p->values + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

static int setup(void **state) {
    static const rb_memory_options nothing_kept = {"0"};
    struct problem *p = calloc(1, sizeof *p);
    fixture_memory = &nothing_kept; /* each pass reads its blocks */
    p->ctx = fixture_context();
    p->values = fixture_values(N, M, 2, 1);
    assert_ok(p->ctx, rb_source_from_callback(p->ctx, RB_FLOAT64, N, M, give, p, &p->source));
    p->rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    p->fit = fixture_fit(4, RB_FLOAT64);
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

/* Afterwards nothing is asked for any more. */
static void prepare(struct problem *p, int64_t stop_at) {
    rb_context_clear_stop(p->ctx);
    p->reads = p->after = 0;
    p->stopped = false;
    p->stop_at = stop_at;
}

static rb_model *fit_for(struct problem *p, int64_t iterations) {
    rb_fit_options fit = p->fit;
    fit.iterations = iterations;
    prepare(p, 0);
    return fixture_model(p->ctx, "rfn", &p->rfn, &fit, NULL, p->source, NULL);
}

static void assert_usable(struct problem *p, const rb_model *model) {
    prepare(p, 0);
    double *codes = fixture_codes(p->ctx, model, p->source);
    for (int64_t i = 0; i < (int64_t)N * UNITS; i++)
        assert_true(isfinite(codes[i]) && codes[i] >= 0);
    free(codes);
}

/* Wherever a fit is stopped, it reads nothing more, and its parameters are those of the iterations
 * that are whole; the scale of the units is that of the last E-step, which is the one before these
 * parameters. */
static void a_fit_ends_with_whole_iterations(void **state) {
    struct problem *p = *state;
    rb_model *whole[5] = {NULL}, *model;
    for (int t = 1; t <= 4; t++)
        whole[t] = fit_for(p, t);
    int64_t all = p->reads, last = 0;
    assert_true(all > 15);
    for (int64_t at = 1; at < all; at++) {
        prepare(p, at);
        rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL),
                              p->source, NULL, &model);
        assert_true(p->stopped && p->after == 0);
        if (err) {
            assert_int_equal(err, RB_ERROR_STOPPED);
            assert_null(model);
            assert_int_equal(last, 0);
            continue;
        }
        int64_t t = model->iterations;
        assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
        assert_true(t >= last && t <= 4);
        last = t;
        fixture_same_array(model, whole[t], "loadings");
        fixture_same_array(model, whole[t], "noise");
        if (t > 1) fixture_same_array(model, whole[t - 1], "scale");
        assert_usable(p, model);
        rb_model_free(model);
    }
    assert_int_equal(last, 4);
    for (int t = 1; t <= 4; t++)
        rb_model_free(whole[t]);
}

/* Codes that are held change in the middle of an iteration; multipliers come from their moments. */
static void so_does_one_that_holds_codes(void **state) {
    struct problem *p = *state;
    rb_model *model;
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    p->rfn.eta = 0.2;
    p->fit.iterations = 40;
    rb_model *whole = fit_for(p, 40);
    int64_t all = p->reads;
    for (int64_t at = 1; at < all; at += at < 25 || at > all - 20 ? 2 : 25) {
        prepare(p, at);
        rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL),
                              p->source, NULL, &model);
        assert_true(p->stopped && p->after == 0);
        assert_true(err == (model ? RB_OK : RB_ERROR_STOPPED));
        if (!model) continue;
        assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
        assert_null(rb_model_array(model, "certificate", NULL, NULL));
        if (at < 40 || at > all - 4) assert_usable(p, model);
        if (model->iterations >= 39) {
            const double *given = rb_model_array(model, "multipliers", NULL, NULL);
            const double *exact = rb_model_array(whole, "multipliers", NULL, NULL);
            for (int j = 0; j < UNITS; j++)
                assert_close(given[j], exact[j], 0.02);
        }
        rb_model_free(model);
    }
    rb_model_free(whole);
}

static void so_does_expectation_truncation(void **state) {
    struct problem *p = *state;
    rb_model *model;
    rb_et_options et;
    rb_et_options_default(&et);
    et.units = UNITS;
    et.candidates = et.max_active = 2;
    p->fit.iterations = 6; /* with a cut at the end: two passes */
    for (int traced = 0; traced < 2; traced++) {
        p->fit.trace = traced;
        prepare(p, 0);
        model = fixture_model(p->ctx, "linca", &et, &p->fit, NULL, p->source, NULL);
        rb_model_free(model);
        int64_t all = p->reads, last = 0;
        for (int64_t at = 1; at < all; at += 2) {
            prepare(p, at);
            rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "linca", &et, &p->fit, NULL),
                                  p->source, NULL, &model);
            assert_true(p->stopped && p->after == 0);
            assert_true(err == (model ? RB_OK : RB_ERROR_STOPPED));
            assert_true(model || last == 0);
            last = model ? model->iterations : 0;
            if (model && at % 5 == 0) assert_usable(p, model);
            rb_model_free(model);
        }
        assert_int_equal(last, 6);
    }
}

static void assert_same(const rb_model *a, const rb_model *b) {
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->status, b->status);
    fixture_same_arrays(a, b);
}

/* Stopped at some block, a fit goes on from its checkpoint to the same bits; that is of the last
 * iteration that is whole. A step that is no multiple of the three blocks meets each of them. */
static void goes_on_to_the_same(struct problem *p, const char *method, const void *options,
                                int64_t step) {
    char folder[] = "/tmp/rarebit-interrupt-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.h5", folder);
    fixture_checkpoint = NULL;
    rb_checkpoint_options checkpoint = {path, "1000"};
    rb_fit_options fit = p->fit;
    rb_model *whole, *part;
    prepare(p, 0);
    whole = fixture_model(p->ctx, method, options, &fit, NULL, p->source, NULL);
    int64_t all = p->reads;
    fixture_checkpoint = &checkpoint;
    for (int64_t at = 2; at < all; at += step) {
        bool there;
        rb_checkpoint_info info = {.size = sizeof info}, later = {.size = sizeof later};
        prepare(p, at);
        rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, method, options, &fit, NULL),
                              p->source, NULL, &part);
        assert_true(err == (part ? RB_OK : RB_ERROR_STOPPED));
        assert_int_equal(p->after, 0);
        assert_ok(p->ctx, rb_checkpoint_read(p->ctx, path, &there, &info));
        assert_true(there == (part != NULL));
        assert_true(!there || info.restart > 0 || info.iteration == part->iterations);
        rb_model_free(part);
        prepare(p, at % 5 + 1); /* and again, before or after it went on from there */
        err = rb_fit(p->ctx, fixture_options(p->ctx, method, options, &fit, NULL), p->source, NULL,
                     &part);
        assert_true(err == (part ? RB_OK : RB_ERROR_STOPPED));
        assert_ok(p->ctx, rb_checkpoint_read(p->ctx, path, &there, &later));
        assert_true(later.restart > info.restart ||
                    (later.restart == info.restart && later.iteration >= info.iteration));
        rb_model_free(part);
        prepare(p, 0);
        part = fixture_model(p->ctx, method, options, &fit, NULL, p->source, NULL);
        assert_same(part, whole);
        rb_model_free(part);
        unlink(path);
    }
    fixture_checkpoint = NULL;
    assert_int_equal(rmdir(folder), 0);
    rb_model_free(whole);
}

static void a_checkpoint_goes_on_from_any_block(void **state) {
    struct problem *p = *state;
    rb_rfn_options plain = p->rfn;
    p->fit.restarts = 2;
    goes_on_to_the_same(p, "rfn", &p->rfn, 7);
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    p->rfn.newton_iterations = 1;
    goes_on_to_the_same(p, "rfn", &p->rfn, 19);
    p->fit.restarts = 1;
    p->fit.iterations = 9;
    p->rfn.steer_iterations = 4;
    goes_on_to_the_same(p, "rfn", &p->rfn, 17);
    p->rfn = plain;
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    for (p->fit.accelerate = RB_ACCELERATE_SQUAREM; p->fit.accelerate <= RB_ACCELERATE_NESTEROV;
         p->fit.accelerate++)
        goes_on_to_the_same(p, "rfn", &p->rfn, 17);
    p->fit.accelerate = RB_ACCELERATE_NONE;
    p->rfn = plain;
    p->rfn.momentum = 0.3;
    p->rfn.dropout = 0.2;
    p->fit.iterations = 4;
    p->fit.batch_size = 7000;
    goes_on_to_the_same(p, "rfn", &p->rfn, 10);
    rb_et_options et;
    rb_et_options_default(&et);
    et.units = UNITS;
    et.candidates = et.max_active = 2;
    p->fit.batch_size = 0;
    p->fit.iterations = 6;
    p->fit.trace = true;
    goes_on_to_the_same(p, "linca", &et, 11);
}

/* A restart that is whole is a result, whatever becomes of the next one. */
static void an_earlier_restart_is_a_result(void **state) {
    struct problem *p = *state;
    rb_model *first = fit_for(p, 4), *model;
    int64_t all = p->reads;
    p->fit.restarts = 2;
    prepare(p, all + 2);
    model = fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL);
    assert_int_equal(p->after, 0);
    assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
    fixture_same_array(model, first, "loadings");
    rb_model_free(model);
    rb_model_free(first);
}

/* Without a list of what it keeps a method cannot go back. */
static void without_a_list_there_is_no_model(void **state) {
    struct problem *p = *state;
    rb_method other = *rb_context_method(p->ctx, 0);
    rb_model *model;
    other.name = "other";
    other.parts = NULL;
    assert_ok(p->ctx, rb_context_add_method(p->ctx, &other));
    rb_model_free(fit_for(p, 4));
    prepare(p, p->reads - 1);
    assert_int_equal(rb_fit(p->ctx, fixture_options(p->ctx, "other", &p->rfn, &p->fit, NULL),
                            p->source, NULL, &model),
                     RB_ERROR_STOPPED);
    assert_null(model);
}

/* An M-step that is asked to stop while it is at work leaves the rest undone, and the iteration
 * with it. */
static rb_context *asked;
static int64_t msteps_left;

static rb_error stop_in_mstep(rb_context *ctx, void *state) {
    if (msteps_left-- == 0) rb_context_stop(asked);
    return rb_context_method(ctx, 0)->mstep(ctx, state);
}

static void an_mstep_is_cut(void **state) {
    struct problem *p = *state;
    rb_method other = *rb_context_method(p->ctx, 0);
    other.name = "other";
    other.mstep = stop_in_mstep;
    asked = p->ctx;
    assert_ok(p->ctx, rb_context_add_method(p->ctx, &other));
    for (int full = 0; full < 2; full++) {
        rb_model *whole = fit_for(p, 2), *model;
        prepare(p, 0);
        msteps_left = 2;
        model = fixture_model(p->ctx, "other", &p->rfn, &p->fit, NULL, p->source, NULL);
        assert_int_equal(model->iterations, 2);
        assert_int_equal(rb_model_status(model), RB_STATUS_STOPPED);
        fixture_same_array(model, whole, "loadings");
        fixture_same_array(model, whole, "noise");
        rb_model_free(model);
        rb_model_free(whole);
        p->rfn.noise = RB_RFN_PSI_FULL;
    }
}

static rb_error take(void *user, int64_t first, const rb_matrix *rows) {
    (void)first, (void)rows;
    ++*(int *)user;
    return RB_OK;
}

static void so_do_all_uses_of_a_model(void **state) {
    struct problem *p = *state;
    rb_model *model = fit_for(p, 2);
    rb_evaluation evaluation;
    rb_description description = {.size = sizeof description};
    int taken = 0;
    prepare(p, 1);
    assert_int_equal(fixture_evaluate(p->ctx, model, p->source, &evaluation), RB_ERROR_STOPPED);
    assert_int_equal(p->reads, 1);
    prepare(p, 1);
    assert_int_equal(rb_describe(p->ctx, p->source, &description), RB_OK); /* in one block */
    assert_int_equal(rb_encode(p->ctx, model, p->source, take, &taken), RB_ERROR_STOPPED);
    assert_int_equal(taken, 0);
    assert_int_equal(rb_reconstruct(p->ctx, model, p->source, take, &taken), RB_ERROR_STOPPED);
    assert_int_equal(taken, 0);
    rb_model_free(model);
}

/* Codes by multipliers take sweeps over a block: one that was left undone is not handed over. */
static void codes_left_inverted_are_not_given(void **state) {
    struct problem *p = *state;
    rb_evaluation evaluation;
    int taken = 0;
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    rb_model *model = fit_for(p, 3);
    prepare(p, 0);
    assert_ok(p->ctx, rb_encode(p->ctx, model, p->source, take, &taken));
    int whole = taken;
    prepare(p, p->reads); /* the last block */
    taken = 0;
    assert_int_equal(rb_encode(p->ctx, model, p->source, take, &taken), RB_ERROR_STOPPED);
    assert_int_equal(taken, whole - 1);
    prepare(p, p->reads);
    assert_int_equal(fixture_evaluate(p->ctx, model, p->source, &evaluation), RB_ERROR_STOPPED);
    rb_model_free(model);
}

/* A request that came while nothing ran holds until it is cleared. */
static void a_request_stays_until_it_is_cleared(void **state) {
    struct problem *p = *state;
    rb_model *model = NULL;
    rb_context_stop(p->ctx);
    for (int times = 0; times < 2; times++) {
        assert_int_equal(rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL),
                                p->source, NULL, &model),
                         RB_ERROR_STOPPED);
        assert_null(model);
        assert_int_equal(p->reads, 0);
    }
    assert_string_equal(rb_error_name(RB_ERROR_STOPPED), "RB_ERROR_STOPPED");
    rb_context_clear_stop(p->ctx);
    rb_model_free(fit_for(p, 1));
}

/* Blocks of the preprocessing are its own; a quantile needs a second walk. */
static rb_error give_wide(void *user, int64_t first, int64_t count, void *rows) {
    struct problem *p = user;
    p->after += p->stopped;
    if (++p->reads == p->stop_at) {
        rb_context_stop(p->ctx);
        p->stopped = true;
    }
    for (int64_t i = 0; i < count * 1500; i++)
        ((float *)rows)[i] = (float)((first + i * 7) % 11);
    return RB_OK;
}

static void preprocessing_stops(void **state) {
    struct problem *p = *state;
    rb_source *source;
    rb_model *model;
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.centre = RB_CENTRE_MEDIAN;
    assert_ok(p->ctx,
              rb_source_from_callback(p->ctx, RB_FLOAT32, 5000, 1500, give_wide, p, &source));
    for (int64_t at = 1; at <= 9; at += 4) {
        prepare(p, at);
        assert_int_equal(rb_fit(p->ctx,
                                fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, &preprocess),
                                source, NULL, &model),
                         RB_ERROR_STOPPED);
        assert_null(model);
        assert_int_equal(p->reads, at);
    }
    rb_source_free(source);
}

static void *ask(void *user) {
    struct problem *p = user;
    usleep(30000);
    rb_context_stop(p->ctx);
    p->stopped = true;
    return NULL;
}

/* From another thread, with several threads at work. */
static void another_thread_may_ask(void **state) {
    struct problem *p = *state;
    pthread_t thread;
    rb_model *model;
    assert_ok(p->ctx, rb_context_set_threads(p->ctx, 2));
    p->fit.iterations = 1000000;
    prepare(p, 0);
    assert_int_equal(pthread_create(&thread, NULL, ask, p), 0);
    rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL), p->source,
                          NULL, &model);
    assert_true(err == (model ? RB_OK : RB_ERROR_STOPPED));
    pthread_join(thread, NULL);
    rb_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_ends_with_whole_iterations),
        cmocka_unit_test(so_does_one_that_holds_codes),
        cmocka_unit_test(so_does_expectation_truncation),
        cmocka_unit_test(a_checkpoint_goes_on_from_any_block),
        cmocka_unit_test(an_mstep_is_cut),
        cmocka_unit_test(an_earlier_restart_is_a_result),
        cmocka_unit_test(without_a_list_there_is_no_model),
        cmocka_unit_test(so_do_all_uses_of_a_model),
        cmocka_unit_test(codes_left_inverted_are_not_given),
        cmocka_unit_test(a_request_stays_until_it_is_cleared),
        cmocka_unit_test(preprocessing_stops),
        cmocka_unit_test(another_thread_may_ask),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
