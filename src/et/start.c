/* Life of a fit: memory, starting values from the data, what is stored in the model. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static rb_error allocate_mstep(rb_context *ctx, et_state *st) {
    int64_t h = st->options.units, d = st->problem.n_features;
    rb_error err = et_moments_new(ctx, st, &st->moments);
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, d, &st->target);
    }
    if (!err && st->model->max) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, d, &st->powers);
        return err ? err : rb_dense_new(ctx, RB_FLOAT64, h, d, &st->roots);
    }
    if (err || st->model->keep != ET_KEEP_PAIRS) {
        return err;
    }
    if (!err) {
        err = rb_spd_new(ctx, RB_FLOAT64, h, &st->factor);
    }
    if (!err) {
        err = rb_dense_new(ctx, RB_FLOAT64, h, h, &st->system);
    }
    return err ? err : rb_dense_new(ctx, RB_FLOAT64, h, h, &st->inverse);
}

static rb_error allocate(rb_context *ctx, et_state *st, const et_setup *setup) {
    int64_t n = st->problem.n_samples, room = st->problem.block_samples;
    rb_error err = et_engine_new(ctx, setup, &st->engine);
    if (!err) {
        err = et_results_new(ctx, st->engine, room, st->model->keep, &st->results);
    }
    if (!err && (st->problem.sparse || st->problem.missing)) {
        err = rb_dense_new(ctx, st->problem.type, room, st->problem.n_features, &st->rows);
    }
    if (!err && st->problem.missing) {
        err = rb_dense_new(ctx, st->problem.type, room, st->problem.n_features, &st->mask);
    }
    if (!err) {
        err = allocate_mstep(ctx, st);
    }
    if (!err) {
        err = et_survey_new(ctx, &st->survey);
    }
    if (!err) {
        err = et_trace_new(ctx, st);
    }
    if (err) {
        return err;
    }
    st->evidence = rb_alloc_zero(ctx, n, sizeof *st->evidence);
    st->work = rb_alloc(ctx, n, sizeof *st->work);
    st->in_map = rb_alloc_zero(ctx, st->options.units, sizeof *st->in_map);
    return st->evidence && st->work && st->in_map ? RB_OK : RB_ERROR_MEMORY;
}

void et_finish(void *state) {
    et_state *st = state;
    if (!st) {
        return;
    }
    et_engine_free(st->engine);
    et_results_free(&st->results);
    et_moments_free(&st->moments);
    et_survey_free(&st->survey);
    et_trace_free(&st->trace);
    rb_spd_free(st->factor);
    rb_dense *matrices[] = {&st->rows,    &st->mask,   &st->target, &st->system,
                            &st->inverse, &st->powers, &st->roots};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        rb_dense_free(matrices[i]);
    }
    rb_free(st->evidence);
    rb_free(st->work);
    rb_free(st->in_map);
    rb_free(st);
}

/* ---- what the options say ---- */

/* Says when there are fewer causes than were asked for; defaults give way in silence. */
static void warn_of_limits(rb_context *ctx, const rb_et_options *o, const et_setup *setup) {
    rb_et_options usual;
    rb_rows_default(et_option_rows, &usual);
    if (!o->exact && o->candidates > o->units) {
        rb_log(ctx, RB_LOG_WARNING,
               "candidates is %lld, but there are %lld units: all are looked at",
               (long long)o->candidates, (long long)o->units);
    }
    if (!o->exact && !o->count && o->max_active > setup->candidates &&
        o->max_active != usual.max_active) {
        rb_log(ctx, RB_LOG_WARNING,
               "max-active is %lld, but there are %lld candidates: at most so many are active",
               (long long)o->max_active, (long long)setup->candidates);
    }
}

static bool given(const char *text) {
    return text && *text;
}

