/* The consensus of models: by hand-made ones, and by fits. */
#include "fixture.h"
#include "study/study.h"
#include <rarebit/io.h>

#include <pthread.h>
#include <rarebit/consensus.h>
#include <rarebit/rerun.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 60, M = 12, UNITS = 3 };

/* A model with noise 1 whose unit j has the loadings of pattern `patterns[j]`: features j, j + 4,
 * ... are 1; of a pattern below 0 one feature alone is. */
static rb_model *model_of(rb_context *ctx, const char *method, int units, const int *patterns,
                          int m) {
    rb_model *model;
    rb_preprocess *p = calloc(1, sizeof *p);
    const rb_method *known = rb_find_method(ctx, method);
    assert_non_null(known);
    assert_non_null(p);
    p->n_input = p->n_features = m;
    p->centre = calloc((size_t)m, sizeof(double));
    p->scale = calloc((size_t)m, sizeof(double));
    for (int k = 0; k < m; k++)
        p->scale[k] = 1;
    assert_ok(ctx, rb_model_new(ctx, known, RB_FLOAT64, p, &model));
    double *w = rb_model_add_array(ctx, model, "loadings", m, units);
    double *noise = rb_model_add_array(ctx, model, "noise", m, 1);
    double *scale = rb_model_add_array(ctx, model, "scale", units, 1);
    double *mean = rb_model_add_array(ctx, model, "prior_mean", units, 1);
    assert_non_null(rb_model_add_array(ctx, model, "dead", units, 1));
    for (int k = 0; k < m; k++)
        noise[k] = 0.25 * units;
    for (int j = 0; j < units; j++) {
        scale[j] = 1 + patterns[j];
        mean[j] = -patterns[j];
        for (int k = 0; k < m; k++)
            w[k * units + j] = patterns[j] < 0 ? k == -4 * patterns[j] - 1 : k % 4 == patterns[j];
    }
    return model;
}

static double value(const rb_model *model, const char *name, int64_t row, int64_t column) {
    int64_t rows, columns;
    const double *values = rb_model_array(model, name, &rows, &columns);
    assert_non_null(values);
    assert_in_range(row, 0, rows - 1);
    assert_in_range(column, 0, columns - 1);
    return values[row * columns + column];
}

static rb_options *options_of(rb_context *ctx, const char *text) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_consensus_group()));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    return options;
}

/* Of so many models, with options as text. */
static rb_error merge(rb_context *ctx, rb_model **models, int64_t count, rb_source *source,
                      const char *text, rb_model **model) {
    rb_options *options = options_of(ctx, text);
    rb_error err =
        rb_consensus(ctx, (const rb_model *const *)models, count, source, options, model);
    rb_options_free(options);
    return err;
}

static void free_models(rb_model **models, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        rb_model_free(models[i]);
}

/* Where codes have signs a unit that is turned over is the same, and is turned back in a mean. */
static void signs_of_units_say_nothing(void **state) {
    rb_context *ctx = *state;
    for (int signs = 0; signs < 2; signs++) {
        rb_model *models[2], *model;
        for (int i = 0; i < 2; i++) {
            models[i] = model_of(ctx, signs ? "fa" : "rfn", 2, (int[]){0, 1}, M);
            double *w = rb_model_add_array(ctx, models[i], "loadings", M, 2);
            for (int k = 0; k < M; k++) {
                w[2 * k] = (i ? -1 : 1) * (k % 4 == 0);
                w[2 * k + 1] = k % 4 == 1;
            }
        }
        assert_ok(ctx, merge(ctx, models, 2, NULL, "stability=0.9 representative=mean", &model));
        assert_int_equal(rb_model_units(model), signs ? 2 : 1);
        for (int k = 0; k < M && signs; k++)
            assert_close(fabs(value(model, "loadings", k, 0) + value(model, "loadings", k, 1)),
                         k % 4 < 2, 1e-12);
        rb_model_free(model);
        free_models(models, 2);
    }
}

