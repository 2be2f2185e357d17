/* src/base: options, random numbers, threads, memory, messages. */
#include "fixture.h"
#include <rarebit/io.h>

#include <float.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* ---- options ---- */

struct options {
    int64_t count;
    double rate;
    int kind;
    bool flag;
    const char *text;
    rb_values values;
};

static const rb_option table[] = {
    {"count", 'n', RB_OPTION_INTEGER, offsetof(struct options, count), "10", 1, 9e18, NULL, "N",
     "h"},
    {"rate", 0, RB_OPTION_NUMBER, offsetof(struct options, rate), "0.1", DBL_MIN, 1, NULL, "R",
     "h"},
    {"kind", 0, RB_OPTION_CHOICE, offsetof(struct options, kind), "sd", 0, 0, "rms|sd|none", "K",
     "h"},
    {"flag", 0, RB_OPTION_FLAG, offsetof(struct options, flag), "false", 0, 0, NULL, NULL, "h"},
    {"text", 0, RB_OPTION_TEXT, offsetof(struct options, text), NULL, 0, 0, NULL, "T", "h"},
    {"values", 0, RB_OPTION_VALUES, offsetof(struct options, values), "2", DBL_MIN, 9, NULL, "V",
     "h"},
    {0},
};

static void options_from_text(void **state) {
    rb_context *ctx = *state;
    struct options o;
    rb_rows_default(table, &o);
    assert_true(o.count == 10 && o.rate == 0.1 && o.kind == 1 && !o.flag && !o.text);
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "count", "5k"));
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "rate", "1e-3"));
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "kind", "none"));
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "flag", "yes"));
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "text", "hello"));
    assert_true(o.count == 5000 && o.rate == 1e-3 && o.kind == 2 && o.flag);
    char text[64];
    fixture_row(rb_rows_find(table, "rate"), &o, text, sizeof text);
    assert_string_equal(text, "0.001");
    o.rate = 0.1 + 0.2;
    fixture_row(rb_rows_find(table, "rate"), &o, text, sizeof text);
    assert_true(strtod(text, NULL) == o.rate);
}

/* One number, or a matrix; a text that is no number names a file, which is none of the values until
 * somebody has read it. */
static void one_number_or_a_matrix(void **state) {
    rb_context *ctx = *state;
    struct options o;
    char text[64];
    const rb_option *row = rb_rows_find(table, "values");
    rb_rows_default(table, &o);
    assert_true(o.values.value == 2 && !o.values.matrix && !o.values.file);
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "values", "1e-3"));
    assert_true(o.values.value == 1e-3 && !o.values.file);
    assert_ok(ctx, rb_rows_set(ctx, table, &o, "values", "v.npy"));
    fixture_row(row, &o, text, sizeof text);
    assert_string_equal(text, "v.npy");
    assert_int_equal(rb_rows_check(ctx, table, &o), RB_ERROR_ARGUMENT);
    assert_string_equal(rb_context_error(ctx), "`values` is 'v.npy', but must be a number above 0 "
                                               "and at most 9, or a file of numbers");
    rb_matrix *matrix;
    double numbers[2] = {1, 2};
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 2, 1, numbers, 1, 1, &matrix));
    o.values.matrix = matrix;
    assert_ok(ctx, rb_rows_check(ctx, table, &o));
    o.values.file = NULL;
    fixture_row(row, &o, text, sizeof text);
    assert_string_equal(text, "matrix");
    rb_matrix_free(matrix);
}

static void assert_refused(rb_context *ctx, const char *name, const char *value,
                           const char *message) {
    struct options o, before;
    rb_rows_default(table, &o);
    before = o;
    assert_int_equal(rb_rows_set(ctx, table, &o, name, value), RB_ERROR_ARGUMENT);
    assert_string_equal(rb_context_error(ctx), message);
    assert_memory_equal(&o, &before, sizeof o);
}

static void refused_values(void **state) {
    rb_context *ctx = *state;
    assert_refused(ctx, "count", "0", "`count` is '0', but must be a whole number of at least 1");
    assert_refused(ctx, "count", "1.5",
                   "`count` is '1.5', but must be a whole number of at least 1");
    assert_refused(ctx, "count", "99999999999G",
                   "`count` is '99999999999G', but must be a whole number of at least 1");
    assert_refused(ctx, "rate", "0", "`rate` is '0', but must be a number above 0 and at most 1");
    assert_refused(ctx, "rate", "nan",
                   "`rate` is 'nan', but must be a number above 0 and at most 1");
    assert_refused(ctx, "kind", "s", "`kind` is 's', but must be rms, sd or none");
    assert_refused(ctx, "kind", "", "`kind` is '', but must be rms, sd or none");
    assert_refused(ctx, "flag", "maybe", "`flag` is 'maybe', but must be true or false");
    assert_refused(ctx, "values", "0",
                   "`values` is '0', but must be a number above 0 and at most 9, or a file of "
                   "numbers");
    assert_refused(ctx, "values", "",
                   "`values` is '', but must be a number above 0 and at most 9, or a file of "
                   "numbers");
    assert_refused(ctx, "size", "1", "there is no option 'size'");
    struct options o;
    rb_rows_default(table, &o);
    o.kind = 3;
    assert_int_equal(rb_rows_check(ctx, table, &o), RB_ERROR_ARGUMENT);
    o.kind = 0;
    assert_ok(ctx, rb_rows_check(ctx, table, &o));
}

