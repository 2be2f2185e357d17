/* Checkpoints: when they are written, what they say, which are refused, and what goes wrong. */
#include "fixture.h"

#include "em/em.h"
#include "io/io.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 40, M = 6, UNITS = 3 };

struct problem {
    rb_context *ctx;
    double *values;
    rb_source *source;
    char folder[64], path[128];
    rb_rfn_options rfn;
    rb_fit_options fit;
    rb_checkpoint_options checkpoint;
    char warning[1024];
};

static void on_log(rb_log_level level, const char *message, void *user) {
    struct problem *p = user;
    if (level == RB_LOG_WARNING) snprintf(p->warning, sizeof p->warning, "%s", message);
}

static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    p->ctx = fixture_context();
    rb_context_on_log(p->ctx, on_log, p);
    p->values = fixture_values(N, M, 2, 1);
    p->source = fixture_data(p->ctx, p->values, N, M);
    p->rfn = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    p->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    p->fit = fixture_fit(10, RB_FLOAT64);
    snprintf(p->folder, sizeof p->folder, "/tmp/rarebit-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/c.h5", p->folder);
    p->checkpoint = (rb_checkpoint_options){p->path, "4"};
    fixture_checkpoint = &p->checkpoint;
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    fixture_checkpoint = NULL;
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
    rb_source_free(p->source);
    free(p->values);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

static rb_error try_fit(struct problem *p) {
    rb_model *model;
    rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL), p->source,
                          NULL, &model);
    assert_true((model == NULL) == (err != RB_OK));
    rb_model_free(model);
    return err;
}

/* The fit fails with this code and a message that holds these words. */
static void assert_fails(struct problem *p, rb_error code, const char *words) {
    assert_error(p->ctx, try_fit(p), code, words);
}

static void comes_every_so_many_iterations(void **state) {
    struct problem *p = *state;
    bool there;
    rb_checkpoint_info info = {.size = sizeof info};
    assert_ok(p->ctx, rb_checkpoint_read(p->ctx, p->path, &there, &info));
    assert_false(there);
    p->fit.seed = 12;
    assert_ok(p->ctx, try_fit(p));
    assert_ok(p->ctx, rb_checkpoint_read(p->ctx, p->path, &there, &info));
    assert_true(there);
    assert_int_equal(info.iteration, 8);
    assert_int_equal(info.restart, 0);
    assert_int_equal(info.seed, 12);
}

static void comes_after_a_time(void **state) {
    struct problem *p = *state;
    p->checkpoint.checkpoint_every = "1h";
    assert_ok(p->ctx, try_fit(p));
    assert_int_not_equal(access(p->path, F_OK), 0);
    p->checkpoint.checkpoint_every = "1e-9s";
    assert_ok(p->ctx, try_fit(p));
    bool there;
    rb_checkpoint_info info = {.size = sizeof info};
    assert_ok(p->ctx, rb_checkpoint_read(p->ctx, p->path, &there, &info));
    assert_int_equal(info.iteration, 10);
    info.size = 0;
    assert_error(p->ctx, rb_checkpoint_read(p->ctx, p->path, &there, &info), RB_ERROR_ARGUMENT,
                 "the rb_checkpoint_info has");
}

static void reads_times(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
        bool unit;
    } good[] = {{"90", 90, false},  {"1.5m", 90, true},    {"2min", 120, true},
                {"1h", 3600, true}, {"0.5d", 43200, true}, {"7s", 7, true}};
    static const char *const bad[] = {"", "s", "-1s", "1x", "1 s", "nan", "infs", "1ss"};
    double seconds;
    bool unit;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(rb_parse_seconds(good[i].text, &seconds, &unit));
        assert_true(seconds == good[i].seconds && unit == good[i].unit);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rb_parse_seconds(bad[i], &seconds, &unit));
}

static void refuses_other_intervals(void **state) {
    struct problem *p = *state;
    static const char *const bad[] = {"0", "1.5", "often", "0s", "-3", "1e300"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p->checkpoint.checkpoint_every = bad[i];
        assert_fails(p, RB_ERROR_ARGUMENT, "`checkpoint-every` is '");
    }
}

