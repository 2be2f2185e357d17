/* Life of a fit: its memory, the model that it starts from, what is stored in the one it leaves. */
#include "device.h"

#include <math.h>
#include <string.h>

/* Shares of values from their probabilities; binary models have none. */
static rb_error load_shares(rb_context *ctx, const rb_model *model, const et_values *values,
                            et_parameters *p) {
    int64_t units = p->fields.rows, columns = 1;
    const double *prior = NULL;
    if (!p->shares || !rb_model_array(model, "value_prior", NULL, &columns)) return RB_OK;
    columns = columns == units ? units : 1;
    rb_error err = rb_model_need_array(ctx, model, "value_prior", values->count, columns, &prior);
    for (int64_t h = 0; !err && h < units; h++) {
        int64_t column = columns > 1 ? h : 0;
        double sum = 0;
        bool good = true;
        for (int a = 0; a < values->count; a++) {
            sum += prior[a * columns + column];
            good = good && prior[a * columns + column] > 0;
        }
        for (int a = 0; a < values->count; a++)
            p->shares[a * units + h] = prior[a * columns + column] / sum;
        if (!good) err = rb_fail(ctx, RB_ERROR_FORMAT, "a value_prior of the model is not above 0");
    }
    return err;
}

void et_start_shares(const et_values *values, et_parameters *p) {
    int64_t units = p->fields.rows;
    for (int64_t i = 0; p->shares && i < units * values->count; i++)
        p->shares[i] = values->share[i / units];
}

rb_error et_load_parameters(rb_context *ctx, const rb_model *model, const et_values *values,
                            et_parameters *p) {
    const double *loadings, *sigma, *prior = NULL;
    int64_t units = p->fields.rows, priors = 1;
    rb_model_array(model, "prior", &priors, NULL);
    priors = priors == units ? units : 1;
    rb_error err =
        rb_model_need_array(ctx, model, "loadings", p->fields.cols, p->fields.rows, &loadings);
    err = err ? err : rb_model_need_array(ctx, model, "sigma", 1, 1, &sigma);
    err = err ? err : rb_model_need_array(ctx, model, "prior", priors, 1, &prior);
    if (err) return err;
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
    rb_dense_transpose((rb_dense){(void *)loadings, p->fields.cols, units, units, RB_FLOAT64},
                       p->fields);
    return load_shares(ctx, model, values, p);
}

/* A binary model may begin a fit of any values; else they are the same. */
static rb_error check_values(rb_context *ctx, const et_values *wanted, const rb_model *start) {
    const char *recorded = rb_model_attribute(start, "values");
    et_values given = et_values_of(&(rb_et_options){.values = recorded});
    bool same = given.count == wanted->count;
    for (int a = 0; a < given.count; a++)
        same = same && given.value[a] == wanted->value[a];
    return same || et_binary(&given)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "the causes of the model to start from have the values %s; give the same",
                         recorded);
}

static rb_error take_parameters(rb_context *ctx, et_fit *f, const rb_model *start) {
    const et_values *values = &f->plan.setup.values;
    rb_error err = rb_model_starts(ctx, start, f->plan.options.units, f->problem.n_features);
    err = err ? err : check_values(ctx, values, start);
    f->warm = true;
    err = err ? err : et_load_parameters(ctx, start, values, &f->parameters);
    if (!err && f->plan.options.sigma > 0) f->parameters.sigma = f->plan.options.sigma;
    return err;
}

static rb_error begin(rb_context *ctx, et_fit *f, const void *options, const rb_model *start) {
    const rb_problem *problem = &f->problem;
    rb_error err = et_plan_of(ctx, problem, options, &f->plan);
    if (err) return err;
    f->shape = rb_shape_of(problem, options);
    err = rb_parts_new(ctx, problem->method->parts, &f->shape, f);
    err = err ? err : problem->engine->open(ctx, problem, options, &f->engine);
    if (!err && f->shape.dims[ET_SECOND] > 0)
        err = rb_spd_new(ctx, RB_FLOAT64, f->plan.options.units, &f->work.factor);
    if (!err) et_start_shares(&f->plan.setup.values, &f->parameters);
    if (!err) et_critical_start(f);
    return err || !start ? err : take_parameters(ctx, f, start);
}