/* A default that changes silently costs somebody a day: all are pinned here. */
/* A range says both of its ends. */
static void ranges(void **state) {
    (void)state;
    const rb_option large = {"sd", 0, RB_OPTION_NUMBER, 0, "0", 0, 1e150, NULL, "SD", "h"};
    char text[128];
    rb_options_range(&large, text, sizeof text);
    assert_string_equal(text, "a number of at least 0 and at most 1e+150");
    rb_options_range(&table[0], text, sizeof text); /* 9e18 stands for no limit of whole numbers */
    assert_string_equal(text, "a whole number of at least 1");
}

static void defaults_are_pinned(void **state) {
    (void)state;
    const struct {
        const rb_option *rows;
        const char *defaults;
    } pinned[] = {
        {rb_fit_group.rows,
         "iterations=200 tolerance=0 patience=0 parameter-tolerance=0 max-time=0 seed=1 "
         "restarts=1 precision=float32 batch-size=0 keep-order=false trace=false accelerate=none "
         "drop-samples=none "},
        {rfn_option_rows,
         "preset=none units=10 eta=0.5 eta-psi=0 "
         "eta-schedule=constant eta-every=50 eta-factor=0.5 moment-decay=0.9 normalize=rms "
         "estep=auto accept=gradient gradient-search=none newton-iterations=0 steer-iterations=0 "
         "target-sparseness=0 "
         "estep-tolerance=3e-06 mstep=newton "
         "psi-update=old psi-step=variance noise=diagonal noise-decay=0 psi-min=0 psi-init=0 "
         "weight-max=0 weight-init=0 weight-start=normal sparse-loadings=1.5 "
         "weight-decay=0 weight-decay-laplace=0 dropout=0 dropout-place=before "
         "input-noise=none input-noise-level=0 momentum=0 "
         "activation=rectify activation-threshold=0 activation-slope=0.01 "
         "prior-mean=-0.5 prior-covariance=1 "},
        {rb_preprocess_group.rows, "missing=refuse totals=0 log1p=false centre-samples=none "
                                   "drop=none top-variance=0 centre=auto scale=none regress= "},
        {rb_read_group()->rows,
         "dataset= transpose=false header=auto row-names=auto patches= missing-words= "},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        char text[4096] = "", value[64];
        double options[64];
        const rb_option *rows = pinned[i].rows;
        rb_rows_default(rows, options);
        for (; rows->name; rows++) {
            fixture_row(rows, options, value, sizeof value);
            sprintf(text + strlen(text), "%s=%s ", rows->name, value);
        }
        assert_string_equal(text, pinned[i].defaults);
    }
}

/* ---- random numbers ---- */

/* A value depends on seed, purpose, restart and index alone; moments are those of the
 * distribution. */
static void random_numbers(void **state) {
    (void)state;
    rb_stream a = {1, RB_RANDOM_LOADINGS, 0}, b = {1, RB_RANDOM_SIMULATE, 0},
              c = {1, RB_RANDOM_LOADINGS, 1};
    assert_true(rb_random_uniform(a, 5) == rb_random_uniform(a, 5));
    assert_true(rb_random_uniform(a, 5) != rb_random_uniform(a, 6));
    assert_true(rb_random_uniform(a, 5) != rb_random_uniform(b, 5));
    assert_true(rb_random_uniform(a, 5) != rb_random_uniform(c, 5));
    enum { N = 200000 };
    double u = 0, u2 = 0, z = 0, z2 = 0, z4 = 0;
    for (uint64_t i = 0; i < N; i++) {
        double x = rb_random_uniform(a, i), y = rb_random_normal(b, i);
        assert_true(x >= 0 && x < 1 && isfinite(y));
        u += x / N;
        u2 += x * x / N;
        z += y / N;
        z2 += y * y / N;
        z4 += y * y * y * y / N;
    }
    /* five standard errors each */
    assert_close(u, 0.5, 0.0033);
    assert_close(u2, 1.0 / 3, 0.0034);
    assert_close(z, 0, 0.0112);
    assert_close(z2, 1, 0.0159);
    assert_close(z4, 3, 0.04);
    rb_draws draws = {a, 0};
    int64_t seen[4] = {0};
    for (int i = 0; i < 1000; i++) {
        int64_t x = rb_draw_integer(&draws, 3, 6);
        assert_true(x >= 3 && x <= 6);
        seen[x - 3]++;
    }
    assert_true(seen[0] > 150 && seen[3] > 150);
}

