/* The M-step: fields by the model; while annealing, noise on them; their bounds; once the end
 * temperature is reached, sigma and prior. */
#include "fit.h"

#include <math.h>

static void bound_fields(const et_plan *plan, rb_dense fields) {
    const et_model *model = plan->model;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            double value = plan->reflect ? fabs(field[d]) : field[d];
            /* NaN stays: it is looked for later. */
            value = value < model->min ? model->min : value;
            field[d] = value > model->max ? model->max : value;
        }
    }
}

/* Standard deviation of the noise after this M-step. */
static double noise_now(const et_plan *plan, int64_t iteration, bool ended) {
    const et_knots *knots = &plan->schedule.noise;
    if (knots->count) {
        return et_knots_at(knots, (double)iteration / (double)plan->schedule.iterations);
    }
    return !ended || plan->options.as_printed ? plan->noise : 0;
}

/* N(0, noise^2) in the order of causes and features. */
static void add_noise(const rb_problem *problem, int64_t iteration, double noise, rb_dense fields) {
    rb_stream stream = {.seed = (uint64_t)problem->fit->seed,
                        .purpose = RB_RANDOM_FIELD_NOISE,
                        .restart = (uint32_t)problem->restart};
    uint64_t cells = (uint64_t)fields.rows * (uint64_t)fields.cols;
    uint64_t index = (uint64_t)iteration * cells;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            field[d] += noise * rb_random_normal(stream, index++);
        }
    }
}

double et_linear_variance(rb_context *ctx, const et_sums *m, rb_dense fields, rb_dense target) {
    double sum = m->squares;
    et_apply_second(ctx, m, fields, target);
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        const double *products = rb_dense_row(m->products, h), *qw = rb_dense_row(target, h);
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
static double variance(rb_context *ctx, et_fit *f) {
    const et_sums *m = &f->sums;
    bool moments = m->second.data && (!f->problem.missing || m->pairs.data);
    return moments ? et_linear_variance(ctx, m, f->parameters.fields, f->work.target)
                   : m->residual / m->values;
}

static void learn(rb_context *ctx, et_fit *f) {
    et_parameters *p = &f->parameters;
    const et_sums *m = &f->sums;
    const rb_et_options *o = &f->plan.options;
    int64_t max = f->plan.setup.widest_active;
    if (f->plan.learn_sigma && m->values > 0) {
        p->sigma = fmax(sqrt(fmax(variance(ctx, f), 0)), f->plan.min_sigma);
    }
    if (o->prior_per_cause) {
        double *active = f->work.active;
        for (int64_t h = 0; h < o->units; h++) {
            active[h] = m->causes[h] / (double)m->used;
        }
        et_learn_priors(o->units, max, active, p->prior);
    } else if (o->learn_prior) {
        double prior = et_learn_prior(o->units, max, m->active / (double)m->used);
        for (int64_t h = 0; h < o->units; h++) {
            p->prior[h] = prior;
        }
    }
}

static rb_error check_finite(rb_context *ctx, rb_dense fields) {
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

/* ---- new fields ---- */

/* Quotients of sums over states; one without responsibility stays. MCA: W_hd = sum <A_hd> y_d / sum
 * <A_hd> (eq. 30). */
rb_error et_mstep_shares(rb_context *ctx, et_sums *sums, et_work *work, et_parameters *p) {
    rb_dense fields = p->fields;
    (void)ctx;
    (void)work;
    for (int64_t h = 0; h < fields.rows; h++) {
        double *field = rb_dense_row(fields, h);
        const double *products = rb_dense_row(sums->products, h);
        const double *weights = rb_dense_row(sums->weights, h);
        for (int64_t d = 0; d < fields.cols; d++) {
            field[d] = weights[d] > 0 ? products[d] / weights[d] : field[d];
        }
    }
    return RB_OK;
}

/* NMF by multiplication (eq. 27): W <- W * P / (Q W), twenty times, with negative entries of P
 * taken as 0. It never lowers the likelihood. 0 / 0 keeps the field. */
enum { TIMES = 20 };

rb_error et_mstep_multiplicative(rb_context *ctx, et_sums *sums, et_work *work, et_parameters *p) {
    rb_dense fields = p->fields, products = sums->products;
    for (int time = 0; time < TIMES; time++) {
        et_apply_second(ctx, sums, fields, work->target);
        for (int64_t h = 0; h < fields.rows; h++) {
            double *field = rb_dense_row(fields, h);
            const double *up = rb_dense_row(products, h), *down = rb_dense_row(work->target, h);
            for (int64_t d = 0; d < fields.cols; d++) {
                /* In this order: a field that nearly vanished may grow again without overflow, for
                 * field / down is at most 1 / Q_hh. */
                double next = field[d] / down[d] * (up[d] > 0 ? up[d] : 0);
                if (down[d] > 0 && isfinite(next)) {
                    field[d] = next;
                }
            }
        }
    }
    return RB_OK;
}

/* ---- the M-step ---- */

rb_error et_mstep(rb_context *ctx, void *state) {
    et_fit *f = state;
    rb_dense fields = f->parameters.fields;
    int64_t iteration = f->progress.iteration;
    bool ended = et_schedule_ended(&f->plan.schedule, iteration);
    if (f->trace.metrics) {
        et_trace_iteration(&f->trace, &f->plan.schedule, &f->sums, &f->parameters, iteration);
    }
    f->progress.last_used = f->sums.used;
    rb_error err = f->plan.mstep(ctx, &f->sums, &f->work, &f->parameters);
    if (err) {
        return err;
    }
    bound_fields(&f->plan, fields);
    if (ended) {
        learn(ctx, f);
    }
    double noise = noise_now(&f->plan, iteration, ended);
    if (noise > 0) {
        add_noise(&f->problem, iteration, noise, fields);
        bound_fields(&f->plan, fields);
    }
    f->progress.iteration++;
    return check_finite(ctx, fields);
}