/* Three runs: patterns 0 and 1 are in all of them, in another order; 2 in two; noise in each. */
static void keeps_what_the_runs_share(void **state) {
    rb_context *ctx = *state;
    rb_model *models[] = {model_of(ctx, "rfn", 3, (int[]){0, 1, -1}, M),
                          model_of(ctx, "rfn", 4, (int[]){-2, 1, 2, 0}, M),
                          model_of(ctx, "rfn", 4, (int[]){2, 1, 0, -3}, M)};
    rb_model *model;
    for (int i = 0; i < 3; i++)
        assert_ok(ctx, rb_model_set_attribute(ctx, models[i], "seed", i == 0 ? "5" : "6"));
    assert_ok(ctx, merge(ctx, models, 3, NULL, "stability=0.7", &model));
    assert_int_equal(rb_model_units(model), 2);
    for (int j = 0; j < 2; j++) {
        assert_close(value(model, "stability", j, 0), 1, 1e-12);
        assert_close(value(model, "scale", j, 0), 1 + j, 1e-12);
        assert_true(value(model, "prior_mean", j, 0) == -j);
        for (int k = 0; k < M; k++)
            assert_true(value(model, "loadings", k, j) == (k % 4 == j));
    }
    assert_close(value(model, "noise", 0, 0), 0.25 * 11 / 3, 1e-12); /* of all models */
    assert_close(value(model, "dropped_stability", 0, 0), 2.0 / 3, 1e-12);
    assert_string_equal(rb_model_attribute(model, "consensus_models"), "3");
    assert_string_equal(rb_model_attribute(model, "units"), "2");
    assert_string_equal(rb_model_attribute(model, "seed"), "5"); /* of the first unit's model */
    rb_model_free(model);

    assert_ok(ctx, merge(ctx, models, 3, NULL, "stability=0.6", &model));
    assert_int_equal(rb_model_units(model), 3);
    assert_close(value(model, "stability", 2, 0), 2.0 / 3, 1e-12);
    rb_model_free(model);
    free_models(models, 3);
}

/* Two units of one run in a cluster are one run. */
static void counts_runs_not_units(void **state) {
    rb_context *ctx = *state;
    rb_model *models[] = {model_of(ctx, "rfn", 3, (int[]){0, 0, 1}, M),
                          model_of(ctx, "rfn", 2, (int[]){1, -2}, M)};
    rb_model *model;
    assert_ok(ctx, merge(ctx, models, 2, NULL, "", &model));
    assert_int_equal(rb_model_units(model), 1);
    assert_true(value(model, "scale", 0, 0) == 2);
    rb_model_free(model);
    free_models(models, 2);
}

/* `sign`: of the second model's unit beside that of the first. */
static void similarity_of(rb_context *ctx, const char *method, int sign) {
    rb_model *models[] = {model_of(ctx, method, 1, (int[]){0}, M),
                          model_of(ctx, method, 1, (int[]){0}, M)};
    double *w = (double *)rb_model_array(models[1], "loadings", NULL, NULL);
    w[1] = 1.5;
    for (int k = 0; k < M; k++)
        w[k] *= sign;
    for (int by_codes = 0; by_codes < 2; by_codes++) {
        rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
        double values[N * M], sums[5] = {0}, cosine = 3 / sqrt(3 * 5.25);
        for (int e = 0; e < N * M; e++)
            values[e] = (e % M == 1 ? by_codes ? 1.3 : 0.1 : 1) * rb_draw_normal(&draws);
        rb_source *source = fixture_data(ctx, values, N, M);
        double *x = fixture_codes(ctx, models[0], source);
        double *y = fixture_codes(ctx, models[1], source);
        for (int i = 0; i < N; i++) {
            const double terms[] = {x[i], y[i], x[i] * x[i], y[i] * y[i], x[i] * y[i]};
            for (int t = 0; t < 5; t++)
                sums[t] += terms[t] / N;
        }
        double correlation = sign * (sums[4] - sums[0] * sums[1]) /
                             sqrt((sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1]));
        assert_true(correlation > 0.5 && (correlation < cosine - 0.02) == by_codes);
        rb_model *model;
        assert_ok(ctx, merge(ctx, models, 2, source, "stability=0.5", &model));
        assert_close(value(model, "stability", 0, 0), (1 + fmin(cosine, correlation)) / 2, 1e-5);
        rb_model_free(model);
        free(x);
        free(y);
        rb_source_free(source);
    }
    free_models(models, 2);
}