/* Philox4x32-10 of Random123's published test: counter and key of all ones. */
static void random_reference(void **state) {
    (void)state;
    /* bits 408f276d 41c83b0e ...: the first two words as 53 bits */
    rb_stream ones = {UINT64_MAX, UINT32_MAX, UINT32_MAX};
    uint64_t bits = ((uint64_t)0x408f276d << 32 | 0x41c83b0e) >> 11;
    assert_true(rb_random_uniform(ones, UINT64_MAX) == (double)bits * 0x1p-53);
}

/* ---- threads ---- */

struct tally {
    _Atomic int64_t done[1000];
    _Atomic int worker_too_large;
    int threads;
};

static void count_task(void *arg, int64_t index, int worker) {
    struct tally *t = arg;
    atomic_fetch_add(&t->done[index], 1);
    if (worker < 0 || worker >= t->threads) atomic_store(&t->worker_too_large, 1);
}

static void every_task_once(void **state) {
    rb_context *ctx = *state;
    static const int counts[] = {1, 2, 3, 8, 1, 5};
    for (int c = 0; c < 6; c++) {
        assert_ok(ctx, rb_context_set_threads(ctx, counts[c]));
        for (int round = 0; round < 200; round++) {
            struct tally t = {.threads = counts[c]};
            int64_t tasks = round * 5;
            rb_parallel(ctx, tasks, count_task, &t);
            for (int64_t i = 0; i < 1000; i++)
                assert_int_equal(t.done[i], i < tasks);
            assert_false(t.worker_too_large);
        }
    }
    assert_int_equal(rb_context_set_threads(ctx, -1), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_set_threads(ctx, 5000), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_threads(ctx), 5);
    assert_ok(ctx, rb_context_set_threads(ctx, 0));
    assert_true(rb_context_threads(ctx) >= 1);
}

/* Tasks that have begun are done, the others left out. */
struct stopping {
    rb_context *ctx;
    _Atomic int64_t done;
};

static void stop_task(void *arg, int64_t index, int worker) {
    struct stopping *s = arg;
    (void)index, (void)worker;
    rb_context_stop(s->ctx);
    atomic_fetch_add(&s->done, 1);
}

static void tasks_are_left_out(void **state) {
    rb_context *ctx = *state;
    for (int threads = 1; threads <= 4; threads++) {
        struct stopping s = {.ctx = ctx};
        assert_ok(ctx, rb_context_set_threads(ctx, threads));
        assert_int_equal(rb_parallel_or_stop(ctx, 1000, stop_task, &s), RB_ERROR_STOPPED);
        assert_in_range(s.done, 1, threads);
        rb_parallel(ctx, 1000, stop_task, &s); /* leaves none out */
        assert_in_range(s.done, 1001, 1000 + threads);
        rb_context_clear_stop(ctx);
        struct tally t = {.threads = threads};
        assert_ok(ctx, rb_parallel_or_stop(ctx, 1000, count_task, &t));
        for (int64_t i = 0; i < 1000; i++)
            assert_int_equal(t.done[i], 1);
    }
}

/* A worker that the system does not run, for as long as a byte is not there to be read. */
static int gate[2];

static void stand_still(int signal) {
    char byte;
    (void)signal;
    while (read(gate[0], &byte, 1) != 1)
        ;
}

struct workers {
    _Atomic int met;
    pthread_t threads[3];
};

static void meet_task(void *arg, int64_t index, int worker) {
    struct workers *w = arg;
    (void)index;
    w->threads[worker] = pthread_self();
    atomic_fetch_add(&w->met, 1);
    while (atomic_load(&w->met) < 3) /* each of the three has a task */
        usleep(100);
}

static void no_round_waits_for_who_has_not_begun(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    struct workers w = {0};
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    rb_parallel(ctx, 3, meet_task, &w);
    usleep(100000); /* until they are asleep */
    assert_int_equal(pipe(gate), 0);
    signal(SIGUSR1, stand_still);
    assert_int_equal(pthread_kill(w.threads[1], SIGUSR1), 0);
    for (int round = 0; round < 500; round++) {
        struct tally t = {.threads = 3};
        if (round == 250) assert_int_equal(write(gate[1], "x", 1), 1);
        rb_parallel(ctx, 1000, count_task, &t);
        for (int64_t i = 0; i < 1000; i++)
            assert_int_equal(t.done[i], 1);
    }
    rb_context_free(ctx);
    signal(SIGUSR1, SIG_DFL);
    close(gate[0]);
    close(gate[1]);
}

