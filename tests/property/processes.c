/* Fits in several processes: the same bits as in one with 2, 4 and 8 of them, with other numbers
 * the same but for rounding, in every process; what they refuse, and how they fail. */
#include "processes.h"
#include "fixture.h"

#include <rarebit/io.h>

enum { RESULT_VALUES = 1 << 16, MESSAGE = 1024 };

struct fit_case {
    const char *name;
    const char *method;
    int64_t n, m;
    bool sparse, warm; /* warm: from a model of which a centre has no samples */
    bool rounds;       /* differs by rounding for any number of processes */
    const char *options[8][2];
};

static const struct fit_case cases[] = {
    {.name = "newton",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options = {{"estep", "newton"}, {"iterations", "6"}}},
    {.name = "cyclic",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options = {{"estep", "cyclic"}, {"iterations", "6"}}},
    {.name = "cyclic, nesterov",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options = {{"accelerate", "nesterov"}, {"iterations", "9"}, {"sparse-loadings", "0"}}},
    {.name = "cyclic, squarem",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .rounds = true,
     .options = {{"accelerate", "squarem"}, {"iterations", "9"}, {"sparse-loadings", "0"}}},
    {.name = "cyclic, sparse loadings and a prior",
     .method = "rfn",
     .n = 33000,
     .m = 6,
     .options = {{"iterations", "80"}, {"sparse-loadings", "1.5"}, {"prior-mean", "-0.2"}}},
    {.name = "gradient, traced",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options = {{"estep", "gradient"}, {"iterations", "5"}, {"trace", "true"}}},
    {.name = "cyclic, float64, sparse",
     .method = "rfn",
     .n = 70000,
     .m = 6,
     .sparse = true,
     .options = {{"estep", "cyclic"}, {"iterations", "4"}, {"precision", "float64"}}},
    {.name = "dead units",
     .method = "rfn",
     .n = 33000,
     .m = 6,
     .options = {{"estep", "newton"}, {"iterations", "5"}, {"prior-mean", "-6"}, {"units", "8"}}},
    {.name = "few codes that are not 0",
     .method = "rfn",
     .n = 33000,
     .m = 20,
     .options = {{"estep", "newton"}, {"iterations", "3"}, {"dropout", "0.6"}, {"units", "40"}}},
    {.name = "dead units, cyclic",
     .method = "rfn",
     .n = 33000,
     .m = 6,
     .options = {{"estep", "cyclic"}, {"iterations", "5"}, {"prior-mean", "-6"}, {"units", "8"}}},
    {.name = "steered",
     .method = "rfn",
     .n = 33000,
     .m = 6,
     .options = {{"estep", "cyclic"}, {"iterations", "12"}, {"steer-iterations", "8"}}},
    {.name = "missing values, newton",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options = {{"missing", "model"}, {"estep", "newton"}, {"iterations", "5"}}},
    {.name = "missing values, traced",
     .method = "rfn",
     .n = 33000,
     .m = 8,
     .options =
         {{"missing", "model"}, {"iterations", "5"}, {"trace", "true"}, {"precision", "float64"}}},
    {.name = "missing values, a far prior",
     .method = "rfn",
     .n = 33000,
     .m = 6,
     .options = {{"missing", "model"}, {"prior-mean", "-6"}, {"estep", "newton"}, {"units", "8"}}},
    {.name = "missing values, linca",
     .method = "linca",
     .n = 18000,
     .m = 9,
     .options = {{"missing", "model"}, {"iterations", "6"}}},
    {.name = "missing values, mca",
     .method = "mca",
     .n = 18000,
     .m = 9,
     .options = {{"missing", "model"}, {"iterations", "6"}}},
    {.name = "pca", .method = "pca", .n = 70000, .m = 12},
    {.name = "pca, randomized",
     .method = "pca",
     .n = 70000,
     .m = 12,
     .options = {{"solver", "randomized"}}},
    {.name = "fa", .method = "fa", .n = 70000, .m = 9},
    {.name = "fa by em", .method = "fa", .n = 33000, .m = 9, .options = {{"solver", "em"}}},
    {.name = "sfa", .method = "sfa", .n = 33000, .m = 9, .options = {{"iterations", "9"}}},
    {.name = "fabia", .method = "fabia", .n = 33000, .m = 9, .options = {{"iterations", "9"}}},
    {.name = "nmf",
     .method = "nmf",
     .n = 33000,
     .m = 9,
     .options = {{"non-negative", ""}, {"iterations", "9"}}},
    {.name = "nmf, divergence",
     .method = "nmf",
     .n = 33000,
     .m = 9,
     .options = {{"non-negative", ""},
                 {"loss", "kullback-leibler"},
                 {"solver", "multiplicative"},
                 {"iterations", "9"}}},
    {.name = "nmf of counts",
     .method = "nmf",
     .n = 70000,
     .m = 6,
     .sparse = true,
     .options = {{"iterations", "9"}}},
    {.name = "kmeans", .method = "kmeans", .n = 33000, .m = 8},
    {.name = "kmeans, float64, sparse",
     .method = "kmeans",
     .n = 70000,
     .m = 6,
     .sparse = true,
     .options = {{"precision", "float64"}}},
    {.name = "kmeans, an empty centre", .method = "kmeans", .n = 33000, .m = 8, .warm = true},
    {.name = "ica", .method = "ica", .n = 33000, .m = 8},
    {.name = "ica, one by one",
     .method = "ica",
     .n = 33000,
     .m = 8,
     .options = {{"algorithm", "deflation"}}},
    {.name = "linca",
     .method = "linca",
     .n = 18000,
     .m = 9,
     .options = {{"non-negative", ""}, {"iterations", "6"}, {"precision", "float64"}}},
    {.name = "mca with a cut",
     .method = "mca",
     .n = 18000,
     .m = 9,
     .options = {{"non-negative", ""}, {"iterations", "10"}}},
    {.name = "nmf-et",
     .method = "nmf-et",
     .n = 18000,
     .m = 9,
     .options = {{"non-negative", ""}, {"iterations", "6"}}},
    {.name = "ssc", .method = "ssc", .n = 18000, .m = 9, .options = {{"iterations", "6"}}},
    {.name = "fewer groups than processes",
     .method = "rfn",
     .n = 500,
     .m = 8,
     .options = {{"iterations", "6"}}},
};

