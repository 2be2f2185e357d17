/* Life of a fit: memory, starting values, the survey of the data, what is stored in the model. */
#include "state.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows whole pages apart share few sets of a cache, and products with them are slow: their distance
 * is made another one. */
static rb_error codes_new(rb_context *ctx, rb_type type, int64_t rows, int64_t cols,
                          rb_dense *codes) {
    int64_t line = 64 / (int64_t)rb_type_size(type);
    rb_error err = rb_dense_new(ctx, type, rows, cols % (16 * line) ? cols : cols + line, codes);
    codes->cols = cols;
    return err;
}

static rb_error allocate_pass(rb_context *ctx, rfn_state *st) {
    int64_t m = st->problem.n_features, l = st->options.units;
    rb_type type = st->problem.type;
    int64_t tasks = rfn_task_count(st->problem.block_samples);
    rb_error err = rb_dense_new(ctx, type, m, l, &st->work);
    if (!err) {
        err = codes_new(ctx, type, st->problem.block_samples, l, &st->codes);
    }
    if (!err && rfn_has_newton(&st->options) && rfn_is_factored(&st->problem, l, false)) {
        err = rb_dense_new(ctx, type, st->problem.block_samples, l, &st->linear);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, m, l, &st->u);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, l, l, &st->s);
    }
    if (!err && st->problem.fit->trace) {
        err = rb_dense_new(ctx, type, l, l, &st->raw);
    }
    if (!err && st->problem.fit->trace) {
        err = rb_dense_new(ctx, type, l, l, &st->hessian);
    }
    if (!err && st->options.estep != RB_RFN_ESTEP_NEWTON) {
        err = rfn_held_new(ctx, st);
    }
    if (!err) {
        err = rfn_steering_new(ctx, st);
    }
    if (!err) {
        err = rfn_batches_new(ctx, st);
    }
    if (!err) {
        err = rfn_momentum_new(ctx, st);
    }
    if (!err) {
        err = rfn_randomness_new(ctx, st);
    }
    if (!err) {
        err = rfn_full_noise_new(ctx, st);
    }
    if (err) {
        return err;
    }
    st->offset = rb_alloc(ctx, l, rb_type_size(type));
    st->factors = rb_alloc(ctx, l, rb_type_size(type));
    st->zeros = rb_alloc_zero(ctx, l > m ? l : m, rb_type_size(type));
    st->task_sum = rb_alloc(ctx, tasks * l, sizeof *st->task_sum);
    st->task_largest = rb_alloc(ctx, tasks * l, sizeof *st->task_largest);
    st->mean = rb_alloc_zero(ctx, l, sizeof *st->mean);
    st->units.sum = rb_alloc_zero(ctx, l, sizeof *st->units.sum);
    st->units.scale = rb_alloc_zero(ctx, l, sizeof *st->units.scale);
    st->units.alive = rb_alloc_zero(ctx, l, sizeof *st->units.alive);
    st->units.candidates = rb_alloc_zero(ctx, l, sizeof *st->units.candidates);
    bool all = st->offset && st->factors && st->zeros && st->task_sum && st->task_largest &&
               st->mean && st->units.sum && st->units.scale && st->units.alive &&
               st->units.candidates;
    return all ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error allocate(rb_context *ctx, rfn_state *st) {
    int64_t m = st->problem.n_features, l = st->options.units;
    rb_type type = st->problem.type;
    rb_error err = rfn_parameters_new(ctx, type, m, l, &st->parameters);
    if (!err) {
        err = rfn_posterior_new(ctx, type, m, l, &st->posterior);
    }
    if (!err) {
        err = rb_spd_new(ctx, type, l, &st->factor);
    }
    if (!err && rfn_in_batches(st)) { /* factorisations would take a sixth of the time */
        st->posterior.hurried = true;
        rb_spd_round(st->posterior.factor);
        rb_spd_round(st->factor);
    }
    if (!err) {
        err = allocate_pass(ctx, st);
    }
    if (err) {
        return err;
    }
    st->second = rb_alloc_zero(ctx, m, sizeof *st->second);
    st->cross = rb_alloc_zero(ctx, m, sizeof *st->cross);
    st->quadratic = rb_alloc_zero(ctx, m, sizeof *st->quadratic);
    return st->second && st->cross && st->quadratic ? RB_OK : RB_ERROR_MEMORY;
}

