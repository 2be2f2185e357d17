/* A fit that is interrupted after any iteration, and goes on from its checkpoint, ends with the
 * same bits as one that never was: arrays, history, attributes. For every method and all that their
 * iterations can come to rely on. */
#include "fixture.h"

#include "nets/one_layer.h"
#include <rarebit/io.h>

#include <stdio.h>
#include <unistd.h>

enum { N = 70, M = 8, UNITS = 4 };

struct problem {
    rb_context *ctx;
    double *values;
    rb_source *source;
    char folder[64], path[128];
};

static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    p->ctx = fixture_context();
    p->values = fixture_values(N, M, 3, 1);
    for (int i = 0; i < N * M; i++)
        p->values[i] = fmax(0, round(3 * p->values[i])); /* counts: every model takes them */
    p->source = fixture_data(p->ctx, p->values, N, M);
    snprintf(p->folder, sizeof p->folder, "/tmp/rarebit-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/c.h5", p->folder);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0); /* nothing else is there */
    rb_source_free(p->source);
    free(p->values);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

static void assert_same_history(const rb_model *a, const rb_model *b) {
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->status, b->status);
    for (int64_t t = 0; t < a->iterations; t++) {
        const double *x = &a->history[t].objective, *y = &b->history[t].objective;
        assert_memory_equal(x, y, 2 * sizeof *x); /* and the E-step's; not the seconds */
    }
}

static void assert_same(const rb_model *a, const rb_model *b) {
    assert_same_history(a, b);
    fixture_same_arrays(a, b);
    for (int64_t i = 0; i < a->n_arrays; i++)
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
    assert_int_equal(a->n_attributes, b->n_attributes);
    for (int64_t i = 0; i < a->n_attributes; i++) {
        assert_string_equal(a->attributes[i].name, b->attributes[i].name);
        assert_string_equal(a->attributes[i].value, b->attributes[i].value);
    }
}

struct stop {
    int64_t calls, after;
};

static rb_error stop_after(const rb_progress *progress, void *user) {
    struct stop *stop = user;
    (void)progress;
    return ++stop->calls == stop->after ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* Interrupted every `step` iterations until it is done. */
static void interrupt_often(struct problem *p, const char *method, const void *options,
                            rb_fit_options fit, const rb_model *start, int64_t step) {
    fixture_checkpoint = NULL;
    rb_checkpoint_options checkpoint = {p->path, "1000000"};
    rb_model *whole, *parts = NULL;
    whole = fixture_model(p->ctx, method, options, &fit, NULL, p->source, start);
    fixture_checkpoint = &checkpoint;
    int64_t max = fit.iterations * fit.restarts / step + 2;
    bool stopped = true;
    for (int64_t times = 0; stopped; times++) {
        struct stop stop = {0, step};
        assert_true(times <= max);
        rb_context_on_progress(p->ctx, stop_after, &stop);
        rb_model_free(parts);
        parts = fixture_model(p->ctx, method, options, &fit, NULL, p->source, start);
        rb_context_on_progress(p->ctx, NULL, NULL);
        assert_true(stop.calls <= step);
        stopped = parts->status == RB_STATUS_STOPPED;
        assert_true(!stopped || access(p->path, F_OK) == 0);
    }
    assert_same(whole, parts);
    rb_model_free(whole);
    rb_model_free(parts);
    unlink(p->path);
    fixture_checkpoint = NULL;
}

/* What else an iteration relies on: noise with covariances, a prior mean that is adapted. */
static void full_noise_and_steering_go_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(20, RB_FLOAT64);
    rfn.estep = RB_RFN_ESTEP_CYCLIC;
    rfn.noise = RB_RFN_PSI_FULL;
    rfn.newton_iterations = 6;
    rfn.steer_iterations = 9;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 4);
}

