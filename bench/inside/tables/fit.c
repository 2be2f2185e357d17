/* A fit of the tables, on data of its own. */
#include "../../options.h"
#include "base/base.h"
#include "tables.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { PLANTED = 20 };

/* What a fit is about: instances change fastest, then methods, data sets, units, sets. */
struct job {
    const struct method *method;
    int set, dataset;
    int64_t units, instance;
};

int64_t plan_fits(const struct plan *p) {
    return (int64_t)p->n_sets * p->n_units * p->n_datasets * p->n_methods * p->instances;
}

static int take(int64_t *rest, int64_t size) {
    int place = (int)(*rest % size);
    *rest /= size;
    return place;
}

static struct job job_of(const struct plan *p, int64_t index) {
    struct job job = {.instance = take(&index, p->instances)};
    job.method = p->methods[take(&index, p->n_methods)];
    job.dataset = p->datasets[take(&index, p->n_datasets)];
    job.units = p->units[take(&index, p->n_units)];
    job.set = p->sets[index];
    return job;
}

static rb_error simulate(rb_context *ctx, const struct job *job, rb_matrix **matrix,
                         rb_modules **truth) {
    rb_options *options =
        bench_options(ctx, NULL, rb_biclusters_group(), "dataset=D%d rest-sd=%g seed=%lld",
                      job->dataset + 1, job->set ? 0.5 : 0.01, (long long)job->instance + 1);
    rb_error err = rb_simulate_biclusters(ctx, options, matrix, truth);
    rb_options_free(options);
    return err;
}

static rb_error fit(rb_context *ctx, const struct job *job, rb_source *source, rb_model **model) {
    int64_t samples = rb_source_samples(source);
    int64_t units = job->method->capped && job->units > samples ? samples : job->units;
    rb_options *options =
        bench_options(ctx, job->method->fit, NULL, "%s units=%lld seed=%lld", job->method->options,
                      (long long)units, (long long)job->instance + 1);
    rb_error err = rb_fit(ctx, options, source, NULL, model);
    rb_options_free(options);
    return err;
}

static rb_error small_codes(rb_context *ctx, const rb_model *model, rb_source *source,
                            double *percent) {
    const double small = 0.01;
    int64_t count = rb_source_samples(source) * rb_model_units(model), below = 0;
    rb_scratch scratch = {.ctx = ctx};
    double *codes = rb_take(&scratch, count, sizeof *codes);
    if (!scratch.err)
        scratch.err =
            rb_encode_into(ctx, model, source, RB_FLOAT64, codes, rb_model_units(model), 1);
    for (int64_t e = 0; e < count && !scratch.err; e++)
        below += fabs(codes[e]) < small;
    *percent = 100 * (double)below / (double)count;
    return rb_scratch_end(&scratch);
}

/* On the scale of the data, also where a method had them scaled. */
static rb_error rebuilt_error(rb_context *ctx, const rb_model *model, const rb_matrix *matrix,
                              rb_source *source, double *er) {
    int64_t n = rb_matrix_samples(matrix), m = rb_matrix_features(matrix);
    rb_scratch scratch = {.ctx = ctx};
    double *rows = rb_take(&scratch, n * m, sizeof *rows), squares = 0;
    if (!scratch.err) scratch.err = rb_reconstruct_into(ctx, model, source, RB_FLOAT64, rows, m, 1);
    for (int64_t e = 0; e < n * m && !scratch.err; e++)
        squares += pow(rows[e] - rb_matrix_at(matrix, e / m, e % m), 2);
    *er = sqrt(squares);
    return rb_scratch_end(&scratch);
}

static rb_error recovery(rb_context *ctx, const rb_model *model, rb_source *source,
                         const rb_modules *truth, double *score) {
    rb_options *options =
        bench_options(ctx, NULL, rb_modules_group(), "rule=fabia best=%d", PLANTED);
    rb_match match = {.size = sizeof match};
    rb_modules *found = NULL;
    rb_error err = rb_modules_find(ctx, model, source, options, &found);
    err = err ? err : rb_modules_match(ctx, found, truth, &match);
    if (!err) *score = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(found);
    rb_options_free(options);
    return err;
}

/* A fit has one thread, its own: what other fits and programs take does not count. */
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static rb_error measure(rb_context *ctx, const struct job *job, const rb_matrix *matrix,
                        rb_source *source, const rb_modules *truth, double *values) {
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    double seconds = processor_seconds();
    for (int k = 0; k < METRICS; k++)
        values[k] = NAN;
    rb_error err = fit(ctx, job, source, &model);
    if (err == RB_ERROR_NUMERIC) return RB_OK; /* it diverged: an instance less */
    values[SECONDS] = processor_seconds() - seconds;
    err = err ? err : rb_evaluate(ctx, model, source, &metrics);
    err = err ? err : small_codes(ctx, model, source, &values[SMALL]);
    if (!err) {
        double zeros = 100 * rb_metrics_get(metrics, "sparseness");
        values[SP] = job->method->rectified ? zeros : values[SMALL];
        values[CO] = rb_metrics_get(metrics, "covariance_error");
    }
    err = err ? err : rebuilt_error(ctx, model, matrix, source, &values[ER]);
    err = err ? err : recovery(ctx, model, source, truth, &values[RECOVERY]);
    rb_metrics_free(metrics);
    rb_model_free(model);
    return err;
}

rb_error plan_fit(rb_context *ctx, int64_t index, const void *plan, double *values) {
    struct job job = job_of(plan, index);
    rb_matrix *matrix = NULL;
    rb_modules *truth = NULL;
    rb_source *source = NULL;
    rb_error err = simulate(ctx, &job, &matrix, &truth);
    err = err ? err : rb_source_from_matrix(ctx, matrix, &source);
    err = err ? err : measure(ctx, &job, matrix, source, truth, values);
    rb_source_free(source);
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    return err;
}

void plan_key(const struct plan *p, char *key, size_t size) {
    size_t used = (size_t)snprintf(key, size, "tables %s, %d figures of %lld instances",
                                   rb_version(), (int)METRICS, (long long)p->instances);
    for (int i = 0; i < p->n_sets && used < size; i++)
        used += (size_t)snprintf(key + used, size - used, " %s", set_name(p->sets[i]));
    for (int i = 0; i < p->n_units && used < size; i++)
        used += (size_t)snprintf(key + used, size - used, " %lld", (long long)p->units[i]);
    for (int i = 0; i < p->n_datasets && used < size; i++)
        used += (size_t)snprintf(key + used, size - used, " D%d", p->datasets[i] + 1);
    for (int i = 0; i < p->n_methods && used < size; i++)
        used += (size_t)snprintf(key + used, size - used, " %s(%s)", p->methods[i]->name,
                                 p->methods[i]->options);
}
