/* The M-step: fields by the model; while annealing, noise on them; their bounds; once the end
 * temperature is reached, sigma and prior. */
#include "fit.h"

#include <math.h>

static void bound_fields(const et_state *st, rb_dense fields) {
    bool reflect = st->options.negative == RB_ET_NEGATIVE_REFLECT && st->model->non_negative;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            double value = reflect ? fabs(field[d]) : field[d];
            /* NaN stays: it is looked for later. */
            value = value < st->model->least ? st->model->least : value;
            field[d] = value > st->model->most ? st->model->most : value;
        }
    }
}

/* Standard deviation of the noise after this M-step. */
static double noise_now(const et_state *st, bool ended) {
    const et_knots *knots = &st->schedule.noise;
    if (knots->count) {
        return et_knots_at(knots, (double)st->iteration / (double)st->schedule.iterations);
    }
    return !ended || st->options.as_printed ? st->noise : 0;
}

/* N(0, noise^2) in the order of causes and features. */
static void add_noise(const et_state *st, double noise, rb_dense fields) {
    rb_stream stream = {.seed = (uint64_t)st->problem.fit->seed,
                        .purpose = RB_RANDOM_FIELD_NOISE,
                        .restart = (uint32_t)st->problem.restart};
    uint64_t cells = (uint64_t)fields.rows * (uint64_t)fields.cols;
    uint64_t index = (uint64_t)st->iteration * cells;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            field[d] += noise * rb_random_normal(stream, index++);
        }
    }
}

double et_linear_variance(rb_context *ctx, et_state *st) {
    const et_moments *m = &st->moments;
    rb_dense fields = st->engine->parameters.fields;
    double sum = m->squares;
    et_apply_second(ctx, st);
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        const double *products = rb_dense_row(m->products, h), *qw = rb_dense_row(st->target, h);
        double row = 0;
        for (int64_t d = 0; d < fields.cols; d++) {
            row += field[d] * (qw[d] - 2 * products[d]);
        }
        sum += row;
    }
    return sum / m->values;
}

/* <|y - Wbar(s)|^2> of a value. Where no moments give it, it is that of the fields of the E-step:
 * with those after it, it would cost a second pass. */
static double variance(rb_context *ctx, et_state *st) {
    const et_moments *m = &st->moments;
    bool moments = !st->model->max && (!st->problem.missing || m->pairs.data);
    return moments ? et_linear_variance(ctx, st) : m->residual / m->values;
}

static void learn(rb_context *ctx, et_state *st) {
    et_parameters *p = &st->engine->parameters;
    const et_moments *m = &st->moments;
    int64_t most = et_most_active(st->engine);
    if (st->learn_sigma && m->values > 0) {
        p->sigma = fmax(sqrt(fmax(variance(ctx, st), 0)), st->least_sigma);
    }
    if (st->options.prior_per_cause) {
        double *active = st->engine->scratch[0].scores;
        for (int64_t h = 0; h < p->fields.rows; h++) {
            active[h] = m->sums[h] / (double)m->used;
        }
        et_learn_priors(st->options.units, most, active, p->prior);
    } else if (st->options.learn_prior) {
        double prior = et_learn_prior(st->options.units, most, m->active / (double)m->used);
        for (int64_t h = 0; h < p->fields.rows; h++) {
            p->prior[h] = prior;
        }
    }
}

static rb_error check_finite(rb_context *ctx, const et_state *st) {
    rb_dense fields = st->engine->parameters.fields;
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            if (!isfinite(field[d])) {
                return rb_fail(ctx, RB_ERROR_NUMERIC,
                               "the field of cause %lld became infinite or NaN at feature %lld; "
                               "scale the data",
                               (long long)h, (long long)d);
            }
        }
    }
    return RB_OK;
}

rb_error et_mstep(rb_context *ctx, void *state) {
    et_state *st = state;
    rb_dense fields = st->engine->parameters.fields;
    bool ended = et_schedule_ended(&st->schedule, st->iteration);
    et_trace_iteration(st);
    st->last_used = st->moments.used;
    rb_error err = st->model->mstep(ctx, st);
    if (err) {
        return err;
    }
    bound_fields(st, fields);
    if (ended) {
        learn(ctx, st);
    }
    double noise = noise_now(st, ended);
    if (noise > 0) {
        add_noise(st, noise, fields);
        bound_fields(st, fields);
    }
    st->iteration++;
    return check_finite(ctx, st);
}

/* The log evidence of all samples, at the temperature of the iteration. */
void et_objective(void *state, double *objective, double *estep_objective) {
    const et_state *st = state;
    *objective = st->all_evidence;
    *estep_objective = NAN;
}

bool et_may_stop(const void *state) {
    const et_state *st = state;
    return et_schedule_ended(&st->schedule, st->iteration);
}
