/* Training of nets: the same bits for threads, streams and after an interruption; what it learns,
 * when it stops, what it refuses. */
#include "nets_test.h"

#include "em/em.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static rb_model *net_of(const char *text, const rb_labelled *with) {
    rb_options *options = options_of(text);
    rb_model *net;
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &train.labelled, with, &net));
    rb_options_free(options);
    return net;
}

static void assert_same_net(const rb_model *a, const rb_model *b) {
    assert_int_equal(rb_model_iterations(a), rb_model_iterations(b));
    fixture_same_arrays(a, b);
    for (int64_t t = 0; t < rb_model_iterations(a); t++) {
        double x, y;
        rb_model_history(a, t, &x, NULL, NULL);
        rb_model_history(b, t, &y, NULL, NULL);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static const char noisy[] = "epochs=6 dropout=0.3 masking=0.2 weight-decay=1e-4 patience=0";

static void the_same_for_threads(void **state) {
    (void)state;
    static const char *const optimizers[] = {"optimizer=sgd", "optimizer=nesterov",
                                             "optimizer=adam"};
    for (int i = 0; i < 3; i++) {
        char text[256];
        rb_model *nets[3];
        snprintf(text, sizeof text, "%s %s layers=150,140", noisy, optimizers[i]);
        for (int threads = 1; threads <= 3; threads++) {
            assert_ok(ctx, rb_context_set_threads(ctx, threads));
            nets[threads - 1] = net_of(text, &valid.labelled);
        }
        assert_same_net(nets[0], nets[1]);
        assert_same_net(nets[0], nets[2]);
        for (int k = 0; k < 3; k++)
            rb_model_free(nets[k]);
    }
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
}

static rb_error read_rows(void *user, int64_t first, int64_t count, void *values) {
    const struct data *d = user;
    memcpy(values, d->values + first * M, (size_t)(count * M) * sizeof(double));
    return RB_OK;
}

static void the_same_streamed(void **state) {
    (void)state;
    rb_model *a = net_of(noisy, &valid.labelled), *b;
    rb_labelled streamed = train.labelled;
    rb_options *options = options_of(noisy);
    assert_ok(ctx,
              rb_source_from_callback(ctx, RB_FLOAT64, N, M, read_rows, &train, &streamed.source));
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &streamed, &valid.labelled, &b));
    assert_same_net(a, b);
    rb_source_free(streamed.source);
    rb_options_free(options);
    rb_model_free(a);
    rb_model_free(b);
}

/* Samples with few values: the same bits for any number of threads, in memory or as blocks; those
 * of dense ones but for rounding; and what is predicted of them. */
static void sparse_samples_are_the_same(void **state) {
    (void)state;
    enum { WIDE = 500, EACH = 5, LABELS = 3 };
    static double dense[N * WIDE], stored[N * EACH];
    int64_t starts[N + 1] = {0}, class_of[N];
    int32_t columns[N * EACH];
    static const char *const texts[] = {
        "epochs=4 precision=float64 centre=none masking=0.2",
        "epochs=4 precision=float64 dropout=0.3 optimizer=adam rate=0.01"};
    memset(dense, 0, sizeof dense);
    for (int64_t i = 0; i < N; i++) {
        class_of[i] = i % LABELS;
        for (int e = 0; e < EACH; e++) {
            int32_t k = (int32_t)(e * 100 + (i * 37 + e * 11) % 90);
            if (e == 0) k = (int32_t)(class_of[i] * 3);
            columns[i * EACH + e] = k;
            stored[i * EACH + e] = dense[i * WIDE + k] = 1 + (double)(i % 5);
        }
        starts[i + 1] = (i + 1) * EACH;
    }
    rb_matrix *of[2];
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, WIDE, starts, columns, stored, &of[0]));
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, WIDE, dense, WIDE, 1, &of[1]));
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        rb_model *nets[3];
        static double said[3][N * LABELS];
        for (int run = 0; run < 3; run++) {
            rb_source *source;
            rb_options *options = options_of(texts[t]);
            assert_ok(ctx, rb_context_set_threads(ctx, run == 1 ? 3 : 1));
            assert_ok(ctx, rb_source_from_matrix(ctx, of[run == 2], &source));
            rb_labelled data = {
                .size = sizeof data, .source = source, .n_classes = LABELS, .class_of = class_of};
            assert_ok(ctx, rb_finetune(ctx, options, NULL, &data, &data, &nets[run]));
            assert_ok(ctx,
                      rb_encode_into(ctx, nets[run], source, RB_FLOAT64, said[run], LABELS, 1));
            rb_options_free(options);
            rb_source_free(source);
        }
        assert_ok(ctx, rb_context_set_threads(ctx, 1));
        assert_same_net(nets[0], nets[1]);
        assert_memory_equal(said[0], said[1], sizeof said[0]);
        for (int64_t i = 0; i < N * LABELS; i++)
            assert_close(said[0][i], said[2][i], 1e-9);
        for (int run = 0; run < 3; run++)
            rb_model_free(nets[run]);
    }
    rb_matrix_free(of[0]);
    rb_matrix_free(of[1]);
}

