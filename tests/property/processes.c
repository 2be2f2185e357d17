/* Fits in several processes: the same bits as in one with 2, 4 and 8 of them, with other numbers
 * the same but for rounding, in every process; what they refuse, and how they fail. */
#include "processes.h"
#include "fixture.h"

enum { RESULT_VALUES = 1 << 16 };

struct fit_case {
    const char *name;
    const char *method;
    int64_t n, m;
    bool sparse, single;
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
    {.name = "linca",
     .method = "linca",
     .n = 18000,
     .m = 9,
     .options = {{"non-negative", ""}, {"iterations", "6"}}},
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
};

/* Of sparse data values below 1 are not stored. */
static rb_source *source_of(rb_context *ctx, const struct task *t, rb_matrix **matrix) {
    int64_t n = t->c->n, m = t->c->m;
    if (!t->c->sparse) return fixture_source(ctx, t->values, n, m, matrix);
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
    rb_source *source;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, n, m, starts, columns, stored, matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, *matrix, &source));
    return source;
}

static rb_error fit(rb_context *ctx, const struct task *t, rb_model **model) {
    rb_options *options = NULL;
    rb_matrix *matrix;
    rb_source *source = source_of(ctx, t, &matrix);
    rb_error err = rb_options_new(ctx, t->c->method, &options);
    err = err ? err : rb_options_set(ctx, options, "units", "4");
    err = err ? err : rb_options_set(ctx, options, "seed", "3");
    for (int i = 0; !err && t->c->options[i][0]; i++)
        if (*t->c->options[i][1]) /* else it is about the data */
            err = rb_options_set(ctx, options, t->c->options[i][0], t->c->options[i][1]);
    err = err ? err : rb_fit(ctx, options, source, NULL, model);
    rb_options_free(options);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return err;
}

/* All arrays and objectives of the model, and before them how many values these are. */
static void keep(const rb_model *model, double *result) {
    double *to = result + 1;
    for (int64_t i = 0; i < model->n_arrays; i++) {
        int64_t count = model->arrays[i].rows * model->arrays[i].columns;
        memcpy(to, model->arrays[i].values, (size_t)count * sizeof *to);
        to += count;
    }
    for (int64_t t = 0; t < model->iterations; t++)
        *to++ = model->history[t].objective;
    *result = (double)(to - result - 1);
}

static int fit_in_process(processes *p, void *user, char *result) {
    struct task *t = user;
    rb_comm comm = processes_comm(p);
    rb_model *model = NULL;
    rb_context *ctx;
    rb_error err = rb_context_new(&ctx);
    err = err ? err : rb_context_set_threads(ctx, 1 + p->rank % 2);
    err = err ? err : rb_context_set_comm(ctx, &comm);
    err = err ? err : fit(ctx, t, &model);
    if (err)
        fprintf(stderr, "process %d: %s\n", p->rank, rb_context_error(ctx));
    else
        keep(model, (double *)(void *)result);
    rb_model_free(model);
    rb_context_free(ctx);
    return err != RB_OK;
}

/* Bits where ranks are a power of two. */
static void compare(const struct fit_case *c, int ranks, const double *one, const double *many) {
    bool same = (ranks & (ranks - 1)) == 0;
    double relative = strcmp(c->name, "cyclic, float64, sparse") == 0 ? 1e-9 : 1e-3;
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
        struct task t = {&cases[k], values};
        rb_context *ctx = fixture_context();
        rb_model *model;
        assert_ok(ctx, fit(ctx, &t, &model));
        keep(model, one);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(processes_give_the_bits_of_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
