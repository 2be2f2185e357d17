/* Life of a fit: its arrays, starting values, the survey of the data, what is stored in the model.
 *
 * Whatever an iteration comes to take from the one before belongs into the tables of parameters,
 * codes, progress or, with runs_on, sums: checkpoints are made of them, and
 * tests/property/checkpoint.c compares fits that were interrupted with those that were not.
 */
#include "fit.h"

#include "rfn.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- arrays ---- */

static const rb_field survey_fields[] = {
    {"second", offsetof(rfn_survey, second), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES,
     .sum = RB_SUM_SQUARES},
    {"observed", offsetof(rfn_survey, observed), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_OBSERVED},
    {"full_second", offsetof(rfn_survey, full_second), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RFN_FULL,
     RFN_FULL},
    {"least", offsetof(rfn_survey, min), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_REPLACED,
     .sum = RB_SUM_MIN},
    {"most", offsetof(rfn_survey, max), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_REPLACED,
     .sum = RB_SUM_MAX},
    {0},
};

static const rb_field sums_fields[] = {
    {"sum_u", offsetof(rfn_sums, u), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES, RFN_SUMMED,
     .runs_on = true},
    {"sum_s", offsetof(rfn_sums, s), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_UNITS,
     .runs_on = true},
    {"sum_codes", offsetof(rfn_sums, codes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS,
     .runs_on = true},
    {"weight", offsetof(rfn_sums, weight), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .runs_on = true},
    {"gain", offsetof(rfn_sums, gain), RB_FIELD_INLINE, RB_KEPT_FLOAT64, .sum = RB_SUM_GAIN},
    {"dropout_sum", offsetof(rfn_sums, all_codes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_DROPS,
     .runs_on = true},
    {"dropout_squares", offsetof(rfn_sums, all_squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_DROPS, .runs_on = true},
    {"active", offsetof(rfn_sums, active), RB_FIELD_POINTER, RB_KEPT_FLAG, RFN_UNITS,
     .sum = RB_SUM_OR},
    {"largest_mean", offsetof(rfn_sums, largest), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS,
     .sum = RB_SUM_LARGEST},
    {"largest_at", offsetof(rfn_sums, place), RB_FIELD_POINTER, RB_KEPT_INTEGER, RFN_UNITS,
     .sum = RB_SUM_PLACE},
    {"raw", offsetof(rfn_sums, raw), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_TRACED, RFN_TRACED},
    {"lacking", offsetof(rfn_sums, lacking), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RFN_LACKS,
     RFN_FEATURES},
    {"sum_sigma", offsetof(rfn_sums, sigma), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RFN_LACKS, RFN_LACKS},
    {"sum_log_det", offsetof(rfn_sums, log_det), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"sum_constant", offsetof(rfn_sums, constant), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"imputed", offsetof(rfn_sums, imputed), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES},
    {0},
};

static const rb_field codes_fields[] = {
    {"codes", offsetof(rfn_codes, values), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_PERSISTENT,
     RFN_SAMPLES, RB_KEPT_CODES},
    {"has_codes", offsetof(rfn_codes, filled), RB_FIELD_INLINE, RB_KEPT_FLAG, RFN_PERSISTS},
    {"multipliers", offsetof(rfn_codes, multipliers), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_PERSISTENT},
    {0},
};

static const rb_field progress_fields[] = {
    {"iteration", offsetof(rfn_progress, iteration), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .role = RB_KEPT_MSTEPS},
    {"scale", offsetof(rfn_progress, scale), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS,
     .min = DBL_MIN, .max = DBL_MAX},
    {"alive", offsetof(rfn_progress, alive), RB_FIELD_POINTER, RB_KEPT_FLAG, RFN_UNITS},
    {"prior_share", offsetof(rfn_progress, prior_share), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     RFN_SHRINKS, .max = 1},
    {"prior_stays", offsetof(rfn_progress, prior_stays), RB_FIELD_INLINE, RB_KEPT_FLAG,
     RFN_SHRINKS},
    {"shrink_factor", offsetof(rfn_progress, shrink_factor), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     RFN_SHRINKS, .min = 1, .max = 4},
    {"left_out", offsetof(rfn_progress, cascade.left_out), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     RFN_STAGES, .max = INT32_MAX},
    {"wait", offsetof(rfn_progress, cascade.wait), RB_FIELD_INLINE, RB_KEPT_INTEGER, RFN_STAGES,
     .max = INT32_MAX},
    {"steering_rho", offsetof(rfn_progress, adaptation.rho), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     RFN_ADAPTS},
    {"steering_target", offsetof(rfn_progress, adaptation.target), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     RFN_ADAPTS},
    {"steering_before", offsetof(rfn_progress, adaptation.before), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     RFN_ADAPTS},
    {"steering_ceiling", offsetof(rfn_progress, adaptation.ceiling), RB_FIELD_INLINE,
     RB_KEPT_FLOAT64, RFN_ADAPTS, .max = INFINITY},
    {"steering_lonely", offsetof(rfn_progress, adaptation.singletons), RB_FIELD_INLINE,
     RB_KEPT_INTEGER, RFN_ADAPTS, .max = INT32_MAX},
    {"velocity", offsetof(rfn_progress, velocity), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_MOMENTUM,
     RFN_UNITS},
    {0},
};

static const rb_field moments_fields[] = {
    {"u", offsetof(rfn_moments, own_u), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES, RFN_BATCHES},
    {"s", offsetof(rfn_moments, own_s), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS, RFN_BATCHES},
    {"mean", offsetof(rfn_moments, mean), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS},
    {0},
};

static const rb_field scratch_fields[] = {
    {"work", offsetof(rfn_scratch, work), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES,
     RFN_PADDED},
    {"hessian", offsetof(rfn_scratch, hessian), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_TRACED,
     RFN_TRACED},
    {"cross", offsetof(rfn_scratch, cross), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES},
    {"quadratic_forms", offsetof(rfn_scratch, quadratic), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     RFN_FEATURES},
    {"row", offsetof(rfn_scratch, row), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"factors", offsetof(rfn_scratch, factors), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"zeros", offsetof(rfn_scratch, zeros), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"positive", offsetof(rfn_scratch, positive), RB_FIELD_POINTER, RB_KEPT_INTEGER, RFN_UNITS},
    {"signals", offsetof(rfn_scratch, signals), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS},
    {"marks", offsetof(rfn_scratch, marks), RB_FIELD_POINTER, RB_KEPT_FLAG, RFN_UNITS},
    {"error", offsetof(rfn_scratch, error), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RFN_FULL, RFN_FULL},
    {"inverse", offsetof(rfn_scratch, inverse), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RFN_FULL,
     RFN_FULL},
    {0},
};

/* Engines have tables of their own. */
const rb_part rfn_parts[] = {
    {RB_PART_PARAMETERS, rfn_parameter_fields, offsetof(rfn_fit, parameters)},
    {RB_PART_CODES, codes_fields, offsetof(rfn_fit, codes)},
    {RB_PART_PROGRESS, progress_fields, offsetof(rfn_fit, progress)},
    {RB_PART_SURVEY, survey_fields, offsetof(rfn_fit, survey)},
    {RB_PART_SUMS, sums_fields, offsetof(rfn_fit, sums)},
    {RB_PART_SCRATCH, moments_fields, offsetof(rfn_fit, moments)},
    {RB_PART_SCRATCH, scratch_fields, offsetof(rfn_fit, scratch)},
    {RB_PART_SCRATCH, rfn_posterior_fields, offsetof(rfn_fit, posterior)},
    {RB_PART_SCRATCH, rfn_persistent_fields, offsetof(rfn_fit, persistent)},
    {0},
};

void rfn_shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    const rb_rfn_options *rfn = options;
    int64_t m = problem->n_features, l = rfn->units, block = problem->block_samples;
    bool persists = rfn_keeps_codes(problem, rfn), tries = rfn_tries_candidates(rfn);
    int64_t n = persists ? problem->own : 0, spaced = rb_spaced(problem->type, l);
    bool noise = rfn->input_noise != RB_RFN_NOISE_NONE;
    const int64_t dims[] = {
        [RB_DIM_ONE] = 1,
        [RFN_FEATURES] = m,
        [RFN_UNITS] = l,
        [RFN_SMALLER] = rb_smaller(l, m),
        [RFN_FULL] = rfn->noise == RB_RFN_PSI_FULL ? m : 0,
        [RFN_REPLACED] = rfn->input_noise == RB_RFN_NOISE_SALT_AND_PEPPER ? m : 0,
        [RFN_MOMENTUM] = rfn->momentum > 0 ? m : 0,
        [RFN_TRACED] = problem->fit->trace ? l : 0,
        [RFN_DROPS] = rfn->dropout > 0 ? l : 0,
        [RFN_BATCHES] = rfn_in_batches(problem) ? l : 0,
        [RFN_PERSISTENT] = persists ? l : 0,
        [RFN_PERSISTS] = persists,
        [RFN_SAMPLES] = n,
        [RFN_COLLECTED] = problem->device ? 0 : n,
        [RFN_STEPPED] = tries || rfn->estep == RB_RFN_ESTEP_GRADIENT ? n : 0,
        [RFN_TRIED] = tries || rfn->gradient_search ? n : 0,
        [RFN_STAGES] = tries ? RB_RFN_STAGES : 0,
        [RFN_SHRINKS] = rfn->sparse_loadings > 0,
        [RFN_ADAPTS] = rfn_adapts(rfn),
        [RFN_BLOCK] = block,
        [RFN_PADDED] = problem->device ? l : spaced,
        [RFN_SUMMED] = problem->device || rfn_in_batches(problem) ? l : spaced,
        [RFN_TASKS] = rfn_task_count(block),
        [RFN_FACTORED] = rfn_is_factored(problem, l, false) ? block : 0,
        [RFN_NOISY] = noise && !problem->sparse ? block : 0,
        [RFN_LACKS] = problem->missing ? l : 0,
        [RFN_OBSERVED] = problem->missing ? m : 0,
    };
    memcpy(shape->dims, dims, sizeof dims);
}

int64_t rfn_memory(const rb_problem *problem, const void *options) {
    const rb_rfn_options *rfn = options;
    rb_shape shape = rb_shape_of(problem, options);
    double m = (double)problem->n_features, l = (double)rfn->units, smaller = l < m ? l : m;
    double parameters = rb_parts_bytes(rfn_parts, &shape, RB_PART_PARAMETERS);
    double codes = rb_parts_bytes(rfn_parts, &shape, RB_PART_CODES);
    double sums = rb_parts_bytes(rfn_parts, &shape, RB_PART_SUMS);
    double bytes = rb_parts_bytes(rfn_parts, &shape, 0);
    if (rfn_has_newton(problem, rfn)) bytes += rb_parts_bytes(rfn_cpu_parts, &shape, 0);
    if (rfn_keeps_codes(problem, rfn)) bytes += rfn_persistent_bytes(problem, &shape);
    bytes += (double)rb_type_size(problem->type) * l * l; /* after the last iteration */
    if (!problem->sparse) bytes += rb_moments_bytes(problem->type, problem->n_features, rfn->units);
    if (problem->missing) bytes += rfn_missing_bytes(problem, rfn->units);
    if (rfn->noise == RB_RFN_PSI_FULL) bytes += 8 * (m * m + 2 * m * l);
    if (rfn->prior_covariance.matrix || rfn->prior_covariance.value != 1)
        bytes += 2 * (double)rb_type_size(problem->type) * l * l;
    bytes += (16 + (double)rb_type_size(problem->type)) * (l * l + smaller * smaller); /* rb_spd */
    /* As they were after the last iteration; and points, by rb_accelerate. */
    bytes += parameters + codes + (shape.batches ? sums : 0);
    static const int points[] = {0, 3, 1};
    bytes += points[problem->fit->accelerate] * (parameters + codes);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

void rfn_finish(void *state) {
    rfn_fit *fit = state;
    if (!fit) return;
    if (fit->engine) fit->setup.problem.engine->close(fit->engine);
    rfn_device_free(fit->device);
    rfn_persistent_free(&fit->persistent);
    rfn_posterior_free(&fit->posterior);
    rfn_candidates_free(&fit->sums);
    rb_spd_free(fit->scratch.factor);
    rfn_parameters_free(&fit->parameters);
    rb_parts_free(rfn_parts, fit);
    rb_free(fit);
}

static rb_error allocate(rb_context *ctx, rfn_fit *fit) {
    const rb_problem *problem = &fit->setup.problem;
    const rb_rfn_options *options = &fit->setup.options;
    rb_shape shape = rb_shape_of(problem, options);
    bool batches = rfn_in_batches(problem);
    rb_error err = rb_parts_new(ctx, rfn_parts, &shape, fit);
    fit->sums.u = rb_dense_spare(fit->sums.u, options->units);
    fit->scratch.work = rb_dense_spare(fit->scratch.work, options->units);
    fit->posterior.filter = rb_dense_spare(fit->posterior.filter, options->units);
    fit->moments.u = batches ? fit->moments.own_u : fit->sums.u;
    fit->moments.s = batches ? fit->moments.own_s : fit->sums.s;
    if (!err) {
        fit->sums.candidates = rb_alloc_zero(ctx, options->units, sizeof *fit->sums.candidates);
        err = fit->sums.candidates ? RB_OK : RB_ERROR_MEMORY;
    }
    err = err ? err : rb_spd_new(ctx, shape.type, shape.dims[RFN_SMALLER], &fit->posterior.factor);
    err = err ? err : rb_spd_new(ctx, shape.type, options->units, &fit->scratch.factor);
    fit->posterior.approximate = batches;
    /* Factorisations would take a sixth of the time, or with a device most of the processor's. */
    if (!err && (batches || problem->device)) {
        rb_spd_round(fit->posterior.factor);
        rb_spd_round(fit->scratch.factor);
    }
    if (!err && rfn_keeps_codes(problem, options))
        err = rfn_persistent_new(ctx, &fit->setup, &shape, &fit->codes, &fit->persistent);
    err = err ? err : rfn_missing_new(ctx, &fit->setup, &fit->persistent.missing);
    err = err ? err : rfn_device_new(ctx, &fit->setup, &fit->device);
    fit->persistent.device = fit->device;
    if (!err && fit->device) ctx->work = fit->device->work;
    if (!err && !fit->device && rfn_has_newton(problem, options))
        err = problem->engine->open(ctx, problem, options, &fit->engine);
    return err;
}

/* ---- the start ---- */

/* Of the variance of a feature, or its root, where no number is given: fits of the same features in
 * other units are then the same. */
static const double PSI_MIN_SHARE = 1e-3, WEIGHT_INIT_SHARE = 0.01;

/* W_0 ~ N(0, weight_init^2), or between -weight_init and weight_init; Psi_0 = psi_init. */
static void draw_parameters(const rfn_setup *setup, rfn_parameters *parameters) {
    double sd = setup->options.weight_init > 0 ? setup->options.weight_init : WEIGHT_INIT_SHARE;
    bool uniform = setup->options.weight_start == RB_RFN_START_UNIFORM;
    rb_dense w = parameters->loadings;
    rb_stream stream = {.seed = (uint64_t)setup->problem.fit->seed,
                        .purpose = RB_RANDOM_LOADINGS,
                        .restart = (uint32_t)setup->problem.restart};
    for (int64_t k = 0; k < w.rows; k++) {
        parameters->noise[k] = setup->options.psi_init;
        for (int64_t j = 0; j < w.cols; j++) {
            uint64_t index = (uint64_t)(k * w.cols + j);
            double draw = uniform ? 2 * rb_random_uniform(stream, index) - 1
                                  : rb_random_normal(stream, index);
            rb_dense_set(w, k, j, sd * draw);
        }
    }
}

/* A warm start takes the parameters of the model, which may be of another precision. */
static rb_error take_parameters(rb_context *ctx, const rfn_setup *setup, const rb_model *start,
                                rfn_parameters *parameters) {
    rb_dense w = parameters->loadings;
    rb_error err = rb_model_starts(ctx, start, w.cols, w.rows);
    if (err) return err;
    rfn_parameters_free(parameters);
    err = rfn_parameters_load(ctx, setup->problem.type, start, parameters);
    if (!err && rfn_psi_is_full(&parameters->full) && setup->options.noise != RB_RFN_PSI_FULL) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from has full noise: give `noise=full`");
    }
    return err;
}

static rb_error choose_parameters(rb_context *ctx, const rfn_setup *setup, const rb_model *start,
                                  rfn_parameters *parameters) {
    const rb_rfn_options *options = &setup->options;
    rb_error err = RB_OK;
    if (start) {
        err = take_parameters(ctx, setup, start, parameters);
    } else {
        draw_parameters(setup, parameters);
        err = rfn_prior_choose(ctx, setup->problem.type, options->units, &options->prior_mean,
                               &options->prior_covariance, &parameters->prior);
    }
    if (!err && !start && rfn_adapts(options)) /* adapt.c goes on from there */
        rfn_prior_take_mean(&parameters->prior, options->units, &(rb_values){0}, 1);
    bool made = parameters->full.factor; /* by a model that has full noise */
    if (!err && options->noise == RB_RFN_PSI_FULL && !made)
        err = rfn_psi_new(ctx, setup->problem.n_features, options->units, &parameters->full);
    return err;
}

rb_error rfn_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **state) {
    *state = NULL;
    rb_error err = rfn_check(ctx, problem, options);
    if (err) return err;
    rfn_fit *fit = *state = rb_alloc_zero(ctx, 1, sizeof *fit);
    if (!fit) return RB_ERROR_MEMORY;
    rfn_setup *setup = &fit->setup;
    *setup = (rfn_setup){*problem, *(const rb_rfn_options *)options, start != NULL};
    setup->problem.method = &rb_method_rfn;
    setup->problem.engine = problem->engine ? problem->engine : &rfn_engine_cpu.engine;
    if (setup->options.eta_psi == 0) setup->options.eta_psi = setup->options.eta;
    fit->sums.gain = 1;
    fit->progress.shrink_factor = 1;
    err = allocate(ctx, fit);
    /* Of samples that stay on a device, or may lack values, it is taken off before. */
    bool taken_off = problem->missing || (fit->device && !fit->device->streams);
    fit->survey.shift = taken_off ? NULL : problem->shift;
    err = err ? err : choose_parameters(ctx, setup, start, &fit->parameters);
    if (err) {
        rfn_finish(fit);
        *state = NULL;
    }
    return err;
}

/* ---- the survey ---- */

static void note_range(const rb_block *block, rfn_survey *survey) {
    rb_type type = block->dense.type;
    for (int64_t i = 0; survey->min && i < block->n_samples; i++) {
        for (int64_t k = 0; k < block->n_features; k++) {
            double x = rb_get(type, rb_dense_row(block->dense, i), k);
            rb_put(type, survey->min, k, fmin(x, rb_get(type, survey->min, k)));
            rb_put(type, survey->max, k, fmax(x, rb_get(type, survey->max, k)));
        }
    }
}

rb_error rfn_survey_block(rb_context *ctx, void *state, const rb_block *block) {
    rfn_fit *fit = state;
    if (fit->setup.problem.missing)
        return rfn_missing_survey(ctx, &fit->persistent.missing, block, &fit->survey);
    if (fit->device && !fit->device->streams) rfn_device_put(fit->device, block);
    rb_block_feature_squares(ctx, block, fit->survey.second);
    note_range(block, &fit->survey);
    return rfn_full_noise_survey(ctx, &fit->setup, block, &fit->survey);
}

double rfn_noise_floor(const rfn_setup *setup, const rfn_survey *survey, int64_t k) {
    double variance = survey->second[k] > 0 ? survey->second[k] : survey->noise_max;
    return setup->options.psi_min > 0 ? setup->options.psi_min : PSI_MIN_SHARE * variance;
}

/* Clamping the noise cannot lower the objective once it is inside its bounds. */
static void clamp_noise(rfn_fit *fit) {
    const rfn_survey *survey = &fit->survey;
    for (int64_t k = 0; k < fit->setup.problem.n_features; k++) {
        double *noise = &fit->parameters.noise[k];
        *noise = fmin(fmax(*noise, rfn_noise_floor(&fit->setup, survey, k)), survey->noise_max);
    }
}

/* Once the variances of the features are known: what draw_parameters had no unit for. */
static void use_units_of_data(rfn_fit *fit) {
    const rb_rfn_options *options = &fit->setup.options;
    rb_dense w = fit->parameters.loadings;
    for (int64_t k = 0; !fit->setup.warm && k < w.rows; k++) {
        double variance = fit->survey.second[k];
        if (options->psi_init == 0) fit->parameters.noise[k] = variance;
        for (int64_t j = 0; options->weight_init == 0 && j < w.cols; j++)
            rb_dense_set(w, k, j, sqrt(variance) * rb_dense_get(w, k, j));
    }
}

/* By rule far above what loadings become: those of fits to D1, D3 and D7 of Clevert et al. 2015 are
 * up to 1.8 standard deviations. Theorem 4 of that paper needs a bound, whichever. */
static double weight_max(const rfn_setup *setup, double largest) {
    double bound = setup->options.weight_max;
    return bound < 0 ? 10 * sqrt(largest) : bound;
}

static rb_error check_survey(rb_context *ctx, const rfn_setup *setup, double largest) {
    if (largest < setup->options.psi_min) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the largest variance of a feature, %.3g, is below `psi-min` = %.3g; scale "
                       "the data (`scale=sd`) or take a smaller `psi-min`",
                       largest, setup->options.psi_min);
    }
    if (setup->problem.type == RB_FLOAT32 && largest > FLT_MAX) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the largest variance of a feature, %.3g, is beyond float32: divide the "
                       "data by a constant, or fit with `precision=float64`",
                       largest);
    }
    if (!(largest > 0)) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "every feature has the same value in all samples; there is nothing to fit");
    }
    return RB_OK;
}