/* ---- stops ---- */

static rb_error stop_at(const rb_progress *p, void *user) {
    return p->iteration == *(int *)user ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void goes_on_from_a_checkpoint(void **state) {
    (void)state;
    char path[] = "/tmp/rarebit-deep-XXXXXX", text[512];
    int fd = mkstemp(path);
    close(fd);
    for (int adam = 0; adam < 2; adam++) {
        int at = 3;
        unlink(path);
        snprintf(text, sizeof text, "%s epochs=8 optimizer=%s", noisy, adam ? "adam" : "nesterov");
        rb_model *whole = net_of(text, &valid.labelled);
        snprintf(text, sizeof text, "%s epochs=8 optimizer=%s checkpoint=%s checkpoint-every=2",
                 noisy, adam ? "adam" : "nesterov", path);
        rb_context_on_progress(ctx, stop_at, &at);
        rb_model *part = net_of(text, &valid.labelled);
        rb_context_on_progress(ctx, NULL, NULL);
        assert_int_equal(rb_model_iterations(part), 3);
        assert_int_equal(rb_model_status(part), RB_STATUS_STOPPED);
        rb_model *rest = net_of(text, &valid.labelled);
        assert_same_net(whole, rest);
        rb_model_free(whole);
        rb_model_free(part);
        rb_model_free(rest);
    }
    /* Another training does not go on from it. */
    rb_options *options = options_of(text);
    rb_model *net;
    assert_ok(ctx, rb_options_set(ctx, options, "rate", "0.5"));
    assert_error(ctx, rb_finetune(ctx, options, NULL, &train.labelled, &valid.labelled, &net),
                 RB_ERROR_ARGUMENT, "rate");
    assert_null(net);
    rb_options_free(options);
    unlink(path);
}

static const rb_checkpoint_store *stored;
static const char *spoilt; /* the count that is read as `wrong` */
static int64_t wrong;

static rb_error get_spoilt(rb_checkpoint_file *file, const char *name, int64_t *value) {
    rb_error err = stored->get_integer(file, name, value);
    if (!err && strcmp(name, spoilt) == 0) *value = wrong;
    return err;
}

static int created;

static rb_error create_locked(rb_context *context, const char *path, bool locked,
                              rb_checkpoint_file **file) {
    created += locked;
    return stored->create(context, path, locked, file);
}

/* A training that has the lock of its checkpoint says so to who writes it. */
static void checkpoints_are_written_under_their_lock(void **state) {
    (void)state;
    char path[] = "/tmp/rarebit-deep-XXXXXX", text[512];
    close(mkstemp(path));
    unlink(path);
    stored = ctx->checkpoints;
    rb_checkpoint_store watched = *stored;
    watched.create = create_locked;
    ctx->checkpoints = &watched;
    snprintf(text, sizeof text, "epochs=3 checkpoint=%s checkpoint-every=1", path);
    rb_model_free(net_of(text, &valid.labelled));
    ctx->checkpoints = stored;
    assert_in_range(created, 2, 4);
    unlink(path);
}

/* Three epochs of 80 samples that are held out. */
static void impossible_counts_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t wrong;
    } counts[] = {
        {"epochs", 2},      {"epochs", 4},     {"steps", 0},        {"steps", 1 << 30},
        {"best_epoch", -1}, {"best_epoch", 3}, {"best_errors", -1}, {"best_errors", VALID + 1}};
    char path[] = "/tmp/rarebit-deep-XXXXXX", text[512];
    int at = 3;
    close(mkstemp(path));
    unlink(path);
    snprintf(text, sizeof text, "epochs=8 checkpoint=%s", path);
    rb_context_on_progress(ctx, stop_at, &at);
    rb_model_free(net_of(text, &valid.labelled));
    rb_context_on_progress(ctx, NULL, NULL);
    stored = ctx->checkpoints;
    rb_checkpoint_store spoiling = *stored;
    spoiling.get_integer = get_spoilt;
    ctx->checkpoints = &spoiling;
    rb_options *options = options_of(text);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        rb_model *net;
        spoilt = counts[c].name;
        wrong = counts[c].wrong;
        assert_error(ctx, rb_finetune(ctx, options, NULL, &train.labelled, &valid.labelled, &net),
                     RB_ERROR_FORMAT, "a count is impossible");
    }
    spoilt = "";
    rb_model_free(net_of(text, &valid.labelled));
    ctx->checkpoints = stored;
    rb_options_free(options);
    unlink(path);
}