/* With data the smaller of two similarities counts: cosine of loadings, correlation of codes. Where
 * codes have signs, of a unit that is turned over as well. */
static void similarity_is_the_smaller_one(void **state) {
    rb_context *ctx = *state;
    similarity_of(ctx, "rfn", 1);
    similarity_of(ctx, "fa", 1);
    similarity_of(ctx, "fa", -1);
}

/* A model counts for a unit by the cosine of its own with it, and not at all below 0.5. */
static void counts_by_similarity(void **state) {
    rb_context *ctx = *state;
    rb_model *models[3], *model;
    const double other[] = {0, 1.5, 4}; /* beside three loadings of 1 */
    for (int i = 0; i < 3; i++) {
        models[i] = model_of(ctx, "rfn", 1, (int[]){0}, M);
        ((double *)rb_model_array(models[i], "loadings", NULL, NULL))[1] = other[i];
    }
    /* Cosines: 0.756 of the first two, 0.397 and 0.866 of the third with them. */
    assert_ok(ctx, merge(ctx, models, 3, NULL, "stability=0.5", &model));
    assert_int_equal(rb_model_units(model), 1);
    double first = 3 / sqrt(3 * 5.25), third = (3 + 1.5 * 4) / sqrt(5.25 * 19);
    assert_close(value(model, "loadings", 1, 0), 1.5, 1e-12);
    assert_close(value(model, "stability", 0, 0), (1 + first + third) / 3, 1e-6);
    rb_model_free(model);
    /* Without the second one they are two units of one model each. */
    rb_model *apart[] = {models[0], models[2]};
    assert_int_equal(merge(ctx, apart, 2, NULL, "stability=0.6", &model), RB_ERROR_DATA);
    free_models(models, 3);
}

/* A unit of one model that is like a stable one does not borrow the other models' units; one that
 * all models have beside it is stable itself. */
static void counts_each_unit_once(void **state) {
    rb_context *ctx = *state;
    rb_model *models[3], *model;
    for (int beside = 1; beside <= 3; beside += 2) {
        for (int i = 0; i < 3; i++) {
            models[i] = model_of(ctx, "rfn", 2, (int[]){0, i < beside ? 0 : -3 - i}, M);
            double *w = (double *)rb_model_array(models[i], "loadings", NULL, NULL);
            if (i < beside) w[1 * 2 + 1] = 1.5; /* a cosine of 0.756 */
        }
        assert_ok(ctx, merge(ctx, models, 3, NULL, "", &model));
        assert_int_equal(rb_model_units(model), beside == 1 ? 1 : 2);
        for (int64_t j = 0; j < rb_model_units(model); j++)
            assert_close(value(model, "stability", j, 0), 1, 1e-12);
        assert_true(value(model, "loadings", 1, 0) == 0);
        if (beside == 3) assert_true(value(model, "loadings", 1, 1) == 1.5);
        rb_model_free(model);
        free_models(models, 3);
    }
}

static void takes_the_medoid_or_the_mean(void **state) {
    rb_context *ctx = *state;
    rb_model *models[3], *model;
    for (int i = 0; i < 3; i++) {
        models[i] = model_of(ctx, "rfn", 1, (int[]){0}, M);
        /* The second one lies between the others. */
        ((double *)rb_model_array(models[i], "loadings", NULL, NULL))[1] = 0.3 * i;
    }
    assert_ok(ctx, merge(ctx, models, 3, NULL, "", &model));
    assert_close(value(model, "loadings", 1, 0), 0.3, 1e-12);
    rb_model_free(model);
    ((double *)rb_model_array(models[2], "loadings", NULL, NULL))[1] = 0.9;
    assert_ok(ctx, merge(ctx, models, 3, NULL, "representative=mean", &model));
    assert_close(value(model, "loadings", 1, 0), 0.4, 1e-12);
    rb_model_free(model);
    free_models(models, 3);
}