rb_error rfn_survey_end(rb_context *ctx, void *state) {
    rfn_fit *fit = state;
    rfn_survey *survey = &fit->survey;
    const rb_problem *problem = &fit->setup.problem;
    for (int64_t k = 0; k < problem->n_features; k++) {
        double values = problem->missing ? survey->observed[k] : (double)problem->n_samples;
        survey->second[k] /= fmax(values, 1);
        survey->noise_max = fmax(survey->noise_max, survey->second[k]);
    }
    rb_error err = check_survey(ctx, &fit->setup, survey->noise_max);
    if (!err && problem->missing) err = rfn_missing_survey_end(&fit->persistent.missing);
    if (err) return err;
    survey->weight_max = weight_max(&fit->setup, survey->noise_max);
    use_units_of_data(fit);
    clamp_noise(fit);
    return rfn_full_noise_begin(ctx, &fit->setup, survey, &fit->parameters);
}

/* ---- acceleration ---- */

/* Back to feasible parameters and codes (Clevert et al. 2015, the projection of Theorem 1). */
void rfn_project_moved(rb_context *ctx, void *state) {
    rfn_fit *fit = state;
    clamp_noise(fit);
    for (int64_t k = 0; k < fit->setup.problem.n_features; k++)
        rfn_clamp_row(fit->parameters.loadings, k, fit->survey.weight_max);
    rfn_project_codes(ctx, &fit->persistent, &fit->codes);
}