/* Courses over the iterations; each says what another option says otherwise. */
static rb_error read_schedules(rb_context *ctx, const rb_et_options *o, et_schedule *s) {
    bool noise = given(o->weight_noise_schedule), cut = given(o->cut_schedule);
    if (noise && o->weight_noise >= 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "weight-noise and weight-noise-schedule are both given; leave one out");
    }
    if (cut && o->cut_factor != 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "cut-factor and cut-schedule are both given; leave one out");
    }
    rb_error err = given(o->temperature) ? et_schedule_parse(ctx, o->temperature, s) : RB_OK;
    if (!err && noise) {
        err = et_knots_parse(ctx, "weight-noise-schedule", o->weight_noise_schedule, 0, 1e150,
                             &s->noise);
    }
    if (!err && cut) {
        err = et_knots_parse(ctx, "cut-schedule", o->cut_schedule, 0, 1, &s->cut);
    }
    return err;
}

/* What is wrong with options of which others leave nothing; NULL: nothing. */
static const char *idle_option(const rb_et_options *o) {
    rb_et_options usual;
    rb_rows_default(et_option_rows, &usual);
    if (o->exact && o->candidates) {
        return "candidates does nothing where exact looks at all causes; leave one of them out";
    }
    if (o->exact && o->selection != RB_ET_SELECT_AUTO) {
        return "selection does nothing where exact looks at all causes; leave one of them out";
    }
    if ((o->exact || o->count) && o->max_active != usual.max_active) {
        return "max-active does nothing where all states or a fixed count are looked at; leave it "
               "out";
    }
    if ((o->exact || o->count) && o->singletons != RB_ET_SINGLETONS_AUTO) {
        return "singletons does nothing where all states or a fixed count are looked at; leave it "
               "out";
    }
    if (o->count && o->prior > 0) {
        return "prior does nothing with a fixed count of causes; leave one of them out";
    }
    if (o->count && (o->learn_prior || o->prior_per_cause)) {
        return "with a fixed count of causes there is no prior to learn; leave out count, or "
               "learn-prior and prior-per-cause";
    }
    if (o->noise == RB_ET_POISSON && (o->sigma > 0 || o->learn_sigma)) {
        return "Poisson noise has no sigma; leave out sigma and learn-sigma";
    }
    return NULL;
}

/* What is wrong with how fields are to begin and to be disturbed; NULL: nothing. */
static const char *wrong_start(const rb_et_options *o, const et_model *model) {
    if (o->weight_noise < 0 && o->weight_noise != -1) {
        return "weight-noise must be a standard deviation of 0 or more, or -1 to take it from the "
               "data";
    }
    if (o->init_sd < 0 && o->init_sd != -1) {
        return "init-sd must be a standard deviation of 0 or more, or -1 to start from the data";
    }
    if (o->init_sd < 0 && o->init_mean != 0) {
        return "init-mean is given without init-sd; give both, or neither to start from the data";
    }
    if (o->init_sd >= 0 && (o->init_mean < fmin(0, model->least) || o->init_mean > model->most)) {
        return "init-mean is outside of the values that a field of this method may have";
    }
    return NULL;
}

static rb_error read_options(rb_context *ctx, et_state *st, et_setup *setup) {
    rb_et_options *o = &st->options;
    rb_error err = et_setup_of(ctx, st->model, o, st->problem.n_features, st->problem.type, setup);
    if (err) {
        return err;
    }
    setup->missing = st->problem.missing;
    const char *wrong = idle_option(o);
    wrong = wrong ? wrong : wrong_start(o, st->model);
    if (wrong) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "%s", wrong);
    }
    if (st->problem.restart == 0) {
        warn_of_limits(ctx, o, setup);
    }
    o->max_active = setup->max_active;
    st->anneal_prior =
        o->anneal_prior == RB_ET_ANNEAL_YES ||
        (o->anneal_prior == RB_ET_ANNEAL_AUTO && (st->model->anneal_prior || o->as_printed));
    st->learn_sigma = !st->model->general && (o->learn_sigma || o->sigma == 0);
    st->schedule =
        (et_schedule){.iterations = st->problem.fit->iterations, .end = st->model->end_temperature};
    return read_schedules(ctx, o, &st->schedule);
}

/* ---- parameters of a model ---- */