/* Writes the checkpoint of a fit that is interrupted after so many iterations of all restarts. */
static rb_error stop_after(const rb_progress *progress, void *user) {
    return progress->iteration == *(const int64_t *)user ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void interrupt_after(struct problem *p, int64_t iterations) {
    rb_context_on_progress(p->ctx, stop_after, &iterations);
    assert_ok(p->ctx, try_fit(p));
    rb_context_on_progress(p->ctx, NULL, NULL);
}

/* So it is where nothing is left to be done but to take the best of its restarts, or fewer are
 * asked for than it has made. */
static void refuses_another_fit_of_restarts(void **state) {
    struct problem *p = *state;
    p->fit.restarts = 4;
    p->fit.seed = 3;
    interrupt_after(p, 35);
    p->fit.restarts = 1;
    assert_fails(p, RB_ERROR_ARGUMENT, "where restarts is '4' instead of '1'");
    p->fit.restarts = 4;
    p->rfn.units = 2;
    assert_fails(p, RB_ERROR_ARGUMENT, "where units is '3' instead of '2'");
    p->rfn.units = UNITS;
    p->fit.seed = 4;
    assert_fails(p, RB_ERROR_ARGUMENT, "where seed is '3' instead of '4'");
    p->fit.seed = 3;
    double value = p->values[5];
    p->values[5] += 1;
    assert_fails(p, RB_ERROR_ARGUMENT, "where data_checksum is '");
    p->values[5] = value;
    rb_et_options et;
    rb_et_options_default(&et);
    rb_model *model;
    assert_int_equal(
        rb_fit(p->ctx, fixture_options(p->ctx, "mca", &et, &p->fit, NULL), p->source, NULL, &model),
        RB_ERROR_ARGUMENT);
    assert_null(model);
    assert_ok(p->ctx, try_fit(p));
}

/* Files that options name may have another content. */
static void refuses_other_values_of_a_file(void **state) {
    struct problem *p = *state;
    double mean[UNITS] = {-0.5, 0, 0.25}, variance[UNITS] = {1, 2, 0.5};
    rb_matrix *means, *variances;
    assert_ok(p->ctx, rb_matrix_dense(p->ctx, RB_FLOAT64, UNITS, 1, mean, 1, 1, &means));
    assert_ok(p->ctx, rb_matrix_dense(p->ctx, RB_FLOAT64, UNITS, 1, variance, 1, 1, &variances));
    p->rfn.prior_mean = (rb_values){.file = "mean.npy", .matrix = means};
    p->rfn.prior_covariance = (rb_values){.file = "variance.npy", .matrix = variances};
    interrupt_after(p, 5);
    mean[1] = 0.125;
    assert_fails(p, RB_ERROR_ARGUMENT, "where prior-mean_checksum is '");
    mean[1] = 0;
    variance[2] = 0.75;
    assert_fails(p, RB_ERROR_ARGUMENT, "where prior-covariance_checksum is '");
    variance[2] = 0.5;
    assert_ok(p->ctx, try_fit(p));
    rb_matrix_free(means);
    rb_matrix_free(variances);
}

/* The same stored values in other columns, or in other rows, are other data. */
static void refuses_other_sparse_data(void **state) {
    struct problem *p = *state;
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const struct {
        int64_t starts[7];
        int32_t columns[8];
    } data[] = {{{0, 2, 3, 4, 5, 7, 8}, {0, 1, 0, 2, 1, 0, 2, 1}},
                {{0, 2, 3, 4, 5, 7, 8}, {0, 1, 0, 2, 2, 0, 2, 1}},
                {{0, 1, 3, 4, 5, 7, 8}, {0, 0, 1, 2, 1, 0, 2, 1}}};
    rb_error wanted[] = {RB_OK, RB_ERROR_ARGUMENT, RB_ERROR_ARGUMENT};
    int64_t after = 5;
    for (int d = 0; d < 6; d++) {
        rb_matrix *matrix;
        rb_source *source;
        rb_model *model;
        assert_ok(p->ctx, rb_matrix_csr(p->ctx, RB_FLOAT64, 6, 3, data[d % 3].starts,
                                        data[d % 3].columns, ones, &matrix));
        assert_ok(p->ctx, rb_source_from_matrix(p->ctx, matrix, &source));
        rb_context_on_progress(p->ctx, d == 0 ? stop_after : NULL, &after);
        assert_int_equal(rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL),
                                source, NULL, &model),
                         d == 0 ? RB_OK : wanted[d % 3]);
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
}

/* ---- what a file can hold ---- */

