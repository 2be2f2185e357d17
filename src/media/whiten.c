/* Contrast normalisation and ZCA whitening of patches (A. J. Bell, T. J. Sejnowski, "The
 * independent components of natural scenes are edge filters", 1997), as A. Coates, A. Y. Ng,
 * "Learning feature representations with k-means", 2012, have them: a constant of 10 for values to
 * 255 added to the variance, and 0.1 to the eigenvalues of patches whose values have variance 1;
 * here both go with the size of the values. */
#include "media.h"

#include <math.h>
#include <string.h>

/* ---- contrast ---- */

double rb_contrast_constant(const rb_images *images) {
    double min = INFINITY, max = -INFINITY;
    for (int64_t i = 0; i < images->count; i++) {
        const rb_image *image = &images->list[i];
        int64_t cells = image->height * image->width * image->channels;
        for (int64_t e = 0; e < cells; e++) {
            min = fmin(min, (double)image->values[e]);
            max = fmax(max, (double)image->values[e]);
        }
    }
    double range = max > min ? max - min : 1;
    return 10 / (255.0 * 255.0) * range * range;
}

static void set_contrast(float *values, int64_t count, double constant) {
    double sum = 0, squares = 0;
    for (int64_t e = 0; e < count; e++)
        sum += (double)values[e];
    double mean = sum / (double)count;
    for (int64_t e = 0; e < count; e++)
        squares += ((double)values[e] - mean) * ((double)values[e] - mean);
    double by = sqrt(squares / (double)count + constant);
    for (int64_t e = 0; e < count; e++)
        values[e] = (float)(((double)values[e] - mean) / by);
}

void rb_images_contrast(rb_images *images, double constant) {
    for (int64_t i = 0; i < images->count; i++) {
        rb_image *image = &images->list[i];
        set_contrast(image->values, image->height * image->width * image->channels, constant);
        image->max = 0;
    }
}

/* ---- the whitening ---- */

static int64_t features_of(const rb_whitening *w) {
    return w->height * w->width * w->channels;
}

rb_error rb_whitening_new(rb_context *ctx, int64_t height, int64_t width, int64_t channels,
                          rb_whitening **out) {
    int64_t m, cells;
    *out = NULL;
    if (!rb_multiply(height, width, &m) || !rb_multiply(m, channels, &m) ||
        !rb_multiply(m, m, &cells))
        m = cells = INT64_MAX / 8;
    rb_whitening *w = rb_alloc_zero(ctx, 1, sizeof *w);
    if (!w) return RB_ERROR_MEMORY;
    *w = (rb_whitening){.height = height, .width = width, .channels = channels};
    w->centre = rb_alloc_zero(ctx, m, sizeof *w->centre);
    w->matrix = w->centre ? rb_alloc_zero(ctx, cells, sizeof *w->matrix) : NULL;
    if (!w->matrix) {
        rb_whitening_drop(w);
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < m; k++)
        w->matrix[k * m + k] = 1;
    *out = w;
    return RB_OK;
}

void rb_whitening_drop(rb_whitening *w) {
    if (!w) return;
    rb_free(w->centre);
    rb_free(w->matrix);
    rb_free(w);
}

enum { ROWS = 256 };

/* Adds patches to sums of values less the first patch, and of their products. */
static rb_error add_up(rb_context *ctx, rb_source *patches, rb_whitening *w, rb_dense rows,
                       rb_dense products, double *sums) {
    int64_t n = patches->n_samples, m = features_of(w);
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += ROWS) {
        int64_t count = n - first < ROWS ? n - first : ROWS;
        rb_matrix view;
        err = rb_source_read(ctx, patches, first, count, &view);
        if (err) break;
        rb_dense some = rb_dense_rows(rows, 0, count);
        rb_matrix_copy(&view, 0, &(rb_target){RB_FLOAT64, some.data, some.ld, 1});
        double *values = some.data;
        if (first == 0) memcpy(w->centre, values, (size_t)m * sizeof *values);
        for (int64_t i = 0; i < count; i++) {
            for (int64_t k = 0; k < m; k++) {
                values[i * m + k] -= w->centre[k];
                sums[k] += values[i * m + k];
            }
        }
        rb_gemm_lower(ctx, 1, some, RB_TRANSPOSED, some, RB_PLAIN, 1, products);
    }
    return err;
}

/* Sums become the mean, in the centre, and the covariance with what is added to its diagonal. */
static rb_error end_sums(rb_context *ctx, int64_t n, double epsilon, rb_whitening *w,
                         rb_dense products, const double *sums) {
    int64_t m = features_of(w);
    double trace = 0;
    for (int64_t k = 0; k < m; k++) {
        double mean = sums[k] / (double)n;
        for (int64_t j = 0; j <= k; j++) {
            double covariance =
                rb_dense_get(products, k, j) / (double)n - mean * (sums[j] / (double)n);
            rb_dense_set(products, k, j, covariance);
        }
        w->centre[k] += mean;
        trace += rb_dense_get(products, k, k);
    }
    if (!(trace > 0))
        return rb_fail(ctx, RB_ERROR_DATA, "all patches are equal; they cannot be whitened");
    for (int64_t k = 0; k < m; k++) {
        double value = rb_dense_get(products, k, k) + epsilon * trace / (double)m;
        rb_dense_set(products, k, k, value);
    }
    return RB_OK;
}