struct task {
    const struct fit_case *c;
    const double *values;
    int limit;              /* of allocations of the second process; 0: none */
    int until;              /* this iteration; 0: as the options say */
    const char *checkpoint; /* or NULL */
    bool stops;             /* after 4 iterations */
};

/* Of sparse data values below 1 are not stored. */
static rb_source *source_of(rb_context *ctx, const struct task *t) {
    int64_t n = t->c->n, m = t->c->m;
    if (!t->c->sparse) return fixture_data(ctx, t->values, n, m);
    static int64_t starts[70001];
    static int32_t columns[70000 * 6];
    static double stored[70000 * 6];
    for (int64_t i = 0; i < n; i++) {
        starts[i + 1] = starts[i];
        for (int64_t k = 0; k < m; k++) {
            if (t->values[i * m + k] >= 1) {
                columns[starts[i + 1]] = (int32_t)k;
                stored[starts[i + 1]++] = t->values[i * m + k];
            }
        }
    }
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, n, m, starts, columns, stored, &matrix));
    assert_ok(ctx, rb_source_own_matrix(ctx, matrix, &source));
    return source;
}

static rb_error stop_after(const rb_progress *progress, void *left) {
    (void)progress;
    return --*(int *)left > 0 ? RB_OK : RB_ERROR_INTERRUPTED;
}

/* metrics: of the model on its data; NULL: not asked for. */
static rb_error fit(rb_context *ctx, const struct task *t, rb_model **model, rb_metrics **metrics) {
    rb_options *options = NULL;
    rb_source *source = source_of(ctx, t);
    rb_error err = rb_options_new(ctx, t->c->method, &options);
    err = err ? err : rb_options_set(ctx, options, "units", "4");
    err = err ? err : rb_options_set(ctx, options, "seed", "3");
    for (int i = 0; !err && t->c->options[i][0]; i++)
        if (*t->c->options[i][1]) /* else it is about the data */
            err = rb_options_set(ctx, options, t->c->options[i][0], t->c->options[i][1]);
    if (!err && t->until > 0) err = rb_options_set_integer(ctx, options, "iterations", t->until);
    if (!err && t->checkpoint) err = rb_options_set(ctx, options, "checkpoint", t->checkpoint);
    if (!err && t->checkpoint) err = rb_options_set(ctx, options, "checkpoint-every", "2");
    if (t->limit > 0 && ctx->comm.rank == 1) ctx->allocations_left = t->limit;
    int left = 4;
    if (t->stops) rb_context_on_progress(ctx, stop_after, &left);
    rb_model *start = NULL;
    if (!err && t->c->warm) { /* sample 0 is far from all others, and not so in the second fit */
        *(double *)(uintptr_t)t->values *= 1e4;
        err = rb_fit(ctx, options, source, NULL, &start);
        *(double *)(uintptr_t)t->values /= 1e4;
    }
    err = err ? err : rb_fit(ctx, options, source, start, model);
    rb_model_free(start);
    if (!err && metrics) err = rb_evaluate(ctx, *model, source, metrics);
    rb_options_free(options);
    rb_source_free(source);
    return err;
}