bool rfn_is_steady(const void *state) {
    const rfn_fit *fit = state;
    return rfn_goes_on(&fit->setup, &fit->progress) && fit->codes.filled && rfn_may_stop(fit);
}

/* ---- the model ---- */

/* What codes of new samples need, and how good the codes of the fit are, which is not known of one
 * that was stopped. */
static rb_error store_guarantee(rb_context *ctx, const rfn_fit *fit, rb_model *model) {
    const rfn_persistent *p = &fit->persistent;
    rb_dense multipliers = rb_column(fit->codes.multipliers, fit->setup.options.units);
    rb_error err = rb_model_put_array(ctx, model, "multipliers", multipliers);
    if (err || !p->converged) return err;
    err = rb_model_put_array(ctx, model, "kkt_residual", rb_column(&p->residual, 1));
    return err ? err : rb_model_put_array(ctx, model, "certificate", rb_column(&p->certificate, 1));
}

/* How often each stage of the E-step moved the codes, as "newton 3, gradient 96". */
static rb_error store_wins(rb_context *ctx, rb_model *model) {
    char text[256] = "";
    size_t used = 0;
    for (int stage = 0; stage < RB_RFN_STAGES; stage++) {
        long long count = 0;
        for (int64_t t = 0; t < model->iterations; t++) {
            double value;
            count += rb_model_metric(model, t, "estep_stage", &value) == RB_OK && value == stage;
        }
        if (count > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %lld", used ? ", " : "",
                                     rb_rfn_stage_name(stage), count);
        }
    }
    return rb_model_set_attribute(ctx, model, "estep_wins", text);
}

