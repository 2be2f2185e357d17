/* The Gaussian posterior of the hidden units (Clevert et al. 2015, eqs 2, 236, 237).
 *
 *   l <= m:  P = M^-1 + W' Psi^-1 W,  Sigma = P^-1,    B = Psi^-1 W Sigma
 *   l >  m:  K = W M W' + Psi,        B = K^-1 W M,    Sigma = M - M W' B
 *   both:    mu_p,i = B' v_i + Sigma M^-1 xi
 *
 * The second follows from the first by the Woodbury identity; the cheaper one is taken. Cost,
 * multiply-add counted as 2: 3 m l^2 + l^3, or 3 m^2 l + m^3 / 3 + m l^2. With fewer samples than
 * features (V Psi^-1 W) Sigma costs less than B: m l^2 + l^3, and 2 n l^2 in the pass.
 * M other than I costs the product W M more in the second.
 */
#include "posterior.h"

#include "rfn.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const rb_field rfn_posterior_fields[] = {
    {"filter", offsetof(rfn_posterior, filter), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_FEATURES,
     RFN_PADDED},
    {"sigma", offsetof(rfn_posterior, sigma), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_UNITS,
     RFN_UNITS},
    {"small", offsetof(rfn_posterior, small), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_SMALLER,
     RFN_SMALLER},
    {"bias", offsetof(rfn_posterior, bias), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"prior_part", offsetof(rfn_posterior, linear), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {0},
};
static const rb_part parts[] = {{RB_PART_SCRATCH, rfn_posterior_fields, 0}, {0}};

rb_error rfn_posterior_new(rb_context *ctx, rb_type type, int64_t m, int64_t l,
                           rfn_posterior *posterior) {
    rb_shape shape = rfn_plain_shape(type, m, l);
    shape.dims[RFN_PADDED] = ctx->device ? l : rb_spaced(type, l);
    *posterior = (rfn_posterior){0};
    rb_error err = rb_parts_new(ctx, parts, &shape, posterior);
    posterior->filter = rb_dense_spare(posterior->filter, l);
    return err ? err : rb_spd_new(ctx, type, shape.dims[RFN_SMALLER], &posterior->factor);
}

void rfn_posterior_free(rfn_posterior *posterior) {
    rb_parts_free(parts, posterior);
    rb_spd_free(posterior->factor);
    *posterior = (rfn_posterior){0};
}

struct weighing {
    rb_context *ctx;
    const rfn_parameters *parameters;
    bool root;
    rb_dense work;
};

static void weigh_strip(void *arg, int64_t index, int worker) {
    const struct weighing *g = arg;
    rb_dense w = g->parameters->loadings, work = g->work;
    struct bands strips = rb_cut(w.rows, RFN_BANDS);
    int64_t first = rb_band_start(strips, index), count = rb_band_size(strips, index);
    void (*scale)(int64_t, double, const void *, void *) = rb_kernels_of(g->ctx)->of[w.type].scale;
    for (int64_t k = first; k < first + count; k++) {
        double noise = g->parameters->noise[k], weight = 1 / (g->root ? sqrt(noise) : noise);
        scale(w.cols, weight, rb_dense_row(w, k), rb_dense_row(work, k));
    }
}

/* work = Psi^-1 W, or Psi^-1/2 W */
static void weigh_rows(rb_context *ctx, const rfn_parameters *parameters, bool root,
                       rb_dense work) {
    struct weighing weighing = {ctx, parameters, root, work};
    rb_parallel(ctx, rb_cut(work.rows, RFN_BANDS).count, weigh_strip, &weighing);
}

void rfn_weigh(rb_context *ctx, const rfn_parameters *parameters, rb_dense work) {
    if (rfn_psi_is_full(&parameters->full)) {
        rfn_psi_divide(ctx, &parameters->full, parameters->loadings);
        rb_dense_copy(parameters->full.part, work);
    } else {
        weigh_rows(ctx, parameters, false, work);
    }
}

struct symmetric_sum {
    rb_context *ctx;
    rb_dense a, b;
    struct bands bands;
};

static void add_band(void *arg, int64_t index, int worker) {
    const struct symmetric_sum *sum = arg;
    rb_dense a = sum->a, b = sum->b;
    int64_t first = rb_band_start(sum->bands, index), count = rb_band_size(sum->bands, index);
    for (int64_t j = first; j < first + count; j++)
        if (a.rows == 0)
            rb_dense_set(b, j, j, rb_dense_get(b, j, j) + 1);
        else
            rb_axpy(sum->ctx, b.type, j + 1, 1, rb_dense_row(a, j), rb_dense_row(b, j));
    rb_dense_mirror_rows(b, first, count);
}

