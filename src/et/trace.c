/* What a fit tells of its iterations, and what a traced one keeps of them: temperature, samples in
 * use, quality of the truncation for some samples, and the fields at a few iterations. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- traces ---- */

/* Their exact posterior is computed in each iteration: none where there are too many units. */
int64_t et_trace_samples(const rb_problem *problem, const et_setup *setup) {
    const double max = 4e8;
    if (!et_enumerable(setup->units, &setup->values)) return 0;
    double work = et_exact_work(setup->units, &setup->values, problem->n_features);
    double fit = floor(max / work);
    return (int64_t)fmin(fmin(ET_TRACE_SAMPLES, (double)problem->n_samples), fit);
}

void et_trace_pass(et_fit *f) {
    const et_sums *sums = &f->sums;
    int64_t t = f->progress.iteration, samples = f->estep.pass.traced;
    double *hits = &f->trace.metrics[t * ET_TRACE_METRICS + 2];
    *hits = sums->marginals > 0 ? sums->hits / sums->marginals : NAN;
    if (samples > 0)
        memcpy(f->trace.quality + t * samples, sums->quality, (size_t)samples * sizeof(double));
}

void et_trace_iteration(et_fit *f) {
    et_trace *t = &f->trace;
    rb_dense fields = f->parameters.fields;
    int64_t iteration = f->progress.iteration, cells = fields.rows * fields.cols;
    t->metrics[iteration * ET_TRACE_METRICS] = et_temperature(&f->plan.schedule, iteration);
    t->metrics[iteration * ET_TRACE_METRICS + 1] = (double)f->sums.used;
    /* Evenly: iterations 0, I / 9, ..., I - 1. */
    int64_t due = t->kept * (f->plan.schedule.iterations - 1) / (ET_TRACE_FIELDS - 1);
    if (t->kept < ET_TRACE_FIELDS && iteration >= due) {
        memcpy(t->fields + t->kept * cells, fields.data, (size_t)cells * sizeof *t->fields);
        t->at[t->kept++] = iteration;
    }
}

rb_error et_trace_store(rb_context *ctx, const et_fit *f, rb_model *model) {
    const et_trace *t = &f->trace;
    int64_t done = f->progress.iteration, samples = f->shape.dims[ET_TRACED_SAMPLES];
    double at[ET_TRACE_FIELDS];
    if (!t->metrics || done == 0) return RB_OK;
    rb_dense metrics = {t->metrics, done, ET_TRACE_METRICS, ET_TRACE_METRICS, RB_FLOAT64};
    rb_dense quality = {t->quality, done, samples, samples, RB_FLOAT64};
    rb_error err = rb_model_put_array(ctx, model, "trace", metrics);
    if (!err && samples > 0) err = rb_model_put_array(ctx, model, "trace_quality", quality);
    if (err || t->kept == 0) return err;
    for (int64_t k = 0; k < t->kept; k++)
        at[k] = (double)t->at[k];
    /* As loadings, side by side: features x (kept * units). */
    int64_t features = f->problem.n_features, rows = t->kept * f->plan.options.units;
    rb_dense fields = {t->fields, rows, features, features, RB_FLOAT64};
    err = et_store_fields(ctx, model, "trace_fields", fields);
    return err ? err : rb_model_put_array(ctx, model, "trace_fields_at", rb_column(at, t->kept));
}

const rb_trace_arrays et_traces = {
    .fields = "trace_fields",
    .fields_at = "trace_fields_at",
    .quality = "trace_quality",
    .quality_needs = "fit again with `trace`, and with at most 20 units",
};
_Static_assert(RB_ET_MAX_EXACT == 20, "as the text above says");

/* ---- metrics ---- */

const char *const et_metric_names[] = {
    "temperature", "samples_used", "causes_used",    "sigma",       "prior", "candidate_hits",
    "quality",     "truncation",   "log_likelihood", "free_energy", NULL};

/* The objective is at another temperature in each iteration. */
const rb_metric_plot et_plots[] = {{"log evidence at the temperature", "objective", false, NULL},
                                   {"log-likelihood", "log_likelihood", false, NULL},
                                   {"free energy", "free_energy", false, NULL},
                                   {"temperature", "temperature", false, NULL},
                                   {0}};

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
    int64_t units = f->plan.options.units;
    double used = 0, prior = 0;
    for (int64_t h = 0; h < units; h++) {
        used += f->progress.in_map[h];
        prior += f->parameters.prior[h];
    }
    values[0] = et_temperature(&f->plan.schedule, done);
    values[1] = (double)f->progress.last_used;
    values[2] = used;
    values[3] = et_gaussian(&f->plan.setup.model) ? f->parameters.sigma : NAN;
    values[4] = prior / (double)units;
    values[5] = values[6] = values[7] = NAN;
    values[8] = f->progress.log_likelihood;
    values[9] = f->estep.free_energy;
    int64_t samples = f->shape.dims[ET_TRACED_SAMPLES];
    if (samples > 0) {
        values[5] = t->metrics[done * ET_TRACE_METRICS + 2];
        mean_quality(t->quality + done * samples, samples, &values[6], &values[7]);
    }
}
