/* What a fit tells of its iterations, and what a traced one keeps of them: temperature, samples in
 * use, quality of the truncation for some samples, and the fields at a few iterations. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- traces ---- */

/* Their exact posterior is computed in each iteration: none where there are too many units. */
int64_t et_trace_samples(const rb_problem *problem, int64_t units) {
    const double max = 4e8;
    if (units > RB_ET_MAX_EXACT) {
        return 0;
    }
    double work = ldexp((double)problem->n_features + 20, (int)units);
    double count = fmin(fmin(ET_TRACE_SAMPLES, (double)problem->n_samples), floor(max / work));
    return (int64_t)count;
}

void et_trace_pass(et_trace *t, const et_sums *sums, int64_t iteration, int64_t samples) {
    double *hits = &t->metrics[iteration * ET_TRACE_METRICS + 2];
    *hits = sums->marginals > 0 ? sums->hits / sums->marginals : NAN;
    for (int64_t k = 0; k < samples; k++) {
        t->quality[iteration * samples + k] = sums->quality[k];
    }
}

void et_trace_iteration(et_trace *t, const et_schedule *schedule, const et_sums *sums,
                        const et_parameters *p, int64_t iteration) {
    double *metrics = t->metrics + iteration * ET_TRACE_METRICS;
    int64_t cells = p->fields.rows * p->fields.cols;
    metrics[0] = et_temperature(schedule, iteration);
    metrics[1] = (double)sums->used;
    /* Evenly: iterations 0, I / 9, ..., I - 1. */
    int64_t due = t->kept * (schedule->iterations - 1) / (ET_TRACE_FIELDS - 1);
    if (t->kept < ET_TRACE_FIELDS && iteration >= due) {
        memcpy(t->fields + t->kept * cells, p->fields.data, (size_t)cells * sizeof *t->fields);
        t->at[t->kept++] = iteration;
    }
}

/* Fields as loadings, side by side: features x (kept * units). */
static rb_error store_fields(rb_context *ctx, const et_fit *f, rb_model *model) {
    const et_trace *t = &f->trace;
    int64_t units = f->plan.options.units, features = f->problem.n_features;
    double *fields = rb_model_add_array(ctx, model, "trace_fields", features, t->kept * units);
    double *at = fields ? rb_model_add_array(ctx, model, "trace_fields_at", t->kept, 1) : NULL;
    if (!at) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < t->kept; k++) {
        at[k] = (double)t->at[k];
        for (int64_t h = 0; h < units; h++) {
            const double *field = t->fields + (k * units + h) * features;
            for (int64_t d = 0; d < features; d++) {
                fields[d * t->kept * units + k * units + h] = field[d];
            }
        }
    }
    return RB_OK;
}

rb_error et_trace_store(rb_context *ctx, const et_fit *f, rb_model *model) {
    const et_trace *t = &f->trace;
    int64_t done = f->progress.iteration, samples = f->shape.dims[ET_TRACED_SAMPLES];
    if (!t->metrics || done == 0) {
        return RB_OK;
    }
    double *metrics = rb_model_add_array(ctx, model, "trace", done, ET_TRACE_METRICS);
    if (!metrics) {
        return RB_ERROR_MEMORY;
    }
    memcpy(metrics, t->metrics, (size_t)(done * ET_TRACE_METRICS) * sizeof *metrics);
    if (samples > 0) {
        double *quality = rb_model_add_array(ctx, model, "trace_quality", done, samples);
        if (!quality) {
            return RB_ERROR_MEMORY;
        }
        memcpy(quality, t->quality, (size_t)(done * samples) * sizeof *quality);
    }
    return t->kept > 0 ? store_fields(ctx, f, model) : RB_OK;
}

/* ---- metrics ---- */

const char *const et_metric_names[] = {
    "temperature", "samples_used", "causes_used",    "sigma",       "prior", "candidate_hits",
    "quality",     "truncation",   "log_likelihood", "free_energy", NULL};

static int64_t count_used(const et_fit *f) {
    int64_t count = 0;
    for (int64_t h = 0; h < f->plan.options.units; h++) {
        count += f->progress.in_map[h];
    }
    return count;
}

static double mean_prior(const et_fit *f) {
    double sum = 0;
    for (int64_t h = 0; h < f->plan.options.units; h++) {
        sum += f->parameters.prior[h];
    }
    return sum / (double)f->plan.options.units;
}

/* Means of Q and -log Q over the traced samples. */
static void mean_quality(const double *q, int64_t samples, double *quality, double *truncation) {
    *quality = *truncation = 0;
    for (int64_t k = 0; k < samples; k++) {
        *quality += q[k];
        *truncation -= log(q[k]);
    }
    *quality /= (double)samples;
    *truncation /= (double)samples;
}

void et_metrics(const void *state, double *values) {
    const et_fit *f = state;
    const et_trace *t = &f->trace;
    int64_t done = f->progress.iteration - 1; /* the M-step has counted it already */
    values[0] = et_temperature(&f->plan.schedule, done);
    values[1] = (double)f->progress.last_used;
    values[2] = (double)count_used(f);
    values[3] = f->plan.model->noise->sigma ? f->parameters.sigma : NAN;
    values[4] = mean_prior(f);
    values[5] = values[6] = values[7] = NAN;
    values[8] = f->progress.log_likelihood;
    values[9] = f->estep.free_energy;
    int64_t samples = f->shape.dims[ET_TRACED_SAMPLES];
    if (samples > 0) {
        values[5] = t->metrics[done * ET_TRACE_METRICS + 2];
        mean_quality(t->quality + done * samples, samples, &values[6], &values[7]);
    }
}
