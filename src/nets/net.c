/* Passes forward and backward. Products are cut by their output, rows of codes by sample: the same
 * bits for any number of threads. */
#include "net.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 16 }; /* numbers: each array of the vector begins at a multiple of 64 bytes */

rb_error deep_net_lay_out(rb_context *ctx, deep_net *net) {
    int64_t at = 0, cells;
    for (int k = 0; k < net->layers; k++) {
        bool fits = rb_multiply(net->sizes[k] + ALIGN, net->sizes[k + 1], &cells) &&
                    cells < INT64_MAX / 64 - at;
        if (!fits) {
            return rb_fail(ctx, RB_ERROR_MEMORY, "layer %d of %lld x %lld weights is too large",
                           k + 1, (long long)net->sizes[k + 1], (long long)net->sizes[k]);
        }
        net->weights[k] = at;
        at += (net->sizes[k] * net->sizes[k + 1] + ALIGN - 1) / ALIGN * ALIGN;
        net->biases[k] = at;
        at += (net->sizes[k + 1] + ALIGN - 1) / ALIGN * ALIGN;
    }
    net->count = at;
    return RB_OK;
}

static void *place(const deep_net *net, void *values, int64_t at) {
    return (char *)values + at * (int64_t)rb_type_size(net->type);
}

rb_dense deep_net_weights(const deep_net *net, void *values, int k) {
    int64_t in = net->sizes[k], out = net->sizes[k + 1];
    return (rb_dense){place(net, values, net->weights[k]), out, in, in, net->type};
}

rb_dense deep_net_bias(const deep_net *net, void *values, int k) {
    int64_t out = net->sizes[k + 1];
    return (rb_dense){place(net, values, net->biases[k]), 1, out, out, net->type};
}

/* ---- room ---- */

rb_error deep_pass_new(rb_context *ctx, const deep_net *net, int64_t rows, bool backward,
                       deep_pass *pass) {
    int64_t widest = 0;
    *pass = (deep_pass){.rows = rows, .scratch = {.ctx = ctx}, .more = {.ctx = ctx}};
    for (int k = 0; k <= net->layers; k++)
        widest = net->sizes[k] > widest ? net->sizes[k] : widest;
    pass->words_each = (widest + RB_RANDOM_RUN - 1) / RB_RANDOM_RUN * RB_RANDOM_RUN;
    pass->words =
        rb_take(&pass->more, rb_context_threads(ctx) * pass->words_each, sizeof *pass->words);
    rb_dense_take(&pass->more, net->type, rows, net->sizes[0], &pass->input);
    pass->shift = rb_take(&pass->more, net->sizes[0], rb_type_size(net->type));
    for (int i = 0; i < 2 && backward; i++)
        rb_dense_take(&pass->more, net->type, rows, widest, &pass->deltas[i]);
    for (int k = 0; k < net->layers; k++)
        rb_dense_take(&pass->scratch, net->type, rows, net->sizes[k + 1], &pass->codes[k]);
    return pass->scratch.err ? pass->scratch.err : pass->more.err;
}

void deep_pass_free(deep_pass *pass) {
    if (pass->scratch.ctx) rb_scratch_end(&pass->scratch);
    if (pass->more.ctx) rb_scratch_end(&pass->more);
    rb_free(pass->masked.data);
    *pass = (deep_pass){0};
}

/* ---- rows, by tasks of a few ---- */

enum { TASK_ROWS = 16 };

struct rows {
    rb_context *ctx;
    deep_pass *pass;
    rb_dense x, other;
    bool rectify;
    uint64_t key;
    double share; /* that becomes 0 */
    double factor;
    const int64_t *samples;
    const rb_block *block;
};

static rb_dense task_rows(rb_dense x, int64_t task) {
    int64_t first = task * TASK_ROWS, left = x.rows - first;
    return rb_dense_rows(x, first, left < TASK_ROWS ? left : TASK_ROWS);
}

static void each_task(const struct rows *r, rb_task task) {
    rb_parallel(r->ctx, (r->x.rows + TASK_ROWS - 1) / TASK_ROWS, task, (void *)r);
}

/* Each value of the rows becomes 0 with the probability of the share. */
static void drop_rows(const struct rows *r, rb_dense rows, int64_t first, int worker) {
    uint32_t *words = r->pass->words + worker * r->pass->words_each;
    for (int64_t i = 0; i < rows.rows; i++) {
        uint64_t sample = (uint64_t)r->samples[first + i];
        rb_kernels_of(r->ctx)->random_row(r->key, sample, rows.cols, words);
        deep_drop(rb_dense_rows(rows, i, 1), words, net_threshold(r->share), r->factor);
    }
}