rb_error et_load_parameters(rb_context *ctx, const rb_model *model, et_engine *engine) {
    et_parameters *p = &engine->parameters;
    const double *loadings, *sigma, *prior = NULL;
    int64_t units = p->fields.rows, priors = 1;
    rb_model_array(model, "prior", &priors, NULL);
    priors = priors == units ? units : 1;
    rb_error err =
        rb_model_need_array(ctx, model, "loadings", p->fields.cols, p->fields.rows, &loadings);
    if (!err) {
        err = rb_model_need_array(ctx, model, "sigma", 1, 1, &sigma);
    }
    if (!err) {
        err = rb_model_need_array(ctx, model, "prior", priors, 1, &prior);
    }
    if (err) {
        return err;
    }
    bool good = sigma[0] > 0;
    for (int64_t h = 0; h < units; h++) {
        p->prior[h] = prior[priors > 1 ? h : 0];
        good = good && p->prior[h] > 0 && p->prior[h] < 1;
    }
    if (!good) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "sigma and prior of the model must be above 0, and between 0 and 1, but are "
                       "%.3g and %.3g (the first)",
                       sigma[0], prior[0]);
    }
    p->sigma = sigma[0];
    for (int64_t d = 0; d < p->fields.cols; d++) {
        for (int64_t h = 0; h < p->fields.rows; h++) {
            rb_dense_set(p->fields, h, d, loadings[d * p->fields.rows + h]);
        }
    }
    return RB_OK;
}

static rb_error take_parameters(rb_context *ctx, et_state *st, const rb_model *start) {
    if (rb_model_units(start) != st->options.units ||
        start->preprocess->n_features != st->problem.n_features) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from has %lld units and %lld features, but the fit has "
                       "%lld and %lld",
                       (long long)rb_model_units(start), (long long)start->preprocess->n_features,
                       (long long)st->options.units, (long long)st->problem.n_features);
    }
    st->warm = true;
    rb_error err = et_load_parameters(ctx, start, st->engine);
    if (!err && st->options.sigma > 0) {
        st->engine->parameters.sigma = st->options.sigma;
    }
    return err;
}

rb_error et_start(rb_context *ctx, const rb_problem *problem, const rb_et_options *options,
                  const rb_model *start, void **out) {
    *out = NULL;
    et_state *st = rb_alloc_zero(ctx, 1, sizeof *st);
    if (!st) {
        return RB_ERROR_MEMORY;
    }
    st->problem = *problem;
    st->options = *options;
    st->model = et_model_of(problem->method, options, &st->own_model);
    et_setup setup;
    rb_error err = read_options(ctx, st, &setup);
    if (!err) {
        err = allocate(ctx, st, &setup);
    }
    if (!err && start) {
        err = take_parameters(ctx, st, start);
    }
    if (err) {
        et_finish(st);
        return err;
    }
    *out = st;
    return RB_OK;
}

/* ---- what the data say ---- */

/* W ~ N(mean, sd^2), within its bounds, in the order of causes and features. */
static void draw_fields(et_state *st, double mean, double sd) {
    rb_dense fields = st->engine->parameters.fields;
    rb_stream stream = {.seed = (uint64_t)st->problem.fit->seed,
                        .purpose = RB_RANDOM_LOADINGS,
                        .restart = (uint32_t)st->problem.restart};
    uint64_t index = 0;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            double value = mean + sd * rb_random_normal(stream, index++);
            field[d] = fmin(fmax(value, st->model->least), st->model->most);
        }
    }
}

/* A cold start: what was not given follows from mean and standard deviation of the data. Fields of
 * either sign begin around 0, others around the mean. */
static void start_anew(et_state *st) {
    const rb_et_options *o = &st->options;
    const et_survey *data = &st->survey;
    et_parameters *p = &st->engine->parameters;
    double mean = st->model->non_negative ? fabs(data->mean) : 0;
    double sd = (st->model->non_negative && mean > 0 ? mean : data->sd) / 3;
    double prior = o->prior > 0 ? o->prior : fmin(0.5, 2 / (double)o->units);
    p->sigma = o->sigma > 0 ? o->sigma : st->model->general ? 1 : data->sd / 2;
    for (int64_t h = 0; h < o->units; h++) {
        p->prior[h] = fmin(fmax(prior, 1e-5), 1 - 1e-5);
    }
    if (o->init_sd >= 0) {
        draw_fields(st, o->init_mean, o->init_sd);
    } else {
        draw_fields(st, mean, sd);
    }
}

