/* Counts of single cells with types of cells, rare ones too, after Splat:
 * L. Zappia, B. Phipson, A. Oshlack, "Splatter: simulation of single-cell RNA sequencing data",
 * Genome Biology 18, 2017, "The Splat simulation model". Its defaults:
 *
 *   lambda_k ~ Gamma(0.6, rate 0.3)                      mean of gene k, outliers left out
 *   a type has of each gene with probability p the factor f or 1/f, f ~ LogNormal(location, scale)
 *   L_i ~ LogNormal(11, 0.2)                             counts of cell i, shared among genes
 *   mu_ik = L_i lambda_k f / sum_k lambda_k f
 *   B_ik = (0.1 + 1 / sqrt(mu_ik)) sqrt(60 / chi^2_60)   biological variation
 *   count_ik ~ Poisson(Gamma(1 / B_ik^2, mean mu_ik))
 *
 * L_i is scaled so that cells have as many counts on average as the plan says. What is planted is
 * a module per type: its cells, and the genes with a factor above 1.
 *
 * All random numbers are drawn in one row, so the same plan gives the same data. */
#include "simulate.h"

#include <math.h>

enum { CHI_DEGREES = 60 };

/* Marsaglia and Tsang 2000, with scale 1; shapes below 1 by their lemma. */
static double draw_gamma(rb_draws *draws, double shape) {
    double boost = 1;
    if (shape < 1) {
        boost = pow(1 - rb_draw_uniform(draws), 1 / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rb_draw_normal(draws), v = pow(1 + c * x, 3);
        double u = 1 - rb_draw_uniform(draws);
        if (v > 0 && log(u) < x * x / 2 + d * (1 - v + log(v))) return boost * d * v;
    }
}

/* By inversion. A large mean is cut into parts, so that exp(-mean) does not vanish: a sum of
 * Poisson numbers is one of the sum of their means. */
static double draw_poisson(rb_draws *draws, double mean) {
    double count = 0;
    const double largest = 500;
    while (mean > largest) {
        count += draw_poisson(draws, largest);
        mean -= largest;
    }
    double u = rb_draw_uniform(draws), p = exp(-mean), total = p;
    for (double k = 1; u >= total && p > 0; k++) {
        p *= mean / k;
        total += p;
        count++;
    }
    return count;
}

/* What the cells of a type have, gene by gene: shares of all counts. */
static rb_error draw_type(rb_context *ctx, const rb_cells_plan *plan, rb_draws *draws,
                          const double *base, double *shares, rb_module *module) {
    double sum = 0;
    int64_t m = plan->n_features;
    module->features = rb_alloc(ctx, m, sizeof *module->features);
    if (!module->features) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < m; k++) {
        bool differs = rb_draw_uniform(draws) < plan->probability;
        bool down = rb_draw_uniform(draws) < 0.5;
        double factor = exp(plan->location + plan->scale * rb_draw_normal(draws));
        factor = !differs ? 1 : down ? 1 / factor : factor;
        if (factor > 1) module->features[module->n_features++] = (rb_member){k, 1};
        sum += shares[k] = base[k] * factor;
    }
    for (int64_t k = 0; k < m; k++)
        shares[k] /= sum;
    return RB_OK;
}

static void draw_cell(const rb_cells_plan *plan, rb_draws *draws, const double *shares,
                      double *counts) {
    const double spread = 0.2;
    double size = plan->counts * exp(spread * rb_draw_normal(draws) - spread * spread / 2);
    for (int64_t k = 0; k < plan->n_features; k++) {
        double mean = size * shares[k];
        if (!(mean > 0)) continue;
        double chi = 2 * draw_gamma(draws, CHI_DEGREES / 2.0);
        double variation = (0.1 + 1 / sqrt(mean)) * sqrt(CHI_DEGREES / chi);
        double shape = 1 / (variation * variation);
        counts[k] = draw_poisson(draws, draw_gamma(draws, shape) * mean / shape);
    }
}

/* A type has its share of the cells, rounded, but at least one; the first has what is left. */
static int64_t cells_of(const rb_cells_plan *plan, int type) {
    double share = round(plan->shares[type] * (double)plan->n_samples);
    return share < 1 ? 1 : (int64_t)share;
}

/* The type of each cell, in any order. */
static void draw_types(const rb_cells_plan *plan, rb_draws *draws, int *types) {
    int64_t next = 0;
    for (int t = 1; t < plan->n_types; t++)
        for (int64_t c = 0; c < cells_of(plan, t) && next < plan->n_samples; c++)
            types[next++] = t;
    for (int64_t i = plan->n_samples - 1; i > 0; i--) { /* Fisher and Yates */
        int64_t j = rb_draw_integer(draws, 0, i);
        int other = types[j];
        types[j] = types[i];
        types[i] = other;
    }
}

static rb_error name_cells(rb_context *ctx, const int *types, int64_t n, int type,
                           rb_module *module) {
    module->samples = rb_alloc(ctx, n, sizeof *module->samples);
    if (!module->samples) return RB_ERROR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (types[i] == type) module->samples[module->n_samples++] = (rb_member){i, 1};
    return RB_OK;
}

static rb_error draw_all(rb_context *ctx, const rb_cells_plan *plan, double *counts,
                         rb_modules *planted) {
    int64_t n = plan->n_samples, m = plan->n_features;
    rb_draws draws = {.stream = {.seed = plan->seed, .purpose = RB_RANDOM_SIMULATE}};
    rb_scratch scratch = {.ctx = ctx};
    double *base = rb_take(&scratch, m, sizeof *base);
    double *shares = rb_take(&scratch, plan->n_types * m, sizeof *shares);
    int *types = rb_take(&scratch, n, sizeof *types);
    for (int64_t k = 0; k < m && !scratch.err; k++)
        base[k] = draw_gamma(&draws, 0.6) / 0.3;
    for (int t = 0; t < plan->n_types && !scratch.err; t++) {
        planted->list[t].unit = t;
        scratch.err = draw_type(ctx, plan, &draws, base, shares + t * m, &planted->list[t]);
    }
    if (!scratch.err) draw_types(plan, &draws, types);
    for (int t = 0; t < plan->n_types && !scratch.err; t++)
        scratch.err = name_cells(ctx, types, n, t, &planted->list[t]);
    for (int64_t i = 0; i < n && !scratch.err; i++) {
        draw_cell(plan, &draws, shares + types[i] * m, counts + i * m);
        scratch.err = rb_check_stop(ctx);
    }
    return rb_scratch_end(&scratch);
}

rb_error rb_generate_cells(rb_context *ctx, const rb_cells_plan *plan, rb_matrix **matrix,
                           rb_modules **planted) {
    *planted = NULL;
    rb_error err = rb_matrix_new_dense(ctx, RB_FLOAT64, plan->n_samples, plan->n_features, matrix);
    err = err ? err : rb_modules_new(ctx, plan->n_types, planted);
    err = err ? err : draw_all(ctx, plan, (double *)(*matrix)->values, *planted);
    if (err) {
        rb_modules_free(*planted);
        rb_matrix_free(*matrix);
        *planted = NULL;
        *matrix = NULL;
    }
    return err;
}
