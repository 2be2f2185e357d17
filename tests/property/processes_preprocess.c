/* Preprocessing by several processes: each reads its own samples alone, and all get the bits of one
 * process with 2 and 8 of them, with 3 the same but for rounding. */
#include "fixture.h"
#include "processes.h"

#include "data/data.h"

enum { N = 70000, M = 6, LEVELS = 3, RESULT_VALUES = 1 << 10 };

struct prepare_case {
    const char *name;
    bool sparse, ties, lacks, renewed;
    rb_preprocess_options o;
};

static const struct prepare_case cases[] = {
    {.name = "chosen centre", .o = {.centre = RB_CENTRE_AUTO, .scale = RB_SCALE_SD}},
    {.name = "chosen centre of ties", .ties = true, .o = {.centre = RB_CENTRE_AUTO}},
    {.name = "features dropped",
     .ties = true,
     .o = {.centre = RB_CENTRE_MEAN, .drop = RB_DROP_BOTH, .top_variance = 3}},
    {.name = "quartiles", .ties = true, .o = {.centre = RB_CENTRE_MEDIAN, .scale = RB_SCALE_IQR}},
    {.name = "totals, sparse",
     .sparse = true,
     .o = {.totals = 100, .log1p = true, .centre = RB_CENTRE_MEAN, .scale = RB_SCALE_SD}},
    {.name = "median total, sparse",
     .sparse = true,
     .lacks = true,
     .o = {.totals = INFINITY, .missing = RB_MISSING_MEAN, .log1p = true}},
    {.name = "medians, sparse", .sparse = true, .o = {.centre = RB_CENTRE_MEDIAN}},
    {.name = "filled by means",
     .lacks = true,
     .o = {.missing = RB_MISSING_MEAN, .centre = RB_CENTRE_MEDIAN, .scale = RB_SCALE_IQR}},
    {.name = "filled by medians",
     .lacks = true,
     .o = {.missing = RB_MISSING_MEDIAN, .centre = RB_CENTRE_MEAN, .scale = RB_SCALE_SD}},
    {.name = "left out", .lacks = true, .o = {.missing = RB_MISSING_MODEL}},
    {.name = "effects",
     .o = {.regress = "batch,age", .centre = RB_CENTRE_MEDIAN, .scale = RB_SCALE_SD}},
    {.name = "effects where values lack",
     .lacks = true,
     .o = {.regress = "batch,age", .missing = RB_MISSING_MODEL, .centre = RB_CENTRE_MEAN}},
    {.name = "renewed", .renewed = true, .o = {.centre = RB_CENTRE_MEAN}},
};

struct task {
    const struct prepare_case *c;
    const double *values;
};

/* What the read function of a source was asked for. */
static rb_error (*plain_read)(rb_source *, rb_context *, int64_t, int64_t, rb_matrix *);
static int64_t passed[N];

static rb_error count_samples(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    for (int64_t i = first; i < first + count; i++)
        passed[i] = 1;
    return plain_read(source, ctx, first, count, view);
}

static rb_matrix *sparse_of(rb_context *ctx, const double *values) {
    static int64_t starts[N + 1];
    static int32_t columns[N * M];
    static double stored[N * M];
    rb_matrix *matrix;
    for (int64_t i = 0; i < N; i++) {
        starts[i + 1] = starts[i];
        for (int32_t k = 0; k < M; k++) {
            if (values[i * M + k] < 1) continue;
            columns[starts[i + 1]] = k;
            stored[starts[i + 1]++] = values[i * M + k];
        }
    }
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, M, starts, columns, stored, &matrix));
    return matrix;
}

static rb_source *source_of(rb_context *ctx, const struct task *t) {
    static const char *const names[LEVELS] = {"A", "B", "C"};
    static const char *batches[N];
    static double ages[N];
    rb_source *source;
    if (t->c->sparse)
        assert_ok(ctx, rb_source_own_matrix(ctx, sparse_of(ctx, t->values), &source));
    else
        source = fixture_data(ctx, t->values, N, M);
    for (int64_t i = 0; i < N; i++) {
        batches[i] = names[i * i % 7 % LEVELS];
        ages[i] = (double)(i % 61);
    }
    assert_ok(ctx, rb_source_set_groups(ctx, source, "batch", batches, N));
    assert_ok(ctx, rb_source_set_numbers(ctx, source, "age", ages, N));
    plain_read = source->read;
    source->read = count_samples;
    return source;
}