/* Of the variance of a feature, or its root, where no number is given: fits of the same features in
 * other units are then the same. */
static const double PSI_MIN_SHARE = 1e-3, WEIGHT_INIT_SHARE = 0.01;

/* W_0 ~ N(0, weight_init^2), Psi_0 = psi_init. */
static void draw_parameters(rfn_state *st) {
    double sd = st->options.weight_init > 0 ? st->options.weight_init : WEIGHT_INIT_SHARE;
    rb_dense w = st->parameters.loadings;
    rb_stream stream = {.seed = (uint64_t)st->problem.fit->seed,
                        .purpose = RB_RANDOM_LOADINGS,
                        .restart = (uint32_t)st->problem.restart};
    for (int64_t k = 0; k < w.rows; k++) {
        st->parameters.noise[k] = st->options.psi_init;
        for (int64_t j = 0; j < w.cols; j++) {
            double draw = rb_random_normal(stream, (uint64_t)(k * w.cols + j));
            rb_dense_set(w, k, j, sd * draw);
        }
    }
}

/* A warm start takes the parameters of the model, which may be of another precision. */
static rb_error take_parameters(rb_context *ctx, rfn_state *st, const rb_model *start) {
    rb_dense w = st->parameters.loadings;
    if (rb_model_units(start) != w.cols || start->preprocess->n_features != w.rows) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from has %lld units and %lld features, but the fit has "
                       "%lld and %lld",
                       (long long)rb_model_units(start), (long long)start->preprocess->n_features,
                       (long long)w.cols, (long long)w.rows);
    }
    rfn_parameters_free(&st->parameters);
    rb_error err = rfn_parameters_load(ctx, st->problem.type, start, &st->parameters);
    if (!err && rfn_psi_is_full(&st->parameters.full) && st->options.noise != RB_RFN_PSI_FULL) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from has full noise: give --noise full");
    }
    return err;
}

/* Psi of zeros, unless a model has brought one: full_noise.c fills it once C is known. */
static rb_error make_full_noise(rb_context *ctx, rfn_state *st) {
    if (st->options.noise != RB_RFN_PSI_FULL || rfn_psi_is_full(&st->parameters.full)) {
        return RB_OK;
    }
    return rfn_psi_new(ctx, st->problem.n_features, st->options.units, &st->parameters.full);
}

rb_error rfn_start(rb_context *ctx, const rb_problem *problem, const void *options,
                   const rb_model *start, void **out) {
    *out = NULL;
    rfn_state *st = rb_alloc_zero(ctx, 1, sizeof *st);
    if (!st) {
        return RB_ERROR_MEMORY;
    }
    st->problem = *problem;
    st->options = *(const rb_rfn_options *)options;
    if (st->options.eta_psi == 0) {
        st->options.eta_psi = st->options.eta;
    }
    st->activation = (rfn_activation){st->options.activation, st->options.activation_threshold,
                                      st->options.activation_slope};
    rb_error err = rfn_check(ctx, problem, &st->options);
    err = err ? err : rfn_check_acceleration(ctx, problem, &st->options);
    if (!err) {
        err = rfn_check_steering(ctx, problem->fit->iterations, &st->options);
    }
    if (!err) {
        err = allocate(ctx, st);
    }
    st->warm = start != NULL;
    st->gain = 1;
    st->shrink_factor = 1;
    if (!err && start) {
        err = take_parameters(ctx, st, start);
    } else if (!err) {
        draw_parameters(st);
        err = rfn_prior_choose(ctx, problem->type, st->options.units, &st->options.prior_mean,
                               &st->options.prior_covariance, &st->parameters.prior);
    }
    if (!err && !start && rfn_steers(&st->options)) {
        rfn_prior_set_mean(&st->parameters.prior, st->options.units, 0); /* steer.c goes on */
    }
    if (!err) {
        err = make_full_noise(ctx, st);
    }
    if (err) {
        rfn_finish(st);
        return err;
    }
    *out = st;
    return RB_OK;
}

