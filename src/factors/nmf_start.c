/* Loadings and codes to start from: non-negative double singular value decomposition (C. Boutsidis,
 * E. Gallopoulos, "SVD based initialization: a head start for nonnegative matrix factorization",
 * Pattern Recognition 41, 2008, algorithm 1). Of the singular vectors u and v with value s, the
 * sides x+ = max(x, 0) and x- = max(-x, 0) make two products without negative values, u+ v+' and
 * u- v-', and the larger one is the unit:
 *     h = sqrt(s |u+| |v+|) u+ / |u+|      w = sqrt(s |u+| |v+|) v+ / |v+|.
 * nndsvda puts the mean of the data where these are 0.
 *
 * Directions v come from a few passes of the randomized solver (pca_solve.c); one more pass gives
 * s u = V v, kept as codes, and how long its sides are, which tells the signs of codes that no
 * block has by itself.
 */
#include "nmf.h"

#include <math.h>

enum { PASSES = 3 };

bool nmf_start_fits(const rb_problem *problem, int64_t units) {
    return units <= problem->n_samples && units <= problem->n_features;
}

rb_error nmf_start_new(rb_context *ctx, const rb_problem *problem, nmf_fit *fit) {
    if (!nmf_start_fits(problem, fit->options.units)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`units` is %lld, but %lld samples of %lld features have fewer singular "
                       "vectors; use `start=random`",
                       (long long)fit->options.units, (long long)problem->n_samples,
                       (long long)problem->n_features);
    }
    fit->stage = NMF_FIND_DIRECTIONS;
    return pca_start(ctx, problem, &(pca_options){fit->options.units, PCA_RANDOMIZED}, &fit->pca);
}

static double sum_of(const rb_block *block) {
    double sum = 0;
    rb_csr s = block->csr;
    for (int64_t e = 0; block->sparse && e < s.starts[s.rows] - s.starts[0]; e++)
        sum += rb_get(s.type, s.values, e);
    for (int64_t i = 0; !block->sparse && i < block->n_samples; i++)
        for (int64_t k = 0; k < block->n_features; k++)
            sum += rb_dense_get(block->dense, i, k);
    return sum;
}

rb_error nmf_start_block(rb_context *ctx, nmf_fit *fit, const rb_block *block) {
    if (fit->stage == NMF_FIND_DIRECTIONS) return pca_block(ctx, &fit->pca, block);
    rb_dense codes = rb_dense_rows(fit->codes, block->own, block->n_samples);
    rb_error err = factors_project(ctx, block, fit->pca.directions, codes);
    for (int64_t i = 0; !err && i < codes.rows; i++) {
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rb_dense_get(codes, i, j);
            *(code > 0 ? &fit->above[j] : &fit->below[j]) += code * code;
        }
    }
    fit->sum += sum_of(block);
    return err;
}

/* Of a column, of which rows are a part of `all`, the side of that sign, times a factor; `fill` in
 * place of what is next to nothing. */
static void take_side(rb_dense from, rb_dense to, int64_t all, int64_t j, double factor,
                      double fill) {
    const double nothing = 1e-6;
    double least = nothing / sqrt((double)all) * fabs(factor);
    for (int64_t i = 0; i < from.rows; i++) {
        double value = factor * rb_dense_get(from, i, j);
        rb_dense_set(to, i, j, value > least ? value : fill);
    }
}

/* A unit of no direction keeps its random loadings. */
static void take_unit(nmf_fit *fit, int64_t j, double fill) {
    rb_dense v = fit->pca.directions;
    double side[2] = {0, 0}, code[2] = {sqrt(fit->above[j]), sqrt(fit->below[j])};
    for (int64_t k = 0; k < v.rows; k++) {
        double value = rb_dense_get(v, k, j);
        side[value < 0] += value * value;
    }
    side[0] = sqrt(side[0]);
    side[1] = sqrt(side[1]);
    int s = side[1] * code[1] > side[0] * code[0];
    double size = side[s] * code[s], sign = s ? -1 : 1; /* s |u+| |v+| */
    if (!(size > 0 && fit->pca.values[j] > 0)) {
        for (int64_t i = 0; i < fit->codes.rows; i++)
            rb_dense_set(fit->codes, i, j, fill);
        return;
    }
    int64_t n = fit->base.problem.n_samples;
    take_side(fit->codes, fit->codes, n, j, sign * sqrt(size) / code[s], fill);
    take_side(v, fit->loadings, v.rows, j, sign * sqrt(size) / side[s], fill);
}

rb_error nmf_start_end(rb_context *ctx, nmf_fit *fit) {
    if (fit->stage == NMF_FIND_DIRECTIONS) {
        rb_error err = pca_mstep(ctx, &fit->pca);
        fit->passes++;
        if (fit->pca.found || fit->passes == PASSES) fit->stage = NMF_FIND_SIDES;
        return err;
    }
    double cells = (double)fit->base.problem.n_samples * (double)fit->base.problem.n_features;
    double fill = fit->options.start == NMF_NNDSVDA ? fit->sum / cells : 0;
    for (int64_t j = 0; j < fit->options.units; j++)
        take_unit(fit, j, fill);
    fit->stage = NMF_ITERATE;
    return RB_OK;
}