static rb_error stop_context(const rb_progress *p, void *user) {
    if (p->iteration == *(int *)user) rb_context_stop(ctx);
    return RB_OK;
}

/* rb_context_stop gives what there is, or nothing before the first epoch. */
static void may_be_stopped(void **state) {
    (void)state;
    int at = 2;
    rb_context_on_progress(ctx, stop_context, &at);
    rb_model *part = net_of("epochs=9", NULL), *net;
    rb_context_on_progress(ctx, NULL, NULL);
    assert_int_equal(rb_model_iterations(part), 2);
    assert_int_equal(rb_model_status(part), RB_STATUS_STOPPED);
    rb_options *options = options_of("epochs=9");
    assert_int_equal(rb_finetune(ctx, options, NULL, &train.labelled, NULL, &net),
                     RB_ERROR_STOPPED);
    assert_null(net);
    rb_context_clear_stop(ctx);
    rb_model *two = net_of("epochs=2", NULL);
    fixture_same_array(two, part, "weights1");
    rb_options_free(options);
    rb_model_free(part);
    rb_model_free(two);
}

static double valid_error(const rb_model *net, int64_t t) {
    double value = NAN;
    assert_ok(ctx, rb_model_metric(net, t, "valid_error", &value));
    return value;
}

/* The net with the fewest validation errors is kept, and training ends when it waited in vain. */
static void the_best_net_is_kept(void **state) {
    (void)state;
    rb_model *net = net_of("epochs=300 patience=7 layers=64 rate=0.1", &valid.labelled);
    int64_t done = rb_model_iterations(net);
    int64_t best = atoll(rb_model_attribute(net, "best_epoch")) - 1;
    assert_int_equal(rb_model_status(net), RB_STATUS_PATIENCE);
    assert_int_equal(done, best + 8);
    for (int64_t t = 0; t < done; t++)
        assert_true(valid_error(net, t) >= valid_error(net, best));
    assert_close(score(net, &valid.labelled), valid_error(net, best), 1e-12);
    rb_model_free(net);
}

/* ---- what it learns ---- */

static void learns_a_planted_problem(void **state) {
    (void)state;
    static const char *const texts[] = {
        "optimizer=nesterov epochs=150", "optimizer=adam rate=0.01 epochs=80",
        "optimizer=sgd momentum=0 rate=0.2 epochs=200", "schedule=cosine epochs=120"};
    for (int i = 0; i < 4; i++) {
        rb_model *net = net_of(texts[i], NULL);
        assert_true(score(net, &train.labelled) < 0.02); /* 240 samples are learnt by heart */
        assert_true(score(net, &valid.labelled) < 0.25); /* by chance: 0.6 */
        rb_model_free(net);
    }
}