/* Objectives of different iterations compare, unless loadings are shrunk or the prior mean moves:
 * where the last one is below the best by more than a hundredth of what the fit had gained, the
 * model says which was the best, from 1. */
static rb_error store_best(rb_context *ctx, const rfn_setup *setup, rb_model *model) {
    const rb_history *history = model->history;
    int64_t best = 0, last = model->iterations - 1;
    char text[32];
    if (setup->options.sparse_loadings > 0 || rfn_adapts(&setup->options) ||
        rfn_in_batches(&setup->problem))
        return RB_OK;
    for (int64_t t = 1; t <= last; t++)
        best = history[t].objective > history[best].objective ? t : best;
    double gained = last > 0 ? history[best].objective - history[0].objective : 0;
    if (gained <= 0 || history[best].objective - history[last].objective < 0.01 * gained)
        return RB_OK;
    snprintf(text, sizeof text, "%lld", (long long)best + 1);
    return rb_model_set_attribute(ctx, model, "best_iteration", text);
}

static rb_error store_parameters(rb_context *ctx, const rfn_fit *fit, rb_model *model) {
    const rfn_parameters *parameters = &fit->parameters;
    const rfn_psi *psi = &parameters->full;
    int64_t m = parameters->loadings.rows, l = parameters->loadings.cols;
    rb_error err = rb_model_put_array(ctx, model, "loadings", parameters->loadings);
    err = err ? err : rb_model_put_array(ctx, model, "noise", rb_column(parameters->noise, m));
    double *scale = err ? NULL : rb_model_add_array(ctx, model, "scale", l, 1);
    double *dead = scale ? rb_model_add_array(ctx, model, "dead", l, 1) : NULL;
    if (!dead) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < l; j++) {
        scale[j] = fit->progress.alive[j] ? fit->progress.scale[j] : 1;
        dead[j] = !fit->progress.alive[j];
    }
    err = rfn_prior_store(ctx, &parameters->prior, l, model);
    return err || !rfn_psi_is_full(psi)
               ? err
               : rb_model_put_array(ctx, model, "noise_covariance", psi->covariance);
}

rb_error rfn_store(rb_context *ctx, void *state, rb_model *model) {
    rfn_fit *fit = state;
    const rfn_setup *setup = &fit->setup;
    rb_error err = store_parameters(ctx, fit, model);
    err = err ? err : store_best(ctx, setup, model);
    err = err ? err : rfn_store_shrinking(ctx, setup, model);
    if (!err && fit->codes.filled && !fit->persistent.converged) {
        err = rfn_complete_multipliers(ctx, &fit->persistent, &fit->parameters, fit->progress.alive,
                                       fit->scratch.work, &fit->codes);
    }
    if (!err && fit->codes.filled) err = store_guarantee(ctx, fit, model);
    err = rb_comm_agree(ctx, err);
    if (err) return err;
    rfn_report_adaptation(ctx, fit);
    if (fit->device) err = rfn_device_report(fit->device, model);
    if (err) return err;
    rfn_report_shrinking(ctx, fit, model->iterations);
    return rfn_tries_candidates(&setup->options) ? store_wins(ctx, model) : RB_OK;
}
