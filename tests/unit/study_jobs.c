/* Jobs side by side: their order, their errors, and journals that go on. */
#include "fixture.h"
#include "study/study.h"

#include <rarebit/io.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 23 };

/* What a call did, and what came of it. */
struct world {
    rb_context *ctx;
    const char *journal, *part;
    atomic_int runs;
    int64_t fails_at, stops_at; /* below 0: never */
    int64_t taken;
    double last;
    _Atomic int begun;
    char folder[64], warning[512], info[512];
};

static void log_line(rb_log_level level, const char *message, void *user) {
    struct world *w = user;
    snprintf(level == RB_LOG_WARNING ? w->warning : w->info, sizeof w->info, "%s", message);
}

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    w->ctx = fixture_context();
    rb_context_on_log(w->ctx, log_line, w);
    rb_io_use(w->ctx);
    w->fails_at = w->stops_at = -1;
    snprintf(w->folder, sizeof w->folder, "/tmp/rarebit-jobs-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", w->folder);
    assert_int_equal(system(command), 0);
    rb_context_free(w->ctx);
    free(w);
    return 0;
}

static const char *in_folder(const struct world *w, const char *name) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", w->folder, name);
    return path;
}

static double value_of(int64_t job) {
    return sqrt((double)job + 0.5);
}

static rb_error run(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    struct world *w = user;
    atomic_fetch_add(&w->runs, 1);
    if (w->fails_at >= 0 && job >= w->fails_at)
        return rb_fail(ctx, RB_ERROR_NUMERIC, "job %lld failed", (long long)job);
    if (job == w->stops_at) rb_context_stop(w->ctx);
    if (rb_check_stop(ctx)) return RB_ERROR_STOPPED;
    double *value = rb_alloc(ctx, 1, sizeof *value);
    *value = value_of(job);
    *result = (rb_bytes){value, sizeof *value};
    return RB_OK;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    struct world *w = user;
    (void)ctx;
    assert_int_equal(job, w->taken++);
    assert_int_equal(result.size, sizeof w->last);
    memcpy(&w->last, result.data, sizeof w->last);
    assert_true(w->last == value_of(job));
    return RB_OK;
}

static rb_error work(struct world *w, const char *key, bool *complete) {
    rb_jobs jobs = {.count = COUNT,
                    .what = "job",
                    .key = key,
                    .run = run,
                    .take = take,
                    .user = w,
                    .journal = w->journal,
                    .part = w->part};
    w->taken = 0;
    w->warning[0] = w->info[0] = '\0';
    atomic_store(&w->runs, 0);
    return rb_jobs_run(w->ctx, &jobs, complete);
}

static void hands_over_in_order(void **state) {
    struct world *w = *state;
    bool complete;
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(w->ctx, rb_context_set_threads(w->ctx, threads));
        assert_ok(w->ctx, work(w, "a", &complete));
        assert_true(complete);
        assert_int_equal(w->taken, COUNT);
        assert_int_equal(w->runs, COUNT);
    }
}

static rb_error take_some(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    struct world *w = user;
    (void)ctx;
    assert_true(job < w->stops_at);
    memcpy(&w->last, result.data, sizeof w->last);
    assert_true(w->last == value_of(job));
    w->taken++;
    return RB_OK;
}

/* Of a study that is worth something in part. */
static void hands_over_enough(void **state) {
    struct world *w = *state;
    bool complete = true;
    w->stops_at = 7;
    for (int64_t enough = 7; enough <= 8; enough++) {
        rb_jobs jobs = {.count = COUNT,
                        .what = "job",
                        .key = "key",
                        .run = run,
                        .take = take_some,
                        .user = w,
                        .enough = enough};
        w->taken = 0;
        rb_error err = rb_jobs_run(w->ctx, &jobs, &complete);
        assert_int_equal(err, enough == 7 ? RB_OK : RB_ERROR_STOPPED);
        assert_int_equal(w->taken, enough == 7 ? 7 : 0);
        assert_false(complete);
        rb_context_clear_stop(w->ctx);
    }
}

enum { GROUP = 6, GROUPED = 4 * GROUP };

