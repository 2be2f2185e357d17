/* The covariance error of an RFN (Clevert et al. 2015, section 4: CO). */
#include "evaluate.h"

#include <math.h>

enum { GROUP_CELLS = 1 << 24 };

struct group {
    rb_context *ctx;
    const rfn_parameters *parameters;
    rb_dense s;
    rb_feed *feed;
    int64_t block_samples;
    rb_dense rows; /* of a block */
    rb_dense c; /* features first .. first + c.rows - 1 against 0 .. last: C, then the difference */
    rb_dense weighted; /* those rows of W S */
    int64_t first;
};

/* C for the features of the group, lower part: columns up to the group's last. */
static rb_error add_products(struct group *g, rb_dense c) {
    int64_t n = rb_feed_samples(g->feed);
    rb_error err = RB_OK;
    rb_dense_zero(c);
    for (int64_t first = 0; !err && first < n; first += g->block_samples) {
        int64_t count = n - first < g->block_samples ? n - first : g->block_samples;
        rb_block block;
        err = rb_feed_read(g->ctx, g->feed, first, count, &block);
        if (!err) {
            rb_dense v = rb_dense_rows(g->rows, 0, count);
            rb_block_rows(&block, 0, v);
            rb_gemm_parallel(g->ctx, 1 / (double)n, rb_dense_part(v, 0, count, g->first, c.rows),
                             RB_TRANSPOSED, rb_dense_part(v, 0, count, 0, c.cols), RB_PLAIN, 1, c);
        }
    }
    return err;
}

/* Of row k of a full Psi, what is left of the diagonal. */
static void subtract_noise(const rfn_psi *noise, int64_t k, void *row, rb_type type) {
    for (int64_t c = 0; rfn_psi_is_full(noise) && c < k; c++) {
        rfn_put(type, row, c, rfn_get(type, row, c) - rb_dense_get(noise->covariance, k, c));
    }
}

/* Sum of squares of C - Psi - W S W' over the group's rows and their mirror images. */
static double sum_of_squares(struct group *g, rb_dense c) {
    rb_dense w = g->parameters->loadings;
    rb_dense weighted = rb_dense_rows(g->weighted, 0, c.rows);
    rb_gemm_parallel(g->ctx, 1, rb_dense_rows(w, g->first, c.rows), RB_PLAIN, g->s, RB_PLAIN, 0,
                     weighted);
    rb_gemm_parallel(g->ctx, -1, weighted, RB_PLAIN, rb_dense_rows(w, 0, c.cols), RB_TRANSPOSED, 1,
                     c);
    double sum = 0;
    for (int64_t i = 0; i < c.rows; i++) {
        int64_t k = g->first + i;
        subtract_noise(&g->parameters->full, k, rb_dense_row(c, i), c.type);
        const void *row = rb_dense_row(c, i);
        double diagonal = rfn_get(c.type, row, k) - g->parameters->noise[k];
        sum += 2 * rb_dot(g->ctx, c.type, k, row, row) + diagonal * diagonal;
    }
    return sum;
}

rb_error rfn_covariance_error(rb_context *ctx, const rfn_parameters *parameters, rb_dense s,
                              rb_feed *feed, int64_t block_samples, double *error) {
    int64_t m = parameters->loadings.rows;
    rb_type type = parameters->loadings.type;
    int64_t size = GROUP_CELLS / m < 64 ? 64 : GROUP_CELLS / m;
    size = size < m ? size : m;
    struct group g = {
        .ctx = ctx, .parameters = parameters, .s = s, .feed = feed, .block_samples = block_samples};
    rb_error err = rb_dense_new(ctx, type, block_samples, m, &g.rows);
    if (!err) {
        err = rb_dense_new(ctx, type, size, m, &g.c);
    }
    if (!err) {
        err = rb_dense_new(ctx, type, size, parameters->loadings.cols, &g.weighted);
    }
    double sum = 0;
    for (; !err && g.first < m; g.first += size) {
        int64_t rows = m - g.first < size ? m - g.first : size;
        rb_dense c = rb_dense_part(g.c, 0, rows, 0, g.first + rows);
        err = add_products(&g, c);
        if (!err) {
            sum += sum_of_squares(&g, c);
        }
    }
    rb_dense_free(&g.rows);
    rb_dense_free(&g.c);
    rb_dense_free(&g.weighted);
    *error = sqrt(sum);
    return err;
}
