/* Fits in batches: running moments, the last partial batch, order and schedules against the
 * definitions; what must not change a fit, and what is refused. */
#include "../options.h"
#include "rfn_reference.h"

enum { N = 120, M = 9, UNITS = 4, ITERATIONS = 4, BATCH = 37 };

static rb_rfn_options base(void) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    options.weight_init = 0.3;
    options.eta = 0.3;
    options.moment_decay = 0.8;
    return options;
}

static rb_fit_options batches_of(int64_t size) {
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT64);
    fit.batch_size = size;
    return fit;
}

static rb_model *fit_values(const double *values, int64_t n, const rb_rfn_options *given,
                            const rb_fit_options *fit, int threads) {
    rb_rfn_options used = *given, *options = &used;
    if (fit->batch_size == 0)
        used.moment_decay = 0.9; /* without batches another one would be refused */
    rb_context *ctx = fixture_context();
    rb_source *source = fixture_data(ctx, values, n, M);
    assert_ok(ctx, rb_context_set_threads(ctx, threads));
    rb_model *model = fixture_model(ctx, "rfn", options, fit, NULL, source, NULL);
    rb_source_free(source);
    rb_context_free(ctx);
    return model;
}

/* The order of an iteration, read off samples that are their own numbers. */
static void order_of(int64_t n, uint64_t iteration, bool keep, int64_t *order) {
    rb_context *ctx = fixture_context();
    double *numbers = reference_zeros(n);
    rb_matrix *matrix, view;
    rb_source *source, *shuffled;
    for (int64_t i = 0; i < n; i++)
        numbers[i] = (double)i;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, 1, numbers, 1, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    assert_ok(ctx, rb_source_shuffled(ctx, source, &shuffled));
    if (!keep) {
        rb_stream stream = {1, RB_RANDOM_SHUFFLE, 0};
        stream.seed = rb_random_key(stream, iteration);
        rb_source_shuffle(shuffled, stream);
    }
    assert_ok(ctx, shuffled->read(shuffled, ctx, 0, n, &view));
    for (int64_t i = 0; i < n; i++)
        order[i] = (int64_t)rb_matrix_at(&view, i, 0);
    rb_source_free(shuffled);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(numbers);
    rb_context_free(ctx);
}

static double rate(const rb_rfn_options *o, int64_t mstep, int64_t an_iteration) {
    double t = (double)mstep / (double)an_iteration, every = (double)o->eta_every;
    switch (o->eta_schedule) {
    case RB_RFN_SCHEDULE_STEP:
        return o->eta * pow(o->eta_factor, floor(floor(t) / every));
    case RB_RFN_SCHEDULE_INVERSE:
        return o->eta / (1 + t / every);
    default:
        return o->eta;
    }
}

static bool dropped(const reference *r, int64_t position, int64_t unit) {
    uint32_t word = rb_random_word(r->dropout_key, (uint64_t)position, (uint64_t)unit);
    return word < (uint32_t)(r->options.dropout * 0x1p32);
}

/* The library and the reference on the same batches. The noise variance follows in every fourth
 * M-step, up to the last one of an iteration, for the others too. The order is kept where random
 * numbers go by position. */
static void agree(const rb_rfn_options *options, int64_t size, bool keep) {
    double *values = fixture_values(N, M, 3, 31);
    rb_fit_options fit = batches_of(size);
    fit.keep_order = keep;
    rb_model *model = fit_values(values, N, options, &fit, 2);
    reference r = reference_new(values, N, M, options);
    int64_t order[N], msteps = 0, size_used = size > 0 && size < N ? size : N;
    double rest = 1, decay = size_used < N ? options->moment_decay : 0;
    for (uint64_t t = 0; t < ITERATIONS; t++) {
        order_of(N, t, keep, order);
        for (int64_t first = 0; first < N; first += size_used, msteps++) {
            int64_t left = N - first, count = left < size_used ? left : size_used;
            int64_t passes = (N + size_used - 1) / size_used;
            double eta = rate(options, msteps, passes);
            bool due = (passes - 1 - msteps % passes) % 4 == 0;
            rest *= 1 - eta;
            r.dropped = options->dropout > 0 ? dropped : NULL;
            r.dropout_key = rb_random_key((rb_stream){1, RB_RANDOM_DROPOUT, 0}, (uint64_t)msteps);
            reference_estep(&r, order + first, count, decay, false);
            reference_mstep(&r, eta, due ? 1 - rest : 0);
            rest = due ? 1 : rest;
        }
    }
    reference_compare(&r, model, 1e-8);
    reference_free(&r);
    rb_model_free(model);
    free(values);
}

/* Decayed sums over decayed counts; the last batch has 9 samples, and each weighs as any other. */
static void running_moments(void **state) {
    (void)state;
    for (int normalize = RB_RFN_NORMALIZE_RMS; normalize <= RB_RFN_NORMALIZE_NONE; normalize++) {
        rb_rfn_options options = base();
        options.normalize = normalize;
        agree(&options, BATCH, true);
        agree(&options, BATCH, false);
        options.moment_decay = 0;
        agree(&options, 80, false);
        options.moment_decay = 1;
        agree(&options, 10, false);
    }
}

static void with_regularisers(void **state) {
    (void)state;
    rb_rfn_options options = base();
    options.momentum = 0.4;
    options.weight_decay = 0.01;
    options.dropout = 0.3;
    agree(&options, BATCH, true);
    options.dropout_place = RB_RFN_DROPOUT_AFTER;
    agree(&options, BATCH, true);
}

