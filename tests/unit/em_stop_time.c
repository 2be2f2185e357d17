/* A stop takes effect within half a second of work on 20000 x 1500 with 400 units, whatever the
 * call is in: preprocessing, a fit, encode, evaluate. Time is the processor's, of one thread, so
 * that a busy machine tells the same. */
#include "../options.h"
#include "fixture.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { N = 20000, M = 1500, UNITS = 400, FEW = 500 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct problem {
    rb_context *ctx;
    float *values;
    rb_matrix *matrix;
    rb_source *source;
    rb_model *model;
    double work, asked; /* when to ask, in seconds of work; when it was asked */
};

static rb_rfn_options options_of_fit(void) {
    return fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
}

static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    rb_draws draws = {{1, RB_RANDOM_SIMULATE, 0}, 0};
    p->ctx = fixture_context();
    p->values = calloc((size_t)N * M, sizeof *p->values);
    for (int64_t i = 0; i < (int64_t)N * M; i++)
        p->values[i] = (float)rb_draw_uniform(&draws);
    assert_ok(p->ctx, rb_matrix_dense(p->ctx, RB_FLOAT32, N, M, p->values, M, 1, &p->matrix));
    assert_ok(p->ctx, rb_source_from_matrix(p->ctx, p->matrix, &p->source));
    rb_source *few;
    rb_rfn_options options = options_of_fit();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT32);
    assert_ok(p->ctx, rb_source_slice(p->ctx, p->source, 0, FEW, &few));
    assert_ok(p->ctx, rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &options, &fit, NULL), few,
                             NULL, &p->model));
    rb_source_free(few);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    rb_model_free(p->model);
    rb_source_free(p->source);
    rb_matrix_free(p->matrix);
    free(p->values);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

static void *ask(void *user) {
    struct problem *p = user;
    double began = seconds();
    while (seconds() - began < p->work)
        usleep(1000);
    p->asked = seconds();
    rb_context_stop(p->ctx);
    return NULL;
}

typedef rb_error (*call_fn)(struct problem *p);

static rb_error call_encode(struct problem *p) {
    float *codes = calloc((size_t)N * UNITS, sizeof *codes);
    rb_error err = rb_encode_into(p->ctx, p->model, p->source, RB_FLOAT32, codes, UNITS, 1);
    free(codes);
    return err;
}

static rb_error call_evaluate(struct problem *p) {
    rb_metrics *metrics;
    rb_error err = rb_evaluate(p->ctx, p->model, p->source, &metrics);
    rb_metrics_free(metrics);
    return err;
}

/* Medians and quartiles come first. */
static rb_error call_fit(struct problem *p) {
    rb_rfn_options options = options_of_fit();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT32);
    rb_preprocess_options how;
    rb_model *model;
    rb_preprocess_options_default(&how);
    how.centre = RB_CENTRE_MEDIAN;
    how.scale = RB_SCALE_IQR;
    rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &options, &fit, &how), p->source,
                          NULL, &model);
    rb_model_free(model);
    return err;
}

static void a_stop_takes_half_a_second_at_max(void **state) {
    struct problem *p = *state;
    static const struct {
        call_fn call;
        double work;
    } all[] = {{call_fit, 0.3},
               {call_fit, 1.5},
               {call_encode, 0.2},
               {call_evaluate, 0.3},
               {call_evaluate, 1.5}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pthread_t thread;
        rb_context_clear_stop(p->ctx);
        p->work = all[i].work;
        assert_int_equal(pthread_create(&thread, NULL, ask, p), 0);
        rb_error err = all[i].call(p);
        double ended = seconds();
        pthread_join(thread, NULL);
        assert_int_equal(err, RB_ERROR_STOPPED);
        if (ended - p->asked > 0.5)
            fail_msg("call %d went on for %.3f s", (int)i, ended - p->asked);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stop_takes_half_a_second_at_max, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