void rfn_add_symmetric(rb_context *ctx, rb_dense a, rb_dense b) {
    struct symmetric_sum sum = {ctx, a, b, rb_cut(b.rows, RFN_BANDS)};
    rb_parallel(ctx, sum.bands.count, add_band, &sum);
}

double rfn_product_of_lower(rb_context *ctx, rb_dense a, rb_dense b) {
    double sum = 0;
    for (int64_t j = 0; j < b.rows; j++) {
        double diagonal = rb_dense_get(b, j, j);
        if (a.rows == 0) {
            sum += diagonal;
        } else {
            double row = rb_dot(ctx, a.type, j + 1, rb_dense_row(a, j), rb_dense_row(b, j));
            sum += 2 * row - rb_dense_get(a, j, j) * diagonal;
        }
    }
    return sum;
}

void rfn_hessian(rb_context *ctx, const rfn_parameters *parameters, rb_dense work, rb_dense p) {
    if (rfn_psi_is_full(&parameters->full)) {
        rfn_weigh(ctx, parameters, work);
        rb_gemm_lower(ctx, 1, work, RB_TRANSPOSED, parameters->loadings, RB_PLAIN, 0, p);
    } else {
        weigh_rows(ctx, parameters, true, work);
        rb_gemm_lower(ctx, 1, work, RB_TRANSPOSED, work, RB_PLAIN, 0, p);
    }
    rfn_add_symmetric(ctx, parameters->prior.precision, p);
}

/* l <= m */
static rb_error by_units(rb_context *ctx, const rfn_parameters *parameters, rb_dense work,
                         rfn_posterior *posterior) {
    rfn_hessian(ctx, parameters, work, posterior->small);
    rb_error err = rb_spd_factor(ctx, posterior->factor, posterior->small);
    if (err) {
        rb_fail_prefix(ctx, "the posterior precision M^-1 + W' Psi^-1 W: ");
        return err;
    }
    posterior->log_det = -rb_spd_log_det(posterior->factor);
    rb_spd_inverse(ctx, posterior->factor, posterior->sigma);
    rfn_weigh(ctx, parameters, posterior->factored ? posterior->filter : work);
    if (!posterior->factored)
        rb_gemm_parallel(ctx, 1, work, RB_PLAIN, posterior->sigma, RB_PLAIN, 0, posterior->filter);
    return RB_OK;
}

/* Lower triangle of k (m x m) += Psi */
static void add_noise(const rfn_parameters *parameters, rb_dense k) {
    for (int64_t a = 0; a < k.rows; a++) {
        for (int64_t b = 0; rfn_psi_is_full(&parameters->full) && b < a; b++) {
            double noise = rb_dense_get(parameters->full.covariance, a, b);
            rb_dense_set(k, a, b, rb_dense_get(k, a, b) + noise);
        }
        rb_dense_set(k, a, a, rb_dense_get(k, a, a) + parameters->noise[a]);
    }
}

/* l > m */
static rb_error by_features(rb_context *ctx, const rfn_parameters *parameters, rb_dense work,
                            rfn_posterior *posterior) {
    bool plain = rfn_prior_is_plain(&parameters->prior);
    rb_dense w = parameters->loadings, sigma = posterior->sigma, filter = posterior->filter;
    rb_dense wm = plain ? w : work; /* W M */
    if (!plain)
        rb_gemm_parallel(ctx, 1, w, RB_PLAIN, parameters->prior.covariance, RB_PLAIN, 0, wm);
    rb_gemm_lower(ctx, 1, wm, RB_PLAIN, w, RB_TRANSPOSED, 0, posterior->small);
    add_noise(parameters, posterior->small);
    rb_error err = rb_spd_factor(ctx, posterior->factor, posterior->small);
    if (err) {
        rb_fail_prefix(ctx, "the model covariance W M W' + Psi: ");
        return err;
    }
    /* ln |Sigma| = ln |M| + ln |Psi| - ln |K| */
    posterior->log_det = parameters->prior.log_det - rb_spd_log_det(posterior->factor) +
                         rfn_log_det_noise(parameters);
    if (posterior->approximate && rb_spd_has_halves(posterior->factor) && plain) {
        /* With K = L L' and Y = L^-1 W: W' K^-1 W = Y' Y, a rank-k update, and B = L^-T Y. */
        rb_spd_solve_half(ctx, posterior->factor, w, filter);
        rb_gemm_lower(ctx, -1, filter, RB_TRANSPOSED, filter, RB_PLAIN, 0, sigma);
        rb_spd_solve_other_half(ctx, posterior->factor, filter);
    } else {
        rb_device_keep(ctx, filter.data);
        rb_spd_solve_left(ctx, posterior->factor, wm, filter);
        rb_gemm_lower(ctx, -1, wm, RB_TRANSPOSED, filter, RB_PLAIN, 0, sigma);
    }
    rfn_add_symmetric(ctx, parameters->prior.covariance, sigma);
    return RB_OK;
}