static rb_error run_grouped(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    struct world *w = user;
    rb_error err = run(ctx, job, user, result);
    if (rb_context_threads(w->ctx) == 1) assert_true(w->runs - w->taken <= GROUP);
    return err;
}

static rb_error take_grouped(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    struct world *w = user;
    (void)ctx;
    assert_int_equal(w->taken % GROUP, job % GROUP);
    memcpy(&w->last, result.data, sizeof w->last);
    assert_true(w->last == value_of(job));
    w->taken++;
    return RB_OK;
}

static double last_is_dearest(int64_t job, const void *user) {
    (void)user;
    return (double)(job / GROUP);
}

/* No more results are kept than a group has; also from a journal. */
static void takes_groups_once_they_are_done(void **state) {
    struct world *w = *state;
    bool complete;
    rb_jobs jobs = {.count = GROUPED,
                    .what = "job",
                    .key = "key",
                    .run = run_grouped,
                    .take = take_grouped,
                    .cost = last_is_dearest,
                    .user = w,
                    .group = GROUP};
    for (int threads = 1; threads <= 4; threads++) {
        w->taken = 0;
        w->runs = 0;
        assert_ok(w->ctx, rb_context_set_threads(w->ctx, threads));
        assert_ok(w->ctx, rb_jobs_run(w->ctx, &jobs, &complete));
        assert_true(complete);
        assert_int_equal(w->taken, GROUPED);
    }
    assert_ok(w->ctx, rb_context_set_threads(w->ctx, 1));
    jobs.journal = in_folder(w, "j");
    w->stops_at = GROUP + 2; /* of the third group that is begun */
    w->taken = 0;
    w->runs = 0;
    assert_int_equal(rb_jobs_run(w->ctx, &jobs, &complete), RB_ERROR_STOPPED);
    assert_int_equal(w->taken, 2 * GROUP);
    w->stops_at = -1;
    rb_context_clear_stop(w->ctx);
    for (int again = 0; again < 2; again++) {
        w->taken = 0;
        w->runs = 0;
        assert_ok(w->ctx, rb_jobs_run(w->ctx, &jobs, &complete));
        assert_true(complete);
        assert_int_equal(w->taken, GROUPED);
        assert_int_equal(w->runs, again ? 0 : GROUPED - 2 * GROUP - 2);
    }
}

static double dear(int64_t job, const void *user) {
    (void)user;
    return (double)(job * 7 % COUNT) + 1;
}

static rb_error run_dear(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    struct world *w = user;
    int dearer = COUNT - (int)dear(job, NULL); /* of which each thread may be about to count one */
    assert_true(dearer - w->begun++ < rb_context_threads(w->ctx));
    return run(ctx, job, user, result);
}

static void begins_the_dearest_first(void **state) {
    struct world *w = *state;
    bool complete;
    rb_jobs jobs = {.count = COUNT,
                    .what = "job",
                    .key = "key",
                    .run = run_dear,
                    .take = take,
                    .cost = dear,
                    .user = w};
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(w->ctx, rb_context_set_threads(w->ctx, threads));
        w->begun = w->taken = 0;
        assert_ok(w->ctx, rb_jobs_run(w->ctx, &jobs, &complete));
        assert_true(complete);
        assert_int_equal(w->taken, COUNT); /* in order, as ever */
    }
}

static void gives_the_first_error(void **state) {
    struct world *w = *state;
    bool complete;
    w->fails_at = 5;
    for (int threads = 1; threads <= 4; threads++) {
        assert_ok(w->ctx, rb_context_set_threads(w->ctx, threads));
        assert_int_equal(work(w, "a", &complete), RB_ERROR_NUMERIC);
        assert_string_equal(rb_context_error(w->ctx), "job 5 failed");
        assert_int_equal(w->taken, 0);
    }
}

static void goes_on_from_a_journal(void **state) {
    struct world *w = *state;
    bool complete;
    w->journal = in_folder(w, "jobs");
    w->stops_at = 9;
    assert_int_equal(work(w, "a", &complete), RB_ERROR_STOPPED);
    rb_context_clear_stop(w->ctx);
    w->stops_at = -1;
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_true(complete);
    assert_int_equal(w->runs, COUNT - 9);
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_int_equal(w->runs, 0);
    assert_int_equal(w->taken, COUNT);
}

