/* Objectives of RFN (Clevert et al. 2015, S5, S6 and eq. 165; P = M^-1 + W' Psi^-1 W).
 *
 *   O  = mean_i (mu_i - mu_p,i)' P (mu_i - mu_p,i)
 *      = <P, A> - 2 (sum_kj U_kj W_kj / psi_k + xi' M^-1 mean(mu)) + <P, mu_p'mu_p> / n
 *   E  = 1/2 (m log 2 pi + log |Psi| + <Psi^-1, C - U W' - W U' + W S W'>)
 *   KL = 1/2 (<M^-1, Sigma> + mean_i (mu_i - xi)' M^-1 (mu_i - xi) - l + log |M| - log |Sigma|)
 *   F  = -E - KL = L - O / 2, with L the mean log-likelihood
 */
#include "objective.h"

#include "fit.h"

#include <math.h>

double rfn_noise_product(int64_t m, const double *noise, const double *second, const double *cross,
                         const double *quadratic) {
    double sum = 0;
    for (int64_t k = 0; k < m; k++) {
        sum += (second[k] - 2 * cross[k] + quadratic[k]) / noise[k];
    }
    return sum;
}

/* <U, Psi^-1 W> */
static double cross_product(rb_context *ctx, const rfn_parameters *parameters, rb_dense u) {
    rb_dense w = parameters->loadings;
    double sum = 0;
    if (!rfn_psi_is_full(&parameters->full)) {
        for (int64_t k = 0; k < w.rows; k++) {
            sum += rb_dot(ctx, w.type, w.cols, rb_dense_row(u, k), rb_dense_row(w, k)) /
                   parameters->noise[k];
        }
        return sum;
    }
    rfn_psi_divide(ctx, &parameters->full, w);
    rb_dense_copy(u, parameters->full.wide);
    for (int64_t k = 0; k < w.rows; k++) {
        sum += rb_dot(ctx, RB_FLOAT64, w.cols, rb_dense_row(parameters->full.wide, k),
                      rb_dense_row(parameters->full.part, k));
    }
    return sum;
}

void rfn_energies(const rfn_terms *t, double *energy, double *divergence) {
    *energy = ((double)t->m * log(2 * M_PI) + t->log_det_noise + t->noise_product) / 2;
    double distance = t->product_a;
    for (int64_t j = 0; j < t->l; j++) {
        distance += t->prior->linear[j] * (t->prior->mean[j] - 2 * t->mean[j]);
    }
    *divergence = (t->product_sigma + distance - (double)t->l + t->prior->log_det - t->log_det) / 2;
}

double rfn_product_of_lower(rb_context *ctx, rb_dense a, rb_dense b) {
    double sum = 0;
    for (int64_t j = 0; j < a.rows; j++) {
        double row = rb_dot(ctx, a.type, j + 1, rb_dense_row(a, j), rb_dense_row(b, j));
        sum += 2 * row - rb_dense_get(a, j, j) * rb_dense_get(b, j, j);
    }
    return sum;
}

double rfn_estep_objective(rb_context *ctx, const rfn_parameters *parameters, rb_dense p,
                           rb_dense s, rb_dense u, const double *mean, double constant) {
    /* A = S - Sigma, and P Sigma = I: <P, A> = <P, S> - l */
    double value = rfn_product_of_lower(ctx, p, s) - (double)p.rows + constant;
    value -= 2 * cross_product(ctx, parameters, u);
    for (int64_t j = 0; j < p.rows; j++) {
        value -= 2 * parameters->prior.linear[j] * mean[j];
    }
    return value;
}

void rfn_objective(void *state, double *objective, double *estep_objective) {
    const rfn_fit *fit = state;
    const rfn_parameters *parameters = &fit->parameters;
    const rfn_scratch *scratch = &fit->scratch;
    rfn_terms terms = {.m = fit->setup.problem.n_features,
                       .l = fit->setup.options.units,
                       .log_det_noise = rfn_log_det_noise(parameters),
                       .prior = &parameters->prior,
                       .mean = fit->moments.mean,
                       .product_a = fit->moments.product_a,
                       .product_sigma = fit->moments.product_sigma,
                       .log_det = fit->posterior.log_det};
    terms.noise_product = rfn_psi_is_full(&parameters->full)
                              ? scratch->noise_product
                              : rfn_noise_product(terms.m, parameters->noise, fit->survey.second,
                                                  scratch->cross, scratch->quadratic);
    double energy, divergence;
    rfn_energies(&terms, &energy, &divergence);
    *objective = -energy - divergence;
    *estep_objective = fit->setup.problem.fit->trace ? fit->moments.estep_objective : NAN;
}