static void free_units(rfn_state *st) {
    for (int64_t j = 0; st->units.candidates && j < st->options.units; j++) {
        rb_free(st->units.candidates[j].row);
        rb_free(st->units.candidates[j].codes);
    }
    rb_free(st->units.candidates);
    rb_free(st->units.sum);
    rb_free(st->units.alive);
    rb_free(st->units.scale);
}

void rfn_finish(void *state) {
    rfn_state *st = state;
    if (!st) {
        return;
    }
    rfn_parameters_free(&st->parameters);
    rfn_posterior_free(&st->posterior);
    rb_spd_free(st->factor);
    rfn_held_free(&st->held);
    rb_free(st->steering.positive);
    rfn_noise_free(&st->noise);
    rfn_dropout_free(&st->dropout);
    rb_free(st->words);
    rb_dense_free(&st->velocity);
    rfn_full_noise_free(&st->full_noise);
    rb_dense_free(&st->work);
    rb_dense_free(&st->codes);
    rb_dense_free(&st->linear);
    rfn_batches_free(st);
    rb_dense_free(&st->u);
    rb_dense_free(&st->s);
    rb_dense_free(&st->raw);
    rb_dense_free(&st->hessian);
    rb_free(st->offset);
    rb_free(st->factors);
    rb_free(st->zeros);
    rb_free(st->task_sum);
    rb_free(st->task_largest);
    rb_free(st->transposed_starts);
    rb_free(st->transposed_columns);
    rb_free(st->transposed_values);
    rb_free(st->mean);
    rb_free(st->second);
    rb_free(st->cross);
    rb_free(st->quadratic);
    free_units(st);
    rb_free(st);
}

double rfn_noise_floor(const rfn_state *st, int64_t k) {
    double variance = st->second[k] > 0 ? st->second[k] : st->noise_max;
    return st->options.psi_min > 0 ? st->options.psi_min : PSI_MIN_SHARE * variance;
}

/* Once the variances of the features are known: what draw_parameters had no unit for. */
static void use_units_of_data(rfn_state *st) {
    rb_dense w = st->parameters.loadings;
    for (int64_t k = 0; !st->warm && k < w.rows; k++) {
        if (st->options.psi_init == 0) {
            st->parameters.noise[k] = st->second[k];
        }
        for (int64_t j = 0; st->options.weight_init == 0 && j < w.cols; j++) {
            rb_dense_set(w, k, j, sqrt(st->second[k]) * rb_dense_get(w, k, j));
        }
    }
}

rb_error rfn_survey(rb_context *ctx, void *state, const rb_block *block) {
    rfn_state *st = state;
    int64_t m = st->problem.n_features;
    rb_error err = rfn_full_noise_survey(ctx, st, block);
    if (err) {
        return err;
    }
    rb_block_feature_squares(ctx, block, st->second);
    rfn_noise_survey(st, block);
    if (block->first + block->n_samples < st->problem.n_samples) {
        return RB_OK;
    }
    for (int64_t k = 0; k < m; k++) {
        st->second[k] /= (double)st->problem.n_samples;
        st->noise_max = st->second[k] > st->noise_max ? st->second[k] : st->noise_max;
    }
    if (st->noise_max < st->options.psi_min) {
        return rb_fail(
            ctx, RB_ERROR_DATA,
            "the largest variance of a feature, %.3g, is below psi-min = %.3g; scale the "
            "data (--scale sd) or take a smaller --psi-min",
            st->noise_max, st->options.psi_min);
    }
    if (st->problem.type == RB_FLOAT32 && st->noise_max > FLT_MAX) {
        return rb_fail(
            ctx, RB_ERROR_DATA,
            "the largest variance of a feature, %.3g, is beyond float32: divide the data "
            "by a constant, or fit with --precision float64",
            st->noise_max);
    }
    if (!(st->noise_max > 0)) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "every feature has the same value in all samples: there is nothing to fit");
    }
    use_units_of_data(st);
    /* Clamping the noise cannot lower the objective once it is inside its bounds. */
    for (int64_t k = 0; k < m; k++) {
        double noise = fmax(st->parameters.noise[k], rfn_noise_floor(st, k));
        st->parameters.noise[k] = fmin(noise, st->noise_max);
    }
    return rfn_full_noise_begin(ctx, st);
}