static void refused(rb_context *ctx, rb_model **models, int64_t count, const char *options,
                    const char *words) {
    rb_model *model;
    assert_int_not_equal(merge(ctx, models, count, NULL, options, &model), RB_OK);
    assert_null(model);
    if (!strstr(rb_context_error(ctx), words))
        fail_msg("'%s' lacks '%s'", rb_context_error(ctx), words);
}

static void refuses_what_has_no_consensus(void **state) {
    rb_context *ctx = *state;
    rb_model *models[] = {
        model_of(ctx, "rfn", 1, (int[]){0}, M), model_of(ctx, "rfn", 1, (int[]){1}, M),
        model_of(ctx, "linca", 1, (int[]){0}, M), model_of(ctx, "rfn", 1, (int[]){0}, 8)};
    rb_model *others[] = {models[0], models[2], models[0], models[3]};
    refused(ctx, models, 1, "", "at least two models");
    refused(ctx, others, 2, "", "is of method 'linca'");
    refused(ctx, others + 2, 2, "", "other features");
    refused(ctx, models, 2, "", "the most stable one has 0.5: there may be nothing to find");
    refused(ctx, models, 2, "refit=5", "without `data`");
    assert_non_null(rb_model_add_array(ctx, models[1], "prior_covariance", 1, 1));
    refused(ctx, models, 2, "", "the array 'prior_covariance'");
    free_models(models, 4);
}

static int setup(void **state) {
    *state = fixture_problem(fixture_values(N, M, UNITS, 1), N, M);
    return 0;
}

/* Each allocation fails once: a sentence, and nothing is left. */
static void no_memory(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_model *models[] = {model_of(ctx, "rfn", 3, (int[]){0, 1, 2}, M),
                          model_of(ctx, "rfn", 2, (int[]){1, 0}, M)};
    rb_options *options = options_of(ctx, "refit=2 similarity=0.2 stability=0.3");
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_model *model;
        err = rb_consensus(ctx, (const rb_model *const *)models, 2, source, options, &model);
        assert_true((err == RB_OK) == (model != NULL));
        rb_model_free(model);
    }
    assert_true(n > 50);
    rb_options_free(options);
    free_models(models, 2);
}

/* ---- fits ---- */

static rb_options *fit_options(rb_context *ctx, const char *method, const char *text) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_consensus_group()));
    assert_ok(ctx, rb_options_set_all(ctx, options, "seed=3 %s", text));
    return options;
}

static void same_model(const rb_model *a, const rb_model *b) {
    assert_int_equal(rb_model_units(a), rb_model_units(b));
    fixture_same_arrays(a, b);
}

static const char *const rfn = "units=4 restarts=5 iterations=40 precision=float64 stability=0.6";

/* The restarts are those of rb_fit, and the same for any number of threads. */
static void is_the_same_for_any_number_of_threads(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_options *options = fit_options(ctx, "rfn", rfn);
    rb_model *models[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(ctx, rb_context_set_threads(ctx, 1 + i));
        assert_ok(ctx, rb_fit_consensus(ctx, options, source, &models[i]));
        same_model(models[0], models[i]);
    }
    assert_in_range(rb_model_units(models[0]), 1, 4);
    double *codes = fixture_codes(ctx, models[0], source);
    free(codes);
    free_models(models, 3);
    rb_options_free(options);
}