static double *put(double *to, const double *values, int64_t count) {
    for (int64_t i = 0; values && i < count; i++)
        *to++ = values[i];
    return to;
}

/* All that was fitted, and before it how many numbers these are. */
static void keep(const rb_preprocess *p, double *result) {
    int64_t m = p->n_features;
    double *to = result + 1;
    *to++ = p->checksum;
    *to++ = (double)p->n_filled;
    *to++ = p->options.centre;
    *to++ = p->options.totals;
    to = put(to, p->centre, m);
    to = put(to, p->scale, m);
    to = put(to, p->fill, m);
    for (int64_t j = 0; p->selected && j < m; j++)
        *to++ = (double)p->selected[j];
    for (int64_t k = 0; p->moments && k < p->n_input; k++) {
        const rb_moments *of = &p->moments[k];
        const double numbers[] = {(double)of->count, (double)of->missing, of->mean, of->squares};
        to = put(to, numbers, 4);
    }
    if (p->regress) to = put(to, p->regress->coefficients, m * p->regress->n_columns);
    *result = (double)(to - result - 1);
}

static rb_preprocess *prepare(rb_context *ctx, const struct task *t, rb_source *source) {
    rb_preprocess *p;
    assert_ok(ctx, rb_preprocess_fit_together(ctx, &t->c->o, source, &p));
    if (t->c->renewed) assert_ok(ctx, rb_preprocess_renew(ctx, p, source, true));
    return p;
}

static rb_context *begin(processes *p) {
    const rb_comm comm = processes_comm(p);
    rb_context *ctx = fixture_context();
    alarm(60);
    memset(passed, 0, sizeof passed); /* by the test itself */
    assert_ok(ctx, rb_context_set_threads(ctx, 1 + p->rank % 2));
    assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    return ctx;
}

/* A process has its share, and few samples beyond it. */
static bool read_its_own(const struct task *t, const processes *p) {
    int64_t groups = t->c->sparse ? 4 : 16, most = (groups + p->ranks - 1) / p->ranks, count = 0;
    for (int64_t i = 0; i < N; i++)
        count += passed[i];
    bool good = count <= most * (N / groups + 1) + 1 && count < N;
    if (!good) fprintf(stderr, "%s: process %d read %d samples\n", t->c->name, p->rank, (int)count);
    return good;
}

static int prepare_in_process(processes *p, void *user, char *result) {
    const struct task *t = user;
    rb_context *ctx = begin(p);
    rb_source *source = source_of(ctx, t);
    rb_preprocess *fitted = prepare(ctx, t, source);
    bool good = read_its_own(t, p);
    keep(fitted, (double *)(void *)result);
    rb_preprocess_free(fitted);
    rb_source_free(source);
    rb_context_free(ctx);
    return !good;
}

static double *values_of(const struct prepare_case *c) {
    double *values = fixture_values(N, M, 3, 7);
    for (int64_t e = 0; e < N * M; e++) {
        if (c->ties || c->sparse) values[e] = round(2 * values[e]) / 2;
        if (c->lacks && e % M > 0 && (e * e) % 11 == 4) values[e] = NAN;
    }
    for (int64_t i = 0; c->o.drop && i < N; i++) {
        values[i * M + 2] = 0.1; /* no sum of which is exact */
        values[i * M + 4] = values[i * M + 1];
    }
    return values;
}

static void compare(const struct prepare_case *c, int ranks, const double *one,
                    const double *many) {
    bool same = (ranks & (ranks - 1)) == 0;
    for (int r = 0; r < ranks; r++) {
        const double *got = many + (int64_t)r * RESULT_VALUES;
        assert_true(one[0] > 0 && one[0] < RESULT_VALUES);
        for (int64_t i = 0; i <= (int64_t)one[0]; i++) {
            double most = same ? 0 : 1e-13 * fmax(1, fabs(one[i]));
            if (!(fabs(got[i] - one[i]) <= most) || (same && signbit(got[i]) != signbit(one[i])))
                fail_msg("%s, %d processes, value %d of process %d: %.17g is not %.17g", c->name,
                         ranks, (int)i, r, got[i], one[i]);
        }
        assert_memory_equal(got, many, RESULT_VALUES * sizeof *got); /* in all the same */
    }
}

