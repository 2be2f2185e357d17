/* Codes of samples by a model of nmf: the minimum of each sample, of squared errors
 * (linalg/nnls.c) or of the divergence. */
#include "nmf.h"

typedef struct coder {
    rb_scratch own;
    int loss;
    const double *noise; /* of the model: a variance for each feature */
    rb_dense w;          /* features x units */
    rb_nnls by;          /* W'W */
    rb_dense linear;     /* of a block: V W */
    /* of the divergence: float64 */
    rb_dense turned, work, codes; /* units x features; a row a worker */
    double *sums;
    int32_t *features; /* of a sample, a row a worker */
} coder;

static rb_error load_loss(rb_context *ctx, const rb_model *model, int *loss) {
    nmf_options options;
    const char *text = rb_model_attribute(model, "loss");
    rb_rows_default(nmf_option_rows, &options);
    if (text && rb_rows_set(ctx, nmf_option_rows, &options, "loss", text)) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the loss named by the model is unknown; the model is damaged");
    }
    *loss = options.loss;
    return RB_OK;
}

static void for_squares(rb_context *ctx, int64_t block_samples, coder *c) {
    int64_t l = c->w.cols;
    rb_nnls_new(&c->own, c->w.type, l, true, &c->by);
    rb_dense_take(&c->own, c->w.type, block_samples, l, &c->linear);
    if (c->own.err) return;
    rb_gemm_lower(ctx, 1, c->w, RB_TRANSPOSED, c->w, RB_PLAIN, 0, c->by.gram);
    rb_dense_mirror(c->by.gram);
}

static void for_divergence(rb_context *ctx, rb_dense values, coder *c) {
    int64_t m = values.rows, l = values.cols, workers = rb_context_threads(ctx);
    rb_dense_take(&c->own, RB_FLOAT64, l, m, &c->turned);
    rb_dense_take(&c->own, RB_FLOAT64, workers, 3 * m, &c->work);
    rb_dense_take(&c->own, RB_FLOAT64, workers, l, &c->codes);
    c->sums = rb_take(&c->own, l, sizeof *c->sums);
    c->features = rb_take(&c->own, workers * m, sizeof *c->features);
    if (c->own.err) return;
    rb_dense_transpose(values, c->turned);
    for (int64_t j = 0; j < l; j++)
        for (int64_t k = 0; k < m; k++)
            c->sums[j] += rb_dense_get(c->turned, j, k);
}

rb_error nmf_coder_new(rb_context *ctx, const rb_model *model, int64_t block_samples, void **out) {
    int64_t m = rb_model_features(model), l = rb_model_units(model);
    const double *values;
    coder *c = factors_coder_begin(ctx, sizeof *c, out);
    if (!c) return RB_ERROR_MEMORY;
    rb_error err = load_loss(ctx, model, &c->loss);
    err = err ? err : rb_model_need_array(ctx, model, "loadings", m, l, &values);
    c->own.err = err ? err : rb_model_need_array(ctx, model, "noise", m, 1, &c->noise);
    rb_dense_take(&c->own, model->type, m, l, &c->w);
    if (!c->own.err) {
        rb_dense loadings = {(void *)values, m, l, l, RB_FLOAT64};
        rb_dense_copy(loadings, c->w);
        if (c->loss == NMF_FROBENIUS)
            for_squares(ctx, block_samples, c);
        else
            for_divergence(ctx, loadings, c);
    }
    return factors_coder_end(out);
}

struct encoding {
    rb_context *ctx;
    const coder *coder;
    const rb_block *block;
    rb_dense codes;
};

static void solve_squares(void *arg, int64_t task, int worker) {
    const struct encoding *e = arg;
    int64_t first;
    rb_dense codes = block_task_rows(e->codes, task, &first);
    rb_dense linear = rb_dense_rows(e->coder->linear, first, codes.rows);
    rb_block_project(e->ctx, e->block, first, e->coder->w, linear);
    rb_dense_zero(codes);
    rb_nnls_solve(&e->coder->by, codes.type == RB_FLOAT32 ? 1e-6 : 1e-10,
                  &(rb_nnls_samples){.linear = linear, .codes = codes, .count = codes.rows},
                  worker);
}

/* The values of a sample that are above 0. */
static struct nmf_counts counts_of(const rb_block *block, int64_t i, double *values,
                                   int32_t *features) {
    struct nmf_counts counts = {0, features, values};
    rb_csr v = block->csr;
    int64_t first = block->sparse ? v.starts[i] - v.starts[0] : 0;
    int64_t end = block->sparse ? v.starts[i + 1] - v.starts[0] : block->n_features;
    for (int64_t e = first; e < end; e++) {
        double value =
            block->sparse ? rb_get(v.type, v.values, e) : rb_dense_get(block->dense, i, e);
        if (value > 0) {
            features[counts.count] = block->sparse ? v.columns[e] : (int32_t)e;
            values[counts.count++] = value;
        }
    }
    return counts;
}

static void solve_divergences(void *arg, int64_t task, int worker) {
    const struct encoding *e = arg;
    const coder *c = e->coder;
    int64_t m = c->turned.cols, first;
    rb_dense codes = block_task_rows(e->codes, task, &first);
    double *values = rb_dense_row(c->work, worker), *found = rb_dense_row(c->codes, worker);
    for (int64_t i = 0; i < codes.rows; i++) {
        struct nmf_counts counts = counts_of(e->block, first + i, values, c->features + worker * m);
        nmf_divergence_solve(&counts, c->turned, c->sums, values + m, found);
        for (int64_t j = 0; j < codes.cols; j++)
            rb_dense_set(codes, i, j, found[j]);
    }
}

rb_error nmf_encode(rb_context *ctx, void *memory, const rb_block *block, void *codes) {
    const coder *c = memory;
    rb_dense rows = {codes, block->n_samples, c->w.cols, c->w.cols, c->w.type};
    rb_error err = nmf_check_values(ctx, block);
    return err ? err
               : rb_parallel_or_stop(ctx, block_tasks(rows.rows).count,
                                     c->loss == NMF_FROBENIUS ? solve_squares : solve_divergences,
                                     &(struct encoding){ctx, c, block, rows});
}

/* ---- drawing samples: squared errors are those of normal noise, the divergence is that of Poisson
 * noise ---- */

rb_error nmf_emit(rb_context *ctx, void *memory, const rb_sampling *sampling, int64_t n,
                  const void *codes, void *values) {
    const coder *c = memory;
    rb_dense w = c->w, rows = {values, n, w.rows, w.rows, w.type};
    rb_gemm_parallel(ctx, 1, (rb_dense){(void *)codes, n, w.cols, w.cols, w.type}, RB_PLAIN, w,
                     RB_TRANSPOSED, 0, rows);
    return c->loss == NMF_FROBENIUS ? rb_add_normal(ctx, sampling, sampling->noise, c->noise, rows)
                                    : rb_make_counts(ctx, sampling, rows);
}