/* An array of one column, or a vector in the history. */
static void edit(struct problem *p, const char *path, bool integers, int64_t count, double value) {
    rb_h5 *file;
    double values[64];
    int64_t numbers[64];
    for (int i = 0; i < 64; i++) {
        values[i] = value;
        numbers[i] = integers ? (int64_t)value : 0;
    }
    assert_ok(p->ctx, rb_h5_edit(p->ctx, p->path, p->path, RB_H5_OWN, &file));
    assert_ok(p->ctx, rb_h5_remove(file, path));
    if (integers) {
        assert_ok(p->ctx, rb_h5_put_integers(file, path, count, numbers));
    } else {
        assert_ok(p->ctx,
                  rb_h5_put_values(file, path, count, strstr(path, "history") ? -1 : 1, values));
    }
    assert_ok(p->ctx, rb_h5_close(file));
}

static void set_head(struct problem *p, const char *name, int64_t value) {
    rb_h5 *file;
    assert_ok(p->ctx, rb_h5_edit(p->ctx, p->path, p->path, RB_H5_OWN, &file));
    assert_ok(p->ctx, rb_h5_set_integer(file, "/", name, value));
    assert_ok(p->ctx, rb_h5_close(file));
}

static char *read_all(const char *path, size_t *size);
static void write_all(const char *path, const char *bytes, size_t size);

/* Values that no iteration gives are refused, wherever they stand. */
static void refuses_values_that_cannot_be(void **state) {
    struct problem *p = *state;
    static const struct {
        const char *path, *words;
        bool integers;
        int64_t count;
        double value;
    } bad[] = {
        {"state/noise", "'noise' has the value -1,", false, M, -1},
        {"state/noise", "'noise' has the value nan,", false, M, NAN},
        {"state/scale", "'scale' has the value 0,", false, UNITS, 0},
        {"state/prior_mean", "'prior_mean' has the value inf,", false, UNITS, INFINITY},
        {"state/iteration", "'iteration' has the value 6,", true, 1, 6},
        {"state/iteration", "'iteration' has the value -2e+06,", true, 1, -2e6},
        {"state/longest_step", "'longest_step' has the value 0,", false, 1, 0},
        {"state/idle_iterations", "'idle_iterations' has the value -1,", true, 1, -1},
        {"fit/history/objective", "an objective is not finite", false, 5, NAN},
        {"best/arrays/noise", "a number of the best model is not finite", false, M, NAN},
        {"best/arrays/noise", "the best model: ", false, M, -1},
        {"best/arrays/scale", "the best model: ", false, 2, 1},
        {"best/history/objective", "an objective is not finite", false, 10, INFINITY},
        {"fit/arrays/loadings", "one row per feature", false, M - 1, 1},
    };
    static const struct {
        const char *name;
        int64_t value;
    } heads[] = {{"restart", 0},   {"restart", 2},   {"restart", 9},
                 {"iteration", 4}, {"iteration", 6}, {"iteration", -1}};
    size_t size;
    p->fit.restarts = 2;
    interrupt_after(p, 15);
    char *bytes = read_all(p->path, &size);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_all(p->path, bytes, size);
        edit(p, bad[i].path, bad[i].integers, bad[i].count, bad[i].value);
        assert_fails(p, RB_ERROR_FORMAT, bad[i].words);
    }
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        write_all(p->path, bytes, size);
        set_head(p, heads[i].name, heads[i].value);
        assert_fails(p, RB_ERROR_FORMAT, "damaged");
    }
    write_all(p->path, bytes, size);
    set_head(p, "format_version", 1);
    assert_fails(p, RB_ERROR_FORMAT, "format version 1");
    write_all(p->path, bytes, size);
    assert_ok(p->ctx, try_fit(p));
    free(bytes);
}

/* ---- one at a time ---- */

struct second {
    struct problem *p;
    int tried;
};

static rb_error try_a_second(const rb_progress *progress, void *user) {
    struct second *second = user;
    struct problem *p = second->p;
    rb_context *other = fixture_context();
    rb_source *source = fixture_data(other, p->values, N, M);
    (void)progress;
    fixture_refused(other, "rfn", &p->rfn, &p->fit, NULL, source, NULL, RB_ERROR_FILE,
                    "is being written by another process");
    rb_source_free(source);
    rb_context_free(other);
    second->tried++;
    return RB_OK;
}

/* Another fit with the same checkpoint is refused, by whatever name; afterwards nothing is left. */
static void is_of_one_fit_at_a_time(void **state) {
    struct problem *p = *state;
    struct second second = {p, 0};
    char link[128], lock[160];
    snprintf(link, sizeof link, "%s/link.h5", p->folder);
    snprintf(lock, sizeof lock, "%s/.c.h5.lock", p->folder);
    assert_ok(p->ctx, try_fit(p));
    assert_int_equal(symlink("c.h5", link), 0);
    p->checkpoint.checkpoint = link;
    rb_context_on_progress(p->ctx, try_a_second, &second);
    assert_ok(p->ctx, try_fit(p));
    rb_context_on_progress(p->ctx, NULL, NULL);
    assert_int_equal(second.tried, 2); /* from iteration 8 on */
    unlink(link);
    assert_int_not_equal(access(lock, F_OK), 0);
}

