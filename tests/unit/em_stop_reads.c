/* A stop takes effect within some thousand samples, whatever the call is in: preprocessing, a fit,
 * encode, evaluate. Work is counted in samples that are read, so that it is the same on every
 * machine. */
#include "../options.h"
#include "fixture.h"

enum { N = 20000, M = 150, UNITS = 20, FEW = 500, MORE = N / 4 };

struct problem {
    rb_context *ctx;
    rb_source *source;
    rb_model *model;
    int64_t read, stop_at, after; /* samples; after: read since the stop was asked for */
};

static rb_error make_rows(void *user, int64_t first, int64_t count, void *rows) {
    struct problem *p = user;
    float *to = rows;
    rb_stream stream = {1, RB_RANDOM_SIMULATE, 0};
    for (int64_t e = 0; e < count * M; e++)
        to[e] = (float)rb_random_uniform(stream, (uint64_t)(first * M + e));
    if (p->read > p->stop_at) p->after += count;
    p->read += count;
    if (p->read > p->stop_at) rb_context_stop(p->ctx);
    return RB_OK;
}

static rb_rfn_options options_of_fit(void) {
    return fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
}

static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    rb_rfn_options options = options_of_fit();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT32);
    rb_source *few;
    p->ctx = fixture_context();
    p->stop_at = INT64_MAX;
    assert_ok(p->ctx, rb_source_from_callback(p->ctx, RB_FLOAT32, N, M, make_rows, p, &p->source));
    assert_ok(p->ctx, rb_source_slice(p->ctx, p->source, 0, FEW, &few));
    p->model = fixture_model(p->ctx, "rfn", &options, &fit, NULL, few, NULL);
    rb_source_free(few);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    rb_model_free(p->model);
    rb_source_free(p->source);
    rb_context_free(p->ctx);
    free(p);
    return 0;
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

static int64_t samples_of(struct problem *p, call_fn call) {
    rb_context_clear_stop(p->ctx);
    p->read = p->after = 0;
    p->stop_at = INT64_MAX;
    assert_ok(p->ctx, call(p));
    return p->read;
}

static void a_stop_reads_few_more_samples(void **state) {
    struct problem *p = *state;
    static const call_fn calls[] = {call_fit, call_encode, call_evaluate};
    for (int c = 0; c < 3; c++) {
        int64_t all = samples_of(p, calls[c]);
        for (int part = 0; part < 4; part++) {
            rb_context_clear_stop(p->ctx);
            p->read = p->after = 0;
            p->stop_at = all * part / 5;
            assert_int_equal(calls[c](p), RB_ERROR_STOPPED);
            if (p->after > MORE)
                fail_msg("call %d read %lld samples after it was stopped at %lld of %lld", c,
                         (long long)p->after, (long long)p->stop_at, (long long)all);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stop_reads_few_more_samples, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
