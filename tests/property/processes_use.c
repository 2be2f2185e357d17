/* What several processes do with a model together, and many fits: what one process does, in each of
 * them; and how they fail. */
#include "fixture.h"
#include "processes.h"

#include <rarebit/document.h>
#include <rarebit/io.h>
#include <rarebit/select.h>
#include <rarebit/significance.h>

/* Two blocks of samples, and data that are fitted in no time. */
enum { N = 1100, M = 2000, UNITS = 4, FEW = 150, NARROW = 12, TEXT = 1024 };

struct task {
    const rb_model *model, *narrow;
    const double *values;
    int limit;              /* of allocations of the second process; 0: none */
    const char *checkpoint; /* of permutations; or NULL */
    int left;               /* samples of the second process; 0: all */
};

/* What a process got, and made of it; or its message. */
struct result {
    double codes[N * UNITS], information[UNITS], p[UNITS], match[3];
    uint32_t rows;
    char message[TEXT];
};

static rb_error rows_of(rb_context *ctx, const struct task *t, rb_source *source,
                        struct result *to) {
    rb_crc32 crc;
    double *rows = calloc(N * M, sizeof *rows);
    rb_error err = rb_encode_into(ctx, t->model, source, RB_FLOAT64, to->codes, UNITS, 1);
    err = err ? err : rb_reconstruct_into(ctx, t->model, source, RB_FLOAT64, rows, M, 1);
    rb_crc32_prepare(&crc);
    to->rows = rb_crc32_add(&crc, 0, rows, (size_t)(N * M) * sizeof *rows);
    free(rows);
    return err;
}

/* With permutations, of the narrow model, or without. */
static rb_error document_of(rb_context *ctx, const struct task *t, rb_source *source, bool permuted,
                            struct result *to) {
    rb_document d = {.size = sizeof d,
                     .model = permuted ? t->narrow : t->model,
                     .source = source,
                     .with_metrics = true};
    rb_options *options = NULL;
    rb_error err = rb_options_new(ctx, NULL, &options);
    err = err ? err : rb_options_add(ctx, options, rb_modules_group());
    err = err ? err : rb_options_add(ctx, options, rb_significance_group());
    if (!err && permuted) err = rb_options_set(ctx, options, "permutations", "19");
    if (!err && permuted && t->checkpoint)
        err = rb_options_set(ctx, options, "checkpoint", t->checkpoint);
    d.options = options;
    err = err ? err : rb_document_make(ctx, &d);
    for (int64_t r = 0; !err && r < rb_modules_count(d.modules); r++) {
        rb_significance s;
        if (!permuted) to->information[r] = rb_modules_get(d.modules, r)->information;
        if (permuted && rb_modules_significance(d.modules, r, &s)) to->p[r] = s.p;
    }
    rb_document_clear(&d);
    rb_options_free(options);
    return err;
}

/* What takes many jobs. */
static rb_error jobs_of(rb_context *ctx, const struct task *t, struct result *to) {
    rb_options *options = NULL;
    rb_selection *s = NULL;
    rb_source *source = fixture_data(ctx, t->values, FEW, NARROW);
    rb_error err = document_of(ctx, t, source, true, to);
    err = err ? err : rb_select_options(ctx, "rfn", &options);
    err = err ? err : rb_options_set_all(ctx, options, "units=1:3 restarts=3 folds=3 iterations=9");
    err = err ? err : rb_select(ctx, options, source, &s);
    for (int64_t r = 0; !err && r < 3; r++)
        to->match[r] = rb_selection_get(s, r, "match");
    rb_selection_free(s);
    rb_options_free(options);
    rb_source_free(source);
    return err;
}