/* Noise and temperature; a warm start does neither unless asked to. */
static void settle_annealing(et_state *st) {
    const rb_et_options *o = &st->options;
    const et_survey *data = &st->survey;
    double sigma = st->engine->parameters.sigma;
    bool by_mean = st->model->non_negative && data->mean != 0;
    st->noise = o->weight_noise;
    if (o->weight_noise < 0) {
        st->noise = st->warm ? 0 : by_mean ? fabs(data->mean) / 80 : data->sd / 120;
    }
    if (st->schedule.start == 0) {
        double hot = 0.52 * data->large * data->large / (sigma * sigma);
        if (st->model->general) {
            /* Counts vary by about their root; other noises are taken to be of order 1. */
            hot = 0.52 * fmax(data->large, 8);
        }
        st->schedule.start = st->warm ? st->schedule.end : fmax(fmin(hot, 1e12), st->schedule.end);
    }
}

rb_error et_survey_block(rb_context *ctx, void *state, const rb_block *block) {
    et_state *st = state;
    rb_dense rows = et_given_rows(st, block);
    rb_error err = et_check_values(ctx, st->model, block->first, rows);
    if (err) {
        return err;
    }
    et_survey_add(&st->survey, rows);
    if (block->first + block->n_samples < st->problem.n_samples) {
        return RB_OK;
    }
    if (st->survey.count == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "there is nothing to fit: all values are missing");
    }
    et_survey_finish(&st->survey);
    st->least_sigma = 1e-3 * st->survey.sd;
    if (!st->warm) {
        start_anew(st);
    }
    settle_annealing(st);
    return RB_OK;
}

/* ---- the model ---- */

/* Fields of a fit that was stopped hot are averages of what they would have become. */
static void warn_if_hot(rb_context *ctx, const et_state *st) {
    const et_schedule *s = &st->schedule;
    double reached = et_temperature(s, st->iteration > 0 ? st->iteration - 1 : 0);
    if (st->iteration < s->iterations && reached > s->end) {
        rb_log(ctx, RB_LOG_WARNING,
               "the fit was stopped at temperature %.3g and never reached the end temperature, "
               "%.3g, where causes are told apart; give it more time or fewer iterations",
               reached, s->end);
    }
}

rb_error et_store(rb_context *ctx, void *state, rb_model *model) {
    const et_state *st = state;
    const et_parameters *p = &st->engine->parameters;
    int64_t units = p->fields.rows, features = p->fields.cols;
    double *loadings = rb_model_add_array(ctx, model, "loadings", features, units);
    double *sigma = loadings ? rb_model_add_array(ctx, model, "sigma", 1, 1) : NULL;
    int64_t priors = st->options.prior_per_cause ? units : 1;
    double *prior = sigma ? rb_model_add_array(ctx, model, "prior", priors, 1) : NULL;
    double *dead = prior ? rb_model_add_array(ctx, model, "dead", units, 1) : NULL;
    double *used = dead ? rb_model_add_array(ctx, model, "used", 1, 1) : NULL;
    bool known = isfinite(st->log_likelihood); /* by all but fits that were stopped */
    double *likelihood =
        used && known ? rb_model_add_array(ctx, model, "log_likelihood", 1, 1) : NULL;
    if (!used || (known && !likelihood)) {
        return RB_ERROR_MEMORY;
    }
    warn_if_hot(ctx, st);
    for (int64_t d = 0; d < features; d++) {
        for (int64_t h = 0; h < units; h++) {
            loadings[d * units + h] = rb_dense_get(p->fields, h, d);
        }
    }
    sigma[0] = p->sigma;
    memcpy(prior, p->prior, (size_t)priors * sizeof *prior);
    for (int64_t h = 0; h < units; h++) {
        dead[h] = !st->in_map[h];
    }
    used[0] = (double)st->last_used;
    if (known) {
        likelihood[0] = st->log_likelihood;
    }
    return et_trace_store(ctx, st, model);
}