/* The lock of a process that was killed holds nobody up. */
static void a_killed_process_holds_no_lock(void **state) {
    struct problem *p = *state;
    char path[160];
    rb_lock *lock;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        char done = rb_lock_take(p->ctx, p->path, &lock) == RB_OK && lock;
        (void)!write(ready[1], &done, 1);
        pause();
    }
    char done = 0;
    assert_int_equal(read(ready[0], &done, 1), 1);
    assert_true(done);
    assert_fails(p, RB_ERROR_FILE, "is being written by another process");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    snprintf(path, sizeof path, "%s/.c.h5.lock", p->folder);
    assert_int_equal(access(path, F_OK), 0);
    assert_ok(p->ctx, try_fit(p));
    assert_int_not_equal(access(path, F_OK), 0);
    close(ready[0]);
    close(ready[1]);
}

/* A checkpoint goes on with its own fit only. */
static void refuses_another_fit(void **state) {
    struct problem *p = *state;
    assert_ok(p->ctx, try_fit(p));
    p->rfn.eta = 0.25;
    assert_fails(p, RB_ERROR_ARGUMENT, "where eta is '0.5' instead of '0.25'");
    p->rfn.eta = 0.5;
    p->fit.iterations = 11;
    assert_fails(p, RB_ERROR_ARGUMENT, "where iterations is '10' instead of '11'");
    p->fit.iterations = 10;
    double value = p->values[5];
    p->values[5] += 1;
    assert_fails(p, RB_ERROR_ARGUMENT, "where data_checksum is '");
    p->values[5] = value;
    fixture_checkpoint = NULL;
    rb_model *start = fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL);
    fixture_checkpoint = &p->checkpoint;
    fixture_refused(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, start, RB_ERROR_ARGUMENT,
                    "of a fit that started from no model");
    rb_model_free(start);
    rb_et_options et;
    rb_et_options_default(&et);
    fixture_refused(p->ctx, "linca", &et, &p->fit, NULL, p->source, NULL, RB_ERROR_ARGUMENT,
                    "where the method is 'rfn'");
    assert_ok(p->ctx, try_fit(p));
}

static void refuses_other_files(void **state) {
    struct problem *p = *state;
    FILE *file = fopen(p->path, "w");
    fputs("no HDF5", file);
    fclose(file);
    assert_fails(p, RB_ERROR_FORMAT, "remove the checkpoint to start anew");
    fixture_checkpoint = NULL;
    rb_model *model = fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL);
    fixture_checkpoint = &p->checkpoint;
    assert_ok(p->ctx, rb_model_save(p->ctx, model, p->path));
    rb_model_free(model);
    assert_fails(p, RB_ERROR_FORMAT, "not a checkpoint of rarebit");
}

static char *read_all(const char *path, size_t *size) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    char *bytes = malloc((size_t)info.st_size);
    FILE *file = fopen(path, "rb");
    *size = fread(bytes, 1, (size_t)info.st_size, file);
    fclose(file);
    return bytes;
}