rb_error et_start(rb_context *ctx, const rb_problem *problem, const void *options,
                  const rb_model *start, void **state) {
    et_fit *f = rb_alloc_zero(ctx, 1, sizeof *f);
    rb_error err = RB_ERROR_MEMORY;
    if (f) {
        f->problem = *problem;
        if (problem->device) f->problem.engine = &et_engine_device;
        err = begin(ctx, f, options, start);
    }
    if (err) et_finish(f);
    *state = err ? NULL : f;
    return err;
}

void et_finish(void *state) {
    et_fit *f = state;
    if (f) {
        f->problem.engine->close(f->engine);
        rb_parts_free(f->problem.method->parts, f);
        rb_spd_free(f->work.factor);
        rb_free(f);
    }
}

/* ---- the model ---- */

/* Fields of a fit that was stopped hot are averages of what they would have become. */
static void warn_if_hot(rb_context *ctx, const et_fit *f) {
    const et_schedule *s = &f->plan.schedule;
    double reached = et_temperature(s, f->progress.iteration > 0 ? f->progress.iteration - 1 : 0);
    if (f->progress.iteration < s->iterations && reached > s->end) {
        rb_log(ctx, RB_LOG_WARNING,
               "the fit stopped at temperature %.3g, before the end temperature, %.3g, at which "
               "causes are distinguished; use more time or fewer iterations",
               reached, s->end);
    }
}

rb_error et_store_fields(rb_context *ctx, rb_model *model, const char *name, rb_dense fields) {
    int64_t rows = fields.cols, columns = fields.rows;
    double *to = rb_model_add_array(ctx, model, name, rows, columns);
    if (to) rb_dense_transpose(fields, (rb_dense){to, rows, columns, columns, RB_FLOAT64});
    return to ? RB_OK : RB_ERROR_MEMORY;
}

/* The values besides 0, and p(s_h = v): a row for each of them, a column for all causes or each. */
static rb_error store_value_prior(rb_context *ctx, const et_fit *f, int64_t priors,
                                  rb_model *model) {
    const et_parameters *p = &f->parameters;
    const et_values *values = &f->plan.setup.values;
    if (et_binary(values)) return RB_OK;
    rb_error err =
        rb_model_put_array(ctx, model, "values", rb_column(values->value, values->count));
    double *to = err ? NULL : rb_model_add_array(ctx, model, "value_prior", values->count, priors);
    for (int64_t a = 0; to && a < values->count; a++)
        for (int64_t h = 0; h < priors; h++)
            to[a * priors + h] = p->prior[h] * et_share(p, a * p->fields.rows + h);
    return to ? RB_OK : RB_ERROR_MEMORY;
}

rb_error et_store(rb_context *ctx, void *state, rb_model *model) {
    const et_fit *f = state;
    const et_parameters *p = &f->parameters;
    int64_t units = p->fields.rows, priors = f->plan.options.prior_per_cause ? units : 1;
    double used = (double)f->progress.last_used, likelihood = f->progress.log_likelihood;
    rb_error err = et_store_fields(ctx, model, "loadings", p->fields);
    err = err ? err : rb_model_put_array(ctx, model, "sigma", rb_column(&p->sigma, 1));
    err = err ? err : rb_model_put_array(ctx, model, "prior", rb_column(p->prior, priors));
    err = err ? err : store_value_prior(ctx, f, priors, model);
    double *dead = err ? NULL : rb_model_add_array(ctx, model, "dead", units, 1);
    err = dead ? rb_model_put_array(ctx, model, "used", rb_column(&used, 1)) : RB_ERROR_MEMORY;
    if (!err && isfinite(likelihood)) /* in all but fits that were stopped */
        err = rb_model_put_array(ctx, model, "log_likelihood", rb_column(&likelihood, 1));
    if (err) return err;
    for (int64_t h = 0; h < units; h++)
        dead[h] = !f->progress.in_map[h];
    warn_if_hot(ctx, f);
    err = f->problem.device ? et_device_report(f->engine, model) : RB_OK;
    return err ? err : et_trace_store(ctx, f, model);
}
