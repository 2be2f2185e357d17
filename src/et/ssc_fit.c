/* Spike and slab sparse coding: a fit.
 *
 * M-step, with <.> the truncated posterior and sums over samples: each of the three maximises its
 * part of the expected log joint probability, whatever the others are,
 *
 *     W = Q^-1 P,  P = sum <s z> y',  Q = sum <(s z)(s z)'>;   sigma^2 = sum <|y - Wbar|^2> / (N D)
 *     mu_h = sum <s_h z_h> / sum <s_h>,   psi_h^2 = sum <s_h z_h^2> / sum <s_h> - mu_h^2
 *     pi_h = sum <s_h> / N
 *
 * so that the truncated log evidence never falls at temperature 1 with all states, and, given the
 * candidates, with few. As in the other models of this room sigma, slab and prior wait for the end
 * temperature, while there is another one before. W_h, mu_h and psi_h are then scaled so that
 * mu_h^2 + psi_h^2 = 1 and mu_h >= 0, which changes no sample's probability. */
#include "ssc.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- tables ---- */

const rb_option ssc_option_rows[] = {
    {"units", 'k', RB_OPTION_INTEGER, offsetof(ssc_options, units), "10", 1, 1e9, NULL, "N",
     "number of causes", RB_OPTION_COMMON},
    {"candidates", 0, RB_OPTION_INTEGER, offsetof(ssc_options, candidates), "0", 0, 1e9, NULL, "N",
     "candidate causes per sample (0: 8, or all if fewer)"},
    {"max-active", 0, RB_OPTION_INTEGER, offsetof(ssc_options, max_active), "3", 1, 1e9, NULL, "N",
     "maximum number of active causes per state", RB_OPTION_COMMON},
    {"exact", 0, RB_OPTION_FLAG, offsetof(ssc_options, exact), "false", 0, 0, NULL, NULL,
     "use all states of all causes (at most 16 units)"},
    {"slab-mean", 0, RB_OPTION_CHOICE, offsetof(ssc_options, slab_mean), "learned", 0, 0,
     "learned|zero", "MEAN",
     "mean strength of an active cause: learned for each, or 0, where both signs are equally "
     "likely"},
    {"prior", 0, RB_OPTION_NUMBER, offsetof(ssc_options, prior), "0", 0, 1, NULL, "P",
     "initial probability that a cause is active (0: 2 / --units)"},
    {"sigma", 0, RB_OPTION_NUMBER, offsetof(ssc_options, sigma), "0", 0, 1e150, NULL, "SD",
     "initial standard deviation of the noise (0: half of that of the data)"},
    {"temperature", 0, RB_OPTION_TEXT, offsetof(ssc_options, temperature), NULL, 0, 0, NULL,
     "START:END",
     "annealing: START:END, such as 13:1, or values at shares of the iterations, 0=13,0.1=13,0.8=1 "
     "(default: from the data)"},
    {"weight-noise", 0, RB_OPTION_NUMBER, offsetof(ssc_options, weight_noise), "-1", -1, 1e150,
     NULL, "SD",
     "noise added to the fields after each M-step, until 0.8 of the iterations (-1: from the data)",
     RB_OPTION_RESEARCH},
    {0},
};

const char *const ssc_metric_names[] = {"temperature", "sigma", "prior", NULL};

enum { UNITS = 1, FEATURES, SPARSE_ROWS };

#define PLACE(name) offsetof(ssc_parameters, name)
static const rb_field parameters[] = {
    {"fields", PLACE(base.fields), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, FEATURES,
     RB_KEPT_PARAMETER},
    {"sigma", PLACE(base.sigma), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .role = RB_KEPT_POSITIVE},
    {"prior", PLACE(base.prior), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS, 0, RB_KEPT_POSITIVE, 0,
     1},
    {"slab_mean", PLACE(mean), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS, 0, RB_KEPT_PARAMETER},
    {"slab_sd", PLACE(sd), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS, 0, RB_KEPT_PARAMETER, 0,
     DBL_MAX},
    {0},
};