/* A kill while a result is written: at every byte. In the first ones of the file no write ends. */
static void cuts_off_what_is_half_written(void **state) {
    struct world *w = *state;
    bool complete;
    struct stat whole;
    w->journal = in_folder(w, "jobs");
    assert_ok(w->ctx, work(w, "key of these", &complete));
    assert_int_equal(stat(w->journal, &whole), 0);
    for (off_t size = whole.st_size - 1; size >= 0; size = size < 25 && size ? 0 : size - 7) {
        assert_int_equal(truncate(w->journal, size), 0);
        assert_ok(w->ctx, work(w, "key of these", &complete));
        assert_true(complete && w->runs > 0);
        assert_string_equal(w->warning, "");
        struct stat again;
        assert_int_equal(stat(w->journal, &again), 0);
        assert_int_equal(again.st_size, whole.st_size);
    }
}

/* A result that was changed is made again. */
static void believes_no_damaged_result(void **state) {
    struct world *w = *state;
    bool complete;
    w->journal = in_folder(w, "jobs");
    assert_ok(w->ctx, work(w, "a", &complete));
    FILE *file = fopen(w->journal, "r+b");
    assert_int_equal(fseek(file, -4, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -4, SEEK_END), 0);
    fputc(byte ^ 1, file);
    fclose(file);
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_int_equal(w->runs, 1);
}

static void refuses_other_results(void **state) {
    struct world *w = *state;
    bool complete;
    w->journal = in_folder(w, "jobs");
    assert_ok(w->ctx, work(w, "method=rfn\nseed=1\n", &complete));
    assert_error(w->ctx, work(w, "method=rfn\nseed=2\n", &complete), RB_ERROR_ARGUMENT,
                 "with 'seed=1' instead of 'seed=2'");
    FILE *file = fopen(w->journal, "wb");
    fputs("my thesis, only copy", file);
    fclose(file);
    assert_int_equal(work(w, "a", &complete), RB_ERROR_FORMAT);
    struct stat info;
    assert_int_equal(stat(w->journal, &info), 0);
    assert_int_equal(info.st_size, 20);
    const char *const others[] = {"\0\0\10\3mnist", "rarebit-journal 1 23 99999\nmethod",
                                  "rarebit-journal 1 23 1\nb", "rarebit-journal 1 2", "r"};
    const size_t sizes[] = {9, 33, 24, 19, 1};
    for (int i = 0; i < 5; i++) {
        file = fopen(w->journal, "wb");
        fwrite(others[i], 1, sizes[i], file);
        fclose(file);
        assert_int_equal(work(w, "a", &complete), i == 3   ? RB_OK
                                                  : i == 2 ? RB_ERROR_ARGUMENT
                                                           : RB_ERROR_FORMAT);
        assert_int_equal(stat(w->journal, &info), 0);
        if (i != 3) assert_int_equal(info.st_size, sizes[i]);
    }
}

/* Where the results of the journal of "a" are: behind the head, a result in every 32 bytes. */
enum { FIRST = sizeof "rarebit-journal 1 23 1\na" - 1, EACH = 32 };

static void flip(const char *path, long place, int bit) {
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, place, SEEK_SET), 0);
    fputc(byte ^ 1 << bit, file);
    fclose(file);
}

/* What lies behind a damaged result is not lost with it, whichever bit it is: of its job, its size,
 * its checksum or its data. */
