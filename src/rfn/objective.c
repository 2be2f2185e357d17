/* Objectives of RFN (Clevert et al. 2015, S4 and S5; P = M^-1 + W' Psi^-1 W).
 *
 *   O  = mean_i (mu_i - mu_p,i)' P (mu_i - mu_p,i)
 *      = <P, A> - 2 (sum_kj U_kj W_kj / psi_k + xi' M^-1 mean(mu)) + <P, mu_p'mu_p> / n
 *   E  = 1/2 (m log 2 pi + log |Psi| + sum_k (C_kk - 2 u_k.w_k + w_k' S w_k) / psi_k)
 *   KL = 1/2 (<M^-1, Sigma> + mean_i (mu_i - xi)' M^-1 (mu_i - xi) - l + log |M| - log |Sigma|)
 *   F  = -E - KL = L - O / 2, with L the mean log-likelihood
 */
#include "objective.h"
#include "state.h"

#include <math.h>

void rfn_energies(const rfn_terms *t, double *energy, double *divergence) {
    double sum = (double)t->m * log(2 * M_PI);
    for (int64_t k = 0; k < t->m; k++) {
        double error = t->second[k] - 2 * t->cross[k] + t->quadratic[k];
        sum += log(t->noise[k]) + error / t->noise[k];
    }
    *energy = sum / 2;
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
    rb_dense w = parameters->loadings;
    /* A = S - Sigma, and P Sigma = I: <P, A> = <P, S> - l */
    double value = rfn_product_of_lower(ctx, p, s) - (double)p.rows + constant;
    for (int64_t k = 0; k < w.rows; k++) {
        value -= 2 * rb_dot(ctx, w.type, w.cols, rb_dense_row(u, k), rb_dense_row(w, k)) /
                 parameters->noise[k];
    }
    for (int64_t j = 0; j < p.rows; j++) {
        value -= 2 * parameters->prior.linear[j] * mean[j];
    }
    return value;
}

void rfn_trace_estep(rb_context *ctx, rfn_state *st, rb_dense p, double constant) {
    st->estep_objective =
        rfn_estep_objective(ctx, &st->parameters, p, st->s, st->u, st->mean, constant);
}

void rfn_objective(void *state, double *objective, double *estep_objective) {
    const rfn_state *st = state;
    rfn_terms terms = {.m = st->problem.n_features,
                       .l = st->options.units,
                       .noise = st->parameters.noise,
                       .second = st->second,
                       .cross = st->cross,
                       .quadratic = st->quadratic,
                       .prior = &st->parameters.prior,
                       .mean = st->mean,
                       .product_a = st->product_a,
                       .product_sigma = st->product_sigma,
                       .log_det = st->posterior.log_det};
    double energy, divergence;
    rfn_energies(&terms, &energy, &divergence);
    *objective = -energy - divergence;
    *estep_objective = st->problem.fit->trace ? st->estep_objective : NAN;
}