/* One class in four counts alone: then only it is said. */
static void weights_of_classes_count(void **state) {
    (void)state;
    rb_model *net = net_of("class-weights=0=0,1=0 epochs=20", NULL);
    rb_net_scores s = {.size = sizeof s};
    assert_ok(ctx, rb_net_score(ctx, net, &valid.labelled, &s));
    for (int a = 0; a < CLASSES; a++)
        for (int b = 0; b < CLASSES - 1; b++)
            assert_int_equal(s.confusion[a * CLASSES + b], 0);
    rb_net_scores_clear(&s);
    rb_model_free(net);
}

static rb_error keep_outputs(void *user, int64_t first, const rb_matrix *rows) {
    double *outputs = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t j = 0; j < 2; j++)
            outputs[2 * (first + i) + j] = rb_matrix_at(rows, i, j);
    return RB_OK;
}

/* Two answers of yes or no for each sample, some asked the wrong way round, counted again. */
static void assert_answers(const rb_model *net, const rb_labelled *data, double *targets) {
    double outputs[2 * N], gap = 0;
    int64_t errors = 0;
    rb_net_scores s = {.size = sizeof s};
    for (int i = 0; i < 20; i++)
        targets[3 * i] = 1 - targets[3 * i];
    assert_ok(ctx, rb_net_score(ctx, net, data, &s));
    assert_ok(ctx, rb_encode(ctx, net, train.labelled.source, keep_outputs, outputs));
    for (int i = 0; i < N; i++) {
        bool first = (outputs[2 * i] > 0.5) == (targets[2 * i] == 1);
        errors += !first || (outputs[2 * i + 1] > 0.5) != (targets[2 * i + 1] == 1);
    }
    for (int bin = 0; bin < 15; bin++) {
        double sum = 0;
        for (int i = 0; i < 2 * N; i++) {
            double sure = fmax(outputs[i], 1 - outputs[i]);
            bool right = (outputs[i] > 0.5) == (targets[i] == 1);
            if (sure > bin / 15.0 && sure <= (bin + 1) / 15.0) sum += sure - right;
        }
        gap += fabs(sum);
    }
    assert_int_equal(s.errors, errors);
    assert_true(errors >= 10);
    assert_close(s.error_rate, (double)errors / N, 1e-12);
    assert_true(s.low < s.error_rate && s.error_rate < s.high);
    assert_close(s.calibration_error, gap / (2 * N), 1e-6);
    assert_null(s.confusion);
    rb_net_scores_clear(&s);
}

/* y = 2 a - b, and whether it is above 0. */
static void learns_values(void **state) {
    (void)state;
    double targets[N * 2];
    for (int kind = 0; kind < 2; kind++) {
        rb_labelled data = train.labelled;
        rb_options *options = options_of(kind ? "outputs=logistic epochs=100"
                                              : "outputs=linear epochs=200 rate=0.01");
        rb_model *net;
        rb_net_scores s = {.size = sizeof s};
        for (int64_t i = 0; i < N; i++) {
            double y = 2 * train.values[i * M] - train.values[i * M + 1];
            targets[2 * i] = kind ? y > 0 : y;
            targets[2 * i + 1] = kind ? y <= 0 : -y;
        }
        data.class_of = NULL;
        data.values = targets;
        data.n_values = 2;
        assert_ok(ctx, rb_finetune(ctx, options, NULL, &data, NULL, &net));
        assert_ok(ctx, rb_net_score(ctx, net, &data, &s));
        assert_true(s.mean_squared_error < 0.05);
        assert_true(kind || isnan(s.error_rate));
        rb_net_scores_clear(&s);
        if (kind) assert_answers(net, &data, targets);
        rb_model_free(net);
        rb_options_free(options);
    }
}

/* ---- scores and files ---- */

