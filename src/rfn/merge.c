/* Units to spare that have become the same: one of them takes the loadings of both.
 *
 * Where there are more units than causes two may share one, with codes that are nearly proportional
 * and loadings that are, too. Neither explains little, so that shrinking lets none of them die, and
 * what each has differs from seed to seed. With codes that are proportional
 *
 *     W_a mu_a + W_b mu_b = (W_a + W_b |mu_b| / |mu_a|) mu_a
 *
 * so that nothing is lost. What is left of the other unit is the prior, in which it dies or finds
 * something of its own.
 */
#include "fit.h"

#include <math.h>

enum { FIRST_ITERATION = 70, LAST_ITERATION = 100, EVERY = 10 };
static const double THE_SAME = 0.98;

bool rfn_merges_units(const rfn_fit *fit) {
    int64_t iteration = fit->progress.iteration / rfn_msteps_an_iteration(&fit->setup);
    return fit->setup.options.sparse_loadings > 0 && !fit->setup.warm && fit->codes.filled &&
           !fit->progress.last && iteration >= FIRST_ITERATION && iteration <= LAST_ITERATION &&
           iteration % EVERY == 0;
}

/* The cosine of the loadings of two units, features in units of their noise. */
static double likeness(const rfn_parameters *parameters, int64_t a, int64_t b) {
    rb_dense w = parameters->loadings;
    double xx = 0, xy = 0, yy = 0;
    for (int64_t k = 0; k < w.rows; k++) {
        double x = rb_dense_get(w, k, a), y = rb_dense_get(w, k, b);
        double weight = 1 / parameters->noise[k];
        xx += weight * x * x;
        xy += weight * x * y;
        yy += weight * y * y;
    }
    return xy / sqrt(xx * yy);
}

static void merge(rb_dense w, int64_t a, int64_t b, double proportion) {
    for (int64_t k = 0; k < w.rows; k++) {
        rb_dense_set(w, k, a, rb_dense_get(w, k, a) + proportion * rb_dense_get(w, k, b));
        rb_dense_set(w, k, b, 0);
    }
}

/* mu mu', the lower triangle, by the tree over groups. */
static rb_error multiply_codes(rb_context *ctx, const rfn_fit *fit, rb_dense products) {
    const rfn_slices *slices = &fit->persistent.work.slices;
    rb_dense mu = fit->codes.values;
    rb_dense sums = {NULL, products.rows, products.cols, products.cols, RB_FLOAT64};
    rb_error err = RB_OK;
    rb_tree tree = {0};
    rb_tree_begin(&tree, ctx, products.rows * products.cols);
    for (int64_t g = 0; g < slices->groups; g++) {
        int64_t first = slices->bounds[g];
        rb_dense some = rb_dense_part(mu, 0, mu.rows, first, slices->bounds[g + 1] - first);
        rb_gemm_lower(ctx, 1, some, RB_PLAIN, some, RB_TRANSPOSED, 0, products);
        sums.data = rb_tree_next(&tree);
        err = sums.data ? RB_OK : RB_ERROR_MEMORY;
        if (err) break;
        rb_dense_copy(products, sums);
        rb_tree_join(&tree);
    }
    err = rb_comm_agree(ctx, err ? err : rb_tree_close(&tree));
    if (!err) {
        sums.data = rb_tree_end(&tree);
        rb_dense_copy(sums, products);
    }
    rb_tree_free(&tree);
    return err;
}

rb_error rfn_merge_units(rb_context *ctx, rfn_fit *fit) {
    rfn_parameters *parameters = &fit->parameters;
    rb_dense products = fit->persistent.problem.hessian, mu = fit->codes.values;
    rb_error err = RB_OK;
    if (fit->device)
        rfn_device_products(fit->device, products);
    else
        err = multiply_codes(ctx, fit, products);
    for (int64_t b = 1; !err && b < mu.rows; b++) {
        double yy = rb_dense_get(products, b, b);
        for (int64_t a = 0; a < b; a++) {
            double xx = rb_dense_get(products, a, a);
            if (rb_dense_get(products, b, a) > THE_SAME * sqrt(xx * yy) &&
                likeness(parameters, a, b) > THE_SAME) {
                merge(parameters->loadings, a, b, sqrt(yy / xx));
                rfn_clear_codes(fit->device, mu, b);
                break;
            }
        }
    }
    return err;
}