static void schedules(void **state) {
    (void)state;
    for (int schedule = RB_RFN_SCHEDULE_STEP; schedule <= RB_RFN_SCHEDULE_INVERSE; schedule++) {
        rb_rfn_options options = base();
        options.eta_schedule = schedule;
        options.eta_every = 2;
        if (schedule == RB_RFN_SCHEDULE_STEP) options.eta_factor = 0.25;
        agree(&options, 0, true);
        agree(&options, BATCH, true);
    }
}

static void assert_same(const rb_model *a, const rb_model *b) {
    static const char *const names[] = {"loadings", "noise", "scale"};
    for (int i = 0; i < 3; i++)
        fixture_same_array(a, b, names[i]);
}

/* A batch of all samples, or of more, is a fit without batches, bit for bit. */
static void batch_of_all(void **state) {
    (void)state;
    double *values = fixture_values(N, M, 3, 32);
    rb_rfn_options options = base();
    static const int64_t sizes[] = {0, N, 10 * N};
    rb_model *models[3];
    for (int i = 0; i < 3; i++) {
        rb_fit_options fit = batches_of(sizes[i]);
        models[i] = fit_values(values, N, &options, &fit, 1);
    }
    assert_same(models[0], models[1]);
    assert_same(models[0], models[2]);
    for (int i = 0; i < 3; i++)
        rb_model_free(models[i]);
    free(values);
}

/* The same bits for any number of threads, from memory and from a callback, which is one pool here;
 * another seed is another fit. */
static rb_error read_rows(void *user, int64_t first, int64_t count, void *rows) {
    memcpy(rows, (const double *)user + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

static void threads_and_streams(void **state) {
    enum { MANY = 3000 };
    double *values = fixture_values(MANY, M, 3, 33);
    rb_rfn_options options = base();
    rb_fit_options fit = batches_of(700);
    rb_model *one = fit_values(values, MANY, &options, &fit, 1);
    for (int threads = 2; threads <= 3; threads++) {
        rb_model *many = fit_values(values, MANY, &options, &fit, threads);
        assert_same(one, many);
        rb_model_free(many);
    }
    rb_context *ctx = *state;
    rb_source *source;
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, MANY, M, read_rows, values, &source));
    rb_model *streamed = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    assert_same(one, streamed);
    fit.seed = 2;
    options.weight_init = 1e-9; /* the loadings begin all but equal: it is the order that differs */
    rb_model *other = fit_values(values, MANY, &options, &fit, 1);
    fit.seed = 1;
    rb_model *same = fit_values(values, MANY, &options, &fit, 1);
    assert_memory_not_equal(rb_model_array(other, "noise", NULL, NULL),
                            rb_model_array(same, "noise", NULL, NULL), M * sizeof(double));
    rb_model_free(other);
    rb_model_free(same);
    rb_model_free(streamed);
    rb_model_free(one);
    rb_source_free(source);
    free(values);
}

/* Compressed rows of the same values: rounding only. Some have few values, some none. */
static void sparse_rows(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 34);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = values[e] > 0.5 && e / M % 10 != 3 ? values[e] : 0;
    rb_rfn_options options = base();
    rb_fit_options fit = batches_of(BATCH);
    rb_model *dense = fit_values(values, N, &options, &fit, 1), *sparse;
    rb_source *source = fixture_sparse_data(ctx, values, N, M);
    sparse = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    const double *a = rb_model_array(dense, "loadings", NULL, NULL);
    const double *b = rb_model_array(sparse, "loadings", NULL, NULL);
    for (int64_t e = 0; e < M * UNITS; e++)
        assert_close(b[e], a[e], 1e-9);
    rb_model_free(dense);
    rb_model_free(sparse);
    rb_source_free(source);
    free(values);
}

/* In as many passes batches get further than all samples at once, here by half of the way. */
static void gets_further(void **state) {
    (void)state;
    enum { MANY = 2000 };
    double *values = fixture_values(MANY, M, 3, 35), reached[2];
    rb_rfn_options options = base();
    options.eta = 0.1;
    options.weight_init = 0.01;
    for (int i = 0; i < 2; i++) {
        rb_context *ctx = fixture_context();
        rb_source *source = fixture_data(ctx, values, MANY, M);
        rb_fit_options fit = batches_of(i ? 100 : 0);
        rb_model *model = fit_values(values, MANY, &options, &fit, 1);
        rb_evaluation e;
        assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
        reached[i] = e.objective;
        rb_model_free(model);
        rb_source_free(source);
        rb_context_free(ctx);
    }
    free(values);
    assert_true(reached[1] > reached[0] + 1);
}

static void refusals(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 36);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = base();
    rb_fit_options fit = batches_of(BATCH);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT, "newton");
    options.estep = RB_RFN_ESTEP_NEWTON;
    fit.trace = true;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT, "trace");
    fit.trace = false;
    options.noise = RB_RFN_PSI_FULL;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT,
                    "full noise");
    fixture_refused(ctx, "linca", NULL, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT, "batch-size");
    rb_source_free(source);
    free(values);
}

static void allocations(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 37);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = base();
    rb_fit_options fit = batches_of(BATCH);
    fit.iterations = 2;
    const rb_options *all = fixture_options(ctx, "rfn", &options, &fit, NULL);
    rb_model_free(fixture_model_at_last(ctx, all, source, 0));
    rb_source_free(source);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_moments), cmocka_unit_test(with_regularisers),
        cmocka_unit_test(schedules),       cmocka_unit_test(batch_of_all),
        cmocka_unit_test(sparse_rows),     cmocka_unit_test(threads_and_streams),
        cmocka_unit_test(gets_further),    cmocka_unit_test(refusals),
        cmocka_unit_test(allocations),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