static void keeps_what_is_behind_a_damaged_result(void **state) {
    struct world *w = *state;
    bool complete;
    int64_t found, count;
    const char *whole = in_folder(w, "whole"), *merged = in_folder(w, "merged");
    const char *damaged = in_folder(w, "damaged");
    w->journal = whole;
    assert_ok(w->ctx, work(w, "a", &complete));
    for (int at = 0; at < EACH * 8; at += at % 8 == 7 ? 1 : 7) {
        w->journal = damaged;
        assert_ok(w->ctx, rb_journal_merge(w->ctx, &whole, 1, w->journal, &found, &count));
        flip(w->journal, FIRST + 2 * EACH + at / 8, at % 8);
        assert_ok(w->ctx, rb_journal_merge(w->ctx, &w->journal, 1, merged, &found, &count));
        assert_int_equal(found, COUNT - 1);
        assert_non_null(
            strstr(w->warning, "at least 1 of its results are lost (32 bytes), 22 are"));
        assert_ok(w->ctx, work(w, "a", &complete));
        assert_int_equal(w->runs, 1);
        assert_non_null(
            strstr(w->warning, "at least 1 of its results are lost (32 bytes), 22 are"));
        assert_ok(w->ctx, work(w, "a", &complete));
        assert_int_equal(w->runs, 0);
    }
}

/* Two places, and the end: what is half written there is cut off, and that is said. */
static void tells_what_is_lost(void **state) {
    struct world *w = *state;
    struct stat info;
    bool complete;
    w->journal = in_folder(w, "jobs");
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_int_equal(stat(w->journal, &info), 0);
    flip(w->journal, FIRST + 2 * EACH + 12, 0);
    flip(w->journal, FIRST + 3 * EACH + 12, 0);
    flip(w->journal, FIRST + 7 * EACH + 30, 0);
    assert_int_equal(truncate(w->journal, info.st_size - 3), 0);
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_int_equal(w->runs, 4);
    assert_non_null(strstr(w->warning, "at least 2 of its results are lost (96 bytes), 19 are"));
    assert_non_null(strstr(w->info, "the last result in "));
    assert_non_null(strstr(w->info, " is incomplete"));
}

static void does_parts_that_merge(void **state) {
    struct world *w = *state;
    bool complete;
    const char *paths[3] = {in_folder(w, "1"), in_folder(w, "2"), in_folder(w, "3")};
    const char *const parts[3] = {"1/3", "2/3", "3/3"};
    int all = 0;
    for (int p = 0; p < 3; p++) {
        w->journal = paths[p];
        w->part = parts[p];
        assert_ok(w->ctx, work(w, "a", &complete));
        assert_false(complete);
        assert_int_equal(w->taken, 0);
        all += w->runs;
    }
    assert_int_equal(all, COUNT);
    int64_t found, count;
    const char *merged = in_folder(w, "all");
    assert_ok(w->ctx, rb_journal_merge(w->ctx, paths, 2, merged, &found, &count));
    assert_int_equal(count, COUNT);
    assert_true(found < COUNT);
    assert_ok(w->ctx, rb_journal_merge(w->ctx, paths, 3, merged, &found, &count));
    assert_int_equal(found, COUNT);
    w->journal = merged;
    w->part = NULL;
    assert_ok(w->ctx, work(w, "a", &complete));
    assert_true(complete);
    assert_int_equal(w->runs, 0);
}

static void refuses_parts_that_are_none(void **state) {
    struct world *w = *state;
    bool complete;
    const char *const wrong[] = {"0/3", "4/3", "3", "1/2x", "a/b", "-1/3"};
    w->journal = in_folder(w, "jobs");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w->part = wrong[i];
        assert_int_equal(work(w, "a", &complete), RB_ERROR_ARGUMENT);
    }
    w->part = "1/2";
    w->journal = NULL;
    assert_int_equal(work(w, "a", &complete), RB_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_over_in_order),
        cmocka_unit_test(hands_over_enough),
        cmocka_unit_test(takes_groups_once_they_are_done),
        cmocka_unit_test(begins_the_dearest_first),
        cmocka_unit_test(gives_the_first_error),
        cmocka_unit_test(goes_on_from_a_journal),
        cmocka_unit_test(cuts_off_what_is_half_written),
        cmocka_unit_test(believes_no_damaged_result),
        cmocka_unit_test(keeps_what_is_behind_a_damaged_result),
        cmocka_unit_test(tells_what_is_lost),
        cmocka_unit_test(refuses_other_results),
        cmocka_unit_test(does_parts_that_merge),
        cmocka_unit_test(refuses_parts_that_are_none),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