void rfn_set_bias(const rfn_parameters *parameters, rfn_posterior *posterior) {
    rb_dense sigma = posterior->sigma;
    int64_t l = sigma.rows;
    rb_dense linear = {posterior->linear, 1, l, l, sigma.type};
    rb_dense bias = {posterior->bias, 1, l, l, sigma.type};
    bool zero = true;
    for (int64_t j = 0; j < l; j++) {
        rb_dense_set(linear, 0, j, parameters->prior.linear[j]);
        zero = zero && parameters->prior.linear[j] == 0;
    }
    if (zero)
        rb_dense_zero(bias);
    else
        rb_gemm(1, linear, RB_PLAIN, sigma, RB_PLAIN, 0, bias);
}

rb_error rfn_posterior_compute(rb_context *ctx, const rfn_parameters *parameters, rb_dense work,
                               rfn_posterior *posterior) {
    rb_dense w = parameters->loadings;
    rb_device_keep(ctx, NULL);
    rb_device_keep(ctx, w.data);
    rb_error err = w.cols <= w.rows ? by_units(ctx, parameters, work, posterior)
                                    : by_features(ctx, parameters, work, posterior);
    if (!err) rfn_set_bias(parameters, posterior);
    return err;
}

/* Its error is that of every sample: features are summed some at a time, for one long sum rounds
 * more. */
void rfn_offset(const rb_context *ctx, const double *shift, rb_dense filter, const void *bias,
                void *row) {
    enum { COLUMNS = 256, ROWS = 64 };
    union {
        float of_float[COLUMNS];
        double of_double[COLUMNS];
    } part;
    size_t size = rb_type_size(filter.type);
    memcpy(row, bias, (size_t)filter.cols * size);
    for (int64_t j = 0; shift && j < filter.cols; j += COLUMNS) {
        int64_t columns = rb_smaller(filter.cols - j, COLUMNS);
        for (int64_t k = 0; k < filter.rows; k += ROWS) {
            int64_t rows = rb_smaller(filter.rows - k, ROWS);
            memset(&part, 0, sizeof part);
            rb_kernels_of(ctx)->of[filter.type].add_rows(
                columns, rows, shift + k, rb_dense_part(filter, k, rows, j, columns).data,
                filter.ld, &part);
            rb_axpy(ctx, filter.type, columns, -1, &part, (char *)row + (size_t)j * size);
        }
    }
}

void rfn_add_offset(const rb_context *ctx, double factor, const void *offset, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++)
        rb_axpy(ctx, codes.type, codes.cols, factor, offset, rb_dense_row(codes, i));
}

/* ---- activations ----
 *
 * max(0, x), which is the projection of Clevert et al. 2015, and those that the authors' program
 * has besides, for which the paper claims nothing.
 */

bool rfn_activation_projects(const rb_rfn_options *options) {
    return options->activation == RB_RFN_ACTIVATION_RECTIFY && options->activation_threshold == 0;
}

static double activate(const rb_rfn_options *options, double x) {
    switch ((rb_rfn_activation)options->activation) {
    case RB_RFN_ACTIVATION_RECTIFY:
        return x < options->activation_threshold ? options->activation_threshold : x;
    case RB_RFN_ACTIVATION_LEAKY:
        return x < 0 ? options->activation_slope * x : x;
    case RB_RFN_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    case RB_RFN_ACTIVATION_TANH:
        return tanh(x);
    }
    return x;
}

void rfn_activate(const rb_context *ctx, const rb_rfn_options *options, rb_dense codes,
                  const void *bias, double *sum, double *largest) {
    if (rfn_activation_projects(options)) {
        rb_rectify(ctx, codes, bias, sum, largest);
        return;
    }
    for (int64_t j = 0; j < codes.cols; j++) {
        sum[j] = 0;
        largest[j] = INFINITY;
    }
    for (int64_t i = 0; i < codes.rows; i++) {
        void *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < codes.cols; j++) {
            double mean = rb_get(codes.type, row, j) + (bias ? rb_get(codes.type, bias, j) : 0);
            rb_put(codes.type, row, j, activate(options, mean));
            sum[j] += rb_get(codes.type, row, j);
        }
    }
}