static const rb_field progress[] = {
    {"iteration", offsetof(ssc_progress, iteration), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .role = RB_KEPT_MSTEPS},
    {"log_likelihood", offsetof(ssc_progress, log_likelihood), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     .role = RB_KEPT_REPORTED},
    {"largest_seen", offsetof(ssc_progress, largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS, 0,
     RB_KEPT_REPORTED},
    {0},
};

static const rb_field survey[] = {
    {"survey_count", offsetof(ssc_survey, count), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"survey_squares", offsetof(ssc_survey, squares), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {0},
};

#define SUM(name, member) #name, offsetof(ssc_sums, member)
static const rb_field sums[] = {
    {SUM(used, base.used), RB_FIELD_INLINE, RB_KEPT_INTEGER},
    {SUM(values, base.values), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {SUM(squares, base.squares), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {SUM(evidence, base.evidence), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {SUM(causes, base.causes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {SUM(first, first), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {SUM(diagonal, diagonal), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {SUM(largest, largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS, .sum = RB_SUM_MAX},
    {SUM(products, base.products), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, FEATURES},
    {SUM(second, base.second), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, UNITS},
    {0},
};

static const rb_field scratch[] = {
    {"target", offsetof(ssc_fit, work.target), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, FEATURES},
    {"system", offsetof(ssc_fit, work.system), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, UNITS},
    {"inverse", offsetof(ssc_fit, work.inverse), RB_FIELD_DENSE, RB_KEPT_FLOAT64, UNITS, UNITS},
    {"part", offsetof(ssc_fit, part), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, FEATURES},
    {"rows", offsetof(ssc_fit, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, SPARSE_ROWS, FEATURES},
    {0},
};

const rb_part ssc_parts[] = {
    {RB_PART_PARAMETERS, parameters, offsetof(ssc_fit, parameters)},
    {RB_PART_PROGRESS, progress, offsetof(ssc_fit, progress)},
    {RB_PART_SURVEY, survey, offsetof(ssc_fit, survey)},
    {RB_PART_SUMS, sums, offsetof(ssc_fit, sums)},
    {RB_PART_SCRATCH, scratch, 0},
    {0},
};

void ssc_shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    shape->dims[UNITS] = ((const ssc_options *)options)->units;
    shape->dims[FEATURES] = problem->n_features;
    shape->dims[SPARSE_ROWS] = problem->sparse ? problem->block_samples : 0;
}

/* ---- start ---- */

rb_error ssc_load_parameters(rb_context *ctx, const rb_model *model, ssc_parameters *p) {
    int64_t units = p->base.fields.rows;
    const double *mean = NULL, *sd = NULL;
    rb_error err = et_load_parameters(ctx, model, &(et_values){.count = 1}, &p->base);
    err = err ? err : rb_model_need_array(ctx, model, "slab_mean", units, 1, &mean);
    err = err ? err : rb_model_need_array(ctx, model, "slab_sd", units, 1, &sd);
    for (int64_t h = 0; !err && h < units; h++) {
        if (!(sd[h] >= 0))
            err = rb_fail(ctx, RB_ERROR_FORMAT, "the slab of cause %lld has a width below 0",
                          (long long)h);
        p->mean[h] = mean[h];
        p->sd[h] = sd[h];
    }
    return err;
}

static rb_error check_options(rb_context *ctx, const ssc_options *o) {
    const rb_conflict conflicts[] = {
        {o->exact && (o->candidates || o->max_active != 3),
         "`candidates` and `max-active` do nothing with `exact`, which uses all states; leave them "
         "out"},
        {o->weight_noise < 0 && o->weight_noise != -1,
         "`weight-noise` must be a standard deviation of 0 or more, or -1 to take it from the "
         "data"},
        {0},
    };
    return rb_check_conflicts(ctx, conflicts);
}

rb_error ssc_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state) {
    ssc_fit *f = *state;
    const ssc_options *o = options;
    f->problem = *problem;
    f->options = *o;
    f->schedule = (et_schedule){.iterations = problem->fit->iterations, .end = 1};
    rb_error err = check_options(ctx, o);
    if (!err && o->temperature) err = et_schedule_parse(ctx, o->temperature, &f->schedule);
    err = err ? err : ssc_engine_new(ctx, problem->n_features, problem->type, o, &f->engine);
    err = err ? err : ssc_results_new(ctx, f->engine, problem->block_samples, &f->results);
    err = err ? err : rb_spd_new(ctx, RB_FLOAT64, o->units, &f->work.factor);
    if (err || !start) return err;
    f->warm = true;
    err = rb_model_starts(ctx, start, o->units, problem->n_features);
    return err ? err : ssc_load_parameters(ctx, start, &f->parameters);
}

void ssc_finish(void *state) {
    ssc_fit *f = state;
    if (f) {
        ssc_engine_free(f->engine);
        rb_scratch_end(&f->results.memory);
        rb_spd_free(f->work.factor);
    }
}

rb_error ssc_survey_block(rb_context *ctx, void *state, const rb_block *block) {
    ssc_survey *s = &((ssc_fit *)state)->survey;
    int64_t values = 0;
    s->squares += rb_block_squares(block, &values);
    s->count += (double)values;
    return RB_OK;
}

/* W ~ N(0, (sd / 3)^2), as linca has it; of slabs that may have a mean, half of the second moment
 * is its square. */
static void start_anew(ssc_fit *f, double sd) {
    const ssc_options *o = &f->options;
    ssc_parameters *p = &f->parameters;
    rb_stream stream = et_stream(&f->problem, RB_RANDOM_LOADINGS);
    double prior = o->prior > 0 ? o->prior : fmin(0.5, 2 / (double)o->units);
    double *field = p->base.fields.data, mean = o->slab_mean == SSC_ZERO ? 0 : sqrt(0.5);
    p->base.sigma = o->sigma > 0 ? o->sigma : sd / 2;
    for (int64_t h = 0; h < o->units; h++) {
        p->base.prior[h] = fmin(fmax(prior, 1e-5), 1 - 1e-5);
        p->mean[h] = mean;
        p->sd[h] = sqrt(1 - mean * mean);
    }
    for (int64_t i = 0; i < p->base.fields.rows * p->base.fields.cols; i++)
        field[i] = sd / 3 * rb_random_normal(stream, (uint64_t)i);
}

rb_error ssc_survey_end(rb_context *ctx, void *state) {
    ssc_fit *f = state;
    const double factor = 3; /* a large value, in root mean squares */
    double sd = f->survey.count > 0 ? sqrt(f->survey.squares / f->survey.count) : 0;
    if (!(sd > 0)) return rb_fail(ctx, RB_ERROR_DATA, "every value is 0; there is nothing to fit");
    f->min_sigma = 1e-3 * sd;
    if (!f->warm) start_anew(f, sd);
    double ratio = factor * sd / f->parameters.base.sigma;
    if (f->schedule.start == 0) {
        double hot = 0.52 * ratio * ratio;
        f->schedule.start = f->warm ? f->schedule.end : fmax(hot, f->schedule.end);
    }
    double usual = f->warm || et_schedule_ended(&f->schedule, 0) ? 0 : sd / 120;
    f->noise = f->options.weight_noise >= 0 ? f->options.weight_noise : usual;
    return RB_OK;
}

/* ---- E-step ---- */

bool ssc_may_stop(const void *state) {
    const ssc_fit *f = state;
    return et_schedule_ended(&f->schedule, f->progress.iteration);
}

static double temperature(const ssc_fit *f) {
    return f->last ? 1 : et_temperature(&f->schedule, f->progress.iteration);
}

void ssc_last(void *state) {
    ((ssc_fit *)state)->last = true;
}

rb_error ssc_begin(rb_context *ctx, void *state) {
    ssc_fit *f = state;
    ssc_prepare(ctx, f->engine, &f->parameters, 1 / temperature(f));
    return RB_OK;
}

struct pairing {
    const ssc_fit *fit;
    int64_t samples;
};

/* A band of rows of Q above its diagonal: pairs whose lower candidate is in it. */
static void pairs_task(void *arg, int64_t band, int worker) {
    const struct pairing *p = arg;
    const ssc_results *r = &p->fit->results;
    int count = p->fit->engine->tree.candidates;
    for (int64_t i = 0; i < p->samples; i++) {
        et_add_pairs(r->candidates + i * count, count, 1, rb_dense_row(r->pairs, i), band,
                     p->fit->sums.base.second);
    }
}

static rb_error add_sample(rb_context *ctx, ssc_fit *f, const rb_block *block, int64_t i) {
    const ssc_results *r = &f->results;
    ssc_sums *s = &f->sums;
    rb_error err = et_check_evidence(ctx, block, i, r->evidence[i]);
    if (err) return err;
    s->base.used++;
    s->base.values += (double)f->problem.n_features;
    s->base.squares += r->norm[i];
    s->base.evidence += r->evidence[i];
    const double *spikes = rb_dense_row(r->spikes, i), *squares = rb_dense_row(r->squares, i);
    const void *mean = rb_dense_row(r->mean, i);
    for (int64_t h = 0; h < f->options.units; h++) {
        s->base.causes[h] += spikes[h];
        s->first[h] += rb_get(r->mean.type, mean, h);
        s->diagonal[h] += squares[h];
        s->largest[h] = fmax(s->largest[h], spikes[h]);
    }
    return RB_OK;
}

rb_error ssc_block(rb_context *ctx, void *state, const rb_block *block) {
    ssc_fit *f = state;
    rb_dense mean = rb_dense_rows(f->results.mean, 0, block->n_samples);
    rb_error err = ssc_posteriors(ctx, f->engine, block, &f->results);
    for (int64_t i = 0; !err && i < block->n_samples; i++)
        err = add_sample(ctx, f, block, i);
    if (err || f->last) return err;
    rb_dense rows = et_block_rows(block, f->rows, (rb_dense){0});
    et_add_products(ctx, f->part, mean, rows, f->sums.base.products);
    struct pairing pairing = {f, block->n_samples};
    rb_parallel(ctx, (f->options.units + ET_BAND_ROWS - 1) / ET_BAND_ROWS, pairs_task, &pairing);
    return RB_OK;
}

static double mean_evidence(const ssc_fit *f) {
    return f->sums.base.evidence / (double)f->problem.n_samples;
}

rb_error ssc_end(rb_context *ctx, void *state, bool *again) {
    ssc_fit *f = state;
    rb_dense second = f->sums.base.second;
    *again = false;
    for (int64_t h = 0; h < second.rows; h++)
        for (int64_t j = 0; j <= h; j++)
            rb_dense_set(second, h, j, j < h ? rb_dense_get(second, j, h) : f->sums.diagonal[h]);
    f->progress.log_likelihood = temperature(f) == 1 ? mean_evidence(f) : NAN;
    memcpy(f->progress.largest, f->sums.largest, (size_t)second.rows * sizeof(double));
    return RB_OK;
}

/* ---- M-step ---- */

/* Of a slab around 0 either sign would do: the field's largest value is above 0. */
static double sign_of(double mean, rb_dense field) {
    double largest = 0;
    for (int64_t d = 0; mean == 0 && d < field.cols; d++) {
        double value = rb_dense_get(field, 0, d);
        if (fabs(value) > fabs(largest)) largest = value;
    }
    return mean < 0 || largest < 0 ? -1 : 1;
}

/* Slab and prior of a cause; one that was never active keeps them. */
static void learn_cause(ssc_fit *f, int64_t h) {
    ssc_parameters *p = &f->parameters;
    const ssc_sums *s = &f->sums;
    double active = s->base.causes[h], narrow = 1e-6;
    p->base.prior[h] = fmin(fmax(active / (double)s->base.used, 1e-8), 1 - 1e-8);
    if (!(active > 0)) return;
    double mean = f->options.slab_mean == SSC_ZERO ? 0 : s->first[h] / active;
    double square = s->diagonal[h] / active, variance = fmax(square - mean * mean, 0);
    double scale = sqrt(mean * mean + variance);
    if (!(scale > 0)) return;
    scale *= sign_of(mean, rb_dense_rows(p->base.fields, h, 1));
    p->mean[h] = mean / scale;
    p->sd[h] = fmax(sqrt(variance) / fabs(scale), narrow);
    double *field = rb_dense_row(p->base.fields, h);
    for (int64_t d = 0; d < p->base.fields.cols; d++)
        field[d] *= scale;
}

rb_error ssc_mstep(rb_context *ctx, void *state) {
    ssc_fit *f = state;
    et_parameters *p = &f->parameters.base;
    rb_error err = et_mstep_solve(ctx, NULL, &f->sums.base, &f->work, p);
    if (err) return err;
    if (ssc_may_stop(f)) { /* it is cold */
        double variance = et_linear_variance(ctx, &f->sums.base, p->fields, f->work.target);
        p->sigma = fmax(sqrt(fmax(variance, 0)), f->min_sigma);
        for (int64_t h = 0; h < f->options.units; h++)
            learn_cause(f, h);
    }
    if (f->noise > 0 && !et_noise_ended(&f->schedule, f->progress.iteration))
        et_add_noise(&f->problem, f->progress.iteration, f->noise, p->fields);
    f->progress.iteration++;
    return et_check_fields(ctx, p->fields);
}

void ssc_objective(void *state, double *objective, double *estep_objective) {
    *objective = mean_evidence(state);
    *estep_objective = NAN;
}

void ssc_metrics(const void *state, double *values) {
    const ssc_fit *f = state;
    int64_t t = f->progress.iteration > 0 ? f->progress.iteration - 1 : 0;
    values[0] = et_temperature(&f->schedule, t);
    values[1] = f->parameters.base.sigma;
    values[2] = 0;
    for (int64_t h = 0; h < f->options.units; h++)
        values[2] += f->parameters.base.prior[h] / (double)f->options.units;
}

/* ---- the model ---- */

rb_error ssc_store(rb_context *ctx, void *state, rb_model *model) {
    const ssc_fit *f = state;
    const ssc_parameters *p = &f->parameters;
    int64_t units = f->options.units, features = f->problem.n_features;
    rb_error err = et_store_fields(ctx, model, "loadings", p->base.fields);
    err = err ? err : rb_model_put_array(ctx, model, "sigma", rb_column(&p->base.sigma, 1));
    err = err ? err : rb_model_put_array(ctx, model, "prior", rb_column(p->base.prior, units));
    err = err ? err : rb_model_put_array(ctx, model, "slab_mean", rb_column(p->mean, units));
    err = err ? err : rb_model_put_array(ctx, model, "slab_sd", rb_column(p->sd, units));
    double *noise = err ? NULL : rb_model_add_array(ctx, model, "noise", features, 1);
    double *dead = noise ? rb_model_add_array(ctx, model, "dead", units, 1) : NULL;
    if (!dead) return RB_ERROR_MEMORY;
    for (int64_t d = 0; d < features; d++)
        noise[d] = p->base.sigma * p->base.sigma;
    for (int64_t h = 0; h < units; h++)
        dead[h] = !(f->progress.largest[h] > 0.5);
    double likelihood = f->progress.log_likelihood;
    return isfinite(likelihood)
               ? rb_model_put_array(ctx, model, "log_likelihood", rb_column(&likelihood, 1))
               : RB_OK;
}
