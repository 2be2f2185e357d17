/* The models. In all of them causes are binary and independent; what differs is how fields
 * superpose and what noise there is. */
#include "fit.h"

#include <math.h>

/* ---- superpositions ---- */

static void superpose_sum(void *user, int64_t n, const double *wbar, const double *field,
                          double *out) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        out[d] = wbar[d] + field[d];
    }
}

static void superpose_max(void *user, int64_t n, const double *wbar, const double *field,
                          double *out) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        out[d] = wbar[d] > field[d] ? wbar[d] : field[d];
    }
}

/* ---- Poisson noise: log p(y | wbar) = sum_d y log wbar - wbar - log y! ---- */

static double poisson_log_likelihood(void *user, int64_t n, const double *y, const double *wbar,
                                     double sigma) {
    (void)user;
    double sum = 0;
    (void)sigma;
    for (int64_t d = 0; d < n; d++) {
        double rate = fmax(wbar[d], et_min_rate);
        sum += y[d] * log(rate) - rate;
    }
    return sum;
}

static double poisson_constant(void *user, int64_t n, const double *y) {
    (void)user;
    double sum = 0;
    int sign;
    for (int64_t d = 0; d < n; d++) {
        sum -= lgamma_r(y[d] + 1, &sign);
    }
    return sum;
}

static const char *poisson_refuse(void *user, double value) {
    (void)user;
    return value < 0 ? "is below 0, but Poisson noise is for counts" : NULL;
}

/* Poisson noise: W <- W * sum y <s / Wbar> / sum <s>, an EM step of its own. */
static void share_poisson(void *user, int64_t n, const double *y, const double *wbar,
                          const double *field, double q, rb_et_shares sums) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        sums.up[d] += q * y[d] * field[d] / fmax(wbar[d], et_min_rate);
        sums.down[d] += q;
    }
}

static const rb_et_model poisson = {
    .log_likelihood = poisson_log_likelihood,
    .constant = poisson_constant,
    .share = share_poisson,
    .refuse = poisson_refuse,
};

/* ---- linear component analysis: fields of either sign add up ---- */

/* The prior is not annealed: hot, fields and their complements would look alike. */
const et_model et_linca = {
    .name = "linca",
    .noise = &et_gaussian,
    .summing = &et_sum_linear,
    .min = -HUGE_VAL,
    .max = HUGE_VAL,
    .end_temperature = 1,
    .additive = true,
    .superpose = superpose_sum,
    .join = et_join,
    .energies = et_linear_energies,
    .mstep = et_mstep_solve,
};

/* ---- non-negative matrix factorisation: fields that are not negative add up ---- */

const et_model et_nmf = {
    .name = "nmf-et",
    .noise = &et_gaussian,
    .summing = &et_sum_linear,
    .non_negative = true,
    .min = 0,
    .max = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1,
    .additive = true,
    .superpose = superpose_sum,
    .join = et_join,
    .energies = et_linear_energies,
    .mstep = et_mstep_solve, /* or et_mstep_multiplicative: setup.c */
};

/* ---- maximal causes analysis: the largest of fields that are not negative counts ---- */

/* The E-step uses the maximum itself, the M-step a soft one whose exponent rho = T / (T - 1)
 * sharpens as it cools: hence an end temperature above 1. */
const et_model et_mca = {
    .name = "mca",
    .noise = &et_gaussian,
    .summing = &et_sum_max,
    .non_negative = true,
    .min = 1e-4,
    .max = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1.05,
    .superpose = superpose_max,
    .join = et_join_max,
    .energies = et_general_energies,
    .mstep = et_mstep_shares,
};

/* ---- the model of a method ---- */

/* The same with noise, and its M-step, by functions. That of MCA stays: noise changes the E-step
 * alone. */
static const et_model *with_functions(const et_model *model, const rb_et_model *own,
                                      et_model *slot) {
    *slot = *model;
    slot->own = own;
    slot->user = own->user;
    slot->refuse = own->refuse;
    slot->noise = &et_by_functions;
    slot->summing = model->additive || !model->summing ? &et_sum_shares : model->summing;
    slot->join = et_join;
    slot->energies = et_general_energies;
    slot->mstep = et_mstep_shares;
    return slot;
}

const et_model *et_model_of(const rb_method *method, const rb_et_options *options, et_model *slot) {
    bool counts = options->noise == RB_ET_POISSON;
    const rb_et_model *own = method->own;
    if (method == &rb_method_linca) {
        return &et_linca;
    }
    if (method == &rb_method_nmf_et || method == &rb_method_mca) {
        const et_model *model = method == &rb_method_mca ? &et_mca : &et_nmf;
        return counts ? with_functions(model, &poisson, slot) : model;
    }
    const et_model base = {
        .name = own->name,
        .non_negative = true,
        .min = own->min,
        .max = own->max,
        .empty = own->empty,
        .anneal_prior = own->anneal_prior,
        .end_temperature = own->end_temperature,
        .superpose = own->superpose,
    };
    return with_functions(&base, own, slot);
}