static void rfn_goes_on(void **state) {
    struct problem *p = *state;
    for (int estep = RB_RFN_ESTEP_NEWTON; estep <= RB_RFN_ESTEP_CYCLIC; estep++) {
        for (int normalize = RB_RFN_NORMALIZE_RMS; normalize <= RB_RFN_NORMALIZE_NONE;
             normalize++) {
            if (estep != RB_RFN_ESTEP_NEWTON && normalize == RB_RFN_NORMALIZE_SD) continue;
            for (int precision = RB_FLOAT32; precision <= RB_FLOAT64; precision++) {
                rb_rfn_options rfn = fixture_rfn(UNITS, normalize);
                rb_fit_options fit = fixture_fit(12, precision);
                rfn.estep = estep;
                interrupt_often(p, "rfn", &rfn, fit, NULL, 5);
                fit.trace = true;
                rfn.units = 2 * M;
                interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
            }
        }
    }
}

/* What changes from iteration to iteration, and what the M-step can do. */
static void rfn_options_go_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(60, RB_FLOAT32);
    rfn.sparse_loadings = 1.5;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 17);
    rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    fit.iterations = 10;
    rfn.mstep = RB_RFN_MSTEP_GRADIENT;
    rfn.eta = 0.01;
    rfn.psi_update = RB_RFN_PSI_NEW;
    rfn.prior_mean.value = -0.5;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 3);
    rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS); /* newton, then adapted, then cyclic */
    rfn.estep = RB_RFN_ESTEP_CYCLIC;
    rfn.newton_iterations = 4;
    rfn.steer_iterations = 10;
    fit.iterations = 20;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
    rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS); /* stages that are left out for a while */
    rfn.estep = RB_RFN_ESTEP_CASCADE;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
    rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rfn.momentum = 0.5;
    rfn.dropout = 0.3;
    rfn.input_noise = RB_RFN_NOISE_GAUSSIAN;
    rfn.input_noise_level = 0.5;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
}

/* The points that acceleration remembers go on, and whether an iteration was thrown away. */
static void acceleration_goes_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rfn.eta = 1;
    rfn.estep = RB_RFN_ESTEP_CYCLIC;
    for (int precision = RB_FLOAT32; precision <= RB_FLOAT64; precision++) {
        for (int accelerate = RB_ACCELERATE_SQUAREM; accelerate <= RB_ACCELERATE_NESTEROV;
             accelerate++) {
            rb_fit_options fit = fixture_fit(60, precision);
            fit.accelerate = accelerate;
            interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
            fit.tolerance = 1e-5;
            interrupt_often(p, "rfn", &rfn, fit, NULL, 7);
        }
    }
}

/* Randomness by iteration, momentum, running moments, the order of batches, rates that fall. */
static void regularisers_and_batches_go_on(void **state) {
    struct problem *p = *state;
    for (int64_t batch = 0; batch <= 30; batch += 30) {
        rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_SD);
        rb_fit_options fit = fixture_fit(10, RB_FLOAT32);
        rfn.eta = 0.2;
        rfn.eta_schedule = RB_RFN_SCHEDULE_INVERSE;
        rfn.eta_every = 3;
        rfn.momentum = 0.3;
        rfn.dropout = 0.2;
        rfn.dropout_place = RB_RFN_DROPOUT_AFTER;
        rfn.input_noise = RB_RFN_NOISE_GAUSSIAN;
        rfn.input_noise_level = 0.5;
        fit.batch_size = batch;
        interrupt_often(p, "rfn", &rfn, fit, NULL, 3);
        interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
    }
}

/* Of several restarts the best is known after an interruption in a later one. */
static void restarts_go_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(10, RB_FLOAT64);
    fit.restarts = 4;
    for (fit.seed = 1; fit.seed <= 6; fit.seed++)
        interrupt_often(p, "rfn", &rfn, fit, NULL, 7);
    fit.tolerance = 0.02; /* ends each of them early */
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
    fit.patience = 3;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
    fit.parameter_tolerance = 0.05;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
}

/* Without options: the E-step is chosen by the library, the prior mean grows from iteration 51. */
static void the_default_goes_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn;
    rb_fit_options fit = fixture_fit(80, RB_FLOAT32);
    rb_rfn_options_default(&rfn);
    rfn.units = UNITS;
    fit.restarts = 3;
    interrupt_often(p, "rfn", &rfn, fit, NULL, 27);
    interrupt_often(p, "rfn", &rfn, fit, NULL, 1);
}

