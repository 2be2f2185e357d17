/* Time that processes wait for each other: what is measured of it, and what a fit that waits more
 * than it works says, once. */
#include "fixture.h"
#include "processes.h"

enum { N = 9000, M = 8, ITERATIONS = 8 };

struct task {
    useconds_t message, iteration; /* microseconds that each takes */
    bool beside;                   /* is each process a fit of its own? */
};

struct result {
    int warnings;
    char warning[256];
    double waited, phase; /* seconds; of the phase, below 0 where there is none */
};

static useconds_t message_takes, iteration_takes;

static bool exchange_slowly(void *user, int partner, size_t bytes, const void *send,
                            void *receive) {
    usleep(message_takes);
    return processes_exchange(user, partner, bytes, send, receive);
}

static rb_error iterate_slowly(const rb_progress *progress, void *user) {
    (void)progress;
    (void)user;
    usleep(iteration_takes);
    return RB_OK;
}

static void hear(rb_log_level level, const char *message, void *user) {
    struct result *result = user;
    if (level != RB_LOG_WARNING || !strstr(message, "wait")) return;
    result->warnings++;
    snprintf(result->warning, sizeof result->warning, "%s", message);
}

static int fit_in_process(processes *p, void *user, char *made) {
    const struct task *t = user;
    struct result *result = (struct result *)(void *)made;
    rb_context *ctx = fixture_context();
    rb_comm comm = processes_comm(p);
    rb_options *options;
    rb_model *model;
    double *values = fixture_values(N, M, 3, 7), flops, bytes;
    message_takes = t->message;
    iteration_takes = t->iteration;
    comm.exchange = exchange_slowly;
    if (!t->beside) assert_ok(ctx, rb_context_set_comm(ctx, &comm));
    assert_ok(ctx, rb_context_profile(ctx, true));
    rb_context_on_log(ctx, hear, result);
    rb_context_on_progress(ctx, iterate_slowly, NULL);
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_ok(ctx, rb_options_new(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options,
                                      "preset=none estep=cyclic units=4 seed=1 restarts=2 "
                                      "estep-tolerance=1"));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "iterations", ITERATIONS));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    result->waited = ctx->waited;
    if (!rb_context_phase(ctx, RB_PHASE_WAITING, &result->phase, &flops, &bytes))
        result->phase = -1;
    rb_model_free(model);
    rb_options_free(options);
    rb_source_free(source);
    rb_context_free(ctx);
    free(values);
    return 0;
}

static struct result *run(struct task t) {
    char *made = processes_run(2, fit_in_process, &t, sizeof(struct result));
    assert_non_null(made);
    return (struct result *)(void *)made;
}

static void end(struct result *results) {
    munmap(results, 2 * sizeof *results);
}

static void slow_messages_are_said_once(void **state) {
    (void)state;
    struct result *told = run((struct task){12000, 0, false});
    assert_int_equal(told[0].warnings, 1);
    assert_int_equal(told[1].warnings, 0);
    assert_non_null(strstr(told[0].warning, "`estep=newton`"));
    for (int r = 0; r < 2; r++) {
        assert_true(told[r].waited > ITERATIONS * 4 * 12e-3); /* once a unit */
        assert_close(told[r].phase, told[r].waited, 0.05);
    }
    end(told);
}

/* What takes long is no message; or the fit has come to its end before it is worth a word. */
static void other_fits_say_nothing(void **state) {
    (void)state;
    static const struct task tasks[] = {{0, 220000, false}, {500, 0, false}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        struct result *told = run(tasks[i]);
        for (int r = 0; r < 2; r++)
            assert_true(told[r].warnings == 0 && told[r].phase >= 0 && told[r].waited > 0);
        end(told);
    }
}

static void one_process_waits_for_none(void **state) {
    (void)state;
    struct result *told = run((struct task){12000, 0, true});
    for (int r = 0; r < 2; r++)
        assert_true(told[r].warnings == 0 && told[r].phase == -1 && told[r].waited == 0);
    end(told);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(slow_messages_are_said_once),
                                       cmocka_unit_test(other_fits_say_nothing),
                                       cmocka_unit_test(one_process_waits_for_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