static void scores_are_as_defined(void **state) {
    (void)state;
    rb_model *net = net_of("epochs=5", NULL);
    rb_net_scores s = {.size = sizeof s};
    double p[VALID * CLASSES], log_loss = 0, brier = 0, gap = 0, bins[15][2] = {{0}};
    int64_t errors = 0;
    assert_ok(ctx, rb_net_score(ctx, net, &valid.labelled, &s));
    assert_ok(ctx, rb_encode_into(ctx, net, valid.labelled.source, RB_FLOAT64, p, CLASSES, 1));
    for (int i = 0; i < VALID; i++) {
        int best = 0;
        double sum = 0;
        for (int c = 0; c < CLASSES; c++) {
            best = p[i * CLASSES + c] > p[i * CLASSES + best] ? c : best;
            sum += p[i * CLASSES + c];
            brier += pow(p[i * CLASSES + c] - (c == valid.class_of[i]), 2) / VALID;
        }
        assert_close(sum, 1, 1e-6);
        errors += best != valid.class_of[i];
        log_loss -= log(p[i * CLASSES + valid.class_of[i]]) / VALID;
        int bin = (int)ceil(p[i * CLASSES + best] * 15) - 1;
        bins[bin][0] += p[i * CLASSES + best];
        bins[bin][1] += best == valid.class_of[i];
    }
    for (int b = 0; b < 15; b++)
        gap += fabs(bins[b][0] - bins[b][1]) / VALID;
    assert_int_equal(s.errors, errors);
    assert_close(s.log_loss, log_loss, 1e-9);
    assert_close(s.mean_squared_error, brier, 1e-9);
    assert_close(s.calibration_error, gap, 1e-9);
    /* Wilson: the rates q at which |rate - q| is z standard errors. */
    double rate = s.error_rate, z = 1.959963984540054;
    assert_close(pow(rate - s.low, 2), z * z * s.low * (1 - s.low) / VALID, 1e-12);
    assert_close(pow(rate - s.high, 2), z * z * s.high * (1 - s.high) / VALID, 1e-12);
    rb_net_scores_clear(&s);
    rb_model_free(net);
}

static void a_net_is_a_model(void **state) {
    (void)state;
    static const char *const names[] = {"no", "yes", "both"}, *const turned[] = {"yes", "no",
                                                                                 "both"};
    rb_labelled data = train.labelled, other = valid.labelled;
    rb_options *options = options_of("epochs=30");
    rb_model *net, *back;
    void *bytes;
    size_t size;
    char name[16];
    int64_t swapped[VALID];
    data.names = names;
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &data, NULL, &net));
    assert_ok(ctx, rb_model_save_memory(ctx, net, &bytes, &size));
    assert_ok(ctx, rb_model_load_memory(ctx, bytes, size, &back));
    rb_free_memory(bytes);
    assert_same_net(net, back);
    assert_string_equal(rb_net_outputs(back), "softmax");
    assert_int_equal(rb_net_output_name(back, 1, name, sizeof name), 3);
    assert_string_equal(name, "yes");
    assert_int_equal(rb_net_output_name(back, 3, name, sizeof name), -1);
    /* Classes in another order are the same by their names. */
    other.names = names;
    double rate = score(back, &other);
    for (int i = 0; i < VALID; i++)
        swapped[i] = valid.class_of[i] == 2 ? 2 : !valid.class_of[i];
    other.names = turned;
    other.class_of = swapped;
    assert_close(score(back, &other), rate, 1e-15);
    rb_options_free(options);
    rb_model_free(net);
    rb_model_free(back);
}

/* W3 W2 W1, transposed. */
static void loadings_are_products_of_weights(void **state) {
    (void)state;
    rb_model *net = net_of("epochs=3 layers=5,4", NULL);
    const double *first = fixture_array(net, "weights1"), *second = fixture_array(net, "weights2"),
                 *third = fixture_array(net, "weights3"), *w = fixture_array(net, "loadings");
    for (int k = 0; k < M; k++) {
        for (int c = 0; c < CLASSES; c++) {
            double sum = 0;
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 5; b++)
                    sum += third[c * 4 + a] * second[a * 5 + b] * first[b * M + k];
            assert_close(w[k * CLASSES + c], sum, 1e-5);
        }
    }
    rb_model_free(net);
}

