/* Objectives of RFN (Clevert et al. 2015, S5, S6 and eq. 165; P = M^-1 + W' Psi^-1 W).
 *
 *   O  = mean_i (mu_i - mu_p,i)' P (mu_i - mu_p,i)
 *      = <P, A> - 2 (sum_kj U_kj W_kj / psi_k + xi' M^-1 mean(mu)) + <P, mu_p'mu_p> / n
 *   E  = 1/2 (m log 2 pi + log |Psi| + <Psi^-1, C - U W' - W U' + W S W'>)
 *   KL = 1/2 (<M^-1, Sigma> + mean_i (mu_i - xi)' M^-1 (mu_i - xi) - l + log |M| - log |Sigma|)
 *   F  = -E - KL = L - O / 2, with L the mean log-likelihood
 */
#include "fit.h"

#include <math.h>

void rfn_complete_moments(rb_context *ctx, const rfn_prior *prior, rb_dense sigma,
                          rfn_moments *moments) {
    moments->product_a = rfn_product_of_lower(ctx, prior->precision, moments->s);
    moments->product_sigma = rfn_product_of_lower(ctx, prior->precision, sigma);
    rfn_add_symmetric(ctx, sigma, moments->s);
}

void rfn_forms(rb_context *ctx, rb_dense w, const rfn_moments *moments, rb_dense work,
               double *cross, double *quadratic) {
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, moments->s, RB_PLAIN, 0, work);
    for (int64_t k = 0; k < w.rows; k++) {
        const void *row = rb_dense_row(w, k);
        cross[k] = rb_dot(ctx, w.type, w.cols, rb_dense_row(moments->u, k), row);
        quadratic[k] = rb_dot(ctx, w.type, w.cols, rb_dense_row(work, k), row);
    }
}

double rfn_noise_product(int64_t m, const double *noise, const double *second, const double *cross,
                         const double *quadratic) {
    double sum = 0;
    for (int64_t k = 0; k < m; k++)
        sum += (second[k] - 2 * cross[k] + quadratic[k]) / noise[k];
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

void rfn_energies(const rfn_parameters *parameters, const rfn_posterior *posterior,
                  const rfn_moments *moments, double noise_product, double *energy,
                  double *divergence) {
    const rfn_prior *prior = &parameters->prior;
    double m = (double)parameters->loadings.rows, l = (double)parameters->loadings.cols;
    double distance = moments->product_a;
    *energy = (m * log(2 * M_PI) + rfn_log_det_noise(parameters) + noise_product) / 2;
    for (int64_t j = 0; j < parameters->loadings.cols; j++)
        distance += prior->linear[j] * (prior->mean[j] - 2 * moments->mean[j]);
    *divergence = (moments->product_sigma + distance - l + prior->log_det - posterior->log_det) / 2;
}

double rfn_estep_objective(rb_context *ctx, const rfn_parameters *parameters, rb_dense p,
                           const rfn_moments *moments, double constant) {
    /* A = S - Sigma, and P Sigma = I: <P, A> = <P, S> - l */
    double value = rfn_product_of_lower(ctx, p, moments->s) - (double)p.rows + constant;
    value -= 2 * cross_product(ctx, parameters, moments->u);
    for (int64_t j = 0; j < p.rows; j++)
        value -= 2 * parameters->prior.linear[j] * moments->mean[j];
    return value;
}

void rfn_objective(void *state, double *objective, double *estep_objective) {
    const rfn_fit *fit = state;
    const rfn_parameters *parameters = &fit->parameters;
    const rfn_scratch *scratch = &fit->scratch;
    double energy, divergence, noise_product = scratch->noise_product;
    if (!rfn_psi_is_full(&parameters->full)) {
        noise_product = rfn_noise_product(fit->setup.problem.n_features, parameters->noise,
                                          rfn_second(fit), scratch->cross, scratch->quadratic);
    }
    rfn_energies(parameters, &fit->posterior, &fit->moments, noise_product, &energy, &divergence);
    *objective = -energy - divergence;
    if (fit->setup.problem.missing) *objective += fit->persistent.missing.entropy;
    *estep_objective = fit->setup.problem.fit->trace ? fit->moments.estep_objective : NAN;
}