static void input_task(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    rb_dense rows = task_rows(r->x, task);
    rb_block_rows(r->block, task * TASK_ROWS, rows);
    if (r->share > 0) drop_rows(r, rows, task * TASK_ROWS, worker);
}

/* The entries of sparse rows, of which those become 0 that would in dense ones. */
static void mask_task(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    const rb_csr *x = &r->block->csr;
    uint32_t *words = r->pass->words + worker * r->pass->words_each;
    int64_t first = task * TASK_ROWS, left = x->rows - first;
    for (int64_t i = first; i < first + (left < TASK_ROWS ? left : TASK_ROWS); i++) {
        rb_kernels_of(r->ctx)->random_row(r->key, (uint64_t)r->samples[i], x->cols, words);
        for (int64_t e = x->starts[i] - x->starts[0]; e < x->starts[i + 1] - x->starts[0]; e++) {
            bool kept = words[x->columns[e]] >= net_threshold(r->share);
            rb_put(x->type, r->pass->masked.data, e, kept ? rb_get(x->type, x->values, e) : 0);
        }
    }
}

/* With a shift, masked samples are not sparse: what is not stored is -shift, or 0. */
static rb_error sparse_input(const struct rows *r, rb_block *input) {
    const rb_csr *x = &r->block->csr;
    *input = *r->block;
    for (int64_t k = 0; input->shift && k < input->n_features; k++)
        rb_put(x->type, r->pass->shift, k, input->shift[k]);
    if (r->share == 0) return RB_OK;
    int64_t entries = x->starts[x->rows] - x->starts[0];
    rb_error err = rb_buffer_hold(r->ctx, &r->pass->masked, entries, rb_type_size(x->type));
    if (err) return err;
    each_task(r, mask_task);
    input->csr.values = r->pass->masked.data;
    return RB_OK;
}

rb_error deep_net_input(rb_context *ctx, deep_pass *pass, const rb_block *block,
                        const deep_noise *noise, const int64_t *samples, rb_block *input) {
    struct rows r = {.ctx = ctx,
                     .pass = pass,
                     .x = rb_dense_rows(pass->input, 0, block->n_samples),
                     .key = noise->mask_key,
                     .share = noise->masking,
                     .factor = 1,
                     .samples = samples,
                     .block = block};
    *input = *block;
    if (noise->masking == 0 && !block->sparse) return RB_OK;
    if (deep_sparse_pays(block) && (noise->masking == 0 || !block->shift))
        return sparse_input(&r, input);
    each_task(&r, input_task);
    input->sparse = false;
    input->dense = r.x;
    return RB_OK;
}

static void code_task(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    rb_dense rows = task_rows(r->x, task);
    deep_add_bias(rows, r->other, r->rectify);
    if (r->share > 0) drop_rows(r, rows, task * TASK_ROWS, worker);
}

/* ---- outputs ---- */

static void softmax(rb_dense z, int64_t row) {
    double largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < z.cols; j++)
        largest = fmax(largest, rb_dense_get(z, row, j));
    for (int64_t j = 0; j < z.cols; j++)
        sum += exp(rb_dense_get(z, row, j) - largest);
    for (int64_t j = 0; j < z.cols; j++)
        rb_dense_set(z, row, j, exp(rb_dense_get(z, row, j) - largest) / sum);
}

static void output_task(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    rb_dense rows = task_rows(r->x, task);
    (void)worker;
    deep_add_bias(rows, r->other, false);
    for (int64_t i = 0; i < rows.rows; i++) {
        if (r->rectify)
            softmax(rows, i);
        else
            for (int64_t j = 0; j < rows.cols; j++)
                rb_dense_set(rows, i, j, 1 / (1 + exp(-rb_dense_get(rows, i, j))));
    }
}

static const void *shift_of(const deep_pass *pass, const rb_block *input) {
    return input->shift ? pass->shift : NULL;
}