/* However many others are asked for with it. */
static void outputs_are_of_each_sample(void **state) {
    (void)state;
    rb_model *net = net_of("epochs=3 layers=5", NULL);
    double all[N * CLASSES], some[N * CLASSES];
    assert_ok(ctx, rb_encode_into(ctx, net, train.labelled.source, RB_FLOAT64, all, CLASSES, 1));
    for (int64_t count = 1; count < 36; count++) {
        rb_source *source = fixture_data(ctx, train.values, count, M);
        assert_ok(ctx, rb_encode_into(ctx, net, source, RB_FLOAT64, some, CLASSES, 1));
        for (int64_t e = 0; e < count * CLASSES; e++)
            assert_close(some[e], all[e], 1e-5);
        rb_source_free(source);
    }
    rb_model_free(net);
}

/* ---- what is refused ---- */

static void refuse(rb_error error, const char *says, const char *text, const rb_labelled *data,
                   const rb_labelled *with) {
    rb_options *options = options_of("epochs=2");
    rb_model *net = (rb_model *)ctx;
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    assert_error(ctx, rb_finetune(ctx, options, NULL, data, with, &net), error, says);
    assert_null(net);
    rb_options_free(options);
}

static void wrong_labels_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "c"}, *const others[] = {"a", "b", "d"};
    int64_t bad[N];
    double targets[2 * N] = {0};
    rb_labelled data = train.labelled, with = valid.labelled;
    memcpy(bad, train.class_of, sizeof bad);
    bad[17] = 3;
    data.class_of = bad;
    refuse(RB_ERROR_DATA, "sample 17 has the class 3", "", &data, NULL);
    for (int i = 0; i < N; i++)
        bad[i] = -1;
    refuse(RB_ERROR_DATA, "none of the training samples has a class", "", &data, NULL);
    data = train.labelled;
    data.names = names;
    with.names = others;
    refuse(RB_ERROR_DATA, "the class 'd'", "", &data, &with);
    data.class_of = NULL;
    refuse(RB_ERROR_ARGUMENT, "have no classes", "", &data, NULL);
    refuse(RB_ERROR_ARGUMENT, "no target values", "outputs=linear", &data, NULL);
    data.values = targets;
    data.n_values = 1;
    targets[5] = NAN;
    refuse(RB_ERROR_DATA, "target 0 of sample 5", "outputs=linear", &data, NULL);
    targets[5] = 2;
    refuse(RB_ERROR_DATA, "must be 0 to 1", "outputs=logistic", &data, NULL);
    targets[5] = 0;
    data.n_values = 2;
    targets[N + 7] = INFINITY;
    refuse(RB_ERROR_DATA, "target 1 of sample 123", "outputs=linear", &data, NULL);
    data.size = 3;
    refuse(RB_ERROR_ARGUMENT, "rb_labelled", "", &data, NULL);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    const rb_labelled *d = &train.labelled;
    refuse(RB_ERROR_ARGUMENT, "`layers` is", "layers=12,,3", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "`layers` is", "layers=-4", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "`layers` is", "layers=4x", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "no validation samples", "patience=3", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "filter", "filter=plain", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "momentum", "momentum=1", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "`class-weights` has 'x=1'", "class-weights=x=1", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "`class-weights` has '0' twice", "class-weights=0=2,0=3", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "`class-weights` has '0=-1'", "class-weights=0=-1", d, NULL);
    refuse(RB_ERROR_ARGUMENT, "momentum", "optimizer=adam momentum=0.5", d, NULL);
    refuse(RB_ERROR_NUMERIC, "take a smaller `rate`", "rate=1e6 optimizer=sgd", d, NULL);
    refuse(RB_ERROR_MEMORY, "", "layers=2147483647,2147483647", d, NULL);
}

