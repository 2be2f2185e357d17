/* A fit of the tables, on data of its own. */
#include "../../options.h"
#include "base/base.h"
#include "tables.h"

#include <math.h>
#include <string.h>

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

/* The share of codes below 0.01 (section 4: for all methods but RFN), in percent. */
static rb_error small_codes(rb_context *ctx, const rb_model *model, rb_source *source, double *sp) {
    const double small = 0.01;
    int64_t count = rb_source_samples(source) * rb_model_units(model), below = 0;
    double *codes = rb_alloc(ctx, count, sizeof *codes);
    rb_error err = codes ? RB_OK : RB_ERROR_MEMORY;
    err =
        err ? err : rb_encode_into(ctx, model, source, RB_FLOAT64, codes, rb_model_units(model), 1);
    for (int64_t e = 0; e < count && !err; e++)
        below += fabs(codes[e]) < small;
    *sp = 100 * (double)below / (double)count;
    rb_free(codes);
    return err;
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

static rb_error measure(rb_context *ctx, const struct job *job, rb_source *source,
                        const rb_modules *truth, double *values) {
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    double seconds = rb_seconds();
    rb_error err = fit(ctx, job, source, &model);
    values[SECONDS] = rb_seconds() - seconds;
    err = err ? err : rb_evaluate(ctx, model, source, &metrics);
    if (!err) {
        values[SP] = 100 * rb_metrics_get(metrics, "sparseness");
        values[ER] = rb_metrics_get(metrics, "reconstruction_error");
        values[CO] = rb_metrics_get(metrics, "covariance_error");
    }
    if (!err && !job->method->rectified) err = small_codes(ctx, model, source, &values[SP]);
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
    err = err ? err : measure(ctx, &job, source, truth, values);
    rb_source_free(source);
    rb_modules_free(truth);
    rb_matrix_free(matrix);
    return err;
}

void plan_key(const struct plan *p, char *key, size_t size) {
    size_t used = (size_t)snprintf(key, size, "tables %s, %lld instances", rb_version(),
                                   (long long)p->instances);
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