/* All arrays, objectives and metrics of the model, and before them how many values these are. */
static void keep(const rb_model *model, rb_metrics *metrics, double *result) {
    double *to = result + 1;
    for (int64_t i = 0; i < model->n_arrays; i++) {
        int64_t count = model->arrays[i].rows * model->arrays[i].columns;
        memcpy(to, model->arrays[i].values, (size_t)count * sizeof *to);
        to += count;
    }
    for (int64_t t = 0; t < model->iterations; t++)
        *to++ = model->history[t].objective;
    for (int64_t i = 0; metrics && rb_metrics_name(metrics, i); i++)
        *to++ = rb_metrics_get(metrics, rb_metrics_name(metrics, i));
    rb_metrics_free(metrics);
    *result = (double)(to - result - 1);
}

static int fit_in_process(processes *p, void *user, char *result) {
    struct task *t = user;
    rb_comm comm = processes_comm(p);
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    rb_context *ctx;
    rb_error err = rb_context_new(&ctx);
    err = err ? err : rb_context_set_threads(ctx, 1 + p->rank % 2);
    err = err ? err : rb_context_set_comm(ctx, &comm);
    err = err ? err : fit(ctx, t, &model, &metrics);
    if (err)
        fprintf(stderr, "process %d: %s\n", p->rank, rb_context_error(ctx));
    else
        keep(model, metrics, (double *)(void *)result);
    rb_model_free(model);
    rb_context_free(ctx);
    return err != RB_OK;
}

static bool is_wide(const struct fit_case *c) {
    for (int i = 0; c->options[i][0]; i++)
        if (strcmp(c->options[i][1], "float64") == 0) return true;
    return false;
}

/* Bits where ranks are a power of two. */
static void compare(const struct fit_case *c, int ranks, const double *one, const double *many) {
    bool same = (ranks & (ranks - 1)) == 0 && !c->rounds;
    double relative = is_wide(c) ? 1e-13 : 1e-6;
    for (int r = 0; r < ranks; r++) {
        const double *got = many + (int64_t)r * RESULT_VALUES;
        assert_true(got[0] == one[0] && one[0] < RESULT_VALUES);
        for (int64_t i = 1; i <= (int64_t)one[0]; i++) {
            bool nan = isnan(got[i]) && isnan(one[i]);
            bool good = nan || got[i] == one[i] ||
                        (!same && fabs(got[i] - one[i]) <= relative * fmax(1, fabs(one[i])));
            if (!good)
                fail_msg("%s, %d processes, value %d of process %d: %.17g is not %.17g", c->name,
                         ranks, (int)i, r, got[i], one[i]);
        }
        assert_memory_equal(got, many, (size_t)one[0] * sizeof *got); /* in all the same */
    }
}

static void processes_give_the_bits_of_one(void **state) {
    (void)state;
    static const int ranks[] = {2, 3, 8};
    static double one[RESULT_VALUES];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double *values = fixture_values(cases[k].n, cases[k].m, 3, 7);
        bool below = !cases[k].options[0][0] || *cases[k].options[0][1];
        for (int64_t e = 0; !below && e < cases[k].n * cases[k].m; e++)
            values[e] = fabs(values[e]);
        bool lacks = cases[k].options[0][0] && strcmp(cases[k].options[0][0], "missing") == 0;
        for (int64_t e = 0; lacks && e < cases[k].n * cases[k].m; e++)
            values[e] = (e * e) % 11 == 4 || (e / 8) % 6 == 5 * (e % 3) ? NAN : values[e];
        struct task t = {.c = &cases[k], .values = values};
        rb_context *ctx = fixture_context();
        rb_model *model;
        rb_metrics *metrics;
        assert_ok(ctx, fit(ctx, &t, &model, &metrics));
        keep(model, metrics, one);
        rb_model_free(model);
        rb_context_free(ctx);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            char *many = processes_run(ranks[r], fit_in_process, &t, sizeof one);
            if (!many) fail_msg("%s: %d processes failed", cases[k].name, ranks[r]);
            compare(&cases[k], ranks[r], one, (const double *)(const void *)many);
            munmap(many, (size_t)ranks[r] * sizeof one);
        }
        free(values);
    }
}