static void wrong_samples_are_refused(void **state) {
    (void)state;
    double was = train.values[3 * M + 2];
    rb_labelled data = train.labelled;
    train.values[3 * M + 2] = NAN;
    refuse(RB_ERROR_DATA, "sample", "", &data, NULL);
    train.values[3 * M + 2] = was;
    double narrow[VALID * 2] = {0};
    rb_labelled with = valid.labelled;
    with.source = fixture_data(ctx, narrow, VALID, 2);
    refuse(RB_ERROR_DATA, "features", "", &data, &with);
    rb_source_free(with.source);
}

static void what_is_not_there_is_refused(void **state) {
    (void)state;
    const char *names[CLASSES] = {"a", NULL, "b"};
    rb_labelled data = train.labelled;
    rb_net_scores scores = {.size = sizeof scores};
    refuse(RB_ERROR_ARGUMENT, "the training samples are NULL", "", NULL, NULL);
    data.names = names;
    refuse(RB_ERROR_ARGUMENT, "the name of class 1 is NULL", "", &data, NULL);
    names[1] = "b";
    refuse(RB_ERROR_ARGUMENT, "two classes have the name 'b'", "", &data, NULL);
    data.names = NULL;
    data.source = NULL;
    refuse(RB_ERROR_ARGUMENT, "the training samples have no source", "", &data, NULL);
    refuse(RB_ERROR_ARGUMENT, "the validation samples have no source", "", &train.labelled, &data);
    rb_model *net = net_of("epochs=1", NULL);
    assert_int_equal(rb_net_score(ctx, net, &data, &scores), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_net_score(ctx, net, NULL, &scores), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_net_score(ctx, net, &train.labelled, NULL), RB_ERROR_ARGUMENT);
    rb_net_scores_clear(NULL);
    rb_model_free(net);
}

static void a_single_class_is_refused(void **state) {
    (void)state;
    int64_t class_of[N] = {0};
    rb_labelled data = train.labelled;
    data.class_of = class_of;
    data.n_classes = 1;
    refuse(RB_ERROR_DATA, "have one class", "", &data, NULL);
}

static void loadings_are_numbers(void **state) {
    (void)state;
    rb_model *net = net_of("epochs=1", NULL);
    float outputs[N * CLASSES];
    ((double *)rb_model_array(net, "loadings", NULL, NULL))[0] = NAN;
    assert_int_equal(
        rb_encode_into(ctx, net, train.labelled.source, RB_FLOAT32, outputs, CLASSES, 1),
        RB_ERROR_FORMAT);
    rb_model_free(net);
}

/* Each allocation fails once: an error, and nothing leaks. */
static void memory_may_end_anywhere(void **state) {
    (void)state;
    rb_options *options = options_of("epochs=2 optimizer=adam dropout=0.2 masking=0.1");
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_model *net;
        err = rb_finetune(ctx, options, NULL, &train.labelled, &valid.labelled, &net);
        rb_model_free(net);
    }
    assert_true(n > 21);
    rb_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_for_threads),
        cmocka_unit_test(the_same_streamed),
        cmocka_unit_test(sparse_samples_are_the_same),
        cmocka_unit_test(goes_on_from_a_checkpoint),
        cmocka_unit_test(checkpoints_are_written_under_their_lock),
        cmocka_unit_test(impossible_counts_are_refused),
        cmocka_unit_test(may_be_stopped),
        cmocka_unit_test(the_best_net_is_kept),
        cmocka_unit_test(learns_a_planted_problem),
        cmocka_unit_test(weights_of_classes_count),
        cmocka_unit_test(learns_values),
        cmocka_unit_test(scores_are_as_defined),
        cmocka_unit_test(outputs_are_of_each_sample),
        cmocka_unit_test(loadings_are_products_of_weights),
        cmocka_unit_test(a_net_is_a_model),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(wrong_samples_are_refused),
        cmocka_unit_test(memory_may_end_anywhere),
        cmocka_unit_test(a_single_class_is_refused),
        cmocka_unit_test(loadings_are_numbers),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