static int use(processes *p, void *user, char *result) {
    const struct task *t = user;
    struct result *to = (struct result *)(void *)result;
    rb_comm comm = processes_comm(p);
    rb_context *ctx = fixture_context();
    rb_source *source;
    alarm(120); /* none waits for one that has gone */
    rb_io_use(ctx);
    assert_ok(ctx, rb_context_set_threads(ctx, 1 + p->rank % 2));
    assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    source = fixture_data(ctx, t->values, N - (p->rank == 1 ? t->left : 0), M);
    if (t->limit > 0 && p->rank == 1) ctx->allocations_left = t->limit;
    rb_error err = rows_of(ctx, t, source, to);
    if (t->left < N) { /* else nothing that follows may find what codes did not */
        err = err ? err : document_of(ctx, t, source, false, to);
        err = err ? err : jobs_of(ctx, t, to);
    }
    err = rb_comm_agree(ctx, err); /* as who leaves does */
    snprintf(to->message, TEXT, "%s", err ? rb_context_error(ctx) : "");
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

static struct result *run(int ranks, const struct task *t) {
    char *made = processes_run(ranks, use, (void *)t, sizeof(struct result));
    assert_non_null(made);
    return (struct result *)(void *)made;
}

static void end(struct result *results, int ranks) {
    munmap(results, (size_t)ranks * sizeof *results);
}

static rb_model *fit(const double *values, int64_t n, int64_t m) {
    rb_context *ctx = fixture_context();
    rb_source *source = fixture_data(ctx, values, n, m);
    rb_model *model =
        fixture_text_model(ctx, "rfn", source, NULL, "units=4 iterations=4 estep=newton seed=1");
    rb_source_free(source);
    rb_context_free(ctx);
    return model;
}

static int setup(void **state) {
    static struct task t;
    t.values = fixture_values(N, M, 3, 7);
    t.model = fit(t.values, N, M);
    t.narrow = fit(t.values, FEW, NARROW);
    *state = &t;
    return 0;
}

static int teardown(void **state) {
    struct task *t = *state;
    rb_model_free((rb_model *)t->model);
    rb_model_free((rb_model *)t->narrow);
    free((double *)t->values);
    return 0;
}

static void processes_get_what_one_gets(void **state) {
    const struct task *t = *state;
    struct result *one = run(1, t);
    assert_string_equal(one->message, "");
    assert_true(one->information[0] > 0 && one->p[0] > 0 && one->match[2] > 0);
    for (int ranks = 2; ranks < 5; ranks += 2) {
        struct result *many = run(ranks, t);
        for (int r = 0; r < ranks; r++)
            assert_memory_equal(&many[r], one, sizeof *one);
        end(many, ranks);
    }
    end(one, 1);
}

/* Each keeps its own results: a number that has them all does nothing again. */
static void checkpoints_of_processes_go_on(void **state) {
    struct task t = *(const struct task *)*state;
    char folder[] = "/tmp/rarebit-processes-XXXXXX", path[64], command[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/j", folder);
    t.checkpoint = path;
    static const int ranks[] = {2, 3, 1};
    struct result *one = NULL;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        struct result *many = run(ranks[i], &t);
        for (int r = 0; one && r < ranks[i]; r++)
            assert_memory_equal(&many[r], one, sizeof *one);
        if (one)
            end(many, ranks[i]);
        else
            one = many;
    }
    end(one, ranks[0]);
    snprintf(command, sizeof command, "[ -s %s/j-1 ] && rm -r %s", folder, folder);
    assert_int_equal(system(command), 0);
}

static void one_that_fails_ends_all(void **state) {
    struct task t = *(const struct task *)*state;
    int failed = 0, limits[] = {1, 7, 13, 19, 60, 150, 1200};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        t.limit = limits[i];
        struct result *told = run(3, &t);
        failed += *told[0].message != '\0';
        for (int r = 0; r < 3; r++) {
            bool good = !*told[0].message || strstr(told[r].message, "process 1: ");
            if (!good) fail_msg("limit %d, process %d: %s", limits[i], r, told[r].message);
        }
        end(told, 3);
    }
    assert_true(failed > 4);
}

static void other_data_are_refused(void **state) {
    struct task t = *(const struct task *)*state;
    static const int lacking[] = {5, N}; /* all: what one without samples finds is awaited, too */
    for (int i = 0; i < 2; i++) {
        t.left = lacking[i];
        struct result *told = run(2, &t);
        for (int r = 0; r < 2; r++)
            assert_non_null(strstr(told[r].message, "do not have the same data"));
        end(told, 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(processes_get_what_one_gets),
                                       cmocka_unit_test(checkpoints_of_processes_go_on),
                                       cmocka_unit_test(one_that_fails_ends_all),
                                       cmocka_unit_test(other_data_are_refused)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