/* ---- failures ---- */

static const struct fit_case plain = {
    .name = "plain", .method = "rfn", .n = 33000, .m = 6, .options = {{"iterations", "4"}}};
static const struct fit_case prepared = {
    .name = "prepared",
    .method = "rfn",
    .n = 33000,
    .m = 6,
    .options = {
        {"iterations", "1"}, {"scale", "iqr"}, {"drop", "constant"}, {"drop-samples", "constant"}}};

/* The message of a process, or "" after a fit that went well. */
static int tell(rb_context *ctx, const struct task *t, char *result) {
    rb_model *model = NULL;
    rb_error err = fit(ctx, t, &model, NULL);
    snprintf(result, MESSAGE, "%s", err ? rb_context_error(ctx) : "");
    rb_model_free(model);
    rb_context_free(ctx);
    return 0;
}

static rb_context *context_of(processes *p) {
    rb_comm comm = processes_comm(p);
    rb_context *ctx = fixture_context();
    assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    return ctx;
}

static int fit_and_tell(processes *p, void *user, char *result) {
    alarm(60); /* none waits for one that has gone */
    return tell(context_of(p), user, result);
}

static void one_that_fails_ends_all(void **state) {
    (void)state;
    double *values = fixture_values(plain.n, plain.m, 3, 7);
    int failed = 0;
    for (int limit = 1; limit < 400; limit += limit < 80 ? 13 : 37) {
        struct task t = {.c = limit % 2 ? &plain : &prepared, .values = values, .limit = limit};
        char *told = processes_run(3, fit_and_tell, &t, MESSAGE);
        assert_non_null(told);
        failed += *told != '\0';
        for (int r = 0; r < 3; r++) /* where it stood differs */
            assert_true(*told ? strstr(told + r * MESSAGE, "process 1: ") != NULL
                              : told[r * MESSAGE] == '\0');
        munmap(told, 3 * MESSAGE);
    }
    assert_true(failed > 3);
    free(values);
}

static int leave(processes *p, void *user, char *result) {
    if (p->rank == 1) return 0;
    alarm(60);
    return tell(context_of(p), user, result);
}

static void one_that_is_gone_is_missed(void **state) {
    (void)state;
    double *values = fixture_values(plain.n, plain.m, 3, 7);
    struct task t = {.c = &plain, .values = values};
    char *told = processes_run(2, leave, &t, MESSAGE);
    assert_non_null(told);
    assert_non_null(strstr(told, "cannot be reached any more"));
    munmap(told, 2 * MESSAGE);
    free(values);
}

/* The second process has another last sample, or one less. */
static int fit_others(processes *p, void *user, char *result) {
    const struct task *t = user;
    struct fit_case c = *t->c;
    struct task own = {.c = &c, .values = t->values};
    if (p->rank == 1 && t->stops) ((double *)(uintptr_t)t->values)[c.n * c.m - 1]++;
    c.n -= p->rank == 1 && !t->stops;
    alarm(60);
    return tell(context_of(p), &own, result);
}

static void other_data_are_refused(void **state) {
    (void)state;
    double *values = fixture_values(plain.n, plain.m, 3, 7);
    for (int other = 0; other < 2; other++) {
        struct task t = {.c = &plain, .values = values, .stops = other};
        char *told = processes_run(2, fit_others, &t, MESSAGE);
        assert_non_null(told);
        assert_non_null(strstr(told, "do not have the same data"));
        assert_string_equal(told + MESSAGE, told);
        munmap(told, 2 * MESSAGE);
    }
    free(values);
}

