/* The look at the codes of a fit by several processes: each encodes its part of the samples that
 * are looked at, all get what one process gets, and one that fails ends it for all. */
#include "fixture.h"
#include "processes.h"

#include "model/model.h"

enum { N = 50000, FEW = 3000, LOOKED = 20000, RUNS = 16, M = 12, UNITS = 6 };

struct task {
    const rb_model *model;
    const double *values;
    int64_t n;
    int64_t limit; /* of allocations of the second process; below 0: none */
};

struct result {
    rb_code_check check;
    int64_t read;
    rb_error err;
};

static rb_error (*plain_read)(rb_source *, rb_context *, int64_t, int64_t, rb_matrix *);
static int64_t samples_read;

static rb_error count_samples(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                              rb_matrix *view) {
    samples_read += count;
    return plain_read(source, ctx, first, count, view);
}

static int check_in_process(processes *p, void *user, char *made) {
    const struct task *t = user;
    struct result *result = (struct result *)(void *)made;
    const rb_comm comm = processes_comm(p);
    rb_context *ctx = fixture_context();
    alarm(60); /* none waits for one that has failed */
    assert_ok(ctx, rb_context_set_threads(ctx, 1 + p->rank % 2));
    assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    rb_source *source = fixture_data(ctx, t->values, t->n, M);
    plain_read = source->read;
    source->read = count_samples;
    if (t->limit >= 0 && p->rank == 1) ctx->allocations_left = t->limit;
    result->err = rb_model_check(ctx, t->model, source, &result->check);
    result->read = samples_read;
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

static void hear(rb_log_level level, const char *message, void *user) {
}

/* A whole fit, whose first process listens, so that the codes are looked at. */
static int fit_in_process(processes *p, void *user, char *made) {
    enum { MANY = 1000000 };
    const struct task *t = user;
    struct result *result = (struct result *)(void *)made;
    const rb_comm comm = processes_comm(p);
    rb_context *ctx = fixture_context();
    rb_options *options;
    rb_model *model = NULL;
    alarm(60);
    assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    rb_source *source = fixture_data(ctx, t->values, FEW, M);
    assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "preset=paper units=6 iterations=3 seed=1"));
    if (p->rank == 0) rb_context_on_log(ctx, hear, NULL);
    if (p->rank == 1) ctx->allocations_left = t->limit >= 0 ? t->limit : MANY;
    result->err = rb_fit(ctx, options, source, NULL, &model);
    result->read = MANY - ctx->allocations_left;
    ctx->allocations_left = -1;
    rb_model_free(model);
    rb_options_free(options);
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

typedef int work_in_process(processes *p, void *user, char *made);

static struct result *run_work(int ranks, work_in_process *work, struct task *t) {
    char *made = processes_run(ranks, work, t, sizeof(struct result));
    assert_non_null(made);
    return (struct result *)(void *)made;
}

static struct result *run(int ranks, struct task *t) {
    return run_work(ranks, check_in_process, t);
}

static void end(struct result *results, int ranks) {
    munmap(results, (size_t)ranks * sizeof *results);
}

/* Two units are the same, and the threshold of none lets all samples be without one. */
static rb_model *fit(const double *values) {
    rb_context *ctx = fixture_context();
    rb_source *source = fixture_data(ctx, values, FEW, M);
    rb_model *model =
        fixture_text_model(ctx, "rfn", source, NULL, "preset=paper units=6 iterations=40 seed=1");
    double *loadings = (double *)(uintptr_t)rb_model_array(model, "loadings", NULL, NULL);
    for (int64_t k = 0; k < M; k++)
        loadings[k * UNITS + 1] = loadings[k * UNITS];
    rb_source_free(source);
    rb_context_free(ctx);
    return model;
}

static int setup(void **state) {
    static struct task t;
    t.values = fixture_values(N, M, 3, 7);
    t.limit = -1;
    t.model = fit(t.values);
    *state = &t;
    return 0;
}

static int teardown(void **state) {
    struct task *t = *state;
    rb_model_free((rb_model *)t->model);
    free((double *)t->values);
    return 0;
}

static void each_looks_at_its_part(void **state) {
    struct task t = *(const struct task *)*state;
    static const int64_t sizes[] = {N, LOOKED, 7001, 50};
    static const int ranks[] = {2, 3, 8};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        t.n = sizes[s];
        struct result *one = run(1, &t);
        int64_t looked = rb_smaller(t.n, LOOKED);
        assert_int_equal(one->err, RB_OK);
        assert_int_equal(one->check.samples, looked);
        assert_int_equal(one->read, looked);
        assert_true(one->check.empty > 0 && one->check.duplicates > 0);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            struct result *many = run(ranks[r], &t);
            for (int i = 0; i < ranks[r]; i++) {
                assert_memory_equal(&many[i].check, &one->check, sizeof one->check);
                int64_t most = (RUNS + ranks[r] - 1) / ranks[r] * (LOOKED / RUNS);
                if (t.n >= LOOKED) assert_true(many[i].read <= most);
            }
            end(many, ranks[r]);
        }
        end(one, 1);
    }
}

static void one_that_fails_ends_it(void **state) {
    struct task t = *(const struct task *)*state;
    int failed = 0;
    t.n = N;
    for (t.limit = 0; t.limit < 14; t.limit++) {
        struct result *told = run(3, &t);
        for (int r = 1; r < 3; r++)
            assert_int_equal(told[r].err, told[0].err);
        failed += told[0].err != RB_OK;
        end(told, 3);
    }
    assert_true(failed > 4);
}

/* What is left to do after the last iteration fails in one process alone. */
static void a_fit_that_fails_at_its_end_ends(void **state) {
    enum { LAST = 60 };
    struct task t = *(const struct task *)*state;
    struct result *whole = run_work(2, fit_in_process, &t);
    int64_t all = whole[1].read;
    int failed = 0;
    assert_int_equal(whole[1].err, RB_OK);
    end(whole, 2);
    for (t.limit = all - LAST; t.limit < all; t.limit++) {
        struct result *told = run_work(2, fit_in_process, &t);
        assert_int_equal(told[0].err, told[1].err);
        failed += told[0].err != RB_OK;
        end(told, 2);
    }
    assert_true(failed > 5); /* what looks at the codes may fail */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_looks_at_its_part),
                                       cmocka_unit_test(one_that_fails_ends_it),
                                       cmocka_unit_test(a_fit_that_fails_at_its_end_ends)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