static void write_all(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Cut short anywhere, or with any byte changed, it fails with a message, or gives the same end: a
 * byte that nobody reads may differ. */
static void survives_damage(void **state) {
    struct problem *p = *state;
    rb_model *whole, *model;
    fixture_checkpoint = NULL;
    whole = fixture_model(p->ctx, "rfn", &p->rfn, &p->fit, NULL, p->source, NULL);
    fixture_checkpoint = &p->checkpoint;
    assert_ok(p->ctx, try_fit(p));
    size_t size;
    char *bytes = read_all(p->path, &size);
    for (size_t cut = 0; cut < size; cut += size / 40 + 1) {
        write_all(p->path, bytes, cut);
        assert_fails(p, RB_ERROR_FORMAT, p->path);
    }
    int failed = 0, tried = 0;
    for (size_t at = 3; at < size; at += 97, tried++) {
        bytes[at] ^= 0x10;
        write_all(p->path, bytes, size);
        bytes[at] ^= 0x10;
        rb_error err = rb_fit(p->ctx, fixture_options(p->ctx, "rfn", &p->rfn, &p->fit, NULL),
                              p->source, NULL, &model);
        if (!err) {
            fixture_same_array(model, whole, "loadings");
        } else {
            assert_true(*rb_context_error(p->ctx));
            failed++;
        }
        rb_model_free(model);
    }
    assert_true(failed > tried / 4);
    rb_model_free(whole);
    free(bytes);
}

/* What cannot be written is a warning; the file of before stays. */
static void goes_on_without(void **state) {
    struct problem *p = *state;
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/none/c.h5", p->folder);
    p->checkpoint.checkpoint = nowhere;
    assert_ok(p->ctx, try_fit(p));
    assert_non_null(strstr(p->warning, "no checkpoint after iteration 8"));
    assert_non_null(strstr(p->warning, "no checkpoint after iteration"));
}

/* While the disk takes nothing more. */
static rb_error fill_disk(const rb_progress *progress, void *user) {
    char *temporary = user;
    if (progress->iteration == 5)
        assert_int_equal(mkdir(temporary, 0700), 0); /* nothing can be written there */
    return RB_OK;
}

static void keeps_the_old_one(void **state) {
    struct problem *p = *state;
    char temporary[160];
    bool there;
    rb_checkpoint_info info = {.size = sizeof info};
    snprintf(temporary, sizeof temporary, "%s/.c.h5.tmp", p->folder);
    rb_context_on_progress(p->ctx, fill_disk, temporary);
    assert_ok(p->ctx, try_fit(p));
    rb_context_on_progress(p->ctx, NULL, NULL);
    assert_non_null(strstr(p->warning, "no checkpoint after iteration 8"));
    assert_int_equal(rmdir(temporary), 0);
    assert_ok(p->ctx, rb_checkpoint_read(p->ctx, p->path, &there, &info));
    assert_true(there);
    assert_int_equal(info.iteration, 4);
    assert_ok(p->ctx, try_fit(p));
}

static rb_error never(rb_context *ctx, void *state, const struct rb_block *block) {
    (void)ctx, (void)state, (void)block;
    return RB_OK;
}

/* A method that keeps no list of its arrays is refused. */
static void needs_a_method_that_can(void **state) {
    struct problem *p = *state;
    rb_method other = *rb_context_method(p->ctx, 0);
    other.name = "other";
    other.parts = NULL;
    other.survey = never;
    assert_ok(p->ctx, rb_context_add_method(p->ctx, &other));
    rb_model *model;
    assert_int_equal(rb_fit(p->ctx, fixture_options(p->ctx, "other", NULL, &p->fit, NULL),
                            p->source, NULL, &model),
                     RB_ERROR_UNSUPPORTED);
    assert_null(model);
}

/* Without memory nothing is left behind, whether or not there is a checkpoint to go on from. */
static void without_memory(void **state) {
    struct problem *p = *state;
    p->fit.restarts = 2;
    p->fit.iterations = 4;
    p->checkpoint.checkpoint_every = "3";
    for (int round = 0; round < 2; round++) {
        for (int64_t n = 0;; n++) {
            if (round == 0) unlink(p->path);
            p->warning[0] = '\0';
            p->ctx->allocations_left = n;
            rb_error err = try_fit(p);
            p->ctx->allocations_left = -1;
            if (!err && !*p->warning) break;
            assert_true(err == RB_ERROR_MEMORY || (!err && *p->warning));
        }
    }
}

/* The core alone knows no file; a context is told where checkpoints go. */
static void needs_a_store(void **state) {
    struct problem *p = *state;
    p->ctx->checkpoints = NULL;
    assert_fails(p, RB_ERROR_UNSUPPORTED, "rb_io_use");
    rb_io_use(p->ctx);
    assert_ok(p->ctx, try_fit(p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_every_so_many_iterations),
        cmocka_unit_test(comes_after_a_time),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(refuses_other_intervals),
        cmocka_unit_test(refuses_another_fit),
        cmocka_unit_test(refuses_another_fit_of_restarts),
        cmocka_unit_test(refuses_other_values_of_a_file),
        cmocka_unit_test(refuses_other_sparse_data),
        cmocka_unit_test(refuses_values_that_cannot_be),
        cmocka_unit_test(is_of_one_fit_at_a_time),
        cmocka_unit_test(a_killed_process_holds_no_lock),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(goes_on_without),
        cmocka_unit_test(keeps_the_old_one),
        cmocka_unit_test(needs_a_method_that_can),
        cmocka_unit_test(needs_a_store),
        cmocka_unit_test(without_memory),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
