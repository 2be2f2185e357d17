/* The M-step: fields by the model; for a while noise on them; their bounds; once the end
 * temperature is reached, sigma and prior. */
#include "fit.h"

#include <math.h>

static int64_t cells_of(rb_dense a) {
    return a.rows * a.cols;
}

static void bound_fields(const et_plan *plan, rb_dense fields) {
    const rb_et_model *model = &plan->setup.model.own;
    double *field = fields.data;
    for (int64_t i = 0; i < cells_of(fields); i++) {
        double value = plan->reflect ? fabs(field[i]) : field[i];
        /* NaN stays: it is looked for later. */
        value = value < model->min ? model->min : value;
        field[i] = value > model->max ? model->max : value;
    }
}

/* In the order of causes and features. */
void et_add_noise(const rb_problem *problem, int64_t iteration, double noise, rb_dense fields) {
    rb_stream stream = et_stream(problem, RB_RANDOM_FIELD_NOISE);
    double *field = fields.data;
    for (int64_t i = 0; i < cells_of(fields); i++) {
        uint64_t index = (uint64_t)iteration * (uint64_t)cells_of(fields) + (uint64_t)i;
        field[i] += noise * rb_random_normal(stream, index);
    }
}

double et_linear_variance(rb_context *ctx, const et_sums *m, rb_dense fields, rb_dense target) {
    double sum = m->squares;
    et_apply_second(ctx, m, fields, target);
    for (int64_t h = 0; h < fields.rows; h++) {
        const double *field = rb_dense_row(fields, h);
        const double *products = rb_dense_row(m->products, h), *qw = rb_dense_row(target, h);
        double row = 0;
        for (int64_t d = 0; d < fields.cols; d++)
            row += field[d] * (qw[d] - 2 * products[d]);
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
    if (f->plan.learn_sigma && m->values > 0)
        p->sigma = fmax(sqrt(fmax(variance(ctx, f), 0)), f->plan.min_sigma);
    if (p->shares && (o->learn_prior || o->prior_per_cause))
        et_learn_shares(&f->plan.setup, o->prior_per_cause, m->causes, p->shares);
    if (o->prior_per_cause) {
        double *active = f->work.active;
        for (int64_t h = 0; h < o->units; h++) {
            active[h] = 0;
            for (int64_t i = h; i < f->plan.setup.items; i += o->units)
                active[h] += m->causes[i];
            active[h] /= (double)m->used;
        }
        et_learn_priors(o->units, max, active, p->prior);
    } else if (o->learn_prior) {
        double prior = et_learn_prior(o->units, max, m->active / (double)m->used);
        for (int64_t h = 0; h < o->units; h++)
            p->prior[h] = prior;
    }
}

rb_error et_check_fields(rb_context *ctx, rb_dense fields) {
    const double *field = fields.data;
    for (int64_t i = 0; i < cells_of(fields); i++) {
        if (!isfinite(field[i])) {
            return rb_fail(ctx, RB_ERROR_NUMERIC,
                           "the field of cause %lld became infinite or NaN at feature %lld; "
                           "scale the data",
                           (long long)rb_nth(ctx, i / fields.cols),
                           (long long)rb_nth(ctx, i % fields.cols));
        }
    }
    return RB_OK;
}

/* ---- new fields ---- */

/* Quotients of sums over states; one without responsibility stays. MCA: W_hd = sum <A_hd> y_d / sum
 * <A_hd> (eq. 30). Items are samples of v W: Gaussian noise of a variance that is the same for all
 * weighs the equations v W = y by v, W = sum <A> v y / sum <A> v^2, as least squares does; Poisson
 * noise, whose variance is v W, by 1. */
rb_error et_mstep_shares(rb_context *ctx, const et_setup *setup, et_sums *sums, et_work *work,
                         et_parameters *p) {
    const et_values *values = &setup->values;
    const double *products = sums->products.data, *weights = sums->weights.data;
    int64_t cells = cells_of(p->fields);
    double *field = p->fields.data;
    for (int64_t i = 0; i < cells; i++) {
        double up = 0, down = 0;
        for (int a = 0; a < values->count; a++) {
            double value = values->value[a], weight = et_gaussian(&setup->model) ? value : 1;
            up += weight * products[a * cells + i];
            down += weight * value * weights[a * cells + i];
        }
        field[i] = down > 0 ? up / down : field[i];
    }
    return RB_OK;
}

/* NMF by multiplication (eq. 27): W <- W * P / (Q W), twenty times, with negative entries of P
 * taken as 0. It never lowers the likelihood. 0 / 0 keeps the field. */
rb_error et_mstep_multiplicative(rb_context *ctx, const et_setup *setup, et_sums *sums,
                                 et_work *work, et_parameters *p) {
    enum { TIMES = 20 };
    const double *up = sums->products.data, *down = work->target.data;
    double *field = p->fields.data;
    for (int time = 0; time < TIMES; time++) {
        et_apply_second(ctx, sums, p->fields, work->target);
        for (int64_t i = 0; i < cells_of(p->fields); i++) {
            /* In this order: a field that nearly vanished may grow again without overflow, for
             * field / down is at most 1 / Q_hh. */
            double next = field[i] / down[i] * (up[i] > 0 ? up[i] : 0);
            field[i] = down[i] > 0 && isfinite(next) ? next : field[i];
        }
    }
    return RB_OK;
}

/* ---- the M-step ---- */

rb_error et_mstep(rb_context *ctx, void *state) {
    et_fit *f = state;
    rb_dense fields = f->parameters.fields;
    int64_t iteration = f->progress.iteration;
    if (f->trace.metrics) et_trace_iteration(f);
    f->progress.last_used = f->sums.used;
    rb_error err =
        f->plan.setup.model.mstep(ctx, &f->plan.setup, &f->sums, &f->work, &f->parameters);
    if (err) return err;
    bound_fields(&f->plan, fields);
    if (et_schedule_ended(&f->plan.schedule, iteration)) learn(ctx, f);
    bool noisy = !et_noise_ended(&f->plan.schedule, iteration) || f->plan.options.as_printed;
    double noise = et_noise_at(&f->plan.schedule, iteration, noisy ? f->plan.noise : 0);
    if (noise > 0) {
        et_add_noise(&f->problem, iteration, noise, fields);
        bound_fields(&f->plan, fields);
    }
    f->progress.iteration++;
    return et_check_fields(ctx, fields);
}