static void processes_prepare_as_one(void **state) {
    (void)state;
    static const int ranks[] = {2, 3, 8};
    static double one[RESULT_VALUES];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct task t = {&cases[k], values_of(&cases[k])};
        rb_context *ctx = fixture_context();
        rb_source *source = source_of(ctx, &t);
        rb_preprocess *p = prepare(ctx, &t, source);
        keep(p, one);
        rb_preprocess_free(p);
        rb_source_free(source);
        rb_context_free(ctx);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            char *many = processes_run(ranks[r], prepare_in_process, &t, sizeof one);
            if (!many) fail_msg("%s: %d processes failed", cases[k].name, ranks[r]);
            compare(&cases[k], ranks[r], one, (const double *)(const void *)many);
            munmap(many, (size_t)ranks[r] * sizeof one);
        }
        free((double *)t.values);
    }
}

/* Means, squares and medians of many groups of samples by definition. */
static void groups_join_to_the_whole(void **state) {
    (void)state;
    static const struct prepare_case c = {.name = "whole", .o = {.centre = RB_CENTRE_MEDIAN}};
    static double column[N];
    struct task t = {&c, values_of(&c)};
    for (int64_t e = 0; e < N * M; e++) /* far from 0, and from group to group */
        ((double *)(uintptr_t)t.values)[e] += 1e6 + (double)(e / M / 9000);
    rb_context *ctx = fixture_context();
    rb_source *source = source_of(ctx, &t);
    rb_preprocess *p = prepare(ctx, &t, source);
    for (int64_t k = 0; k < M; k++) {
        long double sum = 0, squares = 0;
        for (int64_t i = 0; i < N; i++)
            sum += column[i] = t.values[i * M + k];
        for (int64_t i = 0; i < N; i++)
            squares += (column[i] - sum / N) * (column[i] - sum / N);
        rb_sort_numbers(column, N);
        assert_true(fabs(p->moments[k].mean - (double)(sum / N)) < 1e-9);
        assert_true(fabs(p->moments[k].squares / (double)squares - 1) < 1e-9);
        assert_true(p->centre[k] == rb_quantile_of(column, N, 0.5));
    }
    rb_preprocess_free(p);
    rb_source_free(source);
    rb_context_free(ctx);
    free((double *)t.values);
}

/* ---- samples that are left out ---- */

static int thin_in_process(processes *p, void *user, char *result) {
    const struct task *t = user;
    rb_context *ctx = begin(p);
    rb_source *source = source_of(ctx, t), *thin = source, *owned;
    assert_ok(ctx, rb_source_thin(ctx, "duplicates,constant", true, &thin, &owned));
    bool good = p->ranks == 1 || read_its_own(t, p);
    assert_ok(ctx, rb_source_checksum(ctx, thin, (uint32_t *)(void *)result));
    ((uint32_t *)(void *)result)[1] = (uint32_t)rb_source_samples(thin);
    rb_source_free(owned);
    rb_source_free(source);
    rb_context_free(ctx);
    return !good;
}

static void processes_leave_out_the_same(void **state) {
    (void)state;
    static const struct prepare_case c = {.name = "thin"};
    enum { BYTES = 2 * sizeof(uint32_t) };
    double *values = values_of(&c);
    struct task t = {&c, values};
    memcpy(values + 60000 * M, values + 3 * M, M * sizeof *values);
    memset(values + 40000 * M, 0, M * sizeof *values);
    char *one = processes_run(1, thin_in_process, &t, BYTES);
    assert_non_null(one);
    assert_int_equal(((uint32_t *)(void *)one)[1], N - 2);
    for (int ranks = 2; ranks < 5; ranks++) {
        char *many = processes_run(ranks, thin_in_process, &t, BYTES);
        assert_non_null(many);
        for (int r = 0; r < ranks; r++)
            assert_memory_equal(many + r * BYTES, one, BYTES);
        munmap(many, (size_t)ranks * BYTES);
    }
    munmap(one, BYTES);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(processes_prepare_as_one),
                                       cmocka_unit_test(processes_leave_out_the_same),
                                       cmocka_unit_test(groups_join_to_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