/* What codes of new samples need, and how good the codes of the fit are, which is not known of one
 * that was stopped. */
static bool store_guarantee(rb_context *ctx, const rfn_state *st, rb_model *model) {
    int64_t l = st->options.units;
    double *multipliers = rb_model_add_array(ctx, model, "multipliers", l, 1);
    if (!multipliers) {
        return false;
    }
    memcpy(multipliers, st->held.multipliers, (size_t)l * sizeof *multipliers);
    if (!st->held.converged) {
        return true;
    }
    double *residual = rb_model_add_array(ctx, model, "kkt_residual", 1, 1);
    double *certificate = residual ? rb_model_add_array(ctx, model, "certificate", 1, 1) : NULL;
    if (certificate) {
        *residual = st->held.residual;
        *certificate = st->held.certificate;
    }
    return certificate != NULL;
}

/* How often each stage of the E-step moved the codes, as "newton 3, gradient 96". */
static rb_error store_wins(rb_context *ctx, rb_model *model) {
    char text[256] = "";
    size_t used = 0;
    for (int stage = 0; stage < RB_RFN_STAGES; stage++) {
        long long count = 0;
        for (int64_t t = 0; t < model->iterations; t++) {
            double value;
            count += rb_model_figure(model, t, "estep_stage", &value) == RB_OK && value == stage;
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
static rb_error store_best(rb_context *ctx, const rfn_state *st, rb_model *model) {
    const rb_history *history = model->history;
    int64_t best = 0, last = model->iterations - 1;
    char text[32];
    if (st->options.sparse_loadings > 0 || rfn_steers(&st->options) || rfn_in_batches(st)) {
        return RB_OK;
    }
    for (int64_t t = 1; t <= last; t++) {
        best = history[t].objective > history[best].objective ? t : best;
    }
    double gained = last > 0 ? history[best].objective - history[0].objective : 0;
    if (gained <= 0 || history[best].objective - history[last].objective < 0.01 * gained) {
        return RB_OK;
    }
    snprintf(text, sizeof text, "%lld", (long long)best + 1);
    return rb_model_set_attribute(ctx, model, "best_iteration", text);
}

rb_error rfn_store(rb_context *ctx, void *state, rb_model *model) {
    rfn_state *st = state;
    rb_dense w = st->parameters.loadings;
    double *loadings = rb_model_add_array(ctx, model, "loadings", w.rows, w.cols);
    double *noise = loadings ? rb_model_add_array(ctx, model, "noise", w.rows, 1) : NULL;
    double *scale = noise ? rb_model_add_array(ctx, model, "scale", w.cols, 1) : NULL;
    double *dead = scale ? rb_model_add_array(ctx, model, "dead", w.cols, 1) : NULL;
    if (!dead) {
        return RB_ERROR_MEMORY;
    }
    rb_dense_copy(w, (rb_dense){loadings, w.rows, w.cols, w.cols, RB_FLOAT64});
    memcpy(noise, st->parameters.noise, (size_t)w.rows * sizeof *noise);
    rb_error err = rfn_prior_store(ctx, &st->parameters.prior, w.cols, model);
    err = err ? err : rfn_psi_store(ctx, &st->parameters.full, model);
    err = err ? err : store_best(ctx, st, model);
    if (err) {
        return err;
    }
    if (st->held.filled && !st->held.converged && (err = rfn_held_settle(ctx, st)) != RB_OK) {
        return err;
    }
    if (st->held.filled && !store_guarantee(ctx, st, model)) {
        return RB_ERROR_MEMORY;
    }
    rfn_report_steering(ctx, st);
    if (rfn_still_begins(st)) {
        rb_log(ctx, RB_LOG_INFO,
               "the fit ended before loadings were shrunk and the prior mean was taken up, "
               "iterations 51 to 70: what is sparse in a longer one is not yet sparse");
    }
    if (rfn_tries_candidates(st) && store_wins(ctx, model)) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t j = 0; j < w.cols; j++) {
        scale[j] = rfn_is_dead(st, j) ? 1 : st->units.scale[j];
        dead[j] = rfn_is_dead(st, j);
    }
    return RB_OK;
}