static void a_refit_keeps_the_units(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_options *options = fit_options(ctx, "rfn", rfn);
    rb_model *before, *after;
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &before));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "refit", 1));
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &after));
    assert_int_equal(rb_model_iterations(after), 1);
    rb_model_free(after);
    assert_ok(ctx, rb_options_set_integer(ctx, options, "refit", 10));
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &after));
    assert_int_equal(rb_model_iterations(before), 0);
    assert_int_equal(rb_model_iterations(after), 10);
    assert_int_equal(rb_model_units(after), rb_model_units(before));
    for (int64_t j = 0; j < rb_model_units(after); j++) {
        double xx = 0, xy = 0, yy = 0;
        for (int64_t k = 0; k < M; k++) {
            double x = value(before, "loadings", k, j), y = value(after, "loadings", k, j);
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
        assert_true(xy > 0.7 * sqrt(xx * yy));
        assert_true(value(before, "stability", j, 0) == value(after, "stability", j, 0));
    }
    rb_model_free(before);
    rb_model_free(after);
    rb_options_free(options);
}

static void models_of_binary_causes_have_one_too(void **state) {
    static const char *const methods[] = {"linca", "nmf-et", "mca"};
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    for (int i = 0; i < N * M; i++)
        p->values[i] = fabs(p->values[i]);
    for (int i = 0; i < 3; i++) {
        rb_options *options = fit_options(ctx, methods[i],
                                          "units=3 restarts=3 iterations=20 stability=0.3 "
                                          "similarity=0.3");
        rb_model *model;
        assert_ok(ctx, rb_fit_consensus(ctx, options, source, &model));
        assert_true(value(model, "sigma", 0, 0) > 0);
        double *codes = fixture_codes(ctx, model, source);
        free(codes);
        rb_model_free(model);
        rb_options_free(options);
    }
}

/* A journal gives the models of before; one of other options is refused. */
static void goes_on_from_a_journal(void **state) {
    char path[] = "/tmp/rarebit-consensus-XXXXXX";
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_options *options = fit_options(ctx, "rfn", rfn);
    rb_model *plain, *kept, *again, *other;
    struct stat before, after;
    close(mkstemp(path));
    unlink(path);
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &plain));
    assert_ok(ctx, rb_options_set(ctx, options, "checkpoint", path));
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &kept));
    assert_int_equal(stat(path, &before), 0);
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &again));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size); /* no fit was made */
    same_model(plain, kept);
    same_model(plain, again);
    assert_ok(ctx, rb_options_set_integer(ctx, options, "iterations", 41));
    assert_int_equal(rb_fit_consensus(ctx, options, source, &other), RB_ERROR_ARGUMENT);
    assert_null(other);
    unlink(path);
    rb_model_free(plain);
    rb_model_free(kept);
    rb_model_free(again);
    rb_options_free(options);
}

static rb_error stop_after_three(const rb_progress *progress, void *user) {
    (void)user;
    return progress->iteration >= 3 ? RB_ERROR_INTERRUPTED : RB_OK;
}

static rb_error stop_at_once(const rb_progress *progress, void *user) {
    (void)progress;
    (void)user;
    return RB_ERROR_INTERRUPTED;
}

typedef struct late {
    rb_context *ctx;
    atomic_bool fitted;
    long microseconds;
} late;

static rb_error tell_the_last(const rb_progress *progress, void *user) {
    late *l = user;
    if (progress->iteration == progress->iterations) atomic_store(&l->fitted, true);
    return RB_OK;
}

static void *stop_late(void *user) {
    late *l = user;
    while (!atomic_load(&l->fitted))
        usleep(10);
    usleep((useconds_t)l->microseconds);
    rb_context_stop(l->ctx);
    return NULL;
}

/* Asked to stop while the fits are compared, it is that of all. */
static void stopped_late_it_is_one_of_all(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_options *options = fit_options(ctx, "rfn", rfn);
    rb_model *whole, *stopped;
    assert_ok(ctx, rb_options_set_all(ctx, options, "restarts=40 iterations=5"));
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &whole));
    for (int i = 0; i < 20; i++) {
        late l = {.ctx = ctx, .microseconds = 100 * i};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_late, &l), 0);
        rb_context_on_progress(ctx, tell_the_last, &l);
        rb_error err = rb_fit_consensus(ctx, options, source, &stopped);
        pthread_join(thread, NULL);
        rb_context_on_progress(ctx, NULL, NULL);
        rb_context_clear_stop(ctx);
        assert_ok(ctx, err);
        same_model(whole, stopped);
        rb_model_free(stopped);
    }
    rb_model_free(whole);
    rb_options_free(options);
}