rb_error rb_whitening_fit(rb_context *ctx, rb_source *patches, double epsilon, rb_whitening *w) {
    int64_t m = features_of(w);
    rb_scratch scratch = {.ctx = ctx};
    rb_dense rows = {0}, products = {0};
    rb_dense_take(&scratch, RB_FLOAT64, ROWS, m, &rows);
    rb_dense_take(&scratch, RB_FLOAT64, m, m, &products);
    double *sums = rb_take(&scratch, m, sizeof *sums);
    if (!scratch.err) memset(sums, 0, (size_t)m * sizeof *sums);
    rb_error err = scratch.err ? scratch.err : add_up(ctx, patches, w, rows, products, sums);
    err = err ? err : end_sums(ctx, patches->n_samples, epsilon, w, products, sums);
    if (!err) err = rb_inverse_root(ctx, products, 0, (rb_dense){w->matrix, m, m, m, RB_FLOAT64});
    rb_error ended = rb_scratch_end(&scratch);
    return err ? err : ended;
}

/* ---- patches ---- */

struct white {
    rb_context *ctx;
    rb_source *patches;
    rb_whitening *whitening;
    rb_dense rows, done; /* float64 */
};

static void release(void *user) {
    struct white *s = user;
    rb_source_free(s->patches);
    rb_whitening_drop(s->whitening);
    rb_dense_free(&s->rows);
    rb_dense_free(&s->done);
    rb_free(s);
}

static rb_error fill_rows(struct white *s, int64_t first, int64_t count, float *out) {
    const rb_whitening *w = s->whitening;
    int64_t m = features_of(w);
    rb_matrix view;
    rb_error err = rb_source_read(s->ctx, s->patches, first, count, &view);
    if (err) return err;
    rb_matrix_copy(&view, 0, &(rb_target){RB_FLOAT32, out, m, 1});
    rb_dense rows = rb_dense_rows(s->rows, 0, count), done = rb_dense_rows(s->done, 0, count);
    for (int64_t i = 0; i < count; i++) {
        if (w->contrast == RB_CONTRAST_LOCAL) set_contrast(out + i * m, m, w->constant);
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(rows, i, k, (double)out[i * m + k] - w->centre[k]);
    }
    rb_gemm(1, rows, RB_PLAIN, (rb_dense){w->matrix, m, m, m, RB_FLOAT64}, RB_TRANSPOSED, 0, done);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < m; k++)
            out[i * m + k] = (float)rb_dense_get(done, i, k);
    return RB_OK;
}

static rb_error fill(void *user, int64_t first, int64_t count, void *out) {
    struct white *s = user;
    int64_t m = features_of(s->whitening);
    rb_error err = RB_OK;
    for (int64_t at = 0; !err && at < count; at += ROWS) {
        int64_t some = count - at < ROWS ? count - at : ROWS;
        err = fill_rows(s, first + at, some, (float *)out + at * m);
    }
    return err;
}

rb_error rb_whitening_apply(rb_context *ctx, const rb_whitening *from, rb_source *patches,
                            rb_source **source) {
    int64_t m = features_of(from);
    *source = NULL;
    struct white *s = rb_alloc_zero(ctx, 1, sizeof *s);
    if (!s) {
        rb_source_free(patches);
        return RB_ERROR_MEMORY;
    }
    s->ctx = ctx;
    s->patches = patches;
    rb_error err = rb_whitening_new(ctx, from->height, from->width, from->channels, &s->whitening);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, ROWS, m, &s->rows);
    err = err ? err : rb_dense_new(ctx, RB_FLOAT64, ROWS, m, &s->done);
    if (err) {
        release(s);
        return err;
    }
    s->whitening->contrast = from->contrast;
    s->whitening->constant = from->constant;
    memcpy(s->whitening->centre, from->centre, (size_t)m * sizeof(double));
    memcpy(s->whitening->matrix, from->matrix, (size_t)(m * m) * sizeof(double));
    return rb_source_own_callback(ctx, RB_FLOAT32, patches->n_samples, m, fill, s, release, source);
}

/* ---- as a kernel ---- */

void rb_whitening_fold(const rb_whitening *w, const double *weights, double *kernel, double *bias) {
    int64_t m = features_of(w);
    double mean = 0;
    for (int64_t k = 0; k < m; k++) {
        kernel[k] = 0;
        for (int64_t j = 0; j < m; j++)
            kernel[k] += w->matrix[j * m + k] * weights[j];
        *bias -= kernel[k] * w->centre[k];
        mean += kernel[k] / (double)m;
    }
    for (int64_t k = 0; k < m && w->contrast == RB_CONTRAST_LOCAL; k++)
        kernel[k] -= mean;
}
