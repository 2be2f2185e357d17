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

/* ---- the models ---- */

/* Fields of either sign add up. The prior is not annealed: hot, fields and their complements would
 * look alike. */
static const et_model linca = {
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

/* Fields that are not negative add up. */
static const et_model nmf = {
    .name = "nmf-et",
    .noise = &et_gaussian,
    .summing = &et_sum_linear,
    .non_negative = true,
    .max = HUGE_VAL,
    .anneal_prior = true,
    .end_temperature = 1,
    .additive = true,
    .superpose = superpose_sum,
    .join = et_join,
    .energies = et_linear_energies,
    .mstep = et_mstep_solve,
};

/* The largest of fields that are not negative counts. The E-step uses the maximum itself, the
 * M-step a soft one whose exponent rho = T / (T - 1) sharpens as it cools: hence an end temperature
 * above 1. */
static const et_model mca = {
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
static et_model with_functions(et_model model, const rb_et_model *own) {
    model.own = own;
    model.user = own->user;
    model.refuse = own->refuse;
    model.noise = &et_by_functions;
    model.summing = model.summing == &et_sum_max ? &et_sum_max : &et_sum_shares;
    model.join = et_join;
    model.energies = et_general_energies;
    model.mstep = et_mstep_shares;
    return model;
}

et_model et_model_of(const rb_method *method, const rb_et_options *options) {
    const rb_et_model *own = method->own;
    if (own) {
        et_model base = {
            .name = own->name,
            .non_negative = true,
            .min = own->min,
            .max = own->max,
            .empty = own->empty,
            .anneal_prior = own->anneal_prior,
            .end_temperature = own->end_temperature,
            .superpose = own->superpose,
        };
        return with_functions(base, own);
    }
    if (method == &rb_method_linca) {
        return linca;
    }
    et_model model = method == &rb_method_mca ? mca : nmf;
    if (method == &rb_method_nmf_et && options->mstep == RB_ET_MSTEP_MULTIPLICATIVE) {
        model.mstep = et_mstep_multiplicative;
    }
    return options->noise == RB_ET_POISSON ? with_functions(model, &poisson) : model;
}