static void what_processes_cannot_do_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *method, *option, *value, *sentence;
    } refused[] = {
        {"rfn", "estep", "cascade", "cannot try candidates"},
        {"rfn", "batch-size", "1", "a sample for each process"},
        {"rfn", "accelerate", "nesterov", "leave out `accelerate` or `checkpoint`"},
    };
    double *values = fixture_values(400, 6, 3, 7);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct fit_case c = {.method = refused[i].method,
                             .n = 400,
                             .m = 6,
                             .options = {{refused[i].option, refused[i].value}}};
        struct task t = {.c = &c, .values = values, .checkpoint = "refused.checkpoint"};
        char *told = processes_run(2, fit_and_tell, &t, MESSAGE);
        assert_non_null(told);
        assert_non_null(strstr(told, refused[i].sentence));
        assert_string_equal(told + MESSAGE, told);
        munmap(told, 2 * MESSAGE);
    }
    free(values);
}

static void tables_are_checked(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    processes p = {.rank = 2, .ranks = 2};
    rb_comm comm = processes_comm(&p);
    assert_int_equal(rb_context_set_comm(ctx, &comm), RB_ERROR_ARGUMENT);
    comm.size = 8;
    assert_int_equal(rb_context_set_comm(ctx, &comm), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_set_comm(ctx, NULL), RB_OK);
    assert_int_equal(rb_comm_agree(ctx, RB_ERROR_DATA), RB_ERROR_DATA);
    rb_context_free(ctx);
}

/* ---- checkpoints ---- */

/* Begins with some processes and goes on with others: as if one had never stopped. */
static int fit_a_part(processes *p, void *user, char *result) {
    struct task *t = user;
    rb_context *ctx = context_of(p);
    rb_model *model = NULL;
    rb_io_use(ctx);
    rb_error err = fit(ctx, t, &model, NULL);
    if (err)
        fprintf(stderr, "process %d: %s\n", p->rank, rb_context_error(ctx));
    else
        keep(model, NULL, (double *)(void *)result);
    rb_model_free(model);
    rb_context_free(ctx);
    return err != RB_OK;
}

static const struct fit_case kept[] = {
    {.name = "cyclic", .method = "rfn", .n = 33000, .m = 6, .options = {{"estep", "cyclic"}}},
    {.name = "newton", .method = "rfn", .n = 33000, .m = 6, .options = {{"estep", "newton"}}},
    {.name = "one group", .method = "rfn", .n = 500, .m = 6},
    {.name = "nmf", .method = "nmf", .n = 33000, .m = 6, .options = {{"non-negative", ""}}},
    {.name = "fabia", .method = "fabia", .n = 33000, .m = 6},
    {.name = "kmeans", .method = "kmeans", .n = 33000, .m = 6},
    {.name = "ica", .method = "ica", .n = 33000, .m = 6},
};

static void any_number_goes_on(void **state) {
    (void)state;
    static const int ranks[][2] = {{2, 1}, {1, 4}, {4, 2}};
    enum { BYTES = RESULT_VALUES * sizeof(double) };
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        double *values = fixture_values(kept[k].n, kept[k].m, 3, 7);
        for (int64_t e = 0; e < kept[k].n * kept[k].m; e++)
            values[e] = fabs(values[e]);
        struct task t = {.c = &kept[k], .values = values, .until = 9};
        char *one = processes_run(1, fit_a_part, &t, BYTES);
        assert_non_null(one);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            t.checkpoint = "processes.checkpoint";
            unlink(t.checkpoint);
            for (int turn = 0; turn < 2; turn++) {
                t.stops = turn == 0;
                char *many = processes_run(ranks[r][turn], fit_a_part, &t, BYTES);
                if (!many) fail_msg("%s: %d processes failed", kept[k].name, ranks[r][turn]);
                if (turn == 1)
                    compare(&kept[k], ranks[r][1], (double *)(void *)one, (double *)(void *)many);
                munmap(many, (size_t)ranks[r][turn] * BYTES);
            }
        }
        unlink(t.checkpoint);
        munmap(one, BYTES);
        free(values);
    }
}

/* ---- batches ---- */