rb_dense deep_net_forward(rb_context *ctx, const deep_net *net, const rb_block *input,
                          const deep_noise *noise, const int64_t *samples, deep_pass *pass) {
    int last = net->layers - 1;
    rb_dense below = input->dense;
    for (int k = 0; k <= last; k++) {
        struct rows r = {.ctx = ctx,
                         .pass = pass,
                         .x = rb_dense_rows(pass->codes[k], 0, input->n_samples),
                         .other = deep_net_bias(net, net->values, k),
                         .rectify = k < last || net->outputs == DEEP_SOFTMAX,
                         .key = noise->drop_keys[k],
                         .share = k < last ? noise->dropout : 0,
                         .factor = 1 / (1 - noise->dropout),
                         .samples = samples};
        rb_dense weights = deep_net_weights(net, net->values, k);
        if (k == 0 && input->sparse)
            deep_sparse_forward(ctx, input, shift_of(pass, input), weights, r.x);
        else
            rb_gemm_parallel(ctx, 1, below, RB_PLAIN, weights, RB_TRANSPOSED, 0, r.x);
        if (k == last && net->outputs == DEEP_LINEAR) r.rectify = false;
        each_task(&r, k < last || net->outputs == DEEP_LINEAR ? code_task : output_task);
        below = r.x;
    }
    return below;
}

/* ---- loss ---- */

/* -p log p', with a probability that rounding has made 0 as the smallest number; NaN stays. */
static double cross_entropy(double target, double probability, double least) {
    return target == 0 ? 0 : -target * log(probability < least ? least : probability);
}

double deep_net_sample_loss(const deep_net *net, rb_dense outputs, int64_t row, int64_t class_of,
                            const double *values) {
    double least = net->type == RB_FLOAT32 ? 0x1p-126 : 0x1p-1022, loss = 0;
    if (net->outputs == DEEP_SOFTMAX)
        return class_of < 0 ? 0 : cross_entropy(1, rb_dense_get(outputs, row, class_of), least);
    for (int64_t j = 0; j < outputs.cols; j++) {
        double y = rb_dense_get(outputs, row, j), t = values[j];
        if (net->outputs == DEEP_LINEAR)
            loss += 0.5 * (y - t) * (y - t);
        else
            loss += cross_entropy(t, y, least) + cross_entropy(1 - t, 1 - y, least);
    }
    return loss;
}

/* By z the derivative of all three is output - target. */
double deep_net_loss(const deep_net *net, rb_dense outputs, const deep_target *target,
                     double factor) {
    double sum = 0;
    for (int64_t i = 0; i < outputs.rows; i++) {
        int64_t class_of = target->class_of ? target->class_of[i] : -1;
        const double *values = target->values ? target->values + i * outputs.cols : NULL;
        bool counts = values || class_of >= 0;
        double weight = !counts ? 0 : target->weights ? target->weights[i] : 1;
        if (counts) sum += weight * deep_net_sample_loss(net, outputs, i, class_of, values);
        for (int64_t j = 0; j < outputs.cols; j++) {
            double t = values ? values[j] : j == class_of;
            rb_dense_set(outputs, i, j, factor * weight * (rb_dense_get(outputs, i, j) - t));
        }
    }
    return sum;
}

/* ---- backward ---- */

static void back_task(void *arg, int64_t task, int worker) {
    const struct rows *r = arg;
    (void)worker;
    deep_back(task_rows(r->x, task), task_rows(r->other, task), r->factor);
}

void deep_net_backward(rb_context *ctx, const deep_net *net, const rb_block *input,
                       const deep_noise *noise, deep_pass *pass, void *gradient) {
    int last = net->layers - 1;
    int64_t n = input->n_samples;
    rb_dense delta = rb_dense_rows(pass->codes[last], 0, n);
    for (int k = last; k >= 0; k--) {
        rb_dense below = k > 0 ? rb_dense_rows(pass->codes[k - 1], 0, n) : input->dense;
        rb_dense bias = deep_net_bias(net, gradient, k), of = deep_net_weights(net, gradient, k);
        if (k == 0 && input->sparse)
            deep_sparse_gradient(ctx, input, shift_of(pass, input), delta, of);
        else
            rb_gemm_parallel(ctx, 1, delta, RB_TRANSPOSED, below, RB_PLAIN, 0, of);
        rb_dense_zero(bias);
        for (int64_t i = 0; i < n; i++)
            rb_axpy(ctx, net->type, bias.cols, 1, rb_dense_row(delta, i), bias.data);
        if (k == 0) break;
        rb_dense back = pass->deltas[k % 2];
        back.rows = n;
        back.cols = back.ld = net->sizes[k];
        rb_gemm_parallel(ctx, 1, delta, RB_PLAIN, deep_net_weights(net, net->values, k), RB_PLAIN,
                         0, back);
        struct rows r = {.ctx = ctx, .x = back, .other = below, .factor = 1 / (1 - noise->dropout)};
        each_task(&r, back_task);
        delta = back;
    }
}
