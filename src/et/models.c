/* The models. In all of them causes are binary and independent; what differs is how fields
 * superpose and what noise there is. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* What poisson noise takes for a rate below. */
static const double min_rate = 1e-4;

/* ---- superpositions ---- */

static void superpose_sum(void *user, int64_t n, const double *wbar, const double *field,
                          double *out) {
    for (int64_t d = 0; d < n; d++)
        out[d] = wbar[d] + field[d];
}

static void superpose_max(void *user, int64_t n, const double *wbar, const double *field,
                          double *out) {
    for (int64_t d = 0; d < n; d++)
        out[d] = wbar[d] > field[d] ? wbar[d] : field[d];
}

/* ---- Poisson noise: log p(y | wbar) = sum_d y log wbar - wbar - log y! ---- */

static double poisson_log_likelihood(void *user, int64_t n, const double *y, const double *wbar,
                                     double sigma) {
    double sum = 0;
    for (int64_t d = 0; d < n; d++) {
        double rate = fmax(wbar[d], min_rate);
        sum += y[d] * log(rate) - rate;
    }
    return sum;
}

static double poisson_constant(void *user, int64_t n, const double *y) {
    double sum = 0;
    int sign;
    for (int64_t d = 0; d < n; d++)
        sum -= lgamma_r(y[d] + 1, &sign);
    return sum;
}

static const char *poisson_refuse(void *user, double value) {
    return value < 0 ? "is below 0, but Poisson noise is for counts" : NULL;
}

/* Poisson noise: W <- W * sum y <s / Wbar> / sum <s>, an EM step of its own. */
static void share_poisson(void *user, int64_t n, const double *y, const double *wbar,
                          const double *field, double q, rb_et_shares sums) {
    for (int64_t d = 0; d < n; d++) {
        sums.up[d] += q * y[d] * field[d] / fmax(wbar[d], min_rate);
        sums.down[d] += q;
    }
}

/* ---- the models ---- */

/* Fields of either sign add up. The prior is not annealed: hot, fields and their complements would
 * look alike. */
static const et_model linca = {
    .own = {.name = "linca",
            .min = -HUGE_VAL,
            .max = HUGE_VAL,
            .end_temperature = 1,
            .superpose = superpose_sum},
    .summing = &et_sum_linear,
    .additive = true,
    .mstep = et_mstep_solve,
};

/* Fields that are not negative add up. */
static const et_model nmf = {
    .own = {.name = "nmf-et",
            .max = HUGE_VAL,
            .anneal_prior = true,
            .end_temperature = 1,
            .superpose = superpose_sum},
    .summing = &et_sum_linear,
    .non_negative = true,
    .additive = true,
    .mstep = et_mstep_solve,
};

/* The largest of fields that are not negative counts. The E-step uses the maximum itself, the
 * M-step a soft one whose exponent rho = T / (T - 1) sharpens as it cools: hence an end temperature
 * above 1. */
static const et_model mca = {
    .own = {.name = "mca",
            .min = 1e-4,
            .max = HUGE_VAL,
            .anneal_prior = true,
            .end_temperature = 1.05,
            .superpose = superpose_max},
    .summing = &et_sum_max,
    .non_negative = true,
    .mstep = et_mstep_shares,
};

const rb_method *et_method_like(const char *name) {
    const rb_method *const methods[] = {&rb_method_linca, &rb_method_nmf_et, &rb_method_mca};
    for (int i = 0; i < 3; i++)
        if (strcmp(methods[i]->name, name) == 0) return methods[i];
    return NULL;
}

/* Of a program, which may know fewer fields. */
static et_model own_model(const rb_et_model *given, const rb_et_options *options) {
    rb_et_model own = {0};
    memcpy(&own, given, given->size);
    if (!own.like) {
        return (et_model){
            .own = own, .summing = &et_sum_shares, .non_negative = true, .mstep = et_mstep_shares};
    }
    et_model model = et_model_of(et_method_like(own.like), options);
    model.own.name = own.name;
    model.own.user = own.user;
    model.own.select = own.select;
    return model;
}

et_model et_model_of(const rb_method *method, const rb_et_options *options) {
    if (method->own) return own_model(method->own, options);
    if (method == &rb_method_linca) return linca;
    et_model model = method == &rb_method_mca ? mca : nmf;
    if (method == &rb_method_nmf_et && options->mstep == RB_ET_MSTEP_MULTIPLICATIVE)
        model.mstep = et_mstep_multiplicative;
    if (options->noise == RB_ET_POISSON) { /* which changes the E-step of MCA alone */
        model.own.log_likelihood = poisson_log_likelihood;
        model.own.constant = poisson_constant;
        model.own.share = share_poisson;
        model.own.refuse = poisson_refuse;
        model.poisson = true;
        model.summing = model.additive ? &et_sum_shares : &et_sum_max;
        model.mstep = et_mstep_shares;
    }
    return model;
}
