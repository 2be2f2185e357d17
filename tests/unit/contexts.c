/* Two contexts in two threads, each with two threads of its own, do all that a program does with
 * them at the same time: the same bits, and no race (the gate builds it with ThreadSanitizer). */
#include "fixture.h"
#include <rarebit/deep.h>
#include <rarebit/io.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int openblas_get_num_threads(void) __attribute__((weak));
void openblas_set_num_threads(int threads) __attribute__((weak));

enum { SAMPLES = 120, FEATURES = 40, UNITS = 6, WORKERS = 2, NUMBERS = 6 };

struct worker {
    const rb_matrix *matrix;
    const rb_model *shared; /* that both encode with */
    const char *data;       /* the same samples in a file, read block by block */
    char path[64];
    double numbers[NUMBERS];
    rb_error err;
};

static rb_error add_up(void *user, int64_t first, const rb_matrix *rows) {
    double *sum = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t k = 0; k < rb_matrix_features(rows); k++)
            *sum += (double)(first + i + 1) * (double)(k + 1) * rb_matrix_at(rows, i, k);
    return RB_OK;
}

/* Its model, to be freed, and its last objective. */
static rb_error fit(rb_context *ctx, const char *method, const char *words, rb_source *source,
                    rb_model **model, double *objective) {
    rb_options *options = NULL;
    *model = NULL;
    rb_error err = rb_options_new(ctx, method, &options);
    err = err ? err : rb_options_set_all(ctx, options, "units=%d iterations=4 %s", UNITS, words);
    err = err ? err : rb_fit(ctx, options, source, NULL, model);
    err = err ? err : rb_model_history(*model, 3, objective, NULL, NULL);
    rb_options_free(options);
    return err;
}

/* In a file of its own: fitted from a stream, saved, loaded, encoded with. */
static rb_error stream(rb_context *ctx, struct worker *w) {
    rb_source *source = NULL;
    rb_model *model = NULL, *loaded = NULL;
    rb_error err = rb_open(ctx, w->data, NULL, &source);
    err = err ? err : fit(ctx, "rfn", "", source, &model, &w->numbers[0]);
    err = err ? err : rb_model_save(ctx, model, w->path);
    err = err ? err : rb_model_load(ctx, w->path, &loaded);
    err = err ? err : rb_encode(ctx, loaded, source, add_up, &w->numbers[1]);
    rb_model_free(model);
    rb_model_free(loaded);
    rb_source_free(source);
    return err;
}

static rb_error in_memory(rb_context *ctx, struct worker *w) {
    rb_metrics *metrics = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL, *causes = NULL;
    rb_error err = rb_source_from_matrix(ctx, w->matrix, &source);
    err = err ? err : fit(ctx, "rfn", "estep=cyclic", source, &model, &w->numbers[2]);
    err = err ? err : rb_evaluate(ctx, w->shared, source, &metrics);
    w->numbers[3] = err ? 0 : rb_metrics_get(metrics, "objective");
    err = err ? err : rb_reconstruct(ctx, w->shared, source, add_up, &w->numbers[4]);
    err = err ? err : fit(ctx, "linca", "", source, &causes, &w->numbers[5]);
    rb_metrics_free(metrics);
    rb_model_free(model);
    rb_model_free(causes);
    rb_source_free(source);
    return err;
}

static void *work(void *arg) {
    struct worker *w = arg;
    rb_context *ctx;
    w->err = rb_context_new(&ctx);
    if (!w->err) {
        rb_io_use(ctx);
        w->err = rb_context_set_threads(ctx, 2);
        w->err = w->err ? w->err : stream(ctx, w);
        w->err = w->err ? w->err : in_memory(ctx, w);
        rb_context_free(ctx);
    }
    return NULL;
}

static void two_at_once(void **state) {
    (void)state;
    char data[64];
    rb_matrix *matrix;
    rb_model *shared;
    rb_context *ctx = fixture_context();
    double objective, *values = fixture_values(SAMPLES, FEATURES, 3, 1);
    rb_source *source = fixture_source(ctx, values, SAMPLES, FEATURES, &matrix);
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    snprintf(data, sizeof data, "/tmp/rarebit-contexts-%d.h5", (int)getpid());
    assert_ok(ctx, rb_write(ctx, source, data));
    assert_ok(ctx, fit(ctx, "rfn", "", source, &shared, &objective));
    if (openblas_set_num_threads) openblas_set_num_threads(2);
    for (int t = 0; t < WORKERS; t++) {
        workers[t] = (struct worker){.matrix = matrix, .shared = shared, .data = data};
        snprintf(workers[t].path, sizeof workers[t].path, "%.40s-%d", data, t);
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    }
    for (int t = 0; t < WORKERS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(workers[t].err, RB_OK);
        assert_memory_equal(workers[t].numbers, workers[0].numbers, sizeof workers[0].numbers);
        unlink(workers[t].path);
    }
    /* Whoever ends last gives the program the threads of its BLAS back. */
    assert_true(!openblas_get_num_threads || openblas_get_num_threads() == 2);
    unlink(data);
    rb_model_free(shared);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(values);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