/* ---- memory and messages ---- */

static void memory(void **state) {
    rb_context *ctx = *state;
    int64_t product;
    assert_true(rb_multiply(INT32_MAX, INT32_MAX, &product));
    assert_false(rb_multiply(INT64_MAX, 2, &product));
    assert_null(rb_alloc(ctx, INT64_MAX / 4, 8));
    assert_non_null(strstr(rb_context_error(ctx), "do not fit into memory"));
    assert_null(rb_alloc(ctx, -1, 8));
    char *p = rb_alloc(ctx, 0, 8);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    p = rb_grow(ctx, p, 0, 100, 1);
    memset(p, 7, 100);
    p = rb_grow(ctx, p, 100, 5000, 1);
    assert_int_equal(p[99], 7);
    rb_free(p);
    ctx->allocations_left = 1;
    void *one = rb_alloc(ctx, 1, 1);
    assert_non_null(one);
    assert_null(rb_alloc(ctx, 1, 1));
    assert_non_null(strstr(rb_context_error(ctx), "out of memory"));
    rb_free(one);
}

/* What is allocated while a file is read is compared with the file's size; a file within a file has
 * a count of its own, and growing counts once. */
static void memory_of_a_file(void **state) {
    rb_context *ctx = *state;
    rb_reading outer, inner;
    assert_int_equal(rb_context_set_max_expansion(ctx, 0), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_context_set_max_expansion(ctx, NAN), RB_ERROR_ARGUMENT);
    assert_true(rb_context_max_expansion(ctx) == 1000);
    assert_ok(ctx, rb_context_set_max_expansion(ctx, 5));
    rb_reading_begin(ctx, &outer, "no such file"); /* allows 1.28 MB */
    void *memory = rb_alloc(ctx, 1000000, 1);
    assert_non_null(memory);
    assert_null(rb_grow(ctx, memory, 1000000, 1100000, 1)); /* both would be there for a while */
    assert_non_null(strstr(rb_context_error(ctx), "would need more than 1.28 MB"));
    rb_free(memory);
    rb_reading_begin(ctx, &inner, "another");
    memory = rb_alloc(ctx, 400000, 1);
    for (int64_t size = 400000; memory && size < 600000; size += 10000)
        memory = rb_grow(ctx, memory, size, size + 10000, 1);
    assert_non_null(memory);
    assert_ok(ctx, rb_reading_check(ctx, 1.28e6));
    assert_int_equal(rb_reading_check(ctx, 1.29e6), RB_ERROR_MEMORY);
    rb_free(memory);
    rb_reading_end(ctx);
    assert_null(rb_alloc(ctx, 1000000, 1));
    rb_reading_end(ctx);
    memory = rb_alloc(ctx, 2000000, 1);
    assert_non_null(memory);
    rb_free(memory);
}

static void sentences(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    assert_string_equal(rb_context_error(ctx), "");
    assert_int_equal(rb_fail(ctx, RB_ERROR_DATA, "row %d", 3), RB_ERROR_DATA);
    rb_fail_prefix(ctx, "%s: ", "a.csv");
    assert_string_equal(rb_context_error(ctx), "a.csv: row 3");
    rb_fail(ctx, RB_ERROR_DATA, "again %s", rb_context_error(ctx));
    assert_string_equal(rb_context_error(ctx), "again a.csv: row 3");
    char *text = malloc(5000);
    memset(text, 'x', 4999);
    text[4999] = '\0';
    rb_fail(ctx, RB_ERROR_DATA, "%s", text);
    rb_fail_prefix(ctx, "%s", text);
    assert_true(strlen(rb_context_error(ctx)) < 1024);
    free(text);
    assert_string_equal(rb_error_name(RB_ERROR_FILE), "RB_ERROR_FILE");
    assert_string_equal(rb_status_name(RB_STATUS_CONVERGED), "converged: nothing changes any more");
    rb_context_free(ctx);
    rb_context_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_from_text),
        cmocka_unit_test(one_number_or_a_matrix),
        cmocka_unit_test(refused_values),
        cmocka_unit_test(defaults_are_pinned),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(random_reference),
        cmocka_unit_test(every_task_once),
        cmocka_unit_test(no_round_waits_for_who_has_not_begun),
        cmocka_unit_test(memory),
        cmocka_unit_test(tasks_are_left_out),
        cmocka_unit_test(sentences),
        cmocka_unit_test(ranges),
        cmocka_unit_test(memory_of_a_file),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