/* Asked to stop, it is the consensus of the fits that are done, as of so many restarts, and can be
 * made again; of one there is none. */
static void stopped_it_is_one_of_those_done(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    rb_options *options = fit_options(ctx, "rfn", rfn);
    rb_model *stopped, *three, *again, *none;
    assert_ok(ctx, rb_options_set_integer(ctx, options, "refit", 5));
    rb_context_on_progress(ctx, stop_after_three, NULL);
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &stopped));
    assert_int_equal(rb_model_status(stopped), RB_STATUS_STOPPED);
    assert_int_equal(rb_model_iterations(stopped), 0); /* no refit */
    assert_string_equal(rb_model_attribute(stopped, "consensus_models"), "3");
    assert_int_equal(rb_fit_consensus(ctx, options, source, &none), RB_ERROR_STOPPED);
    rb_context_clear_stop(ctx);

    rb_context_on_progress(ctx, stop_at_once, NULL);
    assert_int_equal(rb_fit_consensus(ctx, options, source, &none), RB_ERROR_STOPPED);
    assert_null(none);
    rb_context_clear_stop(ctx);
    rb_context_on_progress(ctx, NULL, NULL);

    assert_ok(ctx, rb_options_set_all(ctx, options, "restarts=3 refit=0"));
    assert_ok(ctx, rb_fit_consensus(ctx, options, source, &three));
    same_model(stopped, three);
    assert_ok(ctx, rb_rerun(ctx, stopped, NULL, source, NULL, &again));
    same_model(stopped, again);
    /* others than the first ones are named, and not made again */
    assert_ok(ctx, rb_model_set_attribute(ctx, stopped, "consensus_of_restarts", "some"));
    assert_int_equal(rb_rerun(ctx, stopped, NULL, source, NULL, &none), RB_ERROR_UNSUPPORTED);
    rb_model_free(stopped);
    rb_model_free(three);
    rb_model_free(again);
    rb_options_free(options);
}

static rb_error count_fits(const rb_progress *progress, void *user) {
    (void)progress;
    ++*(int *)user;
    return RB_OK;
}

/* A method that begins anew always: before the first fit. */
static void refuses_a_refit_that_cannot_be(void **state) {
    struct fixture_problem *p = *state;
    rb_context *ctx = p->ctx;
    rb_source *source = p->source;
    int fits = 0;
    rb_context_on_progress(ctx, count_fits, &fits);
    for (int i = 0; i < 2; i++) {
        rb_model *model;
        rb_options *options =
            fit_options(ctx, i ? "ica" : "pca", "units=2 restarts=2 refit=3 stability=0.1");
        assert_error(ctx, rb_fit_consensus(ctx, options, source, &model), RB_ERROR_UNSUPPORTED,
                     "`refit` is 3");
        assert_null(model);
        rb_options_free(options);
    }
    assert_int_equal(fits, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_the_runs_share),
        cmocka_unit_test(signs_of_units_say_nothing),
        cmocka_unit_test(counts_runs_not_units),
        cmocka_unit_test(counts_by_similarity),
        cmocka_unit_test(similarity_is_the_smaller_one),
        cmocka_unit_test(counts_each_unit_once),
        cmocka_unit_test(takes_the_medoid_or_the_mean),
        cmocka_unit_test(refuses_what_has_no_consensus),
        cmocka_unit_test_setup_teardown(no_memory, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(is_the_same_for_any_number_of_threads, setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_refit_keeps_the_units, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(models_of_binary_causes_have_one_too, setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(goes_on_from_a_journal, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(stopped_it_is_one_of_those_done, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(stopped_late_it_is_one_of_all, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(refuses_a_refit_that_cannot_be, setup, fixture_teardown),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