/* Each time there is time for one iteration. */
static void the_end_of_the_time_goes_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(5, RB_FLOAT64);
    fixture_checkpoint = NULL;
    rb_checkpoint_options checkpoint = {p->path, "1h"};
    rb_model *whole, *part;
    whole = fixture_model(p->ctx, "rfn", &rfn, &fit, NULL, p->source, NULL);
    fixture_checkpoint = &checkpoint;
    for (int t = 1; t <= 4; t++) {
        fit.max_time = 1e-9 * t; /* which is no option that the checkpoint insists on */
        part = fixture_model(p->ctx, "rfn", &rfn, &fit, NULL, p->source, NULL);
        assert_int_equal(part->iterations, t);
        assert_int_equal(part->status, RB_STATUS_TIME);
        rb_model_free(part);
    }
    fit.max_time = 0;
    part = fixture_model(p->ctx, "rfn", &rfn, &fit, NULL, p->source, NULL);
    assert_same(whole, part);
    rb_model_free(whole);
    rb_model_free(part);
    fixture_checkpoint = NULL;
}

static void a_warm_start_goes_on(void **state) {
    struct problem *p = *state;
    rb_rfn_options rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(5, RB_FLOAT64);
    rb_model *start = fixture_model(p->ctx, "rfn", &rfn, &fit, NULL, p->source, NULL);
    rfn.estep = RB_RFN_ESTEP_CYCLIC;
    interrupt_often(p, "rfn", &rfn, fit, start, 2);
    rb_model_free(start);
}

static void truncation_goes_on(void **state) {
    struct problem *p = *state;
    static const char *const methods[] = {"linca", "nmf-et", "mca"};
    for (int m = 0; m < 3; m++) {
        rb_et_options et;
        rb_et_options_default(&et);
        et.units = UNITS;
        et.candidates = 3;
        et.max_active = 2;
        et.learn_prior = true;
        rb_fit_options fit = fixture_fit(20, RB_FLOAT64);
        interrupt_often(p, methods[m], &et, fit, NULL, 3);
        fit.trace = true;
        fit.tolerance = 1e-3;
        interrupt_often(p, methods[m], &et, fit, NULL, 7);
        et.prior_per_cause = true;
        interrupt_often(p, methods[m], &et, fit, NULL, 11);
        et.values = "0,1,2";
        interrupt_often(p, methods[m], &et, fit, NULL, 17);
    }
}

/* Steps with momentum, by gradients of corrupted or sampled batches. */
static void networks_go_on(void **state) {
    struct problem *p = *state;
    static const char *const methods[] = {"dae", "rbm"};
    for (int m = 0; m < 2; m++) {
        for (int64_t batch = 0; batch <= 30; batch += 30) {
            net_options net = {0};
            rb_rows_default(rb_find_method(p->ctx, methods[m])->options, &net);
            net.units = UNITS;
            net.weights = batch > 0 ? NET_UNTIED : NET_TIED;
            rb_fit_options fit = fixture_fit(10, RB_FLOAT32);
            fit.batch_size = batch;
            interrupt_often(p, methods[m], &net, fit, NULL, 3);
            fit.restarts = 2;
            interrupt_often(p, methods[m], &net, fit, NULL, 7);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_noise_and_steering_go_on),
        cmocka_unit_test(rfn_goes_on),
        cmocka_unit_test(rfn_options_go_on),
        cmocka_unit_test(acceleration_goes_on),
        cmocka_unit_test(regularisers_and_batches_go_on),
        cmocka_unit_test(restarts_go_on),
        cmocka_unit_test(the_default_goes_on),
        cmocka_unit_test(the_end_of_the_time_goes_on),
        cmocka_unit_test(a_warm_start_goes_on),
        cmocka_unit_test(truncation_goes_on),
        cmocka_unit_test(networks_go_on),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