/* Batches take from each process its part: as many processes make the same again, others nearly. */
static void batches_are_of_all(void **state) {
    (void)state;
    static const struct fit_case c = {
        .name = "batches",
        .method = "rfn",
        .n = 33000,
        .m = 8,
        .options = {{"batch-size", "1000"}, {"estep", "newton"}, {"iterations", "6"}}};
    struct task t = {.c = &c, .values = fixture_values(c.n, c.m, 3, 7)};
    double last[3];
    for (int ranks = 1; ranks <= 3; ranks++) {
        char *many = processes_run(ranks, fit_a_part, &t, RESULT_VALUES * sizeof(double));
        char *again = processes_run(ranks, fit_a_part, &t, RESULT_VALUES * sizeof(double));
        assert_non_null(many);
        assert_non_null(again);
        const double *values = (const double *)(const void *)again;
        compare(&c, 1, values, (const double *)(const void *)many);
        for (int r = 1; r < ranks; r++)
            assert_memory_equal(values + r * RESULT_VALUES, values, RESULT_VALUES * sizeof *values);
        last[ranks - 1] = values[(int64_t)values[0]];
        munmap(many, (size_t)ranks * RESULT_VALUES * sizeof *values);
        munmap(again, (size_t)ranks * RESULT_VALUES * sizeof *values);
    }
    assert_true(last[1] != last[0] && fabs(last[1] - last[0]) < 0.02 * fabs(last[0]));
    assert_true(last[2] != last[1] && fabs(last[2] - last[0]) < 0.02 * fabs(last[0]));
    free((double *)t.values);
}

/* Of one group all samples are the first process's: the others wait, and nothing changes. */
static void a_process_without_samples_takes_no_batch(void **state) {
    (void)state;
    static const struct fit_case c = {
        .name = "batches of one group",
        .method = "rfn",
        .n = 500,
        .m = 8,
        .options = {{"batch-size", "100"}, {"estep", "newton"}, {"iterations", "6"}}};
    struct task t = {.c = &c, .values = fixture_values(c.n, c.m, 3, 7)};
    char *one = processes_run(1, fit_a_part, &t, RESULT_VALUES * sizeof(double));
    assert_non_null(one);
    for (int ranks = 2; ranks <= 3; ranks++) {
        char *many = processes_run(ranks, fit_a_part, &t, RESULT_VALUES * sizeof(double));
        assert_non_null(many);
        compare(&c, ranks, (double *)(void *)one, (double *)(void *)many);
        munmap(many, (size_t)ranks * RESULT_VALUES * sizeof(double));
    }
    munmap(one, RESULT_VALUES * sizeof(double));
    free((double *)t.values);
}

/* What the model says of the processes. */
static int fit_batches(processes *p, void *user, char *result) {
    rb_context *ctx = context_of(p);
    rb_model *model = NULL;
    alarm(60);
    rb_io_use(ctx);
    assert_ok(ctx, fit(ctx, user, &model, NULL));
    const char *said = rb_model_attribute(model, "processes");
    snprintf(result, MESSAGE, "%s", said ? said : "");
    rb_model_free(model);
    rb_context_free(ctx);
    return 0;
}

static void the_model_names_all_processes(void **state) {
    (void)state;
    static const struct {
        int ranks;
        const char *said;
    } turns[] = {{2, "2"}, {4, "2,4"}, {2, "2,4"}, {1, "2,4,1"}};
    static const struct fit_case c = {.name = "batches",
                                      .method = "rfn",
                                      .n = 33000,
                                      .m = 8,
                                      .options = {{"batch-size", "9000"}}};
    struct task t = {.c = &c,
                     .values = fixture_values(c.n, c.m, 3, 7),
                     .until = 20,
                     .checkpoint = "batches.checkpoint",
                     .stops = true};
    unlink(t.checkpoint);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        char *said = processes_run(turns[i].ranks, fit_batches, &t, MESSAGE);
        assert_non_null(said);
        assert_string_equal(said, turns[i].said);
        munmap(said, (size_t)turns[i].ranks * MESSAGE);
    }
    unlink(t.checkpoint);
    free((double *)t.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(processes_give_the_bits_of_one),
                                       cmocka_unit_test(batches_are_of_all),
                                       cmocka_unit_test(a_process_without_samples_takes_no_batch),
                                       cmocka_unit_test(the_model_names_all_processes),
                                       cmocka_unit_test(one_that_fails_ends_all),
                                       cmocka_unit_test(one_that_is_gone_is_missed),
                                       cmocka_unit_test(other_data_are_refused),
                                       cmocka_unit_test(what_processes_cannot_do_is_refused),
                                       cmocka_unit_test(any_number_goes_on),
                                       cmocka_unit_test(tables_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
