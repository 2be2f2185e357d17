/* Mean, standard deviation and a high percentile of all values, in one pass; and what follows from
 * them where options leave it open: starting values, noise on fields, temperature. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Sign removed, exponent and 7 bits of the mantissa of a float32: neighbours differ by 0.8 % at
 * most. */
enum { SHIFT = 16 };

static uint32_t bin_of(double value) {
    float magnitude = (float)fabs(value);
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return bits >> SHIFT;
}

static double value_of(uint32_t bin) {
    uint32_t bits = bin << SHIFT;
    float magnitude;
    memcpy(&magnitude, &bits, sizeof magnitude);
    return (double)magnitude;
}

static void add_sample(void *user, rb_dense row) {
    et_survey *survey = user;
    const double *values = row.data;
    for (int64_t d = 0; d < row.cols; d++) {
        if (!isnan(values[d])) {
            survey->count++;
            survey->sum += values[d];
            survey->squares += values[d] * values[d];
            survey->bins[bin_of(values[d])]++;
        }
    }
}

rb_error et_survey_block(rb_context *ctx, void *state, const rb_block *block) {
    et_fit *f = state;
    const et_model *model = &f->plan.setup.model;
    rb_error err = et_each_row(ctx, model, block, f->work.row, add_sample, &f->survey);
    if (!err) et_critical_add(f, block);
    return err;
}

/* What is known of the values. */
struct values {
    double mean, sd; /* sd is above 0 */
    double large;    /* the 99th percentile of |y|, within 1 % */
};

static struct values summarise(const et_survey *survey) {
    struct values v = {0};
    double seen = 0;
    uint32_t bin = 0;
    for (; bin + 1 < ET_SURVEY_BINS && seen + (double)survey->bins[bin] < 0.99 * survey->count;
         bin++)
        seen += (double)survey->bins[bin];
    v.large = fmin(value_of(bin), 1e30);
    v.mean = survey->sum / survey->count;
    v.sd = sqrt(fmax(0, survey->squares / survey->count - v.mean * v.mean));
    /* Data that do not vary: any noise will do, on their scale. */
    double scale = fabs(v.mean) > 0 ? fabs(v.mean) : 1;
    v.sd = v.sd > 1e-6 * scale ? v.sd : scale;
    return v;
}

/* ---- what the data decide ---- */

/* How large an active cause is: what fields are smaller by than samples. */
static double mean_size(const et_values *values) {
    double size = 0;
    for (int a = 0; a < values->count; a++)
        size += values->share[a] * fabs(values->value[a]);
    return size;
}

/* The soft maximum of mca sharpens with the temperature, not with the noise. To tell values from
 * larger fields it must be sharp while the noise is still large: such a fit begins with more noise,
 * and so less hot (bars of three heights: all found in 5 of 5 trials, with sd / 2 in 0 of 4). */
static double start_sigma(const et_fit *f, double sd) {
    bool maximum = f->plan.setup.model.summing == &et_sum_max;
    return maximum && f->plan.setup.values.count > 1 ? sd : sd / 2;
}

/* A cold start: what was not given follows from the data. Fields of either sign begin around 0,
 * others around the mean: by_mean. W ~ N(mean, sd^2), within its bounds, in the order of causes and
 * features. */
static void start_anew(et_fit *f, struct values data, bool by_mean) {
    const rb_et_options *o = &f->plan.options;
    const et_model *model = &f->plan.setup.model;
    et_parameters *p = &f->parameters;
    rb_stream stream = et_stream(&f->problem, RB_RANDOM_LOADINGS);
    const et_values *values = &f->plan.setup.values;
    double size = mean_size(values);
    double mean = by_mean ? fabs(data.mean) / size : 0;
    double sd = (by_mean ? mean : data.sd / size) / 3;
    double given = o->prior > 0 ? o->prior : values->prior;
    double prior = given > 0 ? given : fmin(0.5, 2 / (double)o->units);
    double *field = p->fields.data;
    mean = o->init_sd >= 0 ? o->init_mean : mean;
    sd = o->init_sd >= 0 ? o->init_sd : sd;
    p->sigma = o->sigma > 0 ? o->sigma : et_gaussian(model) ? start_sigma(f, data.sd) : 1;
    for (int64_t h = 0; h < o->units; h++)
        p->prior[h] = fmin(fmax(prior, 1e-5), 1 - 1e-5);
    for (int64_t i = 0; i < p->fields.rows * p->fields.cols; i++) {
        double value = mean + sd * rb_random_normal(stream, (uint64_t)i);
        field[i] = fmin(fmax(value, model->own.min), model->own.max);
    }
}

/* Noise and temperature; a warm start does neither unless asked to. */
static void choose_annealing(et_fit *f, struct values data, bool by_mean) {
    et_plan *plan = &f->plan;
    et_schedule *s = &plan->schedule;
    plan->noise = plan->options.weight_noise;
    double usual =
        (by_mean ? fabs(data.mean) / 80 : data.sd / 120) / mean_size(&plan->setup.values);
    if (plan->noise < 0) plan->noise = f->warm ? 0 : usual;
    if (s->start == 0 && f->shape.dims[ET_SKETCH] > 0) {
        double hot = et_critical_variance(f) / (f->parameters.sigma * f->parameters.sigma);
        s->start = f->warm ? s->end : fmax(fmin(hot, 1e12), s->end);
    } else if (s->start == 0) {
        /* All states are about as likely. Counts vary by about their root; other noises by
         * functions are taken to be of order 1. */
        double large = data.large, sigma = f->parameters.sigma;
        bool gaussian = et_gaussian(&plan->setup.model);
        double hot = 0.52 * (gaussian ? large : fmax(large, 8));
        hot = gaussian ? hot * large / (sigma * sigma) : hot;
        s->start = f->warm ? s->end : fmax(fmin(hot, 1e12), s->end);
    }
}

rb_error et_survey_end(rb_context *ctx, void *state) {
    et_fit *f = state;
    if (f->survey.count == 0)
        return rb_fail(ctx, RB_ERROR_DATA, "every value is missing; there is nothing to fit");
    struct values data = summarise(&f->survey);
    bool by_mean = f->plan.setup.model.non_negative && data.mean != 0;
    f->plan.min_sigma = 1e-3 * data.sd;
    if (!f->warm) start_anew(f, data, by_mean);
    choose_annealing(f, data, by_mean);
    return RB_OK;
}
